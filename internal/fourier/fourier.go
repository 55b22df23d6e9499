// Package fourier correlates blocks of images with templates by two-dimensional Fourier
// transforms: float32 where that is enough, or float64.
//
// Two blocks go together, one as the real part and one as the imaginary part: a template
// is real, so they stay apart. A [Block] has its columns in groups of as many as a vector
// has lanes. Columns are transformed where they lie; rows, group by group, in memory
// that the nearest cache holds, where they are multiplied and transformed back too.
// Nothing is brought into order: forward transforms leave the order that inverse ones
// take. All steps are those of [transforms.FourierForward], which rounds the same at every level.
package fourier

import (
	"math"
	"sync/atomic"
	"unsafe"

	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/kernel/processor"
	"github.com/boxsum/boxsum/internal/kernel/transforms"
	"github.com/boxsum/boxsum/internal/raster"
)

// MinSide is the least side of a block: as many as a vector has lanes. Sides are powers
// of two.
const MinSide = 16

// A Block is complex numbers by groups of columns: point (x, y) is lane x%L of line
// (x/L)*Height + y, where L is [transforms.Lanes]. A line is L real parts and L imaginary
// ones.
type Block[T transforms.Real] struct {
	Width, Height int
	Lines         []T
}

// Resize makes room for a block of this size, whatever is in it.
func (b *Block[T]) Resize(width, height int) {
	b.Width, b.Height = width, height
	b.Lines = engine.AtLeast(b.Lines, 2*width*height)
}

// Group is the lines of the columns from x on, a multiple of the lanes.
func (b *Block[T]) Group(x int) []T { return b.Lines[2*x*b.Height:][:2*transforms.Lanes[T]()*b.Height] }

// Columns transforms the columns from x on, as many as there are lanes.
func (b *Block[T]) Columns(level processor.Level, x int) {
	transforms.FourierForward(level, b.Group(x), b.Height, twiddles[T](b.Height))
}

// InverseColumns transforms them back.
func (b *Block[T]) InverseColumns(level processor.Level, x int) {
	transforms.FourierInverse(level, b.Group(x), b.Height, twiddles[T](b.Height))
}

// A Spectrum is the transform of a template as [Convolver] multiplies by it: conjugate, and
// divided by the number of points. Rows lie in groups, as columns do in a block.
type Spectrum[T transforms.Real] struct {
	Width, Height int
	Lines         []T
}

// A Convolver has what a worker needs to multiply the transforms of blocks.
type Convolver[T transforms.Real] struct{ row, sum []T }

// Resize makes room for rows of this width.
func (c *Convolver[T]) Resize(width int) {
	n := 2 * transforms.Lanes[T]() * width
	c.row, c.sum = engine.AtLeast(c.row, n), engine.AtLeast(c.sum, n)
}

// Convolve makes dst of blocks whose columns are transformed: the sum of each times its
// spectrum, with columns that are still transformed. Dst may be one of them.
func (c *Convolver[T]) Convolve(level processor.Level, dst *Block[T], blocks []*Block[T], spectra []*Spectrum[T]) {
	width, height, l := dst.Width, dst.Height, transforms.Lanes[T]()
	n := 2 * l * width
	c.Resize(width)
	factors := twiddles[T](width)
	for y := 0; y < height; y += l {
		result := c.row[:n]
		for i, b := range blocks {
			transforms.FourierTranspose(level, c.row[:n], b.Lines[2*l*y:], 2*l*l, 2*l*height, width/l)
			transforms.FourierForward(level, c.row, width, factors)
			spectrum := spectra[i].Lines[2*y*width:][:n]
			if len(blocks) == 1 {
				transforms.FourierMultiply(level, result, result, spectrum, false)
			} else {
				result = c.sum[:n]
				transforms.FourierMultiply(level, result, c.row[:n], spectrum, i > 0)
			}
		}
		transforms.FourierInverse(level, result, width, factors)
		transforms.FourierTranspose(level, dst.Lines[2*l*y:], result, 2*l*height, 2*l*l, width/l)
	}
}

// Bytes is how much memory it keeps.
func (c *Convolver[T]) Bytes() int { return engine.Bytes(c.row) + engine.Bytes(c.sum) }

// Transform makes the spectrum of a template that stands in the top left of a block: of its
// real parts, in the first columns; all else is zero. It uses up the block.
func (s *Spectrum[T]) Transform(level processor.Level, b *Block[T], columns int) {
	l, w, h := transforms.Lanes[T](), b.Width, b.Height
	s.Width, s.Height = w, h
	s.Lines = engine.AtLeast(s.Lines, 2*w*h)
	for x := 0; x < columns; x += l {
		b.Columns(level, x)
	}
	scale := 1 / (T(w) * T(h))
	for y := 0; y < h; y += l {
		row := s.Lines[2*y*w:][:2*l*w]
		used := (columns + l - 1) / l
		transforms.FourierTranspose(level, row, b.Lines[2*l*y:], 2*l*l, 2*l*h, used)
		clear(row[used*2*l*l:])
		transforms.FourierForward(level, row, w, twiddles[T](w))
		for at := 0; at < len(row); at += 2 * l {
			re, im := row[at:][:l], row[at+l:][:l]
			for i := range re {
				re[i], im[i] = re[i]*scale, -im[i]*scale
			}
		}
	}
}

// Single is a spectrum rounded to float32.
func Single(to *Spectrum[float32], s *Spectrum[float64]) {
	to.Width, to.Height = s.Width, s.Height
	to.Lines = engine.AtLeast(to.Lines, len(s.Lines))
	const l = raster.LineBytes / 8
	n := 2 * l * s.Width // of a group of rows
	for y := 0; y < s.Height; y += 2 * l {
		a, b := s.Lines[2*y*s.Width:][:n], s.Lines[2*(y+l)*s.Width:][:n]
		d := to.Lines[2*y*s.Width:][:2*n]
		for at := 0; at < n; at += 2 * l {
			re, im := d[2*at:][:2*l], d[2*at+2*l:][:2*l]
			for i := range l {
				re[i], re[l+i] = float32(a[at+i]), float32(b[at+i])
				im[i], im[l+i] = float32(a[at+l+i]), float32(b[at+l+i])
			}
		}
	}
}

// Peak is the largest magnitude of a template's transform.
func (s *Spectrum[T]) Peak() float64 {
	l := transforms.Lanes[T]()
	var most T
	for at := 0; at < len(s.Lines); at += 2 * l {
		re, im := s.Lines[at:][:l], s.Lines[at+l:][:l]
		for i := range re {
			if v := T(re[i]*re[i]) + T(im[i]*im[i]); v > most {
				most = v
			}
		}
	}
	return math.Sqrt(float64(most)) * float64(s.Width) * float64(s.Height)
}

// factors is the twiddle factors of transforms of 2^i points, made when they are first
// used.
var factors [64]struct {
	single atomic.Pointer[[]float32]
	double atomic.Pointer[[]float64]
}

func twiddles[T transforms.Real](n int) []T {
	at := &factors[log2(n)]
	var t T
	if _, single := any(t).(float32); single {
		p := at.single.Load()
		if p == nil {
			p = newTwiddles[float32](n)
			at.single.Store(p)
		}
		return *(*[]T)(unsafe.Pointer(p))
	}
	p := at.double.Load()
	if p == nil {
		p = newTwiddles[float64](n)
		at.double.Store(p)
	}
	return *(*[]T)(unsafe.Pointer(p))
}

func newTwiddles[T transforms.Real](n int) *[]T {
	w := make([]T, 0, transforms.FourierTwiddles(n))
	for m := n; m > 4; m /= 4 {
		for j := range m / 4 {
			for k := 1; k <= 3; k++ {
				sin, cos := math.Sincos(-2 * math.Pi * float64(j*k%m) / float64(m))
				w = append(w, T(cos), T(sin))
			}
		}
	}
	return &w
}

func log2(n int) (i int) {
	for n > 1 {
		n /= 2
		i++
	}
	return i
}
