// Tables of small images: a tile for each block, all at work at once, and no
// chain from tile to tile. A block publishes the sums of its rows and columns
// and its total, adds up those of all tiles left of it and above, then writes.
//
// Words carry the launch's epoch, as in the one-pass kernels, so that a block
// waits for what it reads and for nothing else. Blocks draw their tiles in
// order and wait for earlier ones only: no launch can hang. Everything is
// added up in a fixed order, so that floats have the same bits every time.

#include "onepass.h"

namespace {

template <class Pixel, int Channels, int RowsPerWarp>
struct Small {
  typedef Pixel P;
  static constexpr int C = Channels, RW = RowsPerWarp, warps = 8, threads = warps * 32;
  static constexpr int VX = C == 3 ? 3 : 4, width = 32 * VX, height = warps * RW;
  static constexpr int rowTrios = (height * C + 2) / 3, columnTrios = (width + 2) / 3, cornerTrios = (C + 2) / 3;
  // Who looks for what: the first threads for columns, then for rows, the last warp for the corner.
  static constexpr int rowsFrom = upTo(columnTrios, 32), cornerFrom = threads - 32;
  static_assert(rowsFrom + rowTrios <= cornerFrom, "a thread for each trio");
};

// The words of a tile.
template <class S, class T>
struct SmallLayer {
  typedef Trio<T> Word;
  static constexpr int rows = 0, columns = S::rowTrios * Word::words, corner = columns + S::columnTrios * Word::words;
  static constexpr int words = corner + S::cornerTrios * Word::words;
};

// addUp adds n words to sum in order, and waits for each. W are read at a time.
template <class T, int W, class At>
__device__ inline void addUp(int n, u32 flag, T sum[3], At at) {
  for (int first = 0; first < n; first += W) {
    Trio<T> q[W];
#pragma unroll
    for (int u = 0; u < W; u++)
      if (first + u < n) q[u] = Trio<T>::load(at(first + u));
#pragma unroll
    for (int u = 0; u < W; u++)
      if (first + u < n) {
        while (q[u].flag != flag) q[u] = Trio<T>::load(at(first + u));
#pragma unroll
        for (int k = 0; k < 3; k++) sum[k] += q[u].v[k];
      }
  }
}

template <class S, class T, class Op>
__device__ inline void oneTile(const BoxsumJob& job) {
  typedef typename S::P P;
  typedef SmallLayer<S, T> L;
  constexpr int C = S::C, VX = S::VX, RW = S::RW, W = sizeof(T) == 4 ? 8 : 4;
  __shared__ __align__(16) T above[S::warps][S::width];  // sums of columns in each warp's rows, then above them
  __shared__ __align__(16) T column[upTo(S::width, 3) + 1], top[upTo(S::width, 3) + 1];
  __shared__ T row[upTo(S::height * C, 3)], left[upTo(S::height * C, 3)], corner[upTo(C, 3)];
  __shared__ u32 drawn;
  const int thread = threadIdx.x, lane = thread & 31, warp = thread >> 5;

  if (thread == 0) drawn = atomicAdd(job.tickets, 1) - job.base;
  __syncthreads();
  const int perImage = job.tilesX * job.tilesY;
  const int tile = drawn % perImage, image = drawn / perImage, tx = tile % job.tilesX, ty = tile / job.tilesX;
  const int x = tx * S::width + lane * VX, y = ty * S::height + warp * RW;  // of this thread's first value
  const int valuesLeft = job.width - x, rowsLeft = job.height - y;
  uint4* const words = job.status + (i64)image * perImage * L::words;
  const u32 flag = job.epoch | kPrefix;

  // Pixels, zeros outside the image.
  P p[RW][VX] = {};
  const char* from = job.in + image * job.inBatch + (i64)y * job.inStride + (i64)x * (int)sizeof(P);
#pragma unroll
  for (int r = 0; r < RW; r++, from += job.inStride)
    if (r < rowsLeft) {
      if (job.inAligned && VX == 4 && valuesLeft >= VX) {
        loadVector<P, VX>((const P*)from, p[r]);
      } else {
#pragma unroll
        for (int k = 0; k < VX; k++)
          if (k < valuesLeft) p[r][k] = ((const P*)from)[k];
      }
    }
  char* const out = job.out + image * job.outBatch;
  T over[VX] = {};  // the row carried from a band above
  if (job.carry) {
#pragma unroll
    for (int k = 0; k < VX; k++)
      if (k < valuesLeft) over[k] = ((const T*)out)[C + x + k];
  }

  // Sums of rows and columns.
  const Op op{(T)job.offset};
  {
    T sums[VX] = {}, rows[C][RW];
#pragma unroll
    for (int r = 0; r < RW; r++) {
      T v[VX];
#pragma unroll
      for (int k = 0; k < VX; k++) {
        v[k] = op(p[r][k]);
        sums[k] += v[k];
      }
#pragma unroll
      for (int c = 0; c < C; c++) {
        rows[c][r] = v[c];
#pragma unroll
        for (int k = c + C; k < VX; k += C) rows[c][r] += v[k];
      }
    }
    storeVector<T, VX>(&above[warp][lane * VX], sums);
#pragma unroll
    for (int c = 0; c < C; c++) {
      const T sum = sumRows<T, RW>(rows[c], lane);
      if ((lane & (32 / RW - 1)) == 0) row[(warp * RW + sumOf<RW>(lane)) * C + c] = sum;
    }
  }
  __syncthreads();
  if (thread < S::width) {
    T sum = 0;
#pragma unroll
    for (int w = 0; w < S::warps; w++) {
      const T v = above[w][thread];
      above[w][thread] = sum;
      sum += v;
    }
    column[thread] = sum;
  }
  __syncthreads();

  // Publish, then add up what others published.
  uint4* const mine = words + tile * L::words;
  T v[3] = {};
  if (thread < S::columnTrios) {
    const int i = thread * 3;
    if (ty + 1 < job.tilesY) {
#pragma unroll
      for (int k = 0; k < 3; k++) v[k] = i + k < S::width ? column[i + k] : (T)0;
      L::Word::store(mine + L::columns + thread * L::Word::words, v, flag);
    }
    T sum[3] = {};
    addUp<T, W>(ty, flag, sum, [&](int n) { return words + (n * job.tilesX + tx) * L::words + L::columns + thread * L::Word::words; });
#pragma unroll
    for (int k = 0; k < 3; k++) top[i + k] = sum[k];
  } else if (thread >= S::rowsFrom && thread < S::rowsFrom + S::rowTrios) {
    const int trio = thread - S::rowsFrom, i = trio * 3;
    if (tx + 1 < job.tilesX) {
#pragma unroll
      for (int k = 0; k < 3; k++) v[k] = i + k < S::height * C ? row[i + k] : (T)0;
      L::Word::store(mine + L::rows + trio * L::Word::words, v, flag);
    }
    T sum[3] = {};
    addUp<T, W>(tx, flag, sum, [&](int n) { return words + (ty * job.tilesX + n) * L::words + L::rows + trio * L::Word::words; });
#pragma unroll
    for (int k = 0; k < 3; k++) left[i + k] = sum[k];
  } else if (thread >= S::cornerFrom) {
    if (tx + 1 < job.tilesX && ty + 1 < job.tilesY) {
      T total[upTo(C, 3)] = {};
#pragma unroll
      for (int c = 0; c < C; c++) {
        for (int r = lane; r < S::height; r += 32) total[c] += row[r * C + c];
#pragma unroll
        for (int d = 16; d >= 1; d /= 2) total[c] += __shfl_xor_sync(kAll, total[c], d);
      }
      if (lane == 0)
#pragma unroll
        for (int i = 0; i < S::cornerTrios; i++) L::Word::store(mine + L::corner + i * L::Word::words, total + 3 * i, flag);
    }
    // Each lane adds up every 32nd tile.
    const int n = tx * ty;
#pragma unroll
    for (int i = 0; i < S::cornerTrios; i++) {
      T sum[3] = {};
      addUp<T, W>((n - lane + 31) / 32, flag, sum, [&](int k) {
        const int t = k * 32 + lane;
        return words + (t / tx * job.tilesX + t % tx) * L::words + L::corner + i * L::Word::words;
      });
      __syncwarp();
#pragma unroll
      for (int k = 0; k < 3; k++) {
#pragma unroll
        for (int d = 16; d >= 1; d /= 2) sum[k] += __shfl_xor_sync(kAll, sum[k], d);
        if (lane == 0) corner[i * 3 + k] = sum[k];
      }
    }
  }
  __syncthreads();

  // The table's values over this thread's first row.
  T last[1][VX];
  {
    T tops[VX];
    loadVector<T, VX>(&above[warp][lane * VX], last[0]);
    loadVector<T, VX>(&top[lane * VX], tops);
#pragma unroll
    for (int k = 0; k < VX; k++) last[0][k] += tops[k];
  }
  scanWarp<T, 1, VX, C>(last, lane);
#pragma unroll
  for (int c = 0; c < C; c++) {
    T sum = 0;
#pragma unroll
    for (int first = 0; first < S::height; first += 32)
      if (first + lane < warp * RW) sum += left[(first + lane) * C + c];
#pragma unroll
    for (int d = 16; d >= 1; d /= 2) sum += __shfl_xor_sync(kAll, sum, d);
    sum += corner[c];
#pragma unroll
    for (int k = c; k < VX; k += C) last[0][k] += over[k] + sum;
  }

  T* const line = above[warp];  // read by nobody else from here on
  const int chunkLeft = valuesLeft + lane * VX;  // values from the tile's first on
  T* to = (T*)(out + (i64)(y + 1) * job.outStride) + C + tx * S::width;
#pragma unroll
  for (int r = 0; r < RW; r++) {
    T value[1][VX];
#pragma unroll
    for (int k = 0; k < VX; k++) value[0][k] = op(p[r][k]);
    scanWarp<T, 1, VX, C>(value, lane);
#pragma unroll
    for (int k = 0; k < VX; k++) value[0][k] = last[0][k] += value[0][k] + left[(warp * RW + r) * C + k % C];
    if (job.outAligned && VX == 4 && chunkLeft >= S::width) {
      if (r < rowsLeft) storeVector<T, VX>(to + lane * VX, value[0]);
    } else {
      // Through shared memory, so that neighbouring lanes write neighbouring values.
      __syncwarp();
#pragma unroll
      for (int k = 0; k < VX; k++) line[lane * VX + k] = value[0][k];
      __syncwarp();
#pragma unroll
      for (int k = 0; k < VX; k++)
        if (k * 32 + lane < chunkLeft && r < rowsLeft) to[k * 32 + lane] = line[k * 32 + lane];
    }
    to = (T*)((char*)to + job.outStride);
  }
  // Column 0, and row 0 where it is not carried from a band above.
  if (tx == 0)
    for (int i = lane; i < RW * C; i += 32)
      if (i / C < rowsLeft) ((T*)(out + (i64)(y + 1 + i / C) * job.outStride))[i % C] = 0;
  if (ty == 0 && !job.carry) {
    if (thread < S::width && tx * S::width + thread < job.width) ((T*)out)[C + tx * S::width + thread] = 0;
    if (tx == 0 && thread < C) ((T*)out)[thread] = 0;
  }
}

typedef float f32;
typedef double f64;

// Tables of float32 are of pixels less a constant.
template <class T>
struct Summed { typedef Plain<T> Op; };
template <>
struct Summed<float> { typedef Shifted<float> Op; };

}  // namespace

// A kernel, and shape_ with its name: a fastShape of gpu/fast.go.
#define BOXSUM_SMALL(name, S, T)                                                                                       \
  extern "C" __device__ int shape_##name[10] = {S::width, S::height, S::threads, 0, SmallLayer<S, T>::words, 0, (int)sizeof(BoxsumJob)}; \
  extern "C" __global__ void __launch_bounds__(S::threads, 2) name(const __grid_constant__ BoxsumJob job) {            \
    oneTile<S, T, Summed<T>::Op>(job);                                                                                 \
  }

// Tiles as high as registers allow, and flat ones for images that would not
// occupy the device otherwise.
#define BOXSUM_ROWS(P, T, C)                                     \
  typedef Small<P, C, sizeof(T) == 4 ? 8 : 4> High_##P##_##T##_c##C; \
  typedef Small<P, C, 2> Flat_##P##_##T##_c##C;                      \
  BOXSUM_SMALL(small_##P##_##T##_c##C, High_##P##_##T##_c##C, T)     \
  BOXSUM_SMALL(flat_##P##_##T##_c##C, Flat_##P##_##T##_c##C, T)
#define BOXSUM_CHANNELS(P, T) BOXSUM_ROWS(P, T, 1) BOXSUM_ROWS(P, T, 2) BOXSUM_ROWS(P, T, 3) BOXSUM_ROWS(P, T, 4)

BOXSUM_CHANNELS(u8, u32)
BOXSUM_CHANNELS(u8, u64)
BOXSUM_CHANNELS(u8, f32)
BOXSUM_CHANNELS(u8, f64)
BOXSUM_CHANNELS(u16, u64)
BOXSUM_CHANNELS(u16, f64)
BOXSUM_CHANNELS(u32, u32)
BOXSUM_CHANNELS(u32, u64)
BOXSUM_CHANNELS(i16, u64)
BOXSUM_CHANNELS(i32, u64)
BOXSUM_CHANNELS(f32, f32)
BOXSUM_CHANNELS(f32, f64)
BOXSUM_CHANNELS(f64, f64)
