package filters

import (
	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/kernel/processor"
	"github.com/boxsum/boxsum/internal/kernel/windows"
	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/internal/window"
)

// local is the layer for everything computed from window sums.
type local struct {
	window.Layer
	job     Job
	box     windows.Box // for bytes
	workers []localWorker

	past bool // write results past the caches, which does not help with bytes

	stats     windows.StatsBox // for means and deviations of bytes
	statsFast bool             // it computes all rows
}

type localWorker struct {
	scratch windows.BoxScratch
	row     []byte // results to be written past the caches
	pixels  pixelScratch
	_       [raster.LineBytes]byte
}

// pixelScratch holds pixels that results may overwrite.
type pixelScratch [128]float64

// aim prepares the layer for a job, and returns how to cut the image.
func (l *local) aim(j *Job) (p engine.Plan, err error) {
	sum, square, err := j.sumTypes()
	if err != nil {
		return p, err
	}
	l.job = *j
	l.box, l.statsFast = j.box(), false
	switch {
	case l.box.Kind.Narrow():
		sum = raster.U16
	case l.box.Kind == windows.BoxWords && sum != raster.U32:
		l.box.Kind = windows.BoxNone
	}
	l.Src, l.InPlace, l.Frame = j.Src, j.same, j.frame(sum, square)
	src, f := &j.Src, &l.Frame
	size := j.Dst.Type.Bytes()
	l.past = !j.same && j.Kind != MeanDeviation && size >= 4 && windows.BypassCaches(size*src.Width*src.Height*src.Channels)
	if (j.Kind == MeanDeviation || j.Kind == Deviation && !l.past) && src.Type == raster.U8 && j.Dst.Type == raster.F32 &&
		j.shape.Border != window.Clip && f.Plain() && sum == raster.U32 && square == raster.U32 {
		l.stats, l.statsFast = windows.NewStatsBox(j.set.Level, j.shape.Width(), j.shape.Height(), src.Channels, 8*src.Width*src.Height*src.Channels)
	}
	p = l.Plan(&j.set, size)
	l.workers = engine.Workers(l.workers, p.Workers)
	return p, nil
}

// localRuns keeps the engines and scratch memory of the layer for later calls.
var localRuns engine.Runs[local]

// Release implements [engine.Layer].
func (l *local) Release() int {
	l.job = Job{}
	bytes := l.Layer.Release()
	for i := range l.workers {
		bytes += engine.Bytes(l.workers[i].row)
	}
	return bytes
}

// Tile implements [engine.Layer].
func (l *local) Tile(worker, x, y, n, rows int) {
	w, c, j := &l.workers[worker], l.Frame.Channels, &l.job
	s, src := l.Start(worker, x, y, n)
	for end := y + rows; y < end; y++ {
		s.Down(src, y)
		dst := j.Dst.Span(x, y, n)
		switch {
		case l.box.Kind.Narrow():
			cols, _ := s.Columns(c)
			l.box.Narrow(dst, raster.Elems[uint16](cols), &w.scratch)
		case l.box.Kind != windows.BoxNone:
			cols, _ := s.Columns(c)
			l.box.Row(dst, raster.Elems[uint32](cols), &w.scratch)
		case l.statsFast:
			means, deviations := dst, dst
			if j.Kind == MeanDeviation {
				deviations = j.Second.Span(x, y, n)
			} else { // the kernel computes both faster than others only deviations
				w.row = engine.AtLeast(w.row, len(dst))
				means = w.row
			}
			cols, _ := s.Columns(c)
			l.stats.Row(raster.Elems[float32](means), raster.Elems[float32](deviations),
				raster.Elems[uint32](cols), raster.Elems[uint32](s.SquareColumns(c)), &w.scratch)
		case l.past:
			w.row = engine.AtLeast(w.row, len(dst))
			j.makeRow(w.row, nil, l.pixels(x, y, n), s.Windows(), n, &w.pixels)
			processor.StreamCopy(dst, w.row)
		case j.Kind == MeanDeviation:
			j.makeRow(dst, j.Second.Span(x, y, n), nil, s.Windows(), n, &w.pixels)
		default:
			j.makeRow(dst, nil, l.pixels(x, y, n), s.Windows(), n, &w.pixels)
		}
	}
	if l.past {
		processor.StoreFence()
	}
}

// pixels returns pixels of the image if the job needs them beside the sums of windows.
func (l *local) pixels(x, y, n int) []byte {
	if l.job.Kind != Normalized {
		return nil
	}
	return l.job.Src.Span(x, y, n)
}

// makeRow computes a row of n pixels of results in first and, if the job has two,
// deviations in second. It needs the pixels of the image only to normalize them.
func (j *Job) makeRow(first, second, pix []byte, r *window.Row, n int, scratch *pixelScratch) {
	t := j.Dst.Type
	size := t.Bytes()
	var p window.Part
	for x := 0; x < n; x = p.To {
		r.Cut(&p, x)
		from, to := p.From*r.Channels, p.To*r.Channels
		dst := first[from*size : to*size]
		switch j.Kind {
		case Sum:
			p.Sums.Totals(t, dst, r.Offset*float64(p.Count))
		case Mean:
			p.Sums.Means(j.set.Level, t, dst, j.meanOf(r, &p))
		case MeanDeviation:
			p.Sums.Means(j.set.Level, t, dst, j.meanOf(r, &p))
			windows.Spreads(j.set.Level, t, second[from*size:to*size], p.Sums, p.Squares, j.spreadOf(r, &p))
		case Variance, Deviation:
			windows.Spreads(j.set.Level, t, dst, p.Sums, p.Squares, j.spreadOf(r, &p))
		case Normalized:
			bytes := j.Src.Type.Bytes()
			j.makeContrasts(dst, pix[from*bytes:to*bytes], &p, j.spreadOf(r, &p), r.Offset, scratch)
		}
	}
}

// meanOf and spreadOf return what the means and deviations of a part depend on.
func (j *Job) meanOf(r *window.Row, p *window.Part) windows.Mean {
	return windows.Mean{Count: uint64(p.Count), Offset: r.Offset, Most: j.most(p.Count)}
}

func (j *Job) spreadOf(r *window.Row, p *window.Part) windows.Spread {
	return windows.Spread{Count: uint64(p.Count), Bytes: j.Src.Type == raster.U8, Root: j.Kind != Variance, Exact: r.Exact, First: p.From * r.Channels}
}

// makeContrasts computes the number of deviations by which pixels exceed the mean.
func (j *Job) makeContrasts(dst, pix []byte, p *window.Part, spread windows.Spread, offset float64, scratch *pixelScratch) {
	t, first := j.Dst.Type, spread.First
	size, bytes := t.Bytes(), j.Src.Type.Bytes()
	count := len(dst) / size
	inverse := 1 / float64(p.Count)
	for k := 0; k < count; k += len(scratch) {
		n := min(len(scratch), count-k)
		from, some := scratch[:n], dst[k*size:][:n*size]
		sums, squares := p.Sums.Slice(k, k+n), p.Squares.Slice(k, k+n)
		spread.First = first + k
		windows.Floats(j.Src.Type, from, pix[k*bytes:][:n*bytes])
		windows.Spreads(j.set.Level, t, some, sums, squares, spread)
		sums.Contrasts(t, some, from, inverse, offset, j.Floor)
	}
}
