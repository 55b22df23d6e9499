// The one-pass kernels that write a table of sums, for 1 to 4 channels.
// Signed sums are the same bits as unsigned ones.

#include "shapes.h"

typedef float f32;
typedef double f64;

#define BOXSUM_SUMS(P, T, C)                         \
  typedef Tuned<P, T, None, C>::type Shape_##P##_##T##_c##C; \
  BOXSUM_KERNEL(fast_##P##_##T##_c##C, Shape_##P##_##T##_c##C, T, None)

#define BOXSUM_CHANNELS(P, T) BOXSUM_SUMS(P, T, 1) BOXSUM_SUMS(P, T, 2) BOXSUM_SUMS(P, T, 3) BOXSUM_SUMS(P, T, 4)

BOXSUM_CHANNELS(u8, u32)
BOXSUM_CHANNELS(u8, u64)
BOXSUM_CHANNELS(u8, f32)
BOXSUM_CHANNELS(u8, f64)
BOXSUM_CHANNELS(u16, u64)
BOXSUM_CHANNELS(u16, f64)
BOXSUM_CHANNELS(u32, u32)
BOXSUM_CHANNELS(u32, u64)
BOXSUM_CHANNELS(i16, u64)
BOXSUM_CHANNELS(i32, u64)
BOXSUM_CHANNELS(f32, f32)
BOXSUM_CHANNELS(f32, f64)
BOXSUM_CHANNELS(f64, f64)
