// What lays the cells of a rotation out.
#ifndef LATTICE_H
#define LATTICE_H

// Pixels of a line are counted as x, from the left or, where mirrored, from the
// right, so that x of line y is the cell in row y + down(x) and column
// width-1-x + over[y], and both down and over grow by 0 or 1 at a time. edges[d] is
// the first x whose down is d. downs has down(x) in the order of memory, and is as
// long as a multiple of four. The three are in one buffer, from downsAt, overAt and
// edgesAt on.
typedef struct {
	i64 inStart, inStride, inDistance; // in bytes
	i64 outStart, outStride, outDistance;
	i32 downsAt, overAt, edgesAt;
	i32 width, height, channels; // of the image
	i32 rows, columns;           // of a lattice as it is written
	i32 split;                   // 1 where even and odd rows make two lattices, see lattice.cl
	i32 runs, mirrored;
	i32 lanes, laneGroups, lanesInverse;   // channels of a tile; tiles that share their cells; 2^16 / lanes, rounded up
	i32 tileCells, tilesAcross, tilesDown; // tileCells of a row
	i32 quads, wide;                       // whether four pixels can be read at once, and 16 bytes of a tile written
	f32 tangent;
} Lattice;

// A Line is what a tile has of a line of the image: count pixels from that at
// index first on. The one at index m goes to row + downs[m], and to the column that
// is m more or, where x counts from the left, m less than column.
#ifdef __OPENCL_VERSION__
#define ALIGNED(bytes) __attribute__((aligned(bytes)))
#define LAY_FUNCTION static __attribute__((always_inline)) // PoCL 3.1 loses what others write to local memory
typedef struct __attribute__((aligned(16))) { i32 first, count, row, column; } Line;
typedef struct __attribute__((aligned(16))) { i32 part[4]; } Four;
#define UNROLL
#define LAY_KERNEL KERNEL
#else
#define ALIGNED(bytes) alignas(bytes)
#define LAY_FUNCTION FUNCTION
struct alignas(16) Line { i32 first, count, row, column; };
struct alignas(16) Four { i32 part[4]; };
struct alignas(16) Sixteen { u32 part[4]; };
#define UNROLL _Pragma("unroll")
// Work-groups wait for memory most of the time, and so should be many at once.
#if __CUDA_ARCH__ >= 800
#define LAY_KERNEL(name) extern "C" __global__ void __launch_bounds__(GROUP, PIXEL_BYTES == 1 ? 5 : 4) name
#else
#define LAY_KERNEL KERNEL
#endif
#endif

#endif
