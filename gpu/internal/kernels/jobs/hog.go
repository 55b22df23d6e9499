package jobs

// A HOG is the job of detection by histograms of oriented gradients in bands of windows of byte
// images, see hog.cl.
type HOG struct {
	InStart, InStride, InDistance int64
	Plane                         int64 // blocks of all images: the distance between planes of numbers
	Bias, Threshold               float64
	Turn                          float32 // bins in a radian
	Grow, Clip                    float32
	Channels, Colors              int32
	Channel                       [3]int32 // of the colors in a pixel
	Images, Bands                 int32
	Pixels, Blocks, Windows       int32 // of all bands of an image
	LatticeX, LatticeY            int32 // distance between blocks
	Bins, Cells, Length           int32 // Length: numbers of a block
	Across, Down                  int32 // blocks of a window
	StrideX, StrideY              int32 // from one block of a window to the next, in blocks of the lattice
	PaceX, PaceY                  int32 // from one window to the next
}

// A HOGBand is the position of a band of windows in the shared arrays. Gradients are stored by their
// column modulo the distance between blocks, so that those of neighboring blocks lie next to each
// other: a row has LatticeX parts of Pitch entries.
type HOGBand struct {
	Width, Pitch         int32 // columns of gradients
	Row                  int32 // first row of gradients in the level
	Across               int32 // blocks in a row
	Columns              int32 // windows in a row
	Pixel, Block, Window int32 // the first one among those of all bands
	AxisX, AxisY         int32 // where its entries in the axes begin
	Last, ShortFrom      int32 // Last and Short of oriented.Level
}

// A HOGVote is a pixel of a block, as a part of a row and a column in it, and its weight.
type HOGVote struct {
	Part, Column int32
	Weight       float32
	Unused       int32
}

// A HOGCell is a range of votes.
type HOGCell struct{ First, End int32 }
