// Code generated from hog.go. DO NOT EDIT.
#ifndef JOBS_HOG_H
#define JOBS_HOG_H

// A HOG is the job of detection by histograms of oriented gradients in bands of windows of byte
// images, see hog.cl.
typedef struct {
	i64 inStart, inStride, inDistance;
	i64 plane; // blocks of all images: the distance between planes of numbers
	f64 bias, threshold;
	f32 turn; // bins in a radian
	f32 grow, clip;
	i32 channels, colors;
	i32 channel[3]; // of the colors in a pixel
	i32 images, bands;
	i32 pixels, blocks, windows; // of all bands of an image
	i32 latticeX, latticeY; // distance between blocks
	i32 bins, cells, length; // Length: numbers of a block
	i32 across, down; // blocks of a window
	i32 strideX, strideY; // from one block of a window to the next, in blocks of the lattice
	i32 paceX, paceY; // from one window to the next
} HOG;
#ifndef __OPENCL_VERSION__
static_assert(sizeof(HOG) == 144, "Go has another layout");
#endif

// A HOGBand is the position of a band of windows in the shared arrays. Gradients are stored by their
// column modulo the distance between blocks, so that those of neighboring blocks lie next to each
// other: a row has LatticeX parts of Pitch entries.
typedef struct {
	i32 width, pitch; // columns of gradients
	i32 row; // first row of gradients in the level
	i32 across; // blocks in a row
	i32 columns; // windows in a row
	i32 pixel, block, window; // the first one among those of all bands
	i32 axisX, axisY; // where its entries in the axes begin
	i32 last, shortFrom; // Last and Short of oriented.Level
} HOGBand;
#ifndef __OPENCL_VERSION__
static_assert(sizeof(HOGBand) == 48, "Go has another layout");
#endif

// A HOGVote is a pixel of a block, as a part of a row and a column in it, and its weight.
typedef struct {
	i32 part, column;
	f32 weight;
	i32 unused;
} HOGVote;
#ifndef __OPENCL_VERSION__
static_assert(sizeof(HOGVote) == 16, "Go has another layout");
#endif

// A HOGCell is a range of votes.
typedef struct {
	i32 first, end;
} HOGCell;
#ifndef __OPENCL_VERSION__
static_assert(sizeof(HOGCell) == 8, "Go has another layout");
#endif

#endif
