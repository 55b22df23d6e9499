package boxlets

import (
	"image"

	"github.com/boxsum/boxsum/internal/raster"
)

// maxScale keeps the kernels of CenSurE smaller than the largest boxes.
const maxScale = 1 << 8

// DifferenceOfBoxes is like the function of package boxlets.
func DifferenceOfBoxes(n int) ([]Box, error) {
	if n < 1 || n > maxReach/4 {
		return nil, raster.Invalid("scale is %d, want 1 to %d", n, maxReach/4)
	}
	inner, ring := 1/float64((2*n+1)*(2*n+1)), 1/float64((4*n+1)*(4*n+1)-(2*n+1)*(2*n+1))
	return []Box{{image.Rect(-2*n, -2*n, 2*n+1, 2*n+1), ring}, {image.Rect(-n, -n, n+1, n+1), -(inner + ring)}}, nil
}

// A shape is the rows of a region that is symmetric about its middle: how far each reaches to either side, from the middle row on.
type shape []int

// octagon returns the octagon with horizontal and vertical sides of m pixels, m odd, and diagonal ones of n more.
func octagon(m, n int) shape {
	s := make(shape, 0, m/2+n+1)
	for y := range m/2 + n + 1 {
		s = append(s, m/2+n-max(0, y-m/2))
	}
	return s
}

// star returns a square of 2a+1 pixels a side together with the same square after it is turned by 45°.
func star(a int) shape {
	diagonal := a + a/2
	s := make(shape, 0, diagonal+1)
	for y := range diagonal + 1 {
		reach := diagonal - y
		if y <= a {
			reach = max(reach, a)
		}
		s = append(s, reach)
	}
	return s
}

func (s shape) area() (n int) {
	for y, reach := range s {
		n += 2*reach + 1
		if y > 0 {
			n += 2*reach + 1
		}
	}
	return n
}

// boxes appends the boxes of the shape: one for each run of equal rows.
func (s shape) boxes(all []Box, weight float64) []Box {
	for from := 0; from < len(s); {
		to := from + 1
		for to < len(s) && s[to] == s[from] {
			to++
		}
		r := s[from]
		if from == 0 {
			all = append(all, Box{image.Rect(-r, -to+1, r+1, to), weight})
		} else {
			all = append(all, Box{image.Rect(-r, from, r+1, to), weight}, Box{image.Rect(-r, -to+1, r+1, -from+1), weight})
		}
		from = to
	}
	return all
}

// between returns the mean of a ring less that of the shape inside it.
func between(outer, inner shape) []Box {
	ring, middle := 1/float64(outer.area()-inner.area()), 1/float64(inner.area())
	return inner.boxes(outer.boxes(nil, ring), -(ring + middle))
}

// Octagons is like the function of package boxlets.
func Octagons(outer, inner [2]int) ([]Box, error) {
	for _, o := range [][2]int{outer, inner} {
		if o[0] < 1 || o[0]%2 == 0 || o[1] < 0 || o[0] > maxScale || o[1] > maxScale {
			return nil, raster.Invalid("octagon is %v, want an odd number from 1 to %d and a number from 0 to %d", o, maxScale-1, maxScale)
		}
	}
	a, b := octagon(outer[0], outer[1]), octagon(inner[0], inner[1])
	if !a.contains(b) {
		return nil, raster.Invalid("outer octagon is %v, want one that contains the inner octagon, %v, and is larger", outer, inner)
	}
	return between(a, b), nil
}

// Stars is like the function of package boxlets.
func Stars(outer, inner int) ([]Box, error) {
	if inner < 1 || outer <= inner || outer > maxScale {
		return nil, raster.Invalid("stars have scales %d (outer) and %d (inner), want 1 to %d, the outer one larger", outer, inner, maxScale)
	}
	return between(star(outer), star(inner)), nil
}

// contains reports whether a shape is part of s, and smaller.
func (s shape) contains(o shape) bool {
	if len(o) > len(s) {
		return false
	}
	for y := range o {
		if o[y] > s[y] {
			return false
		}
	}
	return o.area() < s.area()
}

// FromKernel is like the function of package boxlets.
func FromKernel(weights []float64, width, height int, anchor image.Point) ([]Box, error) {
	if width < 1 || height < 1 || width > maxReach || height > maxReach || len(weights) != width*height {
		return nil, raster.Invalid("kernel has %d weights, want %d×%d, each side from 1 to %d", len(weights), width, height, maxReach)
	}
	for i, v := range weights {
		if v-v != 0 {
			return nil, raster.Invalid("weight %d is %v, want a finite number", i, v)
		}
	}
	var all []Box
	taken := make([]bool, len(weights))
	for i, weight := range weights {
		if weight == 0 || taken[i] {
			continue
		}
		x0, y0 := i%width, i/width
		same := func(x, y int) bool { return weights[y*width+x] == weight && !taken[y*width+x] }
		x1, y1 := x0, y0
		for x1 < width && same(x1, y0) {
			x1++
		}
	rows:
		for y1 = y0 + 1; y1 < height; y1++ {
			for x := x0; x < x1; x++ {
				if !same(x, y1) {
					break rows
				}
			}
		}
		for y := y0; y < y1; y++ {
			for x := x0; x < x1; x++ {
				taken[y*width+x] = true
			}
		}
		all = append(all, Box{image.Rect(x0, y0, x1, y1).Sub(anchor), weight})
	}
	if len(all) < 1 || len(all) > maxBoxes {
		return nil, raster.Invalid("kernel consists of %d boxes, want 1 to %d", len(all), maxBoxes)
	}
	return all, nil
}
