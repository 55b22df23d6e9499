// Package gradients holds the inner loops of histograms of oriented gradients. The portable Go
// loops are the specification; the assembly returns the same bits.
package gradients

import (
	"math"
	"unsafe"

	"github.com/boxsum/boxsum/internal/kernel/processor"
	"github.com/boxsum/boxsum/internal/raster"
)

// Blocks lie next to each other along a row of the image, at every column of a lattice. Their
// histograms are stored in planes, one for each bin of each cell: plane k has the k-th number of
// all blocks of the row, so that vectors hold a number of several blocks, or windows.

const (
	// Lanes is the number of blocks and windows that kernels process at a time. They read and
	// write planes, and write scores, up to the next multiple.
	Lanes = 16
	// MaxBins is the largest number of bins.
	MaxBins = 256
	// BlockCells is the number of cells of the blocks that have assembly.
	BlockCells = 4

	blockGroup = 8                  // blocks that the assembly of Fill processes together, or half of them
	pitch      = 16*MaxBins + 16*17 // bytes between their histograms: not a multiple of a page, whose stores would delay loads
	scratch    = blockGroup * pitch / 4
)

// routines holds the assembly of a level; nil means that the portable loop is used.
type routines struct {
	roots, floats    func(dst, src *byte, n int)
	differences      func(dx, dy, up, middle, down *byte, n int)
	strongest        func(dx, dy, up, middle, down *byte, pitch, n int)
	polar            func(first, second, places, dx, dy, constants *byte, n int)
	blocks4, blocks8 func(planes *byte, stride int, first, second, places *byte, lattice int, offsets, pixels *byte, count int, hist *byte, bins int)
	normalize        func(planes *byte, stride, length, n int, clip, grow float32)
	scores           func(scores, planes *byte, rows *int, down, across, step, stride, length int, coefficients, parts *byte, coefficientStep, partStep, n int)
}

// Brightness converts bytes to float32: to their square roots or, if linear, to themselves.
func Brightness(level processor.Level, dst []float32, src []uint8, linear bool) {
	n := len(dst)
	src = src[:n]
	asm := kernels[level].roots
	if linear {
		asm = kernels[level].floats
	}
	if asm != nil && n >= Lanes {
		asm(raster.First(dst), raster.First(src), n&^(Lanes-1))
		if n%Lanes > 0 { // the last whole vector, again
			asm(raster.First(dst[n-Lanes:]), raster.First(src[n-Lanes:]), Lanes)
		}
		return
	}
	for i, v := range src {
		if dst[i] = float32(v); !linear {
			dst[i] = sqrt32(dst[i])
		}
	}
}

// Differences computes the gradients of pixels from their neighbors. Entry 0 of up, middle and down
// is left of the first pixel.
func Differences(level processor.Level, dx, dy, up, middle, down []float32) {
	n := len(dx)
	dy, up, middle, down = dy[:n], up[:n+2], middle[:n+2], down[:n+2]
	if asm := kernels[level].differences; asm != nil && n >= Lanes {
		for i := 0; i < n; { // the last whole vector starts before the end of the others
			whole := Lanes
			if i == 0 {
				whole = n &^ (Lanes - 1)
			}
			i = min(i, n-Lanes)
			asm(raster.First(dx[i:]), raster.First(dy[i:]), raster.First(up[i:]), raster.First(middle[i:]), raster.First(down[i:]), whole)
			i += whole
		}
		return
	}
	for i := range dx {
		dx[i], dy[i] = middle[i+2]-middle[i], down[i+1]-up[i+1]
	}
}

// Strongest is like [Differences] for the channel with the largest gradient of three, the first
// of equal ones. The channels of a row are pitch entries apart.
func Strongest(level processor.Level, dx, dy, up, middle, down []float32, pitch int) {
	n := len(dx)
	if n == 0 {
		return
	}
	dy, up, middle, down = dy[:n], up[:2*pitch+n+2], middle[:2*pitch+n+2], down[:2*pitch+n+2]
	if asm := kernels[level].strongest; asm != nil && n >= Lanes {
		for i := 0; i < n; {
			whole := Lanes
			if i == 0 {
				whole = n &^ (Lanes - 1)
			}
			i = min(i, n-Lanes)
			asm(raster.First(dx[i:]), raster.First(dy[i:]), raster.First(up[i:]), raster.First(middle[i:]), raster.First(down[i:]), 4*pitch, whole)
			i += whole
		}
		return
	}
	for i := range dx {
		best := float32(-1)
		for c := i; c < i+3*pitch; c += pitch {
			x, y := middle[c+2]-middle[c], down[c+1]-up[c+1]
			if size := float32(x*x) + float32(y*y); size > best {
				best, dx[i], dy[i] = size, x, y
			}
		}
	}
}

// A Place is the bin of a pixel, and the one after it, as offsets in bytes of a histogram whose
// bins have [BlockCells] float32: bin<<4 | next<<20.
type Place uint32

func placeOf(bin, next int) Place { return Place(bin<<4 | next<<20) }

// Bins returns the bin of a pixel and the one after it.
func (p Place) Bins() (bin, next int) { return int(p >> 4 & 0xfff), int(p >> 20) }

// Constants of OpenCV's arctangent in degrees, a polynomial in min/max of |dx| and |dy|.
const (
	degrees = float32(180 / math.Pi)
	radians = float32(math.Pi / 180)
)

var (
	atan1 = float32(0.9997878412794807) * degrees
	atan3 = float32(-0.3258083974640975) * degrees
	atan5 = float32(0.1555786518463281) * degrees
	atan7 = float32(-0.04432655554792128) * degrees
)

// Bins says how directions are divided into bins.
type Bins struct {
	count     int
	angle     float32     // bins in a radian
	constants [15]float32 // of the assembly
}

// NewBins returns bins for a half turn or, if signed, a whole one.
func NewBins(count int, signed bool) *Bins {
	turn := math.Pi
	if signed {
		turn = 2 * math.Pi
	}
	b := &Bins{count: count, angle: float32(float64(count) / turn)}
	b.constants = [...]float32{atan7, atan5, atan3, atan1, radians, b.angle, 90, 180, 360, 1, 0.5, 0x1p-52,
		math.Float32frombits(uint32(count)), math.Float32frombits(0x7fffffff), math.Float32frombits(1)}
	return b
}

// PerRadian returns the number of bins in a radian.
func (b *Bins) PerRadian() float32 { return b.angle }

// Polar converts gradients: the length of each is divided between a bin and the next one. In short
// chunks, OpenCV rounds angles above 45° differently.
func Polar(level processor.Level, first, second []float32, places []Place, dx, dy []float32, b *Bins, short bool) {
	n := len(first)
	second, places, dx, dy = second[:n], places[:n], dx[:n], dy[:n]
	if asm := kernels[level].polar; asm != nil && n >= Lanes && !short && processor.Fuses() {
		constants := &b.constants[0]
		asm(raster.First(first), raster.First(second), raster.First(places), raster.First(dx), raster.First(dy), (*byte)(unsafe.Pointer(constants)), n&^(Lanes-1))
		if n%Lanes > 0 { // the last whole vector, again
			k := n - Lanes
			asm(raster.First(first[k:]), raster.First(second[k:]), raster.First(places[k:]), raster.First(dx[k:]), raster.First(dy[k:]), (*byte)(unsafe.Pointer(constants)), Lanes)
		}
		return
	}
	for i, x := range dx {
		y := dy[i]
		magnitude := sqrt32(fma32(x, x, float32(y*y)))
		theta := float32(float32(angleOf(x, y, short)*radians)*b.angle) - 0.5
		low := float32(math.Floor(float64(theta)))
		part := theta - low
		bin := int(low)
		if bin < 0 {
			bin += b.count
		} else if bin >= b.count {
			bin -= b.count
		}
		next := bin + 1
		if next == b.count {
			next = 0
		}
		first[i], second[i], places[i] = magnitude*(1-part), magnitude*part, placeOf(bin, next)
	}
}

// angleOf returns the angle of a gradient in degrees, from 0 to 360.
func angleOf(dx, dy float32, short bool) float32 {
	x, y := abs32(dx), abs32(dy)
	c := min(x, y) / (max(x, y) + 0x1p-52)
	s := float32(c * c)
	q := fma32(fma32(fma32(s, atan7, atan5), s, atan3), s, atan1)
	a := float32(q * c)
	if x < y {
		if a = 90 - a; short {
			a = fma32(-q, c, 90)
		}
	}
	if dx < 0 {
		a = 180 - a
	}
	if dy < 0 {
		a = 360 - a
	}
	return a
}

func abs32(v float32) float32 { return float32(math.Abs(float64(v))) }

func sqrt32(v float32) float32 { return float32(math.Sqrt(float64(v))) }

// fma32 returns a·b+c, rounded once.
func fma32(a, b, c float32) float32 {
	product := float64(a) * float64(b) // exact
	sum := product + float64(c)
	// The sum is rounded. Rounding it again errs only if it lies in the middle between two
	// float32: then the rounding error of the sum decides.
	if v := math.Float64bits(sum); v&(1<<29-1) == 1<<28 {
		t := sum - product
		rest := (product - (sum - t)) + (float64(c) - t)
		if rest != 0 {
			if (rest > 0) == (sum > 0) {
				v++
			} else {
				v--
			}
			sum = math.Float64frombits(v)
		}
	}
	return float32(sum)
}

// A Pixel is a pixel of a block and the cells to which it contributes.
type Pixel struct {
	X, Y    int32
	N       int32      // number of cells: 1, 2 or 4
	_       int32      // makes a Pixel a cache line
	Cells   [4]int32   // the cells
	Weights [4]float32 // and their weights
	Spread  [4]float32 // the weights of cells 0 to 3; 0 for others
}

// A Gradient holds rows of gradients as [Polar] returns them.
type Gradient struct {
	First, Second []float32
	Places        []Place
}

// A BlockRow describes blocks of one row.
type BlockRow struct {
	Pixels  []Pixel
	Offsets []int32 // of each pixel in the gradient, for the first block
	Lattice int     // distance in the gradient from one block to the next
	Bins    int
	Cells   int // in a block

	Planes []float32 // histograms: number k of block x is Planes[k*Stride+x]
	Stride int       // a multiple of Lanes

	hist []float32 // the assembly's
}

// Fill computes the histograms of the blocks from x to end. It overwrites some of those before,
// with the same numbers.
func (r *BlockRow) Fill(level processor.Level, g *Gradient, x, end int) {
	if k := &kernels[level]; k.blocks4 != nil && r.Cells == BlockCells && end >= blockGroup/2 {
		if r.hist == nil {
			r.hist = make([]float32, scratch)
		}
		for x < end {
			asm, group := k.blocks8, blockGroup
			if end-x <= blockGroup/2 || end < blockGroup {
				asm, group = k.blocks4, blockGroup/2
			}
			x = min(x, end-group)
			at := x * r.Lattice
			asm(raster.First(r.Planes[x:]), 4*r.Stride, raster.First(g.First[at:]), raster.First(g.Second[at:]), raster.First(g.Places[at:]), 4*r.Lattice,
				raster.First(r.Offsets), raster.First(r.Pixels), len(r.Pixels), raster.First(r.hist), r.Bins)
			x += group
		}
		return
	}
	for ; x < end; x++ {
		length := r.Cells * r.Bins
		for k := range length {
			r.Planes[k*r.Stride+x] = 0
		}
		planes := r.Planes[x:]
		for i := range r.Pixels {
			p, at := &r.Pixels[i], int(r.Offsets[i])+x*r.Lattice
			first, second := g.First[at], g.Second[at]
			bin, next := g.Places[at].Bins()
			for k := range p.N {
				cell, weight := int(p.Cells[k])*r.Bins, p.Weights[k]
				planes[(cell+bin)*r.Stride] += float32(first * weight)
				planes[(cell+next)*r.Stride] += float32(second * weight)
			}
		}
	}
}

// Normalize scales blocks to length 1, limits their numbers to clip, and scales them again. The
// blocks are the first n of planes with length numbers.
func Normalize(level processor.Level, planes []float32, stride, length, n int, clip float32) {
	grow := Grow(length)
	if asm := kernels[level].normalize; asm != nil && length%4 == 0 && n > 0 {
		asm(raster.First(planes[:length*stride]), 4*stride, length, (n+Lanes-1)&^(Lanes-1), clip, grow)
		return
	}
	for x := range n {
		block := planes[x:]
		scale := 1 / (sqrt32(sumOfSquares(block, stride, length)) + grow)
		for k := range length {
			block[k*stride] = min(float32(block[k*stride]*scale), clip)
		}
		scale = 1 / (sqrt32(sumOfSquares(block, stride, length)) + 1e-3)
		for k := range length {
			block[k*stride] *= scale
		}
	}
}

// Grow returns what the first scaling of [Normalize] adds to the length of a block.
func Grow(length int) float32 { return float32(float32(length) * 0.1) }

func sumOfSquares(h []float32, stride, length int) float32 {
	var lanes [4]float32
	for k := range length &^ 3 {
		v := h[k*stride]
		lanes[k&3] += float32(v * v)
	}
	sum := (lanes[0] + lanes[1]) + (lanes[2] + lanes[3])
	for k := length &^ 3; k < length; k++ {
		v := h[k*stride]
		sum += float32(v * v)
	}
	return sum
}

// Windows describes windows of one row.
type Windows struct {
	Planes       []float32
	Rows         []int // index in Planes of each row of blocks of the window
	Stride       int   // from one plane to the next
	Length       int   // numbers of a block
	Across, Step int   // columns of blocks of a window, and planes' entries from one to the next
	Pace         int   // entries from one window to the next
	Coefficients []float32
	Parts        []float64 // the assembly's: what each block of Lanes windows contributes
}

// Scores adds the products of windows and coefficients to scores, as OpenCV does: in four lanes for
// each block. scores has room for a multiple of Lanes.
func (w *Windows) Scores(level processor.Level, scores []float64, n int) {
	if asm := kernels[level].scores; asm != nil && w.Length%4 == 0 && w.Pace == 1 && n > 0 {
		whole := (n + Lanes - 1) &^ (Lanes - 1)
		if blocks := len(w.Rows) * w.Across; len(w.Parts) < Lanes*blocks {
			w.Parts = make([]float64, Lanes*blocks)
		}
		asm(raster.First(scores[:whole]), raster.First(w.Planes), &w.Rows[0], len(w.Rows), w.Across, 4*w.Step, 4*w.Stride, w.Length, raster.First(w.Coefficients),
			raster.First(w.Parts), 4*w.Length*len(w.Rows), 8*Lanes*len(w.Rows), whole)
		return
	}
	coefficients := w.Coefficients
	for column := range w.Across {
		for _, row := range w.Rows {
			for x := range n {
				scores[x] = addProducts(scores[x], w.Planes[row+column*w.Step+x*w.Pace:], coefficients[:w.Length], w.Stride)
			}
			coefficients = coefficients[w.Length:]
		}
	}
}

func addProducts(score float64, block, coefficients []float32, stride int) float64 {
	var lanes [4]float32
	n := len(coefficients)
	for k := range n &^ 3 {
		lanes[k&3] += float32(block[k*stride] * coefficients[k])
	}
	score += float64(lanes[0]+lanes[1]) + float64(lanes[2]+lanes[3])
	for k := n &^ 3; k < n; k++ {
		score += float64(float32(block[k*stride] * coefficients[k]))
	}
	return score
}
