package store

import (
	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/grid"
)

// A summer makes the tables of one block at a time. It is for one goroutine.
type summer interface {
	// make makes the tables of the pixels of a block.
	make(pix []byte, width, height int) error
	// layers are the tables: the sums, and the squares if they are asked for.
	layers() []layerTable
}

// A layerTable is one table of a block.
type layerTable interface {
	// edges are the last column and the last row of the table, as sums.
	edges(right, bottom []byte)
	// carry adds: to each entry of next, that of left and right.
	carry(next, left, right []byte)
	// drop makes the line above the next block: bottom, the last of left, and top.
	drop(next, bottom, left, top []byte)
	// finish writes entries with what lies left and above, rows of a block that is this many pixels wide.
	finish(dst []byte, blockWidth int, left, top []byte)
	// keep writes entries as they are, as elements of a type that holds them.
	keep(dst []byte, blockWidth int, as Type)
}

// pixelsOf is the type that pixels are summed as.
func pixelsOf(t Type) Type {
	switch t {
	case Bool:
		return Uint8
	case Int8:
		return Int16
	case Float16:
		return Float32
	}
	return t
}

// sumsOf is the type of sums of pixels, and of their squares; those of 64 bits have none.
func sumsOf(pixel Type) (sum, square Type) {
	switch pixel = pixelsOf(pixel); {
	case pixel.isFloat():
		return Float64, Float64
	case pixel == Int64:
		return Int64, 0
	case pixel == Uint64:
		return Uint64, 0
	case pixel.isSigned():
		return Int64, Uint64
	}
	return Uint64, Uint64
}

// boundOf is the largest magnitude of a pixel, and 0 of floats and of 64 bits.
func boundOf(pixel Type) uint64 {
	switch pixel {
	case Bool:
		return 1
	case Uint8:
		return 1<<8 - 1
	case Int8:
		return 1 << 7
	case Uint16:
		return 1<<16 - 1
	case Int16:
		return 1 << 15
	case Uint32:
		return 1<<32 - 1
	case Int32:
		return 1 << 31
	}
	return 0
}

// localType is the narrowest type that holds all sums of a block of n pixels, or of their squares.
func localType(pixel, sum Type, n int, squares bool) Type {
	bound := boundOf(pixel)
	if squares {
		bound *= bound
	}
	if bound == 0 || uint64(n) > (1<<32-1)/bound {
		return sum
	}
	switch {
	case sum == Int64 && uint64(n) <= (1<<31-1)/bound:
		return Int32
	case sum == Uint64:
		return Uint32
	}
	return sum
}

// newSummer is for blocks of up to this many pixels.
func newSummer(pixel Type, channels, most int, squares bool) (summer, error) {
	switch pixelsOf(pixel) {
	case Uint8:
		if squares {
			return &squaredSummer[uint8, uint64, uint64]{common: common{pixel, channels}}, nil
		}
		if most <= (1<<32-1)/255 {
			return &plainSummer[uint8, uint32, uint64]{common: common{pixel, channels}}, nil
		}
		return &plainSummer[uint8, uint64, uint64]{common: common{pixel, channels}}, nil
	case Uint16:
		return summerOf[uint16, uint64, uint64](pixel, channels, squares), nil
	case Uint32:
		return summerOf[uint32, uint64, uint64](pixel, channels, squares), nil
	case Int16:
		return summerOf[int16, int64, uint64](pixel, channels, squares), nil
	case Int32:
		return summerOf[int32, int64, uint64](pixel, channels, squares), nil
	case Float32:
		return summerOf[float32, float64, float64](pixel, channels, squares), nil
	case Float64:
		return summerOf[float64, float64, float64](pixel, channels, squares), nil
	}
	if squares {
		return nil, grid.Types("pixels of %v have no table of squares", pixel)
	}
	if pixel == Int64 {
		return &wideSummer[int64]{common: common{pixel, channels}}, nil
	}
	return &wideSummer[uint64]{common: common{pixel, channels}}, nil
}

func summerOf[P boxsum.Pixel, S boxsum.Sum, Q boxsum.Square](pixel Type, channels int, squares bool) summer {
	if squares {
		return &squaredSummer[P, S, Q]{common: common{pixel, channels}}
	}
	return &plainSummer[P, S, S]{common: common{pixel, channels}}
}

type common struct {
	pixel    Type
	channels int
}

// pixels is the elements of a block as the pixels that they are summed as.
func pixels[P boxsum.Pixel](c *common, pix []byte, have *[]P) []P {
	switch c.pixel {
	case Int8:
		widen(have, elementsOf[int8](pix), func(v int8) P { return P(v) })
		return *have
	case Float16:
		widen(have, elementsOf[uint16](pix), func(v uint16) P { return P(halfToFloat(v)) })
		return *have
	}
	return elementsOf[P](pix)
}

func widen[P, T any](dst *[]P, src []T, of func(T) P) {
	if cap(*dst) < len(src) {
		*dst = make([]P, len(src))
	}
	*dst = (*dst)[:len(src)]
	for i, v := range src {
		(*dst)[i] = of(v)
	}
}

var plain = &boxsum.Options{Workers: 1, Plain: true}

// fresh makes a table of another size if it has to.
func fresh[S boxsum.Sum](t *boxsum.Table[S], width, height, channels int) (*boxsum.Table[S], error) {
	if t != nil && t.Width == width && t.Height == height {
		return t, nil
	}
	return boxsum.NewTable[S](width, height, channels)
}

type plainSummer[P boxsum.Pixel, L, S boxsum.Sum] struct {
	common
	wide []P
	t    tableOf[L, S]
}

func (s *plainSummer[P, L, S]) make(pix []byte, width, height int) (err error) {
	if s.t.Table, err = fresh(s.t.Table, width, height, s.channels); err != nil {
		return err
	}
	return boxsum.IntegrateInto(s.t.Table, boxsum.Image[P]{Pix: pixels(&s.common, pix, &s.wide), Width: width, Height: height, Channels: s.channels}, plain)
}

func (s *plainSummer[P, L, S]) layers() []layerTable { return []layerTable{&s.t} }

type squaredSummer[P boxsum.Pixel, S boxsum.Sum, Q boxsum.Square] struct {
	common
	wide    []P
	t       tableOf[S, S]
	squares squareTable[Q]
}

type squareTable[Q boxsum.Square] struct{ tableOf[Q, Q] }

func (s *squaredSummer[P, S, Q]) make(pix []byte, width, height int) (err error) {
	if s.t.Table, err = fresh(s.t.Table, width, height, s.channels); err != nil {
		return err
	}
	if s.squares.Table, err = fresh(s.squares.Table, width, height, s.channels); err != nil {
		return err
	}
	both := &boxsum.SquaredTable[S, Q]{Sum: s.t.Table, Squares: s.squares.Table}
	return boxsum.IntegrateSquaresInto(both, boxsum.Image[P]{Pix: pixels(&s.common, pix, &s.wide), Width: width, Height: height, Channels: s.channels}, plain)
}

func (s *squaredSummer[P, S, Q]) layers() []layerTable {
	return []layerTable{&s.t, &s.squares}
}

// wideSummer is for integers of 64 bits.
type wideSummer[T int64 | uint64] struct {
	common
	t tableOf[T, T]
}

func (s *wideSummer[T]) make(pix []byte, width, height int) (err error) {
	if s.t.Table, err = fresh(s.t.Table, width, height, s.channels); err != nil {
		return err
	}
	return boxsum.Integrate64Into(s.t.Table, boxsum.Image64[T]{Pix: elementsOf[T](pix), Width: width, Height: height, Channels: s.channels}, plain)
}

func (s *wideSummer[T]) layers() []layerTable { return []layerTable{&s.t} }

// A tableOf is the table of a block: its own entries are of type L, and sums of type S.
type tableOf[L, S boxsum.Sum] struct{ *boxsum.Table[L] }

func (t *tableOf[L, S]) edges(right, bottom []byte) {
	r, b, view := elementsOf[S](right), elementsOf[S](bottom), t.Inclusive()
	for y := range t.Height {
		row := view.Row(y)
		for c := range t.Channels {
			r[y*t.Channels+c] = S(row[len(row)-t.Channels+c])
		}
	}
	for x, v := range view.Row(t.Height - 1) {
		b[x] = S(v)
	}
}

func (t *tableOf[L, S]) carry(next, left, right []byte) { addLines[S](next, left, right) }

func addLines[S boxsum.Sum](next, left, right []byte) {
	n, l, r := elementsOf[S](next), elementsOf[S](left), elementsOf[S](right)
	for i := range r {
		n[i] = l[i] + r[i]
	}
}

func (t *tableOf[L, S]) drop(next, bottom, left, top []byte) {
	dropLines[S](next, bottom, left, top, t.Height, t.Channels)
}

func dropLines[S boxsum.Sum](next, bottom, left, top []byte, height, channels int) {
	n, b, a, above := elementsOf[S](next), elementsOf[S](bottom), elementsOf[S](left)[(height-1)*channels:], elementsOf[S](top)
	for i, v := range b {
		n[i] = (v + a[i%channels]) + above[i]
	}
}

func (t *tableOf[L, S]) finish(dst []byte, blockWidth int, left, top []byte) {
	out, l, above, view := elementsOf[S](dst), elementsOf[S](left), elementsOf[S](top), t.Inclusive()
	channels := t.Channels
	for y := range t.Height {
		row := view.Row(y)
		to := out[y*blockWidth*channels:][:len(row)]
		a := l[y*channels:][:channels]
		above := above[:len(row)]
		if channels == 1 {
			a := a[0]
			for x, v := range row {
				to[x] = (S(v) + a) + above[x]
			}
			continue
		}
		for x, v := range row {
			to[x] = (S(v) + a[x%channels]) + above[x]
		}
	}
}

func (t *tableOf[L, S]) keep(dst []byte, blockWidth int, as Type) {
	switch as {
	case Uint32:
		keepAs[uint32](dst, t.Inclusive(), blockWidth)
	case Int32:
		keepAs[int32](dst, t.Inclusive(), blockWidth)
	default:
		keepAs[S](dst, t.Inclusive(), blockWidth)
	}
}

func keepAs[T Element, L boxsum.Sum](dst []byte, view boxsum.View[L], blockWidth int) {
	out := elementsOf[T](dst)
	for y := range view.Height {
		row := view.Row(y)
		to := out[y*blockWidth*view.Channels:][:len(row)]
		for x, v := range row {
			to[x] = T(v)
		}
	}
}
