// What lays the cells of a rotation out.
#ifndef LATTICE_H
#define LATTICE_H

#include "jobs/lattice.h"

#define REGION_COLUMNS 256
#define REGION_ROWS 128

// A Line is what a tile has of a line of the image: count pixels from that at
// index first on. The one at index m goes to row + downs[m], and to the column that
// is m more or, where x counts from the left, m less than column.
typedef struct ALIGNED(16) { i32 first, count, row, column; } Line;

#ifdef __OPENCL_VERSION__
#define LAY_KERNEL KERNEL
#else
struct alignas(16) Sixteen { u32 part[4]; };
// Work-groups wait for memory most of the time, and so should be many at once.
#if __CUDA_ARCH__ >= 800
#define LAY_KERNEL(name) extern "C" __global__ void __launch_bounds__(GROUP, GROUP == 128 ? (PIXEL_BYTES == 1 ? 8 : 6) : PIXEL_BYTES == 1 ? 5 : 4) name
#else
#define LAY_KERNEL KERNEL
#endif
#endif

#endif
