// Package cascades holds the loops of detectors: the stages of a cascade for a row of
// windows. The portable Go loop is the specification; the assembly gives the same bits.
package cascades

import (
	"math"
	"math/bits"
	"unsafe"

	"github.com/boxsum/boxsum/internal/kernel/processor"
	"github.com/boxsum/boxsum/internal/raster"
)

// What detectors by cascades need: layers of an image, their tables row by row, and the
// stages of a cascade in many windows at a time: groups of neighbouring windows, each group
// at a place of the table. All features are those of OpenCV's detectMultiScale, and nothing
// is fused. Sums of a stage are whole numbers, of units so small that they decide nearly
// all windows. The rest are in doubt, and somebody has to sum the leaves as OpenCV does.

// Slack is how many elements beyond the last window kernels may read in tables, and
// read and write in the slices of windows.
const Slack = 16

// GroupLanes is how many windows a group has, at most: 16 where a level is wide, or 8.
const GroupLanes = 16

// blockGroups is how many groups kernels take at a time.
const blockGroups = 4

// routines is the assembly of a level; nil stands for the portable loops.
type routines struct {
	haarStumps, haarChains func(results, places, norms *byte, blocks int, table, nodes *byte, twos, threes int, sums *byte)
	lbpStumps              func(results, places *byte, groups int, table, nodes *byte, count int, sums *byte)
	flat                   func(bits, norms *byte, words int)
	haarNorms              func(dst, norm, table *byte, n int)
	blendRows              func(dst, a, b *byte, n int, part uint64)
	blendColumns           func(dst, row, places, parts *byte, n int)
	cascadeRow             func(sums, squares, sumsAbove, squaresAbove, pix *byte, n, half int)
	tiltedRow              func(tilted, above, down, up, pix *byte, n, half, square int)
}

// LanesOf is how many windows the vectors of a level hold.
func LanesOf(level processor.Level) int {
	if level > processor.Portable && kernels[level-1].haarStumps != nil {
		return 16
	}
	return 8
}

// lanesLevel is the level whose routines take groups of that many windows.
func lanesLevel(level processor.Level, lanes int) *routines {
	if lanes < LanesOf(level) {
		level--
	}
	return &kernels[level]
}

// Groups is windows. Slices have room for a multiple of 4 groups.
type Groups struct {
	Lanes  int
	Places []int32   // of the first window of each group; the others follow
	Alive  []uint32  // a bit for each window of a group that is to be looked at
	Norms  []float32 // of all windows, Lanes to a group; those of patterns have none
}

// Resize changes the number of groups.
func (g *Groups) Resize(n int) {
	g.Places, g.Alive, g.Norms = g.Places[:n], g.Alive[:n], g.Norms[:n*g.Lanes]
}

// NewGroups has room for so many groups.
func NewGroups(lanes, n int) Groups {
	n = (n + blockGroups - 1) &^ (blockGroups - 1)
	return Groups{lanes, make([]int32, 0, n), make([]uint32, 0, n), make([]float32, 0, n*lanes)}
}

// blocks is groups made whole blocks.
func (g *Groups) blocks() (n int, places []int32) {
	n = (len(g.Places) + blockGroups - 1) / blockGroups
	places = g.Places[:n*blockGroups]
	for i := len(g.Places); i < len(places); i++ {
		places[i] = places[0]
	}
	return n, places
}

// StageSums is how a sum becomes a verdict.
type StageSums struct {
	Base       int32 // of all windows
	Fail, Pass int32 // sums up to Fail are too small, and those above Pass are large enough
	_          int32
}

// verdict has bit 0 if a sum may pass, and bit 16 if it does for sure.
func (s *StageSums) verdict(sum int32) (bits uint32) {
	if sum > s.Fail {
		bits = 1
	}
	if sum > s.Pass {
		bits |= 1 << 16
	}
	return bits
}

// A HaarNode is a Haar-like feature and what it is compared with.
type HaarNode struct {
	Corners   [12]int32  // of up to three boxes, each p0 - p1 - p2 + p3: places after that of the window
	Weights   [3]float32 // of the boxes
	Threshold float32
	Delta     int32  // what it adds to the sums of windows that it hits: those whose value is less
	Boxes     int32  // 2 or 3
	Root      uint32 // all ones for the first of a chain. To the next come windows that this one does not hit
	Flip      uint32 // all ones if it hits windows whose value is not less
}

// Value is that of the feature in the window at this place.
func (n *HaarNode) Value(table []uint32, at int, norm float32) float32 {
	c := &n.Corners
	b0 := int32(table[at+int(c[0])] - table[at+int(c[1])] - table[at+int(c[2])] + table[at+int(c[3])])
	b1 := int32(table[at+int(c[4])] - table[at+int(c[5])] - table[at+int(c[6])] + table[at+int(c[7])])
	v := float32(n.Weights[0]*float32(b0)) + float32(n.Weights[1]*float32(b1))
	if n.Boxes > 2 {
		b2 := int32(table[at+int(c[8])] - table[at+int(c[9])] - table[at+int(c[10])] + table[at+int(c[11])])
		v += float32(n.Weights[2] * float32(b2))
	}
	return v * norm
}

// HaarStumps gives each group the bits of windows that may pass a stage of stumps, and 16
// bits further of those that do for sure. The first twos of the nodes have two boxes, and
// the others three. Bits of windows that are not alive are zero.
func HaarStumps(level processor.Level, results []uint32, g *Groups, table []uint32, nodes []HaarNode, twos int, sums *StageSums) {
	haarStage(lanesLevel(level, g.Lanes).haarStumps, results, g, table, nodes, twos, len(nodes)-twos, sums)
}

// HaarChains is [HaarStumps] for chains: trees of which each node has one child at most.
func HaarChains(level processor.Level, results []uint32, g *Groups, table []uint32, nodes []HaarNode, sums *StageSums) {
	haarStage(lanesLevel(level, g.Lanes).haarChains, results, g, table, nodes, 0, len(nodes), sums)
}

func haarStage(asm func(results, places, norms *byte, blocks int, table, nodes *byte, twos, threes int, sums *byte), results []uint32, g *Groups, table []uint32, nodes []HaarNode, twos, threes int, sums *StageSums) {
	if len(g.Places) == 0 {
		return
	}
	if asm != nil && len(nodes) > 0 {
		n, places := g.blocks()
		results = results[:n*blockGroups]
		asm(raster.First(results), raster.First(places), raster.First(g.Norms[:len(places)*g.Lanes]), n, raster.First(table), raster.First(nodes), twos, threes, (*byte)(unsafe.Pointer(sums)))
		maskAlive(results, g)
		return
	}
	for i, at := range g.Places {
		results[i] = 0
		for alive := g.Alive[i]; alive != 0; alive &= alive - 1 {
			lane := bits.TrailingZeros32(alive)
			sum, reach := sums.Base, false
			for k := range nodes {
				n := &nodes[k]
				if n.Root != 0 {
					reach = true
				}
				if reach && (n.Value(table, int(at)+lane, g.Norms[i*g.Lanes+lane]) < n.Threshold) != (n.Flip != 0) {
					sum += n.Delta
					reach = false
				}
			}
			results[i] |= sums.verdict(sum) << lane
		}
	}
}

// maskAlive clears the bits of windows that nobody asked for.
func maskAlive(results []uint32, g *Groups) {
	results = results[:len(g.Alive)]
	for i, alive := range g.Alive {
		results[i] &= alive | alive<<16
	}
}

// An LBPNode is a local binary pattern: which of eight blocks are no less than the one in
// their middle, and the patterns that it hits.
type LBPNode struct {
	Corners [16]int32 // of three by three blocks, row by row
	Subset  [8]uint32
	Delta   int32 // what it adds to the sums of windows that it hits
	_       [7]int32
}

// Hits reports whether the pattern of a window is in the subset.
func (n *LBPNode) Hits(table []uint32, at int) bool {
	var p [16]uint32
	for i, c := range n.Corners {
		p[i] = table[at+int(c)]
	}
	block := func(i int) int32 { return int32(p[i] - p[i+1] - p[i+4] + p[i+5]) }
	center := block(5)
	code := 0
	for _, i := range [8]int{0, 1, 2, 6, 10, 9, 8, 4} { // clockwise from the top left
		code <<= 1
		if block(i) >= center {
			code |= 1
		}
	}
	return n.Subset[code>>5]>>(code&31)&1 != 0
}

// LBPStumps is [HaarStumps] for local binary patterns.
func LBPStumps(level processor.Level, results []uint32, g *Groups, table []uint32, nodes []LBPNode, sums *StageSums) {
	if len(g.Places) == 0 {
		return
	}
	if asm := lanesLevel(level, g.Lanes).lbpStumps; asm != nil && len(nodes) > 0 {
		asm(raster.First(results[:len(g.Places)]), raster.First(g.Places), len(g.Places), raster.First(table), raster.First(nodes), len(nodes), (*byte)(unsafe.Pointer(sums)))
		maskAlive(results, g)
		return
	}
	for i, at := range g.Places {
		results[i] = 0
		for alive := g.Alive[i]; alive != 0; alive &= alive - 1 {
			lane := bits.TrailingZeros32(alive)
			sum := sums.Base
			for k := range nodes {
				if nodes[k].Hits(table, int(at)+lane) {
					sum += nodes[k].Delta
				}
			}
			results[i] |= sums.verdict(sum) << lane
		}
	}
}

// cutBits clears the bits of a last word that no window has.
func cutBits(words []uint64, n int) {
	if rest := n % 64; rest > 0 {
		words[n/64] &= 1<<rest - 1
	}
}

// HaarNorm is where the norm of a window comes from.
type HaarNorm struct {
	Sum, Squares [4]int32 // corners of its middle, in the tables of sums and of squares
	Area         float64  // of the middle
	Most         float32  // the largest norm of a window that is not flat
	_            float32
}

// SetContrast lets windows be flat whose standard deviation is no more than that.
func (n *HaarNorm) SetContrast(sigma float64) {
	// The largest float32 whose product with the area is less than 1/sigma, as OpenCV compares.
	limit, most := 1/sigma, float32(1/sigma/n.Area)
	for n.Area*float64(most) < limit {
		most = math.Nextafter32(most, math.MaxFloat32)
	}
	for !(n.Area*float64(most) < limit) {
		most = math.Nextafter32(most, 0)
	}
	n.Most = most
}

// HaarNorms is 1/(Area·σ) of each of neighbouring windows, and 0 of those that are flat.
func HaarNorms(level processor.Level, norms []float32, n *HaarNorm, table []uint32) {
	if asm := kernels[level].haarNorms; asm != nil && len(norms) > 0 {
		count := (len(norms) + Slack - 1) &^ (Slack - 1)
		asm(raster.First(norms[:count]), (*byte)(unsafe.Pointer(n)), raster.First(table), count)
		return
	}
	for i := range norms {
		s, q := &n.Sum, &n.Squares
		v := float64(int32(table[i+int(s[0])] - table[i+int(s[1])] - table[i+int(s[2])] + table[i+int(s[3])]))
		w := float64(table[i+int(q[0])] - table[i+int(q[1])] - table[i+int(q[2])] + table[i+int(q[3])])
		norm := float32(0)
		if nf := float64(n.Area*w) - float64(v*v); nf > 0 {
			if r := float32(1 / math.Sqrt(nf)); r <= n.Most {
				norm = r
			}
		}
		norms[i] = norm
	}
}

// BlendRows is a·(256-part) + b·part, less 1<<15 as a signed number, of two rows.
func BlendRows(level processor.Level, dst []int16, a, b []uint8, part int) {
	a, b = a[:len(dst)], b[:len(dst)]
	from := 0
	if asm := kernels[level].blendRows; asm != nil && len(dst) >= 16 {
		from = len(dst) &^ 15
		asm(raster.First(dst), raster.First(a), raster.First(b), from, uint64(part))
	}
	for i := from; i < len(dst); i++ {
		dst[i] = int16(int(a[i])*(256-part) + int(b[i])*part - 1<<15)
	}
}

// BlendColumns makes pixels from a row of [BlendRows]: each from that at its place and the
// next one. Parts are those of the two, 256 together, the first in the lower half.
func BlendColumns(level processor.Level, dst []uint8, row []int16, places []int32, parts []uint32) {
	places, parts = places[:len(dst)], parts[:len(dst)]
	from := 0
	if asm := kernels[level].blendColumns; asm != nil && len(dst) >= 8 {
		from = len(dst) &^ 7
		asm(raster.First(dst), raster.First(row), raster.First(places), raster.First(parts), from)
	}
	for i := from; i < len(dst); i++ {
		j := places[i]
		a, b := int(row[j])+1<<15, int(row[j+1])+1<<15
		dst[i] = uint8((a*int(parts[i]&0xffff) + b*int(parts[i]>>16) + 1<<15) >> 16)
	}
}

// Row makes a row of the tables of sums and of squares from a row of pixels and the
// rows above. Entry x+1 is that of pixels to x. With a half, entries of odd places lie that
// far behind those of even ones: entry x is at x/2, or half+x/2.
func Row(level processor.Level, sums, squares, sumsAbove, squaresAbove []uint32, pix []uint8, half int) {
	var s, q uint32
	sums[0], squares[0] = 0, 0
	from := 0
	if asm := kernels[level].cascadeRow; asm != nil && len(pix) >= 8 {
		from = len(pix) &^ 7
		asm(raster.First(sums), raster.First(squares), raster.First(sumsAbove), raster.First(squaresAbove), raster.First(pix), from, 4*half)
		i := from
		if half > 0 {
			i >>= 1
		}
		s, q = sums[i]-sumsAbove[i], squares[i]-squaresAbove[i]
	}
	for x := from; x < len(pix); x++ {
		p := pix[x]
		s += uint32(p)
		q += uint32(p) * uint32(p)
		i := x + 1
		if half > 0 {
			i = i>>1 + i&1*half
		}
		sums[i] = sumsAbove[i] + s
		squares[i] = squaresAbove[i] + q
	}
}

// TiltedRow makes a row of the table of tilted sums, of pixels or of their squares:
// entry X of row Y is the sum of pixels (x, y), y < Y and |x-X+1| < Y-y. Down and up are the
// diagonals that end in this row, from the left and from the right. They come as those of
// the row before and leave with this one: down[x] and up[x+1] go through pixel x, and up[0]
// through the one before the first. A diagonal keeps its place in memory, so that for the
// next row down starts an element before, and up one after. Halves are those of [Row].
func TiltedRow(level processor.Level, tilted, above, down, up []uint32, pix []uint8, half int, square bool) {
	tilted[0] = above[0] + up[0]
	down, up = down[:len(pix)], up[1:len(pix)+1]
	from := 0
	if asm := kernels[level].tiltedRow; asm != nil && len(pix) >= 8 {
		from = len(pix) &^ 7
		squares := 0
		if square {
			squares = 1
		}
		asm(raster.First(tilted), raster.First(above), raster.First(down), raster.First(up), raster.First(pix), from, 4*half, squares)
	}
	for x := from; x < len(pix); x++ {
		p := uint32(pix[x])
		if square {
			p *= p
		}
		down[x] += p
		up[x] += p
		i := x + 1
		if half > 0 {
			i = i>>1 + i&1*half
		}
		tilted[i] = above[i] + down[x] + up[x] - p
	}
}

// Flat is a bit for each norm that is 0.
func Flat(level processor.Level, words []uint64, norms []float32) {
	if asm := kernels[level].flat; asm != nil && len(words) > 0 {
		asm(raster.First(words), raster.First(norms[:64*len(words)]), len(words))
		cutBits(words, len(norms))
		return
	}
	for i := range words {
		word := uint64(0)
		for k, v := range norms[64*i : min(64*i+64, len(norms))] {
			if v == 0 {
				word |= 1 << k
			}
		}
		words[i] = word
	}
}
