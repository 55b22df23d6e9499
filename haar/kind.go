package haar

import (
	"fmt"
	"strings"
)

//go:generate go run github.com/boxsum/boxsum/internal/pairs/expand -out options.go -template ../internal/kinds/options.tmpl -with haar

// A Kind is the shape of a feature: how many cells it has, and which of them
// count for and which against it.
type Kind uint8

// The kinds. X are boxes side by side, Y boxes on top of each other.
const (
	EdgeX          Kind = iota + 1 // two boxes: left −, right +
	EdgeY                          // two boxes: top −, bottom +
	LineX                          // three boxes of one width, the middle +
	LineY                          // three boxes of one height, the middle +
	LineX4                         // three boxes, the middle + and twice as wide
	LineY4                         // three boxes, the middle + and twice as high
	Diagonal                       // two by two boxes: top left and bottom right −, the others +
	CentreSurround                 // three by three cells, the one in the middle +
)

// ViolaJones is the five kinds of Viola and Jones: EdgeX, EdgeY, LineX, LineY
// and Diagonal. scikit-image calls them type-2-x, type-2-y, type-3-x, type-3-y
// and type-4, and lists them in this order.
func ViolaJones() []Kind { return []Kind{EdgeX, EdgeY, LineX, LineY, Diagonal} }

// LienhartMaydt is the seven kinds of Lienhart and Maydt, which they use upright
// and at 45°: fourteen prototypes.
func LienhartMaydt() []Kind {
	return []Kind{EdgeX, EdgeY, LineX, LineX4, LineY, LineY4, CentreSurround}
}

// Kinds is every kind there is.
func Kinds() []Kind {
	return []Kind{EdgeX, EdgeY, LineX, LineY, LineX4, LineY4, Diagonal, CentreSurround}
}

// String is the name of the kind.
func (k Kind) String() string {
	if !k.known() {
		return fmt.Sprintf("Kind(%d)", uint8(k))
	}
	return shapes[k].name
}

// Cells is how many cells a feature of this kind has across and down. The
// width of a feature is a multiple of the one, its height of the other. They
// are 0 for a kind that does not exist.
func (k Kind) Cells() (across, down int) {
	if !k.known() {
		return 0, 0
	}
	s := &shapes[k]
	return int(s.across()), int(s.down())
}

// ParseKind is the kind of that name, in upper or lower case.
func ParseKind(name string) (Kind, error) {
	var names []string
	for _, k := range Kinds() {
		if strings.EqualFold(name, k.String()) {
			return k, nil
		}
		names = append(names, k.String())
	}
	return 0, fmt.Errorf("boxsum: there is no kind %q: it is one of %s", name, strings.Join(names, ", "))
}

func (k Kind) known() bool { return k >= EdgeX && k <= CentreSurround }

// A shape is a kind as data.
type shape struct {
	name  string
	x, y  []int32 // the lines across the feature, counted in cells
	boxes []part
	// bias is the sum of all weights times areas, in cells: what the feature
	// makes of an image of ones.
	bias int
	// strips are the rows of cells that lie between two lines, from and to, and
	// that a box of the feature fills from top to bottom.
	strips [][2]int32
}

// A part is a box of a shape, between lines x0 and x1, y0 and y1 of it.
type part struct{ x0, y0, x1, y1, weight int }

// reads reports whether the corner of lines x and y is one of a box.
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
	// The surround is the whole less the centre, which is four reads and not
	// eight more boxes; so the centre counts twice.
	CentreSurround: {name: "CentreSurround", x: three, y: three, bias: -7, strips: [][2]int32{{0, 3}, {1, 2}},
		boxes: []part{{0, 0, 3, 3, -1}, {1, 1, 2, 2, 2}}},
}
