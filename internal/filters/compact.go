package filters

import (
	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/kernel/windows"
	"github.com/boxsum/boxsum/internal/raster"
)

// compactBox is the layer for means of small images of bytes, where calls for every row would take longer
// than the work that they do. It copies the image, extended on all sides by the border, and computes all
// windows as if the rows were a single long one. Windows that consist of the end of a row and the start
// of the next are computed for nothing.
type compactBox struct {
	engine.Base
	job         Job
	left, right []int // elements of a row that appear beside it, or -1

	box      windows.Box
	scratch  windows.BoxScratch
	extended windows.Extended
	means    []uint8
}

// compactPixels is the greatest size of an extended image for compactBox. Larger ones leave the nearer
// caches between the steps.
const compactPixels = 40 << 10

// isCompact reports whether [compactBox] can do a job.
func (j *Job) isCompact() bool {
	width, height := j.Src.Width+j.shape.Width()-1, j.Src.Height+j.shape.Height()-1
	return width*j.Src.Channels <= compactPixels/height && j.extendedBox().Kind.Narrow()
}

// compactRuns keeps the engines and scratch memory of the layer for later calls.
var compactRuns engine.Runs[compactBox]

func runCompact(j *Job) error {
	run := compactRuns.Take()
	l := &run.Layer
	l.job, l.box = *j, j.extendedBox()
	p := engine.Plan{Grid: engine.Grid{Rows: j.Src.Height, N: j.Src.Width, TileWidth: j.Src.Width, BandRows: j.Src.Height}, Workers: 1}
	return run.Fill(&j.set, &p, l)
}

// Prepare implements [engine.Layer].
func (l *compactBox) Prepare(*engine.Plan) error {
	src, s := &l.job.Src, &l.job.shape
	l.left = s.Border.AppendColumns(l.left[:0], -s.Left, 0, src.Width, src.Channels)
	l.right = s.Border.AppendColumns(l.right[:0], src.Width, src.Width+s.Right, src.Width, src.Channels)
	stride := (src.Width + s.Width() - 1) * src.Channels
	l.extended.Resize(stride, src.Height+s.Height()-1)
	l.means = engine.AtLeast(l.means, stride*src.Height)
	return nil
}

// Tile implements [engine.Layer]: the whole image.
func (l *compactBox) Tile(_, _, _, n, rows int) {
	src, s, stride := &l.job.Src, &l.job.shape, l.extended.Stride
	row := func(place int) []uint8 { return l.extended.Pixels[(place+s.Up)*stride:][:stride] }
	for y := range rows {
		l.extend(row(y), src.Span(0, y, n))
	}
	for i := range s.Up + s.Down {
		y := i - s.Up
		if y >= 0 {
			y += rows
		}
		if at := s.Border.Index(y, rows); at >= 0 {
			copy(row(y), row(at))
		} else {
			windows.Fill(raster.U8, row(y), s.Value)
		}
	}
	l.box.Means(l.means, &l.extended, s.Height(), &l.scratch)
	for y := range rows {
		copy(l.job.Dst.Span(0, y, n), l.means[y*stride:])
	}
}

// extend copies a row and the pixels beside it.
func (l *compactBox) extend(to, row []uint8) {
	beside := func(to []uint8, elems []int) {
		for i, x := range elems {
			if x >= 0 {
				to[i] = row[x]
			} else {
				to[i] = uint8(l.job.shape.Value)
			}
		}
	}
	beside(to, l.left)
	beside(to[len(l.left)+copy(to[len(l.left):], row):], l.right)
}

// Release implements [engine.Layer].
func (l *compactBox) Release() int {
	l.job = Job{}
	return engine.Bytes(l.left) + engine.Bytes(l.right) + l.extended.Bytes() + engine.Bytes(l.means)
}
