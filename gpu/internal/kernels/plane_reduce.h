// The reduce warps: they sum the rows and columns of a tile and publish them as soon as the tile is
// loaded, independent of the other warps.
#pragma once

#include "async.h"
#include "plane_tile.h"
#include "warp.h"

namespace {

// sumPart sums the rows and columns of the part of a tile that one warp scans.
template <class S, class T, class Op>
__device__ inline void sumPart(const typename S::P* stage, Op op, TileState<S, T>& state, int warp) {
  typedef typename S::P P;
  typedef typename Narrow<P, T, Op>::Sum N;
  typedef typename Narrow<P, T, Op>::Summand Summand;
  constexpr int most = S::C * sizeof(N) <= 16 ? 8 : 4, R = S::RW < most ? S::RW : most;  // rows at once, limited by registers
  static_assert(S::RW % R == 0, "rows would be counted twice");
  const Summand summand{(N)op.offset};
  const int lane = threadIdx.x & 31, wx = warp % S::WX, wy = warp / S::WX;
  T column[S::VX];
  T* rows = &state.rows[wx][wy * S::RW * S::C];
  if constexpr (PacksRows<P, Summand, S::VX>::value) {
    constexpr int words = S::VX / 4;
    u32 even[words] = {}, odd[words] = {};  // two columns each: sums of 256 rows of bytes fit in 16 bits
#pragma unroll 1
    for (int first = 0; first < S::RW; first += R) {
      u32 row[S::C][R / 2] = {};  // two rows each
#pragma unroll
      for (int r = 0; r < R; r++) {
        u32 p[words];
        loadVector<u32, words>((const u32*)(stage + (first + r) * S::width + lane * S::VX), p);
#pragma unroll
        for (int w = 0; w < words; w++) {
          even[w] += p[w] & 0x00ff00ff;
          odd[w] += p[w] >> 8 & 0x00ff00ff;
        }
#pragma unroll
        for (int c = 0; c < S::C; c++) {
          u32 sum = 0;
#pragma unroll
          for (int w = 0; w < words; w++) {
            u32 ones = 0;  // a byte of ones for each value of the channel
#pragma unroll
            for (int b = 0; b < 4; b++) ones |= (w * 4 + b) % S::C == c ? 1u << b * 8 : 0;
            if (ones) sum = __dp4a(p[w], ones, sum);
          }
          row[c][r % (R / 2)] += r < R / 2 ? sum : sum << 16;
        }
      }
#pragma unroll
      for (int c = 0; c < S::C; c++) {
        const u32 sum = sumRows<u32, R / 2>(row[c], lane);
        const int at = first + sumOf<R / 2>(lane);
        if ((lane & (64 / R - 1)) == 0) {
          rows[at * S::C + c] = sum & 0xffff;
          rows[(at + R / 2) * S::C + c] = sum >> 16;
        }
      }
    }
#pragma unroll
    for (int w = 0; w < words; w++) {
      column[4 * w] = even[w] & 0xffff, column[4 * w + 1] = odd[w] & 0xffff;
      column[4 * w + 2] = even[w] >> 16, column[4 * w + 3] = odd[w] >> 16;
    }
  } else {
    N sums[S::VX] = {};
#pragma unroll 1
    for (int first = 0; first < S::RW; first += R) {
      N row[S::C][R];
#pragma unroll
      for (int r = 0; r < R; r++) {
        P p[S::VX];
        N v[S::VX];
        loadVector<P, S::VX>(stage + (first + r) * S::width + lane * S::VX, p);
#pragma unroll
        for (int k = 0; k < S::VX; k++) {
          v[k] = summand(p[k]);
          sums[k] += v[k];
        }
#pragma unroll
        for (int c = 0; c < S::C; c++) {
          row[c][r] = v[c];
#pragma unroll
          for (int k = c + S::C; k < S::VX; k += S::C) row[c][r] += v[k];
        }
      }
#pragma unroll
      for (int c = 0; c < S::C; c++) {
        const N sum = sumRows<N, R>(row[c], lane);
        if ((lane & (32 / R - 1)) == 0) rows[(first + sumOf<R>(lane)) * S::C + c] = sum;
      }
    }
#pragma unroll
    for (int k = 0; k < S::VX; k++) column[k] = sums[k];
  }
  storeVector<T, S::VX>(&state.above[wy][wx * S::chunk + lane * S::VX], column);
}

// combineParts adds the parts to the tile's own sums.
template <class S, class T>
__device__ inline void combineParts(TileState<S, T>& state, int me) {
  const int lane = me & 31, warp = me >> 5;
  for (int w = warp; w < S::WX; w += S::reduceThreads / 32) {
    T sum[1][S::VX] = {};
#pragma unroll
    for (int y = 0; y < S::WY; y++) {
      T* at = &state.above[y][w * S::chunk + lane * S::VX];
      T v[S::VX];
      loadVector<T, S::VX>(at, v);
      storeVector<T, S::VX>(at, sum[0]);
#pragma unroll
      for (int k = 0; k < S::VX; k++) sum[0][k] += v[k];
    }
    scanWarp<T, 1, S::VX, S::C>(sum, lane);
    storeVector<T, S::VX>(&state.bottom[w * S::chunk + lane * S::VX], sum[0]);
  }
  for (int i = S::reduceThreads - 1 - me; i < S::height * S::C; i += S::reduceThreads) {
    T sum = 0;
#pragma unroll
    for (int x = 0; x < S::WX; x++) {
      sum += state.rows[x][i];
      state.rows[x][i] = sum;
    }
  }
}

// rowTriple and columnTriple return the values of the tile's own sums that one status holds.
template <class S, class T>
__device__ inline void rowTriple(const TileState<S, T>& state, int triple, T v[3]) {
#pragma unroll
  for (int k = 0; k < 3; k++) v[k] = triple * 3 + k < S::height * S::C ? state.rows[S::WX - 1][triple * 3 + k] : (T)0;
}

template <class S, class T>
__device__ inline void columnTriple(const TileState<S, T>& state, int triple, T v[3]) {
#pragma unroll
  for (int k = 0; k < 3; k++) {
    const int x = triple * 3 + k;
    v[k] = 0;
    if (x < S::width) {
#pragma unroll
      for (int w = 1; w < S::WX; w++)
        if (x >= w * S::chunk) v[k] += state.bottom[w * S::chunk - S::C + x % S::C];
      v[k] += state.bottom[x];
    }
  }
}

// publishTotals sums a tile and publishes the aggregates.
template <class S, class T, class Op>
__device__ inline void publishTotals(const PlanePass& job, uint4* status, Place at, const typename S::P* stage, Op op, TileState<S, T>& state, int me) {
  typedef StatusLayout<S, T> L;
  for (int part = me >> 5; part < S::WX * S::WY; part += S::reduceThreads / 32) {
    const int row = part / S::WX * S::RW, value = part % S::WX * S::chunk;
    // Parts outside of the image reach no sum that is read.
    if (at.y * S::height + row < job.height && at.x * S::width + value < job.width) sumPart<S, T>(stage + row * S::width + value, op, state, part);
  }
  namedBarrier(kReduceBarrier, S::reduceThreads);
  combineParts<S, T>(state, me);
  namedBarrier(kReduceBarrier, S::reduceThreads);
  uint4* tile = L::of(job, status, at);
  const u32 aggregate = job.epoch | kAggregate, prefix = job.epoch | kPrefix;
  for (int triple = me; triple < S::rowTriples + S::columnTriples; triple += S::reduceThreads) {
    T own[3];
    if (triple < S::rowTriples) {
      rowTriple<S, T>(state, triple, own);
      L::Word::store(L::rows(tile, triple), own, at.left == 0 ? prefix : aggregate);
    } else {
      columnTriple<S, T>(state, triple - S::rowTriples, own);
      L::Word::store(L::columns(tile, triple - S::rowTriples), own, at.above == 0 && !job.carry ? prefix : aggregate);
    }
  }
}

}  // namespace
