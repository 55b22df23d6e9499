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

struct None {};  // no squares

template <class Pixel, int Channels, int RowsPerWarp>
struct SmallTile {
  typedef Pixel P;
  static constexpr int C = Channels, RW = RowsPerWarp, warps = 8, threads = warps * 32;
  static constexpr int VX = C == 3 ? 3 : 4, width = 32 * VX, height = warps * RW;
  static constexpr int rowTriples = (height * C + 2) / 3, columnTriples = (width + 2) / 3, cornerTriples = (C + 2) / 3;
  // Who looks for what: the first threads for columns, then for rows, the last warps for a triple of the corner each.
  static constexpr int rowsFrom = upTo(columnTriples, 32), cornerFrom = threads - 32 * cornerTriples;
  static_assert(rowsFrom + rowTriples <= cornerFrom, "a thread for each triple");
};

// Where the statuses of a tile lie.
template <class S, class T>
struct SmallStatus {
  typedef TileStatus<T> Word;
  static constexpr int rows = 0, columns = S::rowTriples * Word::words, corner = columns + S::columnTriples * Word::words;
  static constexpr int words = corner + S::cornerTriples * Word::words;
};

// A SmallState is what a block knows of its tile, for sums or for squares.
template <class S, class T>
struct SmallState {
  alignas(16) T above[S::warps][S::width];  // sums of columns in each warp's rows, then above them
  alignas(16) T column[upTo(S::width, 3) + 1], top[upTo(S::width, 3) + 1];
  T row[upTo(S::height * S::C, 3)], left[upTo(S::height * S::C, 3)], corner[upTo(S::C, 3)];
};
template <class S>
struct SmallState<S, None> {};

// A SmallPlace is where a thread works.
struct SmallPlace {
  int lane, warp;
  int tile, tx, ty;  // of its image
  int x, y;          // of the thread's first value
  int valuesLeft, rowsLeft;
};

// forget keeps the compiler from holding what it made of pixels in registers, where these are smaller.
template <class T, class P, int Rows, int N>
__device__ inline void forget(P p[Rows][N]) {
  if constexpr (sizeof(P) < 8 && sizeof(T) == 8 && sizeof(P) * N % 4 == 0) {
#pragma unroll
    for (int r = 0; r < Rows; r++) {
      u32 w[N * sizeof(P) / 4];
      memcpy(w, p[r], sizeof w);
#pragma unroll
      for (u32& word : w) asm volatile("" : "+r"(word));
      memcpy(p[r], w, sizeof w);
    }
  }
}

// smallSums adds up the rows and columns of each warp.
template <class S, class T, class Op>
__device__ inline void smallSums(SmallState<S, T>& state, const typename S::P p[S::RW][S::VX], Op op, SmallPlace at) {
  constexpr int C = S::C, VX = S::VX, RW = S::RW;
  typedef typename Narrow<typename S::P, T, Op>::Sum N;
  const typename Narrow<typename S::P, T, Op>::Summand summand{(N)op.offset};
  N sums[VX] = {}, rows[C][RW];
#pragma unroll
  for (int r = 0; r < RW; r++) {
    N v[VX];
#pragma unroll
    for (int k = 0; k < VX; k++) {
      v[k] = summand(p[r][k]);
      sums[k] += v[k];
    }
#pragma unroll
    for (int c = 0; c < C; c++) {
      rows[c][r] = v[c];
#pragma unroll
      for (int k = c + C; k < VX; k += C) rows[c][r] += v[k];
    }
  }
  T wide[VX];
#pragma unroll
  for (int k = 0; k < VX; k++) wide[k] = (T)sums[k];
  storeVector<T, VX>(&state.above[at.warp][at.lane * VX], wide);
#pragma unroll
  for (int c = 0; c < C; c++) {
    const N sum = sumRows<N, RW>(rows[c], at.lane);
    if ((at.lane & (32 / RW - 1)) == 0) state.row[(at.warp * RW + sumOf<RW>(at.lane)) * C + c] = (T)sum;
  }
}

// smallColumns adds up the columns of the tile.
template <class S, class T>
__device__ inline void smallColumns(SmallState<S, T>& state) {
  const int thread = threadIdx.x;
  if (thread >= S::width) return;
  T sum = 0;
#pragma unroll
  for (int w = 0; w < S::warps; w++) {
    const T v = state.above[w][thread];
    state.above[w][thread] = sum;
    sum += v;
  }
  state.column[thread] = sum;
}

// smallPublish publishes what others wait for.
template <class S, class T>
__device__ inline void smallPublish(SmallState<S, T>& state, const PlanePass& job, uint4* words, u32 flag, SmallPlace at) {
  typedef SmallStatus<S, T> L;
  constexpr int C = S::C;
  const int thread = threadIdx.x;
  const bool right = at.tx + 1 < job.tilesX, below = at.ty + 1 < job.tilesY;
  uint4* const mine = words + at.tile * L::words;
  T v[3];
  if (thread < S::columnTriples) {
    const int i = thread * 3;
#pragma unroll
    for (int k = 0; k < 3; k++) v[k] = i + k < S::width ? state.column[i + k] : (T)0;
    if (below) L::Word::store(mine + L::columns + thread * L::Word::words, v, flag);
  } else if (thread >= S::rowsFrom && thread < S::rowsFrom + S::rowTriples) {
    const int triple = thread - S::rowsFrom, i = triple * 3;
#pragma unroll
    for (int k = 0; k < 3; k++) v[k] = i + k < S::height * C ? state.row[i + k] : (T)0;
    if (right) L::Word::store(mine + L::rows + triple * L::Word::words, v, flag);
  } else if (thread >= S::cornerFrom && right && below) {
    const int triple = thread - S::cornerFrom >> 5;
#pragma unroll
    for (int k = 0; k < 3; k++) {
      const int c = triple * 3 + k;
      v[k] = 0;
      for (int r = at.lane; c < C && r < S::height; r += 32) v[k] += state.row[r * C + c];
      sumLanes(v[k]);
    }
    if (at.lane == 0) L::Word::store(mine + L::corner + triple * L::Word::words, v, flag);
  }
}

// smallCollect adds up what others published, in order: columns and rows of the tiles in line, and totals of all tiles
// above and left, of which a lane has those of a row.
template <class S, class T>
__device__ inline void smallCollect(SmallState<S, T>& state, const PlanePass& job, const uint4* words, u32 flag, SmallPlace at) {
  typedef SmallStatus<S, T> L;
  typedef TileStatus<T> Word;
  constexpr int W = sizeof(T) == 4 ? 8 : S::RW == 2 ? 4 : S::RW * sizeof(typename S::P) < 32 ? 8 : 6;  // read at a time, as registers allow
  const int thread = threadIdx.x, perRow = job.tilesX * L::words;
  const bool columns = thread < S::columnTriples, corner = thread >= S::cornerFrom;
  const bool rows = thread >= S::rowsFrom && thread < S::rowsFrom + S::rowTriples;
  const int triple = columns ? thread : rows ? thread - S::rowsFrom : (thread - S::cornerFrom) >> 5;
  const int n = columns ? at.ty : rows || (corner && at.lane < at.ty) ? at.tx : 0, step = columns ? perRow : L::words;
  const uint4* from = words + triple * Word::words + (columns ? at.tx * L::words + L::columns : rows ? at.ty * perRow + L::rows : at.lane * perRow + L::corner);
  T sum[3] = {};
  for (int row = at.lane;; row += 32, from += 32 * perRow) {
#pragma unroll 1
    for (int first = 0; first < n; first += W) {
      Word q[W];
      for (bool ready = false; !ready;) {
        ready = true;
#pragma unroll
        for (int u = 0; u < W; u++)
          if (first + u < n) {
            q[u] = Word::load(from + (first + u) * step);
            ready = ready && q[u].flag == flag;
          }
      }
#pragma unroll
      for (int u = 0; u < W; u++)
        if (first + u < n)
#pragma unroll
          for (int k = 0; k < 3; k++) sum[k] += q[u].v[k];
    }
    if (!corner || row + 32 >= at.ty) break;
  }
  __syncwarp();
  T* const to = columns ? state.top : rows ? state.left : state.corner;
  if (corner) {
#pragma unroll
    for (int k = 0; k < 3; k++) sumLanes(sum[k]);
  }
  if (columns || rows || (corner && at.lane == 0))
#pragma unroll
    for (int k = 0; k < 3; k++) to[triple * 3 + k] = sum[k];
}

// smallWrite scans the tile and writes the table, which begins at out.
template <class S, class T, class Op>
__device__ inline void smallWrite(SmallState<S, T>& state, const PlanePass& job, const typename S::P p[S::RW][S::VX], Op op, char* out,
                                  i64 outStride, bool aligned, SmallPlace at) {
  constexpr int C = S::C, VX = S::VX, RW = S::RW;
  typedef typename Narrow<typename S::P, T, Op>::Sum N;
  const typename Narrow<typename S::P, T, Op>::Summand summand{(N)op.offset};
  const int lane = at.lane, warp = at.warp;
  // The table's values over this thread's first row.
  T last[1][VX];
  {
    T tops[VX];
    loadVector<T, VX>(&state.above[warp][lane * VX], last[0]);
    loadVector<T, VX>(&state.top[lane * VX], tops);
#pragma unroll
    for (int k = 0; k < VX; k++) last[0][k] += tops[k];
  }
  scanWarp<T, 1, VX, C>(last, lane);
#pragma unroll
  for (int c = 0; c < C; c++) {
    T sum = 0;
#pragma unroll
    for (int first = 0; first < S::height; first += 32)
      if (first + lane < warp * RW) sum += state.left[(first + lane) * C + c];
    sumLanes(sum);
    sum += state.corner[c];
#pragma unroll
    for (int k = c; k < VX; k += C) last[0][k] += sum;
  }
  if (job.carry) {  // from a band above
#pragma unroll
    for (int k = 0; k < VX; k++)
      if (k < at.valuesLeft) last[0][k] += ((const T*)out)[C + at.x + k];
  }

  T* const line = state.above[warp];  // read by nobody else from here on
  const int chunkLeft = at.valuesLeft + lane * VX;  // values from the tile's first on
  const bool whole = aligned && VX == 4 && chunkLeft >= S::width;
  T* to = (T*)(out + (i64)(at.y + 1) * outStride) + C + at.tx * S::width;
  constexpr int R = sizeof(N) == 4 && RW >= 4 ? 4 : 2;  // rows side by side, so that one's shuffles fill the other's waiting
#pragma unroll
  for (int first = 0; first < RW; first += R) {
    N value[R][VX];
#pragma unroll
    for (int r = 0; r < R; r++)
#pragma unroll
      for (int k = 0; k < VX; k++) value[r][k] = summand(p[first + r][k]);
    scanWarp<N, R, VX, C>(value, lane);
#pragma unroll
    for (int r = 0; r < R; r++) {
      const bool inside = first + r < at.rowsLeft;
#pragma unroll
      for (int k = 0; k < VX; k++) last[0][k] += (T)value[r][k] + state.left[(warp * RW + first + r) * C + k % C];
      if (whole) {
        constexpr int words = sizeof(T) * VX / 16;
        uint4 q[words + 1];
        memcpy(q, last[0], sizeof(T) * VX);
        uint4* at16 = (uint4*)to + lane;
        if constexpr (words == 2) {
          // Neighbours swap halves, so that each store fills sectors of 32 bytes.
          swapWords(q, lane);
          at16 += lane & ~1;
        }
#pragma unroll
        for (int k = 0; k < words; k++)
          if (inside) at16[2 * k] = q[k];
      } else {
        // Through shared memory, so that neighbouring lanes write neighbouring values.
        __syncwarp();
#pragma unroll
        for (int k = 0; k < VX; k++) line[lane * VX + k] = last[0][k];
        __syncwarp();
#pragma unroll
        for (int k = 0; k < VX; k++)
          if (k * 32 + lane < chunkLeft && inside) to[k * 32 + lane] = line[k * 32 + lane];
      }
      to = (T*)((char*)to + outStride);
    }
  }
  // Column 0, and row 0 where it is not carried from a band above.
  if (at.tx == 0)
    for (int i = lane; i < RW * C; i += 32)
      if (i / C < at.rowsLeft) ((T*)(out + (i64)(at.y + 1 + i / C) * outStride))[i % C] = 0;
  if (at.ty == 0 && !job.carry) {
    const int thread = threadIdx.x;
    if (thread < S::width && at.tx * S::width + thread < job.width) ((T*)out)[C + at.tx * S::width + thread] = 0;
    if (at.tx == 0 && thread < C) ((T*)out)[thread] = 0;
  }
}

template <class S, class T, class Q, class Op>
__device__ inline void smallPass(const PlanePass& job) {
  typedef typename S::P P;
  constexpr int VX = S::VX, RW = S::RW;
  constexpr bool hasSquares = !Same<Q, None>::value;
  typedef typename Pick<hasSquares, Q, T>::type Square;
  __shared__ SmallState<S, T> sums;
  __shared__ SmallState<S, Q> squares;
  __shared__ u32 drawn;
  const int thread = threadIdx.x;

  if (thread == 0) drawn = atomicAdd(job.tickets, 1) - job.base;
  __syncthreads();
  const int perImage = job.tilesX * job.tilesY, image = drawn / perImage;
  SmallPlace at;
  at.lane = thread & 31, at.warp = thread >> 5;
  at.tile = drawn % perImage, at.tx = at.tile % job.tilesX, at.ty = at.tile / job.tilesX;
  at.x = at.tx * S::width + at.lane * VX, at.y = at.ty * S::height + at.warp * RW;
  at.valuesLeft = job.width - at.x, at.rowsLeft = job.height - at.y;
  uint4* const sumWords = job.status + (i64)image * perImage * SmallStatus<S, T>::words;
  uint4* const squareWords = job.status + job.squaresStatus + (i64)image * perImage * SmallStatus<S, Square>::words;
  const u32 flag = job.epoch | kPrefix;

  // Pixels, zeros outside the image.
  P p[RW][VX] = {};
  const char* from = job.in + image * job.inBatch + (i64)at.y * job.inStride + (i64)at.x * (int)sizeof(P);
#pragma unroll
  for (int r = 0; r < RW; r++, from += job.inStride)
    if (r < at.rowsLeft) {
      if (job.inAligned && VX == 4 && at.valuesLeft >= VX) {
        loadVector<P, VX>((const P*)from, p[r]);
      } else {
#pragma unroll
        for (int k = 0; k < VX; k++)
          if (k < at.valuesLeft) p[r][k] = ((const P*)from)[k];
      }
    }
  char* const out = job.out + image * job.outBatch;
  char* const squared = job.squares + image * job.squaresBatch;

  const Op op{(T)job.offset};
  const Squared<Square> square{(Square)job.offset};
  smallSums<S, T>(sums, p, op, at);
  if constexpr (hasSquares) smallSums<S, Q>(squares, p, square, at);
  forget<T, P, RW, VX>(p);
  __syncthreads();
  smallColumns<S, T>(sums);
  if constexpr (hasSquares) smallColumns<S, Q>(squares);
  __syncthreads();
  smallPublish<S, T>(sums, job, sumWords, flag, at);
  if constexpr (hasSquares) smallPublish<S, Q>(squares, job, squareWords, flag, at);
  smallCollect<S, T>(sums, job, sumWords, flag, at);
  if constexpr (hasSquares) smallCollect<S, Q>(squares, job, squareWords, flag, at);
  __syncthreads();
  smallWrite<S, T>(sums, job, p, op, out, job.outStride, job.outAligned, at);
  if constexpr (!hasSquares) return;
  forget<Q, P, RW, VX>(p);
  if constexpr (hasSquares) smallWrite<S, Q>(squares, job, p, square, squared, job.squaresStride, job.squaresAligned, at);
}

template <class S, class T>
struct SmallWords { static constexpr int value = SmallStatus<S, T>::words; };
template <class S>
struct SmallWords<S, None> { static constexpr int value = 0; };

}  // namespace

// A kernel, and shape_ with its name for the host.
#define BOXSUM_SMALL(name, S, T, Q)                                                                                                      \
  extern "C" __device__ PlaneShape shape_##name = {S::width, S::height, S::threads, 0, SmallWords<S, T>::value, SmallWords<S, Q>::value, \
                                                       (int)sizeof(PlanePass)};                                                          \
  extern "C" __global__ void __launch_bounds__(S::threads, 2) name(const __grid_constant__ PlanePass job) {                               \
    smallPass<S, T, Q, Summed<T>::Op>(job);                                                                                              \
  }

// Flat tiles for images that would not occupy the device otherwise, and higher ones.
#define BOXSUM_SMALL_OF(P, T, C)                                                 \
  typedef SmallTile<P, C, 2> Flat_##P##_##T##_c##C;                              \
  typedef SmallTile<P, C, sizeof(T) == 4 ? 8 : 4> Small_##P##_##T##_c##C;        \
  BOXSUM_SMALL(flat_##P##_##T##_c##C, Flat_##P##_##T##_c##C, T, None)            \
  BOXSUM_SMALL(small_##P##_##T##_c##C, Small_##P##_##T##_c##C, T, None)
// Tiles as high as registers allow, for images of one channel.
#define BOXSUM_TALL_OF(P, T)                                        \
  typedef SmallTile<P, 1, sizeof(T) == 4 ? 16 : 8> Tall_##P##_##T;  \
  BOXSUM_SMALL(tall_##P##_##T##_c1, Tall_##P##_##T, T, None)
#define BOXSUM_SMALL_SUMS(P, T) \
  BOXSUM_SMALL_OF(P, T, 1) BOXSUM_SMALL_OF(P, T, 2) BOXSUM_SMALL_OF(P, T, 3) BOXSUM_SMALL_OF(P, T, 4) BOXSUM_TALL_OF(P, T)
// With squares, of one channel.
#define BOXSUM_SMALL_SQUARES(P, T, Q)                           \
  typedef SmallTile<P, 1, 4> Small_##P##_##T##_##Q;             \
  typedef SmallTile<P, 1, 8> Tall_##P##_##T##_##Q;              \
  BOXSUM_SMALL(small_##P##_##T##_##Q##_c1, Small_##P##_##T##_##Q, T, Q) \
  BOXSUM_SMALL(tall_##P##_##T##_##Q##_c1, Tall_##P##_##T##_##Q, T, Q)
