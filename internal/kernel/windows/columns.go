package windows

import (
	"github.com/boxsum/boxsum/internal/kernel/processor"
	"github.com/boxsum/boxsum/internal/raster"
)

type (
	slideRoutine   func(cols, add, sub *byte, n int)
	squaresRoutine func(cols, add, sub *byte, n int, offset float64)
	addRowsRoutine func(cols *byte, rows *[]byte, n, count int, offset float64)
)

// columnKernel holds the kernels that update column sums, for one pixel type and one sum type.
type columnKernel struct {
	pixel, sum      int // size of an element in bytes
	slide           func(cols, add, sub []byte)
	slideSquares    func(cols, add, sub []byte, offset float64)
	add, addSquares func(cols, row []byte, offset float64, times int)
	slideRoutines   [processor.Count]slideRoutine // nil for levels without assembly
	squaresRoutines [processor.Count]squaresRoutine
}

// columnKernels holds the kernels by pixel type and sum type.
var columnKernels = [raster.NumTypes][raster.NumTypes]*columnKernel{
	raster.U8: {
		raster.U16: newColumnKernel[uint8, uint16](func(w *windowRoutines) (slideRoutine, squaresRoutine) { return w.columnsU8U16, nil }),
		raster.U32: newColumnKernel[uint8, uint32](func(w *windowRoutines) (slideRoutine, squaresRoutine) { return w.columnsU8U32, w.squaresU8U32 }),
		raster.U64: newColumnKernel[uint8, uint64](nil),
	},
	raster.U16: {
		raster.U32: newColumnKernel[uint16, uint32](func(w *windowRoutines) (slideRoutine, squaresRoutine) { return w.columnsU16U32, nil }),
		raster.U64: newColumnKernel[uint16, uint64](nil),
		raster.F64: newColumnKernel[uint16, float64](nil),
	},
	raster.U32: {
		raster.U32: newColumnKernel[uint32, uint32](func(w *windowRoutines) (slideRoutine, squaresRoutine) { return w.columnsU32U32, nil }),
	},
	raster.F32: {
		raster.F64: newColumnKernel[float32, float64](func(w *windowRoutines) (slideRoutine, squaresRoutine) { return w.columnsF32F64, w.squaresF32F64 }),
	},
	raster.F64: {
		raster.F64: newColumnKernel[float64, float64](func(w *windowRoutines) (slideRoutine, squaresRoutine) { return w.columnsF64F64, nil }),
	},
}

// newColumnKernel returns the kernels of two types, with the assembly that levels have for them.
func newColumnKernel[P raster.Number, A Number](routines func(w *windowRoutines) (slideRoutine, squaresRoutine)) *columnKernel {
	k := &columnKernel{
		pixel: raster.SizeOf[P](), sum: raster.SizeOf[A](),
		slide: slideColumns[P, A], slideSquares: slideSquares[P, A],
		add: addColumns[P, A], addSquares: addSquares[P, A],
	}
	if routines != nil {
		for level := range windowTable {
			k.slideRoutines[level], k.squaresRoutines[level] = routines(&windowTable[level])
		}
	}
	return k
}

// addColumns is the specification of
//
//	cols[i] += times * (row[i] - offset)
//
// Only floats have an offset.
func addColumns[P raster.Number, A Number](cols, row []byte, offset float64, times int) {
	pix := raster.Elems[P](row)
	sums, center, n := raster.Elems[A](cols)[:len(pix)], A(offset), A(times)
	for i, p := range pix {
		sums[i] += A((A(p) - center) * n) // the conversion prevents a fused multiply-add
	}
}

// addSquares is like addColumns for squares.
func addSquares[P raster.Number, A Number](cols, row []byte, offset float64, times int) {
	pix := raster.Elems[P](row)
	sums, center, n := raster.Elems[A](cols)[:len(pix)], A(offset), A(times)
	for i, p := range pix {
		d := A(p) - center
		sums[i] += A(A(d*d) * n)
	}
}

// slideColumns moves column sums down by one row:
//
//	cols[i] += add[i] - sub[i]
func slideColumns[P raster.Number, A Number](cols, add, sub []byte) {
	enter, leave := raster.Elems[P](add), raster.Elems[P](sub)
	sums := raster.Elems[A](cols)[:len(enter)]
	leave = leave[:len(enter)]
	for i, p := range enter {
		sums[i] += A(p) - A(leave[i])
	}
}

// slideSquares is like slideColumns for squares of pixels minus an offset.
func slideSquares[P raster.Number, A Number](cols, add, sub []byte, offset float64) {
	enter, leave, center := raster.Elems[P](add), raster.Elems[P](sub), A(offset)
	sums := raster.Elems[A](cols)[:len(enter)]
	leave = leave[:len(enter)]
	for i, p := range enter {
		a, b := A(p)-center, A(leave[i])-center
		sums[i] += A(a*a) - A(b*b)
	}
}

// moveSquares slides squares at a level: whole vectors in assembly, and the remaining columns in
// Go.
func (k *columnKernel) moveSquares(level processor.Level, cols, add, sub []byte, offset float64) {
	if n := raster.Count(len(add), k.pixel) &^ (windowUnit - 1); n > 0 && k.squaresRoutines[level] != nil {
		_, _ = cols[:n*k.sum], sub[:n*k.pixel]
		k.squaresRoutines[level](raster.First(cols), raster.First(add), raster.First(sub), n, offset)
		if n*k.pixel == len(add) {
			return
		}
		cols, add, sub = cols[n*k.sum:], add[n*k.pixel:], sub[n*k.pixel:]
	}
	k.slideSquares(cols, add, sub, offset)
}

// Columns updates sums of columns of pixels and, if they have a type, of their squares.
type Columns struct {
	level         processor.Level
	sums, squares *columnKernel
	both          func(cols, squares, add, sub *byte, n int) // assembly for sums and squares at once, or nil

	rows, rowSquares addRowsRoutine // assembly for several rows, or nil
}

// NewColumns returns the kernels for the given types. square is zero if no squares are needed.
// Pixels of 8 and 16 bits need wider integer sums, floats need float64.
func NewColumns(level processor.Level, pixel, sum, square raster.Type) Columns {
	c := Columns{level: level, sums: columnKernels[pixel][sum], squares: columnKernels[pixel][square]}
	if pixel == raster.U8 && sum == raster.U32 && square == raster.U32 {
		c.both = windowTable[level].bothU8U32
	}
	switch w := &windowTable[level]; {
	case pixel == raster.F32 && sum == raster.F64:
		c.rows, c.rowSquares = w.addRowsF32, w.addSquaresF32
	case pixel == raster.F64 && sum == raster.F64:
		c.rows, c.rowSquares = w.addRowsF64, w.addSquaresF64
	}
	return c
}

// AddRows adds several rows, minus the offset, one after the other:
//
//	for _, row := range rows {
//		c.Add(sums, squares, row, offset, 1)
//	}
//
// The assembly keeps the sums of some columns in registers while it reads all rows.
func (c *Columns) AddRows(sums, squares []byte, rows [][]byte, offset float64) {
	if len(rows) == 0 {
		return
	}
	from := 0
	if c.rows != nil && (squares == nil || c.rowSquares != nil) {
		from = raster.Count(len(rows[0]), c.sums.pixel) &^ (windowUnit - 1)
	}
	if from > 0 {
		for _, row := range rows {
			_ = row[:from*c.sums.pixel]
		}
		_ = sums[:from*c.sums.sum]
		c.rows(raster.First(sums), &rows[0], from, len(rows), offset)
		if squares != nil {
			_ = squares[:from*c.squares.sum]
			c.rowSquares(raster.First(squares), &rows[0], from, len(rows), offset)
			squares = squares[from*c.squares.sum:]
		}
		sums = sums[from*c.sums.sum:]
	}
	for _, row := range rows {
		c.Add(sums, squares, row[from*c.sums.pixel:], offset, 1)
	}
}

// Add adds a row times times, minus the offset.
func (c *Columns) Add(sums, squares, row []byte, offset float64, times int) {
	c.sums.add(sums, row, offset, times)
	if squares != nil {
		c.squares.addSquares(squares, row, offset, times)
	}
}

// Slide moves the columns down by one row: row add enters the windows and row sub leaves them.
func (c *Columns) Slide(sums, squares, add, sub []byte, offset float64) {
	if n := len(add) &^ (windowUnit - 1); n > 0 && squares != nil && c.both != nil {
		_, _, _ = sums[:4*n], squares[:4*n], sub[:n]
		c.both(raster.First(sums), raster.First(squares), raster.First(add), raster.First(sub), n)
		if n == len(add) {
			return
		}
		sums, squares, add, sub = sums[4*n:], squares[4*n:], add[n:], sub[n:]
	}
	if squares != nil {
		c.squares.moveSquares(c.level, squares, add, sub, offset)
	}
	k := c.sums
	if n := raster.Count(len(add), k.pixel) &^ (windowUnit - 1); n > 0 && k.slideRoutines[c.level] != nil { // whole vectors
		_, _ = sums[:n*k.sum], sub[:n*k.pixel]
		k.slideRoutines[c.level](raster.First(sums), raster.First(add), raster.First(sub), n)
		if n*k.pixel == len(add) {
			return
		}
		sums, add, sub = sums[n*k.sum:], add[n*k.pixel:], sub[n*k.pixel:]
	}
	k.slide(sums, add, sub)
}

// prefixLoops holds the kernels of [Prefix] by sum type.
var prefixLoops = [raster.NumTypes]func(level processor.Level, dst, src []byte, channels int){
	raster.U16: prefix[uint16],
	raster.U32: prefixWords,
	raster.U64: prefix[uint64],
	raster.F64: prefixFloats,
}

// Prefix computes prefix sums along a row, for each channel separately:
//
//	dst[i+channels] = dst[i] + src[i]
//
// for all of dst, whose first channels elements must be zero. Floats with up to
// [processor.FastChannels] channels are added in blocks, in the same order as in tables. Both
// slices must extend Slack elements further.
func Prefix(level processor.Level, sum raster.Type, dst, src []byte, channels int) {
	prefixLoops[sum](level, dst, src, channels)
}

func prefix[A Number](_ processor.Level, dst, src []byte, channels int) {
	sums := raster.Elems[A](dst)
	sums = sums[:len(sums)-Slack]
	to := sums[channels:]
	for i, v := range raster.Elems[A](src)[:len(to)] {
		to[i] = sums[i] + v
	}
}

func prefixWords(level processor.Level, dst, src []byte, channels int) {
	if !prefixed(windowTable[level].prefixU32, dst, src, 4, channels) {
		prefix[uint32](level, dst, src, channels)
	}
}

func prefixFloats(level processor.Level, dst, src []byte, channels int) {
	n := len(dst)/8 - Slack - channels
	asm := windowTable[level].prefixF64
	if channels == 1 {
		asm = windowTable[level].prefixOneF64
	}
	switch {
	case prefixed(asm, dst, src, 8, channels):
	case channels <= processor.FastChannels && n > 0:
		floatPrefix(raster.Elems[float64](dst)[channels:][:n], raster.Elems[float64](src)[:n], channels)
	default:
		prefix[float64](level, dst, src, channels)
	}
}

// prefixed calls the assembly and reports whether there is any for the element size.
func prefixed(asm func(dst, src *byte, n int, lanes *uint32), dst, src []byte, size, channels int) bool {
	n := raster.Count(len(dst), size) - Slack - channels
	if asm == nil || channels > processor.FastChannels || n <= 0 {
		return false
	}
	unit := raster.LineBytes / size // the kernel takes whole cache lines
	_ = src[:(n+unit)*size]
	asm(raster.First(dst[channels*size:]), raster.First(src), n+(-n&(unit-1)), processor.Lanes(size, channels))
	return true
}

// floatPrefix sums eight floats as two blocks of four, each by doubling shifts. The second block
// continues from the first, and then the carry is added to both.
func floatPrefix(dst, src []float64, channels int) {
	var carry [processor.FastChannels]float64
	var block [8]float64
	for len(src) > 0 {
		v := block[:]
		clear(v[copy(v, src):])
		for _, half := range [2][]float64{v[:4], v[4:]} {
			for shift := channels; shift < 4; shift *= 2 {
				for i := 3; i >= shift; i-- {
					half[i] += half[i-shift]
				}
			}
		}
		for i := range 4 {
			v[4+i] += v[4-channels+i%channels]
		}
		for i := range v {
			v[i] += carry[i%channels]
		}
		for ch := range channels { // the channels of the next block's first elements
			carry[ch] = v[8-channels+ch]
		}
		n := copy(dst, v[:min(8, len(src))])
		src, dst = src[n:], dst[n:]
	}
}
