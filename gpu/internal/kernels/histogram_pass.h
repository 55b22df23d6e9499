// Integral histograms in two launches, for CUDA. Each lane of a warp has one bin.
//
//	count  finds the bin of every pixel and, for every row, the counts of each bin to the left of each tile
//	write  goes down strips of columns with the table's row in registers, and writes every entry once
//
// A strip is as high as the image, so nothing is carried down. All strips together write the table row after row, which
// suits the memory: strips that are ahead wait for the others. One vote of the warp for each bit of the bin number yields
// the mask of the pixels in a lane's bin.
#pragma once

#include "async.h"
#include "histogram_bins.h"

namespace {

// Shared memory of a block that counts.
template <class P>
struct Counting {
  Binner<P> binner;
  alignas(8) u16 bins[kSplit][kShare * kTile];
  u32 totals[2][kSplit][32];
  u32 runs[kSplit][8][32];  // counts of each group up to a chunk
};

// countRow counts one channel of a row, in chunks that the warps divide among themselves.
template <class P>
__device__ __forceinline__ void countRow(const HistogramPass &job) {
  __shared__ Counting<P> shared;
  if (blockIdx.x == 0)
    for (int i = threadIdx.x; i < job.batches; i += kCountThreads) ((u32 *)job.written)[i] = 0;
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32, parts = job.channels * job.groups;
  u32 row = blockIdx.x / job.channels, channel = blockIdx.x - row * job.channels;  // of all images
  u32 image = row / job.height, y = row - image * job.height;
  const u8 *in = (const u8 *)job.in + image * job.inDistance + y * job.inStride + channel * (int)sizeof(P);
  u16 *plane = (u16 *)job.plane + (((i64)image * job.channels + channel) * job.height + y) * job.tiles * kTile;
  u16 *left = (u16 *)job.left + ((i64)row * job.tiles * parts + channel * job.groups) * job.slots + lane;
  u16 *bins = shared.bins[warp];
  Voter voter(lane % job.slots);
  for (int chunk = 0, turn = 0; chunk < job.tiles; chunk += kSplit * kShare) {
    int all = min(job.tiles - chunk, kSplit * kShare), each = (all + kSplit - 1) / kSplit;
    int first = chunk + warp * each, tiles = max(min(each, all - warp * each), 0);
    Quad<P> raw[kShare / 4];
#pragma unroll
    for (int k = 0; k < kShare / 4; k++) {
      int quad = 32 * k + lane, x = first * kTile + 4 * quad;
      if (quad >= tiles * kTile / 4 || x >= job.width) continue;
      if (job.quadsIn) {
        raw[k] = *(const Quad<P> *)(in + x * (int)sizeof(P));
      } else {
#pragma unroll
        for (int i = 0; i < 4; i++)
          if (x + i < job.width) raw[k].part[i] = *(const P *)(in + (i64)(x + i) * job.channels * (int)sizeof(P));
      }
    }
    if (chunk == 0) {
      shared.binner.prepare(job);
      __syncthreads();
    }
#pragma unroll
    for (int k = 0; k < kShare / 4; k++) {
      int quad = 32 * k + lane, x = first * kTile + 4 * quad;
      bool some = quad < tiles * kTile / 4;
      QuadBins found;
#pragma unroll
      for (int i = 0; i < 4; i++) found.part[i] = some && x + i < job.width ? shared.binner(job, raw[k].part[i]) : kNone;
      *(QuadBins *)&bins[4 * quad] = found;
      if (sizeof(P) > 1 && some) *(QuadBins *)&plane[x] = found;
    }
    __syncwarp();
    for (int group = 0; group < job.groups; group++, turn ^= 1) {
      u32 before[kShare], sum = 0;  // pixels of the share's tiles, and those to the left of each
#pragma unroll
      for (int t = 0; t < kShare; t++) before[t] = (u32)bins[t * kTile + lane] - group * job.groupBins;
#pragma unroll
      for (int t = 0; t < kShare; t++) {
        u32 own = __popc(voter.mask(before[t], job.groupBins));
        before[t] = sum;
        sum += own;
      }
      shared.totals[turn][warp][lane] = sum;
      __syncthreads();
      u32 run = chunk > 0 ? shared.runs[warp][group][lane] : 0, base = run;
#pragma unroll
      for (int s = 0; s < kSplit; s++) {
        u32 other = shared.totals[turn][s][lane];
        run += other;
        if (s < warp) base += other;
      }
      shared.runs[warp][group][lane] = run;
      u16 *to = left + ((i64)first * parts + group) * job.slots;
#pragma unroll
      for (int t = 0; t < kShare; t++, to += parts * job.slots)
        if (t < tiles && lane < job.slots) *to = base + before[t];
    }
    __syncwarp();  // before the bins are overwritten
  }
  letNextBegin();  // not earlier: blocks of the next launch would take the place of this one's
}

// A Strip is the work of a block that writes: some columns, of which a warp has Steps times
// Across. A lane has every Across-th column, so that a warp writes neighboring entries together. P
// is u8 for pixels that are bytes, and u16 for bins.
template <class P, int Across, int Steps, int Columns = kStrip, int Batch = kBatch, int Lead = kLead>
struct Strip {
  static constexpr int slots = 32 / Across, warps = Columns / (Across * Steps), threads = 32 * warps;
  static constexpr int mine = Batch / warps;  // rows of a batch whose masks a warp finds

  static __device__ __forceinline__ void write(const HistogramPass &job) {
    __shared__ uint2 rows[2][Batch][32];  // for each lane: the row's mask from the strip on, and the count to the left of it
    __shared__ Binner<u8> binner;         // of bytes
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32, slot = lane % slots, parts = job.channels * job.groups;
    int part = blockIdx.x % parts, stripX = blockIdx.x / parts % job.strips;
    i64 image = blockIdx.x / parts / job.strips;
    int channel = part / job.groups, firstBin = part % job.groups * job.groupBins;
    int tile = stripX * Columns / kTile, skip = stripX * Columns % kTile;  // columns of the tile before the strip
    int column = warp * Steps * Across + lane / slots, x = stripX * Columns + column;  // the lane's first
    bool bin = slot < job.groupBins && firstBin + slot < job.bins;
    int columns = bin ? job.width - x : 0;  // columns from there to the right edge
    i64 entry = (i64)job.channels * job.bins, stride = job.outStride / 4;  // in counts
    u32 *out = (u32 *)(job.out + image * job.outDistance) + (x + 1) * entry + channel * job.bins + firstBin + slot;

    // Zeros in row 0 and column 0.
    u32 sum[Steps];
#pragma unroll
    for (int s = 0; s < Steps; s++) {
      sum[s] = 0;
      if (s * Across < columns) {
        if (job.carry)
          sum[s] = out[s * Across * entry];
        else
          out[s * Across * entry] = 0;
      }
    }
    if (stripX == 0 && lane < slots && bin)
      for (int y = warp; y <= job.height; y += warps)
        if (y > 0 || !job.carry) out[y * stride - (x + 1) * entry] = 0;
    out += stride;

    const P *plane = (const P *)job.plane + ((image * job.channels + channel) * job.height) * job.tiles * kTile + tile * kTile + lane;
    i64 planeStride = (i64)job.tiles * kTile, leftStride = (i64)job.tiles * parts * slots;
    if constexpr (sizeof(P) == 1) {
      binner.prepare(job);
      plane = (const P *)(job.in + image * job.inDistance) + (tile * kTile + lane) * job.channels + channel;
      planeStride = job.inStride;
      __syncthreads();
    }
    bool inside = sizeof(P) > 1 || tile * kTile + lane < job.width;
    plane += warp * mine * planeStride;
    const u16 *left = (const u16 *)job.left + (image * job.height + warp * mine) * leftStride + (tile * parts + part) * slots + slot;
    P pixels[mine];
    u32 lefts[mine];
    auto readPixels = [&](int y) {  // the warp's rows of a batch
#pragma unroll
      for (int k = 0; k < mine; k++)
        if (inside && y + warp * mine + k < job.height) pixels[k] = plane[k * planeStride];
      plane += Batch * planeStride;
    };
    auto readLefts = [&](int y) {
#pragma unroll
      for (int k = 0; k < mine; k++) lefts[k] = y + warp * mine + k < job.height ? left[k * leftStride] : 0;
      left += Batch * leftStride;
    };
    if (sizeof(P) == 1) readPixels(0);
    waitForPrevious();
    if (sizeof(P) > 1) readPixels(0);
    readLefts(0);
    u32 first = blockIdx.x / job.cohort * job.cohort, cohort = min(gridDim.x - first, job.cohort);
    u32 *written = (u32 *)job.written + (i64)(blockIdx.x / job.cohort) * ((job.height + Batch - 1) / Batch);
    bool waits = Lead > 0;
    Voter voter(slot);
    auto down = [&](auto whole) {
      for (int y = 0, turn = 0; y < job.height; y += Batch, turn ^= 1) {
#pragma unroll
        for (int k = 0; k < mine; k++) {
          u32 found = pixels[k];
          if constexpr (sizeof(P) == 1) found = inside ? binner(job, pixels[k]) : kNone;
          u32 mask = voter.mask(found - firstBin, job.groupBins);
          rows[turn][warp * mine + k][lane] = make_uint2(mask >> skip, lefts[k] + __popc(mask & ((1u << skip) - 1)));
        }
        readPixels(y + Batch);
        readLefts(y + Batch);
        __syncthreads();
        u32 others = 0;
        if (waits && threadIdx.x == 0) {
          if (y > 0) atomicAdd(written - 1, 1);
          if (y / Batch + 1 >= Lead) others = loadRelaxed(written + 1 - Lead);
        }
        auto row = [&](int r) {
          uint2 here = rows[turn][r][lane];
          u32 mask = here.x >> column, run = here.y + __popc(here.x & ((1u << column) - 1));
#pragma unroll
          for (int s = 0; s < Steps; s++) {
            if constexpr (Across == 1)
              run += mask >> s & 1;
            else
              run += s == 0 ? mask & 1 : __popc(mask >> ((s - 1) * Across + 1) & ((1u << Across) - 1));
            sum[s] += run;
            if (whole.value ? bin : s * Across < columns) __stcs(out + s * Across * entry, sum[s]);
          }
          out += stride;
        };
        if (y + Batch <= job.height) {
#pragma unroll 8
          for (int r = 0; r < Batch; r++) row(r);
        } else {
          for (int r = 0; r < job.height - y; r++) row(r);
        }
        if (waits && threadIdx.x == 0 && y / Batch + 1 >= Lead && y + Batch < job.height) {
          int tries = 100;  // bounded: blocks that have not started must not be waited for
          while (others < cohort && tries-- > 0) others = loadRelaxed(written + 1 - Lead);
          waits = tries > 0;
        }
        written++;
      }
    };
    struct Yes { enum { value = true }; };
    struct No { enum { value = false }; };
    if (__all_sync(~0u, !bin || columns > (Steps - 1) * Across))
      down(Yes{});
    else
      down(No{});
  }
};

}  // namespace

// Blocks for one row each of a 1080p image fit at once.
#define BOXSUM_COUNT(P) \
  extern "C" __global__ void __launch_bounds__(kCountThreads, sizeof(P) < 8 ? 9 : 5) histogrampass_count_##P(const __grid_constant__ HistogramPass job) { countRow<P>(job); }

// Strips of byte images, and of the bins of others. across is the number of columns that a warp
// processes at a time.
#define BOXSUM_STRIP(P, across, steps)                                                                                                                            \
  extern "C" __global__ void __launch_bounds__(Strip<P, across, steps>::threads) histogrampass_write_##P##_##across(const __grid_constant__ HistogramPass job) { \
    Strip<P, across, steps>::write(job);                                                                                                                         \
  }
#define BOXSUM_WIDE_STRIP(P)                                                                                                                                            \
  extern "C" __global__ void __launch_bounds__(Strip<P, 1, 2, kWide>::threads) histogrampass_write_##P##_wide(const __grid_constant__ HistogramPass job) { \
    Strip<P, 1, 2, kWide, kBatch, 2>::write(job);                                                                                                                       \
  }
#define BOXSUM_STRIPS(P) \
  BOXSUM_WIDE_STRIP(P)   \
  BOXSUM_STRIP(P, 1, 2)  \
  BOXSUM_STRIP(P, 2, 1)  \
  BOXSUM_STRIP(P, 4, 1)  \
  BOXSUM_STRIP(P, 8, 1)  \
  BOXSUM_STRIP(P, 16, 1)
