// The scan warps: they scan a tile, add the sums to the left of it and above, and write the table.
#pragma once

#include "plane_tile.h"
#include "warp.h"

namespace {

// scanRows loads R rows of pixels, width values apart, and scans each.
template <class N, int R, int VX, int C, class P, class Op>
__device__ inline void scanRows(const P* from, int width, Op op, N n[R][VX], int lane) {
  if constexpr (PacksRows<P, Op, VX>::value) {
    u32 two[R / 2][VX];
#pragma unroll
    for (int r = 0; r < R / 2; r++) {
      u32 a[VX / 4], b[VX / 4];
      loadVector<u32, VX / 4>((const u32*)(from + 2 * r * width), a);
      loadVector<u32, VX / 4>((const u32*)(from + (2 * r + 1) * width), b);
#pragma unroll
      for (int w = 0; w < VX / 4; w++) {
        const u32 first = __byte_perm(a[w], b[w], 0x5410), last = __byte_perm(a[w], b[w], 0x7632);
        two[r][4 * w] = first & 0x00ff00ff, two[r][4 * w + 1] = first >> 8 & 0x00ff00ff;
        two[r][4 * w + 2] = last & 0x00ff00ff, two[r][4 * w + 3] = last >> 8 & 0x00ff00ff;
      }
    }
    scanWarp<u32, R / 2, VX, C>(two, lane);
#pragma unroll
    for (int r = 0; r < R; r++)
#pragma unroll
      for (int k = 0; k < VX; k++) n[r][k] = r % 2 ? two[r / 2][k] >> 16 : two[r / 2][k] & 0xffff;
  } else {
#pragma unroll
    for (int r = 0; r < R; r++) {
      P p[VX];
      loadVector<P, VX>(from + r * width, p);
#pragma unroll
      for (int k = 0; k < VX; k++) n[r][k] = op(p[k]);
    }
    scanWarp<N, R, VX, C>(n, lane);
  }
}

// put stores a vector of sums. If First is set they are evicted from the cache first, because there
// are more bytes of sums than of pixels.
template <bool First, class V>
__device__ inline void put(V* to, V v) {
  if constexpr (First) __stcs(to, v);
  else *to = v;
}

// writePart scans a warp's part of a tile, adds the results of the look-back and writes it.
template <class S, class T, class Op>
__device__ inline void writePart(const PlanePass& job, Place at, const typename S::P* stage, Op op, char* out, i64 outStride, bool aligned,
                              TileState<S, T>& state) {
  typedef typename S::P P;
  typedef typename Narrow<P, T, Op>::Sum N;
  typedef typename Narrow<P, T, Op>::Summand Summand;
  // The number of rows scanned at once, limited by registers.
  constexpr int rowBytes = S::VX * (PacksRows<P, Summand, S::VX>::value ? 2 : sizeof(N)), most = rowBytes <= 32 ? 4 : 2;
  constexpr int R = S::RW < most ? S::RW : most;
  const Summand summand{(N)op.offset};
  const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, wx = warp % S::WX, wy = warp / S::WX;
  const int x = at.x * S::width + wx * S::chunk, y = at.y * S::height + wy * S::RW;
  const int valuesLeft = job.width - x, rowsLeft = job.height - y;
  if (valuesLeft <= 0 || rowsLeft <= 0) return;
  auto leftOf = [&](int i) {
    const T left = state.rows[S::WX - 1][i];
    if constexpr (S::WX == 1) return left;
    const T chunks = state.rows[wx > 0 ? wx - 1 : 0][i];  // unconditional, to avoid a branch
    return left + (wx > 0 ? chunks : (T)0);
  };
  // The table's entries above the warp's first row.
  T above[1][S::VX], top[S::VX];
  loadVector<T, S::VX>(&state.above[wy][wx * S::chunk + lane * S::VX], above[0]);
  scanWarp<T, 1, S::VX, S::C>(above, lane);
  loadVector<T, S::VX>(&state.top[wx * S::chunk + lane * S::VX], top);
#pragma unroll
  for (int c = 0; c < S::C; c++) {
    T s = 0;
#pragma unroll
    for (int first = 0; first < S::height; first += 32) {
      const int r = first + lane;
      if (r < wy * S::RW) s += leftOf(r * S::C + c);
    }
    sumLanes(s);
    s += state.corner[c];
#pragma unroll
    for (int k = c; k < S::VX; k += S::C) above[0][k] += top[k] + s;
  }

  T* to = (T*)(out + (i64)(y + 1) * outStride) + S::C + x;
  const bool whole = aligned && valuesLeft >= S::chunk;
#pragma unroll 1
  for (int first = 0; first < S::RW && first < rowsLeft; first += R) {
    N n[R][S::VX];
    T v[R][S::VX];
    scanRows<N, R, S::VX, S::C>(stage + first * S::width + lane * S::VX, S::width, summand, n, lane);
    auto add = [&](int r) {  // adds the sums above and to the left to a row
      const int row = (wy * S::RW + first + r) * S::C;
#pragma unroll
      for (int c = 0; c < S::C; c++) {
        const T left = leftOf(row + c);
#pragma unroll
        for (int k = c; k < S::VX; k += S::C) v[r][k] = above[0][k] += (T)n[r][k] + left;
      }
    };
    if (S::VX == 4) {
#pragma unroll
      for (int r = 0; r < R; r++) add(r);
    }
    if (S::VX == 4 && whole) {
#pragma unroll
      for (int r = 0; r < R; r++) {
        uint4 q[sizeof(T) * S::VX / 16 + 1];
        memcpy(q, v[r], sizeof(T) * S::VX);
        uint4* at16 = (uint4*)to + lane;
        constexpr int words = sizeof(T) * S::VX / 16;
        if constexpr (words == 2) {
          // Neighboring lanes swap halves, so that each store fills 32-byte sectors.
          swapWords(q, lane);
          at16 += lane & ~1;
        }
#pragma unroll
        for (int k = 0; k < words; k++)
          if (first + r < rowsLeft) put<sizeof(P) < 8>(at16 + 2 * k, q[k]);
        to = (T*)((char*)to + outStride);
      }
    } else {
      // Go through shared memory, so that neighboring lanes write neighboring values or
      // words.
      T* mine = &state.above[wy][wx * S::chunk];  // used only by this warp, which has already read it
#pragma unroll
      for (int r = 0; r < R; r++) {
        if (S::VX != 4) add(r);  // one row at a time, to save registers
        __syncwarp();
        storeVector<T, S::VX>(mine + lane * S::VX, v[r]);
        __syncwarp();
        if (S::VX != 4 && whole) {
          constexpr int words = S::chunk * sizeof(T) / 16;
#pragma unroll
          for (int k = 0; k < words; k += 32)
            if (k + lane < words && first + r < rowsLeft) put<sizeof(P) < 8>((uint4*)to + k + lane, ((const uint4*)mine)[k + lane]);
        } else {
#pragma unroll
          for (int k = 0; k < S::VX; k++)
            if (k * 32 + lane < valuesLeft && first + r < rowsLeft) __stcs(to + k * 32 + lane, mine[k * 32 + lane]);
        }
        to = (T*)((char*)to + outStride);
      }
    }
  }
  // Zeros in column 0 and, unless it is carried from a band above, row 0.
  if (at.x == 0 && wx == 0)
    for (int i = lane; i < S::RW * S::C; i += 32)
      if (i / S::C < rowsLeft) ((T*)(out + (i64)(y + 1 + i / S::C) * outStride))[i % S::C] = 0;
  if (at.y == 0 && wy == 0 && !job.carry) {
    for (int i = lane; i < S::chunk && i < valuesLeft; i += 32) ((T*)out)[S::C + x + i] = 0;
    if (x == 0 && lane < S::C) ((T*)out)[lane] = 0;
  }
}

}  // namespace
