// Package cascade gives package gpu access to the searches of package detect: layers, features and stages
// as plain numbers, and results from the windows that pass.
package cascade

// A Search describes the search in images of one size.
type Search struct {
	Patterns  bool // local binary patterns, not Haar-like features
	Tilted    bool // some features are tilted
	Area      int  // of the part of a window from which its norm is computed
	Norm      [4]Point
	Most      float32 // the largest norm of a window that is not flat
	Layers    []Layer
	Nodes     []Node
	Trees     []Tree
	Stages    []Stage
	Leaves    []float32
	BlueFirst bool // channels are blue, green and red
	Limit     int  // maximum number of windows that pass
	TooMany   error
}

// A Point is a position in a window.
type Point struct{ X, Y int }

// A Layer is the image at one scale. Each axis lists positions in the image times 512 plus the weight of
// the next pixel, in 256ths.
type Layer struct {
	Width, Height       int
	Columns, Rows, Step int // of windows
	AxisX, AxisY        []int32
}

// A Node is a feature: boxes with four corners each, or a pattern with sixteen corners.
type Node struct {
	Corners     [16]Point
	Weights     [3]float32
	Threshold   float32
	Left, Right int32 // nodes of the tree, or leaves in complement
	Boxes       int
	Tilted      bool
	Subset      [8]uint32
}

// A Tree holds the indices of its first node and leaf, and a Stage is a range of trees.
type (
	Tree  struct{ Node, Leaf int32 }
	Stage struct {
		First, End int32
		Threshold  float32
	}
)

// A Found is a window that passes all stages, with the sum of the last.
type Found struct {
	Layer, Column, Row int
	Score              float64
}
