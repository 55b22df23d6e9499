package detect

import (
	"cmp"
	"math"
	"slices"

	"github.com/boxsum/boxsum/internal/kernel/cascades"
	"github.com/boxsum/boxsum/internal/raster"
)

// A program is a cascade compiled for one table layout: it holds offsets in tables
// instead of points of the window. All layers of an image with the same step share a
// program.
type program struct {
	cascade *Cascade
	layout
	haar []cascades.HaarNode // all nodes, in file order
	lbp  []cascades.LBPNode
	norm cascades.HaarNorm

	stages    []programStage
	haarNodes []cascades.HaarNode // nodes of all stages, in the order of the kernels
	lbpNodes  []cascades.LBPNode
	path      []cascades.HaarNode // nodes of the current chain
	areas     [][9]int64          // areas of the blocks of patterns, on a lattice
	most      int                 // number of nodes above which a stage is summed leaf by leaf
}

// A programStage is a stage for kernels, with integer sums.
type programStage struct {
	nodes  span
	twos   int // number of stumps with two boxes, which come first
	chains bool
	exact  bool // no kernel supports the stage; leaves are summed one by one
	sums   cascades.StageSums
	unit   float64 // the value of one unit of its sums
}

// A layout describes a worker's tables, which follow one another in memory: sums,
// squares, tilted sums. If windows are two pixels apart, each row holds its even columns
// and then its odd ones, so that neighboring windows are adjacent in memory.
type layout struct {
	stride int // number of elements from row to row
	period int // columns with the same remainder modulo period are stored together
	half   int // distance between the parts of a row that hold different remainders
	odd    int // on a lattice, number of columns by which windows are shifted
	down   int // on a lattice, number of rows by which windows are shifted
	rows   int // number of rows per table
	width  int // width of the image
}

// layoutOf returns the layout for an image of this width and windows of this height.
func layoutOf(width, height, step int) layout {
	apart := max(step, 2) // layers need the same memory with and without a step
	half := raster.RoundUp((width+2)/apart+cascades.Slack, 16)
	l := layout{stride: apart*half + 16, rows: bandRows + height + 2 + 2*(apart-2), period: step, width: width} // an odd number of cache lines, so that rows do not compete for the same cache sets
	if step > 1 {
		l.half = half
	}
	return l
}

// tables returns the number of elements of n tables, including slack at the end.
func (l *layout) tables(n int) int {
	return n*l.rows*l.stride + raster.RoundUp(l.width+cascades.Slack, 16)
}

// at returns the offset of a point in a table, relative to the window's position.
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

// tables returns the number of tables that the cascade reads.
func (c *Cascade) tables() int {
	switch {
	case c.lattice != nil:
		return 4
	case c.tilted:
		return 3
	}
	return 2
}

// column returns the column of the layer in which the window at this position starts.
func (l *layout) column(at int) int {
	return at%l.stride*l.period + l.odd
}

// aim compiles the cascade for images of the given width, unless it is already compiled
// for them.
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
	p.norm = cascades.HaarNorm{Area: float64(w * h)}
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

// compile compiles the stages.
func (p *program) compile() {
	p.stages, p.haarNodes, p.lbpNodes = p.stages[:0], p.haarNodes[:0], p.lbpNodes[:0]
	for i := range p.cascade.stages {
		p.stages = append(p.stages, p.stage(&p.cascade.stages[i]))
	}
}

// stage compiles a stage. Leaves become multiples of a unit that is small enough for sums
// to take 30 bits. Rounding errors have a bound; only a sum whose distance to the
// threshold is below this bound must be computed again, leaf by leaf.
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
		slices.SortStableFunc(nodes, func(a, b cascades.HaarNode) int { return cmp.Compare(a.Boxes, b.Boxes) })
		for to.twos < len(nodes) && nodes[to.twos].Boxes == 2 {
			to.twos++
		}
	}
	return to
}

// leaf returns the value of a child that is a leaf, in units.
func (p *program) leaf(st *programStage, t *tree, child int32) int32 {
	return int32(math.RoundToEven(float64(p.cascade.leaves[t.leaves.first+^child]) / st.unit))
}

// chains appends the chains of a node. A node of a chain has at most one inner child. A
// node with two inner children starts a chain for each, whose value is zero on the other
// side.
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
		// The rest of the chain holds differences from this leaf.
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
		// Leaves of the nodes above must be counted only once.
		for k := range p.path {
			p.path[k].Delta = 0
		}
		p.path = append(p.path, n)
		p.chains(st, t, right)
	}
	p.path = p.path[:depth]
}

// sum returns the sum of stage k in a window, leaf by leaf as OpenCV computes it.
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

// upright and turned return the corners of a box in upright and tilted tables.
func upright(x, y, w, h int) [4][2]int {
	return [4][2]int{{x, y}, {x + w, y}, {x, y + h}, {x + w, y + h}}
}

func turned(x, y, w, h int) [4][2]int {
	return [4][2]int{{x, y}, {x - h, y + h}, {x + w, y + w}, {x + w - h, y + w + h}}
}

func (l *layout) haarNode(c *Cascade, f *feature, threshold float32) cascades.HaarNode {
	node := cascades.HaarNode{Weights: f.weights, Threshold: threshold, Boxes: 2}
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

func (l *layout) lbpNode(c *Cascade, i int) cascades.LBPNode {
	b := c.features[c.nodes[i].feature].boxes[0]
	node := cascades.LBPNode{Subset: c.subsets[i]}
	for k := range node.Corners {
		x, y := c.corner(int(b.x)+k%4*int(b.w), int(b.y)+k/4*int(b.h))
		node.Corners[k] = l.at(sumTable, x, y)
	}
	return node
}
