package windows

import (
	"math"
	"unsafe"

	"github.com/boxsum/boxsum/internal/kernel/processor"
	"github.com/boxsum/boxsum/internal/raster"
)

// A GuidedBox computes the guided filter of bytes from column sums. It fits a line in every window,
// and returns its slope and its height in fixed point, because sums of these are exact in any
// order. The height is measured at the middle of the range, guidedCenter.
type GuidedBox struct {
	level processor.Level
	own   bool // the image is its own guide
	span  int
	lines guidedSums
	bytes guidedSums
}

// guidedSums holds the addresses of the sums of windows, and constants.
type guidedSums struct {
	hi, lo  [4]*byte // of the guide, the image, the squares of the guide and the products; or of slopes and heights
	carry   [4][16]uint32
	doubles [4]float64 // pixels in a window, its inverse, epsilon, center
	singles [4]float32 // units of slope and height, least variance; or 1/units/pixels of both, center, bias
}

const (
	guidedCenter = 128
	// guidedError bounds the error of a pixel that is due to the rounding of lines.
	guidedError = 1.0 / 512
	// guidedLeast is positive and less than any variance.
	guidedLeast = 0x1p-100
)

// NewGuidedBox returns a filter for windows of span×height bytes. It reports whether 32-bit fixed
// point is precise enough for them.
func NewGuidedBox(level processor.Level, span, height int, epsilon float64, own bool) (b GuidedBox, ok bool) {
	n := float64(span) * float64(height)
	b = GuidedBox{level: level, own: own, span: span}
	// Slopes are at most σv·σi/(σi²+ε), which is greatest at σi² = ε.
	slope := 1.0
	if !own {
		slope = 127.5 / (2 * math.Sqrt(epsilon))
	}
	height1 := guidedCenter * (1 + slope)
	if own {
		height1 = guidedCenter
	}
	const most = 1<<31 - 1<<20
	unitsA, unitsB := powerBelow(most/n/slope-1), powerBelow(most/n/height1-1)
	if n*255*255 >= 1<<31 || !(guidedCenter/unitsA/2+1/unitsB/2 <= guidedError) {
		return b, false
	}
	b.lines.doubles = [4]float64{n, 1 / n, epsilon * n * n, guidedCenter}
	b.lines.singles = [4]float32{float32(unitsA), float32(unitsB), guidedLeast}
	b.bytes.singles = [4]float32{float32(1 / unitsA / n), float32(1 / unitsB / n), guidedCenter, guidedCenter + 0.5}
	return b, true
}

// powerBelow returns the greatest power of two that is at most v and at most 2^20, or zero if v is
// less than 1.
func powerBelow(v float64) float64 {
	if !(v >= 1) {
		return 0
	}
	return math.Ldexp(1, min(20, math.Ilogb(v)))
}

// line fits a line in a window, given the sums of the guide, the image, the guide's squares, and
// the products of both.
func (s *guidedSums) line(i, v, ii, iv uint32) (a, b uint32) {
	si, sv := float64(i), float64(v)
	variance := float32(float64(float64(float64(ii)*s.doubles[0])-float64(si*si)) + s.doubles[2])
	covariance := float32(float64(float64(iv)*s.doubles[0]) - float64(si*sv))
	slope := covariance / max(variance, s.singles[2])
	guide, image := float32(float64(si*s.doubles[1])-s.doubles[3]), float32(float64(sv*s.doubles[1])-s.doubles[3])
	rest := image - float32(slope*guide)
	return uint32(int32(math.RoundToEven(float64(slope * s.singles[0])))), uint32(int32(math.RoundToEven(float64(rest * s.singles[1]))))
}

// pixel evaluates the mean of lines at a pixel of the guide.
func (s *guidedSums) pixel(guide uint8, a, b uint32) uint8 {
	slope := float32(float32(int32(a)) * s.singles[0])
	rest := float32(float32(int32(b)) * s.singles[1])
	q := float32(float32(slope*float32(float32(guide)-s.singles[2]))+rest) + s.singles[3]
	return uint8(min(max(q, 0), 255))
}

// GuidedScratch is the working memory of a worker for a [GuidedBox].
type GuidedScratch struct {
	sums  guidedSums
	rest  [2][windowUnit]uint32
	bytes [2][windowUnit]uint8
	_     [raster.LineBytes]byte
}

// aim sets the constants, and the carries to the sums of the first window without its last column.
func (s *guidedSums) aim(span int, from *guidedSums, cols ...[]uint32) {
	s.doubles, s.singles = from.doubles, from.singles
	for k, c := range cols {
		if c != nil {
			sum := sumOf(c[1:span])
			for i := range s.carry[k] {
				s.carry[k][i] = sum
			}
		}
	}
}

// address returns s as an argument for assembly.
func (s *guidedSums) address() *byte { return (*byte)(unsafe.Pointer(s)) }

// moveTo moves to pixel x of a row.
func (s *guidedSums) moveTo(x, span int, cols ...[]uint32) {
	for k, c := range cols {
		if c != nil {
			s.hi[k], s.lo[k] = raster.First(c[x+span:]), raster.First(c[x:])
		}
	}
}

// Lines computes a row of lines from column sums, laid out as for [Box.Row], of the guide, the
// image, the squares of the guide, and the products. If the image is its own guide, only the first
// and third are used.
func (b *GuidedBox) Lines(slopes, heights []uint32, s *GuidedScratch, guide, image, squares, products []uint32) {
	n := len(slopes)
	heights = heights[:n]
	cols := [][]uint32{guide, image, squares, products}
	for _, c := range cols {
		if c != nil {
			_ = c[:n+b.span+Slack]
		}
	}
	w := &windowTable[b.level]
	asm := w.guidedLines
	if b.own {
		asm = w.guidedOwnLines
	}
	s.sums.aim(b.span, &b.lines, guide, image, squares, products)
	if asm == nil {
		b.portableLines(slopes, heights, &s.sums, guide, image, squares, products)
		return
	}
	lanes := processor.Lanes(4, 1)
	whole := n &^ (windowUnit - 1)
	if whole > 0 {
		s.sums.moveTo(0, b.span, guide, image, squares, products)
		asm(raster.First(slopes), raster.First(heights), s.sums.address(), whole, lanes)
	}
	if whole < n {
		s.sums.moveTo(whole, b.span, guide, image, squares, products)
		asm(raster.First(s.rest[0][:]), raster.First(s.rest[1][:]), s.sums.address(), windowUnit, lanes)
		copy(slopes[whole:], s.rest[0][:])
		copy(heights[whole:], s.rest[1][:])
	}
	s.sums.hi, s.sums.lo = [4]*byte{}, [4]*byte{}
}

func (b *GuidedBox) portableLines(slopes, heights []uint32, s *guidedSums, guide, image, squares, products []uint32) {
	if b.own {
		image, products = guide, squares
		s.carry[1], s.carry[3] = s.carry[0], s.carry[2]
	}
	i, v, ii, iv := s.carry[0][0], s.carry[1][0], s.carry[2][0], s.carry[3][0]
	for x := range slopes {
		i += guide[x+b.span] - guide[x]
		v += image[x+b.span] - image[x]
		ii += squares[x+b.span] - squares[x]
		iv += products[x+b.span] - products[x]
		slopes[x], heights[x] = s.line(i, v, ii, iv)
	}
}

// Bytes computes a row of pixels from column sums of lines and the guide.
func (b *GuidedBox) Bytes(dst, guide []uint8, s *GuidedScratch, slopes, heights []uint32) {
	n := len(dst)
	guide = guide[:n]
	_, _ = slopes[:n+b.span+Slack], heights[:n+b.span+Slack]
	s.sums.aim(b.span, &b.bytes, slopes, heights)
	asm := windowTable[b.level].guidedBytes
	if asm == nil {
		at, bt := s.sums.carry[0][0], s.sums.carry[1][0]
		for x := range dst {
			at += slopes[x+b.span] - slopes[x]
			bt += heights[x+b.span] - heights[x]
			dst[x] = s.sums.pixel(guide[x], at, bt)
		}
		return
	}
	lanes := processor.Lanes(4, 1)
	whole := n &^ (windowUnit - 1)
	if whole > 0 {
		s.sums.moveTo(0, b.span, slopes, heights)
		asm(raster.First(dst), raster.First(guide), s.sums.address(), whole, lanes)
	}
	if whole < n {
		s.sums.moveTo(whole, b.span, slopes, heights)
		copy(s.bytes[0][:], guide[whole:])
		asm(&s.bytes[1][0], &s.bytes[0][0], s.sums.address(), windowUnit, lanes)
		copy(dst[whole:], s.bytes[1][:])
	}
	s.sums.hi, s.sums.lo = [4]*byte{}, [4]*byte{}
}

// Products multiplies bytes.
func Products(level processor.Level, dst []uint16, a, b []uint8) {
	a, b = a[:len(dst)], b[:len(dst)]
	from := 0
	if asm := windowTable[level].productsU8; asm != nil {
		from = len(dst) &^ (windowUnit - 1)
		asm(raster.First(dst), raster.First(a), raster.First(b), from)
	}
	for i := from; i < len(dst); i++ {
		dst[i] = uint16(a[i]) * uint16(b[i])
	}
}

// guideKernel holds the kernels for one pixel type of images and one of guides.
type guideKernel struct {
	products func(level processor.Level, dst []float64, img, guide []byte)
	pixels   func(level processor.Level, dst, guide []byte, hi, lo []float64, n float64)
}

// guideKernels holds the kernels by the types of the image and of the guide.
var guideKernels = [raster.NumTypes][raster.NumTypes]guideKernel{
	raster.U8: {
		raster.U8:  {guidedByteProducts, guidedBytePixels},
		raster.U16: {guidedProducts[uint8, uint16], guidedWhole[uint8, uint16]},
		raster.F32: {guidedProducts[uint8, float32], guidedWhole[uint8, float32]},
		raster.F64: {guidedProducts[uint8, float64], guidedWhole[uint8, float64]},
	},
	raster.U16: {
		raster.U8:  {guidedProducts[uint16, uint8], guidedWhole[uint16, uint8]},
		raster.U16: {guidedProducts[uint16, uint16], guidedWhole[uint16, uint16]},
		raster.F32: {guidedProducts[uint16, float32], guidedWhole[uint16, float32]},
		raster.F64: {guidedProducts[uint16, float64], guidedWhole[uint16, float64]},
	},
	raster.F32: {
		raster.U8:  {guidedProducts[float32, uint8], guidedFloats[float32, uint8]},
		raster.U16: {guidedProducts[float32, uint16], guidedFloats[float32, uint16]},
		raster.F32: {guidedProducts[float32, float32], guidedFloats[float32, float32]},
		raster.F64: {guidedProducts[float32, float64], guidedFloats[float32, float64]},
	},
	raster.F64: {
		raster.U8:  {guidedProducts[float64, uint8], guidedFloats[float64, uint8]},
		raster.U16: {guidedProducts[float64, uint16], guidedFloats[float64, uint16]},
		raster.F32: {guidedProducts[float64, float32], guidedFloats[float64, float32]},
		raster.F64: {guidedProducts[float64, float64], guidedFloats[float64, float64]},
	},
}

// GuidedProducts computes four numbers for each pixel: i, v, i·i and i·v, where i is the guide and
// v the image.
func GuidedProducts(level processor.Level, pixel, by raster.Type, dst []float64, img, guide []byte) {
	guideKernels[pixel][by].products(level, dst, img, guide)
}

func guidedByteProducts(level processor.Level, dst []float64, img, guide []byte) {
	if asm := windowTable[level].guidedProducts; asm != nil {
		n := len(img) &^ 3
		_, _ = guide[:n], dst[:4*n]
		asm(raster.First(dst), raster.First(img), raster.First(guide), n)
		dst, img, guide = dst[4*n:], img[n:], guide[n:]
	}
	guidedProducts[uint8, uint8](level, dst, img, guide)
}

func guidedProducts[P, G raster.Number](_ processor.Level, dst []float64, img, guide []byte) {
	pix := raster.Elems[P](img)
	by := raster.Elems[G](guide)[:len(pix)]
	for x, p := range pix {
		v, i := float64(p), float64(by[x])
		to := (*[4]float64)(dst[4*x:])
		to[0], to[1], to[2], to[3] = i, v, float64(i*i), float64(i*v)
	}
}

// GuidedFit computes a and b of each pixel from the sums, hi-lo, of these numbers over n pixels. a
// is 0 where the guide is flat and epsilon is zero.
func GuidedFit(level processor.Level, dst, hi, lo []float64, n, epsilon float64) {
	pixels, from, inverse := len(dst)/2, 0, 1/n
	hi, lo = hi[:4*pixels], lo[:4*pixels]
	if asm := windowTable[level].guidedFit; asm != nil {
		from = pixels &^ 3
		asm(raster.First(dst), raster.First(hi), raster.First(lo), from, inverse, epsilon)
	}
	for x := from; x < pixels; x++ {
		hi, lo, to := (*[4]float64)(hi[4*x:]), (*[4]float64)(lo[4*x:]), (*[2]float64)(dst[2*x:])
		i, v := float64((hi[0]-lo[0])*inverse), float64((hi[1]-lo[1])*inverse)
		variance := max(0, float64((hi[2]-lo[2])*inverse)-float64(i*i)) + epsilon
		a := (float64((hi[3]-lo[3])*inverse) - float64(i*v)) / variance
		if variance == 0 {
			a = 0
		}
		to[0], to[1] = a, v-float64(a*i)
	}
}

// GuidedPixels computes pixels from the sums, hi-lo, of a and b over n pixels, and the guide.
// Integers are rounded and clamped; NaN becomes 0.
func GuidedPixels(level processor.Level, pixel, by raster.Type, dst, guide []byte, hi, lo []float64, n float64) {
	guideKernels[pixel][by].pixels(level, dst, guide, hi, lo, n)
}

func guidedBytePixels(level processor.Level, dst, guide []byte, hi, lo []float64, n float64) {
	if asm := windowTable[level].guidedPixels; asm != nil {
		end := len(dst) &^ 3
		_, _, _ = guide[:end], hi[:2*end], lo[:2*end]
		asm(raster.First(dst), raster.First(guide), raster.First(hi), raster.First(lo), end, 1/n, 0.5, 255)
		dst, guide, hi, lo = dst[end:], guide[end:], hi[2*end:], lo[2*end:]
	}
	guidedWhole[uint8, uint8](level, dst, guide, hi, lo, n)
}

func guidedWhole[P uint8 | uint16, G raster.Number](_ processor.Level, dst, guide []byte, hi, lo []float64, n float64) {
	to := raster.Elems[P](dst)
	by := raster.Elems[G](guide)[:len(to)]
	hi, lo = hi[:2*len(to)], lo[:2*len(to)]
	inverse, most := 1/n, float64(^P(0))
	for x := range to {
		q := guidedPixel(hi, lo, x, inverse, float64(by[x]))
		if !(q > 0) {
			q = 0
		}
		to[x] = P(min(q+0.5, most))
	}
}

func guidedFloats[P float32 | float64, G raster.Number](_ processor.Level, dst, guide []byte, hi, lo []float64, n float64) {
	to := raster.Elems[P](dst)
	by := raster.Elems[G](guide)[:len(to)]
	hi, lo = hi[:2*len(to)], lo[:2*len(to)]
	inverse := 1 / n
	for x := range to {
		to[x] = P(guidedPixel(hi, lo, x, inverse, float64(by[x])))
	}
}

// guidedPixel returns a·i + b, where a and b are the means over the window of pixel x.
func guidedPixel(hi, lo []float64, x int, inverse, i float64) float64 {
	return float64((hi[2*x+1]-lo[2*x+1])*inverse) + float64(float64((hi[2*x]-lo[2*x])*inverse)*i)
}
