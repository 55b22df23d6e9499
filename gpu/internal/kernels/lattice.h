// The structures from which the cells of a rotated lattice are filled.
#ifndef LATTICE_H
#define LATTICE_H

#include "jobs/lattice.h"

#define REGION_COLUMNS 256
#define REGION_ROWS 128

// A Line is a tile's part of a line of the image: count pixels, from index first on. Pixel m goes
// to row + downs[m] and to column + m or, if x counts from the left, column - m.
typedef struct ALIGNED(16) { i32 first, count, row, column; } Line;

#ifdef __OPENCL_VERSION__
#define LAY_KERNEL KERNEL
#else
struct alignas(16) Sixteen { u32 part[4]; };
// Work-groups mostly wait for memory, so many should be resident.
#if __CUDA_ARCH__ >= 800
#define LAY_KERNEL(name) extern "C" __global__ void __launch_bounds__(GROUP, GROUP == 128 ? (PIXEL_BYTES == 1 ? 8 : 6) : PIXEL_BYTES == 1 ? 5 : 4) name
#else
#define LAY_KERNEL KERNEL
#endif
#endif

#endif
