// Filters of bytes on tensor cores: a warp keeps the sums of all windows of a strip in the
// accumulators of matrix products.
//
// The warp goes down a band of rows. For each row, one row enters the windows and another leaves; both are multiplied by
// band matrices of ones, so that the products are the changes of the windows' sums, in the lanes that hold these sums.
// Nothing is exchanged or scanned.
//
// A strip has 512 columns: 32 segments of 16. Lane 4g+t has bytes 4t to 4t+3 of segments 4g to 4g+3, as input and as
// results. Row g of a product is segment q of the four, for q = 0 or 1, and row g+8 is segment q+2. The windows of a segment
// are covered by H half-width operands, which begin kLead columns before it: segments q, q+1, ... Each product combines one
// half of two planes: the pixels p that enter and o that leave, or the two parts of the change of the squares. With c = 127.5,
//
//   (p-c)² - (o-c)² = (p-o)·(p+o-255) = 128·h + l
//
// where h and l fit in bytes and are computed in half precision. Sums are held in the low bits of floats if they fit.
#pragma once

#include "common.h"
#include "filter.h"
#include "jobs/filter_window.h"

namespace {

extern __shared__ uint4 windowMemory[];

__device__ inline u32 permute(u32 a, u32 b, u32 selector) {
  u32 r;
  asm("prmt.b32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(selector));
  return r;
}

// Accesses to shared memory by 32-bit address, in program order.
__device__ inline u32 get(u32 at) {
  u32 v;
  asm volatile("ld.shared.u32 %0, [%1];" : "=r"(v) : "r"(at));
  return v;
}
__device__ inline u32 getByte(u32 at) {
  u32 v;
  asm volatile("ld.shared.u8 %0, [%1];" : "=r"(v) : "r"(at));
  return v;
}
__device__ inline uint2 getTwo(u32 at) {
  uint2 v;
  asm volatile("ld.shared.v2.u32 {%0, %1}, [%2];" : "=r"(v.x), "=r"(v.y) : "r"(at));
  return v;
}
__device__ inline uint4 getFour(u32 at) {
  uint4 v;
  asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "r"(at));
  return v;
}
__device__ inline void put(u32 at, u32 v) { asm volatile("st.shared.u32 [%0], %1;" ::"r"(at), "r"(v)); }
__device__ inline void putByte(u32 at, u32 v) { asm volatile("st.shared.u8 [%0], %1;" ::"r"(at), "r"(v)); }
__device__ inline void putFour(u32 at, uint4 v) {
  asm volatile("st.shared.v4.u32 [%0], {%1, %2, %3, %4};" ::"r"(at), "r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w));
}

// getMatrices and putMatrices transfer four matrices. Each group of eight lanes supplies the
// addresses of one matrix's rows, and lane 4g+t has word t of row g.
__device__ inline void getMatrices(u32 at, u32 (&v)[4]) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];" : "=r"(v[0]), "=r"(v[1]), "=r"(v[2]), "=r"(v[3]) : "r"(at));
}
__device__ inline void putMatrices(u32 at, u32 words, const u32 (&v)[4]) {
#if __CUDA_ARCH__ >= 900
  asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(at), "r"(v[0]), "r"(v[1]), "r"(v[2]), "r"(v[3]));
#else
#pragma unroll
  for (int j = 0; j < 4; j++) put(words + 16 * j, v[j]);
#endif
}

// hold forces a value into a register by a round trip through memory; otherwise the assembler
// recomputes it at every use.
__device__ inline void hold(u32 at, u32& v) {
  asm volatile("st.volatile.shared.u32 [%1], %0; ld.volatile.shared.u32 %0, [%1];" : "+r"(v) : "r"(at));
}
__device__ inline void hold(u32 at, float& v) {
  asm volatile("st.volatile.shared.f32 [%1], %0; ld.volatile.shared.f32 %0, [%1];" : "+f"(v) : "r"(at));
}

// fetch starts a 16-byte copy: the given number of bytes, then zeros.
__device__ inline void fetch(u32 to, const u8* from, int bytes) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(bytes) : "memory");
}
__device__ inline void fetch(u32 to, const u8* from) { asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from) : "memory"); }

// multiply adds the product of bytes, 16×32 by 32×8, to c: unsigned by signed for pixels, otherwise
// signed by unsigned.
template <bool Pixels>
__device__ inline void multiply(u32 (&c)[4], const u32 (&a)[4], const u32 (&b)[2]) {
  if constexpr (Pixels)
    asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.u8.s8.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                 : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
  else
    asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.u8.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                 : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
// multiplied sets d to c plus the product of bytes, 16×16 by 16×8.
__device__ inline void multiplied(u32 (&d)[4], u32 a0, u32 a1, u32 b, const u32 (&c)[4]) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.s32.u8.u8.s32 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%7,%8,%9,%10};"
               : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3]) : "r"(a0), "r"(a1), "r"(b), "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3]));
}

__device__ inline u32 fmaHalves(u32 a, u32 b, u32 c) {
  u32 r;
  asm("fma.rn.f16x2 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c));
  return r;
}
__device__ inline u32 addHalves(u32 a, u32 b) {
  u32 r;
  asm("add.rn.f16x2 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));
  return r;
}
__device__ inline u32 lessHalves(u32 a, u32 b) {
  u32 r;
  asm("sub.rn.f16x2 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));
  return r;
}
__device__ inline float rootOf(float v) {
  float r;
  asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(v));
  return r;
}
__device__ inline float inverseOf(float v) {
  float r;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(v));
  return r;
}

// H is the number of halves that cover the windows of a segment. Decide selects Sauvola's
// decisions, otherwise means. Wide is for sums that do not fit in the low bits of floats: of
// squares, or of windows that are divided in one step. Ahead is the number of rows fetched ahead.
template <int H, bool Decide, bool Wide, int Ahead>
struct WindowStrip {
  static constexpr int kLead = H == 2 ? 8 : 8 * (H - 1);  // columns by which windows may begin before their segment
  static constexpr int kRow = 640;                        // bytes of a row: 16 of each 80 are unused, against bank conflicts
  static constexpr int kSegments = 33 - H, kEach = 16 * kSegments;  // kSegments have results
  static constexpr int kShift = H == 2 ? 8 : 0;                     // strips begin this much before a multiple of 16 columns
  static constexpr u32 kFloat = 0x4b000000, kPixel = 0x47000000;    // 2^23 and 2^15 as floats

  struct Planes { u32 x[H + 1][4]; };  // words q+i and q+2+i of two planes: half i for q = 0, half i-1 for q = 1
  typedef u32 Sums[2][2][4];           // by q, then columns 4t and 4t+1 or 4t+2 and 4t+3: two of row g, and two of row g+8
  typedef u32 Bands[2][H][2];          // by the same pairs of columns, halves, planes

  const FilterWindow& job;
  const u8 *in, *from;  // the image, and the columns that the lane fetches
  u8* out;
  int lane, x0, c0, bytes;              // column of the first result, column of the first pixel, and number of bytes to fetch
  int edges, leftEdges, edgeFrom, edgeTo;  // number of columns beside the image, and the lane's share of them
  int stores;                           // which of 16 results the lane writes: bit 0 and 1 for halves, bit 2 for single ones
  bool plain;                           // all windows are inside the image's columns
  u32 ring, last, zeros, base, chunk, rows[H + 1], outAt, outChunk, outRows, ownLast;  // in shared memory; zeros is a row of them
  Bands pixels, squares;
  u32 same[2], kilo, low, range, pixelFloats[4];
  float n, nBias, center, middle, alpha, gamma;

  __device__ static u32 word(u32 row, int j) { return get(row + 80 * (j / 4) + 16 * (j % 4)); }

  // square computes the planes of the change of squares. A quarter of the change plus 40960 is
  // rounded to a multiple of 32, which leaves the remainder.
  __device__ void square(const Planes& p, bool gone, Planes& s) const {
#pragma unroll
    for (int j = 0; j < 4; j++) {
      const u32 comes = p.x[j % 2][j / 2], goes = gone ? p.x[j % 2][2 + j / 2] : 0x7f7f7f7fu;  // 127, whose square contributes 1/4
      u32 t[2], r[2];
#pragma unroll
      for (int i = 0; i < 2; i++) {
        const u32 a = permute(comes, kilo, i ? 0x4342 : 0x4140), b = permute(goes, kilo, i ? 0x4342 : 0x4140);  // pixels plus 1024
        const u32 less = lessHalves(a, b), more = addHalves(fmaHalves(a, 0x34003400, 0xdcffdcff), fmaHalves(b, 0x34003400, 0xdc00dc00));  // p/4 - 319.75, o/4 - 256
        t[i] = fmaHalves(less, more, 0x79007900);                           // 40960
        r[i] = fmaHalves(less, more, lessHalves(0x790c790c, t[i]));         // 40960 + 384
      }
      s.x[j % 2][j / 2] = permute(t[0], t[1], 0x6420), s.x[j % 2][2 + j / 2] = permute(r[0], r[1], 0x6420);
    }
#pragma unroll
    for (int i = 2; i <= H; i++)  // words of the following lanes
#pragma unroll
      for (int k = 0; k < 4; k++) {
        const int j = i + 2 * (k % 2), of = 2 * (k / 2);
        s.x[i][k] = j < 4 ? s.x[j % 2][of + j / 2] : __shfl_down_sync(kAll, s.x[j % 2][of + j % 4 / 2], 4 * (j / 4));
      }
  }

  template <bool Pixels>
  __device__ static void add(Sums& c, const Planes& p, const Bands& b) {
#pragma unroll
    for (int i = 0; i <= H; i++)
#pragma unroll
      for (int q = 0; q < 2; q++)
#pragma unroll
        for (int t = 0; t < 2; t++)
          if (i >= q && i - q < H) multiply<Pixels>(c[q][t], p.x[i], b[t][i - q]);
  }

  // ask fetches row r of the image, or the row that the border puts there.
  __device__ void ask(int r, u32 slot) const {
    const int y = index_of(r, job.height, job.border);
    if (y != OUTSIDE) return fetch(slot + chunk, from + y * job.inStride, bytes);
    const u32 v = job.value * 0x01010101u;
    putFour(slot + chunk, make_uint4(v, v, v, v));
  }

  // Columns beside the image are copied from a position in the strip's row or, coded as 1024 or
  // more, from a column of the image.
  __device__ static int place(int column) { return column + column / 64 * 16; }
  __device__ int fromOf(int e) const {
    const int x = beyond(e < leftEdges ? c0 + e : job.width + e - leftEdges, job.width, job.border);
    return x == OUTSIDE ? OUTSIDE : x >= c0 && x < c0 + 512 ? place(x - c0) : x + 1024;
  }
  __device__ int toOf(int e) const { return place(e < leftEdges ? e : job.width - c0 + e - leftEdges); }
  __device__ void mend(u32 slot, int r, int from, int to) const {
    u32 v;
    if (from >= 0 && from < 1024) {
      v = getByte(slot + from);
    } else {
      const int y = index_of(r, job.height, job.border);
      v = from == OUTSIDE || y == OUTSIDE ? job.value : __ldg(in + y * job.inStride + from - 1024);
    }
    putByte(slot + to, v);
  }

  // of returns the sum of window i in word j of the lane.
  __device__ static u32 of(const Sums& c, int j, int i) { return c[j % 2][i / 2][j / 2 * 2 + i % 2]; }
  __device__ u32 sumOf(u32 s) const { return Decide ? (s - kFloat) / 2 : s - (Wide ? job.half : kFloat); }
  // squaresOf returns the sum of (p-c)² - 1/4 over the window's n pixels. The others are zeros.
  __device__ u32 squaresOf(u32 q, u32 n) const { return q - (Wide ? 0 : kFloat) - 16256 * (job.area - n); }
  __device__ int count(int x, int y) const { return within(y, job.up, job.down, job.height) * within(x, job.left, job.right, job.width); }

  // decide writes words of decisions to shared memory. Bit 23 of the float 2^15 + (pixel -
  // threshold)/2 decides; values close to 2^15 are decided again exactly.
  template <bool Inner>
  __device__ void decide(int y, int first, bool cut, bool cutRow, const Sums& cs, const Sums& cq, u32 own) const {
    u32 d[4][4], o[4], w[4], least = ~0u;
    Sums f;  // the pixels, as 2^15 + p/2
#pragma unroll
    for (int j = 0; j < 4; j++)
      if constexpr (H == 2) o[j] = j == 3 ? get(own + ownLast) : get(own + base + 16 * j + 8);
      else o[j] = word(own + base, j + kLead / 16);
#pragma unroll
    for (int q = 0; q < 2; q++)
#pragma unroll
      for (int t = 0; t < 2; t++) multiplied(f[q][t], o[q], o[q + 2], same[t], pixelFloats);
#pragma unroll
    for (int j = 0; j < 4; j++) {
#pragma unroll
      for (int i = 0; i < 4; i++) {
        const float less = __uint_as_float(of(cs, j, i)) - center;  // twice the sum of p - c
        const float squares = Wide ? (float)(i32)of(cq, j, i) : __uint_as_float(of(cq, j, i));
        const float v = __fmaf_rn(squares, n, -__fmaf_rn(less, less, nBias));  // 4n² times the variance
        const float a = __fmaf_rn(rootOf(fabsf(v)), gamma, alpha);
        d[j][i] = __float_as_uint(__fmaf_rn(-less, a, __fmaf_rn(-a, middle, __uint_as_float(of(f, j, i)))));
      }
      const int x = first + 16 * j;
      if (!Inner && cut && (cutRow || x < job.left || x + 3 + job.right >= job.width))
#pragma unroll
        for (int i = 0; i < 4; i++) {
          const int m = max(1, count(x + i, y));
          const float part = m, r = n * inverseOf(part) * 0.25f, sum = __uint_as_float(of(cs, j, i)) - 8388608.0f, less = sum - 255 * part;
          const float v = __fmaf_rn((float)(4 * (i32)squaresOf(of(cq, j, i), m) + m), part, -(less * less));
          d[j][i] = __float_as_uint(__fmaf_rn(-sum, r * __fmaf_rn(rootOf(fabsf(v)) * r, gamma, alpha), __uint_as_float(of(f, j, i))));
        }
      u32 some = ~0u;
#pragma unroll
      for (int i = 0; i < 4; i++) some = __viaddmin_u32(d[j][i], low, some);
      if (Inner || (u32)x < (u32)job.width) least = min(least, some);
      // Set bits are black.
      asm("lop3.b32 %0, %1, %2, %3, 0x1b;" : "=r"(w[j]) : "r"(permute(d[j][0], d[j][1], 0x00ea)), "r"(permute(d[j][2], d[j][3], 0xea00)), "r"(0xffff));
    }
    putMatrices(outRows, outAt, w);
    __syncwarp();
    if (least > range) return;
    u32 s[16], v[16], unsure = 0;
#pragma unroll
    for (int k = 0; k < 16; k++) {
      s[k] = of(cs, k / 4, k % 4), v[k] = of(cq, k / 4, k % 4);
      if (d[k / 4][k % 4] + low <= range && (Inner || (u32)(first + 16 * (k / 4) + k % 4) < (u32)job.width)) unsure |= 1u << k;
    }
#pragma unroll 1
    for (int k = 0; unsure; k++, unsure >>= 1) {
      if (!(unsure & 1)) continue;
      const int x = first + 16 * (k / 4) + k % 4;
      const u32 m = !Inner && job.border == CLIP ? count(x, y) : job.area, sum = sumOf(s[k]);
      putByte(outAt + 16 * (k / 4) + k % 4,
              sauvola(__ldg(in + y * job.inStride + x), sum, squaresOf(v[k], m) + 255 * sum - 16256 * m, m, 1, job.k, job.inverseR));
    }
  }

  // means writes words of rounded means to shared memory.
  template <bool Inner>
  __device__ void means(int y, int first, bool cut, bool cutRow, const Sums& cs) const {
    const u32 place = Wide ? job.place : 0x0051;
    u32 w[4];
#pragma unroll
    for (int j = 0; j < 4; j++) {
      u32 m[4];
#pragma unroll
      for (int i = 0; i < 4; i++)
        m[i] = Wide ? __umulhi(of(cs, j, i), job.multiplier) : __float_as_uint(__fmaf_rd(__uint_as_float(of(cs, j, i)), job.inverse, job.bias));
      w[j] = permute(permute(m[0], m[1], place), permute(m[2], m[3], place), 0x5410);
      const int x = first + 16 * j;
      if (!Inner && cut && (cutRow || x < job.left || x + 3 + job.right >= job.width)) {
        w[j] = 0;
#pragma unroll
        for (int i = 0; i < 4; i++) {
          const int n = max(1, count(x + i, y)), v = sumOf(of(cs, j, i)) + n / 2;
          int k = (int)((float)v * inverseOf(n));  // off by at most one
          k += (v >= (k + 1) * n) - (v < k * n);
          w[j] |= (u32)(k & 255) << (8 * i);
        }
      }
    }
    putMatrices(outRows, outAt, w);
  }

  template <bool Inner>
  __device__ void results(int y, u8* to, const Sums& cs, const Sums& cq, u32 own) const {
    const int first = x0 + 64 * (lane / 4) + 4 * (lane % 4);
    const bool cutRow = !Inner && job.border == CLIP && (y < job.up || y + job.down >= job.height);
    const bool cut = cutRow || (!Inner && job.border == CLIP && !plain);
    if constexpr (Decide) decide<Inner>(y, first, cut, cutRow, cs, cq, own);
    else means<Inner>(y, first, cut, cutRow, cs);
    __syncwarp();
    if (Inner && H == 2) {  // the results do not begin at a multiple of 16
      const u32 two = outChunk - 8 * lane - 16 * (lane / 4 - lane / 8);
      const uint2 a = getTwo(two), b = getTwo(two + 320);
      u8* side = to - 8 * lane;
      *(uint2*)side = a;
      if (lane < kEach / 8 - 32) *(uint2*)(side + 256) = b;
      return;
    }
    const uint4 v = getFour(outChunk);
    if (Inner) {
      if (lane < kSegments) *(uint4*)to = v;
      return;
    }
    if (stores & 1) *(uint2*)to = make_uint2(v.x, v.y);
    if (stores & 2) *(uint2*)(to + 8) = make_uint2(v.z, v.w);
    if (stores & 4) {
      const int end = job.width - x0 - 16 * lane;
#pragma unroll 1
      for (int i = end & 8; i < end; i++) to[i] = getByte(outChunk + i);
    }
  }

  // down computes rows [y, end): first rows only enter the windows, then one leaves for each that
  // enters. The slots of rows that have left receive the rows fetched next.
  template <bool Inner>
  __device__ void down(int y, int end) const {
    const int rows = job.up + job.down + 1, total = rows - 1 + end - y, first = y - job.up;
    u32 gone = ring, come = ring, own = ring + job.up * kRow;
    auto next = [&](u32& slot) { slot = slot + kRow == last ? ring : slot + kRow; };
    const u8* at = from + first * job.inStride;
    u8* to = out + y * job.outStride + x0 + 16 * lane;
    int asked = 0;
    auto more = [&] {
      if (asked < total) {
        if (Inner) fetch(gone + chunk, at), at += job.inStride;
        else ask(first + asked, gone);
      }
      asm volatile("cp.async.commit_group;" ::: "memory");
      next(gone), asked++;
    };
#pragma unroll 1
    for (int i = 0; i < Ahead; i++) more();
    Sums cs, cq;
#pragma unroll
    for (int k = 0; k < 16; k++) cs[k / 8][k / 4 % 2][k % 4] = Decide || !Wide ? kFloat : job.half, cq[k / 8][k / 4 % 2][k % 4] = Decide && !Wide ? kFloat : 0;
    Planes p, s;
    auto ready = [&](int i, bool out) {
      asm volatile("cp.async.wait_group %0;" ::"n"(Ahead - 1) : "memory");
      __syncwarp();
      if (!Inner && edges) {
        if (lane < edges) mend(come, first + i, edgeFrom, edgeTo);
        for (int e = lane + 32; e < edges; e += 32) mend(come, first + i, fromOf(e), toOf(e));
        __syncwarp();
      }
      const u32 row = lane < 16 ? come : out ? gone : zeros;
#pragma unroll
      for (int k = 0; k <= H; k++) getMatrices(row + this->rows[k], p.x[k]);
      next(come);
      if constexpr (Decide) square(p, out, s);
    };
#pragma unroll 1
    for (int i = 0; i < rows; i++) {
      ready(i, false);
      more();
      add<true>(cs, p, pixels);
      if constexpr (Decide) add<false>(cq, s, squares);
    }
#pragma unroll 1
    for (int i = rows; i <= total; i++) {  // the row fetched last is not used
      ready(i, true);
      results<Inner>(y + i - rows, to, cs, cq, own);
      next(own), to += job.outStride;
      more();
      add<true>(cs, p, pixels);
      if constexpr (Decide) add<false>(cq, s, squares);
    }
  }

  static __device__ void run(const FilterWindow& job) {
    // The first and last strips take longer: they start first, in lower bands. So is the first
    // band of the others.
    const int ends = min(job.strips, 2), middles = job.strips - ends, endTasks = ends * job.edgeBands, tasks = endTasks + middles * job.bands;
    const i64 image = blockIdx.x / tasks;
    int task = blockIdx.x % tasks, strip, rows, y;
    if (task < endTasks) strip = task % ends * (job.strips - 1), rows = job.edgeRows, y = task / ends * rows;
    else {
      task -= endTasks, strip = 1 + task % middles, task /= middles;
      rows = task ? job.bandRows : job.edgeRows, y = task ? job.edgeRows + (task - 1) * rows : 0;
    }

    WindowStrip w = {job};
    const int lane = threadIdx.x, g = lane / 4, t = lane % 4;
    w.lane = lane, w.in = (const u8*)job.in + image * job.inDistance, w.out = (u8*)job.out + image * job.outDistance;
    w.x0 = strip * kEach - kShift, w.c0 = w.x0 - kLead;
    w.plain = w.c0 >= 0 && w.c0 + 512 <= job.width && (job.border != CLIP || (w.x0 >= job.left && w.x0 + kEach + job.right <= job.width));
    const int c = w.c0 + 16 * lane, x = w.x0 + 16 * lane;
    w.bytes = c < 0 ? 0 : max(0, min(16, job.width - c)), w.from = w.in + (w.bytes ? c : 0);
    w.leftEdges = max(0, -w.c0);
    w.edges = job.border == CLIP ? 0 : w.leftEdges + max(0, min(w.c0 + 512, job.width + job.right) - job.width);
    w.edgeFrom = lane < w.edges ? w.fromOf(lane) : 0, w.edgeTo = w.toOf(lane);
    w.stores = lane >= kSegments ? 0 : (x >= 0 && x + 8 <= job.width) | (x + 16 <= job.width) << 1 | (x < job.width && x + 16 > job.width && job.width % 8 != 0) << 2;

    w.ring = (u32)__cvta_generic_to_shared(windowMemory), w.last = w.ring + job.slots * kRow;
    w.zeros = w.last + kRow;  // last follows the ring because the last lanes read beyond a row, as do the 160 bytes after zeros
    const u32 outRow = w.zeros + kRow + 160, mine = outRow + 4 * lane;
    for (int i = lane; i < (kRow + 160) / 4; i += 32) put(w.zeros + 4 * i, 0);
    w.base = 80 * g + 4 * t, w.chunk = 16 * lane + 16 * g;
    w.outAt = outRow + w.base, w.outChunk = outRow + w.chunk, w.ownLast = w.base + (t < 2 ? 56 : 72);
    w.outRows = outRow + 80 * (lane % 8) + 16 * (lane / 8);
    hold(mine, w.outRows), hold(mine, w.zeros), hold(mine, w.ring), hold(mine, w.last), hold(mine, w.base), hold(mine, w.chunk), hold(mine, w.outAt), hold(mine, w.outChunk);
#pragma unroll
    for (int i = 0; i <= H; i++) {  // matrices of words i and i+2, of two planes
      const int j = i + 2 * (lane / 8 % 2);
      w.rows[i] = 80 * (lane % 8) + 80 * (j / 4) + 16 * (j % 4), hold(mine, w.rows[i]);
    }
#pragma unroll
    for (int b = 0; b < 2; b++) {
      const int column = 4 * (g / 2) + 2 * b + g % 2;
#pragma unroll
      for (int i = 0; i < H; i++) {
        u32 ones = 0;
        for (int m = 0; m < 4; m++) {
          const int o = 16 * i + 4 * t + m - kLead - column;
          if (o >= -job.left && o <= job.right) ones |= 1u << (8 * m);
        }
        w.pixels[b][i][0] = Decide ? 2 * ones : ones, w.pixels[b][i][1] = (Decide ? 254 : 255) * ones;  // the second is signed: -1 or -2
        w.squares[b][i][0] = 128 * ones, w.squares[b][i][1] = ones;
#pragma unroll
        for (int k = 0; k < 2; k++) {
          hold(mine, w.pixels[b][i][k]);
          if constexpr (Decide) hold(mine, w.squares[b][i][k]);
        }
      }
      w.same[b] = column / 4 == t ? 128u << (column % 4 * 8) : 0;
    }
    if constexpr (Decide) {
      w.kilo = 0x64646464, w.low = -job.low, w.range = job.range;
      w.n = job.n, w.nBias = job.nBias, w.center = job.center, w.middle = job.middle, w.alpha = job.alpha, w.gamma = job.gamma;
#pragma unroll
      for (int i = 0; i < 4; i++) w.pixelFloats[i] = kPixel, hold(mine, w.pixelFloats[i]);
      hold(mine, w.ownLast), hold(mine, w.same[0]), hold(mine, w.same[1]), hold(mine, w.kilo), hold(mine, w.low), hold(mine, w.range);
      hold(mine, w.n), hold(mine, w.nBias), hold(mine, w.center), hold(mine, w.middle), hold(mine, w.alpha), hold(mine, w.gamma);
    }
    __syncwarp();
    const int end = min(y + rows, job.height);
    if (w.plain && y >= job.up && end + job.down <= job.height) w.template down<true>(y, end);
    else w.template down<false>(y, end);
  }
};

}  // namespace

// Blocks is the number of one-warp blocks that fit on a multiprocessor.
#define BOXSUM_FILTER_WINDOW(Name, H, Decide, Wide, Ahead, Blocks)                                                       \
  extern "C" __global__ void __launch_bounds__(32, Blocks) Name(const __grid_constant__ FilterWindow job) { \
    WindowStrip<H, Decide, Wide, Ahead>::run(job);                                                                       \
  }
