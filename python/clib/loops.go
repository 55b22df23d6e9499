//go:build cgo

package main

import (
	"math"
	"sync"
)

type float interface{ float32 | float64 }

// singles returns the float32 value of every float16.
var singles = sync.OnceValue(func() *[1 << 16]float32 {
	all := new([1 << 16]float32)
	for bits := range all {
		fraction, exponent := float64(bits&0x3ff), bits>>10&0x1f
		v := math.Ldexp(fraction, -24)
		switch {
		case exponent == 0x1f && fraction == 0:
			v = math.Inf(1)
		case exponent == 0x1f:
			v = math.NaN()
		case exponent > 0:
			v = math.Ldexp(fraction+1024, exponent-25)
		}
		if bits>>15 != 0 {
			v = -v
		}
		all[bits] = float32(v)
	}
	return all
})

// halves makes the tables of a float16 image row by row, without a copy. It adds in float64, in which sums
// of an image are exact up to 2^29, and rounds once. Its arguments are those of [integral].
func halves(a arguments) {
	image, sum := a.array(0).mustView(2), a.array(1)
	var t, q view
	t.setTable(&sum, "out", 2, &image)
	if a.has(2) {
		second := a.array(2)
		if q.setTable(&second, "the squares of out", 2, &image); q.element != f64 {
			must(wrongTypes("squares of float16 pixels cannot be summed in %v, want float64", q.element))
		}
	}
	known(map[element]func(image, t, q *view){f32: sumHalves[float32], f64: sumHalves[float64]}, t.element, "sums of float16 pixels cannot have type %v")(&image, &t, &q)
}

func sumHalves[S float](image, t, q *view) {
	pixels, sums, squares := values[uint16](image), values[S](t), []float64(nil)
	if q.bytes != 0 {
		squares = values[float64](q)
	}
	single, row, c := singles(), image.width*image.channels, image.channels
	above, above2, left, left2 := make([]float64, row), make([]float64, row), make([]float64, c), make([]float64, c)
	clear(sums[:row+c])
	if squares != nil {
		clear(squares[:row+c])
	}
	for y := range image.height {
		p, s := pixels[y*image.stride:][:row], sums[(y+1)*t.stride:][:row+c]
		clear(s[:c])
		s = s[c:]
		if c == 1 {
			sum := 0.0
			for x, bits := range p {
				sum += float64(single[bits])
				above[x] += sum
				s[x] = S(above[x])
			}
		} else {
			clear(left)
			for x, bits := range p {
				left[x%c] += float64(single[bits])
				above[x] += left[x%c]
				s[x] = S(above[x])
			}
		}
		if squares == nil {
			continue
		}
		s2 := squares[(y+1)*q.stride:][:row+c]
		clear(s2[:c])
		clear(left2)
		for x, bits := range p {
			v := float64(single[bits])
			left2[x%c] += v * v
			above2[x] += left2[x%c]
			s2[x+c] = above2[x]
		}
	}
}

// suffix sums everything at, right of and below each pixel, which is the gradient of a table with respect
// to its image. Its arguments are an image of floats, out of the same shape and type, and workers, of which
// it uses one.
func suffix(a arguments) any {
	image, out := a.array(0).mustView(2), result(a.toWrite(1))
	if image.element != out.element || image.layout.width != out.width || image.height != out.height || image.channels != out.channels {
		must(invalid("out has type %v and shape %v, want %v and %v like the image", out.element, out.shape, image.element, image.shape))
	}
	known(map[element]func(image, out *view){f32: sumAfter[float32], f64: sumAfter[float64]}, image.element, "tensor has type %v")(&image, &out)
	return nil
}

func sumAfter[S float](image, out *view) {
	pixels, sums, row, c := values[S](image), values[S](out), image.width*image.channels, image.channels
	below, right := make([]float64, row), make([]float64, c)
	for y := image.height - 1; y >= 0; y-- {
		p, s := pixels[y*image.stride:][:row], sums[y*out.stride:][:row]
		clear(right)
		for x := row - 1; x >= 0; x-- {
			right[x%c] += float64(p[x])
			below[x] += right[x%c]
			s[x] = S(below[x])
		}
	}
}

// result views an array as an image to write to.
func result(a array) view { return a.mustView(2) }

// windowSum sums windows, with zeros outside the image, and multiplies by a factor. Windows need not contain
// their pixel: that of (x, y) begins at (x - left, y - top). Its arguments are an image of floats, out of the
// same type and any size, width and height of the windows, left, top, the factor, and workers.
func windowSum(a arguments) any {
	image, out := a.array(0).mustView(2), result(a.toWrite(1))
	if image.element != out.element || image.channels != out.channels {
		must(invalid("out has type %v and shape %v, want %v and %v like the image", out.element, out.shape, image.element, image.shape))
	}
	w := shiftedWindow{a.int(2), a.int(3), a.int(4), a.int(5), a.float(6)}
	if w.width <= 0 || w.height <= 0 {
		must(invalid("window is %d×%d, want at least 1×1", w.width, w.height))
	}
	known(map[element]func(image, out *view, w shiftedWindow){f32: sumWindow[float32], f64: sumWindow[float64]}, image.element, "tensor has type %v")(&image, &out, w)
	return nil
}

type shiftedWindow struct {
	width, height, left, top int
	factor                   float64
}

// sumWindow sums the columns of the windows row by row, and then windows along a row. It does not subtract:
// a window is the end of one block of its length and the beginning of the next, so a value affects only the
// windows that contain it.
func sumWindow[S float](image, out *view, w shiftedWindow) {
	pixels, sums, c := values[S](image), values[S](out), image.channels
	row, length := image.width*c, (out.width+w.width-1)*c
	line := func(y int) []S { // elements count from the start of the first window
		if y -= w.top; y < 0 || y >= image.height {
			return nil
		}
		return pixels[y*image.stride:][:row]
	}
	ends := make([]float64, min(w.height, out.height)*row)
	end := func(y int) []float64 { return ends[y*row:][:row] }
	begun, columns := make([]float64, row), make([]float64, row)
	after, before := make([]float64, length), make([]float64, length)
	first := w.left * c // position of the image in a line of windows
	for y := range out.height {
		at := y % w.height
		if at == 0 {
			clear(begun)
			clear(columns)
			for i := w.height - 1; i >= 0; i-- {
				for x, p := range line(y + i) {
					columns[x] += float64(p)
				}
				if i < len(ends)/max(row, 1) {
					copy(end(i), columns)
				}
			}
		} else {
			for x, p := range line(y + w.height - 1) {
				begun[x] += float64(p)
			}
		}
		for x, e := range end(at) {
			columns[x] = e + begun[x]
		}
		value := func(i int) float64 {
			if i -= first; i < 0 || i >= row {
				return 0
			}
			return columns[i]
		}
		for i := range length {
			before[i] = value(i)
			if i/c%w.width > 0 {
				before[i] += before[i-c]
			}
		}
		for i := length - 1; i >= 0; i-- {
			after[i] = value(i)
			if i/c%w.width < w.width-1 && i+c < length {
				after[i] += after[i+c]
			}
		}
		s := sums[y*out.stride:][:out.width*c]
		for i := range s {
			sum := after[i]
			if i/c%w.width > 0 {
				sum += before[i+(w.width-1)*c]
			}
			s[i] = S(sum * w.factor)
		}
	}
}
