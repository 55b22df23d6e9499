package haar

import "iter"

// A tile is consecutive features of a set that one worker takes at a time: the
// features of a kind that start in one row of the window, or a piece of a list.
type tile struct {
	kind         Kind  // 0 for a piece of a list
	y            int32 // the row
	start, count int   // of the features in the set
}

// pieceLen is how many features of a list make a tile: enough to take much
// longer than asking for the next.
const pieceLen = 4096

// tiles is how many tiles the set has. None is empty, so there are not more of
// them than features.
func (s *Set) tiles() int {
	n := (len(s.list) + pieceLen - 1) / pieceLen
	for _, k := range s.kinds {
		n += s.rows(k)
	}
	return n
}

// tile is the i-th of them.
func (s *Set) tile(i int) tile {
	if s.kinds == nil {
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
		left, down := s.height-int32(i), shapes[k].down()
		start += int(columns * (rows - floors(left, down)))
		return tile{kind: k, y: int32(i), start: start, count: int(columns) * int(left/down)}
	}
	return tile{}
}

// in goes through the features of a tile.
func (s *Set) in(t tile) iter.Seq[Feature] {
	return func(yield func(Feature) bool) {
		if t.kind == 0 {
			for _, f := range s.list[t.start:][:t.count] {
				if !yield(f) {
					return
				}
			}
			return
		}
		across, down := shapes[t.kind].across(), shapes[t.kind].down()
		for x := int32(0); x < s.width; x++ {
			for dy := int32(1); dy <= (s.height-t.y)/down; dy++ {
				for dx := int32(1); dx <= (s.width-x)/across; dx++ {
					if !yield(place(t.kind, x, t.y, dx, dy)) {
						return
					}
				}
			}
		}
	}
}

// rows is in how many rows of the window features of a kind start.
func (s *Set) rows(k Kind) int {
	if s.width < shapes[k].across() {
		return 0
	}
	return max(0, int(s.height-shapes[k].down())+1)
}

// places is in how many ways a feature of a kind can be placed and sized
// across the window, and in how many ways down. Their product is the number
// of features.
func (s *Set) places(k Kind) (columns, rows uint64) {
	return floors(s.width, shapes[k].across()), floors(s.height, shapes[k].down())
}

// floors is ⌊1/by⌋ + ⌊2/by⌋ + … + ⌊n/by⌋: a feature of so many cells that
// starts n pixels before the window's end has ⌊n/by⌋ sizes.
func floors(n, by int32) uint64 {
	q, r := uint64(n/by), uint64(n%by)
	if q == 0 {
		return 0
	}
	return uint64(by)*(q*(q-1)/2) + q*(r+1)
}
