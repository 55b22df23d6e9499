// Batches of planes of floats for CUDA: tables, sums from the other corner, and sums of windows. Each block or warp works
// by itself, and none waits for another.
#pragma once

#include "common.h"
#include "jobs/tensor.h"

namespace {

// Floats of 16 bits: half and brain.
struct f16 {
  u16 bits;
  __device__ operator float() const {
    float v;
    asm("cvt.f32.f16 %0, %1;" : "=f"(v) : "h"(bits));
    return v;
  }
};
struct bf16 {
  u16 bits;
  __device__ operator float() const { return __uint_as_float((u32)bits << 16); }
};

__device__ inline void convert(float v, float& to) { to = v; }
__device__ inline void convert(double v, double& to) { to = v; }
__device__ inline void convert(double v, float& to) { to = (float)v; }
__device__ inline void convert(double v, f16& to) {
  const float f = (float)v;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(to.bits) : "f"(f));
}
__device__ inline void convert(double v, bf16& to) {
  const u32 u = __float_as_uint((float)v);
  to.bits = (u & 0x7fffffff) > 0x7f800000 ? 0x7fff : (u + 0x7fff + (u >> 16 & 1)) >> 16;
}

// A TensorPlane makes the table of a plane, or its sums from the other corner, by one block that goes down its rows, strip
// after strip of columns. A lane has four columns in each of K chunks of 128. The warps of a block have some rows each, of which
// the next are on their way: they add up their columns, tell each other, and scan the columns' sums row by row.
template <class P, class T, bool Reverse, int Warps, int Rows, int K>
struct TensorPlane {
  static constexpr int kTensorWarps = Warps, kTensorRows = Rows;
  static constexpr int kWide = 128 * K, kHigh = kTensorWarps * kTensorRows;
  typedef T Shared[2][kTensorWarps][kWide];

  const Tensor& job;
  const char* in;
  char* out;
  int lane, warp;

  // pixel and sum are where values are: from the last on, if reversed.
  __device__ const P* pixel(int x, int y) const {
    return (const P*)(in + (i64)(Reverse ? job.height - 1 - y : y) * job.inStride) + (Reverse ? job.width - 1 - x : x);
  }
  __device__ T* sum(int x, int y) const {
    return (T*)(out + (i64)(Reverse ? job.height - 1 - y : y) * job.outStride) + (Reverse ? job.width - 1 - x : x);
  }

  // load fetches the four values of each chunk, zeros outside.
  __device__ void load(int x0, int y, P (&v)[K][4]) const {
#pragma unroll
    for (int k = 0; k < K; k++) {
      const int x = x0 + 128 * k + 4 * lane;
      if (y < job.height && job.inAligned && x + 4 <= job.width) {
        P four[4];
        loadVector<P, 4>(pixel(Reverse ? x + 3 : x, y), four);
#pragma unroll
        for (int j = 0; j < 4; j++) v[k][j] = four[Reverse ? 3 - j : j];
      } else {
#pragma unroll
        for (int j = 0; j < 4; j++) v[k][j] = y < job.height && x + j < job.width ? *pixel(x + j, y) : P{};
      }
    }
  }

  __device__ void store(int x0, int y, const T (&v)[K][4]) const {
#pragma unroll
    for (int k = 0; k < K; k++) {
      const int x = x0 + 128 * k + 4 * lane;
      if (job.outAligned && x + 4 <= job.width) {
        T four[4];
#pragma unroll
        for (int j = 0; j < 4; j++) four[Reverse ? 3 - j : j] = v[k][j];
        storeVector<T, 4>(sum(Reverse ? x + 3 : x, y), four);
      } else {
#pragma unroll
        for (int j = 0; j < 4; j++)
          if (x + j < job.width) *sum(x + j, y) = v[k][j];
      }
    }
  }

  // scan is the sums up to each column, of all columns before the strip too.
  static __device__ void scan(const T (&columns)[K][4], T left, int lane, T (&v)[K][4]) {
    T whole[K];
#pragma unroll
    for (int k = 0; k < K; k++) {
      v[k][0] = columns[k][0];
#pragma unroll
      for (int j = 1; j < 4; j++) v[k][j] = v[k][j - 1] + columns[k][j];
      whole[k] = v[k][3];
    }
#pragma unroll
    for (int d = 1; d < 32; d *= 2)
#pragma unroll
      for (int k = 0; k < K; k++) {
        const T before = __shfl_up_sync(kAll, whole[k], d);
        if (lane >= d) whole[k] += before;
      }
#pragma unroll
    for (int k = 0; k < K; k++) {
      T before = __shfl_up_sync(kAll, whole[k], 1);
      if (lane == 0) before = 0;
      before += left;
#pragma unroll
      for (int j = 0; j < 4; j++) v[k][j] += before;
      left += __shfl_sync(kAll, whole[k], 31);
    }
  }

  __device__ void strip(int x0, Shared& shared) const {
    T above[K][4] = {};  // the columns' sums over the block's rows
    P next[kTensorRows][K][4];
#pragma unroll
    for (int r = 0; r < kTensorRows; r++) load(x0, warp * kTensorRows + r, next[r]);
    for (int y0 = 0, turn = 0; y0 < job.height; y0 += kHigh, turn ^= 1) {
      P now[kTensorRows][K][4];
      T own[K][4] = {};
#pragma unroll
      for (int r = 0; r < kTensorRows; r++)
#pragma unroll
        for (int k = 0; k < K; k++)
#pragma unroll
          for (int j = 0; j < 4; j++) {
            now[r][k][j] = next[r][k][j];
            own[k][j] += (T)now[r][k][j];
          }
#pragma unroll
      for (int r = 0; r < kTensorRows; r++) load(x0, y0 + kHigh + warp * kTensorRows + r, next[r]);
#pragma unroll
      for (int k = 0; k < K; k++) storeVector<T, 4>(&shared[turn][warp][128 * k + 4 * lane], own[k]);
      __syncthreads();  // one is enough, as they take turns with the memory
      T columns[K][4];
#pragma unroll
      for (int w = 0; w < kTensorWarps; w++) {
        if (w == warp) memcpy(columns, above, sizeof columns);
#pragma unroll
        for (int k = 0; k < K; k++) {
          T some[4];
          loadVector<T, 4>(&shared[turn][w][128 * k + 4 * lane], some);
#pragma unroll
          for (int j = 0; j < 4; j++) above[k][j] += some[j];
        }
      }
#pragma unroll
      for (int r = 0; r < kTensorRows; r++) {
        const int y = y0 + warp * kTensorRows + r;
        if (y >= job.height) break;
        const T left = x0 > 0 ? *(volatile const T*)sum(x0 - 1, y) : (T)0;
        T v[K][4];
#pragma unroll
        for (int k = 0; k < K; k++)
#pragma unroll
          for (int j = 0; j < 4; j++) columns[k][j] += (T)now[r][k][j];
        scan(columns, left, lane, v);
        store(x0, y, v);
        if (!Reverse && job.border && x0 == 0 && lane == 0) *(sum(0, y) - 1) = 0;
      }
    }
  }

  static __device__ void run(const Tensor& job, Shared& shared) {
    const int thread = threadIdx.x;
    for (i64 plane = blockIdx.x; plane < job.count; plane += gridDim.x) {
      TensorPlane p = {job, job.in + plane * job.inBatch, job.out + plane * job.outBatch, thread & 31, thread >> 5};
      if (!Reverse && job.border)
        for (int x = thread - 1; x < job.width; x += 32 * kTensorWarps) ((T*)(p.out - job.outStride))[x] = 0;
      for (int x0 = 0; x0 < job.width; x0 += kWide) {
        __syncthreads();  // what is left of this strip is written, and the memory is free
        p.strip(x0, shared);
      }
      __syncthreads();
    }
  }
};

// --- Sums of windows ---

constexpr int kWindowWarps = 4, kWindowColumns = 8, kWindowWide = 32 * kWindowColumns;
constexpr float kWindowLarge = 16777216.0f;  // from which on nothing may pass through a running sum

// A WindowStrip sums the windows of some columns, by one warp that goes down a band of rows. Each lane has the sums of eight
// columns over the rows of a window, in f64: a row comes in and one goes out. Windows are differences of their prefix sums, in
// shared memory. Sums of f64 lose nothing of floats up to 2^24 that f32 would have: where a larger value or NaN comes in, the
// rest of the band is summed window by window, so that it touches those windows that have it and no others. So are all windows of
// doubles, as nothing is wider.
template <class P>
struct WindowStrip {
  static constexpr int C = kWindowColumns;
  static constexpr int kLine = kWindowWide + kWindowWide / C + 1;  // a gap after every eight: no bank conflicts
  typedef double Shared[kLine];
  typedef typename Pick<sizeof(P) == 8, double, float>::type V;

  const TensorWindow& job;
  const char* in;
  double* line;
  int lane, first;  // the first column that the strip reads

  static __device__ int at(int x) { return x + x / C; }

  __device__ void load(int y, V (&v)[C], bool& large) const {
#pragma unroll
    for (int k = 0; k < C; k++) {
      const int x = first + lane + 32 * k;
      v[k] = (u32)y < (u32)job.height && (u32)x < (u32)job.width ? (V)((const P*)(in + (i64)y * job.inStride))[x] : 0;
    }
#pragma unroll
    for (int k = 0; k < C; k++) large = large || !(fabs(v[k]) <= kWindowLarge);
  }

  // prefix turns the columns' sums in the line into those of all columns before each.
  __device__ void prefix() const {
    double v[C], whole;
#pragma unroll
    for (int k = 0; k < C; k++) v[k] = line[at(lane * C + k)];
#pragma unroll
    for (int k = 1; k < C; k++) v[k] += v[k - 1];
    whole = v[C - 1];
#pragma unroll
    for (int d = 1; d < 32; d *= 2) {
      const double before = __shfl_up_sync(kAll, whole, d);
      if (lane >= d) whole += before;
    }
    double left = __shfl_up_sync(kAll, whole, 1);
    if (lane == 0) left = 0;
    line[at(lane * C)] = left;
#pragma unroll
    for (int k = 1; k < C; k++) line[at(lane * C + k)] = left + v[k - 1];
    if (lane == 31) line[at(kWindowWide)] = whole;
  }

  __device__ void down(int y, int end, char* out) const {
    const int results = kWindowWide - job.across + 1, x0 = first + job.left;  // of the strip, and the first
    double columns[C] = {};
    V come[C], gone[C];
    bool large = sizeof(P) == 8;
    for (int r = y - job.top - 1; r < y - job.top + job.down - 1; r++) {
      load(r, come, large);
#pragma unroll
      for (int k = 0; k < C; k++) columns[k] += come[k];
    }
    load(y - job.top + job.down - 1, come, large);
    load(y - job.top - 1, gone, large);
    bool direct = __any_sync(kAll, large);
    for (; y < end; y++) {
      if (!direct) {
#pragma unroll
        for (int k = 0; k < C; k++) columns[k] += (double)come[k] - (double)gone[k];
      } else {
#pragma unroll
        for (int k = 0; k < C; k++) columns[k] = 0;
        for (int r = y - job.top; r < y - job.top + job.down; r++) {
          V v[C];
          load(r, v, large);
#pragma unroll
          for (int k = 0; k < C; k++) columns[k] += v[k];
        }
      }
      const bool singly = direct;
      large = false;
      load(y - job.top + job.down, come, large);  // while this row is done
      load(y - job.top, gone, large);
      direct = direct || __any_sync(kAll, large);
#pragma unroll
      for (int k = 0; k < C; k++) line[at(lane + 32 * k)] = columns[k];
      __syncwarp();
      if (!singly) {
        prefix();
        __syncwarp();
      }
      P* row = (P*)(out + (i64)y * job.outStride);
      for (int i = lane; i < results && x0 + i < job.columns; i += 32) {
        double sum;
        if (!singly) {
          sum = line[at(i + job.across)] - line[at(i)];
        } else {
          sum = 0;
          for (int k = 0; k < job.across; k++) sum += line[at(i + k)];
        }
        convert(sum * job.factor, row[x0 + i]);
      }
      __syncwarp();
    }
  }

  static __device__ void run(const TensorWindow& job, Shared* lines) {
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    i64 task = (i64)blockIdx.x * kWindowWarps + warp;
    const int strip = task % job.strips;
    task /= job.strips;
    const int band = task % job.bands;
    const i64 plane = task / job.bands;
    if (plane >= job.count) return;
    WindowStrip s = {job, job.in + plane * job.inBatch, lines[warp], lane, strip * (kWindowWide - job.across + 1) - job.left};
    const int y = band * job.bandRow;
    s.down(y, min(y + job.bandRow, job.rows), job.out + plane * job.outBatch);
  }
};

}  // namespace

// The shapes are warps, rows of each, and chunks of 128 columns.
#define BOXSUM_TENSOR(Name, P, T, Reverse, Warps, Rows, K)                                                                      \
  extern "C" __global__ void __launch_bounds__(32 * Warps, 1) tensor_##Name##_##P##_##T##_##Warps##x##Rows##x##K(const __grid_constant__ Tensor job) { \
    __shared__ TensorPlane<P, T, Reverse, Warps, Rows, K>::Shared shared;                                                       \
    TensorPlane<P, T, Reverse, Warps, Rows, K>::run(job, shared);                                                               \
  }
#define BOXSUM_WINDOW(P)                                                                                                      \
  extern "C" __global__ void __launch_bounds__(32 * kWindowWarps) tensor_window_##P(const __grid_constant__ TensorWindow job) { \
    __shared__ WindowStrip<P>::Shared lines[kWindowWarps];                                                                    \
    WindowStrip<P>::run(job, lines);                                                                                          \
  }
