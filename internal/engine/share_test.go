package engine

import (
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"sync/atomic"
	"testing"
)

// countLayer counts how many times each band is made and by which workers. Some bands
// take long.
type countLayer struct {
	Base
	g      *Grid
	made   []atomic.Int32
	inside []atomic.Int32 // of workers
	slow   uint64
	broken atomic.Bool
	stopAt int64
	tiles  atomic.Int64
	cancel func()
}

func (l *countLayer) Prepare(*Plan) error { return nil }
func (l *countLayer) Release() int        { return 0 }
func (l *countLayer) Tile(worker, x, y, n, rows int) {
	if l.inside[worker].Add(1) != 1 || y+rows > l.g.Rows || x+n > l.g.N {
		l.broken.Store(true)
	}
	for i := range y % 7 * int(l.slow) {
		if i%3 == 0 {
			runtime.Gosched()
		}
	}
	for r := range rows {
		l.made[y+r].Add(int32(n))
	}
	l.inside[worker].Add(-1)
	if l.tiles.Add(1) == l.stopAt {
		l.cancel()
	}
}

// TestShares tests that each band is made once for every slice, however workers
// take bands from each other, unless the context is done before.
func TestShares(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	var e Engine
	for range 2000 {
		g := Grid{Rows: 1 + rng.IntN(90), N: 1 + rng.IntN(9), BandRows: 1 + rng.IntN(5), TileWidth: 1 + rng.IntN(4)}
		workers, slices := 1+rng.IntN(6), rng.IntN(4)
		ctx, cancel := context.WithCancel(context.Background())
		l := &countLayer{g: &g, made: make([]atomic.Int32, g.Rows), inside: make([]atomic.Int32, workers), slow: rng.Uint64N(4), cancel: cancel}
		if rng.IntN(4) == 0 {
			l.stopAt = 1 + rng.Int64N(20)
		}
		set, err := (&Options{Workers: workers, Context: ctx}).Check()
		if err != nil {
			t.Fatal(err)
		}
		err = e.Fill(&set, &Plan{Grid: g, Workers: workers, Slices: slices, Shares: true}, l)
		cancel()
		if l.broken.Load() {
			t.Fatalf("a tile outside of %v, or two at once of a worker", g)
		}
		if err != nil {
			if l.stopAt == 0 || !errors.Is(err, context.Canceled) {
				t.Fatal(err)
			}
			continue
		}
		for y := range l.made {
			if got, want := int(l.made[y].Load()), g.N*max(1, slices); got != want {
				t.Fatalf("%d elements of row %d in place of %d, with %d workers and %+v", got, y, want, workers, g)
			}
		}
	}
}
