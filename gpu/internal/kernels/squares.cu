// The one-pass kernels that write a table of sums and one of squares, for 1 to
// 4 channels.

#include "shapes.h"

typedef float f32;
typedef double f64;

#define BOXSUM_SQUARES(P, T, Q, C)                           \
  typedef Tuned<P, T, Q, C>::type Shape_##P##_##T##_##Q##_c##C; \
  BOXSUM_KERNEL(fast_##P##_##T##_##Q##_c##C, Shape_##P##_##T##_##Q##_c##C, T, Q)

#define BOXSUM_CHANNELS(P, T, Q) BOXSUM_SQUARES(P, T, Q, 1) BOXSUM_SQUARES(P, T, Q, 2) BOXSUM_SQUARES(P, T, Q, 3) BOXSUM_SQUARES(P, T, Q, 4)

BOXSUM_CHANNELS(u8, u32, u64)
BOXSUM_CHANNELS(u8, u64, u64)
BOXSUM_CHANNELS(u8, f32, u64)
BOXSUM_CHANNELS(u8, f64, u64)
BOXSUM_CHANNELS(u16, u64, u64)
BOXSUM_CHANNELS(u16, f64, u64)
BOXSUM_CHANNELS(u32, u32, u64)
BOXSUM_CHANNELS(u32, u32, f64)
BOXSUM_CHANNELS(u32, u64, u64)
BOXSUM_CHANNELS(u32, u64, f64)
BOXSUM_CHANNELS(i16, u64, u64)
BOXSUM_CHANNELS(i32, u64, u64)
BOXSUM_CHANNELS(i32, u64, f64)
BOXSUM_CHANNELS(f32, f32, f64)
BOXSUM_CHANNELS(f32, f64, f64)
BOXSUM_CHANNELS(f64, f64, f64)
