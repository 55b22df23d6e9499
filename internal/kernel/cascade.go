package kernel

import "math"

// What detectors by cascades need: layers of an image, their tables row by row, and the
// stages of a cascade in many windows at a time. Windows are either neighbours in a row,
// every one of them a place of the table, or at places of a list. All numbers are those of
// OpenCV's detectMultiScale, and nothing is fused.

// CascadeSlack is how many elements beyond the last window kernels may read in tables, and
// read and write in the slices of windows.
const CascadeSlack = 16

// A HaarNode is a Haar-like feature and what it is compared with.
type HaarNode struct {
	Corners   [12]int32  // of up to three boxes, each p0 - p1 - p2 + p3: places after that of the window
	Weights   [3]float32 // of the boxes
	Threshold float32
	Leaves    [2]float32 // of a stump: less than the threshold, or not
	Boxes     int32      // 2 or 3
	_         int32
}

// value is that of the feature in the window at this place.
func (n *HaarNode) value(table []uint32, at int, norm float32) float32 {
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

// place is that of window i: in a row, or in a list.
func place(at []int32, i int) int {
	if at == nil {
		return i
	}
	return int(at[i])
}

// HaarStumps adds the leaves of stumps to the sum of each window. Windows are those at the
// places at, or neighbours from place 0 on if at is nil.
func HaarStumps(level Level, sums []float64, nodes []HaarNode, table []uint32, at []int32, norms []float32) {
	for k := range nodes {
		n := &nodes[k]
		for i := range sums {
			leaf := n.Leaves[1]
			if n.value(table, place(at, i), norms[i]) < n.Threshold {
				leaf = n.Leaves[0]
			}
			sums[i] += float64(leaf)
		}
	}
}

// HaarSplit is a node of a tree: to each window it gives the value of left or right. A nil
// slice stands for the node's leaf.
func HaarSplit(level Level, dst []float32, n *HaarNode, table []uint32, at []int32, norms, left, right []float32) {
	for i := range dst {
		v := n.Leaves[1]
		if right != nil {
			v = right[i]
		}
		if n.value(table, place(at, i), norms[i]) < n.Threshold {
			v = n.Leaves[0]
			if left != nil {
				v = left[i]
			}
		}
		dst[i] = v
	}
}

// An LBPNode is a local binary pattern: which of eight blocks are no less than the one in
// their middle, and the patterns that go left.
type LBPNode struct {
	Corners [16]int32 // of three by three blocks, row by row
	Subset  [8]uint32
	Leaves  [2]float32
	_       [6]int32
}

// left reports whether the pattern of a window is in the subset.
func (n *LBPNode) left(table []uint32, at int) bool {
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

// LBPStumps adds the leaves of stumps to the sum of each window, see [HaarStumps].
func LBPStumps(level Level, sums []float64, nodes []LBPNode, table []uint32, at []int32) {
	for k := range nodes {
		n := &nodes[k]
		for i := range sums {
			leaf := n.Leaves[1]
			if n.left(table, place(at, i)) {
				leaf = n.Leaves[0]
			}
			sums[i] += float64(leaf)
		}
	}
}

// LBPSplit is a node of a tree, see [HaarSplit].
func LBPSplit(dst []float32, n *LBPNode, table []uint32, at []int32, left, right []float32) {
	for i := range dst {
		v := n.Leaves[1]
		if right != nil {
			v = right[i]
		}
		if n.left(table, place(at, i)) {
			v = n.Leaves[0]
			if left != nil {
				v = left[i]
			}
		}
		dst[i] = v
	}
}

// AddLeaves adds leaves to sums.
func AddLeaves(level Level, sums []float64, leaves []float32) {
	leaves = leaves[:len(sums)]
	for i, v := range leaves {
		sums[i] += float64(v)
	}
}

// Passed is a bit for each window whose sum is no less than the threshold, 64 to a word.
func Passed(level Level, bits []uint64, sums []float64, threshold float32) {
	t := float64(threshold)
	for i := range bits {
		word := uint64(0)
		for k, v := range sums[64*i : min(64*i+64, len(sums))] {
			if !(v < t) {
				word |= 1 << k
			}
		}
		bits[i] = word
	}
}

// HaarNorm is where the norm of a window comes from.
type HaarNorm struct {
	Sum, Squares [4]int32 // corners of its middle, in the tables of sums and of squares
	Area         float64  // of the middle
	Flat         float64  // less than 1/σ of a window that is flat
}

// HaarNorms is 1/(Area·σ) of each of neighbouring windows, and 0 of those that are flat.
func HaarNorms(level Level, norms []float32, n *HaarNorm, table []uint32) {
	for i := range norms {
		s, q := &n.Sum, &n.Squares
		v := float64(int32(table[i+int(s[0])] - table[i+int(s[1])] - table[i+int(s[2])] + table[i+int(s[3])]))
		w := float64(table[i+int(q[0])] - table[i+int(q[1])] - table[i+int(q[2])] + table[i+int(q[3])])
		norm := float32(0)
		if nf := float64(n.Area*w) - float64(v*v); nf > 0 {
			if r := float32(1 / math.Sqrt(nf)); n.Area*float64(r) < n.Flat {
				norm = r
			}
		}
		norms[i] = norm
	}
}

// BlendRows is a·(256-part) + b·part, less 1<<15 as a signed number, of two rows.
func BlendRows(level Level, dst []int16, a, b []uint8, part int) {
	a, b = a[:len(dst)], b[:len(dst)]
	for i := range dst {
		dst[i] = int16(int(a[i])*(256-part) + int(b[i])*part - 1<<15)
	}
}

// BlendColumns makes pixels from a row of [BlendRows]: each from that at its place and the
// next one. Parts are those of the two, 256 together, the first in the lower half.
func BlendColumns(level Level, dst []uint8, row []int16, places []int32, parts []uint32) {
	places, parts = places[:len(dst)], parts[:len(dst)]
	for i, j := range places {
		a, b := int(row[j])+1<<15, int(row[j+1])+1<<15
		dst[i] = uint8((a*int(parts[i]&0xffff) + b*int(parts[i]>>16) + 1<<15) >> 16)
	}
}

// CascadeRow makes a row of the tables of sums and of squares from a row of pixels and the
// rows above. Entry x+1 is that of pixels to x. With a half, entries of odd places lie that
// far behind those of even ones: entry x is at x/2, or half+x/2.
func CascadeRow(level Level, sums, squares, sumsAbove, squaresAbove []uint32, pix []uint8, half int) {
	var s, q uint32
	sums[0], squares[0] = 0, 0
	for x, p := range pix {
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

// TiltedCascadeRow makes a row of the table of tilted sums: entry X of row Y is the sum of
// pixels (x, y), y < Y and |x-X+1| < Y-y. The diagonals through the row before come in down
// and up, of len(pix)+2 entries, and those through this row leave in them.
func TiltedCascadeRow(tilted, above []uint32, down, up []uint32, pix []uint8, half int) {
	// down[x+1] is the diagonal that ends at pixel x from the left, up[x+1] from the right.
	n := len(pix)
	copy(down[1:n+1], down[:n])
	down[0] = 0
	copy(up[:n+1], up[1:n+2])
	up[n+1] = 0
	for x, p := range pix {
		down[x+1] += uint32(p)
		up[x+1] += uint32(p)
	}
	for x := range n + 1 {
		i := x
		if half > 0 {
			i = i>>1 + i&1*half
		}
		v := above[i] + down[x] + up[x]
		if x > 0 {
			v -= uint32(pix[x-1])
		}
		tilted[i] = v
	}
}

// Flat is a bit for each norm that is 0.
func Flat(level Level, bits []uint64, norms []float32) {
	for i := range bits {
		word := uint64(0)
		for k, v := range norms[64*i : min(64*i+64, len(norms))] {
			if v == 0 {
				word |= 1 << k
			}
		}
		bits[i] = word
	}
}
