package engine

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/boxsum/boxsum/internal/kernel"
	"github.com/boxsum/boxsum/internal/raster"
)

// testLate makes the tiles of bands in any order, as if the workers of the bands
// above were not running.
func testLate[P kernel.Pixel, S kernel.Sum](t *testing.T, squares bool) {
	rng := rand.New(rand.NewPCG(7, 8))
	for range 20 {
		width, height, channels := 1+rng.IntN(200), 1+rng.IntN(300), 1+rng.IntN(4)
		pix := make([]P, width*height*channels)
		for i := range pix {
			pix[i] = P(rng.Uint64())
		}
		src := raster.ArrayOf(pix, raster.PlaneExtent(width, height, channels, width*channels))
		make := func() *Table {
			a, err := raster.NewTable(raster.TypeOf[S](), src.Extent)
			if err != nil {
				t.Fatal(err)
			}
			return &Table{Array: a}
		}
		want, got := make(), make()
		var l upright
		if !hasKernel(Upright, src.Type, raster.TypeOf[S](), squares) {
			return // no kernel for these squares
		}
		l.find(src.Type, raster.TypeOf[S](), kernel.Portable, squares)
		work := WorkOf[P](&src.Extent, raster.SizeOf[S](), 1)
		plan := work.Plan()
		l.aim(new(src), new(*want))
		var e Engine
		if err := e.Fill(&Settings{}, &plan, &l); err != nil {
			t.Fatal(err)
		}
		plan.BandRows, plan.TileWidth, plan.Workers = 1+rng.IntN(20), kernel.Align(channels)*(1+rng.IntN(3)), 2
		l.aim(new(src), new(*got))
		if err := l.Prepare(&plan); err != nil {
			t.Fatal(err)
		}
		bands, tiles := plan.bands(), plan.tiles()
		l.slots = bands
		l.above = AtLeast(l.above, bands*l.pitch)
		l.workers = Workers(l.workers, bands)
		for b := range bands { // each with a worker of its own, like bands that are late
			w := &l.workers[b]
			w.carry, w.edge = AtLeast(w.carry, plan.BandRows*kernel.CarryLen(channels)*l.size), AtLeast(w.edge, channels*l.size)
		}
		done := newInts(bands)
		for left := bands * tiles; left > 0; {
			band := rng.IntN(bands)
			tile := done[band]
			if tile == tiles {
				continue
			}
			from := 0
			for b := band - 1; b >= 0; b-- {
				if done[b] > tile {
					from = (b + 1) * plan.BandRows
					break
				}
			}
			x, y := tile*plan.TileWidth, band*plan.BandRows
			n, rows := min(plan.TileWidth, plan.N-x), min(plan.BandRows, plan.Rows-y)
			l.rowAbove(band, x, y, n, from)
			l.Tile(band, x, y, n, rows)
			done[band]++
			left--
		}
		if !slices.Equal(want.Data, got.Data) {
			t.Fatalf("%d×%d×%d in bands of %d and tiles of %d: other sums where bands above are late", width, height, channels, plan.BandRows, plan.TileWidth)
		}
	}
}

func newInts(n int) []int { return make([]int, n) }

func TestLateBands(t *testing.T) {
	run := func(name string, f func(*testing.T, bool)) {
		for _, squares := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s squares=%t", name, squares), func(t *testing.T) { f(t, squares) })
		}
	}
	run("uint8", testLate[uint8, uint32])
	run("uint8 in 64 bits", testLate[uint8, uint64])
	run("uint16", testLate[uint16, uint64])
	run("int16", testLate[int16, int64])
	run("int32", testLate[int32, int64])
	run("uint32", testLate[uint32, uint64])
}
