package jobs

// A Detect is the job of a cascade detector on all layers of byte images, see detect.cl.
type Detect struct {
	InStart, InStride, InDistance int64
	TableDistance                 int64   // entries of an image's tables of one kind
	Plane                         int64   // entries of all images' tables of one kind
	Area                          int64   // of the part of a window whose variance is the norm
	Most                          float32 // the largest norm of a window that is not flat
	Channels, Red, Blue           int32
	Images, Layers                int32
	TableRows, TableColumns       int32 // over all layers
	WindowRows, Words             int32
	Kinds                         int32    // number of kinds of tables: sums, squares, tilted sums
	NormSum                       [4]int32 // corners of the norm's box
	First, End, Last              int32    // stages of a launch, and whether they include the last
	List, To                      int32    // whether windows come from a list; indices of the counters of both lists
	Room                          int32    // capacity for results
}

// A DetectLayer is the position of a layer and its windows in the shared arrays.
type DetectLayer struct {
	Width, Height, Stride         int32
	Columns, Rows, Step, RowWords int32 // of windows; a row has RowWords words of 32 windows
	Table                         int32 // its first entry
	TableRow, TableColumn         int32 // its first row and column among those of all layers
	WindowRow, Word               int32
	AxisX, AxisY                  int32 // where its entries in the axes begin
	Unused                        [2]int32
}

// A DetectNode is a Haar-like feature or a local binary pattern. A corner is x + y<<16.
type DetectNode struct {
	Corners     [16]int32 // four for each box, or those of 3×3 blocks
	Weights     [3]float32
	Threshold   float32
	Left, Right int32 // nodes of the tree, or ^ leaves
	Boxes       int32
	Table       int32
	Subset      [8]uint32
}

// A DetectStage is a range of trees and a threshold.
type DetectStage struct {
	First, End int32
	Threshold  float32
	Unused     int32
}

// A DetectTree is the index of a tree's first node and of its first leaf.
type DetectTree struct{ Node, Leaf int32 }
