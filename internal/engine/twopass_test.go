package engine

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/boxsum/boxsum/internal/kernel"
	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/internal/ref"
)

// testTwoPass compares tables filled in two passes, some bands of which are late, with
// those of one worker.
func testTwoPass[P kernel.Pixel, S kernel.Sum](t *testing.T, squares bool) {
	rng := rand.New(rand.NewPCG(9, 10))
	runs := 30
	if ref.Race {
		runs = 2
	}
	for _, level := range kernel.Levels() {
		for range runs {
			width, height, channels := 1+rng.IntN(300), 1+rng.IntN(300), 1+rng.IntN(4)
			pix := make([]P, width*height*channels)
			for i := range pix {
				pix[i] = P(rng.Uint64())
			}
			src := raster.ArrayOf(pix, raster.PlaneExtent(width, height, channels, width*channels))
			table := func() *Table {
				a, err := raster.NewTable(raster.TypeOf[S](), src.Extent)
				if err != nil {
					t.Fatal(err)
				}
				return &Table{Array: a}
			}
			want, got := table(), table()
			var l upright
			if !hasKernel(Upright, src.Type, raster.TypeOf[S](), squares) {
				return // no kernel for these squares
			}
			l.find(src.Type, raster.TypeOf[S](), level, squares)
			work := WorkOf[P](&src.Extent, raster.SizeOf[S](), 1)
			plan := work.Plan()
			l.aim(new(src), new(*want))
			var e Engine
			if err := e.Fill(&Settings{}, &plan, &l); err != nil {
				t.Fatal(err)
			}
			plan.TwoPass, plan.Workers = true, 1+rng.IntN(9)
			plan.BandRows, plan.TileWidth = 1+rng.IntN(20), kernel.Align(channels)*(1+rng.IntN(3))
			var late Layer = &l
			if rng.IntN(2) == 0 {
				late = &lateLayer{upright: &l}
			}
			for range 2 { // the second time with fewer workers
				l.aim(new(src), new(*got))
				if err := e.Fill(&Settings{}, &plan, late); err != nil {
					t.Fatal(err)
				}
				plan.Workers = 1 + plan.Workers/2
			}
			if !slices.Equal(want.Data, got.Data) {
				t.Fatalf("%d×%d×%d, %v, in bands of %d, %d workers: other sums in two passes", width, height, channels, level, plan.BandRows, plan.Workers)
			}
		}
	}
}

// A lateLayer does not find the sums of every second band.
type lateLayer struct{ *upright }

func (l *lateLayer) addBand(worker, band int, ready bool) {
	l.upright.addBand(worker, band, ready && band%2 == 0)
}

// TestTwoPassHelpers tests that helpers that leave after every band make the same
// tables, and that none remains.
func TestTwoPassHelpers(t *testing.T) {
	defer func(d time.Duration) { helperTime = d }(helperTime)
	helperTime = -1
	testTwoPass[uint8, uint32](t, false)
	testTwoPass[uint8, uint64](t, true)
}

func TestTwoPass(t *testing.T) {
	for _, squares := range []bool{false, true} {
		testTwoPass[uint8, uint32](t, squares)
		testTwoPass[uint8, uint64](t, squares)
		testTwoPass[uint16, uint64](t, squares)
		testTwoPass[int16, int64](t, squares)
		testTwoPass[int32, int64](t, squares)
		testTwoPass[uint32, uint64](t, squares)
	}
}

// TestSetTwoPass tests that only large images of integers are summed in
// two passes, and only by many workers.
func TestSetTwoPass(t *testing.T) {
	for _, c := range []struct {
		exact      bool
		workers, n int
		twoPass    bool
	}{{true, 16, 4096, true}, {true, 8, 5000, true}, {false, 16, 4096, false}, {true, 7, 4096, false}, {true, 16, 1 << 20, false}} {
		w := Work{Rows: 3001, N: c.n, Channels: 1, PixelBytes: 1, SumBytes: 4, Exact: c.exact}
		p := Plan{Grid: Grid{Rows: w.Rows, N: w.N, BandRows: 64}, Workers: c.workers}
		p.setTwoPass(&w)
		if p.TwoPass != c.twoPass || p.BandRows < 1 {
			t.Errorf("%+v: %+v", c, p)
		}
		if bands := p.bands(); p.TwoPass && (p.slots() != 2*bands || bands < c.workers || p.BandRows > twoPassRows) {
			t.Errorf("%+v: %d bands", c, bands)
		}
	}
}

// TestTwoPassEnds tests that the context ends a run.
func TestTwoPassEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	e := raster.PlaneExtent(100, 100, 1, 100)
	src := raster.ArrayOf(make([]uint8, 100*100), e)
	table, err := raster.NewTable(raster.U32, e)
	if err != nil {
		t.Fatal(err)
	}
	var l upright
	l.find(src.Type, raster.U32, kernel.Portable, false)
	work := WorkOf[uint8](&e, 4, 1)
	plan := work.Plan()
	plan.TwoPass, plan.Workers, plan.BandRows = true, 3, 7
	l.aim(new(src), &Table{Array: table})
	var engine Engine
	if err := engine.Fill(&Settings{context: ctx}, &plan, &l); err == nil {
		t.Error("a context that was done ended nothing")
	}
}
