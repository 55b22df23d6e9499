// Integral histograms in one launch, for the most usual types of pixels.

#define ONE_LAUNCH
#include "dialect.h"
#include "histogram.h"
#include "counts.h"

namespace {

// What the host tells besides the job; gpu/histogram_job.go has the same struct.
// Three counters count on from launch to launch, from these bases: tickets drawn,
// tiles counted, carries done.
struct Turns {
  u32* tickets;
  u32 ticketBase, tileBase, carryBase;
  u32 tiles, carries, bands;  // tickets of each kind
  i64 teams;
};

// awaitCount has a block wait until a counter has come so far.
__device__ inline void awaitCount(const u32* counter, u32 base, u32 count, int item) {
  if (item == 0) {
    u32 now;
    do asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(now) : "l"(counter) : "memory");
    while (now - base < count);
  }
  __syncthreads();
}

// countDone counts once for all of a block, after what they wrote.
__device__ inline void countDone(u32* counter, int item) {
  __syncthreads();
  if (item == 0) {
    __threadfence();
    atomicAdd(counter, 1u);
  }
}

}  // namespace

namespace pass_u8 {
#define PIXEL u8
#define PIXEL_BYTES 1
#include "histogrampass.h"
}
namespace pass_u16 {
#define PIXEL u16
#define PIXEL_BYTES 2
#include "histogrampass.h"
}
namespace pass_f32 {
#define PIXEL f32
#define PIXEL_BYTES 4
#include "histogrampass.h"
}
