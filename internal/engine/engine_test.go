package engine

import (
	"math/rand/v2"
	"sync/atomic"
	"testing"
)

// orderLayer checks, at every tile, that the tiles to the left and above are done,
// that each is made once, and that a band has a single worker.
type orderLayer struct {
	Base
	t     *testing.T
	grid  Grid
	tiles int
	done  []atomic.Int32
	busy  []atomic.Int32 // by worker
}

func (l *orderLayer) Prepare(*Plan) error { return nil }
func (l *orderLayer) Release() int        { return 0 }

func (l *orderLayer) Tile(worker, x, y, n, rows int) {
	if l.busy[worker].Add(1) != 1 {
		l.t.Errorf("worker %d is at two tiles", worker)
	}
	defer l.busy[worker].Add(-1)
	band, tile := y/l.grid.BandRows, x/l.grid.TileWidth
	i := band*l.tiles + tile
	if tile > 0 && l.done[i-1].Load() != int32(worker)+1 {
		l.t.Errorf("tile %d of band %d: the one on its left was not done by worker %d", tile, band, worker)
	}
	if band > 0 && l.done[i-l.tiles].Load() == 0 {
		l.t.Errorf("tile %d of band %d: the one above was not done", tile, band)
	}
	if n != min(l.grid.TileWidth, l.grid.N-x) || rows != min(l.grid.BandRows, l.grid.Rows-y) {
		l.t.Errorf("tile %d of band %d: %d×%d", tile, band, n, rows)
	}
	if !l.done[i].CompareAndSwap(0, int32(worker)+1) {
		l.t.Errorf("tile %d of band %d came twice", tile, band)
	}
}

func TestOrder(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	var e Engine // one engine for all, as calls reuse theirs
	for range 500 {
		g := Grid{Rows: rng.IntN(200), N: rng.IntN(200), BandRows: 1 + rng.IntN(20), TileWidth: 1 + rng.IntN(50)}
		workers := 1 + rng.IntN(8)
		bands := (g.Rows + g.BandRows - 1) / g.BandRows
		tiles := (g.N + g.TileWidth - 1) / g.TileWidth
		l := &orderLayer{t: t, grid: g, tiles: tiles, done: make([]atomic.Int32, bands*tiles), busy: make([]atomic.Int32, workers)}
		if err := e.Fill(&Settings{}, &Plan{Grid: g, Workers: workers}, l); err != nil {
			t.Fatal(err)
		}
		for i := range l.done {
			if l.done[i].Load() == 0 {
				t.Fatalf("%+v with %d workers: tile %d never came", g, workers, i)
			}
		}
	}
}

func TestPlan(t *testing.T) {
	for _, rows := range []int{0, 1, 3, 64, 1080, 100_000} {
		for _, width := range []int{0, 1, 17, 1920, 100_000} {
			for channels := 1; channels <= 6; channels++ {
				for workers := 1; workers <= 5; workers++ {
					p := Work{Rows: rows, N: width * channels, Channels: channels, PixelBytes: 1, SumBytes: 4, Workers: workers}.Plan()
					if p.Workers < 1 || p.Workers > workers || p.BandRows < 1 || p.TileWidth < 1 || p.TileWidth%(16*channels) != 0 {
						t.Fatalf("%d×%d×%d on %d workers: %+v", width, rows, channels, workers, p)
					}
				}
			}
		}
	}
}
