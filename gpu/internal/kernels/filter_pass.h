// Filters of bytes in one launch. Each warp works independently.
//
// A warp owns a strip of columns, N per lane, and goes down a band of rows. Each lane keeps the sums of its columns over
// the rows of a window in registers; for each row, the new one is added and the oldest subtracted. Then the lanes
// exchange column sums, because
//
//   S(x) = S(x - 1) + column(x) - column(x - width)
//
// is the sum of the window that ends in column x. A strip starts from zero, so its first width - 1
// columns have no windows: the strip on the left computes them.
#pragma once

#include "common.h"
#include "filter.h"
#include "jobs/filter_pass.h"

namespace {

enum FilterKind { kBox, kStats, kSauvola };

constexpr int kFilterWarps = 4;
constexpr int kFilterReach = 17;  // lanes that a window may reach back, plus one

// permute is the PRMT instruction with its selector modes.
__device__ inline u32 permute(u32 a, u32 b, u32 selector) {
  u32 r;
  asm("prmt.b32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(selector));
  return r;
}

// scanUp replaces each of the K values by its inclusive sum over the lanes.
template <int K>
__device__ inline void scanUp(u32 (&v)[K]) {
#pragma unroll
  for (int d = 1; d < 32; d *= 2)
#pragma unroll
    for (int k = 0; k < K; k++)
      asm volatile("{ .reg .pred p; .reg .u32 r; shfl.sync.up.b32 r|p, %0, %1, 0, -1; @p add.u32 %0, %0, r; }" : "+r"(v[k]) : "r"(d));
}

template <FilterKind Kind, int N>
struct FilterStrip {
  static constexpr int kSums = Kind == kBox ? 1 : 2;  // sums of pixels, or of pixels and squares
  static constexpr int kWords = N / 4;
  static constexpr int kLine = 32 + kFilterReach;
  typedef typename Pick<Kind == kBox, u32, uint2>::type Sums;
  typedef Sums Exchange[N][kLine];

  const FilterPass& job;
  Sums* exchange;  // column N·l + j of the strip is at [j][kFilterReach + l]: neighboring lanes have no bank conflicts
  const u8* in;
  u8 *out, *dev;
  int lane, at, to;  // the lane's first column, and its first result
  u32 shift;         // of words, to the lane's first byte
  bool inside;

  static __device__ u32 sumOf(u32 s) { return s; }
  static __device__ u32 sumOf(uint2 s) { return s.x; }
  static __device__ u32 squaresOf(u32) { return 0; }
  static __device__ u32 squaresOf(uint2 s) { return s.y; }
  static __device__ void put(u32& s, u32 sum, u32) { s = sum; }
  static __device__ void put(uint2& s, u32 sum, u32 squares) { s = make_uint2(sum, squares); }

  // column returns the image column that the border puts at a position at most one width outside
  // of the image.
  __device__ int column(int x) const {
    const int n = job.width;
    if ((u32)x < (u32)n) return x;
    if (job.border == CLIP) return OUTSIDE;
    if (job.border == WRAP) x += x < 0 ? n : -n;
    else if (job.border != REPLICATE) {
      const int once = job.border == REFLECT101 ? 0 : 1;
      x = x < 0 ? -once - x : 2 * n - 2 + once - x;
    }
    return min(max(x, 0), n - 1);
  }

  // load reads a row from an aligned address: one word more than the lane's columns fill.
  template <bool Edge>
  __device__ void load(int y, u32 (&w)[kWords + 1]) const {
    y = index_of(y, job.height, job.border);
    const u8* row = in + y * job.inStride;
#pragma unroll
    for (int k = 0; k <= kWords; k++) w[k] = 0;
    if (y == OUTSIDE) return;
    if (!Edge || inside) {
      const u32* p = (const u32*)(row + (at & ~3));
#pragma unroll
      for (int k = 0; k <= kWords; k++) w[k] = __ldg(p + k);
    } else {
#pragma unroll
      for (int k = 0; k < kWords; k++)
#pragma unroll 1
        for (int i = 0; i < 4; i++) {  // not unrolled: this path is rare, and registers are few
          const int x = column(at + 4 * k + i);
          w[k] = w[k] >> 8 | (x == OUTSIDE ? 0 : (u32)__ldg(row + x)) << 24;
        }
    }
  }

  // pixels reads the pixels to be thresholded.
  template <bool Edge>
  __device__ void pixels(int y, u32 (&w)[kWords]) const {
    const u8* row = in + min(y, job.height - 1) * job.inStride;
    if (!Edge || (to >= 0 && to + N <= job.width)) {
      loadVector<u32, kWords>((const u32*)(row + max(to, 0)), w);
    } else {
#pragma unroll
      for (int k = 0; k < kWords; k++) {
        w[k] = 0;
#pragma unroll 1
        for (int i = 0; i < 4; i++) {
          const int x = to + 4 * k + i;
          w[k] = w[k] >> 8 | ((u32)x < (u32)job.width ? (u32)__ldg(row + x) : 0) << 24;
        }
      }
    }
  }

  template <bool Edge, class T>
  __device__ void store(u8* row, const T v[N]) const {
    if (!Edge || to + N <= job.width) {
      storeVector<T, N>((T*)row + to, v);
    } else {
#pragma unroll
      for (int j = 0; j < N; j++)
        if (to + j < job.width) ((T*)row)[to + j] = v[j];
    }
  }

  template <bool Edge>
  __device__ void storeBytes(u8* row, const u32 w[kWords]) const {
    if (!Edge || to + N <= job.width) {
      storeVector<u32, kWords>((u32*)(row + to), w);
    } else {
#pragma unroll
      for (int j = 0; j < N; j++)
        if (to + j < job.width) row[to + j] = w[j / 4] >> (j % 4 * 8);
    }
  }

  __device__ u32 countOf(int x, int down) const { return job.border == CLIP ? down * within(x, job.left, job.right, job.width) : job.area; }

  // decide computes Sauvola's decisions in float32. If Known is set, all windows have the same
  // number of pixels; otherwise each lane computes it. It reports whether all decisions are
  // certain despite rounding.
  template <bool Edge, bool Known>
  __device__ bool decide(u8* row, const u32 (&s)[N], const u32 (&q)[N], const u32 (&p)[kWords], int down) const {
    bool sure = true;
    u32 w[kWords];
#pragma unroll
    for (int k = 0; k < kWords; k++) {
      u32 g[4];
#pragma unroll
      for (int i = 0; i < 4; i++) {
        const int j = 4 * k + i;
        const float n = Known ? (float)job.area : (float)countOf(to + j, down);
        const float gamma = Known ? job.gamma * job.inverse : __fdividef(job.gamma, n);
        const float sum = s[j], pixel = p[k] >> (8 * i) & 255;
        const float v = __fmaf_rn((float)q[j], n, -(sum * sum));
        float root;
        asm("sqrt.approx.f32 %0, %1;" : "=f"(root) : "f"(fabsf(v)));
        const float d = __fmaf_rn(-pixel, n, sum * __fmaf_rn(gamma, root, job.alpha));  // negative: white
        sure = sure && fabsf(d) >= job.margin * n;
        g[i] = __float_as_uint(d);
      }
      w[k] = permute(permute(g[0], g[1], 0x00fb), permute(g[2], g[3], 0x00fb), 0x5410);  // sign bits of the floats
    }
    storeBytes<Edge>(row, w);
    return sure;
  }

  template <bool Edge>
  __device__ void down(int y, int end) const {
    const int across = job.left + job.right + 1;
    const int rest = across % N;  // column j - across is this many positions before j, or one lane further
    const Sums* const gone0 = exchange + kFilterReach + lane - across / N - rest * kLine;
    const Sums* const gone1 = gone0 + N * kLine - 1;
    u32 c[N], q[N];
#pragma unroll
    for (int j = 0; j < N; j++) c[j] = q[j] = 0;
    u32 come[kWords + 1], gone[kWords + 1], pix[kWords];
#pragma unroll 2
    for (int r = y - job.up - 1; r < y + job.down; r++) {
      load<Edge>(r, come);
#pragma unroll
      for (int j = 0; j < N; j++) {
        const u32 p = permute(__funnelshift_r(come[j / 4], come[j / 4 + 1], shift), 0, 0x4440 + j % 4);
        c[j] += p;
        if (kSums == 2) q[j] += p * p;
      }
    }
    load<Edge>(y + job.down, come);
    load<Edge>(y - job.up - 1, gone);
    if (Kind == kSauvola) pixels<Edge>(y, pix);
    u8* row = out + y * job.outStride;
    u8* devRow = dev + y * job.devStride;
    for (; y < end; y++, row += job.outStride, devRow += job.devStride) {
#pragma unroll
      for (int k = 0; k < kWords; k++) {
        const u32 a = __funnelshift_r(come[k], come[k + 1], shift), b = __funnelshift_r(gone[k], gone[k + 1], shift);
#pragma unroll
        for (int i = 0; i < 4; i++) {
          const u32 pa = permute(a, 0, 0x4440 + i), pb = permute(b, 0, 0x4440 + i);
          c[4 * k + i] += pa - pb;
          if (kSums == 2) q[4 * k + i] = pa * pa - (pb * pb - q[4 * k + i]);
        }
      }
      u32 now[kWords];
#pragma unroll
      for (int k = 0; k < kWords; k++) now[k] = pix[k];
      load<Edge>(y + 1 + job.down, come);  // overlaps with this row
      load<Edge>(y - job.up, gone);
      if (Kind == kSauvola) pixels<Edge>(y + 1, pix);

#pragma unroll
      for (int j = 0; j < N; j++) put(exchange[j * kLine + kFilterReach + lane], c[j], q[j]);
      __syncwarp();
      u32 s[N], t[N], total[kSums] = {};  // what the windows gain
#pragma unroll
      for (int j = 0; j < N; j++) {
        const Sums gone = (j < rest ? gone1 : gone0)[j * kLine];
        s[j] = c[j] - sumOf(gone);
        total[0] += s[j];
        if (kSums == 2) {
          t[j] = q[j] - squaresOf(gone);
          total[kSums - 1] += t[j];
        }
      }
      __syncwarp();
      u32 own[kSums];
#pragma unroll
      for (int k = 0; k < kSums; k++) own[k] = total[k];
      scanUp<kSums>(total);
      s[0] += total[0] - own[0];
      if (kSums == 2) t[0] += total[kSums - 1] - own[kSums - 1];
#pragma unroll
      for (int j = 1; j < N; j++) {
        s[j] += s[j - 1];
        if (kSums == 2) t[j] += t[j - 1];
      }
      if (to < 0 || lane < job.skip || to >= job.width) continue;

      const int downCount = job.border == CLIP ? within(y, job.up, job.down, job.height) : job.up + job.down + 1;
      const bool whole = job.border != CLIP || (downCount == job.up + job.down + 1 && to >= job.left && to + N + job.right <= job.width);
      bool again = !whole;
      if (Kind == kBox && whole) {
        u32 w[kWords];
#pragma unroll
        for (int k = 0; k < kWords; k++) {
          u32 m[4];
#pragma unroll
          for (int i = 0; i < 4; i++) m[i] = __umulhi(s[4 * k + i] + job.half, job.multiplier);
          w[k] = permute(permute(m[0], m[1], job.place), permute(m[2], m[3], job.place), 0x5410);
        }
        storeBytes<Edge>(row, w);
      }
      if (Kind == kStats && whole) {
        float m[N], d[N];
        const float n = job.area;
#pragma unroll
        for (int j = 0; j < N; j++) {
          const float sum = s[j];
          m[j] = sum * job.inverse;  // correctly rounded, since the inverse is (Markstein)
          m[j] = __fmaf_rn(__fmaf_rn(-m[j], n, sum), job.inverse, m[j]);
          float v;
          if (job.area <= MAX_SMALL_VARIANCE) {
            v = (float)(i32)(job.area * t[j] - s[j] * s[j]) * job.inverse2;
          } else {
            const u32 near = (u32)__float2int_rn(m[j]), more = s[j] - job.area * near, far = t[j] - near * (s[j] + more);
            const float e = (float)(i32)more * job.inverse;
            v = (float)(i32)far * job.inverse - e * e;
          }
          d[j] = __fsqrt_rn(v);
        }
        if (out) store<Edge>(row, m);
        if (dev) store<Edge>(devRow, d);
      }
      if (Kind == kSauvola) again = !(whole ? decide<Edge, true>(row, s, t, now, downCount) : decide<Edge, false>(row, s, t, now, downCount));
      if (again) {  // one by one, from sums that the other lanes no longer need
#pragma unroll
        for (int j = 0; j < N; j++) put(exchange[j * kLine + kFilterReach + lane], s[j], kSums == 2 ? t[j] : 0);
#pragma unroll 1
        for (int j = 0; j < N && to + j < job.width; j++) {
          const Sums sums = exchange[j * kLine + kFilterReach + lane];
          const u32 sum = sumOf(sums), squares = squaresOf(sums), n = countOf(to + j, downCount);
          if (Kind == kBox) row[to + j] = rounded_mean(sum, n);
          if (Kind == kStats && out) ((f32*)row)[to + j] = mean_of(sum, n);
          if (Kind == kStats && dev) ((f32*)devRow)[to + j] = root_of(variance_of(sum, squares, n, 1));
          if (Kind == kSauvola) row[to + j] = sauvola(__ldg(in + y * job.inStride + to + j), sum, squares, n, 1, job.k, job.inverseR);
        }
      }
    }
  }

  static __device__ void run(const FilterPass& job, Exchange* exchanges) {
    const int lane = threadIdx.x % 32, warp = __shfl_sync(kAll, threadIdx.x / 32, 0);  // warp-uniform, which the compiler cannot see by itself
    u32 task = blockIdx.x * kFilterWarps + warp;
    const int strip = task % job.strips;
    task /= job.strips;
    const int band = task % job.bands;
    const i64 image = task / job.bands;
    if (image >= job.count) return;
    Sums* exchange = &exchanges[warp][0][0];
    for (int i = lane; i < N * kFilterReach; i += 32) put(exchange[i / kFilterReach * kLine + i % kFilterReach], 0, 0);
    __syncwarp();
    const int to = strip * (32 - job.skip) * N + (lane - job.skip) * N, at = to + job.right;
    const bool inside = at >= 0 && at + N + 4 <= job.width;
    FilterStrip s = {job, exchange, (const u8*)job.in + image * job.inDistance, job.out ? (u8*)job.out + image * job.outDistance : nullptr,
                     job.dev ? (u8*)job.dev + image * job.devDistance : nullptr, lane, at, to, inside ? at % 4 * 8u : 0, inside};
    const int y = band * job.bandRows, end = min(y + job.bandRows, job.height);
    if (__all_sync(kAll, inside && to >= 0 && to + N <= job.width)) s.template down<false>(y, end);
    else s.template down<true>(y, end);
  }
};

}  // namespace

// Blocks is the number of blocks that fit on a multiprocessor.
#define BOXSUM_FILTER(Name, Kind, N, Blocks)                                                                                                       \
  extern "C" __global__ void __launch_bounds__(32 * kFilterWarps, Blocks) filterpass_##Name##_##N##_##Blocks(const __grid_constant__ FilterPass job) { \
    __shared__ FilterStrip<Kind, N>::Exchange exchanges[kFilterWarps];                                                                             \
    FilterStrip<Kind, N>::run(job, exchanges);                                                                                                     \
  }
