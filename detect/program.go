package detect

import (
	"cmp"
	"math"
	"slices"

	"github.com/boxsum/boxsum/internal/grid"
	"github.com/boxsum/boxsum/internal/kernel"
)

// A program is a cascade for tables of one layout: places of a table instead of points of a
// window. All layers of an image with the same step share one.
type program struct {
	cascade *Cascade
	layout
	haar []kernel.HaarNode // of all nodes, in the order of the file
	lbp  []kernel.LBPNode
	norm kernel.HaarNorm

	stages    []programStage
	haarNodes []kernel.HaarNode // of all stages, in the order of kernels
	lbpNodes  []kernel.LBPNode
	path      []kernel.HaarNode // of a chain
	areas     [][9]int64        // of the blocks of patterns on a lattice
	most      int               // nodes, before a stage is left to sums leaf by leaf
}

// A programStage is a stage for kernels: sums of whole numbers.
type programStage struct {
	nodes  span
	twos   int // stumps of two boxes, which come first
	chains bool
	exact  bool // no kernel can, and leaves are summed one by one
	sums   kernel.StageSums
	unit   float64 // of sums
}

// A layout is how the tables of a worker lie in its memory, one after the other: sums,
// squares, tilted sums. Where windows are two apart, a row has its entries of even columns
// first, and then those of odd ones, so that neighbouring windows are neighbours there too.
type layout struct {
	stride int // elements from a row to the next
	period int // columns that lie apart: those of windows are a multiple of it, and lie together
	half   int // from a column to the next, if they lie apart
	odd    int // of windows between: how many columns they are further than the place that they have
	down   int // and how many rows, on a lattice
	rows   int // of a table
	width  int // of the image
}

// layoutOf is that for an image of this width and windows of that height.
func layoutOf(width, height, step int) layout {
	apart := max(step, 2) // layers with and without take the same memory
	half := grid.RoundUp((width+2)/apart+kernel.CascadeSlack, 16)
	l := layout{stride: apart*half + 16, rows: bandRows + height + 2 + 2*(apart-2), period: step, width: width} // an odd number of lines: rows do not meet in the caches
	if step > 1 {
		l.half = half
	}
	return l
}

// tables is how many elements some tables take, with slack at the end.
func (l *layout) tables(n int) int {
	return n*l.rows*l.stride + grid.RoundUp(l.width+kernel.CascadeSlack, 16)
}

// at is the place of a point in a table, counted from that of a window.
func (l *layout) at(table, x, y int) int32 {
	if l.period > 1 {
		x += l.odd
		x = x/l.period + x%l.period*l.half
	}
	return int32((table*l.rows+y)*l.stride + x)
}

const (
	sumTable = iota
	squareTable
	tiltedTable
)

// tables is how many of them the cascade reads.
func (c *Cascade) tables() int {
	switch {
	case c.lattice != nil:
		return 4
	case c.tilted:
		return 3
	}
	return 2
}

// column is that of the layer in which a window at this place starts.
func (l *layout) column(at int) int {
	return at%l.stride*l.period + l.odd
}

// aim makes a program for an image of this width, unless it is that already.
func (p *program) aim(c *Cascade, width, step, odd, down int) {
	l := layoutOf(width, c.size.Y, step)
	l.odd, l.down = odd, down
	if p.cascade == c && p.layout == l {
		return
	}
	p.cascade, p.layout = c, l
	if c.lattice != nil {
		p.layOut(c)
		p.compile()
		return
	}
	w, h := c.size.X-2, c.size.Y-2
	if c.diagonal {
		w, h = c.upright.X-2, c.upright.Y-2
	}
	p.norm = kernel.HaarNorm{Area: float64(w * h)}
	if c.diagonal {
		p.norm.Area *= 2
	}
	for i, at := range upright(1, 1, w, h) {
		x, y := c.corner(at[0], at[1])
		p.norm.Sum[i], p.norm.Squares[i] = l.at(sumTable, x, y), l.at(squareTable, x, y)
	}
	p.haar, p.lbp = p.haar[:0], p.lbp[:0]
	for i := range c.nodes {
		if c.kind == LBP {
			p.lbp = append(p.lbp, l.lbpNode(c, i))
		} else {
			p.haar = append(p.haar, l.haarNode(c, &c.features[c.nodes[i].feature], c.nodes[i].threshold))
		}
	}
	p.compile()
}

// compile makes stages of nodes.
func (p *program) compile() {
	p.stages, p.haarNodes, p.lbpNodes = p.stages[:0], p.haarNodes[:0], p.lbpNodes[:0]
	for i := range p.cascade.stages {
		p.stages = append(p.stages, p.stage(&p.cascade.stages[i]))
	}
}

// stage makes a stage for kernels. Leaves become multiples of a unit, so small that sums
// have 30 bits. What rounding does to them is known: only sums nearer than that to the
// threshold are in doubt.
func (p *program) stage(st *stage) (to programStage) {
	c := p.cascade
	trees := c.trees[st.trees.first:st.trees.end]
	total := 0.0
	for _, t := range trees {
		largest := 0.0
		for _, v := range c.leaves[t.leaves.first:t.leaves.end] {
			largest = max(largest, math.Abs(float64(v)))
		}
		total += largest
	}
	_, exponent := math.Frexp(total)
	to.unit = math.Ldexp(1, exponent-29)
	threshold, slack := float64(st.threshold)/to.unit, float64(len(trees))/2+2
	if math.IsNaN(total) || math.IsInf(total, 0) || math.IsNaN(threshold) {
		to.exact = true
		return to
	}
	whole := func(v float64) int32 { return int32(min(max(math.Ceil(v)-1, math.MinInt32), math.MaxInt32)) }
	to.sums.Fail, to.sums.Pass = whole(threshold-slack), whole(threshold+slack)
	to.chains = !st.stumps
	if c.kind == LBP {
		to.nodes.first = int32(len(p.lbpNodes))
		if to.exact = to.chains || c.lattice != nil; to.exact {
			return to
		}
		for _, t := range trees {
			n := p.lbp[t.nodes.first]
			left, right := p.leaf(&to, &t, c.nodes[t.nodes.first].left), p.leaf(&to, &t, c.nodes[t.nodes.first].right)
			n.Delta = left - right
			to.sums.Base += right
			p.lbpNodes = append(p.lbpNodes, n)
		}
		to.nodes.end = int32(len(p.lbpNodes))
		return to
	}
	first := len(p.haarNodes)
	to.nodes.first = int32(first)
	p.most = first
	for i := range trees {
		t := &trees[i]
		p.most += 4*t.nodes.len() + 4
		p.path = p.path[:0]
		p.chains(&to, t, 0)
		if len(p.haarNodes) > p.most { // a tree with too many branches
			p.haarNodes = p.haarNodes[:first]
			to.exact = true
			return to
		}
	}
	to.nodes.end = int32(len(p.haarNodes))
	if !to.chains {
		nodes := p.haarNodes[first:]
		slices.SortStableFunc(nodes, func(a, b kernel.HaarNode) int { return cmp.Compare(a.Boxes, b.Boxes) })
		for to.twos < len(nodes) && nodes[to.twos].Boxes == 2 {
			to.twos++
		}
	}
	return to
}

// leaf is the one that a child stands for, in units.
func (p *program) leaf(st *programStage, t *tree, child int32) int32 {
	return int32(math.RoundToEven(float64(p.cascade.leaves[t.leaves.first+^child]) / st.unit))
}

// chains appends the chains of a node of a tree. Chains have one inner child at most: where a
// node has two, it is the first of one chain for each, which is zero on the other side.
func (p *program) chains(st *programStage, t *tree, i int32) {
	if len(p.haarNodes) > p.most {
		return
	}
	from := &p.cascade.nodes[t.nodes.first+i]
	n := p.haar[t.nodes.first+i]
	if len(p.path) == 0 {
		n.Root = ^uint32(0)
	}
	depth := len(p.path)
	switch left, right := from.left, from.right; {
	case left < 0 && right < 0:
		// The rest of the chain is what its other leaves differ from.
		base := p.leaf(st, t, right)
		n.Delta = p.leaf(st, t, left) - base
		for _, above := range p.path {
			above.Delta -= base
			p.haarNodes = append(p.haarNodes, above)
		}
		p.haarNodes = append(p.haarNodes, n)
		st.sums.Base += base
	case left < 0:
		n.Delta = p.leaf(st, t, left)
		p.path = append(p.path, n)
		p.chains(st, t, right)
	case right < 0:
		n.Delta, n.Flip = p.leaf(st, t, right), ^uint32(0)
		p.path = append(p.path, n)
		p.chains(st, t, left)
	default:
		n.Flip = ^uint32(0)
		p.path = append(p.path, n)
		p.chains(st, t, left)
		p.path = p.path[:depth]
		n.Flip = 0
		// Leaves of nodes above are counted once.
		for k := range p.path {
			p.path[k].Delta = 0
		}
		p.path = append(p.path, n)
		p.chains(st, t, right)
	}
	p.path = p.path[:depth]
}

// sum is that of stage k in a window, leaf by leaf as OpenCV makes it.
func (p *program) sum(k int, table []uint32, at int, norm float32) (sum float64) {
	c := p.cascade
	st := &c.stages[k]
	for i := st.trees.first; i < st.trees.end; i++ {
		t := &c.trees[i]
		j := int32(0)
		for {
			n := &c.nodes[t.nodes.first+j]
			left := false
			if c.kind == LBP && c.lattice != nil {
				left = p.hits(t.nodes.first+j, table, at)
			} else if c.kind == LBP {
				left = p.lbp[t.nodes.first+j].Hits(table, at)
			} else {
				left = p.haar[t.nodes.first+j].Value(table, at, norm) < n.threshold
			}
			if j = n.right; left {
				j = n.left
			}
			if j < 0 {
				sum += float64(c.leaves[t.leaves.first+^j])
				break
			}
		}
	}
	return sum
}

// upright and turned are the corners of a box, in tables of their kind.
func upright(x, y, w, h int) [4][2]int {
	return [4][2]int{{x, y}, {x + w, y}, {x, y + h}, {x + w, y + h}}
}

func turned(x, y, w, h int) [4][2]int {
	return [4][2]int{{x, y}, {x - h, y + h}, {x + w, y + w}, {x + w - h, y + w + h}}
}

func (l *layout) haarNode(c *Cascade, f *feature, threshold float32) kernel.HaarNode {
	node := kernel.HaarNode{Weights: f.weights, Threshold: threshold, Boxes: 2}
	if f.weights[2] != 0 {
		node.Boxes = 3
	}
	for i, b := range f.boxes {
		table, corners := sumTable, upright(int(b.x), int(b.y), int(b.w), int(b.h))
		if f.tilted {
			table, corners = tiltedTable, turned(int(b.x), int(b.y), int(b.w), int(b.h))
		}
		for k, at := range corners {
			x, y := c.corner(at[0], at[1])
			node.Corners[4*i+k] = l.at(table, x, y)
		}
	}
	return node
}

func (l *layout) lbpNode(c *Cascade, i int) kernel.LBPNode {
	b := c.features[c.nodes[i].feature].boxes[0]
	node := kernel.LBPNode{Subset: c.subsets[i]}
	for k := range node.Corners {
		x, y := c.corner(int(b.x)+k%4*int(b.w), int(b.y)+k/4*int(b.h))
		node.Corners[k] = l.at(sumTable, x, y)
	}
	return node
}
