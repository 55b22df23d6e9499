package detect

import (
	"image"
	"sync"
	"sync/atomic"
)

// A Kind is the kind of features that a cascade uses: Haar-like features or local binary
// patterns.
type Kind int

const (
	Haar Kind = iota // Haar-like features: sums of boxes
	LBP              // local binary patterns of nine blocks
)

// String returns the kind's name as written in cascade files, such as "HAAR".
func (k Kind) String() string {
	if k == LBP {
		return "LBP"
	}
	return "HAAR"
}

// A Cascade is a detector loaded from a file. It is immutable and safe for concurrent
// use.
type Cascade struct {
	kind     Kind
	size     image.Point
	tilted   bool // has tilted features
	stages   []stage
	trees    []tree
	nodes    []node
	leaves   []float32
	subsets  [][subsetWords]uint32 // the patterns that each node of an LBP cascade accepts
	features []feature

	// For rotated cascades, see turned.go.
	diagonal bool        // boxes lie along diagonals, and size is that of the enclosing upright window
	upright  image.Point // window size before rotation
	turns    [directions]atomic.Pointer[Cascade]
	lattice  *lattice // boxes lie along digital lines, see lattice.go
	lattices sync.Map // rotated versions of this cascade, by pose
}

// A stage is a list of trees. A window passes if the sum of its leaves is at least the
// threshold.
type stage struct {
	trees     span
	threshold float32
	stumps    bool // all trees have a single node
}

// A tree is a range of nodes, in which parents precede their children, and a range of
// leaves.
type tree struct{ nodes, leaves span }

type span struct{ first, end int32 }

func (s span) len() int { return int(s.end - s.first) }

// A node compares a feature and continues left or right: at that node of the tree or, if
// the value is negative, at leaf ^left or ^right.
type node struct {
	feature     int32
	left, right int32
	threshold   float32
}

// A feature is a set of weighted boxes, where a weight of zero marks an unused entry. For
// local binary patterns it is the first of 3×3 blocks.
type feature struct {
	boxes   [3]box
	weights [3]float32
	tilted  bool
}

type box struct{ x, y, w, h int16 }

// Kind returns the kind of features that the cascade uses.
func (c *Cascade) Kind() Kind { return c.kind }

// Window returns the size of the smallest window that the cascade can classify.
func (c *Cascade) Window() image.Point { return c.size }

// Stages returns the number of stages, all of which a window has to pass to be found.
func (c *Cascade) Stages() int { return len(c.stages) }

// Features returns the number of features in the cascade.
func (c *Cascade) Features() int { return len(c.features) }
