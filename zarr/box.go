package zarr

import (
	"math"
	"slices"

	"github.com/boxsum/boxsum/internal/raster"
)

// checkBox returns an error if the box is not within the array, or if have is not the size
// of its elements in bytes.
func (a *Array) checkBox(have int, at, box []int) error {
	if len(at) != len(a.m.shape) || len(box) != len(at) {
		return raster.Invalid("box has %d axes and its start %d, want %d", len(box), len(at), len(a.m.shape))
	}
	n := a.m.typ.Size()
	for i := range at {
		if at[i] < 0 || box[i] < 0 || at[i] > a.m.shape[i]-box[i] {
			return raster.Invalid("box of shape %v at %v is outside the array of shape %v", box, at, a.m.shape)
		}
		if box[i] > 0 && n > math.MaxInt/box[i] {
			return raster.Invalid("box of shape %v does not fit in memory", box)
		}
		n *= box[i]
	}
	if have != n {
		return raster.Invalid("buffer has %[3]d bytes, want %[2]d for a box of shape %[1]v", box, n, have)
	}
	return nil
}

// gridOf returns the positions of the first and the last cell of a grid that a box touches.
func gridOf(at, box, cell []int) (first, last []int) {
	first, last = make([]int, len(at)), make([]int, len(at))
	for i := range at {
		first[i], last[i] = at[i]/cell[i], (at[i]+box[i]-1)/cell[i]
	}
	return first, last
}

// each visits the parts of a box that lie in different cells of a grid, with the position
// of the cell and the start of the part within the cell and the box.
func each(at, box, cell []int, visit func(place, inCell, inBox, part []int) error) error {
	n := len(at)
	if slices.Contains(box, 0) {
		return nil
	}
	first, last := gridOf(at, box, cell)
	place := slices.Clone(first)
	inCell, inBox, part := make([]int, n), make([]int, n), make([]int, n)
	for {
		for i := range at {
			from, to := max(at[i], place[i]*cell[i]), min(at[i]+box[i], (place[i]+1)*cell[i])
			inCell[i], inBox[i], part[i] = from-place[i]*cell[i], from-at[i], to-from
		}
		if err := visit(place, inCell, inBox, part); err != nil {
			return err
		}
		k := n - 1
		for ; k >= 0; k-- {
			if place[k]++; place[k] <= last[k] {
				break
			}
			place[k] = first[k]
		}
		if k < 0 {
			return nil
		}
	}
}

// unravel stores the position of cell i of a grid in place.
func unravel(place []int, i int, counts []int) {
	for k := len(counts) - 1; k >= 0; k-- {
		place[k] = i % counts[k]
		i /= counts[k]
	}
}

// ravel returns the number of the cell at a position in a grid.
func ravel(place, counts []int) (i int) {
	for k, n := range counts {
		i = i*n + place[k]
	}
	return i
}

// copyBox copies a box of elements from one array to another.
func copyBox(dst []byte, dstShape, dstAt []int, src []byte, srcShape, srcAt, box []int, size int) {
	n := len(box)
	if n == 0 {
		copy(dst[:size], src)
		return
	}
	for _, b := range box {
		if b <= 0 {
			return
		}
	}
	// Trailing axes that are copied whole form a single run.
	run, axis := size*box[n-1], n-1
	for axis > 0 && box[axis] == dstShape[axis] && box[axis] == srcShape[axis] {
		axis--
		run *= box[axis]
	}
	offset := func(shape, at []int) (o int) {
		for k := range shape {
			o = o*shape[k] + at[k]
		}
		return o * size
	}
	dStride, sStride := make([]int, n), make([]int, n)
	for k, d, s := n-1, size, size; k >= 0; k-- {
		dStride[k], sStride[k] = d, s
		d, s = d*dstShape[k], s*srcShape[k]
	}
	d, s := offset(dstShape, dstAt), offset(srcShape, srcAt)
	at := make([]int, axis)
	for {
		copy(dst[d:d+run], src[s:s+run])
		k := axis - 1
		for ; k >= 0; k-- {
			at[k]++
			d, s = d+dStride[k], s+sStride[k]
			if at[k] < box[k] {
				break
			}
			d, s = d-at[k]*dStride[k], s-at[k]*sStride[k]
			at[k] = 0
		}
		if k < 0 {
			return
		}
	}
}
