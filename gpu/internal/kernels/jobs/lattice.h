// Code generated from lattice.go. DO NOT EDIT.
#ifndef JOBS_LATTICE_H
#define JOBS_LATTICE_H

// A Lattice is the job of the kernels that place pixels in the cells of a rotated lattice.
//
// Pixels of a line have indices x, from the left or, if Mirrored is set, from the right, such that pixel x of line y is the
// cell in row y + down(x) and column width-1-x + over[y]. Both down and over grow by 0 or 1 at a time. edges[d] is the first x
// whose down is d, and starts[o] the first line whose over is o. downs holds down(x) in memory order, padded to a multiple of
// eight values.
//
// The pixels are in a region of the lattice, which is cut into pieces of REGION_COLUMNS by REGION_ROWS cells. across holds the
// first and the last piece of each row of pieces. All these arrays are in one buffer, at DownsAt and so on.
typedef struct {
	i64 inStart, inStride, inDistance; // in bytes
	i64 outStart, outStride, outDistance;
	i32 downsAt, overAt, edgesAt, startsAt, acrossAt;
	i32 width, height, channels; // of the image
	i32 rows, columns; // of a lattice as written
	i32 split; // 1 if even and odd rows make two lattices, see lattice.cl
	i32 runs, overs, mirrored; // Overs is over of the last line
	i32 everywhere; // whether to write cells outside of the region too
	i32 tileChannels, channelGroups, tileChannelsInverse; // tiles that share their cells; 2^16 / TileChannels, rounded up
	i32 tileCells, tilesAcross, tilesDown; // TileCells of a row
	i32 wide; // whether 16 bytes of a tile can be written at once
	f32 tangent;
} Lattice;
#ifndef __OPENCL_VERSION__
static_assert(sizeof(Lattice) == 144, "Go has another layout");
#endif

// LatticeBoxes is a table, its region, and the number of boxes. across holds the first and the last
// piece of each row of pieces, and down those of each column.
typedef struct {
	i64 start, stride; // of the table, in bytes
	i64 channels, count;
	i32 columns, rows;
	i32 acrossAt, downAt, piecesAcross, piecesDown;
} LatticeBoxes;
#ifndef __OPENCL_VERSION__
static_assert(sizeof(LatticeBoxes) == 56, "Go has another layout");
#endif

// LatticeLines describes the entries of a rotated table on the host, which are laid out line by line. It extends LatticeBoxes;
// see Lattice for the arrays.
typedef struct {
	i64 cornersStride, emptyStride; // bytes of a line; EmptyStride is 0 if entries of empty cells are not wanted
	i32 width, height; // of the image
	i32 rows, columns; // of the whole lattice
	i32 downsAt, overAt, runs, mirrored;
	i32 split, oddColumns, oddRows, accumulate; // parity of the columns and rows of a part of a split lattice; whether to add to what is there
} LatticeLines;
#ifndef __OPENCL_VERSION__
static_assert(sizeof(LatticeLines) == 64, "Go has another layout");
#endif

#endif
