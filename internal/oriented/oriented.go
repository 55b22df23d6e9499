// Package oriented gives package gpu access to the searches of package hog: levels, weights and
// coefficients as plain numbers, and results from the windows whose scores suffice.
package oriented

import "image"

// A Search describes the search in images of one size.
type Search struct {
	Colors   int         // 1, or 3 for images whose strongest channel counts
	Channels [3]int      // of the colors in a pixel
	Roots    []float32   // brightness of each byte
	Bins     int         // of a histogram
	Turn     float32     // bins in a radian
	Block    image.Point // size in pixels
	Cells    [][]Vote    // pixels that contribute to each cell of a block, in the order of additions
	Grow     float32     // what normalization adds to the length of a block
	Clip     float32     // largest number of a block before it is normalized again

	Lattice image.Point // distance between blocks that may belong to different windows
	Blocks  image.Point // in a window
	Stride  image.Point // from one block of a window to the next, in units of Lattice
	Pace    image.Point // from one window to the next, in units of Lattice

	Coefficients []float32 // of the blocks of a window, column by column
	Bias         float64
	Threshold    float64
	Limit        int // windows of an image that are of interest; more may be left out

	Levels []Level
}

// A Vote is a pixel of a block, and the weight with which it contributes to a cell.
type Vote struct {
	X, Y   int
	Weight float32
}

// A Level is the image at one scale, padded.
type Level struct {
	Width   int         // with padding
	Windows image.Point // number of windows

	// The axes list the positions in the image of columns and rows, starting with -1 and ending after
	// the last one, times 512 plus the weight of the next pixel, in 256ths.
	AxisX, AxisY []int32

	Last  int // first of the columns in which the last of equally strong channels counts
	Short int // first of the columns whose angles above 45° are rounded differently
}

// A Found is a window whose score suffices.
type Found struct {
	Level, X, Y int // number of the window in the level
	Score       float64
}
