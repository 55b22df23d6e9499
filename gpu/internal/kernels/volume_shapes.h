// The tuning of the one-pass kernels of one-channel volumes, and the macros that declare kernels.
#pragma once

#include "volume_pass.h"

namespace {

// Tuned is how a block processes PB-byte voxels and TB-byte sums: warps, rows of each, stages of
// voxels, carry warps, and whether sums go through shared memory. Chips before 9.0 have less shared
// memory and no bulk copies out of it.
template <class P, class T, int PB = sizeof(P), int TB = sizeof(T)>
struct Tuned;

#define BOXSUM_TUNE(pb, tb, ...) \
  template <class P, class T>    \
  struct Tuned<P, T, pb, tb> : VolumeTile<P, T, __VA_ARGS__> {};

#if __CUDA_ARCH__ >= 900
BOXSUM_TUNE(1, 4, 8, 8, 8, 8, true)
BOXSUM_TUNE(1, 8, 8, 4, 8, 8, true)
BOXSUM_TUNE(2, 8, 8, 4, 8, 4, true)
BOXSUM_TUNE(4, 4, 16, 4, 3, 4, true)
BOXSUM_TUNE(4, 8, 8, 4, 4, 4)
BOXSUM_TUNE(8, 8, 8, 4, 4, 4)
// Float sums need more registers.
template <>
struct Tuned<u8, f32, 1, 4> : VolumeTile<u8, f32, 16, 4, 8, 4, true> {};
template <>
struct Tuned<u8, f64, 1, 8> : VolumeTile<u8, f64, 8, 4, 8, 4, true> {};
#else
BOXSUM_TUNE(1, 4, 8, 4, 8, 2)
BOXSUM_TUNE(1, 8, 8, 4, 8, 2)
BOXSUM_TUNE(2, 8, 8, 4, 4, 2)
BOXSUM_TUNE(4, 4, 8, 4, 4, 2)
BOXSUM_TUNE(4, 8, 8, 4, 3, 2)
BOXSUM_TUNE(8, 8, 8, 4, 2, 2)
#endif

// Squares of bytes need wider sums than bytes do.
template <class P, class T>
struct TunedForSquares : Tuned<P, T> {};
#if __CUDA_ARCH__ >= 900
template <>
struct TunedForSquares<u8, u64> : VolumeTile<u8, u64, 8, 4, 8, 4, true> {};
#endif

}  // namespace

// Declares a kernel, the kernel that adds up its slabs, and the variable shape_NAME that the host
// reads.
#define BOXSUM_VOLUME(name, M, Op)                                                                                                              \
  extern "C" __device__ VolumeShape shape_##name = {kWidth, M::height, M::threads, (int)sizeof(M::Memory), M::words, (int)sizeof(VolumePass)};   \
  extern "C" __global__ void __launch_bounds__(M::threads, 1) name(const __grid_constant__ VolumePass job) { volumePass<M, Op>(job); }           \
  extern "C" __global__ void __launch_bounds__(256) name##_planes(const __grid_constant__ VolumePass job) { sumSlabs<M, Op>(job); }

#define BOXSUM_VOLUME_SUMS(P, T)       \
  typedef Tuned<P, T> Tile_##P##_##T; \
  BOXSUM_VOLUME(volumepass_##P##_##T, Tile_##P##_##T, Summed<T>::Op)
#define BOXSUM_VOLUME_SQUARES(P, T)                    \
  typedef TunedForSquares<P, T> SquaresTile_##P##_##T; \
  BOXSUM_VOLUME(volumepass_square_##P##_##T, SquaresTile_##P##_##T, Squared<T>)
