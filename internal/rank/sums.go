package rank

import (
	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/internal/window"
)

// sums is the layer for what follows from the sum of a window.
type sums struct {
	window.Layer
	job Job
}

// sumRuns keeps the engines and scratch memory of the layer for later calls.
var sumRuns engine.Runs[sums]

func runSums(j *Job) error {
	run := sumRuns.Take()
	l := &run.Layer
	l.job = *j
	sum, most := raster.U32, float64(int(1)<<(8*j.Src.Type.Bytes())-1)
	if float64(min(j.Width, j.Src.Width))*float64(min(j.Height, j.Src.Height))*most >= 1<<32 {
		sum = raster.U64
	}
	l.Src, l.InPlace = j.Src, j.same
	l.Frame = window.Frame{Width: j.Src.Width, Height: j.Src.Height, Channels: j.Src.Channels, Pixel: j.Src.Type, Sum: sum, Shape: j.shape, Level: j.set.Level}
	p := l.Plan(&j.set, j.Src.Type.Bytes())
	return run.Fill(&j.set, &p, l)
}

// Tile implements [engine.Layer].
func (l *sums) Tile(worker, x, y, n, rows int) {
	j, c := &l.job, l.Frame.Channels
	size := j.Src.Type.Bytes()
	s, src := l.Start(worker, x, y, n)
	var p window.Part
	for end := y + rows; y < end; y++ {
		s.Down(src, y)
		r := s.Windows()
		dst, pixels := j.Dst.Span(x, y, n), j.Src.Span(x, y, n)
		for i := 0; i < n; i = p.To {
			r.Cut(&p, i)
			from, to := p.From*c*size, p.To*c*size
			switch j.Kind {
			case Mean:
				p.Sums.Floors(j.Src.Type, dst[from:to], uint64(p.Count))
			case Sum:
				p.Sums.Wrapped(j.Src.Type, dst[from:to])
			case Threshold:
				p.Sums.Below(j.Src.Type, dst[from:to], pixels[from:to], uint64(p.Count))
			case SubtractMean:
				p.Sums.Distances(j.Src.Type, dst[from:to], pixels[from:to], uint64(p.Count), j.Levels/2-1)
			}
		}
	}
}

// Release implements [engine.Layer].
func (l *sums) Release() int {
	l.job = Job{}
	return l.Layer.Release()
}
