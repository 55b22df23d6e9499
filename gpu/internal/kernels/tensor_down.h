// Tables of many planes of floats, and sums from the opposite corner, on chips from 9.0 on: each
// block processes a plane from top to bottom.
#pragma once

#include "async.h"
#include "tensor.h"

namespace {

#if __CUDA_ARCH__ >= 900
// copyBytes copies a multiple of 16 bytes to shared memory, for a phase that expects them.
__device__ inline void copyBytes(void* to, const void* from, int bytes, const Mbarrier& full) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint [%0], [%1], %2, [%3], %4;" ::"r"(sharedAddress(to)),
               "l"(from), "r"(bytes), "r"(full.address()), "l"(keep())
               : "memory");
}
#endif

// A TensorDown processes a plane in strips of some rows. The chip copies the pixels of later strips
// to shared memory while others are summed. Warps sum along rows, into shared memory; then each
// thread goes down its columns and writes. With few large strips, reads and writes of memory come
// in long runs, which also hides latency.
template <class P, bool Reverse, int Warps, int Rows, int Stages, int Mids, int K>
struct TensorDown {
  typedef float T;
  static constexpr int kWide = 128 * K, kThreads = 32 * Warps, kColumns = (kWide + (Reverse ? 0 : 8) + kThreads - 1) / kThreads;
  static constexpr int kRow = kWide * sizeof(P) + 16;  // bytes for a row's pixels, at any alignment
  struct Shared {
    alignas(16) char pixels[Stages][Rows * kRow + 16];
    alignas(16) T sums[Mids][Rows][kWide];  // along rows, from the right end on if Reverse is set
    Mbarrier full[Stages];
  };

#if __CUDA_ARCH__ >= 900
  const Tensor& job;
  Shared& shared;
  const char* in;
  char* out;
  int lane, warp, strips;
  bool together, aligned;  // rows are close enough to be copied as one block; four pixels can be read at once

  __device__ int rowsOf(int strip) const { return min(Rows, job.height - strip * Rows); }
  __device__ int firstRow(int strip) const { return Reverse ? job.height - strip * Rows - rowsOf(strip) : strip * Rows; }

  // place returns the address of a row of a strip in shared memory, which has the same offset
  // from a multiple of 16 as in memory.
  __device__ const P* place(int strip, const char* pixels, int r) const {
    const char* from = in + (i64)firstRow(strip) * job.inStride;
    if (together) return (const P*)(pixels + ((u64)from & 15) + r * (int)job.inStride);
    return (const P*)(pixels + r * kRow + ((u64)(from + r * job.inStride) & 15));
  }

  // fetch starts the copies of a strip.
  __device__ void fetch(int strip) const {
    const int stage = strip % Stages, rows = rowsOf(strip), row = job.width * sizeof(P), copies = together ? 1 : rows;
    const char* from = in + (i64)firstRow(strip) * job.inStride;
    const int bytes = together ? (rows - 1) * (int)job.inStride + row : row;
    auto whole = [&](int i) { return ((int)((u64)(from + i * job.inStride) & 15) + bytes + 15) & ~15; };
    int all = 0;
    for (int i = 0; i < copies; i++) all += whole(i);
    Mbarrier& full = shared.full[stage];
    full.expect(all);
    for (int i = 0; i < copies; i++) copyBytes(shared.pixels[stage] + i * kRow, (const char*)((u64)(from + i * job.inStride) & ~15ull), whole(i), full);
  }

  // turn rotates the values by n.
  static __device__ void turn(T (&v)[4], int n) {
    T w[4];
#pragma unroll
    for (int j = 0; j < 4; j++) w[j] = n & 1 ? v[(j + 3) % 4] : v[j];
#pragma unroll
    for (int j = 0; j < 4; j++) v[j] = n & 2 ? w[(j + 2) % 4] : w[j];
  }

  // four reads four pixels of a row.
  __device__ void four(const P* row, int x, T (&v)[4]) const {
    if (aligned) {
      Quad<P> q = {};
      if (x < job.width) loadVector<u32, sizeof(P)>((const u32*)(row + (Reverse ? job.width - 4 - x : x)), q.words);
#pragma unroll
      for (int j = 0; j < 4; j++) v[j] = q[Reverse ? 3 - j : j];
      return;
    }
    const int begin = lane >> 3;  // lanes begin at different pixels, so that there are no bank conflicts
#pragma unroll
    for (int j = 0; j < 4; j++) {
      const int c = x + ((j + begin) & 3);
      v[j] = c < job.width ? (T)row[Reverse ? job.width - 1 - c : c] : 0;
    }
    turn(v, begin);
  }

  // across sums along a row.
  __device__ void across(const P* row, T* to) const {
    T v[K][4], whole[K], left = 0;
#pragma unroll
    for (int k = 0; k < K; k++) {
      four(row, 128 * k + 4 * lane, v[k]);
#pragma unroll
      for (int j = 1; j < 4; j++) v[k][j] += v[k][j - 1];
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
      left += __shfl_sync(kAll, whole[k], 31);
      T four[4];
#pragma unroll
      for (int j = 0; j < 4; j++) four[j] = v[k][Reverse ? 3 - j : j] + before;
      const int x = 128 * k + 4 * lane;
      storeVector<T, 4>(to + (Reverse ? kWide - 4 - x : x), four);
    }
  }

  // columns returns the number of columns written: those of the sums, the zeros before them, and
  // what fills the last sector.
  __device__ int columns() const { return job.width + (Reverse ? 0 : job.gap ? 8 : 1); }

  __device__ void down() {
    T carry[kColumns] = {};
    for (int strip = 0; strip < strips; strip++) {
      const int stage = strip % Stages, rows = rowsOf(strip);
      T(&sums)[Rows][kWide] = shared.sums[strip % Mids];
      shared.full[stage].wait(strip / Stages);
#pragma unroll
      for (int r = 0; r < Rows; r += Warps)
        if (r + warp < Rows) across(place(strip, shared.pixels[stage], r + warp), sums[r + warp]);  // missing rows are summed too, but not read
      __syncthreads();
      if (threadIdx.x == 0 && strip + Stages < strips) fetch(strip + Stages);
      T part[kColumns][Rows];
#pragma unroll
      for (int i = 0; i < kColumns; i++) {
        const int x = threadIdx.x + i * kThreads, from = Reverse ? kWide - job.width + x : x - 1;
        if (x >= columns()) continue;
#pragma unroll
        for (int r = 0; r < Rows; r++) part[i][r] = sums[Reverse ? max(rows - 1 - r, 0) : r][min(max(from, 0), kWide - 1)];
      }
      if (Mids == 1) __syncthreads();
#pragma unroll
      for (int i = 0; i < kColumns; i++) {
        const int x = threadIdx.x + i * kThreads;
        if (x >= columns()) continue;
        const bool some = Reverse || (x >= 1 && x <= job.width);
        const int most = Reverse || x <= job.width || strip + 1 < strips ? rows : rows - 1;  // the padding of the last row is not written
        char* to = out + (i64)(firstRow(strip) + (Reverse ? rows - 1 : 0)) * job.outStride + x * sizeof(T);
#pragma unroll
        for (int r = 0; r < Rows; r++) {
          carry[i] += part[i][r];
          if (r < most) {
            const T sum = some ? carry[i] : 0;
            if (sizeof(P) == 2 && K == 2) __stcs((T*)to, sum);  // faster for these
            else *(T*)to = sum;
          }
          to += Reverse ? -job.outStride : job.outStride;
        }
      }
    }
  }
#endif

  static __device__ void run(const Tensor& job, char* memory) {
#if __CUDA_ARCH__ >= 900
    Shared& shared = *(Shared*)memory;
    TensorDown t = {job, shared, job.in + (i64)blockIdx.x * job.inBatch, job.out + (i64)blockIdx.x * job.outBatch};
    t.lane = threadIdx.x & 31, t.warp = __shfl_sync(kAll, threadIdx.x >> 5, 0), t.strips = (job.height + Rows - 1) / Rows;
    t.together = job.inStride * (Rows - 1) + (i64)sizeof(P) * job.width + 32 <= (i64)sizeof shared.pixels[0];
    t.aligned = ((i64)t.in | job.inStride | (i64)(job.width * sizeof(P))) % (4 * sizeof(P)) == 0;
    if (threadIdx.x == 0) {
      for (int s = 0; s < Stages; s++) shared.full[s].init(1);
      showMbarriers();
      for (int s = 0; s < min(Stages, t.strips); s++) t.fetch(s);
    }
    if (!Reverse)
      for (int x = threadIdx.x; x <= job.width; x += kThreads) ((T*)(t.out - job.outStride))[x] = 0;
    __syncthreads();
    t.down();
#endif
  }
};

}  // namespace

// The arguments are warps, rows of a strip, stages of pixels and of sums in shared memory, chunks
// of 128 columns, and blocks of a multiprocessor.
#define BOXSUM_TENSOR_DOWN(Name, P, Reverse, Warps, Rows, Stages, Mids, K, Blocks)                                                      \
  extern "C" __global__ void __launch_bounds__(32 * Warps, Blocks) tensor_##Name##_##P##_down_##K(const __grid_constant__ Tensor job) { \
    extern __shared__ __align__(128) char memory[];                                                                                     \
    TensorDown<P, Reverse, Warps, Rows, Stages, Mids, K>::run(job, memory);                                                             \
  }
