// Which bin a pixel is in, and how integral histograms are cut for CUDA.
#pragma once

#include "common.h"
#include "jobs/histogram_pass.h"

namespace {

constexpr int kTile = 32;      // columns
constexpr int kStrip = 16;     // columns, which divides kTile
constexpr int kBatch = 32;     // rows that a strip goes down between two barriers
constexpr int kLead = 3;       // batches that a strip may be ahead of others
constexpr int kSplit = 4;      // warps that count a row
constexpr int kCountThreads = 32 * kSplit;
constexpr int kShare = 16;     // tiles of a row that a warp counts at a time
constexpr u32 kNone = 0xffff;  // the bin of pixels that count in none

// A Voter finds the pixels of 32, one to a lane, that have a lane's bin.
struct Voter {
  u32 flips[5];  // where the bin has a zero

  __device__ explicit Voter(u32 bin) {
#pragma unroll
    for (int b = 0; b < 5; b++) {
      flips[b] = (bin >> b & 1) - 1;
      asm("" : "+r"(flips[b]));  // stays in a register
    }
  }

  __device__ __forceinline__ u32 mask(u32 bin, u32 lanes) const {
    u32 same = __ballot_sync(~0u, bin < lanes);
#pragma unroll
    for (int b = 0; b < 5; b++) same &= __ballot_sync(~0u, (bin & 1u << b) != 0) ^ flips[b];
    return same;
  }
};

template <class P>
struct alignas(sizeof(P) < 4 ? 4 * sizeof(P) : 16) Quad { P part[4]; };
struct alignas(8) QuadBins { u16 part[4]; };

// A Binner finds the bin of a value: bytes have a table, and others the smallest
// value of each bin and the smallest beyond the last one, as far as there are such values.
template <class P>
struct Binner {
  P limits[257];

  __device__ void prepare(const HistogramPass &job) {
    for (int i = threadIdx.x; i < job.limitCount; i += blockDim.x) limits[i] = ((const P *)job.limits)[i];
  }

  __device__ u32 operator()(const HistogramPass &job, P value) const {
    int low = 0, high = job.limitCount;  // of these, how many are at most value
    while (low < high) {
      int middle = (low + high) / 2;
      if (value >= limits[middle])
        low = middle + 1;
      else
        high = middle;
    }
    return low > 0 && low <= job.bins ? low - 1 : kNone;
  }
};

template <>
struct Binner<u8> {
  alignas(4) u16 table[256];

  __device__ void prepare(const HistogramPass &job) {
    for (int i = threadIdx.x; i < 128; i += blockDim.x) ((u32 *)table)[i] = ((const u32 *)job.table)[i];
  }

  __device__ u32 operator()(const HistogramPass &, u8 value) const { return table[value]; }
};

}  // namespace
