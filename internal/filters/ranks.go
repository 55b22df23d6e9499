package filters

import (
	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/kernel/windows"
	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/internal/window"
)

// rankedMedians is the layer for medians of pixels with too many values to count each: it ranks the
// pixels of a tile and of what its windows reach beside it.
type rankedMedians struct {
	engine.Base
	job     Job
	image   window.Image
	copied  []byte
	columns []int     // elements of a row, by their position in windows; -1 outside
	value   [1]uint64 // the key of the border's constant
	workers []rankedWorker
}

type rankedWorker struct {
	ranks   windows.Ranks
	medians []uint64
	_       [raster.LineBytes]byte
}

const (
	// rankedTile is the least width and height of a tile, which is sorted together with the
	// windows around it: larger ones sort fewer pixels twice, smaller ones stay in the cache.
	rankedTile = 96
	// maxRanked is the greatest width and height of windows whose tiles are sorted: 20 bytes
	// for a pixel of a tile and its windows.
	maxRanked = 400
)

// isRanked reports whether [rankedMedians] does a job.
func (j *Job) isRanked() bool {
	return windows.HasRanks(j.Src.Type) && j.shape.Width() <= maxRanked && j.shape.Height() <= maxRanked
}

// rankedRuns keeps the engines and scratch memory of the layer for later calls.
var rankedRuns engine.Runs[rankedMedians]

func runRankedMedians(j *Job) error {
	run := rankedRuns.Take()
	l := &run.Layer
	l.job = *j
	l.image.Src, l.image.Border = j.Src, j.shape.Border
	p := engine.Plan{Grid: engine.Grid{Rows: j.Src.Height, N: j.Src.Width}, Workers: 1, Shares: true}
	p.TileWidth = evenTiles(j.Src.Width, j.shape.Width())
	p.BandRows = evenTiles(j.Src.Height, j.shape.Height())
	if j.Src.Width*j.Src.Height > 1<<12 {
		p.Workers = min(j.set.Workers(), engine.DivUp(j.Src.Height, p.BandRows))
	}
	return run.Fill(&j.set, &p, l)
}

// evenTiles cuts a side of an image into equal parts.
func evenTiles(side, window int) int {
	return engine.DivUp(side, engine.DivUp(side, max(rankedTile, window)))
}

func (l *rankedMedians) Prepare(p *engine.Plan) error {
	j, s := &l.job, &l.job.shape
	if j.same {
		l.copied = window.CopyTo(l.copied, &l.image.Src)
	}
	f := j.frame(raster.U32, 0)
	l.image.Outside = window.OutsideRow(l.image.Outside, &f)
	l.columns = s.Columns(l.columns, j.Src.Width, j.Src.Channels)
	var value [8]byte // a pixel
	windows.Fill(j.Src.Type, value[:j.Src.Type.Bytes()], s.Value)
	windows.RankKeys(j.Src.Type, l.value[:], 1, value[:], []int{0}, 0)
	l.workers = engine.Workers(l.workers, p.Workers)
	for i := range l.workers[:p.Workers] {
		w := &l.workers[i]
		w.ranks.Aim(p.TileWidth+s.Width()-1, p.BandRows+s.Height()-1)
		w.medians = engine.AtLeast(w.medians, p.TileWidth)
	}
	return nil
}

// Tile implements [engine.Layer].
func (l *rankedMedians) Tile(worker, x, y, n, rows int) {
	j, s, w := &l.job, &l.job.shape, &l.workers[worker]
	c, t := j.Src.Channels, j.Src.Type
	r := &w.ranks
	width, height := n+s.Width()-1, rows+s.Height()-1
	r.Aim(width, height)
	// The part of the tile that counts: all of it unless windows end at the edge.
	left, right, top, bottom := 0, width, 0, height
	if s.Border == window.Clip {
		left, right = max(0, s.Left-x), min(width, s.Left-x+j.Src.Width)
		top, bottom = max(0, s.Up-y), min(height, s.Up-y+j.Src.Height)
	}
	for ch := range c {
		for i := range height {
			row := l.image.Row(y - s.Up + i)
			windows.RankKeys(t, r.Keys[i:], height, row[ch*t.Bytes():], l.columns[x:x+width], l.value[0])
		}
		r.Sort(t)
		for i := range rows {
			medians := w.medians[:n]
			r.Medians(medians, max(top, i), min(bottom, i+s.Height()), s.Width(), left, right)
			windows.RankPixels(t, j.Dst.Span(x, y+i, n)[ch*t.Bytes():], c, medians)
		}
	}
}

func (l *rankedMedians) Release() int {
	l.job, l.image.Src = Job{}, raster.Array{}
	bytes := engine.Bytes(l.copied) + engine.Bytes(l.columns) + engine.Bytes(l.image.Outside)
	for i := range l.workers {
		w := &l.workers[i]
		bytes += w.ranks.Bytes() + engine.Bytes(w.medians)
	}
	return bytes
}
