package haar

import "iter"

// A tile is a range of consecutive features of a set that one worker evaluates
// at a time: the features of a kind that start in one row of the window, or a
// part of a list.
type tile struct {
	kind         Kind  // 0 if the tile is part of a list
	y            int32 // the row
	start, count int   // range of features in the set
}

// pieceLen is the number of features of a list in a tile. Evaluating that many
// takes much longer than taking the next tile.
const pieceLen = 4096

func (s *Set) tiles() int {
	if s.starts != nil {
		return len(s.starts) - 1
	}
	n := (len(s.list) + pieceLen - 1) / pieceLen
	for _, k := range s.kinds {
		n += s.rows(k)
	}
	return n
}

func (s *Set) tile(i int) tile {
	switch {
	case s.starts != nil:
		rows := len(s.window.rows)
		return tile{kind: s.kinds[i/rows], y: s.window.top + int32(i%rows), start: s.starts[i], count: s.starts[i+1] - s.starts[i]}
	case s.kinds == nil:
		start := i * pieceLen
		return tile{start: start, count: min(pieceLen, len(s.list)-start)}
	}
	start := 0
	for _, k := range s.kinds {
		columns, rows := s.places(k)
		if n := s.rows(k); i >= n {
			i -= n
			start += int(columns * rows)
			continue
		}
		left, down := s.window.height-int32(i), shapes[k].down()
		start += int(columns * (rows - floors(left, down)))
		return tile{kind: k, y: int32(i), start: start, count: int(columns) * int(left/down)}
	}
	return tile{}
}

func (s *Set) featuresOf(t tile) iter.Seq[Feature] {
	return func(yield func(Feature) bool) {
		if t.kind == 0 {
			for _, f := range s.list[t.start:][:t.count] {
				if !yield(f) {
					return
				}
			}
			return
		}
		z := s.sizes(t.kind, t.y)
		for x := z.widest.lo; x < z.widest.hi; x++ {
			for dy := int32(1); dy <= z.heights; dy++ {
				for dx := z.least(dy); dx <= z.widths(x, dy); dx++ {
					if !yield(newFeature(t.kind, x, t.y, dx, dy)) {
						return
					}
				}
			}
		}
	}
}

// sizes describes the sizes that the cells of a kind can have in a row of the
// window.
type sizes struct {
	across  int32
	heights int32  // number of heights of a cell, which start at 1
	widest  span   // where features with cells of height 1 may lie
	spans   []span // where features with cells of each height may lie, if that differs
	skip    bool   // whether to omit cells of 1×1
}

func (s *Set) sizes(k Kind, y int32) sizes {
	w, sh := &s.window, &shapes[k]
	z := sizes{across: sh.across(), heights: (w.end() - y) / sh.down()}
	if !w.turned() {
		z.widest = w.row(y)
		return z
	}
	z.skip = true
	for dy := range z.heights {
		left := w.row(y)
		if dy > 0 {
			left = z.spans[dy-1]
		}
		for row := y + dy*sh.down(); row < y+(dy+1)*sh.down(); row++ {
			left = left.intersect(w.row(row))
		}
		if left.len() < z.across {
			z.heights = dy
			break
		}
		z.spans = append(z.spans, left)
	}
	if z.heights > 0 {
		z.widest = z.spans[0]
	}
	return z
}

// span returns where features with cells of height dy may lie.
func (z *sizes) span(dy int32) span {
	if z.spans == nil {
		return z.widest
	}
	return z.spans[dy-1]
}

// least returns the smallest width of a cell of height dy.
func (z *sizes) least(dy int32) int32 {
	if z.skip && dy == 1 {
		return 2
	}
	return 1
}

// widths returns the largest width of a cell of height dy in a feature that
// starts at x.
func (z *sizes) widths(x, dy int32) int32 {
	s := z.span(dy)
	if x < s.lo || x >= s.hi {
		return 0
	}
	return (s.hi - x) / z.across
}

func (z *sizes) features() (n uint64) {
	for dy := int32(1); dy <= z.heights; dy++ {
		s := z.span(dy)
		n += floors(s.len(), z.across)
		if z.skip && dy == 1 { // at each place, one height has cells of width 1
			n -= uint64(max(0, s.len()-z.across+1))
		}
	}
	return n
}

// rows returns the number of rows of a plain window in which features of a kind
// start.
func (s *Set) rows(k Kind) int {
	if s.window.width < shapes[k].across() {
		return 0
	}
	return max(0, int(s.window.height-shapes[k].down())+1)
}

// places returns the number of ways to place and size a feature of a kind
// horizontally, and vertically, in a plain window. Their product is the number
// of features.
func (s *Set) places(k Kind) (columns, rows uint64) {
	return floors(s.window.width, shapes[k].across()), floors(s.window.height, shapes[k].down())
}

// floors returns ⌊1/by⌋ + ⌊2/by⌋ + … + ⌊n/by⌋. A feature of by cells that
// starts n pixels before the end of the window can have ⌊n/by⌋ sizes.
func floors(n, by int32) uint64 {
	q, r := uint64(n/by), uint64(n%by)
	if q == 0 {
		return 0
	}
	return uint64(by)*(q*(q-1)/2) + q*(r+1)
}
