package haar

import (
	"fmt"
	"strings"
)

// A Kind is the shape of a feature: its number of cells, and which of them are
// added or subtracted.
type Kind uint8

// Kinds of features. In kinds with an X, boxes are side by side; in kinds with
// a Y, they are on top of each other.
const (
	EdgeX          Kind = iota + 1 // two boxes: left −, right +
	EdgeY                          // two boxes: top −, bottom +
	LineX                          // three boxes of the same width, the middle +
	LineY                          // three boxes of the same height, the middle +
	LineX4                         // three boxes, the middle + and twice as wide
	LineY4                         // three boxes, the middle + and twice as high
	Diagonal                       // two by two boxes: top left and bottom right −, the others +
	CenterSurround                 // three by three cells, the one in the middle +
)

// ViolaJones returns the five kinds of Viola and Jones: EdgeX, EdgeY, LineX,
// LineY and Diagonal. scikit-image calls them type-2-x, type-2-y, type-3-x,
// type-3-y and type-4, and lists them in this order.
func ViolaJones() []Kind { return []Kind{EdgeX, EdgeY, LineX, LineY, Diagonal} }

// LienhartMaydt returns the seven kinds of Lienhart and Maydt, who use them
// upright and at 45°, fourteen prototypes in all.
func LienhartMaydt() []Kind {
	return []Kind{EdgeX, EdgeY, LineX, LineX4, LineY, LineY4, CenterSurround}
}

// Kinds returns all eight kinds, in the order of their constants.
func Kinds() []Kind {
	return []Kind{EdgeX, EdgeY, LineX, LineY, LineX4, LineY4, Diagonal, CenterSurround}
}

// String returns the name of the kind.
func (k Kind) String() string {
	if !k.known() {
		return fmt.Sprintf("Kind(%d)", uint8(k))
	}
	return shapes[k].name
}

// Cells returns the number of cells that a feature of this kind has across and
// down. The width and height of a feature are multiples of these numbers. Cells
// returns 0, 0 for an invalid kind.
func (k Kind) Cells() (across, down int) {
	if !k.known() {
		return 0, 0
	}
	s := &shapes[k]
	return int(s.across()), int(s.down())
}

// ParseKind returns the kind whose String method returns name, ignoring case.
// It returns an error that wraps [boxsum.ErrInvalid] for any other name.
func ParseKind(name string) (Kind, error) {
	var names []string
	for _, k := range Kinds() {
		if strings.EqualFold(name, k.String()) {
			return k, nil
		}
		names = append(names, k.String())
	}
	return 0, fmt.Errorf("unknown kind of feature %q, want one of %s", name, strings.Join(names, ", "))
}

func (k Kind) known() bool { return k >= EdgeX && k <= CenterSurround }

// A shape describes a kind.
type shape struct {
	name  string
	x, y  []int32 // lines across the feature, in cells
	boxes []part
	// bias is the sum of all weights times areas, in cells: the feature's value
	// in an image of ones.
	bias int
	// strips lists the ranges of lines, from and to, between which boxes of the
	// feature lie from top to bottom.
	strips [][2]int32
}

// A part is a box of a shape, between its lines x0 and x1 and y0 and y1.
type part struct{ x0, y0, x1, y1, weight int }

// reads reports whether the corner of lines x and y is a corner of a box.
func (s *shape) reads(x, y int) bool {
	for i := range s.boxes {
		if p := &s.boxes[i]; (x == p.x0 || x == p.x1) && (y == p.y0 || y == p.y1) {
			return true
		}
	}
	return false
}

func (s *shape) across() int32 { return s.x[len(s.x)-1] }
func (s *shape) down() int32   { return s.y[len(s.y)-1] }

var (
	one, two    = []int32{0, 1}, []int32{0, 1, 2}
	three, four = []int32{0, 1, 2, 3}, []int32{0, 1, 3, 4}

	sideBySide = []part{{0, 0, 1, 1, -1}, {1, 0, 2, 1, 1}, {2, 0, 3, 1, -1}}
	stacked    = []part{{0, 0, 1, 1, -1}, {0, 1, 1, 2, 1}, {0, 2, 1, 3, -1}}
)

var shapes = [...]shape{
	EdgeX:  {name: "EdgeX", x: two, y: one, boxes: sideBySide[:2], strips: [][2]int32{{0, 1}}},
	EdgeY:  {name: "EdgeY", x: one, y: two, boxes: stacked[:2], strips: [][2]int32{{0, 1}, {1, 2}}},
	LineX:  {name: "LineX", x: three, y: one, boxes: sideBySide, bias: -1, strips: [][2]int32{{0, 1}}},
	LineY:  {name: "LineY", x: one, y: three, boxes: stacked, bias: -1, strips: [][2]int32{{0, 1}, {1, 2}, {2, 3}}},
	LineX4: {name: "LineX4", x: four, y: one, boxes: sideBySide, strips: [][2]int32{{0, 1}}},
	LineY4: {name: "LineY4", x: one, y: four, boxes: stacked, strips: [][2]int32{{0, 1}, {1, 3}, {3, 4}}},
	Diagonal: {name: "Diagonal", x: two, y: two, strips: [][2]int32{{0, 1}, {1, 2}},
		boxes: []part{{0, 0, 1, 1, -1}, {1, 0, 2, 1, 1}, {1, 1, 2, 2, -1}, {0, 1, 1, 2, 1}}},
	// The surround is the whole minus the center, which takes four reads
	// instead of eight more boxes; the center therefore counts twice.
	CenterSurround: {name: "CenterSurround", x: three, y: three, bias: -7, strips: [][2]int32{{0, 3}, {1, 2}},
		boxes: []part{{0, 0, 3, 3, -1}, {1, 1, 2, 2, 2}}},
}
