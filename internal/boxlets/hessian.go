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
	reach   int       // of boxes to the left
	cells   [3][]cell // of the second derivatives along x, along y, and mixed
	box     windows.BoxSums
	sums    []float64 // of a box, and then the determinants
	derived [3][]float64
}

// A cell is a box of a Hessian, and its weight.
type cell struct {
	weight        float64
	row, column   int // of the corner; the box begins one pixel below and to the right of it
	height, width int
}

// aim sets the boxes for a job.
func (h *hessian) aim(j *Job) {
	n := int(3 * j.Sigma)
	third, half, one := n/3, (n-1)/2, 1/float64(n*n)
	length := 2*third - 1
	h.cells = [3][]cell{
		{{3 * one, 1 - third, -(third / 2), length, third}, {-one, 1 - third, -half, length, n}},
		{{3 * one, -(third / 2), 1 - third, third, length}, {-one, -half, 1 - third, n, length}},
		{{one, -third, -third, third, third}, {one, 1, 1, third, third}, {-one, -third, 1, third, third}, {-one, 1, -third, third, third}},
	}
	h.reach = max(third, half)
	h.sums = engine.AtLeast(h.sums, j.Src.Width*j.Src.Channels)
	for i := range h.derived {
		h.derived[i] = engine.AtLeast(h.derived[i], len(h.sums))
	}
	h.box.Level, h.box.Sum, h.box.Result = j.set.Level, j.sum, raster.F64
}

// hessianRow computes the determinants of row y.
func (w *worker) hessianRow(j *Job, dst []byte, y int) {
	h := &w.hessian
	for i, cells := range h.cells {
		if j.Src.Type.Float() {
			w.clampedCells(j, h.derived[i], cells, y)
			continue
		}
		h.box.Weights = h.box.Weights[:0]
		for _, c := range cells {
			h.box.Weights = append(h.box.Weights, c.weight)
		}
		w.cellsRow(j, h.derived[i], cells, y)
	}
	mixed, along, down := h.derived[2], h.derived[0], h.derived[1]
	for k := range h.sums {
		h.sums[k] = float64(along[k]*down[k]) - float64(diagonal*float64(mixed[k]*mixed[k]))
	}
	windows.Store(j.Dst.Type, dst, h.sums)
}

// clampedCells adds weighted boxes that count as 0 if their sum is negative, as in scikit-image.
func (w *worker) clampedCells(j *Job, to []float64, cells []cell, y int) {
	h := &w.hessian
	clear(to)
	h.box.Weights = append(h.box.Weights[:0], 1)
	for i, c := range cells {
		w.cellsRow(j, h.sums, cells[i:i+1], y)
		for k, v := range h.sums {
			to[k] += float64(c.weight * max(v, 0))
		}
	}
}

// cellsRow computes weighted sums of boxes for row y.
func (w *worker) cellsRow(j *Job, to []float64, cells []cell, y int) {
	h, t := &w.hessian, &w.table
	channels, width := j.Src.Channels, j.Src.Width
	inner := min(h.reach, width)
	add := func(c *cell, left, right int) {
		top := inside(y+c.row, j.Src.Height)
		above, below := t.row(top+1), t.row(inside(top+c.height, j.Src.Height)+1)
		low, high := (t.left+left+1)*channels*j.sum.Bytes(), (t.left+right+1)*channels*j.sum.Bytes()
		h.box.Corners = append(h.box.Corners, below[high:], below[low:], above[high:], above[low:])
	}
	for x := range inner {
		h.box.Corners = h.box.Corners[:0]
		for i := range cells {
			c := &cells[i]
			left := inside(x+c.column, width)
			add(c, left, inside(left+c.width, width))
		}
		h.box.Row(raster.Bytes(to[x*channels:][:channels]))
	}
	h.box.Corners = h.box.Corners[:0]
	for i := range cells {
		c := &cells[i]
		add(c, inner+c.column, inner+c.column+c.width)
	}
	h.box.Row(raster.Bytes(to[inner*channels:]))
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
