// Scans and sums over a warp.
#pragma once

#include "common.h"

namespace {

// sumLanes replaces a value by its sum over the warp, in all lanes.
template <class T>
__device__ inline void sumLanes(T& s) {
#pragma unroll
  for (int d = 16; d >= 1; d /= 2) s += __shfl_xor_sync(kAll, s, d);
}

// scanLanes replaces R rows of VX values per lane, of C interleaved channels, by inclusive sums
// over the lanes. Only lanes that are a multiple of Step apart are added. Rows and channels are
// scanned together, so that their shuffles overlap.
template <class T, int R, int VX, int C, int Step>
__device__ inline void scanLanes(T v[R][VX], int lane) {
#pragma unroll
  for (int r = 0; r < R; r++)
#pragma unroll
    for (int k = C; k < VX; k++) v[r][k] += v[r][k - C];
  T s[R][C];
#pragma unroll
  for (int r = 0; r < R; r++)
#pragma unroll
    for (int c = 0; c < C; c++) s[r][c] = v[r][VX - C + c];
#pragma unroll
  for (int d = Step; d < 32; d <<= 1)
#pragma unroll
    for (int r = 0; r < R; r++)
#pragma unroll
      for (int c = 0; c < C; c++) {
        T u = __shfl_up_sync(kAll, s[r][c], d);
        if (lane >= d) s[r][c] += u;
      }
#pragma unroll
  for (int r = 0; r < R; r++)
#pragma unroll
    for (int c = 0; c < C; c++) {
      T before;
      if constexpr (IsFloat<T>::value) {
        before = __shfl_up_sync(kAll, s[r][c], Step);
        if (lane < Step) before = 0;
      } else {
        before = s[r][c] - v[r][VX - C + c];
      }
#pragma unroll
      for (int k = c; k < VX; k += C) v[r][k] += before;
    }
}

// transpose exchanges values among four neighboring lanes: value k of lane l becomes value l of
// lane k.
template <class T>
__device__ inline void transpose(T v[4], int lane) {
#pragma unroll
  for (int d = 1; d < 4; d *= 2)
#pragma unroll
    for (int k = 0; k < 4; k++)
      if (!(k & d)) {
        const T come = __shfl_xor_sync(kAll, lane & d ? v[k] : v[k + d], d);
        if (lane & d) v[k] = come;
        else v[k + d] = come;
      }
}

// scanWarp replaces R rows of VX values per lane, of C interleaved channels, by inclusive sums over
// the warp.
template <class T, int R, int VX, int C>
__device__ inline void scanWarp(T v[R][VX], int lane) {
  if constexpr (C == 4) {
    // With four pixels of one channel per lane, transposing halves the number of shuffles.
#pragma unroll
    for (int r = 0; r < R; r++) transpose(v[r], lane);
    scanLanes<T, R, VX, 1, 4>(v, lane);
#pragma unroll
    for (int r = 0; r < R; r++) transpose(v[r], lane);
  } else {
    scanLanes<T, R, VX, C, 1>(v, lane);
  }
}

// sumRows adds up each of R values over the warp, for R a power of two. Lane l gets sum number
// sumOf(l): recursive halving needs fewer shuffles than R separate sums.
template <class T, int R>
__device__ inline T sumRows(T s[R], int lane) {
  int d = 16;
#pragma unroll
  for (int n = R / 2; n >= 1; n /= 2, d /= 2) {
#pragma unroll
    for (int i = 0; i < n; i++) {
      T away = lane & d ? s[i] : s[i + n];
      T keep = lane & d ? s[i + n] : s[i];
      s[i] = keep + __shfl_xor_sync(kAll, away, d);
    }
  }
  T t = s[0];
#pragma unroll
  for (; d >= 1; d /= 2) t += __shfl_xor_sync(kAll, t, d);
  return t;
}

template <int R>
__device__ inline int sumOf(int lane) {
  int row = 0, d = 16;
#pragma unroll
  for (int n = R / 2; n >= 1; n /= 2, d /= 2) row += lane & d ? n : 0;
  return row;
}

// swapWords exchanges words between neighboring lanes: the second word of the even lane and the
// first of the odd one.
__device__ inline void swapWords(uint4 q[2], int lane) {
  const uint4 away = lane & 1 ? q[0] : q[1];
  const uint4 come = make_uint4(__shfl_xor_sync(kAll, away.x, 1), __shfl_xor_sync(kAll, away.y, 1), __shfl_xor_sync(kAll, away.z, 1),
                                __shfl_xor_sync(kAll, away.w, 1));
  if (lane & 1) q[0] = come;
  else q[1] = come;
}

}  // namespace
