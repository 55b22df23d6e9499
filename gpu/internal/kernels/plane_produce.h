// The producer warp: it draws tickets and loads tiles.
#pragma once

#include "async.h"
#include "plane_tile.h"

namespace {

// loadTile starts to load a tile into shared memory, with one warp. Shared memory outside of the
// image keeps its old contents, which only reach sums outside of the image.
template <class S>
__device__ inline void loadTile(const PlanePass& job, Place at, typename S::P* stage, Mbarrier& full, int lane) {
  typedef typename S::P P;
  constexpr int rowBytes = S::width * (int)sizeof(P);
  const int rows = min(S::height, job.height - at.y * S::height), values = min(S::width, job.width - at.x * S::width);
  const char* from = job.in + at.image * job.inBatch + (i64)at.y * S::height * job.inStride + (i64)at.x * rowBytes;
  if (job.inAligned) {
#if __CUDA_ARCH__ >= 900
    static_assert(S::perElement * sizeof(P) <= 8 && S::height <= 256, "no tensor map has such boxes");
    if (lane > 0) {
      full.arrive();
    } else {
      full.expect(S::height * rowBytes);
      full.copy(stage, job.map, at.x * (S::width / S::perElement), at.y * S::height, at.image);
    }
#else
    const int pieces = upTo(values * (int)sizeof(P), 16) / 16;  // rows are padded
#pragma unroll 8
    for (int i = lane; i < rows * pieces; i += 32) {
      const int r = i / pieces, at16 = i % pieces * 16;
      copyAsync16((char*)stage + r * rowBytes + at16, from + r * job.inStride + at16);
    }
    full.arriveWhenCopied();
    full.arrive();
#endif
  } else {
    for (int r = 0; r < rows; r++)
#pragma unroll
      for (int k = 0; k < S::width; k += 32)
        if (k + lane < values) stage[r * S::width + k + lane] = ((const P*)(from + r * job.inStride))[k + lane];
    for (int k = 0; k < kArrivals; k++) full.arrive();
  }
}

// prefetchTile loads a tile into the L2 cache.
template <class S>
__device__ inline void prefetchTile(const PlanePass& job, Place at) {
  prefetchBox(job.map, at.x * (S::width / S::perElement), at.y * S::height, at.image);
}

// produce draws tickets and loads tiles as far ahead as there is room, and prefetches tiles further
// ahead, whichever block will draw them.
template <class S, class M>
__device__ inline void produce(const PlanePass& job, M& m, int lane) {
  const u32 tickets = (job.tileList ? (u32)job.tileCount : (u32)job.tilesX * job.tilesY) * job.count;
  auto place = [&](u32 t) { return job.tileList ? listedPlace(job, t) : orderedPlace(job, t, lane); };
  for (int tile = 0;; tile++) {
    const int slot = tile % S::stages;
    // Draw a ticket while the previous tile in this stage is being finished: early enough to
    // hide the latency, and late enough to start soon, as other blocks wait for the tile.
    if (tile >= S::stages) m.resolved[slot].wait(tile / S::stages - 1);
    u32 ticket = 0;
    if (lane == 0) ticket = atomicAdd(job.tickets, 1);
    const u32 t = __shfl_sync(kAll, ticket, 0) - job.base;
    const bool more = t < tickets;
    const Place at = more ? place(t) : Place{-1};
    if (tile >= S::stages) m.empty[slot].wait(tile / S::stages - 1);
    if (lane == 0) m.at[slot] = at;
    __syncwarp();
    if (!more) {
      for (int k = 0; k < kArrivals; k++) m.full[slot].arrive();
      return;
    }
    loadTile<S>(job, at, m.stage[slot], m.full[slot], lane);
    if (job.ahead > 0 && tile >= S::stages - 1 && t + job.ahead < tickets) {
      const Place next = place(t + job.ahead);
      if (lane == 0) prefetchTile<S>(job, next);
    }
  }
}

}  // namespace
