// The status of tiles, which blocks publish and read during a launch, and the decoupled look-back over it.
//
// A status holds values and the launch's epoch in 16 bytes that are read and written as a unit, so it needs no fence, and
// nothing has to be cleared between launches.
#pragma once

#include "common.h"

namespace {

// A TileStatus is three values and a flag, in one or two 16-byte words.
template <class T, int Bytes = sizeof(T)>
struct TileStatus;

template <class T>
struct TileStatus<T, 4> {
  static constexpr int words = 1;
  T v[3];
  u32 flag;
  __device__ static TileStatus load(const uint4* p) {
    uint4 q = loadRelaxed(p);
    TileStatus t;
    memcpy(t.v, &q, 12);
    t.flag = q.w;
    return t;
  }
  __device__ static void store(uint4* p, const T v[3], u32 flag) {
    u32 w[3];
    memcpy(w, v, 12);
    storeRelaxed(p, make_uint4(w[0], w[1], w[2], flag));
  }
};

template <class T>
struct TileStatus<T, 8> {
  static constexpr int words = 2;
  T v[3];
  u32 flag;
  __device__ static TileStatus load(const uint4* p) {
    uint4 a = loadRelaxed(p), b = loadRelaxed(p + 1);
    u32 w[6] = {a.x, a.y, a.z, b.x, b.y, b.z};
    TileStatus t;
    memcpy(t.v, w, 24);
    t.flag = min(a.w, b.w);  // if the halves differ in age, the older one counts
    if (a.w != b.w) t.flag &= ~3u;
    return t;
  }
  __device__ static void store(uint4* p, const T v[3], u32 flag) {
    u32 w[6];
    memcpy(w, v, 24);
    storeRelaxed(p, make_uint4(w[0], w[1], w[2], flag));
    storeRelaxed(p + 1, make_uint4(w[3], w[4], w[5], flag));
  }
};

constexpr u32 kAggregate = 1, kPrefix = 2;  // added to the epoch in a flag

// lookBack sums the values of n predecessors, from the nearest prefix on. The nearest predecessor
// is at p, and each earlier one step words before it. It reads the nearest alone, which is usually
// enough, and then W at a time. Sums are added from the prefix forward, so the bits of floats do
// not depend on which prefix was found.
template <class T, int W>
__device__ inline void lookBack(const uint4* p, i64 step, int n, u32 epoch, T out[3]) {
  const u32 aggregate = epoch | kAggregate, prefix = epoch | kPrefix;
  TileStatus<T> nearest;
  do nearest = TileStatus<T>::load(p);
  while (nearest.flag != prefix && (nearest.flag != aggregate || n == 1));  // the farthest becomes a prefix
  memcpy(out, nearest.v, sizeof nearest.v);
  if (nearest.flag == prefix) return;

  TileStatus<T> q[W];
  int back = 1;  // number of aggregates passed
  for (;;) {
#pragma unroll
    for (int u = 0; u < W; u++)
      if (back + u < n) q[u] = TileStatus<T>::load(p - (back + u) * step);
    int passed = 0;
    bool open = true, found = false;
#pragma unroll
    for (int u = 0; u < W; u++)
      if (back + u < n) {
        found = found || (open && q[u].flag == prefix);
        open = open && q[u].flag == aggregate && back + u + 1 < n;
        if (open) passed++;
      }
    if constexpr (!IsFloat<T>::value) {
#pragma unroll
      for (int u = 0; u < W; u++)
        if (u < passed || (u == passed && found))
#pragma unroll
          for (int k = 0; k < 3; k++) out[k] += q[u].v[k];
      if (found) return;
    } else if (found) {
#pragma unroll
      for (int u = W - 1; u >= 0; u--)
#pragma unroll
        for (int k = 0; k < 3; k++) {
          if (u == passed) out[k] = q[u].v[k];
          if (u < passed) out[k] += q[u].v[k];
        }
      // Reads the statuses of earlier windows again.
      for (; back > 1; back -= min(W, back - 1)) {
        const int m = min(W, back - 1);
#pragma unroll
        for (int u = 0; u < W; u++)
          if (u < m) q[u] = TileStatus<T>::load(p - (back - 1 - u) * step);
#pragma unroll
        for (int u = 0; u < W; u++)
          if (u < m) {
            while (q[u].flag != aggregate && q[u].flag != prefix) q[u] = TileStatus<T>::load(p - (back - 1 - u) * step);
#pragma unroll
            for (int k = 0; k < 3; k++) out[k] = q[u].flag == prefix ? q[u].v[k] : out[k] + q[u].v[k];
          }
      }
#pragma unroll
      for (int k = 0; k < 3; k++) out[k] += nearest.v[k];
      return;
    }
    back += passed;
  }
}

// sumStatuses adds n statuses to sum in order, waiting for each. It reads W at a time.
template <class T, int W, class At>
__device__ inline void sumStatuses(int n, u32 flag, T sum[3], At at) {
  for (int first = 0; first < n; first += W) {
    TileStatus<T> q[W];
#pragma unroll
    for (int u = 0; u < W; u++)
      if (first + u < n) q[u] = TileStatus<T>::load(at(first + u));
#pragma unroll
    for (int u = 0; u < W; u++)
      if (first + u < n) {
        while (q[u].flag != flag) q[u] = TileStatus<T>::load(at(first + u));
#pragma unroll
        for (int k = 0; k < 3; k++) sum[k] += q[u].v[k];
      }
  }
}

// An EpochWord is 16 bytes: two 4-byte values or one 8-byte value, each with its epoch.
template <class T, int Bytes = sizeof(T)>
struct EpochWord;

template <class T>
struct EpochWord<T, 4> {
  static constexpr int values = 2;
  __device__ static uint4 pack(const T v[2], u32 epoch) {
    u32 w[2];
    memcpy(w, v, 8);
    return make_uint4(w[0], epoch, w[1], epoch);
  }
  __device__ static bool unpack(uint4 q, u32 epoch, T v[2]) {
    const u32 w[2] = {q.x, q.z};
    memcpy(v, w, 8);
    return q.y == epoch && q.w == epoch;
  }
};

template <class T>
struct EpochWord<T, 8> {
  static constexpr int values = 1;
  __device__ static uint4 pack(const T v[1], u32 epoch) {
    u32 w[2];
    memcpy(w, v, 8);
    return make_uint4(w[0], w[1], epoch, epoch);
  }
  __device__ static bool unpack(uint4 q, u32 epoch, T v[1]) {
    const u32 w[2] = {q.x, q.y};
    memcpy(v, w, 8);
    return q.z == epoch && q.w == epoch;
  }
};

}  // namespace
