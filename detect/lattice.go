package detect

import (
	"image"
	"math"
	"slices"
	"sync/atomic"

	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/kernel/cascades"
	"github.com/boxsum/boxsum/internal/raster"
)

// On rotated tables, the boxes of a cascade lie along the digital lines of a ratio a/b, as
// in package rotated: pixel (x, y) is in column x - ⌊a·y/b⌋ and row y + ⌊a·x/b⌋. Boxes of
// equal size differ in their number of pixels there, so each weight is multiplied by the
// nominal number of pixels over the actual one. The pattern repeats every b pixels to the
// right and downwards: windows a multiple of b apart share a program, and are adjacent in a
// table that stores every step-th column together.

// A ratio is a/b, the tangent of the angle at which rows rise to the right, with 0 < a < b.
type ratio struct{ a, b int }

// mostRatio is the largest numerator or denominator of a ratio. Larger numbers would
// place windows too far apart.
const mostRatio = 5

func (r ratio) degrees() float64 { return math.Atan2(float64(r.a), float64(r.b)) * 180 / math.Pi }

// slope returns ⌊a·n/b⌋.
func (r ratio) slope(n int) int {
	q := r.a * n / r.b
	if r.a*n%r.b < 0 {
		q--
	}
	return q
}

// ratioOf returns the ratio nearest to an angle from 0° to 45°, which may be 0/1 or 1/1.
func ratioOf(degrees float64) ratio {
	best := ratio{0, 1}
	for b := 1; b <= mostRatio; b++ {
		for a := range b + 1 {
			if r := (ratio{a, b}); math.Abs(r.degrees()-degrees) < math.Abs(best.degrees()-degrees)-1e-9 {
				best = r
			}
		}
	}
	return best
}

// A lattice describes how a cascade is laid out along digital lines.
type lattice struct {
	ratio
	tan, cos, sin float64
	step          int     // distance between windows, in pixels of a layer: two units of the cascade
	left, top     float64 // the window's own corner within the enclosing upright window
	phases        [9]atomic.Pointer[phase]
}

// grow returns the number of a layer's pixels per unit of the cascade, along the cascade's
// sides.
func (c *Cascade) grow() float64 {
	switch {
	case c.lattice != nil:
		return float64(c.lattice.step) / 2
	case c.diagonal:
		return math.Sqrt2
	}
	return 1
}

// margin is the minimum number of pixels around a window, whose edges are rounded.
const margin = 2

// onLines returns the cascade rotated by the pose's quarter turns and then counterclockwise
// onto digital lines of the pose's ratio. The result is cached.
func (c *Cascade) onLines(p pose) *Cascade {
	if t, ok := c.lattices.Load(p); ok {
		return t.(*Cascade)
	}
	t := &Cascade{
		kind: c.kind, size: c.size, stages: c.stages, trees: c.trees, nodes: c.nodes, leaves: c.leaves,
		subsets: append([][subsetWords]uint32(nil), c.subsets...), features: append([]feature(nil), c.features...),
	}
	if p.mirrored != p.flipped {
		t.mirror()
	}
	for range p.quarters {
		t.quarter()
	}
	t.upright = t.size
	r := p.ratio
	l := &lattice{ratio: r, tan: float64(r.a) / float64(r.b), step: 4 / r.b * r.b}
	for l.step < 4 {
		l.step += r.b
	}
	l.cos = 1 / math.Sqrt(1+float64(l.tan*l.tan))
	l.sin = l.tan * l.cos
	t.lattice = l
	w, h := t.grow()*float64(t.size.X), t.grow()*float64(t.size.Y)
	width, height := float64(w*l.cos)+float64(h*l.sin), float64(w*l.sin)+float64(h*l.cos)
	t.size = image.Pt(int(math.Ceil(width))+2*margin, int(math.Ceil(height))+2*margin)
	l.left, l.top = (float64(t.size.X)-width)/2, (float64(t.size.Y)-height)/2+float64(w*l.sin)
	at, _ := c.lattices.LoadOrStore(p, t)
	return at.(*Cascade)
}

// mirror exchanges left and right.
func (c *Cascade) mirror() {
	for i := range c.features {
		for k := range c.features[i].boxes {
			b := &c.features[i].boxes[k]
			across := b.w
			if c.kind == LBP {
				across *= 3
			}
			b.x = int16(c.size.X) - b.x - across
		}
	}
	for i := range c.subsets {
		from := c.subsets[i]
		var to [subsetWords]uint32
		for code := range 256 {
			was := mirrored(code)
			to[code>>5] |= from[was>>5] >> (was & 31) & 1 << (code & 31)
		}
		c.subsets[i] = to
	}
}

// mirrored returns a pattern with left and right exchanged. Bits run clockwise from the top
// left: 7, 6 and 5 above, 4 to the right, 3, 2 and 1 below from the right, and 0 to the
// left.
func mirrored(code int) (to int) {
	for bit, other := range [8]int{4, 3, 2, 1, 0, 7, 6, 5} {
		to |= code >> bit & 1 << other
	}
	return to
}

// cell returns the column and row whose corner is nearest to the point (u, v) of the
// cascade, in a window at (x, y).
func (c *Cascade) cell(x, y int, u, v float64) (column, row int) {
	l := c.lattice
	// A pixel's center is half a pixel further than its corner, and rounding down takes
	// off (b-1)/2b on average.
	half := l.tan/2 + float64(l.b-1)/float64(2*l.b)
	// Windows that are b pixels apart get the same cells, even where a corner is halfway
	// between two lines. Products are rounded separately, so that all machines agree.
	i, j := x/l.b, y/l.b
	px, py := float64(x-i*l.b)+l.left, float64(y-j*l.b)+l.top
	lines := c.grow() / l.cos
	column = int(math.Floor(px - float64(l.tan*py) + half + float64(u*lines) + 0.5))
	row = int(math.Floor(py + float64(l.tan*px) - half + float64(v*lines) + 0.5))
	return column + i*l.b - j*l.a, row + j*l.b + i*l.a
}

// pixel returns the pixel of a cell. If the cell is empty, it returns the first pixel
// further down the column.
func (r ratio) pixel(column, row int) (x, y int, empty bool) {
	t := float64(r.a) / float64(r.b)
	y = int(math.Floor((float64(row)-t*float64(column))/(1+t*t))) - 3
	for {
		x = column + r.slope(y)
		if at := y + r.slope(x); at >= row {
			return x, y, at > row
		}
		y++
	}
}

// Indices of the tables of a lattice. Each table has an entry for every cell: the sum, or the
// sum of squares, up to the pixel of the cell or up to the cell above it.
const (
	overSums    = 2
	overSquares = 3
)

// A spot is the position of a sum in a table, relative to the window: up to the cell of a
// pixel, or to the one above it.
type spot struct {
	x, y int16
	over bool
}

// spots returns the positions of a box's sums, for a window at (x, y).
func (c *Cascade) spots(x, y int, u, v, w, h float64) (all [4]spot) {
	left, top := c.cell(x, y, u, v)
	right, bottom := c.cell(x, y, u+w, v+h)
	for i, at := range [4][2]int{{left, bottom - 1}, {right, bottom - 1}, {left, top - 1}, {right, top - 1}} {
		all[i] = c.lattice.spot(x, y, at[0], at[1])
	}
	return all
}

func (r ratio) spot(x, y, column, row int) spot {
	px, py, empty := r.pixel(column, row)
	return spot{int16(px - x), int16(py + 1 - y), empty}
}

// A phase holds the boxes of a cascade for one alignment of windows with the lines.
type phase struct {
	middle [4]spot
	pixels float64 // number of pixels in the inner part of the window
	nodes  []phaseNode
	areas  [][9]int64 // areas of the blocks of patterns
}

type phaseNode struct {
	spots   [16]spot
	weights [3]float32
}

// phase returns the phase of windows at (x, y), modulo the step. The result is cached.
func (c *Cascade) phase(x, y int) *phase {
	at := &c.lattice.phases[c.lattice.side(int32(x))+3*c.lattice.side(int32(y))]
	if p := at.Load(); p != nil {
		return p
	}
	// Areas are computed as sums over an image of ones.
	width, height := c.size.X+x, c.size.Y+y
	ones := [2][]uint32{make([]uint32, (height+1)*width), make([]uint32, (height+1)*width)}
	pix := make([]uint8, width)
	for i := range pix {
		pix[i] = 1
	}
	var lines digital
	lines.start(width)
	for j := range height {
		lines.row(c.lattice.ratio, j, pix, false, ones[0][(j+1)*width:], ones[1][(j+1)*width:], &layout{period: 1})
	}
	area := func(spots [4]spot) float64 {
		var sums [4]uint32
		for i, s := range spots {
			table := ones[0]
			if s.over {
				table = ones[1]
			}
			sums[i] = table[(y+int(s.y))*width+x+int(s.x)]
		}
		return float64(int32(sums[0] - sums[1] - sums[2] + sums[3]))
	}
	w, h := float64(c.upright.X-2), float64(c.upright.Y-2)
	p := &phase{middle: c.spots(x, y, 1, 1, w, h), nodes: make([]phaseNode, 0, len(c.nodes))}
	p.pixels = area(p.middle)
	for i := range c.nodes {
		f := &c.features[c.nodes[i].feature]
		var node phaseNode
		if c.kind == LBP {
			b := f.boxes[0]
			block := func(k, side int) (u, v float64) {
				return float64(b.x) + float64(k%side)*float64(b.w), float64(b.y) + float64(k/side)*float64(b.h)
			}
			var areas [9]int64
			for k := range node.spots {
				u, v := block(k, 4)
				column, row := c.cell(x, y, u, v)
				node.spots[k] = c.lattice.spot(x, y, column, row-1)
			}
			for k := range areas {
				u, v := block(k, 3)
				areas[k] = int64(area(c.spots(x, y, u, v, float64(b.w), float64(b.h))))
			}
			p.areas = append(p.areas, areas)
		} else {
			for k, b := range f.boxes {
				if f.weights[k] == 0 {
					continue
				}
				across, down := float64(b.w), float64(b.h)
				spots := c.spots(x, y, float64(b.x), float64(b.y), across, down)
				copy(node.spots[4*k:], spots[:])
				// Scale as if the box and the window had their nominal number of pixels.
				node.weights[k] = float32(float64(f.weights[k]) * (across * down / area(spots)) * (p.pixels / (w * h)))
			}
		}
		p.nodes = append(p.nodes, node)
	}
	at.CompareAndSwap(nil, p)
	return at.Load()
}

// layOut sets the nodes of a program on a lattice.
func (p *program) layOut(c *Cascade) {
	from := c.phase(p.odd, p.down)
	place := func(table int, s spot) int32 {
		if s.over {
			table += overSums
		}
		return p.at(table, int(s.x), int(s.y))
	}
	p.norm = cascades.HaarNorm{Area: from.pixels}
	for i, s := range from.middle {
		p.norm.Sum[i], p.norm.Squares[i] = place(sumTable, s), place(squareTable, s)
	}
	p.haar, p.lbp, p.areas = p.haar[:0], p.lbp[:0], from.areas
	if c.kind == Haar {
		p.haar, p.haarNodes = slices.Grow(p.haar, len(c.nodes)), slices.Grow(p.haarNodes[:0], len(c.nodes))
	}
	for i := range c.nodes {
		n := &from.nodes[i]
		if c.kind == LBP {
			node := cascades.LBPNode{Subset: c.subsets[i]}
			for k, s := range n.spots {
				node.Corners[k] = place(sumTable, s)
			}
			p.lbp = append(p.lbp, node)
			continue
		}
		node := cascades.HaarNode{Weights: n.weights, Threshold: c.nodes[i].threshold, Boxes: 2}
		if n.weights[2] != 0 {
			node.Boxes = 3
		}
		for k := range node.Corners {
			node.Corners[k] = place(sumTable, n.spots[k])
		}
		p.haar = append(p.haar, node)
	}
}

// hits reports whether the pattern of a window on a lattice is in the subset of a node.
// Blocks are compared by their means.
func (p *program) hits(node int32, table []uint32, at int) bool {
	n, areas := &p.lbp[node], &p.areas[node]
	sum := func(i int) int64 {
		k := i/3*4 + i%3
		at := func(k int) uint32 { return table[at+int(n.Corners[k])] }
		return int64(at(k+4) - at(k+5) - at(k) + at(k+1))
	}
	center := sum(4)
	code := 0
	for _, i := range [8]int{0, 1, 2, 5, 8, 7, 6, 3} { // clockwise from the top left
		code <<= 1
		if sum(i)*areas[4] >= center*areas[i] {
			code |= 1
		}
	}
	return n.Subset[code>>5]>>(code&31)&1 != 0
}

// digital computes tables along digital lines, row by row of an image. The sum up to a
// cell includes all pixels in its row or above it, and in its column or to the right of
// it. Pixels of a column beyond the left edge of the image are omitted, because they
// cancel in every box.
type digital struct {
	sums []uint32 // of the previous row of pixels, up to their cells
	rows []uint32 // for each of these cells, the sum of its digital row from that cell on
}

func (d *digital) start(width int) {
	d.sums, d.rows = engine.AtLeast(d.sums, width), engine.AtLeast(d.rows, width)
	clear(d.sums[:width])
	clear(d.rows[:width])
}

// row computes row y of two tables: sums up to the cells of pixels, and sums up to the
// cells above them. If the cell above a pixel is empty, only the second table contains
// its sum.
func (d *digital) row(r ratio, y int, pix []uint8, square bool, cells, over []uint32, l *layout) {
	steps := r.slope(y) != r.slope(y-1) // columns move to the right
	n := len(pix)
	sum, next := uint32(0), uint32(0) // the sum of the digital row so far, and of the neighboring one in the previous row of pixels
	section, at := (n-1)%l.period, (n-1)/l.period
	var starts [mostRatio]bool // whether a pixel starts a new digital row, which repeats every b pixels
	for i := range r.b {
		starts[i] = r.slope(i) != r.slope(i-1)
	}
	phase := n % r.b
	for x := n - 1; x >= 0; x-- {
		if starts[phase] {
			sum = next
		}
		if phase--; phase < 0 {
			phase = r.b - 1
		}
		p := uint32(pix[x])
		if square {
			p *= p
		}
		sum += p
		above := d.sums[x]
		if steps {
			above = 0
			if x > 0 {
				above = d.sums[x-1]
				if starts[phase] { // the cell above is empty
					above += d.rows[x]
				}
			}
		}
		next = d.rows[x]
		d.rows[x], d.sums[x] = sum, above+sum
		i := section*l.half + at
		cells[i], over[i] = above+sum, above
		if section--; section < 0 {
			section, at = l.period-1, at-1
		}
	}
}

// neighborDistance returns the k-th of the three distances between a window and those searched
// around it. side returns which of these distances a position has.
func (l *lattice) neighborDistance(k int) int { return [3]int{0, l.step / 2, l.step - l.step/2}[k] }

func (l *lattice) side(x int32) int {
	switch int(x) % l.step {
	case 0:
		return 0
	case l.step / 2:
		return 1
	}
	return 2
}

// latticeRow computes a row of the band's tables along digital lines.
func (w *worker) latticeRow(y int, pix []uint8) {
	p := &w.search.views[0].lattice[0]
	table := func(i int) []uint32 { return w.table[(i*p.rows+y+1)*p.stride:] }
	r := w.search.views[0].cascade.lattice.ratio
	w.lines[0].row(r, y, pix, false, table(sumTable), table(overSums), &p.layout)
	if p.cascade.kind == Haar {
		w.lines[1].row(r, y, pix, true, table(squareTable), table(overSquares), &p.layout)
	}
}

// checkLattice returns an error if the cascade does not support rotated tables.
func (c *Cascade) checkLattice() error {
	const step = mostRatio + 1
	if c.tilted {
		return raster.Invalid("cascade has tilted features, which rotated tables do not support (turn the image instead)")
	}
	const most = (1<<34 - 1) / (255 * 255 * step * step) // step*step/4 times as many squares must stay below 2^32
	if float64(c.size.X)*float64(c.size.Y) > most {
		return raster.Invalid("cascade has a window of %d×%d, want at most %d pixels for the 32-bit squares of rotated tables (turn the image instead)", c.size.X, c.size.Y, most)
	}
	return nil
}
