// Package cascade is how package gpu sees what package detect knows of a search: layers,
// features and stages as plain numbers, and results from the windows that pass.
package cascade

// Plan is the search of a *detect.Cascade in images of a size with *detect.Options. Package
// detect sets it.
var Plan func(cascade, options any, width, height int) (*Search, error)

// A Search is what to do for an image of one size.
type Search struct {
	Patterns  bool // local binary patterns, not Haar-like features
	Tilted    bool // some feature is
	Area      int  // of the part of a window that its norm is from
	Norm      [4]Point
	Most      float32 // the largest norm of a window that is not flat
	Layers    []Layer
	Nodes     []Node
	Trees     []Tree
	Stages    []Stage
	Leaves    []float32
	BlueFirst bool // channels are blue, green and red
	Limit     int  // of windows that pass
	TooMany   error
	// Results is what the windows that pass are found to be, []detect.Result, grouped.
	Results func(found []Found) (any, error)
}

// A Point is one of a window.
type Point struct{ X, Y int }

// A Layer is the image at one scale. Axes are places of the image times 512, and the part
// of the next pixel, of 256.
type Layer struct {
	Width, Height       int
	Columns, Rows, Step int // of windows
	AxisX, AxisY        []int32
}

// A Node is a feature of boxes, four corners each, or sixteen corners of a pattern.
type Node struct {
	Corners     [16]Point
	Weights     [3]float32
	Threshold   float32
	Left, Right int32 // nodes of the tree, or ^ leaves
	Boxes       int
	Tilted      bool
	Subset      [8]uint32
}

// A Tree is its first node and leaf, and a Stage trees.
type (
	Tree  struct{ Node, Leaf int32 }
	Stage struct {
		First, End int32
		Threshold  float32
	}
)

// A Found is a window that passes all stages, and the sum of the last.
type Found struct {
	Layer, Column, Row int
	Score              float64
}
