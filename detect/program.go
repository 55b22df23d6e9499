package detect

import (
	"github.com/boxsum/boxsum/internal/grid"
	"github.com/boxsum/boxsum/internal/kernel"
)

// A program is a cascade for tables of one layout: places of a table instead of points of a
// window. All layers of an image with the same step share one.
type program struct {
	cascade *Cascade
	layout
	haar []kernel.HaarNode // of all nodes
	lbp  []kernel.LBPNode
	norm kernel.HaarNorm
}

// A layout is how the tables of a worker lie in its memory, one after the other: sums,
// squares, tilted sums. Where windows are two apart, a row has its entries of even columns
// first, and then those of odd ones, so that neighbouring windows are neighbours there too.
type layout struct {
	stride int // elements from a row to the next
	half   int // from an even column to the next, or 0
	rows   int // of a table
	width  int // of the image
}

// layoutOf is that for an image of this width and windows of that height.
func layoutOf(width, height, step int) layout {
	half := grid.RoundUp((width+2)/2+kernel.CascadeSlack, 16)
	l := layout{stride: 2*half + 16, rows: bandRows + height, width: width} // an odd number of lines: rows do not meet in the caches
	if step == 2 {
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
	if l.half > 0 {
		x = x>>1 + x&1*l.half
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
	if c.tilted {
		return 3
	}
	return 2
}

// aim makes a program for an image of this width, unless it is that already.
func (p *program) aim(c *Cascade, width, step int) {
	l := layoutOf(width, c.size.Y, step)
	if p.cascade == c && p.layout == l {
		return
	}
	p.cascade, p.layout = c, l
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
	for _, t := range c.trees {
		for i := t.nodes.first; i < t.nodes.end; i++ {
			n := &c.nodes[i]
			var leaves [2]float32
			for k, child := range [2]int32{n.left, n.right} {
				if child < 0 {
					leaves[k] = c.leaves[t.leaves.first+^child]
				}
			}
			if c.kind == LBP {
				p.lbp = append(p.lbp, l.lbpNode(c, i, leaves))
			} else {
				p.haar = append(p.haar, l.haarNode(c, &c.features[n.feature], n.threshold, leaves))
			}
		}
	}
}

// upright and turned are the corners of a box, in tables of their kind.
func upright(x, y, w, h int) [4][2]int {
	return [4][2]int{{x, y}, {x + w, y}, {x, y + h}, {x + w, y + h}}
}

func turned(x, y, w, h int) [4][2]int {
	return [4][2]int{{x, y}, {x - h, y + h}, {x + w, y + w}, {x + w - h, y + w + h}}
}

func (l *layout) haarNode(c *Cascade, f *feature, threshold float32, leaves [2]float32) kernel.HaarNode {
	node := kernel.HaarNode{Weights: f.weights, Threshold: threshold, Leaves: leaves, Boxes: 2}
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

func (l *layout) lbpNode(c *Cascade, i int32, leaves [2]float32) kernel.LBPNode {
	b := c.features[c.nodes[i].feature].boxes[0]
	node := kernel.LBPNode{Subset: c.subsets[i], Leaves: leaves}
	for k := range node.Corners {
		x, y := c.corner(int(b.x)+k%4*int(b.w), int(b.y)+k/4*int(b.h))
		node.Corners[k] = l.at(sumTable, x, y)
	}
	return node
}
