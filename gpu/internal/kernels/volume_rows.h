// The rows of a slice that a warp scans.
#pragma once

#include "common.h"

namespace {

constexpr int kColumns = 4;             // of a lane
constexpr int kWidth = 32 * kColumns;   // of a tile

// loadShared reads a lane's columns from a row of shared memory: first a 16-byte piece in all
// lanes, then the next, so that the lanes use all banks.
template <class T>
__device__ inline void loadShared(const T* row, int lane, T v[kColumns]) {
  constexpr int pieces = sizeof(T) * kColumns / 16;
  uint4 q[pieces];
#pragma unroll
  for (int k = 0; k < pieces; k++) q[k] = ((const uint4*)row)[k * 32 + lane];
  memcpy(v, q, sizeof q);
}

template <class T>
__device__ inline void storeShared(T* row, int lane, const T v[kColumns]) {
  constexpr int pieces = sizeof(T) * kColumns / 16;
  uint4 q[pieces];
  memcpy(q, v, sizeof q);
#pragma unroll
  for (int k = 0; k < pieces; k++) ((uint4*)row)[k * 32 + lane] = q[k];
}

// Rows holds a warp's rows of a slice, scanned: the table of these rows alone.
template <class T, int R>
struct Rows {
  T v[R][kColumns];

  // scan turns values into their table: rows are added from the first down, then along. It does
  // not use scanLanes of warp.h, with which the compiler makes different code for 64-bit
  // integers.
  __device__ void scan(int lane) {
    T s[R];
#pragma unroll
    for (int r = 0; r < R; r++) {
#pragma unroll
      for (int k = 0; k < kColumns && r > 0; k++) v[r][k] += v[r > 0 ? r - 1 : 0][k];
    }
#pragma unroll
    for (int r = 0; r < R; r++) {
#pragma unroll
      for (int k = 1; k < kColumns; k++) v[r][k] += v[r][k - 1];
      s[r] = v[r][kColumns - 1];
    }
#pragma unroll
    for (int d = 1; d < 32; d <<= 1)
#pragma unroll
      for (int r = 0; r < R; r++) {
        const T u = __shfl_up_sync(kAll, s[r], d);
        if (lane >= d) s[r] += u;
      }
#pragma unroll
    for (int r = 0; r < R; r++) {
      T before;
      if constexpr (IsFloat<T>::value) {
        before = __shfl_up_sync(kAll, s[r], 1);
        if (lane == 0) before = 0;
      } else {
        before = s[r] - v[r][kColumns - 1];
      }
#pragma unroll
      for (int k = 0; k < kColumns; k++) v[r][k] += before;
    }
  }

  __device__ void last(T row[kColumns]) const { memcpy(row, v[R - 1], sizeof v[R - 1]); }
  __device__ void end(T column[R]) const {
#pragma unroll
    for (int r = 0; r < R; r++) column[r] = v[r][kColumns - 1];
  }
  // addTo adds the rows to sums, with the sums above and to the left of them.
  __device__ void addTo(T sum[R][kColumns], const T above[kColumns], const T left[R]) const {
#pragma unroll
    for (int r = 0; r < R; r++)
#pragma unroll
      for (int k = 0; k < kColumns; k++) sum[r][k] += v[r][k] + (above[k] + left[r]);
  }
};

// ByteRows is the equivalent for bytes, four per lane. The sum of a warp's row is below 2^16, so two rows share a word. It
// keeps the bytes and the sums before them in their rows; dot products compute the table.
template <class T, int R>
struct ByteRows {
  static_assert(kWidth * 255 < 1 << 16 && R % 2 == 0);
  u32 bytes[R], before[R / 2];

  __device__ static u32 half(const u32 pairs[R / 2], int r) { return r % 2 ? pairs[r / 2] >> 16 : pairs[r / 2] & 0xffff; }
  __device__ static u32 upTo(u32 four, int k, u32 sum) { return __dp4a(four, 0x01010101u >> (24 - 8 * k), sum); }

  __device__ void scan(int lane) {
    u32 own[R / 2];
#pragma unroll
    for (int r = 0; r < R; r += 2) before[r / 2] = own[r / 2] = upTo(bytes[r], 3, 0) + (upTo(bytes[r + 1], 3, 0) << 16);
#pragma unroll
    for (int d = 1; d < 32; d <<= 1)
#pragma unroll
      for (int r = 0; r < R / 2; r++) {
        const u32 u = __shfl_up_sync(kAll, before[r], d);
        if (lane >= d) before[r] += u;
      }
#pragma unroll
    for (int r = 0; r < R / 2; r++) before[r] -= own[r];
  }

  __device__ void last(T row[kColumns]) const {
    u32 all = 0;
#pragma unroll
    for (int r = 0; r < R; r++) all += half(before, r);
#pragma unroll
    for (int k = 0; k < kColumns; k++) {
      u32 down = all;
#pragma unroll
      for (int r = 0; r < R; r++) down = upTo(bytes[r], k, down);
      row[k] = (T)down;
    }
  }
  __device__ void end(T column[R]) const {
    u32 down = 0;
#pragma unroll
    for (int r = 0; r < R; r++) column[r] = (T)(down = upTo(bytes[r], 3, down + half(before, r)));
  }
  __device__ void addTo(T sum[R][kColumns], const T above[kColumns], const T left[R]) const {
    u32 down[kColumns] = {}, all = 0;
    if constexpr (Same<T, u32>::value)
#pragma unroll
      for (int k = 0; k < kColumns; k++) down[k] = above[k];
#pragma unroll
    for (int r = 0; r < R; r++) {
      all += half(before, r);
#pragma unroll
      for (int k = 0; k < kColumns; k++) {
        down[k] = upTo(bytes[r], k, down[k]);
        if constexpr (Same<T, u32>::value) sum[r][k] += down[k] + (all + left[r]);
        else sum[r][k] += (T)(down[k] + all) + (above[k] + left[r]);
      }
    }
  }
};

}  // namespace
