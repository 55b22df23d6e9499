// Additions to dialect.h for the kernels of package papers: vectors of four floats, and work-groups
// of any size.
#ifndef PAPERS_H
#define PAPERS_H

#ifdef __OPENCL_VERSION__
#define ANY_GROUP_KERNEL(name) __kernel void name
#define ITEMS ((u32)get_local_size(0))
typedef float4 f32x4;
#define MAKE4(a, b, c, d) ((float4)((a), (b), (c), (d)))
#define ADD4(a, b) ((a) + (b))
#else
#define ANY_GROUP_KERNEL(name) extern "C" __global__ void __launch_bounds__(1024) name
#define ITEMS blockDim.x
typedef float4 f32x4;
#define MAKE4(a, b, c, d) make_float4((a), (b), (c), (d))
#define ADD4(a, b) add4((a), (b))
FUNCTION f32x4 add4(f32x4 a, f32x4 b) { return make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w); }
#endif

#define ZERO4 MAKE4(0, 0, 0, 0)

#define TILE 16  // BLOCK_DIM of Bilgic's transpose
#define BANKS 32 // of shared memory; the card of 2010 had 16

#endif
