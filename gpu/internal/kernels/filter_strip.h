// Filters of bytes by strips. Each warp works independently.
//
// A warp owns a strip of columns, several per lane, and goes down a band of rows. Each lane keeps the sums of its columns
// over the rows of a window in registers; for each row, the new one is added and the oldest subtracted. Then the lanes
// exchange column sums, because
//
//   S(x) = S(x - 1) + column(x) - column(x - width)
//
// is the sum of the window that ends in column x. A strip starts from zero, so its first columns have no windows: the
// strip on the left computes them. Pixels beside the image come from a copy of its edges, made beforehand, so that all
// columns are loaded in the same way. The cost is instructions per pixel: a device executes about 25 in the time it takes
// to copy a pixel.
#pragma once

#include "common.h"
#include "filter.h"
#include "jobs/filter_strip.h"

namespace {

constexpr int kStripWarps = 4;
constexpr int kStripReach = 256;  // maximum width of a window

__device__ inline u32 permute(u32 a, u32 b, u32 selector) {
  u32 r;
  asm("prmt.b32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(selector));
  return r;
}

// dot4 and dot2 add products of unsigned bytes, or pairs of bytes, and signed bytes.
__device__ inline u32 dot4(u32 a, u32 b, u32 sum) {
  u32 r;
  asm("dp4a.u32.s32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(sum));
  return r;
}
__device__ inline u32 dot2(u32 a, u32 b, u32 sum) {
  u32 r;
  asm("dp2a.lo.u32.s32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(sum));
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

// A StripTask is the work of a warp: a strip and a band of an image.
struct StripTask {
  int strip, y, end;
  i64 image;
  bool rows;  // all rows of all windows are inside the image

  __device__ StripTask(const FilterStrip& job, int warp) {
    u32 task = blockIdx.x * kStripWarps + warp;
    strip = task % job.strips;
    task /= job.strips;
    y = task % job.bands * job.bandRows;
    image = task / job.bands;
    end = min(y + job.bandRows, job.height);
    rows = y - job.up - 1 >= 0 && end + job.down <= job.height;
  }

  // columns reports whether the columns [x, x+n) are in the image and their windows are not
  // clipped.
  static __device__ bool columns(const FilterStrip& job, int x, int n) {
    const int clip = job.border == CLIP;
    return x >= clip * job.left && x + n + clip * job.right <= job.width;
  }
};

// StripColumns locates a lane's columns, whose first is a multiple of their number: in the image or
// in the copy of its edges. Columns beyond both affect no result.
struct StripColumns {
  const u8* from;
  i64 stride;

  template <int N>
  __device__ void find(const FilterStrip& job, i64 image, int c) {
    const bool inside = c >= 0 && c + N <= job.width;
    const int chunk = (c >> 4) + job.edgeLeft - (c < 0 ? 0 : job.width / 16), last = (int)(job.edgeStride / 16) - 1;
    from = inside ? (const u8*)job.in + image * job.inDistance + c
                  : (const u8*)job.edge + image * job.edgeDistance + 16 * max(0, min(chunk, last)) + (c & 15);
    stride = inside ? job.inStride : job.edgeStride;
  }

  // load reads row y, or returns zeros where the border has none. Inner promises that y is in the
  // image.
  template <class W, bool Inner>
  __device__ W load(const FilterStrip& job, int y) const {
    if (!Inner) {
      y = index_of(y, job.height, job.border);
      if (y == OUTSIDE) return W{};
    }
    return __ldg((const W*)(from + y * stride));
  }
};

// Means: a warp has two strips of 256 columns, 8 per lane. The sums of two columns share a word,
// which suffices for 257 rows. So do the sums of two small windows; Wide is for windows whose sums
// do not fit.
template <bool Wide, int Ahead>
struct MeanStrip {
  static constexpr int kPad = (Wide ? kStripReach : 128) / 8 + 1, kLine = 32 + kPad;  // small windows have at least two rows
  static constexpr int kColumns = 256;
  static constexpr u32 kFloat = 0x4b000000;  // 2^23 as a float; an integer is in its low bits
  static constexpr int kRing = Wide ? 0 : 16;  // rows that are kept, so that those of small windows are read from memory once
  struct Exchange {
    uint4 ring[kRing + (kRing == 0)][32];
    u32 columns[8][kLine];
  };

  const FilterStrip& job;
  uint4* ring;    // of the lane; consecutive rows are 32 apart
  u32* exchange;  // column 8·l + j of the strips is at [j][kPad + l]: neighboring lanes have no bank conflicts
  StripColumns a, b;
  u8* out;
  int lane, xa, xb;  // where the lane's results begin

  struct Pixels { uint2 a, b; };

  template <bool Inner>
  __device__ Pixels load(int y) const { return {a.load<uint2, Inner>(job, y), b.load<uint2, Inner>(job, y)}; }

  static __device__ uint4 keep(const Pixels& p) { return make_uint4(p.a.x, p.a.y, p.b.x, p.b.y); }
  static __device__ Pixels kept(const uint4& v) { return {make_uint2(v.x, v.y), make_uint2(v.z, v.w)}; }

  // unpack makes words of two pixels, one from each strip.
  static __device__ void unpack(const Pixels& p, u32 (&v)[8]) {
    const u32 a[2] = {p.a.x, p.a.y}, b[2] = {p.b.x, p.b.y};
#pragma unroll
    for (int w = 0; w < 2; w++) {
      const u32 low = permute(a[w], b[w], 0x5410), high = permute(a[w], b[w], 0x7632);
      v[4 * w] = low & 0x00ff00ff, v[4 * w + 1] = permute(low, 0, 0x4341);
      v[4 * w + 2] = high & 0x00ff00ff, v[4 * w + 3] = permute(high, 0, 0x4341);
    }
  }

  static __device__ u32 join(const u32* v, u32 place) {
    return permute(permute(v[0], v[1], place), permute(v[2], v[3], place), 0x5410);
  }

  template <bool Inner>
  __device__ void store(int y, int x, u32 low, u32 high) const {
    u8* to = out + y * job.outStride + x;
    if (Inner || x + 8 <= job.width) *(uint2*)to = make_uint2(low, high);
    else
      for (int i = 0; x + i < job.width; i++) to[i] = (i < 4 ? low : high) >> (8 * (i & 3));
  }

  // means computes the means of the windows that end in the lane's columns, from the column sums
  // and those that leave the windows.
  __device__ void means(const u32 (&c)[8], const u32 (&g)[8], u32 (&ma)[2], u32 (&mb)[2], u32 (&sa)[8], u32 (&sb)[8]) const {
    if constexpr (!Wide) {
      u32 s[8], total[1], ra[8], rb[8];
      s[0] = c[0] - g[0];
#pragma unroll
      for (int j = 1; j < 8; j++) s[j] = s[j - 1] + c[j] - g[j];
      total[0] = s[7];
      scanUp<1>(total);
      const u32 before = total[0] - s[7];
#pragma unroll
      for (int j = 0; j < 8; j++) {
        sa[j] = sb[j] = s[j] += before;
        ra[j] = __float_as_uint(__fmaf_rd(__uint_as_float(permute(s[j], kFloat, 0x7610)), job.inverse, job.bias));
        rb[j] = __float_as_uint(__fmaf_rd(__uint_as_float(permute(s[j], kFloat, 0x7632)), job.inverse, job.bias));
      }
#pragma unroll
      for (int k = 0; k < 2; k++) ma[k] = join(ra + 4 * k, 0x0051), mb[k] = join(rb + 4 * k, 0x0051);
    } else {
      u32 total[2];
      sa[0] = dot2(g[0], 0x00ff, dot2(c[0], 0x0001, 0)), sb[0] = dot2(g[0], 0xff00, dot2(c[0], 0x0100, 0));
#pragma unroll
      for (int j = 1; j < 8; j++) sa[j] = dot2(g[j], 0x00ff, dot2(c[j], 0x0001, sa[j - 1])), sb[j] = dot2(g[j], 0xff00, dot2(c[j], 0x0100, sb[j - 1]));
      total[0] = sa[7], total[1] = sb[7];
      scanUp<2>(total);
      const u32 beforeA = total[0] - sa[7] + job.half, beforeB = total[1] - sb[7] + job.half;
      u32 ra[8], rb[8];
#pragma unroll
      for (int j = 0; j < 8; j++) {
        sa[j] += beforeA, sb[j] += beforeB;
        ra[j] = __umulhi(sa[j], job.multiplier), rb[j] = __umulhi(sb[j], job.multiplier);
      }
#pragma unroll
      for (int k = 0; k < 2; k++) ma[k] = join(ra + 4 * k, job.place), mb[k] = join(rb + 4 * k, job.place);
    }
  }

  // clipped computes the means of windows that may be clipped, one by one.
  __device__ void clipped(int y, const u32 (&sa)[8], const u32 (&sb)[8], u32 (&ma)[2], u32 (&mb)[2]) const {
    const int rows = within(y, job.up, job.down, job.height), first = xa + 8 - job.right % 8;
    ma[0] = ma[1] = mb[0] = mb[1] = 0;
#pragma unroll 1
    for (int j = 0; j < 8; j++) {
      u32 a = 0, b = 0;
#pragma unroll
      for (int i = 0; i < 8; i++)
        if (i == j) a = Wide ? sa[i] - job.half : sa[i] & 0xffff, b = Wide ? sb[i] - job.half : sb[i] >> 16;
      const int at = first + j, to = at + xb - xa;
      if ((u32)at < (u32)job.width) (j < 4 ? ma[0] : ma[1]) |= rounded_mean(a, rows * within(at, job.left, job.right, job.width)) << (8 * (j & 3));
      if ((u32)to < (u32)job.width) (j < 4 ? mb[0] : mb[1]) |= rounded_mean(b, rows * within(to, job.left, job.right, job.width)) << (8 * (j & 3));
    }
  }

  template <bool Inner>
  __device__ void down(int y, const int end) const {
    const int across = job.left + job.right + 1;
    const u32* gone[8];  // the columns that leave the windows
#pragma unroll
    for (int j = 0; j < 8; j++) {
      const int at = 8 * (lane + kPad) + j - across;
      gone[j] = exchange + at % 8 * kLine + at / 8;
    }
    u32 c[8] = {}, g[8], v[8];
    Pixels come[Ahead], go[Ahead];
    const int first = y - job.up - 1, last = y + job.down, rows = last - first;  // rows that are summed before the loop
#pragma unroll
    for (int i = 0; i < Ahead; i++) come[i] = load<Inner>(min(first + i, last));
#pragma unroll 1
    for (int r = first; r < last; r += Ahead)
#pragma unroll
      for (int i = 0; i < Ahead; i++) {
        if (r + i < last) {
          unpack(come[i], v);
#pragma unroll
          for (int j = 0; j < 8; j++) c[j] += v[j];
          if (kRing) ring[32 * ((r + i - first) % rows)] = keep(come[i]);
        }
        come[i] = load<Inner>(min(r + i + Ahead, last));
      }
    int slot = 0;  // of the row that leaves, and then of the row that enters
    auto fetch = [&](int i, int r) {
      come[i] = load<Inner>(r + job.down);
      if (!kRing) go[i] = load<Inner>(r - job.up - 1);
    };
#pragma unroll
    for (int i = 0; i < Ahead; i++) fetch(i, min(y + i, end - 1));
    const u32 bits = job.right % 4 * 8;
    const bool half = job.right % 8 >= 4;
#pragma unroll 1
    for (; y < end; y += Ahead)
#pragma unroll
      for (int i = 0; i < Ahead; i++) {
        if (y + i >= end) break;
        if (kRing) {
          uint4* const at = ring + 32 * slot;
          go[i] = kept(*at), *at = keep(come[i]);
          slot = slot + 1 == rows ? 0 : slot + 1;
        }
        unpack(come[i], v);
        unpack(go[i], g);
#pragma unroll
        for (int j = 0; j < 8; j++) exchange[j * kLine + kPad + lane] = c[j] += v[j] - g[j];
        fetch(i, min(y + i + Ahead, end - 1));  // overlaps with this row
        __syncwarp();
#pragma unroll
        for (int j = 0; j < 8; j++) g[j] = *gone[j];
        __syncwarp();
        u32 ma[2], mb[2], sa[8], sb[8];
        means(c, g, ma, mb, sa, sb);
        if (!Inner && job.border == CLIP) clipped(y + i, sa, sb, ma, mb);
        // Shift results from columns to pixels, whose groups begin at multiples of 8.
        const u32 a1 = __shfl_up_sync(kAll, ma[1], 1), b1 = __shfl_up_sync(kAll, mb[1], 1);
        u32 ra[2], rb[2];
        if (half) {
          ra[0] = __funnelshift_r(a1, ma[0], bits), ra[1] = __funnelshift_r(ma[0], ma[1], bits);
          rb[0] = __funnelshift_r(b1, mb[0], bits), rb[1] = __funnelshift_r(mb[0], mb[1], bits);
        } else {
          const u32 a0 = __shfl_up_sync(kAll, ma[0], 1), b0 = __shfl_up_sync(kAll, mb[0], 1);
          ra[0] = __funnelshift_r(a0, a1, bits), ra[1] = __funnelshift_r(a1, ma[0], bits);
          rb[0] = __funnelshift_r(b0, b1, bits), rb[1] = __funnelshift_r(b1, mb[0], bits);
        }
        if (lane < job.skip) continue;
        if (Inner || xa < job.width) store<Inner>(y + i, xa, ra[0], ra[1]);
        if (Inner || xb < job.width) store<Inner>(y + i, xb, rb[0], rb[1]);
      }
  }

  static __device__ void run(const FilterStrip& job, Exchange* exchanges) {
    const int lane = threadIdx.x % 32, warp = __shfl_sync(kAll, threadIdx.x / 32, 0);  // warp-uniform, which the compiler cannot see by itself
    const StripTask task(job, warp);
    if (task.image >= job.count) return;
    u32* exchange = &exchanges[warp].columns[0][0];
    for (int i = lane; i < 8 * kPad; i += 32) exchange[i / kPad * kLine + i % kPad] = 0;
    __syncwarp();
    const int each = kColumns - 8 * job.skip, x = 2 * each * task.strip, right = job.right / 8;
    const int c = x - 8 * (job.skip - 1 - right);  // the first column
    MeanStrip s = {job, &exchanges[warp].ring[0][lane], exchange};
    s.lane = lane, s.out = (u8*)job.out + task.image * job.outDistance;
    s.a.find<8>(job, task.image, c + 8 * lane), s.b.find<8>(job, task.image, c + each + 8 * lane);
    s.xa = c + 8 * (lane - 1 - right), s.xb = s.xa + each;
    if (task.rows && StripTask::columns(job, x, 2 * each)) s.template down<true>(task.y, task.end);
    else s.template down<false>(task.y, task.end);
  }
};

// Sauvola's decisions: a strip has 32·N columns. When pixel p enters a window and q leaves, the sum of p² - 128·p changes by
//
//   p·(p - 128) + q·(127 - q) + q·1
//
// which is one dot product of four bytes.
template <int N, int Ahead>
struct DecideStrip {
  static constexpr int kPad = kStripReach / N + 1, kLine = 32 + kPad, kWords = N / 4;
  static constexpr u32 kFloat = 0x4b400000;  // 1.5·2^23 as a float
  typedef uint2 Exchange[N][kLine];
  typedef typename Word<N>::type Vector;
  struct Pixels { u32 w[kWords]; };

  const FilterStrip& job;
  uint2* exchange;  // sums and squares of column N·l + j are at [j][kPad + l]
  StripColumns columns;
  const u8* in;
  u8* out;
  int lane, x;  // the lane's first pixel, or another that is valid to load if it has none
  bool valid, whole;  // the lane has pixels; no window of the strip is clipped

  static __device__ Pixels pixels(const Vector& v) {
    Pixels p;
    memcpy(&p, &v, sizeof p);
    return p;
  }

  template <bool Inner>
  __device__ Pixels load(int y) const { return pixels(columns.load<Vector, Inner>(job, y)); }

  // own reads the pixels to be thresholded.
  template <bool Inner>
  __device__ Pixels own(int y) const {
    const u8* p = in + y * job.inStride + x;
    if (Inner || x + N <= job.width) return pixels(__ldg((const Vector*)p));
    Pixels v = {};
#pragma unroll
    for (int k = 0; k < kWords; k++)
#pragma unroll 1
      for (int i = 0; i < 4; i++)
        if (x + 4 * k + i < job.width) v.w[k] |= (u32)__ldg(p + 4 * k + i) << (8 * i);
    return v;
  }

  // shifted aligns loaded columns, which begin at a multiple of N, with the lane's.
  template <int Words>
  __device__ Pixels shifted(const Pixels& v) const {
    const u32 bits = job.right % 4 * 8;
    Pixels r;
    u32 k[kWords + 1];
#pragma unroll
    for (int i = 0; i <= kWords; i++) k[i] = i + Words < kWords ? v.w[(i + Words) % kWords] : __shfl_down_sync(kAll, v.w[(i + Words) % kWords], 1);
#pragma unroll
    for (int i = 0; i < kWords; i++) r.w[i] = __funnelshift_r(k[i], k[i + 1], bits);
    return r;
  }
  // fetch reads the columns that leave the windows: R of them are one lane further than the
  // others.
  template <int R>
  __device__ void fetch(const uint2* near, const uint2* far, uint2 (&g)[N]) const {
#pragma unroll
    for (int j = 0; j < N; j++) g[j] = (j < R ? far : near)[j * kLine];
  }

  template <bool Inner, int Words>
  __device__ void down(int y, const int end) const {
    const int across = job.left + job.right + 1, rest = across % N;
    const uint2* const gone0 = exchange + kPad + lane - across / N - rest * kLine;
    const uint2* const gone1 = gone0 + N * kLine - 1;
    u32 c[N], q[N];
#pragma unroll
    for (int j = 0; j < N; j++) c[j] = q[j] = 0;
    Pixels come[Ahead], go[Ahead], mine[Ahead];
    const int first = y - job.up - 1, last = y + job.down;  // rows that are summed before the loop
#pragma unroll
    for (int i = 0; i < Ahead; i++) come[i] = load<Inner>(min(first + i, last));
#pragma unroll 1
    for (int r = first; r < last; r += Ahead)
#pragma unroll
      for (int i = 0; i < Ahead; i++) {
        if (r + i < last) {
          const Pixels v = shifted<Words>(come[i]);
#pragma unroll
          for (int j = 0; j < N; j++) {
            const u32 p = permute(v.w[j / 4], 0, 0x4440 + j % 4);
            c[j] += p, q[j] = dot4(p, p ^ 0x80, q[j]);
          }
        }
        come[i] = load<Inner>(min(r + i + Ahead, last));
      }
    auto next = [&](int i, int r) { come[i] = load<Inner>(r + job.down), go[i] = load<Inner>(r - job.up - 1), mine[i] = own<Inner>(r); };
#pragma unroll
    for (int i = 0; i < Ahead; i++) next(i, min(y + i, end - 1));
#pragma unroll 1
    for (; y < end; y += Ahead)
#pragma unroll
      for (int i = 0; i < Ahead; i++) {
        if (y + i >= end) break;
        const Pixels a = shifted<Words>(come[i]), b = shifted<Words>(go[i]), now = mine[i];
#pragma unroll
        for (int j = 0; j < N; j++) {
          const u32 t = permute(a.w[j / 4], b.w[j / 4], 0x0440 + j % 4 * 0x0111);  // p, q, q
          u32 times;                                                               // p - 128, 127 - q, 1: lop3 keeps, flips, sets or clears each bit of t
          asm("lop3.b32 %0, %1, %2, %3, 0xac;" : "=r"(times) : "r"(t), "r"(0x17f80), "r"(0x1807f));
          q[j] = dot4(t, times, q[j]);
          c[j] = dot4(t, 0xff01, c[j]);  // p - q
          exchange[j * kLine + kPad + lane] = make_uint2(c[j], q[j]);
        }
        next(i, min(y + i + Ahead, end - 1));  // overlaps with this row
        __syncwarp();
        uint2 g[N];
#define BOXSUM_CASE(R) case R: fetch<R>(gone0, gone1, g); break;
        if constexpr (N == 8) switch (rest) {
          BOXSUM_CASE(0) BOXSUM_CASE(1) BOXSUM_CASE(2) BOXSUM_CASE(3) BOXSUM_CASE(4) BOXSUM_CASE(5) BOXSUM_CASE(6) default: BOXSUM_CASE(7)
        } else switch (rest) {
          BOXSUM_CASE(0) BOXSUM_CASE(1) BOXSUM_CASE(2) BOXSUM_CASE(3) BOXSUM_CASE(4) BOXSUM_CASE(5) BOXSUM_CASE(6) BOXSUM_CASE(7)
          BOXSUM_CASE(8) BOXSUM_CASE(9) BOXSUM_CASE(10) BOXSUM_CASE(11) BOXSUM_CASE(12) BOXSUM_CASE(13) BOXSUM_CASE(14) default: BOXSUM_CASE(15)
        }
#undef BOXSUM_CASE
        u32 s[N], t[N];  // exclusive over the lanes; sums are in the low bits of floats
#pragma unroll
        for (int j = 0; j < N; j++) s[j] = c[j] - g[j].x + (j ? s[j - 1] : kFloat), t[j] = q[j] - g[j].y + (j ? t[j - 1] : 0);
        __syncwarp();
        u32 total[2] = {s[N - 1] - kFloat, t[N - 1]};
        scanUp<2>(total);
        const u32 before = total[0] - (s[N - 1] - kFloat), before2 = total[1] - t[N - 1];
        if (!valid) continue;
        results<Inner>(y + i, s, t, before, before2, now);
      }
  }

  // decide computes decisions in float32, and a mask of those that are uncertain, the last first.
  // If Whole is set, all windows have the same number of pixels; otherwise each has its own.
  template <bool Whole>
  __device__ u32 decide(const u32 (&s)[N], const u32 (&t)[N], u32 before, u32 before2, int down, const Pixels& now, u32 (&w)[kWords]) const {
    const float beforeFloat = (float)(i32)before - 12582912.0f;
    u32 unsure = 0;
#pragma unroll
    for (int k = 0; k < kWords; k++) {
      u32 d[4];
#pragma unroll
      for (int i = 0; i < 4; i++) {
        const int j = 4 * k + i;
        const float n = Whole ? job.n : (float)(down * within(x + j, job.left, job.right, job.width)), part = Whole ? 1 : __fdividef(n, job.n);
        const float sum = __uint_as_float(s[j]) + beforeFloat, squares = (float)(i32)(t[j] + before2), pixel = now.w[k] >> (8 * i) & 255;
        const float v = __fmaf_rn(squares, n, sum * (128 * n - sum));  // n² times the variance
        float root;
        asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(root) : "f"(fabsf(v)));
        const float gamma = Whole ? job.gamma : __fdividef(job.gamma, part);
        const float more = __fmaf_rn(-pixel, n, sum * __fmaf_rn(gamma, root, job.alpha));  // negative: white
        unsure = __funnelshift_l(__float_as_uint(fabsf(more) - (Whole ? job.margin : job.margin * part)), unsure, 1);
        d[i] = __float_as_uint(more);
      }
      w[k] = permute(permute(d[0], d[1], 0x00fb), permute(d[2], d[3], 0x00fb), 0x5410);  // sign bits of the floats
    }
    return unsure;
  }

  template <bool Inner>
  __device__ void results(int y, const u32 (&s)[N], const u32 (&t)[N], u32 before, u32 before2, const Pixels& now) const {
    const int rows = job.up + job.down + 1, down = !Inner && job.border == CLIP ? within(y, job.up, job.down, job.height) : rows;
    u32 w[kWords], unsure;
    if (Inner || (whole && down == rows)) unsure = decide<true>(s, t, before, before2, down, now, w);
    else unsure = decide<false>(s, t, before, before2, down, now, w);
    u8* row = out + y * job.outStride + x;
    if (Inner || x + N <= job.width) {
      storeVector<u32, kWords>((u32*)row, w);
    } else {
#pragma unroll
      for (int j = 0; j < N; j++)
        if (x + j < job.width) row[j] = w[j / 4] >> (8 * (j % 4));
    }
    if (unsure == 0) return;
    // One by one, from sums that the other lanes have read.
#pragma unroll
    for (int j = 0; j < N; j++) exchange[j * kLine + kPad + lane] = make_uint2(s[j] - kFloat + before, t[j] + before2);
    do {
      const int j = N - 32 + __clz(unsure);
      unsure &= ~(1u << (N - 1 - j));
      if (x + j >= job.width) continue;
      const uint2 e = exchange[j * kLine + kPad + lane];
      const u32 n = !Inner && job.border == CLIP ? down * within(x + j, job.left, job.right, job.width) : job.area;
      row[j] = sauvola(__ldg(in + y * job.inStride + x + j), e.x, e.y + 128 * e.x, n, 1, job.k, job.inverseR);
    } while (unsure);
  }

  static __device__ void run(const FilterStrip& job, Exchange* exchanges) {
    const int lane = threadIdx.x % 32, warp = __shfl_sync(kAll, threadIdx.x / 32, 0);
    const StripTask task(job, warp);
    if (task.image >= job.count) return;
    uint2* exchange = &exchanges[warp][0][0];
    for (int i = lane; i < N * kPad; i += 32) exchange[i / kPad * kLine + i % kPad] = make_uint2(0, 0);
    __syncwarp();
    // The windows of pixel x end in column x+right. The last lane has no right neighbor to
    // provide its remaining columns.
    const int each = (31 - job.skip) * N, begin = each * task.strip, x = begin + (lane - job.skip) * N;
    DecideStrip s = {job, exchange};
    s.lane = lane;
    s.in = (const u8*)job.in + task.image * job.inDistance;
    s.out = (u8*)job.out + task.image * job.outDistance;
    s.valid = lane >= job.skip && lane < 31 && x < job.width;
    s.x = max(0, min(x, (job.width - 1) / N * N));
    s.columns.find<N>(job, task.image, x + job.right / N * N);
    const bool inner = StripTask::columns(job, begin, each);
    s.whole = job.border != CLIP || inner;
    const int words = job.right % N / 4;
    if (words == 0) s.template go<0>(task, inner);
    else if (words == 1) s.template go<1>(task, inner);
    else if constexpr (kWords > 2) {
      if (words == 2) s.template go<2>(task, inner);
      else s.template go<3>(task, inner);
    }
  }

  template <int Words>
  __device__ void go(const StripTask& task, bool inner) const {
    if (task.rows && inner) down<true, Words>(task.y, task.end);
    else down<false, Words>(task.y, task.end);
  }
};

}  // namespace

// Copies the chunks of 16 columns that are not entirely inside the image, one thread each.
extern "C" __global__ void __launch_bounds__(128) filterstrip_edges(const __grid_constant__ FilterStrip job) {
  const int chunks = job.edgeStride / 16;
  const i64 i = blockIdx.x * 128ll + threadIdx.x;
  const int y = i / chunks % job.height, chunk = i % chunks;
  const i64 image = i / chunks / job.height;
  if (image >= job.count) return;
  const int x = (chunk < job.edgeLeft ? chunk - job.edgeLeft : job.width / 16 + chunk - job.edgeLeft) * 16;
  const u8* row = (const u8*)job.in + image * job.inDistance + y * job.inStride;
  u32 w[4];
#pragma unroll
  for (int k = 0; k < 4; k++) {
    w[k] = 0;
#pragma unroll
    for (int b = 0; b < 4; b++) {
      const int c = index_of(x + 4 * k + b, job.width, job.border);
      if (c != OUTSIDE) w[k] |= (u32)__ldg(row + c) << (8 * b);
    }
  }
  *(uint4*)((u8*)job.edge + image * job.edgeDistance + y * job.edgeStride + chunk * 16) = make_uint4(w[0], w[1], w[2], w[3]);
}

// Blocks is the number of blocks that fit on a multiprocessor.
#define BOXSUM_FILTER_STRIP(Name, Kind, Of, Ahead, Blocks)                                                                         \
  extern "C" __global__ void __launch_bounds__(32 * kStripWarps, Blocks) Name(const __grid_constant__ FilterStrip job) { \
    __shared__ Kind##Strip<Of, Ahead>::Exchange exchanges[kStripWarps];                                                         \
    Kind##Strip<Of, Ahead>::run(job, exchanges);                                                                                \
  }
