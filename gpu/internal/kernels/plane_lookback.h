// The look-back warps: they find the sums to the left of a tile and above it, and publish prefixes.
#pragma once

#include "plane_reduce.h"

namespace {

// sumLeft adds the carries from the left over all rows of a tile. All lanes get the result.
template <class S, class T>
__device__ inline void sumLeft(const TileState<S, T>& state, int lane, T sum[upTo(S::C, 3)]) {
#pragma unroll
  for (int c = 0; c < S::C; c++) {
    T s = 0;
#pragma unroll
    for (int r = 0; r < S::height; r += 32)
      if (r + lane < S::height) s += state.rows[S::WX - 1][(r + lane) * S::C + c];
    sumLanes(s);
    sum[c] = s;
  }
}

// resolve looks back for the sums to the left of a tile and above it, and publishes the prefixes of
// its rows and columns. Each thread has one triple of values.
template <class S, class T>
__device__ inline void resolve(const PlanePass& job, uint4* status, Place at, const T* firstRow, TileState<S, T>& state, int me) {
  typedef StatusLayout<S, T> L;
  const i64 rowStep = L::words, columnStep = (i64)job.tilesX * L::words;
  uint4* tile = L::of(job, status, at);
  T own[3], before[3] = {};
  const u32 prefix = job.epoch | kPrefix;
  if (me < S::rowThreads) {
    if (me < S::rowTriples) {
      if (at.left > 0) {
        lookBack<T, 4>(L::rows(tile, me) - rowStep, rowStep, at.left, job.epoch, before);
        if (!(at.flags & kLastOfRow)) {
          rowTriple<S, T>(state, me, own);
#pragma unroll
          for (int k = 0; k < 3; k++) own[k] += before[k];
          L::Word::store(L::rows(tile, me), own, prefix);
        }
      }
#pragma unroll
      for (int k = 0; k < 3; k++) state.rows[S::WX - 1][me * 3 + k] = before[k];
    }
  } else if (me < S::rowThreads + S::columnThreads) {
    const int i = me - S::rowThreads;
    if (i < S::columnTriples) {
      if (at.above > 0) {
        lookBack<T, 4>(L::columns(tile, i) - columnStep, columnStep, at.above, job.epoch, before);
      } else if (job.carry) {
#pragma unroll
        for (int k = 0; k < 3; k++) {
          const int x = at.x * S::width + i * 3 + k;
          if (i * 3 + k < S::width && x < job.width) before[k] = firstRow[x];
        }
      }
      if ((at.above > 0 || job.carry) && !(at.flags & kLastOfColumn)) {
        columnTriple<S, T>(state, i, own);
#pragma unroll
        for (int k = 0; k < 3; k++) own[k] += before[k];
        L::Word::store(L::columns(tile, i), own, prefix);
      }
#pragma unroll
      for (int k = 0; k < 3; k++) state.top[i * 3 + k] = before[k];
    }
  } else {
    const int i = me - S::rowThreads - S::columnThreads;
    if (i < S::cornerTriples) {
      if (at.flags & kCornerFromAbove) lookBack<T, 4>(L::corner(tile, i) - columnStep, columnStep, at.above, job.epoch, before);
      if (at.flags & kCornerFromLeft) lookBack<T, 4>(L::right(tile, i) - rowStep, rowStep, 1, job.epoch, before);
#pragma unroll
      for (int k = 0; k < 3; k++) state.corner[i * 3 + k] = before[k];
    }
  }
}

// publishCorner publishes the corner: first the sum of the carries from the left and, when all
// threads are done, the whole. For a tile that is the first of its column it also publishes the
// upper right corner.
template <class S, class T>
__device__ inline void publishCorner(const PlanePass& job, uint4* status, Place at, const TileState<S, T>& state, int me) {
  typedef StatusLayout<S, T> L;
  const bool needed = at.flags & kPublishesCorner, alone = !(at.flags & (kCornerFromAbove | kCornerFromLeft));
  uint4* tile = L::of(job, status, at);
  T sum[upTo(S::C, 3)] = {};
  if (needed && me < S::rowThreads) {
    namedBarrier(kRowBarrier, S::rowThreads);
    if (me < 32) sumLeft<S, T>(state, me, sum);
    if (me == 0)
#pragma unroll
      for (int i = 0; i < S::cornerTriples; i++) L::Word::store(L::corner(tile, i), sum + 3 * i, job.epoch | (alone ? kPrefix : kAggregate));
  }
  namedBarrier(kLookBackBarrier, S::lookBackThreads);
  if (needed && !alone && me < 32) {
#pragma unroll
    for (int c = 0; c < S::C; c++) sum[c] += state.corner[c];
    if (me == 0)
#pragma unroll
      for (int i = 0; i < S::cornerTriples; i++) L::Word::store(L::corner(tile, i), sum + 3 * i, job.epoch | kPrefix);
  }
  if ((at.flags & kPublishesRight) && me == 0) {
#pragma unroll
    for (int c = 0; c < S::C; c++) sum[c] = state.corner[c] + state.top[S::width - S::C + c];
#pragma unroll
    for (int i = 0; i < S::cornerTriples; i++) L::Word::store(L::right(tile, i), sum + 3 * i, job.epoch | kPrefix);
  }
}

}  // namespace
