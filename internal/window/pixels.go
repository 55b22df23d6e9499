package window

import (
	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/grid"
	"github.com/boxsum/boxsum/internal/kernel"
	"github.com/boxsum/boxsum/internal/pairs"
)

// Pixels are those of an image, of a type that is data: what goes through windows from row to
// row has only their memory, so that it is compiled for the types of sums alone.
type Pixels struct {
	Of          pairs.Type
	Size        int // of an element, in bytes
	Mem         []byte
	grid.Extent // its strides count elements
}

// PixelsOf is an image of which nothing has been checked. It is not inlined: who calls it is compiled for many types.
//
//go:noinline
func PixelsOf[P kernel.Pixel](pix []P, width, height, channels, stride int) Pixels {
	return Pixels{pairs.TypeOf[P](), grid.SizeOf[P](), kernel.Bytes(pix), grid.Plane(width, height, channels, stride)}
}

// Check is what is wrong with the extent.
func (p *Pixels) Check() error { return p.Pixels(len(p.Mem) / p.Size) }

// Row is pixels [x, x+n) of a row.
func (p *Pixels) Row(x, y, n int) []byte {
	return p.Mem[(y*p.Stride+x*p.Channels)*p.Size:][:n*p.Channels*p.Size]
}

// Copy is the pixels in memory of their own, in that of have if it is enough: then p lies there.
func (p *Pixels) Copy(have []byte) []byte {
	n := p.Width * p.Channels * p.Size
	have = engine.AtLeast(have, n*p.Height)
	for y := range p.Height {
		copy(have[y*n:][:n], p.Row(0, y, p.Width))
	}
	p.Mem, p.Stride = have, p.Width*p.Channels
	return have
}

// At is element i as a float.
func (p *Pixels) At(i int) float64 { return float(p.Mem, p.Of, i) }

// float is an element as a float.
func float(mem []byte, of pairs.Type, i int) float64 {
	switch of {
	case pairs.U8:
		return float64(mem[i])
	case pairs.U16:
		return float64(kernel.Of[uint16](mem)[i])
	case pairs.F32:
		return float64(kernel.Of[float32](mem)[i])
	}
	return kernel.Of[float64](mem)[i]
}

// Floats are elements as floats.
func Floats(dst []float64, mem []byte, of pairs.Type) {
	switch of {
	case pairs.U8:
		floats(dst, mem)
	case pairs.U16:
		floats(dst, kernel.Of[uint16](mem))
	case pairs.F32:
		floats(dst, kernel.Of[float32](mem))
	default:
		copy(dst, kernel.Of[float64](mem))
	}
}

func floats[P kernel.Pixel](dst []float64, src []P) {
	dst = dst[:len(src)]
	for i, v := range src {
		dst[i] = float64(v)
	}
}

// fill is n elements of a value, in the memory of have or of more.
func fill(have []byte, of pairs.Type, n int, v float64) []byte {
	have = engine.AtLeast(have, n*of.Bytes())
	switch of {
	case pairs.U8:
		set(have, v)
	case pairs.U16:
		set(kernel.Of[uint16](have), v)
	case pairs.U32:
		set(kernel.Of[uint32](have), v)
	case pairs.F32:
		set(kernel.Of[float32](have), v)
	default:
		set(kernel.Of[float64](have), v)
	}
	return have
}

func set[P kernel.Pixel](dst []P, v float64) {
	for i := range dst {
		dst[i] = P(v)
	}
}

// An Adder adds rows of pixels, less the offset, to sums of columns, and their squares if there are any for these: a row
// so many times, or one once and takes another away.
type Adder[A, Q kernel.Number] func(level kernel.Level, sums []A, squares []Q, add, sub []byte, offset Q, times int)

// adders has those of the pixels and sums that go together, and no others are compiled.
var adders = [...][]any{
	pairs.U8:  {add[uint8, uint16, uint16], add[uint8, uint32, uint32], add[uint8, uint32, uint64], add[uint8, uint64, uint64]},
	pairs.U16: {add[uint16, uint32, uint32], add[uint16, uint32, uint64], add[uint16, uint64, uint64], add[uint16, float64, float64]},
	pairs.U32: {add[uint32, uint32, uint32]},
	pairs.F32: {add[float32, float64, float64]},
	pairs.F64: {add[float64, float64, float64]},
}

// AdderOf is the adder for pixels of a type.
func AdderOf[A, Q kernel.Number](pixel pairs.Type) Adder[A, Q] {
	for _, a := range adders[pixel] {
		if f, ok := a.(func(kernel.Level, []A, []Q, []byte, []byte, Q, int)); ok {
			return f
		}
	}
	panic("no such sums")
}

func add[P kernel.Pixel, A, Q kernel.Number](level kernel.Level, sums []A, squares []Q, add, sub []byte, offset Q, times int) {
	plus, minus := kernel.Of[P](add), kernel.Of[P](sub)
	switch {
	case times != 1:
		kernel.AddColumns(sums, plus, A(offset), A(times))
		if squares != nil {
			kernel.AddSquares(squares, plus, offset, Q(times))
		}
	case squares != nil:
		kernel.SlideBoth(level, sums, squares, plus, minus, offset)
	default:
		kernel.SlideColumns(level, sums, plus, minus)
	}
}
