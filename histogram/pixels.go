package histogram

import (
	"unsafe"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/grid"
	"github.com/boxsum/boxsum/internal/pairs"
)

// pixels is those of an image, or its weights, of a type that is data: a table goes by
// their bins alone, and layers for each type of pixels and of weights would be hundreds.
type pixels struct {
	of     pairs.Type
	first  unsafe.Pointer
	n      int // elements
	stride int
}

// A source is an image, and what is wrong with it.
type source struct {
	pixels
	extent grid.Extent
	err    error
}

// sourceOf is the image that img points to, or none.
func sourceOf(img any) source {
	switch img := img.(type) {
	case *boxsum.Image[uint8]:
		return typed(img)
	case *boxsum.Image[uint16]:
		return typed(img)
	case *boxsum.Image[uint32]:
		return typed(img)
	case *boxsum.Image[int16]:
		return typed(img)
	case *boxsum.Image[int32]:
		return typed(img)
	case *boxsum.Image[float32]:
		return typed(img)
	case *boxsum.Image[float64]:
		return typed(img)
	}
	return source{}
}

func typed[P boxsum.Pixel](img *boxsum.Image[P]) source {
	return newSource(pairs.TypeOf[P](), unsafe.Pointer(unsafe.SliceData(img.Pix)), len(img.Pix), grid.Plane(img.Width, img.Height, img.Channels, img.Stride))
}

func newSource(of pairs.Type, first unsafe.Pointer, n int, e grid.Extent) source {
	err := e.Pixels(n)
	return source{pixels{of, first, n, e.Stride}, e, err}
}

// elements is n of the pixels, whose type is known to be P.
func elements[P boxsum.Pixel](p *pixels, at, n int) []P {
	return unsafe.Slice((*P)(p.first), p.n)[at:][:n]
}

// bytes is the memory that they lie in.
func (p *pixels) bytes() []byte {
	if p.n == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(p.first), p.n*p.of.Bytes())
}

// number writes the bins of some pixels; lookup is of [numbers].
func (p *pixels) number(dst []uint32, at int, n *numberer, lookup []uint32) {
	switch p.of {
	case pairs.U8:
		lookup := (*[1 << 8]uint32)(lookup)
		for i, v := range elements[uint8](p, at, len(dst)) {
			dst[i] = lookup[v]
		}
	case pairs.U16, pairs.I16: // by their bits
		lookup := (*[1 << 16]uint32)(lookup)
		for i, v := range elements[uint16](p, at, len(dst)) {
			dst[i] = lookup[v]
		}
	case pairs.U32:
		numberEach(dst, elements[uint32](p, at, len(dst)), n)
	case pairs.I32:
		numberEach(dst, elements[int32](p, at, len(dst)), n)
	case pairs.F32:
		numberEach(dst, elements[float32](p, at, len(dst)), n)
	case pairs.F64:
		numberEach(dst, elements[float64](p, at, len(dst)), n)
	}
}

func numberEach[P boxsum.Pixel](dst []uint32, src []P, n *numberer) {
	dst = dst[:len(src)]
	for i, v := range src {
		dst[i] = n.number(float64(v))
	}
}
