package windows

import "github.com/boxsum/boxsum/internal/raster"

// Columns beyond the edges of the image, and sums of windows that are larger than the image.

// Repeat fills dst with copies of one element.
func Repeat(dst, element []byte) {
	for n := copy(dst, element); n < len(dst); n *= 2 {
		copy(dst[n:], dst[:n])
	}
}

// Reverse copies elements in reverse order, eight at a time.
func Reverse[T raster.Number](dst, src []T) {
	for len(src) >= 8 {
		f, t := (*[8]T)(src[len(src)-8:]), (*[8]T)(dst)
		t[0], t[1], t[2], t[3] = f[7], f[6], f[5], f[4]
		t[4], t[5], t[6], t[7] = f[3], f[2], f[1], f[0]
		src, dst = src[:len(src)-8], dst[8:]
	}
	for i, v := range src {
		dst[len(src)-1-i] = v
	}
}

// gatherLoops holds the kernels of [Gather] by pixel type.
var gatherLoops = [raster.NumTypes]func(dst, src Lines, from []int, outside float64, lines int){
	raster.U8: gather[uint8], raster.U16: gather[uint16], raster.F32: gather[float32], raster.F64: gather[float64],
}

// Gather copies the elements with the given indices, or outside where the index is negative, from
// lines of src to the start of those of dst.
func Gather(t raster.Type, dst, src Lines, from []int, outside float64, lines int) {
	if len(from) > 0 {
		gatherLoops[t](dst, src, from, outside, lines)
	}
}

func gather[P raster.Number](dst, src Lines, from []int, outside float64, lines int) {
	for y := range lines {
		to, elems := raster.Elems[P](dst.Data[y*dst.Stride:])[:len(from)], raster.Elems[P](src.Data[y*src.Stride:])
		for i, x := range from {
			if x >= 0 {
				to[i] = elems[x]
			} else {
				to[i] = P(outside)
			}
		}
	}
}

// constantLoops holds the kernels of [Constant] by sum type.
var constantLoops = [raster.NumTypes]func(dst []byte, d float64, height int, squared bool){
	raster.U16: constant[uint16], raster.U32: constant[uint32], raster.U64: constant[uint64], raster.F64: constant[float64],
}

// Constant sets one element to the sum of a column of height equal pixels, or of their squares.
func Constant(sum raster.Type, dst []byte, d float64, height int, squared bool) {
	constantLoops[sum](dst, d, height, squared)
}

func constant[A Number](dst []byte, d float64, height int, squared bool) {
	v := A(d)
	if squared {
		v *= v
	}
	raster.Elems[A](dst)[0] = A(height) * v
}

// An Extra describes what to add to the column sums of every window, for each channel: a number of
// columns of a constant, the first and the last column of the image a number of times, and all
// columns a number of times.
type Extra struct {
	Channels    int
	Constants   []byte // column sum of the constant by channel, or nil
	Beside      int    // number of columns of the constant
	First, Last int
	Periods     int  // number of periods, each with all columns
	Mirrored    bool // every column occurs twice in a period
	Inner       bool // every column but the first and the last occurs twice
}

// extraLoops holds the kernels of [AddExtra] by sum type.
var extraLoops = [raster.NumTypes]func(dst, sums, columns []byte, e Extra){
	raster.U16: addExtra[uint16], raster.U32: addExtra[uint32], raster.U64: addExtra[uint64], raster.F64: addExtra[float64],
}

// AddExtra adds e, given the columns of the image, to all windows:
//
//	dst[i] = sums[i] + extra
func AddExtra(sum raster.Type, dst, sums, columns []byte, e Extra) {
	extraLoops[sum](dst, sums, columns, e)
}

func addExtra[A Number](dst, sums, columns []byte, x Extra) {
	to, from, image := raster.Elems[A](dst), raster.Elems[A](sums), raster.Elems[A](columns)
	for ch := range x.Channels {
		var e A
		switch {
		case x.Constants != nil:
			e = A(x.Beside) * raster.Elems[A](x.Constants)[ch]
		case x.Periods == 0:
			if x.First > 0 { // 0·∞ would be NaN
				e = A(x.First) * image[ch]
			}
			if x.Last > 0 {
				e += A(A(x.Last) * image[len(image)-x.Channels+ch])
			}
		default:
			for i := ch; i < len(image); i += x.Channels {
				e += image[i]
			}
			switch {
			case x.Mirrored:
				e += e
			case x.Inner:
				for i := ch + x.Channels; i < len(image)-x.Channels; i += x.Channels {
					e += image[i] // add all but the first and the last again
				}
			}
			e *= A(x.Periods)
		}
		for i := ch; i < len(from); i += x.Channels {
			to[i] = from[i] + e
		}
	}
}

// runKernel holds the loops that count equal pixels of one type.
type runKernel struct {
	extend func(runs []int32, row, above []byte)
	grow   func(runs []int32, row, last []byte, have int) bool
	span   func(along, down []int32, last []byte, height, channels int)
}

// runKernels holds the loops by float type.
var runKernels = [raster.NumTypes]runKernel{
	raster.F32: {extendRuns[float32], growRuns[float32], spanRuns[float32]},
	raster.F64: {extendRuns[float64], growRuns[float64], spanRuns[float64]},
}

// ExtendRuns updates, for each column, the number of equal pixels that end in this row, given those
// of the row above.
func ExtendRuns(t raster.Type, runs []int32, row, above []byte) {
	runKernels[t].extend(runs, row, above)
}

// GrowRuns extends runs of have pixels upward if the pixel in row equals the last one of its
// column. It reports whether any run grew.
func GrowRuns(t raster.Type, runs []int32, row, last []byte, have int) bool {
	return runKernels[t].grow(runs, row, last, have)
}

// SpanRuns counts, up to each element of a row, the consecutive columns that consist of at least
// height equal pixels and share their value.
func SpanRuns(t raster.Type, along, down []int32, last []byte, height, channels int) {
	runKernels[t].span(along, down, last, height, channels)
}

func extendRuns[P float32 | float64](runs []int32, row, above []byte) {
	over := raster.Elems[P](above)
	for i, p := range raster.Elems[P](row) {
		if p == over[i] {
			runs[i]++
		} else {
			runs[i] = 1
		}
	}
}

func growRuns[P float32 | float64](runs []int32, row, last []byte, have int) (more bool) {
	under := raster.Elems[P](last)
	for i, p := range raster.Elems[P](row) {
		if int(runs[i]) == have && p == under[i] {
			runs[i]++
			more = true
		}
	}
	return more
}

func spanRuns[P float32 | float64](along, down []int32, last []byte, height, channels int) {
	pix := raster.Elems[P](last)
	for i, p := range pix {
		switch {
		case int(down[i]) < height:
			along[i] = 0
		case i >= channels && p == pix[i-channels]:
			along[i] = along[i-channels] + 1
		default:
			along[i] = 1
		}
	}
}
