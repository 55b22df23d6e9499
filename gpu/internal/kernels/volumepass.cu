// The one-pass kernels of volumes with one channel. Signed sums are the same bits
// as unsigned ones.

#include "volumepass.h"

typedef float f32;
typedef double f64;

namespace {

// Tuned is how a block works on voxels of PB bytes and sums of TB: warps, rows of
// each, stages of voxels, warps of scouts, and whether sums go by way of shared memory.
// Chips before 9.0 have less of it, and do not copy from there on their own.
template <class P, class T, int PB = sizeof(P), int TB = sizeof(T)>
struct Tuned;

#define BOXSUM_TUNE(pb, tb, ...) \
  template <class P, class T>    \
  struct Tuned<P, T, pb, tb> : March<P, T, __VA_ARGS__> {};

#if __CUDA_ARCH__ >= 900
BOXSUM_TUNE(1, 4, 8, 8, 8, 8, true)
BOXSUM_TUNE(1, 8, 8, 4, 8, 8, true)
BOXSUM_TUNE(2, 8, 8, 4, 8, 4, true)
BOXSUM_TUNE(4, 4, 16, 4, 3, 4, true)
BOXSUM_TUNE(4, 8, 8, 4, 4, 4)
BOXSUM_TUNE(8, 8, 8, 4, 4, 4)
// Sums of floats need more registers.
template <>
struct Tuned<u8, f32, 1, 4> : March<u8, f32, 16, 4, 8, 4, true> {};
template <>
struct Tuned<u8, f64, 1, 8> : March<u8, f64, 8, 4, 8, 4, true> {};
#else
BOXSUM_TUNE(1, 4, 8, 4, 8, 2)
BOXSUM_TUNE(1, 8, 8, 4, 8, 2)
BOXSUM_TUNE(2, 8, 8, 4, 4, 2)
BOXSUM_TUNE(4, 4, 8, 4, 4, 2)
BOXSUM_TUNE(4, 8, 8, 4, 3, 2)
BOXSUM_TUNE(8, 8, 8, 4, 2, 2)
#endif

// Squares of bytes are not summed as bytes.
template <class P, class T>
struct TunedForSquares : Tuned<P, T> {};
#if __CUDA_ARCH__ >= 900
template <>
struct TunedForSquares<u8, u64> : March<u8, u64, 8, 4, 8, 4, true> {};
#endif

// Tables of float32 are of voxels less a constant.
template <class T>
struct Summed { typedef Plain<T> Op; };
template <>
struct Summed<float> { typedef Shifted<float> Op; };

}  // namespace

// A kernel by its name, and shape_ with that name: a volumeShape of gpu/volume_fast.go.
#define BOXSUM_MARCH(name, M, Op)                                                                                                     \
  extern "C" __device__ int shape_##name[6] = {kWidth, M::height, M::threads, (int)sizeof(M::Memory), M::words, (int)sizeof(BoxsumVolume)}; \
  extern "C" __global__ void __launch_bounds__(M::threads, 1) name(const __grid_constant__ BoxsumVolume job) { marchThrough<M, Op>(job); } \
  extern "C" __global__ void __launch_bounds__(256) name##_planes(const __grid_constant__ BoxsumVolume job) { addUp<M, Op>(job); }

#define BOXSUM_VOLUME(P, T)        \
  typedef Tuned<P, T> March_##P##_##T; \
  BOXSUM_MARCH(volumepass_##P##_##T, March_##P##_##T, Summed<T>::Op)
#define BOXSUM_SQUARES(P, T)                       \
  typedef TunedForSquares<P, T> MarchSquares_##P##_##T; \
  BOXSUM_MARCH(volumepass_square_##P##_##T, MarchSquares_##P##_##T, Squared<T>)

BOXSUM_VOLUME(u8, u32)
BOXSUM_VOLUME(u8, u64)
BOXSUM_VOLUME(u8, f32)
BOXSUM_VOLUME(u8, f64)
BOXSUM_VOLUME(u16, u64)
BOXSUM_VOLUME(u16, f64)
BOXSUM_VOLUME(u32, u32)
BOXSUM_VOLUME(u32, u64)
BOXSUM_VOLUME(i16, u64)
BOXSUM_VOLUME(i32, u64)
BOXSUM_VOLUME(f32, f32)
BOXSUM_VOLUME(f32, f64)
BOXSUM_VOLUME(f64, f64)

BOXSUM_SQUARES(u8, u64)
BOXSUM_SQUARES(u16, u64)
BOXSUM_SQUARES(i16, u64)
BOXSUM_SQUARES(i32, u64)
BOXSUM_SQUARES(i32, f64)
BOXSUM_SQUARES(u32, u64)
BOXSUM_SQUARES(u32, f64)
BOXSUM_SQUARES(f32, f64)
BOXSUM_SQUARES(f64, f64)
