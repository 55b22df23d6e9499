// Package fourier correlates blocks of images with templates by two-dimensional Fourier transforms, in
// float32 if that is accurate enough, or in float64.
//
// Two blocks are transformed together, one as the real part and one as the imaginary part; because a
// template is real, they do not mix. A [Block] stores its columns in groups of as many as a vector has
// lanes. Columns are transformed in place; rows are transformed group by group in memory that fits the
// nearest cache, where they are also multiplied and transformed back. Nothing is reordered: forward
// transforms leave the order that inverse ones expect. All steps are those of
// [transforms.FourierForward], which rounds the same at every level.
package fourier

import (
	"math"
	"sync/atomic"

	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/kernel/processor"
	"github.com/boxsum/boxsum/internal/kernel/transforms"
	"github.com/boxsum/boxsum/internal/raster"
)

// MinSide is the smallest side of a block: the number of lanes of a vector. Sides are powers of two.
const MinSide = 16

// A Block holds complex numbers by groups of columns: point (x, y) is lane x%L of line (x/L)*Height + y,
// where L is [transforms.Lanes]. A line consists of L real parts and L imaginary parts.
type Block[T transforms.Real] struct {
	Width, Height int
	Lines         []T
	factors       *Factors[T]
}

// Resize allocates memory for a block of the given size, with undefined contents. The factors are
// [Singles] or [Doubles].
func (b *Block[T]) Resize(f *Factors[T], width, height int) {
	b.Width, b.Height, b.factors = width, height, f
	b.Lines = engine.AtLeast(b.Lines, 2*width*height)
}

// Group returns the lines of the columns from x on, where x is a multiple of the lanes.
func (b *Block[T]) Group(x int) []T { return b.Lines[2*x*b.Height:][:2*transforms.Lanes[T]()*b.Height] }

// Columns transforms one group of columns, beginning at x.
func (b *Block[T]) Columns(level processor.Level, x int) {
	transforms.FourierForward(level, b.Group(x), b.Height, b.factors.factors(b.Height))
}

// InverseColumns transforms a group of columns back.
func (b *Block[T]) InverseColumns(level processor.Level, x int) {
	transforms.FourierInverse(level, b.Group(x), b.Height, b.factors.factors(b.Height))
}

// A Spectrum is the transform of a template in the form by which [Convolver] multiplies: conjugate, and
// divided by the number of points. Rows are stored in groups, like the columns of a block.
type Spectrum[T transforms.Real] struct {
	Width, Height int
	Lines         []T
}

// A Convolver holds the memory that a worker needs to multiply the transforms of blocks.
type Convolver[T transforms.Real] struct{ row, sum []T }

// Resize allocates memory for rows of the given width.
func (c *Convolver[T]) Resize(width int) {
	n := 2 * transforms.Lanes[T]() * width
	c.row, c.sum = engine.AtLeast(c.row, n), engine.AtLeast(c.sum, n)
}

// Convolve sets dst to the sum of the products of blocks and spectra. The columns of the blocks must be
// transformed, and those of dst still are afterwards. dst may be one of the blocks.
func (c *Convolver[T]) Convolve(level processor.Level, dst *Block[T], blocks []*Block[T], spectra []*Spectrum[T]) {
	width, height, l := dst.Width, dst.Height, transforms.Lanes[T]()
	n := 2 * l * width
	c.Resize(width)
	factors := dst.factors.factors(width)
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

// Bytes returns the size of the memory that c keeps.
func (c *Convolver[T]) Bytes() int { return engine.Bytes(c.row) + engine.Bytes(c.sum) }

// Transform computes the spectrum of a template in the top left of a block: in the real parts of the
// first columns, with everything else zero. It overwrites the block.
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
		transforms.FourierForward(level, row, w, b.factors.factors(w))
		for at := 0; at < len(row); at += 2 * l {
			re, im := row[at:][:l], row[at+l:][:l]
			for i := range re {
				re[i], im[i] = re[i]*scale, -im[i]*scale
			}
		}
	}
}

// Single sets to to a spectrum rounded to float32.
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

// Peak returns the largest magnitude in a template's transform.
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

// Factors holds the twiddle factors of transforms of 2^i points, computed when they are first used.
type Factors[T transforms.Real] [64]atomic.Pointer[[]T]

// The factors of either type.
var (
	Singles Factors[float32]
	Doubles Factors[float64]
)

// factors returns the factors of transforms of n points.
func (f *Factors[T]) factors(n int) []T {
	at := &f[log2(n)]
	p := at.Load()
	if p == nil {
		p = newTwiddles[T](n)
		at.Store(p)
	}
	return *p
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
