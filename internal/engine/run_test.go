package engine

import (
	"context"
	"errors"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/internal/ref"
)

// stopLayer cancels at its n-th tile.
type stopLayer struct {
	Base
	tiles  atomic.Int64
	at     int64
	cancel func()
	free   bool
}

func (l *stopLayer) Prepare(*Plan) error { return nil }
func (l *stopLayer) Release() int        { l.free = true; return 0 }
func (l *stopLayer) Tile(int, int, int, int, int) {
	if l.tiles.Add(1) == l.at {
		l.cancel()
	}
}

// TestStop tests that workers that wait for a stopped worker stop too, at whichever
// tile the context is done.
func TestStop(t *testing.T) {
	g := Grid{Rows: 40, N: 50, BandRows: 4, TileWidth: 5, Lead: 1}
	var e Engine
	for workers := 1; workers <= 5; workers++ {
		for at := int64(1); at <= 100; at++ {
			ctx, cancel := context.WithCancel(context.Background())
			set, err := (&Options{Workers: workers, Context: ctx}).Check()
			if err != nil {
				t.Fatal(err)
			}
			l := &stopLayer{at: at, cancel: cancel}
			err = e.Fill(&set, &Plan{Grid: g, Workers: workers}, l)
			cancel()
			switch done := l.tiles.Load(); {
			case !l.free:
				t.Fatal("the layer was not released")
			case done == 100 && err == nil:
			case !errors.Is(err, context.Canceled):
				t.Fatalf("%d tiles of 100 with %d workers, and %v", done, workers, err)
			case workers == 1 && done != at:
				t.Fatalf("%d tiles with %d workers, stopped at %d", done, workers, at)
			}
		}
	}
}

func TestStoppedBefore(t *testing.T) {
	ctx, cancel := context.WithDeadline(context.Background(), time.Unix(0, 0))
	defer cancel()
	if _, err := (&Options{Context: ctx}).Check(); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
}

// TestProgress tests that reports grow, end with 1, and come from the caller's
// goroutine, which the race detector checks.
func TestProgress(t *testing.T) {
	var e Engine
	for _, g := range []Grid{{Rows: 40, N: 50, BandRows: 4, TileWidth: 5}, {Rows: 1, N: 1, BandRows: 1, TileWidth: 1}, {BandRows: 1, TileWidth: 1}} {
		for workers := 1; workers <= 3; workers++ {
			var seen []float64
			set, err := (&Options{Progress: func(done float64) { seen = append(seen, done) }}).Check()
			if err != nil {
				t.Fatal(err)
			}
			if err := e.Fill(&set, &Plan{Grid: g, Workers: workers}, &stopLayer{}); err != nil {
				t.Fatal(err)
			}
			last := -1.0
			for _, done := range seen {
				if done <= last || done > 1 {
					t.Fatalf("%v with %d workers", seen, workers)
				}
				last = done
			}
			if last != 1 {
				t.Fatalf("%v with %d workers", seen, workers)
			}
		}
	}
}

// A scratchLayer keeps scratch memory.
type scratchLayer struct {
	Base
	bytes int
}

func (l *scratchLayer) Prepare(*Plan) error    { return nil }
func (l *scratchLayer) Tile(_, _, _, _, _ int) {}
func (l *scratchLayer) Release() int           { return l.bytes }

// TestIdle tests that runs are reused unless they are large. Under the race
// detector reuse is not tested, because a pool then drops items at random.
func TestIdle(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1)) // a pool may not find what was left on another processor
	var runs Runs[scratchLayer]
	fill := func(r *Run[scratchLayer], scratch int) {
		r.Layer.bytes = scratch
		if err := r.Fill(&Settings{}, &Plan{}, &r.Layer); err != nil {
			t.Fatal(err)
		}
	}
	for range 3 {
		a := runs.Take()
		fill(a, IdleBytes)
		if again := runs.Take(); again != a && !ref.Race {
			t.Fatal("a run was not used again")
		} else if runs.Take() == again {
			t.Fatal("a run is used twice")
		}
		fill(a, IdleBytes+1)
		if runs.Take() == a {
			t.Fatal("a run that keeps much was kept")
		}
	}
}

func TestOptions(t *testing.T) {
	for name, opt := range map[string]Options{"workers": {Workers: -1}, "level": {Level: "mmx"}} {
		if _, err := opt.Check(); !errors.Is(err, raster.ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for i, name := range Levels() {
		if set, err := (&Options{Level: name, Workers: 3}).Check(); err != nil || int(set.Level) != i || set.Workers() != 3 {
			t.Errorf("%s: %+v, %v", name, set, err)
		}
	}
}
