// What the kernels of rotated tables share: where the cells of a lattice lie.
#ifndef LATTICE_H
#define LATTICE_H

// Pixels of a line are counted as x, from the left or, where mirrored, from the
// right, so that x of line y is the cell in row y + down[x] and column
// width-1-x + over[y], and both down and over grow by 0 or 1 at a time. edges[d] is
// the first x whose down is d. Rows are kept in bands as high as tiles, and of each
// band the columns from low to high; starts says where a band begins. All these are
// arrays in one buffer, starts of 64 bits and the others of 32.
typedef struct {
	i64 startsAt; // in values of 64 bits
	i64 rowsStart, columnsStart; // of the sums of whole rows and columns, in bytes from where the table begins
	i32 downAt, overAt, edgesAt, lowAt, highAt;
	i32 width, height; // of the image
	i32 runs, mirrored;
	i32 lineShift; // work-items that share a line of the image, as a power of two
	f32 tangent;
	i32 padding;
} Lattice;

// A Corners job answers boxes.
typedef struct {
	i64 start, rowsStart, columnsStart; // in bytes
	i64 startsAt;
	i32 lowAt, highAt;
	i32 channels, columns;
	i32 leftTurn, rightTurn, bandRows, padding;
	i64 count;
} Corners;

// A Line is what a band has of a line of the image: count pixels from x on. Of x,
// the row in the band is (start + down[x] * PITCH) / PITCH, and the column in the
// tile column - x.
#ifdef __OPENCL_VERSION__
typedef struct __attribute__((aligned(16))) { i32 x, count, start, column; } Line;
#else
struct alignas(16) Line { i32 x, count, start, column; };
#endif

// Work-groups that only wait for memory now and then should be many at once.
#ifdef __OPENCL_VERSION__
#define BUSY_KERNEL KERNEL
#define UNROLL
#else
#define UNROLL _Pragma("unroll")
#if __CUDA_ARCH__ >= 800
#define AT_ONCE_THREADS 1536
#else
#define AT_ONCE_THREADS 1024
#endif
#define BUSY_KERNEL(name) extern "C" __global__ void __launch_bounds__(GROUP, AT_ONCE_THREADS / GROUP) name
#endif

#endif
