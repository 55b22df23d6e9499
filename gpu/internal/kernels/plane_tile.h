// The tiles of a plane: how a block processes one, the state that it keeps, the statuses that it
// publishes, and the order in which tiles are drawn.
#pragma once

#include "lookback.h"
#include "jobs/plane_pass.h"

namespace {

// ValuesOf is the number of values of a row in a lane: whole pixels, in as few words as shared
// memory has room for.
template <class P, int C>
struct ValuesOf {
#if __CUDA_ARCH__ >= 900
  static constexpr bool small = sizeof(P) <= 2;
#else
  static constexpr bool small = sizeof(P) == 1;
#endif
  static constexpr int value = C != 3 ? 4 : small ? 12 : 6;
};

// A PlaneTile is how a block processes a tile: WX×WY warps scan, each RW rows of 32 lanes with VX
// values. Widths count values, not pixels.
template <class Pixel, int Channels, int WarpsX, int WarpsY, int RowsPerWarp, int Stages, int ReduceWarps,
          int Values = ValuesOf<Pixel, Channels>::value>
struct PlaneTile {
  typedef Pixel P;
  static constexpr int C = Channels, WX = WarpsX, WY = WarpsY, RW = RowsPerWarp;
  static constexpr int VX = Values;
  static constexpr int chunk = 32 * VX, width = WX * chunk, height = WY * RW;
  static constexpr int stages = Stages;  // tiles in shared memory
  // Values in an element of the tensor map: a box is at most 256 elements wide.
  static constexpr int perElement = width <= 256 ? 1 : width <= 512 ? 2 : 4;
  // One thread looks back for each triple of rows and of columns, and one warp for each triple of
  // the corner.
  static constexpr int rowTriples = (height * C + 2) / 3, columnTriples = (width + 2) / 3, cornerTriples = (C + 2) / 3;
  static constexpr int rowThreads = upTo(rowTriples, 32), columnThreads = upTo(columnTriples, 32);
  static constexpr int scanThreads = WX * WY * 32, reduceThreads = ReduceWarps * 32, lookBackThreads = rowThreads + columnThreads + 32;
  static constexpr int threads = scanThreads + reduceThreads + lookBackThreads + 32;
};

// A TileState is the state that a block keeps of a tile: first its own sums, then the results of
// the look-back.
template <class S, class T>
struct TileState {
  alignas(16) T above[S::WY][S::width];           // sums of each column in each row of warps, then the sums above it
  alignas(16) T bottom[upTo(S::width, 3) + 1];    // the last row of the tile's own table, chunk by chunk
  alignas(16) T top[upTo(S::width, 3)];           // the table row above the tile, within the tile's strip
  // Sums of each row up to the end of each chunk. The last is replaced by the sum to the left of the tile.
  alignas(16) T rows[S::WX][upTo(S::height * S::C, 12)];
  T corner[upTo(S::C, 3)];                        // sum of everything above and to the left
};

// A Place is the position of a tile.
struct Place {
  int image, x, y;  // in tiles; image < 0: no tiles are left
  int left, above;  // number of tiles before it, in its row and in its column
  int flags;
};

constexpr int kReduceBarrier = 1, kLookBackBarrier = 2, kRowBarrier = 3;  // the named barriers of groups of warps

constexpr int kLastOfRow = 1 << 28, kLastOfColumn = 1 << 29;
constexpr int kCornerFromLeft = 1 << 30;  // the tile has none above it, but one to the upper left
constexpr int kPublishesRight = (int)0x80000000;     // the next tile has kCornerFromLeft
constexpr int kCornerFromAbove = 1 << 0;
constexpr int kPublishesCorner = 1 << 1;  // to the tile below

// A StatusLayout is the layout of a tile's statuses.
template <class S, class T>
struct StatusLayout {
  typedef TileStatus<T> Word;
  static constexpr int w = Word::words;
  static constexpr int words = (S::rowTriples + S::columnTriples + 2 * S::cornerTriples) * w;  // 16-byte words of a tile
  // of returns the first status of a tile.
  __device__ static uint4* of(const PlanePass& job, uint4* status, Place at) {
    return status + (((i64)at.image * job.tilesY + at.y) * job.tilesX + at.x) * words;
  }
  __device__ static uint4* rows(uint4* tile, int triple) { return tile + triple * w; }
  __device__ static uint4* columns(uint4* tile, int triple) { return tile + (S::rowTriples + triple) * w; }
  __device__ static uint4* corner(uint4* tile, int triple) { return tile + (S::rowTriples + S::columnTriples + triple) * w; }
  __device__ static uint4* right(uint4* tile, int triple) { return corner(tile, S::cornerTriples + triple); }
};

// listedPlace returns the tile of ticket t if the host lists the tiles to process. In each row and
// each column, the listed tiles are contiguous.
__device__ inline Place listedPlace(const PlanePass& job, u32 t) {
  const int4 entry = job.tileList[t % job.tileCount];
  Place at{(int)(t / job.tileCount), entry.x, entry.y, entry.z & (kLastOfRow - 1), entry.w, entry.z & ~(kLastOfRow - 1)};
  if (at.above > 0) at.flags |= kCornerFromAbove;
  if (!(at.flags & kLastOfColumn)) at.flags |= kPublishesCorner;
  return at;
}

// orderedPlace returns the tile of ticket t; the whole warp calls it. job.turn images are
// interleaved. In an image, tiles go row by row in strips, or along diagonals: a row of tiles
// starts when the one above is 1 << job.lag tiles ahead. Steeper diagonals shorten the look-back;
// flatter ones suit the memory better.
__device__ inline Place orderedPlace(const PlanePass& job, u32 t, int lane) {
  Place at;
  const u32 wide = job.tilesX, high = job.tilesY;
  const u32 perTurn = wide * high * job.turn, first = t / perTurn * job.turn;
  const u32 turn = min(job.turn, job.count - (int)first);
  t %= perTurn;
  at.image = first + t % turn;
  t /= turn;
  if (job.strip > 0) {
    const u32 from = t / (job.strip * high) * job.strip, across = min((u32)job.strip, wide - from);
    t -= from * high;
    at.x = from + t % across;
    at.y = t / across;
  } else {
    const int lag = job.lag;
    // The number of complete rows before diagonal d, and the number of tiles.
    auto rowsAbove = [&](u32 d) { return d < wide ? 0 : min(high, (d - wide >> lag) + 1); };
    auto before = [&](u32 d) {
      const u32 whole = rowsAbove(d), begun = min(high, (d + (1u << lag) - 1) >> lag), part = begun - whole;
      return whole * wide + part * d - (part * (begun + whole - 1) / 2 << lag);
    };
    // Finds the last diagonal with at most t tiles before it, testing 32 candidates at a time.
    u32 d = 0;
    for (u32 span = wide + (high - 1 << lag); span > 1;) {
      const u32 step = (span + 31) / 32, guess = lane * step;
      const u32 passed = __popc(__ballot_sync(kAll, guess < span && before(d + guess) <= t)) - 1;
      d += passed * step;
      span = min(step, span - passed * step);
    }
    at.y = rowsAbove(d) + t - before(d);
    at.x = d - ((u32)at.y << lag);
  }
  at.left = at.x;
  at.above = at.y;
  at.flags = (at.x + 1 == job.tilesX ? kLastOfRow : 0) | (at.y + 1 == job.tilesY ? kLastOfColumn : 0);
  if (at.x > 0) at.flags |= (at.y > 0 ? kCornerFromAbove : 0) | (at.y + 1 < job.tilesY ? kPublishesCorner : 0);
  return at;
}

}  // namespace
