// One-pass tables for CUDA: every pixel is read once and every sum written once, in one launch.
//
// The image is cut into tiles, and blocks draw tiles by ticket. The warps of a block are specialized, and synchronize at
// mbarriers:
//   producer   draws tickets and loads pixels into shared memory (plane_produce.h)
//   reduce     sum a tile's rows and columns and publish them (plane_reduce.h)
//   look-back  find the sums to the left of the tile and above it (plane_lookback.h)
//   scan       scan the tile, add these sums and write the table (plane_scan.h)
//
// A tile publishes, for sums and for squares:
//   rows     for each row, its sum inside the tile; later, from the image's left edge
//   columns  the last row of the tile's own table; later, of the strip's table down to this tile
//   corner   the sum of the carries from the left; later, including those of all tiles above
//   right    the sum of everything above and to the left of the next tile, if that has no tile above
// Each is first an aggregate and then a prefix, see lookback.h.
//
// A tile waits only for lower tickets, which were drawn by blocks that are running. So no launch can hang, however few
// of its blocks are resident. Floats are added from the oldest value to the newest, whether aggregates or a prefix were
// found, so their bits never depend on timing.
#pragma once

#include "plane_lookback.h"
#include "plane_produce.h"
#include "plane_scan.h"

namespace {

struct None {};

// TileStates holds the states of all tiles in shared memory, for sums or for squares.
template <class S, class T>
struct TileStates {
  TileState<S, T> state[S::stages];
};
template <class S>
struct TileStates<S, None> {};

template <class S, class T, class Q>
struct Memory {
  alignas(128) typename S::P stage[S::stages][S::width * S::height];
  TileStates<S, T> sums;
  TileStates<S, Q> squares;
  Place at[S::stages];
  Mbarrier full[S::stages], published[S::stages], resolved[S::stages], empty[S::stages];
};

template <class S, class T, class Q, class Op>
__device__ inline void planePass(const PlanePass& job) {
  extern __shared__ __align__(128) unsigned char raw[];
  constexpr bool hasSquares = !Same<Q, None>::value;
  Memory<S, T, Q>& m = *(Memory<S, T, Q>*)raw;
  if (threadIdx.x == 0) {
    for (int k = 0; k < S::stages; k++) {
      m.full[k].init(32 * kArrivals);
      m.published[k].init(S::reduceThreads);
      m.resolved[k].init(S::lookBackThreads);
      m.empty[k].init(S::scanThreads);
    }
    showMbarriers();
  }
  __syncthreads();
  const int lane = threadIdx.x & 31;
  // eachTile loops over the block's tiles: it waits at one mbarrier, calls work, arrives at
  // another, and calls afterwards, which no warp of the block waits for. The end of the tickets
  // is passed on like a tile.
  auto eachTile = [&](const Mbarrier* before, Mbarrier* after, auto work, auto afterwards) {
    for (int tile = 0;; tile++) {
      const int slot = tile % S::stages;
      before[slot].wait(tile / S::stages);
      const Place at = m.at[slot];
      if (at.image >= 0) work(slot, at);
      __syncwarp();
      after[slot].arrive();
      if (at.image < 0) return;
      afterwards(slot, at);
    }
  };
  auto nothing = [](int, Place) {};
  const Op op{(T)job.offset};
  uint4* squaresStatus = job.status + job.squaresStatus;
  int me = threadIdx.x;
  if (me < S::scanThreads) {
    const int warp = me >> 5, part = warp / S::WX * S::RW * S::width + warp % S::WX * S::chunk;
    eachTile(
        m.resolved, m.empty,
        [&](int slot, Place at) {
          writePart<S, T>(job, at, m.stage[slot] + part, op, job.out + at.image * job.outBatch, job.outStride, job.outAligned, m.sums.state[slot]);
          if constexpr (hasSquares)
            writePart<S, Q>(job, at, m.stage[slot] + part, Squared<Q>{(Q)job.offset}, job.squares + at.image * job.squaresBatch, job.squaresStride,
                         job.squaresAligned, m.squares.state[slot]);
        },
        nothing);
    return;
  }
  me -= S::scanThreads;
  if (me < S::reduceThreads) {
    eachTile(
        m.full, m.published,
        [&](int slot, Place at) {
          publishTotals<S, T>(job, job.status, at, m.stage[slot], op, m.sums.state[slot], me);
          if constexpr (hasSquares) publishTotals<S, Q>(job, squaresStatus, at, m.stage[slot], Squared<Q>{(Q)job.offset}, m.squares.state[slot], me);
        },
        nothing);
    return;
  }
  me -= S::reduceThreads;
  if (me < S::lookBackThreads) {
    eachTile(
        m.published, m.resolved,
        [&](int slot, Place at) {
          resolve<S, T>(job, job.status, at, (const T*)(job.out + at.image * job.outBatch) + S::C, m.sums.state[slot], me);
          if constexpr (hasSquares)
            resolve<S, Q>(job, squaresStatus, at, (const Q*)(job.squares + at.image * job.squaresBatch) + S::C, m.squares.state[slot], me);
        },
        [&](int slot, Place at) {
          publishCorner<S, T>(job, job.status, at, m.sums.state[slot], me);
          if constexpr (hasSquares) publishCorner<S, Q>(job, squaresStatus, at, m.squares.state[slot], me);
        });
    return;
  }
  produce<S>(job, m, lane);
}

}  // namespace
