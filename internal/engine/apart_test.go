package engine

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/boxsum/boxsum/internal/grid"
	"github.com/boxsum/boxsum/internal/kernel"
	"github.com/boxsum/boxsum/internal/ref"
)

// testApart makes tables in bands that are apart, and holds them against those of one
// worker. Some bands are taken for late.
func testApart[P kernel.Pixel, S kernel.Sum](t *testing.T, squares bool) {
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
			src := RawOf(pix, grid.Plane(width, height, channels, width*channels))
			table := func() *Target[S] {
				sums, e, err := grid.NewSums[S](src.Extent)
				if err != nil {
					t.Fatal(err)
				}
				return &Target[S]{Sums: sums, Extent: e}
			}
			want, got := table(), table()
			var l Sums[S]
			if !l.Find(src.Type, level, squares) {
				return // there are no such squares
			}
			work := WorkOf[P](&src.Extent, grid.SizeOf[S](), 1)
			plan := work.Plan()
			l.Aim(&src, want)
			var e Engine
			if _, err := e.Fill(new(Settings), &plan, &l); err != nil {
				t.Fatal(err)
			}
			plan.Apart, plan.Workers = true, 1+rng.IntN(9)
			plan.BandRows, plan.TileWidth = 1+rng.IntN(20), kernel.Align(channels)*(1+rng.IntN(3))
			var late Layer = &l
			if rng.IntN(2) == 0 {
				late = &lateLayer[S]{Sums: &l}
			}
			for range 2 { // the second time with fewer workers
				l.Aim(&src, got)
				if _, err := e.Fill(new(Settings), &plan, late); err != nil {
					t.Fatal(err)
				}
				plan.Workers = 1 + plan.Workers/2
			}
			if !slices.Equal(want.Sums, got.Sums) {
				t.Fatalf("%d×%d×%d, %v, in bands of %d, %d workers: other sums where bands are apart", width, height, channels, level, plan.BandRows, plan.Workers)
			}
		}
	}
}

// A lateLayer finds the sums of no second band.
type lateLayer[S kernel.Sum] struct{ *Sums[S] }

func (l *lateLayer[S]) addBand(worker, band int, there bool) {
	l.Sums.addBand(worker, band, there && band%2 == 0)
}

// Helpers that come and go after every band give the same tables, and none is left.
func TestApartLeave(t *testing.T) {
	defer func(d time.Duration) { stay = d }(stay)
	stay = -1
	testApart[uint8, uint32](t, false)
	testApart[uint8, uint64](t, true)
}

func TestApart(t *testing.T) {
	for _, squares := range []bool{false, true} {
		testApart[uint8, uint32](t, squares)
		testApart[uint8, uint64](t, squares)
		testApart[uint16, uint64](t, squares)
		testApart[int16, int64](t, squares)
		testApart[int32, int64](t, squares)
		testApart[uint32, uint64](t, squares)
	}
}

// Large images of whole numbers are cut in that way where there are many workers, and
// no others.
func TestSetApart(t *testing.T) {
	for _, c := range []struct {
		exact      bool
		workers, n int
		apart      bool
	}{{true, 16, 4096, true}, {true, 8, 5000, true}, {false, 16, 4096, false}, {true, 7, 4096, false}, {true, 16, 1 << 20, false}} {
		w := Work{Rows: 3001, N: c.n, Channels: 1, PixelBytes: 1, SumBytes: 4, Exact: c.exact}
		p := Plan{Grid: Grid{Rows: w.Rows, N: w.N, BandRows: 64}, Workers: c.workers}
		p.setApart(&w)
		if p.Apart != c.apart || p.BandRows < 1 {
			t.Errorf("%+v: %+v", c, p)
		}
		if bands := p.bands(); p.Apart && (p.slots() != 2*bands || bands < c.workers || p.BandRows > apartRows) {
			t.Errorf("%+v: %d bands", c, bands)
		}
	}
}

// The context ends a run.
func TestApartEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	e := grid.Plane(100, 100, 1, 100)
	src := RawOf(make([]uint8, 100*100), e)
	sums, extent, err := grid.NewSums[uint32](e)
	if err != nil {
		t.Fatal(err)
	}
	var l Sums[uint32]
	l.Find(src.Type, kernel.Portable, false)
	work := WorkOf[uint8](&e, 4, 1)
	plan := work.Plan()
	plan.Apart, plan.Workers, plan.BandRows = true, 3, 7
	l.Aim(&src, &Target[uint32]{Sums: sums, Extent: extent})
	var engine Engine
	if _, err := engine.Fill(&Settings{context: ctx}, &plan, &l); err == nil {
		t.Error("a context that was done ended nothing")
	}
}
