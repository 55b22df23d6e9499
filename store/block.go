package store

import (
	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/zarr"
)

// A summer computes the tables of one block at a time. It is not safe for concurrent use.
type summer interface {
	// make computes the tables of a block's pixels.
	make(pix []byte, width, height int) error
	// layers returns the tables: the sums and, if requested, the squares.
	layers() []layerTable
}

// A layerTable is one table of a block.
type layerTable interface {
	// edges stores the last column and the last row of the table, as sums.
	edges(right, bottom []byte)
	// carry stores left + right in next, entry by entry.
	carry(next, left, right []byte)
	// drop computes the line above the next block, which is bottom + the last entry of left
	// + top.
	drop(next, bottom, left, top []byte)
	// finish writes the entries, plus left and top, as rows of a block that is blockWidth
	// pixels wide.
	finish(dst []byte, blockWidth int, left, top []byte)
	// keep writes the entries unchanged, as elements of a type that holds them.
	keep(dst []byte, blockWidth int, as zarr.Type)
}

// pixelsOf returns the type as which pixels are summed.
func pixelsOf(t zarr.Type) zarr.Type {
	switch t {
	case zarr.Bool:
		return zarr.Uint8
	case zarr.Int8:
		return zarr.Int16
	case zarr.Float16:
		return zarr.Float32
	}
	return t
}

// isFloat reports whether a type holds floats.
func isFloat(t zarr.Type) bool { return t >= zarr.Float16 && t <= zarr.Float64 }

// isSigned reports whether a type holds integers that may be negative.
func isSigned(t zarr.Type) bool { return t >= zarr.Int8 && t <= zarr.Int64 }

// sumsOf returns the types of the sums of pixels and of their squares. 64-bit pixels have
// no squares.
func sumsOf(pixel zarr.Type) (sum, square zarr.Type) {
	switch pixel = pixelsOf(pixel); {
	case isFloat(pixel):
		return zarr.Float64, zarr.Float64
	case pixel == zarr.Int64:
		return zarr.Int64, 0
	case pixel == zarr.Uint64:
		return zarr.Uint64, 0
	case isSigned(pixel):
		return zarr.Int64, zarr.Uint64
	}
	return zarr.Uint64, zarr.Uint64
}

// boundOf returns the largest magnitude of a pixel, or 0 for floats and 64-bit integers.
func boundOf(pixel zarr.Type) uint64 {
	switch pixel {
	case zarr.Bool:
		return 1
	case zarr.Uint8:
		return 1<<8 - 1
	case zarr.Int8:
		return 1 << 7
	case zarr.Uint16:
		return 1<<16 - 1
	case zarr.Int16:
		return 1 << 15
	case zarr.Uint32:
		return 1<<32 - 1
	case zarr.Int32:
		return 1 << 31
	}
	return 0
}

// localType returns the narrowest type that holds all sums of a block of n pixels, or of
// their squares.
func localType(pixel, sum zarr.Type, n int, squares bool) zarr.Type {
	bound := boundOf(pixel)
	if squares {
		bound *= bound
	}
	if bound == 0 || uint64(n) > (1<<32-1)/bound {
		return sum
	}
	switch {
	case sum == zarr.Int64 && uint64(n) <= (1<<31-1)/bound:
		return zarr.Int32
	case sum == zarr.Uint64:
		return zarr.Uint32
	}
	return sum
}

// newSummer returns a summer for blocks of up to most pixels.
func newSummer(pixel zarr.Type, channels, most int, squares bool) (summer, error) {
	switch pixelsOf(pixel) {
	case zarr.Uint8:
		if squares {
			return &squaredSummer[uint8, uint64, uint64]{common: common{pixel, channels}}, nil
		}
		if most <= (1<<32-1)/255 {
			return &plainSummer[uint8, uint32, uint64]{common: common{pixel, channels}}, nil
		}
		return &plainSummer[uint8, uint64, uint64]{common: common{pixel, channels}}, nil
	case zarr.Uint16:
		return summerOf[uint16, uint64, uint64](pixel, channels, squares), nil
	case zarr.Uint32:
		return summerOf[uint32, uint64, uint64](pixel, channels, squares), nil
	case zarr.Int16:
		return summerOf[int16, int64, uint64](pixel, channels, squares), nil
	case zarr.Int32:
		return summerOf[int32, int64, uint64](pixel, channels, squares), nil
	case zarr.Float32:
		return summerOf[float32, float64, float64](pixel, channels, squares), nil
	case zarr.Float64:
		return summerOf[float64, float64, float64](pixel, channels, squares), nil
	}
	if squares {
		return nil, raster.Unsupported("pixels of %v have no table of squares", pixel)
	}
	if pixel == zarr.Int64 {
		return &wideSummer[int64]{common: common{pixel, channels}}, nil
	}
	return &wideSummer[uint64]{common: common{pixel, channels}}, nil
}

func summerOf[P boxsum.Pixel, S boxsum.Sum, Q boxsum.Square](pixel zarr.Type, channels int, squares bool) summer {
	if squares {
		return &squaredSummer[P, S, Q]{common: common{pixel, channels}}
	}
	return &plainSummer[P, S, S]{common: common{pixel, channels}}
}

type common struct {
	pixel    zarr.Type
	channels int
}

// pixels returns the elements of a block in the type as which they are summed.
func pixels[P boxsum.Pixel](c *common, pix []byte, have *[]P) []P {
	switch c.pixel {
	case zarr.Int8:
		widen(have, raster.Elems[int8](pix), func(v int8) P { return P(v) })
		return *have
	case zarr.Float16:
		widen(have, raster.Elems[uint16](pix), func(v uint16) P { return P(zarr.FromFloat16(v)) })
		return *have
	}
	return raster.Elems[P](pix)
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

// fresh returns a table of the given size. It reuses t if the size is unchanged.
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
	if s.t.table, err = fresh(s.t.table, width, height, s.channels); err != nil {
		return err
	}
	return boxsum.IntegrateInto(s.t.table, boxsum.Image[P]{Pix: pixels(&s.common, pix, &s.wide), Width: width, Height: height, Channels: s.channels}, plain)
}

func (s *plainSummer[P, L, S]) layers() []layerTable { return []layerTable{&s.t} }

type squaredSummer[P boxsum.Pixel, S boxsum.Sum, Q boxsum.Square] struct {
	common
	wide    []P
	t       tableOf[S, S]
	squares tableOf[Q, Q]
}

func (s *squaredSummer[P, S, Q]) make(pix []byte, width, height int) (err error) {
	if s.t.table, err = fresh(s.t.table, width, height, s.channels); err != nil {
		return err
	}
	if s.squares.table, err = fresh(s.squares.table, width, height, s.channels); err != nil {
		return err
	}
	both := &boxsum.SquaredTable[S, Q]{Sum: s.t.table, Squares: s.squares.table}
	return boxsum.IntegrateSquaresInto(both, boxsum.Image[P]{Pix: pixels(&s.common, pix, &s.wide), Width: width, Height: height, Channels: s.channels}, plain)
}

func (s *squaredSummer[P, S, Q]) layers() []layerTable {
	return []layerTable{&s.t, &s.squares}
}

// wideSummer is the summer for 64-bit integers.
type wideSummer[T int64 | uint64] struct {
	common
	t tableOf[T, T]
}

func (s *wideSummer[T]) make(pix []byte, width, height int) (err error) {
	if s.t.table, err = fresh(s.t.table, width, height, s.channels); err != nil {
		return err
	}
	return boxsum.IntegrateInto(s.t.table, boxsum.Image[T]{Pix: raster.Elems[T](pix), Width: width, Height: height, Channels: s.channels}, plain)
}

func (s *wideSummer[T]) layers() []layerTable { return []layerTable{&s.t} }

// A tableOf is the table of a block with entries of type L and sums of type S.
type tableOf[L, S boxsum.Sum] struct{ table *boxsum.Table[L] }

func (t *tableOf[L, S]) edges(right, bottom []byte) {
	r, b, view := raster.Elems[S](right), raster.Elems[S](bottom), t.table.Inclusive()
	for y := range t.table.Height {
		row := view.Row(y)
		for c := range t.table.Channels {
			r[y*t.table.Channels+c] = S(row[len(row)-t.table.Channels+c])
		}
	}
	for x, v := range view.Row(t.table.Height - 1) {
		b[x] = S(v)
	}
}

func (t *tableOf[L, S]) carry(next, left, right []byte) { addLines[S](next, left, right) }

func addLines[S boxsum.Sum](next, left, right []byte) {
	n, l, r := raster.Elems[S](next), raster.Elems[S](left), raster.Elems[S](right)
	for i := range r {
		n[i] = l[i] + r[i]
	}
}

func (t *tableOf[L, S]) drop(next, bottom, left, top []byte) {
	dropLines[S](next, bottom, left, top, t.table.Height, t.table.Channels)
}

func dropLines[S boxsum.Sum](next, bottom, left, top []byte, height, channels int) {
	n, b, a, above := raster.Elems[S](next), raster.Elems[S](bottom), raster.Elems[S](left)[(height-1)*channels:], raster.Elems[S](top)
	for i, v := range b {
		n[i] = (v + a[i%channels]) + above[i]
	}
}

func (t *tableOf[L, S]) finish(dst []byte, blockWidth int, left, top []byte) {
	out, l, above, view := raster.Elems[S](dst), raster.Elems[S](left), raster.Elems[S](top), t.table.Inclusive()
	channels := t.table.Channels
	for y := range t.table.Height {
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

func (t *tableOf[L, S]) keep(dst []byte, blockWidth int, as zarr.Type) {
	switch as {
	case zarr.Uint32:
		keepAs[uint32](dst, t.table.Inclusive(), blockWidth)
	case zarr.Int32:
		keepAs[int32](dst, t.table.Inclusive(), blockWidth)
	default:
		keepAs[S](dst, t.table.Inclusive(), blockWidth)
	}
}

func keepAs[T zarr.Element, L boxsum.Sum](dst []byte, view boxsum.View[L], blockWidth int) {
	out := raster.Elems[T](dst)
	for y := range view.Height {
		row := view.Row(y)
		to := out[y*blockWidth*view.Channels:][:len(row)]
		for x, v := range row {
			to[x] = T(v)
		}
	}
}
