package jobs

// A Detect is images of bytes and the search of a cascade in all their layers, see detect.cl.
type Detect struct {
	InStart, InStride, InDistance int64
	TableDistance                 int64   // entries of the tables of an image, of one kind
	Plane                         int64   // of those of all images
	Area                          int64   // of the part of a window that its norm is from
	Most                          float32 // the largest norm of a window that is not flat
	Channels, Red, Blue           int32
	Images, Layers                int32
	TableRows, TableColumns       int32 // of all layers
	WindowRows, Words             int32
	Kinds                         int32    // of tables: sums, squares, tilted sums
	NormSum                       [4]int32 // its corners
	First, End, Last              int32    // stages of a launch, and whether they are the last
	List, To                      int32    // whether windows come from a list, and the counters of both lists
	Room                          int32    // of results
}

// A DetectLayer is where a layer and its windows are among all.
type DetectLayer struct {
	Width, Height, Stride         int32
	Columns, Rows, Step, RowWords int32 // of windows: a row has that many words of 32
	Table                         int32 // its first entry
	TableRow, TableColumn         int32 // its first ones among those of all layers
	WindowRow, Word               int32
	AxisX, AxisY                  int32 // where its columns and rows lie in the image
	Unused                        [2]int32
}

// A DetectNode is a Haar-like feature or a local binary pattern. A corner is x + y<<16.
type DetectNode struct {
	Corners     [16]int32 // four for each box, or those of three by three blocks
	Weights     [3]float32
	Threshold   float32
	Left, Right int32 // nodes of the tree, or ^ leaves
	Boxes       int32
	Table       int32
	Subset      [8]uint32
}

// A DetectStage is its trees.
type DetectStage struct {
	First, End int32
	Threshold  float32
	Unused     int32
}

// A DetectTree is its first node and its first leaf.
type DetectTree struct{ Node, Leaf int32 }
