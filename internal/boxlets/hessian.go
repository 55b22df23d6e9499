package boxlets

import (
	"image"

	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/kernel/windows"
	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/internal/window"
)

// diagonal is the share of the mixed derivative in the determinant, the balance between boxes and Gaussians in SURF.
const diagonal = 0.81

// maxSigma keeps the boxes of a Hessian smaller than the largest ones.
const maxSigma = maxReach / 4

// checkSigma validates the standard deviation of a Hessian.
func (j *Job) checkSigma() error {
	if !(j.Sigma >= 1) || j.Sigma > maxSigma {
		return raster.Invalid("sigma is %v, want 1 to %d", j.Sigma, maxSigma)
	}
	n := int(3 * j.Sigma)
	j.reach = image.Rect(-n, -n, n+2, n+2)
	j.Border = window.Clip
	return nil
}

// hessian computes rows of determinants. Its boxes are placed as in scikit-image's hessian_matrix_det: each has a corner that
// moves into the image, and a size that is measured from there.
type hessian struct {
	reach   int // of boxes to the left
	cells   [8]cell
	box     windows.BoxSums // one
	sums    []float64       // of a box, and then the determinants
	derived [3][]float64    // second derivatives along x, along y, and mixed
}

// A cell is a box of a Hessian, and its weight in one derivative.
type cell struct {
	derivative    int
	weight        float64
	row, column   int // of the corner; the box begins one pixel below and to the right of it
	height, width int
}

// aim sets the boxes for a job.
func (h *hessian) aim(j *Job) {
	n := int(3 * j.Sigma)
	third, half, one := n/3, (n-1)/2, 1/float64(n*n)
	length := 2*third - 1
	h.cells = [8]cell{
		{0, 3 * one, 1 - third, -(third / 2), length, third}, {0, -one, 1 - third, -half, length, n},
		{1, 3 * one, -(third / 2), 1 - third, third, length}, {1, -one, -half, 1 - third, n, length},
		{2, one, -third, -third, third, third}, {2, one, 1, 1, third, third},
		{2, -one, -third, 1, third, third}, {2, -one, 1, -third, third, third},
	}
	h.reach = max(third, half)
	h.sums = engine.AtLeast(h.sums, j.Src.Width*j.Src.Channels)
	for i := range h.derived {
		h.derived[i] = engine.AtLeast(h.derived[i], len(h.sums))
	}
	h.box.Level, h.box.Sum, h.box.Result, h.box.Weights = j.set.Level, j.sum, raster.F64, []float64{1}
}

// hessianRow computes the determinants of row y.
func (w *worker) hessianRow(j *Job, dst []byte, y int) {
	h := &w.hessian
	for i := range h.derived {
		clear(h.derived[i])
	}
	for i := range h.cells {
		c := &h.cells[i]
		w.cellRow(j, c, y)
		to := h.derived[c.derivative]
		for k, v := range h.sums {
			if v < 0 { // as in scikit-image, if pixels are negative
				v = 0
			}
			to[k] += float64(c.weight * v)
		}
	}
	mixed, along, down := h.derived[2], h.derived[0], h.derived[1]
	for k := range h.sums {
		h.sums[k] = float64(along[k]*down[k]) - float64(diagonal*float64(mixed[k]*mixed[k]))
	}
	windows.Store(j.Dst.Type, dst, h.sums)
}

// cellRow computes the sums of a box for row y.
func (w *worker) cellRow(j *Job, c *cell, y int) {
	h, t := &w.hessian, &w.table
	channels, size := j.Src.Channels, j.sum.Bytes()
	top := inside(y+c.row, j.Src.Height)
	above, below := t.row(top+1), t.row(inside(top+c.height, j.Src.Height)+1)
	inner := min(h.reach, j.Src.Width)
	for x := range inner {
		left := inside(x+c.column, j.Src.Width)
		low, high := (t.left+left+1)*channels, (t.left+inside(left+c.width, j.Src.Width)+1)*channels
		h.box.Corners = append(h.box.Corners[:0], below[high*size:], below[low*size:], above[high*size:], above[low*size:])
		h.box.Row(raster.Bytes(h.sums[x*channels:][:channels]))
	}
	low := (t.left + inner + c.column + 1) * channels
	high := low + c.width*channels
	h.box.Corners = append(h.box.Corners[:0], below[high*size:], below[low*size:], above[high*size:], above[low*size:])
	h.box.Row(raster.Bytes(h.sums[inner*channels:]))
}

// inside returns the nearest of n positions.
func inside(i, n int) int { return min(max(i, 0), n-1) }

func (h *hessian) bytes() int {
	bytes := engine.Bytes(h.sums)
	for i := range h.derived {
		bytes += engine.Bytes(h.derived[i])
	}
	clear(h.box.Corners)
	return bytes
}
