// Batches of planes of floats for CUDA: tables, sums from the opposite corner, and window sums.
// Blocks, clusters or warps work independently.
#pragma once

#include "common.h"
#include "jobs/tensor.h"

namespace {

// 16-bit floats: IEEE half and bfloat16.
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

// A Quad is four neighboring values as stored in memory.
template <class P>
struct Quad {
  u32 words[sizeof(P)];

  __device__ float at(int j, float*) const { return __uint_as_float(words[j]); }
  __device__ double at(int j, double*) const { return __hiloint2double(words[2 * j + 1], words[2 * j]); }
  __device__ float at(int j, bf16*) const { return __uint_as_float(j & 1 ? words[j / 2] & 0xffff0000u : words[j / 2] << 16); }
  __device__ float at(int j, f16*) const { return f16{(u16)(words[j / 2] >> 16 * (j & 1))}; }
  __device__ auto operator[](int j) const { return at(j, (P*)nullptr); }

  // load reads the values that are in the row and sets the others to zero. whole promises that
  // all four are.
  __device__ void load(const P* from, bool whole, int first, int end) {
    if (whole) {
      loadVector<u32, sizeof(P)>((const u32*)from, words);
      return;
    }
    P v[4];
#pragma unroll
    for (int j = 0; j < 4; j++) v[j] = first <= j && j < end ? from[j] : P{};
    memcpy(words, v, sizeof words);
  }
};

// The blocks of a cluster read each other's shared memory. Before sm_90, each block is a cluster.
#if __CUDA_ARCH__ >= 900
__device__ inline int clusterRank() {
  u32 r;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(r));
  return r;
}
__device__ inline int clusterSize() {
  u32 n;
  asm("mov.u32 %0, %%cluster_nctarank;" : "=r"(n));
  return n;
}
__device__ inline void clusterSync() { asm volatile("barrier.cluster.arrive.aligned;\n\tbarrier.cluster.wait.aligned;" ::: "memory"); }

// loadOf reads four values from another block's copy of a shared variable.
template <class T>
__device__ inline void loadOf(int rank, const T* mine, T (&v)[4]) {
  u32 there;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"((u32)__cvta_generic_to_shared(mine)), "r"(rank));
  constexpr int words = sizeof v / 16;
  uint4 q[words];
#pragma unroll
  for (int k = 0; k < words; k++)
    asm volatile("ld.shared::cluster.v4.u32 {%0,%1,%2,%3}, [%4];" : "=r"(q[k].x), "=r"(q[k].y), "=r"(q[k].z), "=r"(q[k].w) : "r"(there + 16 * k) : "memory");
  memcpy(v, q, sizeof v);
}
#else
__device__ inline int clusterRank() { return 0; }
__device__ inline int clusterSize() { return 1; }
__device__ inline void clusterSync() { __syncthreads(); }
template <class T>
__device__ inline void loadOf(int, const T* mine, T (&v)[4]) { loadVector<T, 4>(mine, v); }
#endif

// A TensorPlane computes the table of a plane, or its sums from the opposite corner, with the blocks of a cluster. Each
// block has a band of rows; together they process the plane strip after strip of columns. A lane has four columns in each
// of K chunks of 128, and a warp some rows of the band. Warps add up their columns, and then blocks; then each warp scans
// the column sums row by row. The pixels of the next band are loaded as soon as those of a row are used.
//
// Few large planes are cut into bands, which independent clusters process: the first row of sums of every band but the
// first holds the sums above each column.
//
// Four sums of a table start with the sum before the first of four pixels, so that both are aligned alike; the last sum of
// a row follows separately.
template <class P, class T, bool Reverse, int Warps, int Rows, int K>
struct TensorPlane {
  static constexpr int kWide = 128 * K, kHigh = Warps * Rows;
  static_assert(K <= Warps, "a thread for each four columns");
  struct Shared {
    alignas(16) T part[Warps][kWide];  // sums of the columns over the preceding warps
    alignas(16) T total[2][kWide];     // of the block
    alignas(16) T above[kWide];        // of everything above the block
  };

  const Tensor& job;
  const char* in;
  char* out;
  int lane, warp;
  int top, bottom;  // the band's rows

  // pixel and sum return the address of a value, counted from the opposite corner if Reverse is
  // set.
  __device__ const P* pixel(int x, int y) const {
    return (const P*)(in + (i64)(Reverse ? job.height - 1 - y : y) * job.inStride) + (Reverse ? job.width - 1 - x : x);
  }
  __device__ T* sum(int x, int y) const {
    return (T*)(out + (i64)(Reverse ? job.height - 1 - y : y) * job.outStride) + (Reverse ? job.width - 1 - x : x);
  }

  // load reads the four values of each chunk, with zeros outside of the plane.
  __device__ void load(int x0, int y, Quad<P> (&v)[K]) const {
#pragma unroll
    for (int k = 0; k < K; k++) {
      const int x = x0 + 128 * k + 4 * lane, some = y < bottom ? min(job.width - x, 4) : 0;
      v[k].load(pixel(Reverse ? x + 3 : x, y), job.inAligned && some == 4, Reverse ? 4 - some : 0, Reverse ? 4 : some);
    }
  }

  // write stores the sums of four pixels. before is the sum before them, end the end of the
  // strip.
  __device__ void write(int x, int y, T before, const T (&v)[4], int end) const {
    T four[4];
#pragma unroll
    for (int j = 0; j < 4; j++) four[j] = Reverse ? v[3 - j] : j ? v[j - 1] : before;
    if (job.outAligned && x + 4 <= job.width) {
      storeVector<T, 4>(sum(Reverse ? x + 3 : x, y), four);
    } else {
#pragma unroll
      for (int j = 0; j < 4; j++)
        if (x + j < job.width) *sum(x + j, y) = four[Reverse ? 3 - j : j];
    }
    if (Reverse) return;
    if (job.gap && x + 4 == job.width && y + 1 < job.height) {  // fills the sector, because memory must read partially written sectors first
      T sector[32 / sizeof(T)] = {v[3]};
      storeVector<T, 32 / sizeof(T)>(sum(end, y), sector);
      return;
    }
#pragma unroll
    for (int j = 0; j < 4; j++)
      if (x + j + 1 == end) *sum(end, y) = v[j];
  }

  // row scans the column sums of a row and writes them. left is the sum of all columns before the
  // strip.
  __device__ void row(int x0, int y, const T (&columns)[K][4], T left) const {
    const int end = min(x0 + kWide, job.width);
    T v[K][4], whole[K];
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
      write(x0 + 128 * k + 4 * lane, y, before, v[k], end);
    }
  }

  __device__ void strip(int x0, Shared& shared) const {
    const int rank = clusterRank(), blocks = clusterSize(), thread = threadIdx.x;
    const int first = top + rank * kHigh + warp * Rows, step = blocks * kHigh;
    T carry[4] = {};  // sums of the thread's four columns over all previous rows
    if (top > 0 && thread < kWide / 4)
#pragma unroll
      for (int j = 0; j < 4; j++)
        if (x0 + 4 * thread + j < job.width) carry[j] = *(volatile const T*)sum(x0 + 4 * thread + j + (Reverse ? 0 : 1), top);
    Quad<P> now[Rows][K];
#pragma unroll
    for (int r = 0; r < Rows; r++) load(x0, first + r, now[r]);
    for (int y0 = 0, turn = 0; top + y0 < bottom; y0 += step, turn ^= 1) {
      T columns[K][4] = {};
#pragma unroll
      for (int r = 0; r < Rows; r++)
#pragma unroll
        for (int k = 0; k < K; k++)
#pragma unroll
          for (int j = 0; j < 4; j++) columns[k][j] += (T)now[r][k][Reverse ? 3 - j : j];
#pragma unroll
      for (int k = 0; k < K; k++) storeVector<T, 4>(&shared.part[warp][128 * k + 4 * lane], columns[k]);
      __syncthreads();
      if (thread < kWide / 4) {
        T sum[4] = {}, some[4];
#pragma unroll
        for (int w = 0; w < Warps; w++) {
          loadVector<T, 4>(&shared.part[w][4 * thread], some);
          storeVector<T, 4>(&shared.part[w][4 * thread], sum);
#pragma unroll
          for (int j = 0; j < 4; j++) sum[j] += some[j];
        }
        storeVector<T, 4>(&shared.total[turn][4 * thread], sum);
      }
      clusterSync();  // one is enough, because consecutive steps alternate between two buffers
      if (thread < kWide / 4) {
        for (int b = 0; b < blocks; b++) {
          if (b == rank) storeVector<T, 4>(&shared.above[4 * thread], carry);
          T some[4];
          loadOf(b, &shared.total[turn][4 * thread], some);
#pragma unroll
          for (int j = 0; j < 4; j++) carry[j] += some[j];
        }
      }
      __syncthreads();
#pragma unroll
      for (int k = 0; k < K; k++) {
        T some[4];
        loadVector<T, 4>(&shared.above[128 * k + 4 * lane], columns[k]);
        loadVector<T, 4>(&shared.part[warp][128 * k + 4 * lane], some);
#pragma unroll
        for (int j = 0; j < 4; j++) columns[k][j] += some[j];
      }
#pragma unroll
      for (int r = 0; r < Rows; r++) {
        const int y = y0 + first + r;
#pragma unroll
        for (int k = 0; k < K; k++)
#pragma unroll
          for (int j = 0; j < 4; j++) columns[k][j] += (T)now[r][k][Reverse ? 3 - j : j];
        load(x0, y + step, now[r]);
        if (y < bottom) row(x0, y, columns, x0 > 0 ? *(volatile const T*)sum(Reverse ? x0 - 1 : x0, y) : (T)0);
      }
    }
  }

  static __device__ void run(const Tensor& job, Shared& shared) {
    const int thread = threadIdx.x, blocks = clusterSize();
    const i64 plane = blockIdx.x / blocks / job.bands;
    if (plane >= job.count) return;  // the grid may have more clusters than planes
    const int top = blockIdx.x / blocks % job.bands * job.bandRow;
    TensorPlane p = {job, job.in + plane * job.inBatch, job.out + plane * job.outBatch, thread & 31, thread >> 5, top, min(top + job.bandRow, job.height)};
    if (!Reverse && top == 0 && clusterRank() == 0)
      for (int x = thread; x <= job.width; x += 32 * Warps) ((T*)(p.out - job.outStride))[x] = 0;
    for (int x0 = 0; x0 < job.width; x0 += kWide) {
      p.strip(x0, shared);
      clusterSync();  // the sums to the left of the next strip are written, and shared memory is free
    }
  }
};

// --- Window sums ---

constexpr int kWindowThreads = 256, kWindowRows = 2;  // threads of a block at most; rows at a time
constexpr float kWindowLarge = 16777216.0f;  // values beyond this must not enter a running sum

// A WindowBand sums the windows of a band of rows, with one block that goes down it. Each thread
// keeps the sums of four columns over the rows of a window, in f64: for each row, one is added and
// one subtracted. Windows are differences of their prefix sums, in shared memory. So the error of a
// sum is about 2^-52 of the absolute values in its window's rows, over the whole strip and
// including rows above in the band. That is below the precision of f32, unless the window is that
// much fainter than its surroundings. If a value beyond 2^24 or NaN enters, the rest of the band is
// summed window by window, so that the value affects only the windows that contain it. So are all
// windows of doubles, as there is no wider type.
template <class P, int R>
struct WindowBand {
  static constexpr int kAhead = 4;    // rows loaded together at the beginning
  static constexpr int kResults = 4;  // of a thread, usually
  static __device__ __host__ constexpr int at(int x) { return x + x / 16 * 2; }  // gaps reduce bank conflicts
  struct Shared {
    alignas(16) double line[R][at(4 * kWindowThreads) + 2];
    double whole[R][kWindowThreads / 32];  // of warps
  };
  typedef typename Pick<sizeof(P) == 8, double, float>::type V;

  const TensorWindow& job;
  const char* in;
  int first, thread;  // the first column that the strip reads

  __device__ void load(int y, Quad<P>& v) const {
    const int x = first + 4 * thread;
    const bool inside = (u32)y < (u32)job.height;
    v.load((const P*)(in + (i64)y * job.inStride) + x, job.aligned && inside && x >= 0 && x + 4 <= job.width, inside ? -x : 4, inside ? job.width - x : 0);
  }

  static __device__ bool large(const Quad<P>& v) {
    bool any = false;
#pragma unroll
    for (int j = 0; j < 4; j++) any = any || !(fabs(v[j]) <= kWindowLarge);
    return any;
  }

  // prefix writes the exclusive prefix sums of some rows, or the column sums themselves if direct
  // is set or a value requires it, and reports which.
  __device__ bool prefix(const double (&columns)[R][4], bool any, bool direct, int y, Shared& shared) const {
    const int lane = thread & 31, warp = thread >> 5;
    double own[R], whole[R];
#pragma unroll
    for (int r = 0; r < R; r++) own[r] = whole[r] = (columns[r][0] + columns[r][1]) + (columns[r][2] + columns[r][3]);
#pragma unroll
    for (int d = 1; d < 32; d *= 2)
#pragma unroll
      for (int r = 0; r < R; r++) {
        const double before = __shfl_up_sync(kAll, whole[r], d);
        if (lane >= d) whole[r] += before;
      }
#pragma unroll
    for (int r = 0; r < R; r++)
      if (lane == 31) shared.whole[r][warp] = whole[r];
    direct = __syncthreads_or(any || direct);
#pragma unroll
    for (int r = 0; r < R; r++) {
      double v[4] = {};
      if (!direct) {
        double before = 0;
        for (int w = 0; w < warp; w++) before += shared.whole[r][w];
        const double left = __shfl_up_sync(kAll, whole[r], 1);
        v[0] = lane ? before + left : before;
#pragma unroll
        for (int j = 1; j < 4; j++) v[j] = v[j - 1] + columns[r][j - 1];
        if (thread == blockDim.x - 1) shared.line[r][at(4 * blockDim.x)] = before + whole[r];
      } else {
#pragma unroll 1
        for (int i = y + r - job.top; i < y + r - job.top + job.down; i++) {
          Quad<P> q;
          load(i, q);
#pragma unroll
          for (int j = 0; j < 4; j++) v[j] += (double)q[j];
        }
      }
      storeVector<double, 4>(&shared.line[r][at(4 * thread)], v);
    }
    return direct;
  }

  // place returns where in a line the window of a column begins and ends.
  __device__ int place(int x) const {
    const int from = x - job.left - first, edge = 4 * blockDim.x;
    return at(min(max(from, 0), edge)) | at(min(max(from + job.across, 0), edge)) << 16;
  }

  // result writes the sum of the window of a column, which has high rows inside the plane.
  __device__ void result(double sum, int x, int high, P* to) const {
    if (job.clip) {
      const int wide = min(x - job.left + job.across, job.width) - max(x - job.left, 0);
      convert((V)sum / max((V)high * (V)wide, (V)1), *to);
    } else {
      convert(sum * job.factor, *to);
    }
  }

  __device__ void down(int y, int end, int x0, int x1, char* out, Shared& shared) const {
    double columns[4] = {};
    Quad<P> come[R], gone[R];
    bool any = sizeof(P) == 8, direct = any;
    const int before = y - job.top - 1;  // the first row that leaves
    const int low = max(before, 0), high = min(before + job.down, job.height);
    for (int r = low; r < high && !direct; r += kAhead) {
      Quad<P> q[kAhead];
#pragma unroll
      for (int i = 0; i < kAhead; i++) load(r + i < high ? r + i : -1, q[i]);
#pragma unroll
      for (int i = 0; i < kAhead; i++) {
        any = any || large(q[i]);
#pragma unroll
        for (int j = 0; j < 4; j++) columns[j] += (double)q[i][j];
      }
    }
    // Where in the line the windows of the thread's results begin and end.
    int places[kResults];
#pragma unroll
    for (int i = 0; i < kResults; i++) places[i] = place(x0 + thread + i * blockDim.x);
#pragma unroll
    for (int r = 0; r < R; r++) {
      load(before + job.down + r, come[r]);
      load(before + r, gone[r]);
    }
    for (; y < end; y += R) {
      double rows[R][4];
#pragma unroll
      for (int r = 0; r < R; r++) {
        any = any || large(come[r]);
#pragma unroll
        for (int j = 0; j < 4; j++) {
          columns[j] += (double)come[r][j] - (double)gone[r][j];
          rows[r][j] = columns[j];
        }
      }
      direct = prefix(rows, any, direct, y, shared);
#pragma unroll
      for (int r = 0; r < R; r++) {  // overlaps with these rows
        load(y - job.top + job.down - 1 + R + r, come[r]);
        load(y - job.top - 1 + R + r, gone[r]);
      }
      __syncthreads();
#pragma unroll
      for (int r = 0; r < R; r++) {
        if (y + r >= end) break;
        P* row = (P*)(out + (i64)(y + r) * job.outStride);
        const int top = y + r - job.top, high = min(top + job.down, job.height) - max(top, 0);
        const double* line = shared.line[r];
        int x = x0 + thread;
        if (!direct) {
#pragma unroll
          for (int i = 0; i < kResults; i++, x += blockDim.x)
            if (x < x1) result(line[places[i] >> 16] - line[places[i] & 0xffff], x, high, row + x);
        }
#pragma unroll 1
        for (; x < x1; x += blockDim.x) {
          const int low = place(x) & 0xffff, past = place(x) >> 16;
          double sum = 0;
          if (!direct) sum = line[past] - line[low];
#pragma unroll 1
          for (int k = low; direct && k < past; k++)
            if (k % 18 < 16) sum += line[k];  // skips the gaps
          result(sum, x, high, row + x);
        }
      }
    }
  }

  static __device__ void run(const TensorWindow& job, Shared& shared) {
    i64 task = blockIdx.x;
    const int strip = task % job.strips;
    task /= job.strips;
    const int band = task % job.bands;
    const i64 plane = task / job.bands;
    const int x0 = strip * job.results;
    WindowBand b = {job, job.in + plane * job.inBatch, job.strips == 1 ? 0 : (x0 - job.left) & ~3, (int)threadIdx.x};
    const int y = band * job.bandRow;
    b.down(y, min(y + job.bandRow, job.rows), x0, min(x0 + job.results, job.columns), job.out + plane * job.outBatch, shared);
  }
};

}  // namespace

// The arguments are warps, rows of each, chunks of 128 columns, and blocks of a multiprocessor.
#define BOXSUM_TENSOR(Name, P, T, Reverse, Warps, Rows, K, Blocks)                                                             \
  extern "C" __global__ void __launch_bounds__(32 * Warps, Blocks) tensor_##Name##_##P##_##T##_##K(const __grid_constant__ Tensor job) { \
    __shared__ TensorPlane<P, T, Reverse, Warps, Rows, K>::Shared shared;                                                       \
    TensorPlane<P, T, Reverse, Warps, Rows, K>::run(job, shared);                                                               \
  }
#define BOXSUM_WINDOW(P)                                                                                                      \
  extern "C" __global__ void __launch_bounds__(kWindowThreads) tensor_window_##P(const __grid_constant__ TensorWindow job) { \
    __shared__ WindowBand<P, kWindowRows>::Shared shared;                                                                    \
    WindowBand<P, kWindowRows>::run(job, shared);                                                                            \
  }
