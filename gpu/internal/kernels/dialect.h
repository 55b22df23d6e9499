// The differences between CUDA C and OpenCL C, so that one source serves both.
#ifndef DIALECT_H
#define DIALECT_H

#ifdef __OPENCL_VERSION__

#pragma OPENCL FP_CONTRACT OFF
#ifdef FLOAT64
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#endif

#define KERNEL(name) __kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void name
#define FUNCTION static
#define GLOBAL __global
#define LOCAL __local
#define POINTER_TO_LOCAL __local
#define RESTRICT restrict
#define BARRIER barrier(CLK_LOCAL_MEM_FENCE)
#define GROUP_ID ((u32)get_group_id(0))
#define ITEM_ID ((i32)get_local_id(0))
#define ALIGNED(bytes) __attribute__((aligned(bytes)))
#define UNROLL // PoCL takes long to compile loops that are unrolled around barriers
#define NO_UNROLL

typedef uchar u8;
typedef ushort u16;
typedef uint u32;
typedef ulong u64;
typedef short i16;
typedef int i32;
typedef long i64;
typedef float f32;
#ifdef FLOAT64
typedef double f64;
#endif

#else

#define KERNEL(name) extern "C" __global__ void __launch_bounds__(GROUP) name
#define FUNCTION static __device__ __forceinline__
#define GLOBAL
#define LOCAL __shared__
#define POINTER_TO_LOCAL
#define RESTRICT __restrict__
#define BARRIER __syncthreads()
#define GROUP_ID blockIdx.x
#define ITEM_ID ((i32)threadIdx.x)
#define ALIGNED(bytes) alignas(bytes)
#define UNROLL _Pragma("unroll")
#define NO_UNROLL _Pragma("unroll 1")

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef short i16;
typedef int i32;
typedef long long i64;
typedef float f32;
typedef double f64;

#endif

#define PASTE2_(a, b) a##_##b
#define PASTE2(a, b) PASTE2_(a, b)
#define PASTE3(a, b, c) PASTE2(PASTE2(a, b), c)
#define PASTE4(a, b, c, d) PASTE2(PASTE3(a, b, c), d)

#endif
