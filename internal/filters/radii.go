package filters

import (
	"math"

	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/kernel/windows"
	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/internal/window"
)

// checkRadii validates the map of radii, and checks that it does not overlap the result.
func (j *Job) checkRadii() error {
	r := &j.Radii
	if t := r.Type; t != raster.U8 && t != raster.U16 && t != raster.U32 {
		return raster.Unsupported("radii have type %v, want uint8, uint16 or uint32", t)
	}
	if err := r.Check(); err != nil {
		return err
	}
	if r.Width != j.Src.Width || r.Height != j.Src.Height || r.Channels > 2 {
		return raster.Invalid("radii are %v, want %d×%d (the size of the image) with 1 or 2 channels", r.Extent, j.Src.Width, j.Src.Height)
	}
	if shareMemory(j.Dst.Data, r.Data) {
		return errOverlap()
	}
	return nil
}

// radiiRuns keeps the engines and scratch memory of the layer for later calls.
var radiiRuns engine.Runs[radiiLayer]

// runRadii computes means of windows of all sizes from a table.
func runRadii(j *Job) error {
	l := radiiLayer{job: *j}
	l.across, l.down = largestRadii(&j.Radii)
	w, h := 2*float64(l.across)+1, 2*float64(l.down)+1
	if w*h >= 1<<62 {
		return raster.Invalid("radii are up to %d×%d, want windows of fewer than 2^62 pixels", l.across, l.down)
	}
	sum := raster.U64
	switch most := w * h * j.Src.Type.Max(); {
	case j.Src.Type.Float():
		sum = raster.F64
	case most >= 1<<62:
		return raster.Invalid("radii are up to %d×%d, whose sums of %v pixels do not fit in 62 bits", l.across, l.down, j.Src.Type)
	case most < 1<<32:
		sum = raster.U32
	}
	if b := j.shape.Border; b == window.Clip || b == window.Constant {
		l.across, l.down = 0, 0
	}
	if err := l.integrate(sum); err != nil {
		return err
	}
	run := radiiRuns.Take()
	run.Layer = l
	p := engine.Plan{Grid: engine.Grid{Rows: j.Src.Height, N: j.Src.Width, TileWidth: j.Src.Width, BandRows: 16}, Workers: 1, Shares: true}
	if j.Src.Width*j.Src.Height > 1<<14 {
		p.Workers = min(j.set.Workers(), engine.DivUp(j.Src.Height, p.BandRows))
	}
	return run.Fill(&j.set, &p, &run.Layer)
}

// largestRadii returns how far windows reach across and down.
func largestRadii(r *raster.Array) (across, down int) {
	row := make([]int, r.Width*r.Channels)
	for y := range r.Height {
		windows.Numbers(r.Type, row, r.Span(0, y, r.Width))
		for i := 0; i < len(row); i += r.Channels {
			across, down = max(across, row[i]), max(down, row[i+r.Channels-1])
		}
	}
	return across, down
}

// radiiLayer is the layer for means of windows of all sizes, from a table.
type radiiLayer struct {
	engine.Base
	job          Job
	table        raster.Array
	plus, minus  raster.Array // counts of +Inf or NaN, and of -Inf or NaN; without memory if there are none
	across, down int          // size of the border in the table
	workers      []radiiWorker
}

type radiiWorker struct {
	radii []int     // of a row
	means []float64 // of a row
	_     [raster.LineBytes]byte
}

// integrate computes the table of the image and its border. Integer sums are modulo 2^32 or
// 2^64, in which window sums are exact.
func (l *radiiLayer) integrate(sum raster.Type) (err error) {
	src, border := &l.job.Src, l.job.shape.Border
	w, h := src.Width+2*l.across, src.Height+2*l.down
	if w < src.Width || h < src.Height {
		return raster.Invalid("radii are up to %d×%d, so the image with its border does not fit in memory", l.across, l.down)
	}
	img, err := raster.NewPixelArray(src.Type, raster.PlaneExtent(w, h, src.Channels, 0))
	if err != nil {
		return err
	}
	size := src.Channels * src.Type.Bytes() // of a pixel
	for y := range h {
		from, to := src.Span(0, border.Index(y-l.down, src.Height), src.Width), img.Span(0, y, w)
		copy(to[l.across*size:], from)
		for x := 0; x < w; x++ {
			if x == l.across {
				x += src.Width - 1
				continue
			}
			copy(to[x*size:][:size], from[border.Index(x-l.across, src.Width)*size:])
		}
	}
	var plus, minus raster.Array
	if src.Type.Float() {
		if plus, minus, err = takeInfinite(&img); err != nil {
			return err
		}
	}
	if l.table, err = l.tableOf(img, sum); err != nil || plus.Data == nil {
		return err
	}
	if l.plus, err = l.tableOf(plus, raster.U32); err == nil {
		l.minus, err = l.tableOf(minus, raster.U32)
	}
	return err
}

// takeInfinite sets pixels that are not finite to zero, and returns where they are: +Inf or
// NaN, and -Inf or NaN. It returns no memory if there are none.
func takeInfinite(img *raster.Array) (plus, minus raster.Array, err error) {
	row := make([]float64, img.Width*img.Channels)
	for y := range img.Height {
		pix := img.Span(0, y, img.Width)
		windows.Floats(img.Type, row, pix)
		found := false
		for i, v := range row {
			if v-v == 0 {
				continue
			}
			if found = true; plus.Data == nil {
				if plus, err = raster.NewPixelArray(raster.U8, img.Extent); err != nil {
					return plus, minus, err
				}
				if minus, err = raster.NewPixelArray(raster.U8, img.Extent); err != nil {
					return plus, minus, err
				}
			}
			if !(v < 0) {
				plus.Span(0, y, img.Width)[i] = 1
			}
			if !(v > 0) {
				minus.Span(0, y, img.Width)[i] = 1
			}
			row[i] = 0
		}
		if found {
			windows.Store(img.Type, pix, row)
		}
	}
	return plus, minus, nil
}

// tableOf integrates an image.
func (l *radiiLayer) tableOf(img raster.Array, sum raster.Type) (raster.Array, error) {
	j := engine.Job{Src: img, Plain: true, Options: l.job.Options.Options}
	j.Options.Progress = nil
	j.Sums.Type = sum
	if err := j.Check(); err != nil {
		return raster.Array{}, err
	}
	table, err := raster.NewTable(sum, img.Extent)
	if err != nil {
		return raster.Array{}, err
	}
	j.Sums.Array = table
	return table, j.Run()
}

func (l *radiiLayer) Prepare(p *engine.Plan) error {
	l.workers = engine.Workers(l.workers, p.Workers)
	for i := range l.workers[:p.Workers] {
		w := &l.workers[i]
		w.radii = engine.AtLeast(w.radii, l.job.Radii.Width*l.job.Radii.Channels)
		w.means = engine.AtLeast(w.means, l.job.Src.Width*l.job.Src.Channels)
	}
	return nil
}

// Tile implements [engine.Layer]: whole rows.
func (l *radiiLayer) Tile(worker, _, y, n, rows int) {
	t, w := &l.table, &l.workers[worker]
	c, k, border := l.job.Src.Channels, l.job.Radii.Channels, l.job.shape.Border
	for end := y + rows; y < end; y++ {
		windows.Numbers(l.job.Radii.Type, w.radii, l.job.Radii.Span(0, y, n))
		for x := range n {
			across, down := w.radii[x*k], w.radii[x*k+k-1]
			x0, x1 := max(0, x+l.across-across), min(t.Width, x+l.across+across+1)
			y0, y1 := max(0, y+l.down-down), min(t.Height, y+l.down+down+1)
			count := (x1 - x0) * (y1 - y0)
			beside := 0
			if border == window.Constant {
				all := (2*across + 1) * (2*down + 1)
				count, beside = all, all-count
			}
			at := cornersOf(t, x0, y0, x1, y1)
			means := w.means[x*c:][:c]
			windows.CornerMeans(t.Type, means, t.Data, at, l.job.shape.Value, beside, count)
			if l.plus.Data != nil {
				l.mark(means, cornersOf(&l.plus, x0, y0, x1, y1))
			}
		}
		windows.Store(l.job.Dst.Type, l.job.Dst.Span(0, y, n), w.means)
	}
}

// cornersOf returns the positions of the entries at the corners of a box in a table.
func cornersOf(t *raster.Array, x0, y0, x1, y1 int) windows.Corner {
	top, bottom, c := y0*t.Stride, y1*t.Stride, t.Channels
	return windows.Corner{TopLeft: top + x0*c, TopRight: top + x1*c, BottomLeft: bottom + x0*c, BottomRight: bottom + x1*c}
}

// mark sets the means of a window that contains pixels that are not finite.
func (l *radiiLayer) mark(means []float64, at windows.Corner) {
	plus, minus := raster.Elems[uint32](l.plus.Data), raster.Elems[uint32](l.minus.Data)
	has := func(t []uint32, ch int) bool {
		return t[at.BottomRight+ch]-t[at.BottomLeft+ch] != t[at.TopRight+ch]-t[at.TopLeft+ch]
	}
	for ch := range means {
		switch plus, minus := has(plus, ch), has(minus, ch); {
		case plus && minus:
			means[ch] = math.NaN()
		case plus:
			means[ch] = math.Inf(1)
		case minus:
			means[ch] = math.Inf(-1)
		}
	}
}

func (l *radiiLayer) Release() int {
	*l = radiiLayer{}
	return 0
}
