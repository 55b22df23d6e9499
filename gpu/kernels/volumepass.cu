// The one-pass kernels of volumes with one channel. Signed sums are the same bits
// as unsigned ones.

#include "volumepass.h"

typedef float f32;
typedef double f64;

namespace {

// Tuned is how a block works on voxels of PB bytes and sums of TB: warps, rows of
// each, stages of voxels, warps of scouts, and slices at a time. Chips before 9.0 have
// less shared memory.
template <class P, class T, int PB = sizeof(P), int TB = sizeof(T)>
struct Tuned;

#define BOXSUM_TUNE(pb, tb, ...) \
  template <class P, class T>    \
  struct Tuned<P, T, pb, tb> : March<P, T, __VA_ARGS__> {};

#if __CUDA_ARCH__ >= 900
BOXSUM_TUNE(1, 4, 16, 4, 8, 4, 1)
BOXSUM_TUNE(1, 8, 8, 4, 8, 4, 1)
BOXSUM_TUNE(2, 8, 8, 4, 8, 4, 1)
BOXSUM_TUNE(4, 4, 16, 4, 4, 4, 1)
BOXSUM_TUNE(4, 8, 8, 4, 4, 4, 1)
BOXSUM_TUNE(8, 8, 8, 4, 4, 4, 1)
#else
BOXSUM_TUNE(1, 4, 8, 4, 8, 2, 1)
BOXSUM_TUNE(1, 8, 8, 4, 8, 2, 1)
BOXSUM_TUNE(2, 8, 8, 4, 4, 2, 1)
BOXSUM_TUNE(4, 4, 8, 4, 4, 2, 1)
BOXSUM_TUNE(4, 8, 8, 4, 3, 2, 1)
BOXSUM_TUNE(8, 8, 8, 4, 2, 2, 1)
#endif

// Tables of float32 are of voxels less a constant.
template <class T>
struct Summed { typedef Plain<T> Op; };
template <>
struct Summed<float> { typedef Shifted<float> Op; };

}  // namespace

// A kernel, and shape_ with its name: a volumeShape of gpu/volume_fast.go.
#define BOXSUM_VOLUME(P, T)                                                                                                       \
  typedef Tuned<P, T> March_##P##_##T;                                                                                            \
  extern "C" __device__ int shape_volumepass_##P##_##T[6] = {kWidth, March_##P##_##T::height, March_##P##_##T::threads,           \
                                                            (int)sizeof(March_##P##_##T::Memory), March_##P##_##T::words,         \
                                                            (int)sizeof(BoxsumVolume)};                                           \
  extern "C" __global__ void __launch_bounds__(March_##P##_##T::threads, 1) volumepass_##P##_##T(const __grid_constant__ BoxsumVolume job) { \
    marchThrough<March_##P##_##T, Summed<T>::Op>(job);                                                                            \
  }                                                                                                                               \
  extern "C" __global__ void __launch_bounds__(256) volumepass_##P##_##T##_planes(const __grid_constant__ BoxsumVolume job) {     \
    addUp<March_##P##_##T, Summed<T>::Op>(job);                                                                                   \
  }

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
