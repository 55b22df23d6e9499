// Tables of small images: all tiles are processed at once, one per block, without a chain from tile to tile. A block
// publishes the sums of its rows and columns and its total, adds up those of all tiles to the left and above, and writes.
//
// Statuses carry the launch's epoch, see lookback.h, so that a block waits only for what it reads. Blocks draw their tiles
// in order and wait only for earlier ones, so no launch can hang. Additions have a fixed order, so floats have the same
// bits every time.
#pragma once

#include "lookback.h"
#include "warp.h"
#include "jobs/plane_pass.h"

namespace {

struct None {};  // no squares

template <class Pixel, int Channels, int RowsPerWarp, int Tables = 1>
struct SmallTile {
  typedef Pixel P;
  static constexpr int C = Channels, RW = RowsPerWarp, warps = 8, threads = warps * 32;
  static constexpr int team = threads / Tables;  // threads that collect the sums for a table
  static constexpr int VX = C == 3 ? 3 : 4, width = 32 * VX, height = warps * RW;
  static constexpr int rowTriples = (height * C + 2) / 3, columnTriples = (width + 2) / 3, cornerTriples = (C + 2) / 3;
  // The first threads collect columns, the next rows, and one warp at the end each triple of the
  // corner.
  static constexpr int rowsFrom = upTo(columnTriples, 32), cornerFrom = team - 32 * cornerTriples;
  static_assert(rowsFrom + rowTriples <= cornerFrom, "a thread for each triple");
};

// SmallStatus is the layout of a tile's statuses. Sums have a type that holds the tile's total:
// Narrow is safe up to 2^15 pixels.
template <class S, class T, class Op>
struct SmallStatus {
  static_assert(S::width * S::height <= 1 << 15, "sums of a tile may wrap");
  typedef typename Narrow<typename S::P, T, Op>::Sum Sum;
  typedef TileStatus<Sum> Word;
  static constexpr int rows = 0, columns = S::rowTriples * Word::words, corner = columns + S::columnTriples * Word::words;
  static constexpr int words = corner + S::cornerTriples * Word::words;
};

// A SmallState is the state that a block keeps of its tile, for sums or for squares.
template <class S, class T>
struct SmallState {
  alignas(16) T above[S::warps][S::width];  // sums of columns in each warp's rows, then the sums above them
  alignas(16) T column[upTo(S::width, 3) + 1], top[upTo(S::width, 3) + 1];
  T row[upTo(S::height * S::C, 3)], left[upTo(S::height * S::C, 3)], corner[upTo(S::C, 3)];
};
template <class S>
struct SmallState<S, None> {};

// A SmallPlace is the position of a thread.
struct SmallPlace {
  int lane, warp;
  int tile, tx, ty;  // in the image
  int x, y;          // of the thread's first value
  int valuesLeft, rowsLeft;
};

// forget makes the compiler keep pixels in registers instead of the wider values computed from
// them.
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

// ByWords reports whether a thread's part of a row is one word of four bytes, which dot products
// can sum.
template <class S, class N>
struct ByWords { static constexpr bool value = Same<typename S::P, u8>::value && Same<N, u32>::value && S::C == 1; };

// smallSums adds up the rows and columns of each warp.
template <class S, class T, class Op>
__device__ inline void smallSums(SmallState<S, T>& state, const typename S::P p[S::RW][S::VX], Op op, SmallPlace at) {
  constexpr int C = S::C, VX = S::VX, RW = S::RW;
  typedef typename Narrow<typename S::P, T, Op>::Sum N;
  const typename Narrow<typename S::P, T, Op>::Summand summand{(N)op.offset};
  N sums[VX] = {}, rows[C][RW];
  if constexpr (ByWords<S, N>::value) {
    constexpr bool squared = Same<typename Narrow<typename S::P, T, Op>::Summand, Squared<u32>>::value;
    u32 even = 0, odd = 0;  // two columns each
#pragma unroll
    for (int r = 0; r < RW; r++) {
      u32 word;
      memcpy(&word, p[r], 4);
      rows[0][r] = __dp4a(word, squared ? word : 0x01010101u, 0u);
      if constexpr (squared) {
#pragma unroll
        for (int k = 0; k < VX; k++) sums[k] += summand(p[r][k]);
      } else {
        even += word & 0x00ff00ff, odd += word >> 8 & 0x00ff00ff;
      }
    }
    if constexpr (!squared) sums[0] = even & 0xffff, sums[1] = odd & 0xffff, sums[2] = even >> 16, sums[3] = odd >> 16;
  } else {
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
__device__ inline void smallColumns(SmallState<S, T>& state, int thread) {
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

// smallPublish publishes the sums that other tiles need.
template <class S, class T, class Op>
__device__ inline void smallPublish(SmallState<S, T>& state, const PlanePass& job, uint4* words, u32 flag, SmallPlace at, int thread) {
  typedef SmallStatus<S, T, Op> L;
  typedef typename L::Sum N;
  constexpr int C = S::C;
  const bool right = at.tx + 1 < job.tilesX, below = at.ty + 1 < job.tilesY;
  uint4* const mine = words + at.tile * L::words;
  N v[3];
  if (thread < S::columnTriples) {
    const int i = thread * 3;
#pragma unroll
    for (int k = 0; k < 3; k++) v[k] = i + k < S::width ? (N)state.column[i + k] : (N)0;
    if (below) L::Word::store(mine + L::columns + thread * L::Word::words, v, flag);
  } else if (thread >= S::rowsFrom && thread < S::rowsFrom + S::rowTriples) {
    const int triple = thread - S::rowsFrom, i = triple * 3;
#pragma unroll
    for (int k = 0; k < 3; k++) v[k] = i + k < S::height * C ? (N)state.row[i + k] : (N)0;
    if (right) L::Word::store(mine + L::rows + triple * L::Word::words, v, flag);
  } else if (thread >= S::cornerFrom && right && below) {
    const int triple = thread - S::cornerFrom >> 5;
#pragma unroll
    for (int k = 0; k < 3; k++) {
      const int c = triple * 3 + k;
      T sum = 0;
      for (int r = at.lane; c < C && r < S::height; r += 32) sum += state.row[r * C + c];
      sumLanes(sum);
      v[k] = (N)sum;
    }
    if (at.lane == 0) L::Word::store(mine + L::corner + triple * L::Word::words, v, flag);
  }
}

// SmallFull reports whether pixels and their sums take most registers: tiles of 64 rows with
// statuses of 8 bytes.
template <class S, class N>
struct SmallFull { static constexpr bool value = sizeof(N) == 8 && S::RW == 8; };

// SmallAtOnce is the number of statuses read at a time, limited by registers.
template <class S, class N, bool Squares>
struct SmallAtOnce {
  static constexpr int rowBytes = S::RW * sizeof(typename S::P);
  static constexpr int value = SmallFull<S, N>::value ? 1 : Squares || (sizeof(N) == 8 && S::RW == 2) ? 4 : sizeof(N) == 4 || rowBytes < 32 ? 8 : 6;
};

// smallCollect adds up the published sums in order: columns and rows of the tiles in line, and the
// totals of all tiles above and to the left, one row of tiles per lane.
template <class S, class T, class Op, bool Squares>
__device__ inline void smallCollect(SmallState<S, T>& state, const PlanePass& job, const uint4* words, u32 flag, SmallPlace at, int thread) {
  typedef SmallStatus<S, T, Op> L;
  typedef typename L::Word Word;
  constexpr int W = SmallAtOnce<S, typename L::Sum, Squares>::value;
  const int perRow = job.tilesX * L::words;
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
          for (int k = 0; k < 3; k++) sum[k] += (T)q[u].v[k];
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

// A SmallScan scans a thread's rows over the warp. If squares are computed too, 4-byte results are
// kept in registers, so that the scan overlaps with the wait for statuses.
template <class S, class T, class Op, bool Squares>
struct SmallScan {
  typedef typename S::P P;
  typedef typename Narrow<P, T, Op>::Sum N;
  static constexpr bool kept = Squares && sizeof(N) == 4;
  static constexpr int R = kept ? S::RW : sizeof(N) == 4 && S::RW >= 4 ? 4 : 2;  // rows scanned together, so that their shuffles overlap
  N value[R][S::VX];
  __device__ void rows(const P p[][S::VX], Op op, int lane) {
    typedef typename Narrow<P, T, Op>::Summand Summand;
    if constexpr (ByWords<S, N>::value) {
      constexpr bool squared = Same<Summand, Squared<u32>>::value;
      u32 word[R], before[R];
#pragma unroll
      for (int r = 0; r < R; r++) {
        memcpy(&word[r], p[r], 4);
        before[r] = __dp4a(word[r], squared ? word[r] : 0x01010101u, 0u);
      }
#pragma unroll
      for (int d = 1; d < 32; d *= 2)
#pragma unroll
        for (int r = 0; r < R; r++) {
          const u32 come = __shfl_up_sync(kAll, before[r], d);
          if (lane >= d) before[r] += come;
        }
#pragma unroll
      for (int r = 0; r < R; r++) {
        value[r][3] = before[r];
        before[r] -= __dp4a(word[r], squared ? word[r] : 0x01010101u, 0u);
#pragma unroll
        for (int k = 0; k < 3; k++) value[r][k] = __dp4a(word[r], (squared ? word[r] : 0x01010101u) & (0xffffffu >> 8 * (2 - k)), before[r]);
      }
    } else {
      const Summand summand{(N)op.offset};
#pragma unroll
      for (int r = 0; r < R; r++)
#pragma unroll
        for (int k = 0; k < S::VX; k++) value[r][k] = summand(p[r][k]);
      scanWarp<N, R, S::VX, S::C>(value, lane);
    }
  }
};

// smallWrite scans the tile and writes the table, which begins at out.
template <class S, class T, class Op, class Scan>
__device__ inline void smallWrite(SmallState<S, T>& state, const PlanePass& job, const typename S::P p[S::RW][S::VX], Op op, Scan& scan, char* out,
                                  i64 outStride, bool aligned, SmallPlace at) {
  constexpr int C = S::C, VX = S::VX, RW = S::RW, R = Scan::R;
  const int lane = at.lane, warp = at.warp;
  // The table's values above this thread's first row.
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
  if (job.carry) {  // row 0 comes from a band above
#pragma unroll
    for (int k = 0; k < VX; k++)
      if (k < at.valuesLeft) last[0][k] += ((const T*)out)[C + at.x + k];
  }

  T* const line = state.above[warp];  // not read by other warps any more
  const int chunkLeft = at.valuesLeft + lane * VX;  // number of values from the tile's first to the image's right edge
  const bool whole = aligned && VX == 4 && chunkLeft >= S::width;
  T* to = (T*)(out + (i64)(at.y + 1) * outStride) + C + at.tx * S::width;
#pragma unroll
  for (int first = 0; first < RW; first += R) {
    if constexpr (!Scan::kept) scan.rows(p + first, op, lane);
#pragma unroll
    for (int r = 0; r < R; r++) {
      const bool inside = first + r < at.rowsLeft;
#pragma unroll
      for (int k = 0; k < VX; k++) last[0][k] += (T)scan.value[r][k] + state.left[(warp * RW + first + r) * C + k % C];
      if (whole) {
        constexpr int words = sizeof(T) * VX / 16;
        uint4 q[words + 1];
        memcpy(q, last[0], sizeof(T) * VX);
        uint4* at16 = (uint4*)to + lane;
        if constexpr (words == 2) {
          // Neighboring lanes swap halves, so that each store fills 32-byte sectors.
          swapWords(q, lane);
          at16 += lane & ~1;
        }
#pragma unroll
        for (int k = 0; k < words; k++)
          if (inside) {
            if constexpr (SmallFull<S, typename Scan::N>::value) __stcs(at16 + 2 * k, q[k]);  // faster for these
            else at16[2 * k] = q[k];
          }
      } else {
        // Go through shared memory, so that neighboring lanes write neighboring values.
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
  // Zeros in column 0 and, unless it is carried from a band above, row 0.
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
  uint4* const sumWords = job.status + (i64)image * perImage * SmallStatus<S, T, Op>::words;
  uint4* const squareWords = job.status + job.squaresStatus + (i64)image * perImage * SmallStatus<S, Square, Squared<Square>>::words;
  const u32 flag = job.epoch | kPrefix;

  // Pixels, with zeros outside of the image.
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
  SmallScan<S, T, Op, hasSquares> scan;
  SmallScan<S, Square, Squared<Square>, hasSquares> squareScan;
  // Half of the threads collect sums for the squares, so that no thread does both.
  const bool forSums = thread < S::team;
  const int mine = thread % S::team;
  smallSums<S, T>(sums, p, op, at);
  if constexpr (hasSquares) smallSums<S, Q>(squares, p, square, at);
  forget<T, P, RW, VX>(p);
  __syncthreads();
  if (forSums) smallColumns<S, T>(sums, mine);
  else if constexpr (hasSquares) smallColumns<S, Q>(squares, mine);
  __syncthreads();
  if (forSums) smallPublish<S, T, Op>(sums, job, sumWords, flag, at, mine);
  else if constexpr (hasSquares) smallPublish<S, Q, Squared<Q>>(squares, job, squareWords, flag, at, mine);
  if constexpr (scan.kept) scan.rows(p, op, at.lane);
  if constexpr (squareScan.kept) squareScan.rows(p, square, at.lane);
  if (forSums) smallCollect<S, T, Op, hasSquares>(sums, job, sumWords, flag, at, mine);
  else if constexpr (hasSquares) smallCollect<S, Q, Squared<Q>, true>(squares, job, squareWords, flag, at, mine);
  __syncthreads();
  smallWrite<S, T>(sums, job, p, op, scan, out, job.outStride, job.outAligned, at);
  if constexpr (!hasSquares) return;
  forget<Q, P, RW, VX>(p);
  if constexpr (hasSquares) smallWrite<S, Q>(squares, job, p, square, squareScan, squared, job.squaresStride, job.squaresAligned, at);
}

template <class S, class T, class Op>
struct SmallWords { static constexpr int value = SmallStatus<S, T, Op>::words; };
template <class S>
struct SmallWords<S, None, Squared<None>> { static constexpr int value = 0; };

}  // namespace

// Declares a kernel and the variable shape_NAME that the host reads.
#define BOXSUM_SMALL(name, S, T, Q)                                                                                                      \
  extern "C" __device__ PlaneShape shape_##name = {S::width, S::height, S::threads, 0, SmallWords<S, T, Summed<T>::Op>::value, SmallWords<S, Q, Squared<Q>>::value, \
                                                       (int)sizeof(PlanePass)};                                                          \
  extern "C" __global__ void __launch_bounds__(S::threads, 2) name(const __grid_constant__ PlanePass job) {                               \
    smallPass<S, T, Q, Summed<T>::Op>(job);                                                                                              \
  }

// Flat tiles, for images too small to occupy the device otherwise, and higher ones.
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
// With squares, for one channel.
#define BOXSUM_SMALL_SQUARES(P, T, Q)                           \
  typedef SmallTile<P, 1, 4, 2> Small_##P##_##T##_##Q;          \
  typedef SmallTile<P, 1, 8, 2> Tall_##P##_##T##_##Q;           \
  BOXSUM_SMALL(small_##P##_##T##_##Q##_c1, Small_##P##_##T##_##Q, T, Q) \
  BOXSUM_SMALL(tall_##P##_##T##_##Q##_c1, Tall_##P##_##T##_##Q, T, Q)
