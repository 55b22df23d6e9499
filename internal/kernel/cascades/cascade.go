// Package cascades holds the inner loops of cascade detectors. The portable Go loops are the
// specification; the assembly returns the same bits.
package cascades

import (
	"math"
	"math/bits"
	"unsafe"

	"github.com/boxsum/boxsum/internal/kernel/processor"
	"github.com/boxsum/boxsum/internal/raster"
)

// The detectors need scaled layers of an image, their tables row by row, and the stages of a
// cascade for many windows at a time. Windows are processed in groups of neighbors, each group at
// one position of the table. All features are those of OpenCV's detectMultiScale, and no
// multiply-add is fused. The sums of a stage are integers in units so small that they decide nearly
// all windows. For the remaining windows, which are in doubt, the caller must add the leaves in
// OpenCV's order.

// Slack is the number of elements after the last window that kernels may read in tables, and read
// and write in slices of windows.
const Slack = 16

// GroupLanes is the largest number of windows in a group: wide levels have 16, others 8.
const GroupLanes = 16

// blockGroups is the number of groups that kernels process at a time.
const blockGroups = 4

// routines holds the assembly of a level; nil means that the portable loop is used.
type routines struct {
	haarStumps, haarChains func(results, places, norms *byte, blocks int, table, nodes *byte, twos, threes int, sums *byte)
	lbpStumps              func(results, places *byte, groups int, table, nodes *byte, count int, sums *byte)
	flat                   func(bits, norms *byte, words int)
	haarNorms              func(dst, norm, table *byte, n int)
	blendRows              func(dst, a, b *byte, n int, part uint64)
	blendColumns           func(dst, row, places, parts *byte, n, length int)
	cascadeRow             func(sums, squares, sumsAbove, squaresAbove, pix *byte, n, half int)
	tiltedRow              func(tilted, above, down, up, pix *byte, n, half, square int)
}

// LanesOf returns the number of windows in a group at a level.
func LanesOf(level processor.Level) int {
	if level > processor.Portable && kernels[level-1].haarStumps != nil {
		return 16
	}
	return 8
}

// lanesLevel returns the routines for groups of the given number of windows.
func lanesLevel(level processor.Level, lanes int) *routines {
	if lanes < LanesOf(level) {
		level--
	}
	return &kernels[level]
}

// Groups holds groups of windows. The slices have room for a multiple of 4 groups.
type Groups struct {
	Lanes  int
	Places []int32   // position of each group's first window; the others are adjacent to it
	Alive  []uint32  // one bit for each window of a group, set while it must be evaluated
	Norms  []float32 // norms of all windows, Lanes per group; local binary patterns have none
}

// Resize sets the number of groups.
func (g *Groups) Resize(n int) {
	g.Places, g.Alive, g.Norms = g.Places[:n], g.Alive[:n], g.Norms[:n*g.Lanes]
}

// NewGroups returns an empty Groups with room for n groups.
func NewGroups(lanes, n int) Groups {
	n = (n + blockGroups - 1) &^ (blockGroups - 1)
	return Groups{lanes, make([]int32, 0, n), make([]uint32, 0, n), make([]float32, 0, n*lanes)}
}

// blocks returns the number of blocks, and the positions padded to whole blocks.
func (g *Groups) blocks() (n int, places []int32) {
	n = (len(g.Places) + blockGroups - 1) / blockGroups
	places = g.Places[:n*blockGroups]
	for i := len(g.Places); i < len(places); i++ {
		places[i] = places[0]
	}
	return n, places
}

// StageSums holds the limits that turn the sum of a stage into a verdict on the window.
type StageSums struct {
	Base       int32 // start value of every window's sum
	Fail, Pass int32 // a window fails if its sum is at most Fail, and passes if it exceeds Pass
	_          int32
}

// verdict returns bit 0 if a window with this sum may pass, and bit 16 if it certainly passes.
func (s *StageSums) verdict(sum int32) (bits uint32) {
	if sum > s.Fail {
		bits = 1
	}
	if sum > s.Pass {
		bits |= 1 << 16
	}
	return bits
}

// A HaarNode is a Haar-like feature with its threshold.
type HaarNode struct {
	Corners   [12]int32  // corners of up to three boxes, each with the sum p0 - p1 - p2 + p3, relative to the window's position
	Weights   [3]float32 // of the boxes
	Threshold float32
	Delta     int32  // added to the sum of windows that match, which are those whose value is below Threshold
	Boxes     int32  // 2 or 3
	Root      uint32 // all ones for the first node of a chain; later nodes only see windows that have not matched
	Flip      uint32 // all ones if windows match whose value is not below Threshold
}

// Value returns the value of the feature in the window at a position of the table.
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

// HaarStumps evaluates a stage of stumps. The result of each group has one bit for each window that
// may pass and, 16 bits higher, one for each that certainly passes. The first twos nodes have two
// boxes, and the others three. Bits of windows that are not alive are zero.
func HaarStumps(level processor.Level, results []uint32, g *Groups, table []uint32, nodes []HaarNode, twos int, sums *StageSums) {
	haarStage(lanesLevel(level, g.Lanes).haarStumps, results, g, table, nodes, twos, len(nodes)-twos, sums)
}

// HaarChains is like [HaarStumps] for chains, which are trees in which every node has at most one
// child.
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

// maskAlive clears the bits of windows that are not alive.
func maskAlive(results []uint32, g *Groups) {
	results = results[:len(g.Alive)]
	for i, alive := range g.Alive {
		results[i] &= alive | alive<<16
	}
}

// An LBPNode is a local binary pattern, which compares eight blocks with the one in their middle,
// and the subset of patterns that match.
type LBPNode struct {
	Corners [16]int32 // corners of the 3×3 blocks, row by row
	Subset  [8]uint32
	Delta   int32 // added to the sum of windows that match
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

// LBPStumps is like [HaarStumps] for local binary patterns.
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

// cutBits clears the bits beyond n in the last word.
func cutBits(words []uint64, n int) {
	if rest := n % 64; rest > 0 {
		words[n/64] &= 1<<rest - 1
	}
}

// HaarNorm describes how the norm of a window is computed.
type HaarNorm struct {
	Sum, Squares [4]int32 // corners of the window's inner rectangle, in the tables of sums and of squares
	Area         float64  // of the inner rectangle
	Most         float32  // the largest norm of a window that is not flat
	_            float32
}

// SetContrast treats windows as flat if their standard deviation is at most sigma.
func (n *HaarNorm) SetContrast(sigma float64) {
	// Find the largest float32 whose product with the area is less than 1/sigma, because OpenCV
	// compares these.
	limit, most := 1/sigma, float32(1/sigma/n.Area)
	for n.Area*float64(most) < limit {
		most = math.Nextafter32(most, math.MaxFloat32)
	}
	for !(n.Area*float64(most) < limit) {
		most = math.Nextafter32(most, 0)
	}
	n.Most = most
}

// HaarNorms sets norms to 1/(Area·σ) for neighboring windows, and to 0 for flat ones.
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

// BlendRows sets dst to a·(256-part) + b·part - 1<<15, a blend of two rows as signed integers.
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

// BlendColumns computes pixels from a row of [BlendRows]. Each pixel blends the element at its
// place with the next one; places do not decrease. The low half of its entry in parts is the weight
// of the first element and the high half that of the second, which add up to 256.
func BlendColumns(level processor.Level, dst []uint8, row []int16, places []int32, parts []uint32) {
	places, parts = places[:len(dst)], parts[:len(dst)]
	const lanes = 16
	if asm := kernels[level].blendColumns; asm != nil && len(dst) >= lanes {
		n := len(dst)
		asm(raster.First(dst), raster.First(row), raster.First(places), raster.First(parts), n&^(lanes-1), len(row))
		if n%lanes > 0 { // the last whole vector, again
			k := n - lanes
			asm(raster.First(dst[k:]), raster.First(row), raster.First(places[k:]), raster.First(parts[k:]), lanes, len(row))
		}
		return
	}
	for i := range dst {
		j := places[i]
		a, b := int(row[j])+1<<15, int(row[j+1])+1<<15
		dst[i] = uint8((a*int(parts[i]&0xffff) + b*int(parts[i]>>16) + 1<<15) >> 16)
	}
}

// Row computes a row of the tables of sums and of squares from a row of pixels and the table rows
// above. Entry x+1 includes the pixels up to x. If half is not zero, even and odd entries are
// stored in separate halves of the row: even entry x at x/2, odd entry x at half+x/2.
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

// TiltedRow computes a row of the table of tilted sums of pixels, or of their squares: entry X of
// row Y is the sum of the pixels (x, y) with y < Y and |x-X+1| < Y-y. down and up are the sums
// along the diagonals that end in this row, from the left and from the right. The caller passes
// those of the previous row, and TiltedRow updates them: down[x] and up[x+1] include pixel x, and
// up[0] includes the pixel to the left of the first. A diagonal stays at the same place in memory,
// so for the next row down begins one element earlier and up one element later. half is as for
// [Row].
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

// Flat sets a bit for each norm that is 0.
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
