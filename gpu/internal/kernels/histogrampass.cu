// The kernels of integral histograms in two launches.

#include "histogrampass.h"

// As many blocks as one row each of 1080p needs fit at once.
#define BOXSUM_COUNT(P) \
  extern "C" __global__ void __launch_bounds__(kCountThreads, sizeof(P) < 8 ? 9 : 5) histogrampass_count_##P(const __grid_constant__ BoxsumHistogram job) { countRow<P>(job); }

BOXSUM_COUNT(u8)
BOXSUM_COUNT(u16)
BOXSUM_COUNT(i16)
BOXSUM_COUNT(u32)
BOXSUM_COUNT(i32)
BOXSUM_COUNT(f32)
BOXSUM_COUNT(f64)

// For images of bytes, and for the bins of others. The number is how many columns a
// warp has at a time.
#define BOXSUM_STRIP(P, across, steps)                                                                                                                              \
  extern "C" __global__ void __launch_bounds__(Strip<P, across, steps>::threads) histogrampass_write_##P##_##across(const __grid_constant__ BoxsumHistogram job) { \
    Strip<P, across, steps>::write(job);                                                                                                                           \
  }
#define BOXSUM_WRITE(across, steps) \
  BOXSUM_STRIP(u8, across, steps)   \
  BOXSUM_STRIP(u16, across, steps)

BOXSUM_WRITE(1, 2)
BOXSUM_WRITE(2, 1)
BOXSUM_WRITE(4, 1)
BOXSUM_WRITE(8, 1)
BOXSUM_WRITE(16, 1)
