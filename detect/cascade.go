package detect

import (
	"image"
	"sync"
	"sync/atomic"
)

// A Kind is what a cascade looks at.
type Kind int

const (
	Haar Kind = iota // Haar-like features: sums of boxes
	LBP              // local binary patterns of nine blocks
)

// String is the kind's name in cascade files.
func (k Kind) String() string {
	if k == LBP {
		return "LBP"
	}
	return "HAAR"
}

// A Cascade is a detector from a file. It never changes.
type Cascade struct {
	kind     Kind
	size     image.Point
	tilted   bool // some feature is
	stages   []stage
	trees    []tree
	nodes    []node
	leaves   []float32
	subsets  [][subsetWords]uint32 // of nodes of local binary patterns
	features []feature

	// Of a turned cascade, see turned.go.
	diagonal bool        // boxes lie along diagonals, and size is that of the window that holds them
	upright  image.Point // the size before that
	turns    [directions]atomic.Pointer[Cascade]
	lattice  *lattice // boxes lie along digital lines, see lattice.go
	lattices sync.Map // of poses
}

// A stage is trees whose leaves add up to the threshold or more in windows that pass.
type stage struct {
	trees     span
	threshold float32
	stumps    bool // all trees have one node
}

// A tree is its nodes, of which none has children before it, and its leaves.
type tree struct{ nodes, leaves span }

type span struct{ first, end int32 }

func (s span) len() int { return int(s.end - s.first) }

// A node compares a feature and goes left or right: to that node of the tree, or to leaf
// ^left where it is negative.
type node struct {
	feature     int32
	left, right int32
	threshold   float32
}

// A feature is weighted boxes, of which those with no weight are not there, or the first of
// three by three blocks.
type feature struct {
	boxes   [3]box
	weights [3]float32
	tilted  bool
}

type box struct{ x, y, w, h int16 }

// Kind is what the cascade looks at.
func (c *Cascade) Kind() Kind { return c.kind }

// Window is the size of the least window that the cascade knows.
func (c *Cascade) Window() image.Point { return c.size }

// Stages is how many stages a window has to pass.
func (c *Cascade) Stages() int { return len(c.stages) }

// Features is how many features the cascade has.
func (c *Cascade) Features() int { return len(c.features) }
