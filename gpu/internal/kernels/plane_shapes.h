// The tuning of the one-pass kernels: the tile sizes and the order in which tiles are drawn. Then
// the macros that declare kernels.
#pragma once

#include "plane_pass.h"

namespace {

#if __CUDA_ARCH__ >= 900
constexpr int kSharedBytes = 227 << 10;
#else
constexpr int kSharedBytes = 99 << 10;  // on all chips from 8.0 on
#endif

// Fit is a tile with as many stages as fit in shared memory.
template <class P, class T, class Q, int C, int WX, int WY, int RW, int ReduceWarps, int Stages = 8>
struct Fit {
  typedef PlaneTile<P, C, WX, WY, RW, Stages, ReduceWarps> Full;
  static_assert(Stages >= 2, "no tile would be on its way while another is worked on: make the tile smaller");
  static constexpr bool fits = sizeof(Memory<Full, T, Q>) <= kSharedBytes;
  struct Fewer { typedef typename Fit<P, T, Q, C, WX, WY, RW, ReduceWarps, Stages - 1>::type type; };
  struct Found { typedef Full type; };
  typedef typename Pick<fits, Found, Fewer>::type::type type;
};

// Tuned is the tile for PB-byte pixels and TB-byte sums, with or without squares. The arguments are
// warps across, warps down, rows of each, and warps that reduce.
template <class P, class T, class Q, int C, int PB = sizeof(P), int TB = sizeof(T), bool Squares = !Same<Q, None>::value>
struct Tuned;

#define BOXSUM_TUNE(pb, tb, squares, ...) \
  template <class P, class T, class Q, int C>       \
  struct Tuned<P, T, Q, C, pb, tb, squares> : Fit<P, T, Q, C, __VA_ARGS__> {};

// Three channels have tiles of their own, as their lanes have more values.
#define BOXSUM_TUNE3(pb, tb, squares, ...) \
  template <class P, class T, class Q>       \
  struct Tuned<P, T, Q, 3, pb, tb, squares> : Fit<P, T, Q, 3, __VA_ARGS__> {};

#if __CUDA_ARCH__ >= 900
BOXSUM_TUNE(1, 4, false, 2, 4, 32, 4)
BOXSUM_TUNE(1, 8, false, 2, 4, (C == 4 ? 16 : 32), 4)
BOXSUM_TUNE(2, 8, false, 1, (C > 1 ? 4 : 8), (C > 1 ? 32 : 16), 4)
BOXSUM_TUNE(4, 4, false, (C > 1 ? 2 : 1), (C > 1 ? 4 : 8), 16, 4)
BOXSUM_TUNE(4, 8, false, 1, 4, (C > 1 ? 16 : 32), 4)
BOXSUM_TUNE(8, 8, false, 1, 4, (C == 1 || C == 4 ? 16 : 8), 4)
BOXSUM_TUNE(1, 4, true, 2, 4, (C > 1 ? 16 : 32), 4)
BOXSUM_TUNE(1, 8, true, 2, 4, 16, 4)
BOXSUM_TUNE(2, 8, true, 1, (C == 4 ? 4 : 8), 16, 4)
BOXSUM_TUNE(4, 4, true, 1, (C == 4 ? 4 : 6), 16, 4)
BOXSUM_TUNE(4, 8, true, 1, (C == 4 ? 4 : 6), 16, 4)
BOXSUM_TUNE(8, 8, true, 1, 4, 16, 4)
BOXSUM_TUNE3(1, 4, false, 1, 8, 8, 4)
BOXSUM_TUNE3(1, 8, false, 1, 4, 16, 4)
BOXSUM_TUNE3(2, 8, false, 1, 4, 16, 4)
BOXSUM_TUNE3(4, 4, false, 1, 8, 8, 4)
BOXSUM_TUNE3(4, 8, false, 1, 7, 8, 3)
BOXSUM_TUNE3(8, 8, false, 1, 4, 16, 4)
BOXSUM_TUNE3(1, 4, true, 1, 4, 16, 4)
BOXSUM_TUNE3(1, 8, true, 1, 4, 16, 4)
BOXSUM_TUNE3(2, 8, true, 1, 4, 16, 4)
BOXSUM_TUNE3(4, 4, true, 1, 6, 8, 4)
BOXSUM_TUNE3(4, 8, true, 1, 6, 8, 4)
BOXSUM_TUNE3(8, 8, true, 1, 6, 8, 4)
#else
BOXSUM_TUNE(1, 4, false, 1, 8, 16, 4)
BOXSUM_TUNE(1, 8, false, 1, 8, 8, 4)
BOXSUM_TUNE(2, 8, false, 1, 8, 4, 4)
BOXSUM_TUNE(4, 4, false, 1, 8, 4, 4)
BOXSUM_TUNE(4, 8, false, 1, 4, 8, 4)
BOXSUM_TUNE(8, 8, false, 1, 4, 4, 4)
BOXSUM_TUNE(1, 4, true, 1, 4, 8, 4)
BOXSUM_TUNE(1, 8, true, 1, 4, 8, 4)
BOXSUM_TUNE(2, 8, true, 1, 4, 4, 4)
BOXSUM_TUNE(4, 4, true, 1, 4, 8, 4)
BOXSUM_TUNE(4, 8, true, 1, 4, 4, 4)
BOXSUM_TUNE(8, 8, true, 1, 4, 2, 4)
BOXSUM_TUNE3(1, 4, false, 1, 6, 8, 4)
BOXSUM_TUNE3(1, 8, false, 1, 4, 8, 4)
BOXSUM_TUNE3(2, 8, false, 1, 6, 8, 4)
BOXSUM_TUNE3(4, 4, false, 1, 8, 4, 4)
BOXSUM_TUNE3(4, 8, false, 1, 6, 4, 4)
BOXSUM_TUNE3(8, 8, false, 1, 3, 4, 4)
BOXSUM_TUNE3(1, 4, true, 1, 3, 8, 4)
BOXSUM_TUNE3(1, 8, true, 1, 2, 8, 4)
BOXSUM_TUNE3(2, 8, true, 1, 4, 8, 4)
BOXSUM_TUNE3(4, 4, true, 1, 5, 4, 4)
BOXSUM_TUNE3(4, 8, true, 1, 4, 4, 4)
BOXSUM_TUNE3(8, 8, true, 1, 4, 2, 4)
#endif

template <class S, class T>
struct WordsOf { static constexpr int value = StatusLayout<S, T>::words; };
template <class S>
struct WordsOf<S, None> { static constexpr int value = 0; };

// Order is how tiles of large images are drawn, see PlanePass; lag is the maximum. Integers may
// look back far, since they can be added in any order.
template <class S, class T, class Q>
struct Order {
  static constexpr int pixel = sizeof(typename S::P);
  static constexpr bool sums = Same<Q, None>::value;  // no squares
  static constexpr bool integers = !IsFloat<T>::value && (S::C == 1 ? sums || pixel < 4 : S::C < 4 && sums && pixel == 1);
#if __CUDA_ARCH__ >= 900
  static constexpr int strip = integers && pixel < 4 ? 128 : 0, lag = integers ? 5 : 1;
  static constexpr int ahead = pixel < 8 ? (3 << 20) / (S::width * S::height * pixel) : 0;
#else
  static constexpr int strip = integers && sums && S::C == 1 && pixel == 1 && sizeof(T) == 4 ? 128 : 0, lag = 0, ahead = 0;
#endif
};

}  // namespace

// Declares a kernel and the variable shape_NAME that the host reads.
#define BOXSUM_KERNEL(name, S, T, Q)                                                                                 \
  extern "C" __device__ PlaneShape shape_##name = {S::width, S::height, S::threads, (int)sizeof(Memory<S, T, Q>), \
                                                       WordsOf<S, T>::value, WordsOf<S, Q>::value, (int)sizeof(PlanePass), \
                                                       Order<S, T, Q>::strip, Order<S, T, Q>::lag, Order<S, T, Q>::ahead};    \
  extern "C" __global__ void __launch_bounds__(S::threads, 1) name(const __grid_constant__ PlanePass job) {        \
    planePass<S, T, Q, Summed<T>::Op>(job);                                                                           \
  }

// Kernels of sums, and of sums and squares, for 1 to 4 channels.
#define BOXSUM_SUMS_OF(P, T, C)                             \
  typedef Tuned<P, T, None, C>::type Tile_##P##_##T##_c##C; \
  BOXSUM_KERNEL(fast_##P##_##T##_c##C, Tile_##P##_##T##_c##C, T, None)
#define BOXSUM_SQUARES_OF(P, T, Q, C)                          \
  typedef Tuned<P, T, Q, C>::type Tile_##P##_##T##_##Q##_c##C; \
  BOXSUM_KERNEL(fast_##P##_##T##_##Q##_c##C, Tile_##P##_##T##_##Q##_c##C, T, Q)
#define BOXSUM_SUMS(P, T) BOXSUM_SUMS_OF(P, T, 1) BOXSUM_SUMS_OF(P, T, 2) BOXSUM_SUMS_OF(P, T, 3) BOXSUM_SUMS_OF(P, T, 4)
#define BOXSUM_SQUARES(P, T, Q) \
  BOXSUM_SQUARES_OF(P, T, Q, 1) BOXSUM_SQUARES_OF(P, T, Q, 2) BOXSUM_SQUARES_OF(P, T, Q, 3) BOXSUM_SQUARES_OF(P, T, Q, 4)
