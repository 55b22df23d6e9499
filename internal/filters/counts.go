package filters

import (
	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/kernel/windows"
	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/internal/window"
)

// countedMedians is the layer for medians of bytes from histograms of columns, in vectors.
type countedMedians struct {
	engine.Base
	job     Job
	image   window.Image
	copied  []byte
	columns []int // elements of a row, by their position in windows; -1 outside
	workers []countedWorker
}

type countedWorker struct {
	counts  windows.Counts
	in, out []uint8 // pixels that enter columns and leave them
	medians []uint8 // of one channel
	_       [raster.LineBytes]byte
}

const (
	// countedTile is the minimum width of a tile: its histograms, of 272 bytes a column, stay in
	// the second-level cache.
	countedTile = 256
	// countedBands is the minimum height of a band, as a multiple of the window's height: each band
	// starts by counting as many rows as a window has.
	countedBands = 4
)

// isCounted reports whether [countedMedians] does a job.
func (j *Job) isCounted() bool {
	return j.Src.Type == raster.U8 && j.shape.Border != window.Clip && windows.HasCounts(j.set.Level, j.shape.Width(), j.shape.Height())
}

// countedRuns keeps the engines and scratch memory of the layer for later calls.
var countedRuns engine.Runs[countedMedians]

func runCountedMedians(j *Job) error {
	run := countedRuns.Take()
	l := &run.Layer
	l.job = *j
	l.image.Src, l.image.Border = j.Src, j.shape.Border
	p := engine.Plan{Grid: engine.Grid{Rows: j.Src.Height, N: j.Src.Width}, Workers: 1, Shares: true}
	p.TileWidth = engine.DivUp(p.N, engine.DivUp(p.N, max(countedTile, 2*j.shape.Width())))
	if j.Src.Width*j.Src.Height*j.Src.Channels > 1<<14 {
		p.Workers = j.set.Workers()
	}
	p.BandRows = min(p.Rows, max(engine.DivUp(p.Rows, p.Workers), countedBands*j.shape.Height()))
	p.Workers = min(p.Workers, engine.DivUp(p.Rows, p.BandRows))
	return run.Fill(&j.set, &p, l)
}

func (l *countedMedians) Prepare(p *engine.Plan) error {
	j, s := &l.job, &l.job.shape
	if j.same {
		l.copied = window.CopyTo(l.copied, &l.image.Src)
	}
	f := j.frame(raster.U32, 0)
	l.image.Outside = window.OutsideRow(l.image.Outside, &f)
	l.columns = s.Columns(l.columns, j.Src.Width, j.Src.Channels)
	l.workers = engine.Workers(l.workers, p.Workers)
	for i := range l.workers[:p.Workers] {
		w := &l.workers[i]
		n := p.TileWidth + s.Width() - 1
		w.in, w.out, w.medians = engine.AtLeast(w.in, n), engine.AtLeast(w.out, n), engine.AtLeast(w.medians, p.TileWidth)
	}
	return nil
}

// Tile implements [engine.Layer].
func (l *countedMedians) Tile(worker, x, y, n, rows int) {
	j, s, w := &l.job, &l.job.shape, &l.workers[worker]
	channels, width := j.Src.Channels, n+s.Width()-1
	for ch := range channels {
		w.counts.Aim(j.set.Level, width, s.Height())
		zeros := w.out[:width]
		clear(zeros)
		for place := y - s.Up; place < y+s.Down; place++ {
			w.counts.Slide(l.row(w.in[:width], x, place, ch), zeros)
		}
		for i := range rows {
			out := zeros // of the first window
			if i > 0 {
				out = l.row(w.out[:width], x, y+i-s.Up-1, ch)
			}
			w.counts.Slide(l.row(w.in[:width], x, y+i+s.Down, ch), out)
			dst := j.Dst.Span(x, y+i, n)
			if channels == 1 {
				w.counts.Medians(dst, s.Width())
				continue
			}
			w.counts.Medians(w.medians[:n], s.Width())
			for k, v := range w.medians[:n] {
				dst[k*channels+ch] = v
			}
		}
	}
}

// row returns a channel of the pixels that the windows of a tile from column x on have in a row.
func (l *countedMedians) row(buffer []uint8, x, place, ch int) []uint8 {
	s, src := &l.job.shape, l.image.Row(place)
	if from := x - s.Left; l.job.Src.Channels == 1 && from >= 0 && from+len(buffer) <= len(src) {
		return src[from:][:len(buffer)]
	}
	columns := l.columns[x:][:len(buffer)]
	left := max(0, s.Left-x) // columns beside the image
	right := min(len(buffer), left+l.job.Src.Width-max(0, x-s.Left))
	gather := func(from, to int) {
		for i := from; i < to; i++ {
			if column := columns[i]; column >= 0 {
				buffer[i] = src[column+ch]
			} else {
				buffer[i] = uint8(s.Value)
			}
		}
	}
	gather(0, left)
	if l.job.Src.Channels == 1 {
		copy(buffer[left:right], src[columns[left]:])
	} else {
		gather(left, right)
	}
	gather(right, len(buffer))
	return buffer
}

func (l *countedMedians) Release() int {
	l.job, l.image.Src = Job{}, raster.Array{}
	bytes := engine.Bytes(l.copied) + engine.Bytes(l.columns) + engine.Bytes(l.image.Outside)
	for i := range l.workers {
		w := &l.workers[i]
		bytes += w.counts.Bytes() + engine.Bytes(w.in) + engine.Bytes(w.out) + engine.Bytes(w.medians)
	}
	return bytes
}
