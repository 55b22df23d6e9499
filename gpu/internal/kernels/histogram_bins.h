// The bin of a pixel, and how integral histograms are partitioned for CUDA.
#pragma once

#include "common.h"
#include "jobs/histogram_pass.h"

namespace {

constexpr int kTile = 32;      // columns
constexpr int kStrip = 16;     // columns, which divide kTile
constexpr int kWide = 32;      // columns of strips for wide images
constexpr int kBatch = 32;     // rows that a strip processes between two barriers
constexpr int kLead = 3;       // batches that a strip may be ahead of the slowest
constexpr int kSplit = 4;      // warps that count a row
constexpr int kCountThreads = 32 * kSplit;
constexpr int kShare = 16;     // tiles of a row that a warp counts at a time
constexpr u32 kNone = 0xffff;  // the bin of pixels outside of all bins

// A Voter finds which of 32 pixels, one per lane, are in the calling lane's bin.
struct Voter {
  u32 flips[5];  // all ones where the bin's bit is zero

  __device__ explicit Voter(u32 bin) {
#pragma unroll
    for (int b = 0; b < 5; b++) {
      flips[b] = (bin >> b & 1) - 1;
      asm("" : "+r"(flips[b]));  // keeps it in a register
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

// A Binner finds the bin of a value: from a table for bytes; otherwise by binary search in the
// smallest values of all bins and the first value beyond the last bin, if it is representable.
template <class P>
struct Binner {
  P limits[257];

  __device__ void prepare(const HistogramPass &job) {
    for (int i = threadIdx.x; i < job.limitCount; i += blockDim.x) limits[i] = ((const P *)job.limits)[i];
  }

  __device__ u32 operator()(const HistogramPass &job, P value) const {
    int low = 0, high = job.limitCount;  // number of limits that are at most value
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
