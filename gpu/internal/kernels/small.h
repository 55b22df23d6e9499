// Tables of small images: a tile for each block, all at work at once, and no
// chain from tile to tile. A block publishes the sums of its rows and columns
// and its total, adds up those of all tiles left of it and above, then writes.
//
// Statuses carry the launch's epoch, see lookback.h, so that a block
// waits for what it reads and for nothing else. Blocks draw their tiles in
// order and wait for earlier ones only: no launch can hang. Everything is
// added up in a fixed order, so that floats have the same bits every time.
#pragma once

#include "lookback.h"
#include "warp.h"
#include "jobs/plane_pass.h"

namespace {

template <class Pixel, int Channels, int RowsPerWarp>
struct SmallTile {
  typedef Pixel P;
  static constexpr int C = Channels, RW = RowsPerWarp, warps = 8, threads = warps * 32;
  static constexpr int VX = C == 3 ? 3 : 4, width = 32 * VX, height = warps * RW;
  static constexpr int rowTriples = (height * C + 2) / 3, columnTriples = (width + 2) / 3, cornerTriples = (C + 2) / 3;
  // Who looks for what: the first threads for columns, then for rows, the last warp for the corner.
  static constexpr int rowsFrom = upTo(columnTriples, 32), cornerFrom = threads - 32;
  static_assert(rowsFrom + rowTriples <= cornerFrom, "a thread for each triple");
};

// Where the statuses of a tile lie.
template <class S, class T>
struct SmallStatus {
  typedef TileStatus<T> Word;
  static constexpr int rows = 0, columns = S::rowTriples * Word::words, corner = columns + S::columnTriples * Word::words;
  static constexpr int words = corner + S::cornerTriples * Word::words;
};

template <class S, class T, class Op>
__device__ inline void smallPass(const PlanePass& job) {
  typedef typename S::P P;
  typedef SmallStatus<S, T> L;
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
  if (thread < S::columnTriples) {
    const int i = thread * 3;
    if (ty + 1 < job.tilesY) {
#pragma unroll
      for (int k = 0; k < 3; k++) v[k] = i + k < S::width ? column[i + k] : (T)0;
      L::Word::store(mine + L::columns + thread * L::Word::words, v, flag);
    }
    T sum[3] = {};
    sumStatuses<T, W>(ty, flag, sum, [&](int n) { return words + (n * job.tilesX + tx) * L::words + L::columns + thread * L::Word::words; });
#pragma unroll
    for (int k = 0; k < 3; k++) top[i + k] = sum[k];
  } else if (thread >= S::rowsFrom && thread < S::rowsFrom + S::rowTriples) {
    const int triple = thread - S::rowsFrom, i = triple * 3;
    if (tx + 1 < job.tilesX) {
#pragma unroll
      for (int k = 0; k < 3; k++) v[k] = i + k < S::height * C ? row[i + k] : (T)0;
      L::Word::store(mine + L::rows + triple * L::Word::words, v, flag);
    }
    T sum[3] = {};
    sumStatuses<T, W>(tx, flag, sum, [&](int n) { return words + (ty * job.tilesX + n) * L::words + L::rows + triple * L::Word::words; });
#pragma unroll
    for (int k = 0; k < 3; k++) left[i + k] = sum[k];
  } else if (thread >= S::cornerFrom) {
    if (tx + 1 < job.tilesX && ty + 1 < job.tilesY) {
      T total[upTo(C, 3)] = {};
#pragma unroll
      for (int c = 0; c < C; c++) {
        for (int r = lane; r < S::height; r += 32) total[c] += row[r * C + c];
        sumLanes(total[c]);
      }
      if (lane == 0)
#pragma unroll
        for (int i = 0; i < S::cornerTriples; i++) L::Word::store(mine + L::corner + i * L::Word::words, total + 3 * i, flag);
    }
    // Each lane adds up every 32nd tile.
    const int n = tx * ty;
#pragma unroll
    for (int i = 0; i < S::cornerTriples; i++) {
      T sum[3] = {};
      sumStatuses<T, W>((n - lane + 31) / 32, flag, sum, [&](int k) {
        const int t = k * 32 + lane;
        return words + (t / tx * job.tilesX + t % tx) * L::words + L::corner + i * L::Word::words;
      });
      __syncwarp();
#pragma unroll
      for (int k = 0; k < 3; k++) {
        sumLanes(sum[k]);
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
    sumLanes(sum);
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

}  // namespace

// A kernel, and shape_ with its name for the host.
#define BOXSUM_SMALL(name, S, T)                                                                                                             \
  extern "C" __device__ PlaneShape shape_##name = {S::width, S::height, S::threads, 0, SmallStatus<S, T>::words, 0, (int)sizeof(PlanePass)}; \
  extern "C" __global__ void __launch_bounds__(S::threads, 2) name(const __grid_constant__ PlanePass job) {                               \
    smallPass<S, T, Summed<T>::Op>(job);                                                                                                     \
  }

// Tiles as high as registers allow, and flat ones for images that would not
// occupy the device otherwise.
#define BOXSUM_SMALL_OF(P, T, C)                                         \
  typedef SmallTile<P, C, sizeof(T) == 4 ? 8 : 4> High_##P##_##T##_c##C; \
  typedef SmallTile<P, C, 2> Flat_##P##_##T##_c##C;                      \
  BOXSUM_SMALL(small_##P##_##T##_c##C, High_##P##_##T##_c##C, T)         \
  BOXSUM_SMALL(flat_##P##_##T##_c##C, Flat_##P##_##T##_c##C, T)
#define BOXSUM_SMALL_SUMS(P, T) BOXSUM_SMALL_OF(P, T, 1) BOXSUM_SMALL_OF(P, T, 2) BOXSUM_SMALL_OF(P, T, 3) BOXSUM_SMALL_OF(P, T, 4)
