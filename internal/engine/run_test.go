package engine

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/boxsum/boxsum/internal/grid"
)

// stopLayer cancels at its n-th tile.
type stopLayer struct {
	tiles  atomic.Int64
	at     int64
	cancel func()
	free   bool
}

func (l *stopLayer) Prepare(*Plan) error { return nil }
func (l *stopLayer) Finish()             {}
func (l *stopLayer) Release() int        { l.free = true; return 0 }
func (l *stopLayer) Tile(int, int, int, int, int) {
	if l.tiles.Add(1) == l.at {
		l.cancel()
	}
}

// Whoever waits for a worker that has stopped stops too, whatever the tile at
// which the context is done.
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
			_, err = e.Fill(&set, &Plan{Grid: g, Workers: workers}, l)
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

// Reports grow and end with 1, and come from the caller's goroutine: the race
// detector sees to that.
func TestProgress(t *testing.T) {
	var e Engine
	for _, g := range []Grid{{Rows: 40, N: 50, BandRows: 4, TileWidth: 5}, {Rows: 1, N: 1, BandRows: 1, TileWidth: 1}, {BandRows: 1, TileWidth: 1}} {
		for workers := 1; workers <= 3; workers++ {
			var seen []float64
			set, err := (&Options{Progress: func(done float64) { seen = append(seen, done) }}).Check()
			if err != nil {
				t.Fatal(err)
			}
			if _, err := e.Fill(&set, &Plan{Grid: g, Workers: workers}, &stopLayer{}); err != nil {
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

// Runs are used again, as far as they are not too many or too large.
func TestIdle(t *testing.T) {
	type other struct{}
	a := Take[Run[stopLayer]]()
	if err := a.Fill(Settings{}, Plan{Workers: 1}, &a.Layer); err != nil {
		t.Fatal(err)
	}
	if Take[Run[other]]() == nil || Take[Run[stopLayer]]() != a || Take[Run[stopLayer]]() == a {
		t.Error("a run was not used again, or twice")
	}
	var l idleList
	for i := range 3 * idleRuns {
		l.put(i, 1)
	}
	if l.count != idleRuns || l.bytes != idleRuns || l.runs[idleRuns-1].run != 3*idleRuns-1 {
		t.Errorf("%d runs of %d bytes", l.count, l.bytes)
	}
	l.put(-1, idleBytes-2)
	if l.count != 3 || l.runs[2].run != -1 {
		t.Errorf("%d runs beside a large one", l.count)
	}
	l.put(-2, idleBytes+1)
	if l.count != 3 || l.bytes != idleBytes {
		t.Errorf("%d runs of %d bytes, a huge one among them", l.count, l.bytes)
	}
}

func TestOptions(t *testing.T) {
	for name, opt := range map[string]Options{"workers": {Workers: -1}, "level": {Level: "mmx"}} {
		if _, err := opt.Check(); !errors.Is(err, grid.ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for i, name := range Levels() {
		if set, err := (&Options{Level: name, Workers: 3}).Check(); err != nil || int(set.Level) != i || set.Workers != 3 {
			t.Errorf("%s: %+v, %v", name, set, err)
		}
	}
}
