// What lays the cells of a rotation out.
#ifndef LATTICE_H
#define LATTICE_H

// Pixels of a line are counted as x, from the left or, where mirrored, from the
// right, so that x of line y is the cell in row y + down(x) and column
// width-1-x + over[y], and both down and over grow by 0 or 1 at a time. edges[d] is
// the first x whose down is d, and starts[o] the first line whose over is o.
// downs has down(x) in the order of memory, and is as long as a multiple of eight.
//
// The pixels lie in a region of the lattice, which is cut into pieces of REGION_COLUMNS
// by REGION_ROWS cells: across has the first and the last piece of each row of pieces.
// All these are in one buffer, from downsAt and so on.
typedef struct {
	i64 inStart, inStride, inDistance; // in bytes
	i64 outStart, outStride, outDistance;
	i32 downsAt, overAt, edgesAt, startsAt, acrossAt;
	i32 width, height, channels; // of the image
	i32 rows, columns;           // of a lattice as it is written
	i32 split;                   // 1 where even and odd rows make two lattices, see lattice.cl
	i32 runs, overs, mirrored;   // overs is over of the last line
	i32 everywhere;              // whether to write cells outside of the region too
	i32 lanes, laneGroups, lanesInverse;   // channels of a tile; tiles that share their cells; 2^16 / lanes, rounded up
	i32 tileCells, tilesAcross, tilesDown; // tileCells of a row
	i32 wide;                              // whether 16 bytes of a tile can be written at once
	f32 tangent;
} Lattice;

// Boxes of a table: where it and its region are. across has the first and the last
// piece of each row of pieces, and down those of each column.
typedef struct {
	i64 start, stride; // of the table, in bytes
	i64 channels, count;
	i32 columns, rows;
	i32 acrossAt, downAt, piecesAcross, piecesDown;
} LatticeBoxes;

#define REGION_COLUMNS 256
#define REGION_ROWS 128

// A Line is what a tile has of a line of the image: count pixels from that at
// index first on. The one at index m goes to row + downs[m], and to the column that
// is m more or, where x counts from the left, m less than column.
#ifdef __OPENCL_VERSION__
#define ALIGNED(bytes) __attribute__((aligned(bytes)))
typedef struct __attribute__((aligned(16))) { i32 first, count, row, column; } Line;
#define UNROLL
#define NO_UNROLL
#define LAY_KERNEL KERNEL
#else
#define ALIGNED(bytes) alignas(bytes)
struct alignas(16) Line { i32 first, count, row, column; };
struct alignas(16) Sixteen { u32 part[4]; };
#define UNROLL _Pragma("unroll")
#define NO_UNROLL _Pragma("unroll 1")
// Work-groups wait for memory most of the time, and so should be many at once.
#if __CUDA_ARCH__ >= 800
#define LAY_KERNEL(name) extern "C" __global__ void __launch_bounds__(GROUP, GROUP == 128 ? (PIXEL_BYTES == 1 ? 8 : 6) : PIXEL_BYTES == 1 ? 5 : 4) name
#else
#define LAY_KERNEL KERNEL
#endif
#endif

#endif
