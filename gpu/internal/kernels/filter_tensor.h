// Filters of bytes on tensor cores.
//
// A warp owns 256 columns, eight strips of 32, and goes down a band of rows. The sums of its windows are the accumulators
// of matrix products: a row that comes in, times a band of ones, and one that goes out, times a band of minus ones.
// Nothing else is summed. A lane loads chunks of 16 columns as they lie in memory: the order of columns within a
// product does not matter, as long as the bands have the same. What lies beside the image comes from a copy of
// its edges, made beforehand, so that all chunks are loaded alike.
#pragma once

#include "common.h"
#include "filter.h"
#include "jobs/filter_tensor.h"

namespace {

enum FilterKind { kBox, kSauvola };

constexpr int kTensorWarps = 4;
constexpr int kTensorColumns = 256;
constexpr u32 kCount = 0x4b000000;  // 2^23 as a float: sums begin here, and their bits are those of floats

__device__ inline u32 permute(u32 a, u32 b, u32 selector) {
  u32 r;
  asm("prmt.b32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(selector));
  return r;
}

__device__ inline void multiply(u32 (&c)[4], const u32 (&a)[4], u32 b0, u32 b1) {
  asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.u8.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
               : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

// J chunks a lane make 64·J columns for a strip: the strip, and what its windows reach. Ahead is how many rows are loaded
// before they are wanted.
template <FilterKind K, int J, int Ahead>
struct TensorStrip {
  typedef u32 Sums[2][4];
  typedef u32 Band[2 * J][2][4];

  const FilterTensor& job;
  const u8* from[J];  // the chunks of the lane
  i64 stride[J];
  const u8* pix;
  u8* out;
  int x;  // the results of the lane are four columns from x on, and four from x+32 on
  Band ones, minus;

  // load fetches row y, of images that have it where Inner.
  template <bool Inner>
  __device__ void load(int y, uint4 (&w)[J]) const {
    if (!Inner) y = index_of(y, job.height, job.border);
#pragma unroll
    for (int j = 0; j < J; j++) w[j] = !Inner && y == OUTSIDE ? make_uint4(0, 0, 0, 0) : __ldg((const uint4*)(from[j] + y * stride[j]));
  }

  // word is the pixels that decisions are made for.
  template <bool Inner>
  __device__ u32 word(int y, int at) const {
    const u8* p = pix + y * job.inStride + at;
    if (Inner || at + 4 <= job.width) return __ldg((const u32*)p);
    u32 w = 0;
    for (int i = 0; at + i < job.width; i++) w |= (u32)__ldg(p + i) << (8 * i);
    return w;
  }

  static __device__ void accumulate(Sums& sums, const Band& band, const uint4 (&w)[J]) {
#pragma unroll
    for (int j = 0; j < J; j++)
#pragma unroll
      for (int t = 0; t < 2; t++) {
        multiply(sums[t], band[2 * j][t], w[j].x, w[j].y);
        multiply(sums[t], band[2 * j + 1][t], w[j].z, w[j].w);
      }
  }

  // square makes the lower and the upper bytes of the squares of four.
  static __device__ void square(u32 w, u32& low, u32& high) {
    u32 s[4];
#pragma unroll
    for (int i = 0; i < 4; i++) {
      const u32 p = permute(w, 0, 0x4440 + i);
      s[i] = p * p;
    }
    const u32 a = permute(s[0], s[1], 0x5410), b = permute(s[2], s[3], 0x5410);
    low = permute(a, b, 0x6420), high = permute(a, b, 0x7531);
  }

  static __device__ void add(Sums& s, Sums& low, Sums& high, const Band& band, const uint4 (&w)[J]) {
    accumulate(s, band, w);
    if (K == kSauvola) {
      uint4 l[J], h[J];
#pragma unroll
      for (int j = 0; j < J; j++) {
        square(w[j].x, l[j].x, h[j].x);
        square(w[j].y, l[j].y, h[j].y);
        square(w[j].z, l[j].z, h[j].z);
        square(w[j].w, l[j].w, h[j].w);
      }
      accumulate(low, band, l);
      accumulate(high, band, h);
    }
  }

  static __device__ float number(u32 s) { return __uint_as_float(s) - 8388608.0f; }

  // mean is rounded to nearest, ties up, in the last byte: exact up to 2^14 pixels, see kernel.Box.
  __device__ u32 mean(u32 s) const { return __float_as_uint(__fadd_rd(__fmaf_rn(number(s), job.inverse, job.bias), 8388608.0f)); }

  // again is one result by itself.
  __device__ u32 again(u32 pixel, u32 sum, u32 squares, u32 n) const {
    return K == kBox ? rounded_mean(sum, n) : sauvola(pixel, sum, squares, n, 1, job.k, job.inverseR);
  }

  template <bool Inner>
  __device__ void results(int y, const Sums& s, const Sums& low, const Sums& high, const u32 (&pixels)[2]) const {
    const int rows = job.up + job.down + 1;
    const int down = !Inner && job.border == CLIP ? within(y, job.up, job.down, job.height) : rows;
#pragma unroll
    for (int half = 0; half < 2; half++) {
      const int at = x + 32 * half;
      if (!Inner && at >= job.width) continue;
      const u32 v[4] = {s[0][half], s[0][2 + half], s[1][half], s[1][2 + half]};
      const u32 l[4] = {low[0][half], low[0][2 + half], low[1][half], low[1][2 + half]};
      const u32 h[4] = {high[0][half], high[0][2 + half], high[1][half], high[1][2 + half]};
      const bool whole = Inner || job.border != CLIP || (down == rows && at >= job.left && at + 4 + job.right <= job.width);
      bool sure = whole;
      u32 w = 0;
      if (K == kBox && whole) w = permute(permute(mean(v[0]), mean(v[1]), 0x0040), permute(mean(v[2]), mean(v[3]), 0x0040), 0x5410);
      if (K == kSauvola && whole) {
        u32 g[4];
#pragma unroll
        for (int i = 0; i < 4; i++) {
          const float sum = number(v[i]), q = __fmaf_rn(number(h[i]), 256.0f, number(l[i])), pixel = number(permute(pixels[half], kCount, 0x7650 + i));
          const float d2 = __fmaf_rn(q, job.n, -(sum * sum));
          float root;
          asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(root) : "f"(fabsf(d2)));
          const float d = __fmaf_rn(-pixel, job.n, sum * __fmaf_rn(job.gamma, root, job.alpha));  // less than 0: white
          sure = sure && fabsf(d) >= job.margin;
          g[i] = __float_as_uint(d);
        }
        w = permute(permute(g[0], g[1], 0x00fb), permute(g[2], g[3], 0x00fb), 0x5410);  // signs of floats
      }
      if (!sure) {
        w = 0;
#pragma unroll 1
        for (int i = 0; i < 4; i++) {
          const u32 n = !Inner && job.border == CLIP ? down * within(at + i, job.left, job.right, job.width) : job.area;
          u32 sum = 0, lower = 0, upper = 0;
#pragma unroll
          for (int k = 0; k < 4; k++)
            if (k == i) sum = v[k] - kCount, lower = l[k] - kCount, upper = h[k] - kCount;
          if (Inner || at + i < job.width) w |= again(pixels[half] >> (8 * i) & 255, sum, upper * 256 + lower, n) << (8 * i);
        }
      }
      u8* to = out + y * job.outStride + at;
      if (Inner || at + 4 <= job.width) *(u32*)to = w;
      else
        for (int i = 0; at + i < job.width; i++) to[i] = w >> (8 * i);
    }
  }

  template <bool Inner>
  __device__ void down(int y, const int end) const {
    Sums s, low, high;
#pragma unroll
    for (int t = 0; t < 2; t++)
#pragma unroll
      for (int i = 0; i < 4; i++) s[t][i] = low[t][i] = high[t][i] = kCount;
    uint4 come[Ahead][J], gone[Ahead][J];
    const int first = y - job.up - 1, last = y + job.down;  // rows that are summed before the loop
#pragma unroll
    for (int i = 0; i < Ahead; i++) load<Inner>(min(first + i, last), come[i]);
#pragma unroll 1
    for (int r = first; r < last; r += Ahead)
#pragma unroll
      for (int i = 0; i < Ahead; i++) {
        if (r + i < last) add(s, low, high, ones, come[i]);
        load<Inner>(min(r + i + Ahead, last), come[i]);
      }
    u32 pixels[Ahead][2] = {};
    auto fetch = [&](int i, int r) {  // row r into stage i
      load<Inner>(r + job.down, come[i]);
      load<Inner>(r - job.up - 1, gone[i]);
      if (K == kSauvola) {
        if (Inner || x < job.width) pixels[i][0] = word<Inner>(r, x);
        if (Inner || x + 32 < job.width) pixels[i][1] = word<Inner>(r, x + 32);
      }
    };
#pragma unroll
    for (int i = 0; i < Ahead; i++) fetch(i, min(y + i, end - 1));
#pragma unroll 1
    for (; y < end; y += Ahead)
#pragma unroll
      for (int i = 0; i < Ahead; i++) {
        if (y + i >= end) break;
        add(s, low, high, ones, come[i]);
        add(s, low, high, minus, gone[i]);
        const u32 now[2] = {pixels[i][0], pixels[i][1]};
        fetch(i, min(y + i + Ahead, end - 1));
        results<Inner>(y + i, s, low, high, now);
      }
  }

  static __device__ void run(const FilterTensor& job) {
    const int lane = threadIdx.x % 32, warp = __shfl_sync(kAll, threadIdx.x / 32, 0), g = lane / 4, q = lane % 4;
    u32 task = blockIdx.x * kTensorWarps + warp;
    const int strip = task % job.strips;
    task /= job.strips;
    const int band = task % job.bands;
    const i64 image = task / job.bands;
    if (image >= job.count) return;
    const int begin = kTensorColumns * strip;
    TensorStrip s = {job};
    s.x = begin + 64 * q + 4 * g;
    s.pix = (const u8*)job.in + image * job.inDistance;
    s.out = (u8*)job.out + image * job.outDistance;
#pragma unroll
    for (int j = 0; j < J; j++) {
      const int c = begin + 32 * g - job.left - job.shift + 64 * j + 16 * q;  // a multiple of 16
      const bool inside = c >= 0 && c + 16 <= job.width;
      const int chunk = min(c < 0 ? c / 16 + job.edgeLeft : job.edgeLeft + c / 16 - job.width / 16, (int)(job.edgeStride / 16) - 1);  // what is farther counts nowhere
      s.from[j] = inside ? s.pix + c : (const u8*)job.edge + image * job.edgeDistance + 16 * chunk;
      s.stride[j] = inside ? job.inStride : job.edgeStride;
    }
    // Register r of a band is row r%2 of two, and columns from the half r/2 on, as the instruction has it. Rows are the
    // columns of results.
    const int span = job.left + job.right + 1;
#pragma unroll
    for (int k = 0; k < 2 * J; k++)
#pragma unroll
      for (int t = 0; t < 2; t++)
#pragma unroll
        for (int r = 0; r < 4; r++) {
          const int to = 4 * g + 2 * t + (r & 1), first = 64 * (k / 2) + 16 * q + 4 * (2 * (k % 2) + (r >> 1));
          u32 w = 0;
#pragma unroll
          for (int b = 0; b < 4; b++) {
            const int i = first + b - job.shift - to;
            if (i >= 0 && i < span) w |= 1u << (8 * b);
          }
          s.ones[k][t][r] = w;
          s.minus[k][t][r] = w * 255;
          asm volatile("" : "+r"(s.ones[k][t][r]), "+r"(s.minus[k][t][r]));  // to be kept, and not made again for each row
        }
    const int y = band * job.bandRows, end = min(y + job.bandRows, job.height);
    const bool rows = y - job.up - 1 >= 0 && end + job.down <= job.height;
    const bool columns = begin + kTensorColumns <= job.width && (job.border != CLIP || (begin >= job.left && begin + kTensorColumns + job.right <= job.width));
    if (rows && columns) s.template down<true>(y, end);
    else s.template down<false>(y, end);
  }
};

}  // namespace

// The chunks of 16 columns that an image does not have whole, a thread each.
extern "C" __global__ void __launch_bounds__(128) filtertensor_edges(const __grid_constant__ FilterTensor job) {
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

// So many blocks fit on a processor at once.
#define BOXSUM_FILTER_TENSOR(Name, Kind, J, Blocks, Ahead)                                                                                    \
  extern "C" __global__ void __launch_bounds__(32 * kTensorWarps, Blocks) filtertensor_##Name##_##J(const __grid_constant__ FilterTensor job) { \
    TensorStrip<Kind, J, Ahead>::run(job);                                                                                                     \
  }
