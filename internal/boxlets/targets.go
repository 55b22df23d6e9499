package boxlets

import (
	"image"
	"math"

	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/kernel/windows"
	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/internal/window"
)

// checkCells validates the window and the rate of false alarms of a detector of targets.
func (j *Job) checkCells() error {
	switch {
	case j.Guard < 0 || j.Train < 1 || j.Guard > maxReach || j.Train > maxReach || j.Guard+j.Train >= maxReach:
		return raster.Invalid("guard is %d and train is %d, want a guard of 0 or more, a train of 1 or more, and a sum less than %d", j.Guard, j.Train, maxReach)
	case !(j.FalseAlarms > 0 && j.FalseAlarms < 1):
		return raster.Invalid("rate of false alarms is %v, want more than 0 and less than 1", j.FalseAlarms)
	}
	r := j.Guard + j.Train
	j.reach = image.Rect(-r, -r, r+1, r+1)
	j.Border = window.Clip
	return nil
}

// targets finds pixels that exceed the mean of the training cells around them. Cells beyond the image do not count, so that
// the rate of false alarms is the same at the edges.
type targets struct {
	sums, pixels, factors []float64
	outer, guard          []int // columns of the outer and the inner window that are in the image
	rows                  [2]int
}

func (t *targets) aim(j *Job) {
	n := j.Src.Width * j.Src.Channels
	t.sums, t.pixels, t.factors = engine.AtLeast(t.sums, n), engine.AtLeast(t.pixels, n), engine.AtLeast(t.factors, n)
	t.outer, t.guard = engine.AtLeast(t.outer, j.Src.Width), engine.AtLeast(t.guard, j.Src.Width)
	for x := range t.outer {
		t.outer[x], t.guard[x] = count(x, j.Guard+j.Train, j.Src.Width), count(x, j.Guard, j.Src.Width)
	}
	t.rows = [2]int{}
}

// count returns the number of positions out of n up to a distance from i.
func count(i, distance, n int) int { return min(i+distance, n-1) - max(i-distance, 0) + 1 }

// targetRow marks the targets of row y.
func (w *worker) targetRow(j *Job, dst []byte, y int) {
	t := &w.targets
	outer, inner := j.Guard+j.Train, j.Guard
	w.sums.Result, w.sums.Weights = raster.F64, append(w.sums.Weights[:0], 1, -1)
	w.sums.Corners = w.sums.Corners[:0]
	for _, r := range [2]int{outer, inner} {
		w.sums.Corners = append(w.sums.Corners, w.corner(r+1, y+r+1), w.corner(-r, y+r+1), w.corner(r+1, y-r), w.corner(-r, y-r))
	}
	w.sums.Row(raster.Bytes(t.sums))
	windows.Floats(j.Src.Type, t.pixels, j.Src.Span(0, y, j.Src.Width))
	if rows := [2]int{count(y, outer, j.Src.Height), count(y, inner, j.Src.Height)}; rows != t.rows {
		t.rows = rows
		t.setFactors(j)
	}
	for i, v := range t.pixels {
		dst[i] = 0
		if v > float64(t.factors[i]*t.sums[i]) {
			dst[i] = 1
		}
	}
}

// setFactors computes how many times the sum of its training cells a target exceeds, by columns. With n cells of noise whose
// power is exponentially distributed, a cell exceeds n·(rate^(-1/n) - 1) times their mean at the given rate.
func (t *targets) setFactors(j *Job) {
	channels, before := j.Src.Channels, -1
	for x := range t.outer {
		n := t.rows[0]*t.outer[x] - t.rows[1]*t.guard[x]
		factor := math.Inf(1) // without training cells there are no targets
		if n == before {
			factor = t.factors[(x-1)*channels]
		} else if n > 0 {
			factor = math.Pow(j.FalseAlarms, -1/float64(n)) - 1
			if j.Amplitudes {
				factor = math.Sqrt(factor / float64(n))
			}
		}
		before = n
		for c := range channels {
			t.factors[x*channels+c] = factor
		}
	}
}

func (t *targets) bytes() int {
	return engine.Bytes(t.sums) + engine.Bytes(t.pixels) + engine.Bytes(t.factors) + engine.Bytes(t.outer) + engine.Bytes(t.guard)
}
