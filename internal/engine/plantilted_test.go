package engine

import (
	"math/rand/v2"
	"sync/atomic"
	"testing"

	"github.com/boxsum/boxsum/internal/kernel"
)

// leadLayer checks, at every tile, that the band above is ahead by the lead.
type leadLayer struct {
	Base
	t     *testing.T
	grid  Grid
	tiles int
	done  []atomic.Bool
}

func (l *leadLayer) Prepare(*Plan) error { return nil }
func (l *leadLayer) Release() int        { return 0 }

func (l *leadLayer) Tile(_, x, y, _, _ int) {
	band, tile := y/l.grid.BandRows, x/l.grid.TileWidth
	if over := min(tile+l.grid.Lead, l.tiles-1); band > 0 && !l.done[(band-1)*l.tiles+over].Load() {
		l.t.Errorf("tile %d of band %d: tile %d above was not done", tile, band, over)
	}
	l.done[band*l.tiles+tile].Store(true)
}

func TestLead(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	var e Engine
	for range 300 {
		g := Grid{Rows: 1 + rng.IntN(200), N: 1 + rng.IntN(200), BandRows: 1 + rng.IntN(20), TileWidth: 1 + rng.IntN(50), Lead: rng.IntN(6)}
		bands, tiles := (g.Rows+g.BandRows-1)/g.BandRows, (g.N+g.TileWidth-1)/g.TileWidth
		l := &leadLayer{t: t, grid: g, tiles: tiles, done: make([]atomic.Bool, bands*tiles)}
		if err := e.Fill(&Settings{}, &Plan{Grid: g, Workers: 1 + rng.IntN(8)}, l); err != nil {
			t.Fatal(err)
		}
	}
}

// TestPlanTilted tests that the last row of a band is done as far as the band below
// needs it, and that every row is completed.
func TestPlanTilted(t *testing.T) {
	for _, rows := range []int{0, 1, 3, 64, 1080, 100_000} {
		for _, width := range []int{0, 1, 17, 1920, 100_000} {
			for channels := 1; channels <= 20; channels++ {
				for workers := 1; workers <= 5; workers++ {
					for _, bytes := range []int{4, 8, 12, 16} {
						p := Work{Rows: rows, N: width * channels, Channels: channels, PixelBytes: 1, SumBytes: bytes, Workers: workers}.PlanTilted()
						if width == 0 {
							continue
						}
						skew := kernel.TiltedSkew(channels, bytes)
						over := (p.BandRows - 1) * skew
						if p.Workers < 1 || p.Workers > workers || p.BandRows < 1 || p.TileWidth < 1 || p.TileWidth%skew != 0 ||
							p.N-over < width*channels || p.Lead*p.TileWidth < over+channels {
							t.Fatalf("%d×%d×%d on %d workers: %+v", width, rows, channels, workers, p)
						}
					}
				}
			}
		}
	}
}
