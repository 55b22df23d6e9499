// The tiles of a plane: how a block works on one, what it knows of it, what it
// publishes, and in which order tiles are drawn.
#pragma once

#include "lookback.h"
#include "jobs/plane_pass.h"

namespace {

// ValuesOf is the number of values that a lane has of a row: whole pixels, in as few words as shared memory has room for.
template <class P, int C>
struct ValuesOf {
#if __CUDA_ARCH__ >= 900
  static constexpr bool small = sizeof(P) <= 2;
#else
  static constexpr bool small = sizeof(P) == 1;
#endif
  static constexpr int value = C != 3 ? 4 : small ? 12 : 6;
};

// A PlaneTile is how a block works on a tile: WX×WY warps that scan, each on RW
// rows of 32 lanes with VX values each. Widths count values, not pixels.
template <class Pixel, int Channels, int WarpsX, int WarpsY, int RowsPerWarp, int Stages, int ReduceWarps,
          int Values = ValuesOf<Pixel, Channels>::value>
struct PlaneTile {
  typedef Pixel P;
  static constexpr int C = Channels, WX = WarpsX, WY = WarpsY, RW = RowsPerWarp;
  static constexpr int VX = Values;
  static constexpr int chunk = 32 * VX, width = WX * chunk, height = WY * RW;
  static constexpr int stages = Stages;  // tiles in shared memory
  // Values in an element of the tensor map: boxes are at most 256 of them wide.
  static constexpr int perElement = width <= 256 ? 1 : width <= 512 ? 2 : 4;
  // A thread looks back for each triple of rows and of columns, and a warp for the corner.
  static constexpr int rowTriples = (height * C + 2) / 3, columnTriples = (width + 2) / 3, cornerTriples = (C + 2) / 3;
  static constexpr int rowThreads = upTo(rowTriples, 32), columnThreads = upTo(columnTriples, 32);
  static constexpr int scanThreads = WX * WY * 32, reduceThreads = ReduceWarps * 32, lookBackThreads = rowThreads + columnThreads + 32;
  static constexpr int threads = scanThreads + reduceThreads + lookBackThreads + 32;
};

// A TileState is what a block knows of a tile: first its own sums, then what look-back found.
template <class S, class T>
struct TileState {
  alignas(16) T above[S::WY][S::width];           // sums of each column in each row of warps, then above it
  alignas(16) T bottom[upTo(S::width, 3) + 1];    // the last row of the tile's own table, chunk by chunk
  alignas(16) T top[upTo(S::width, 3)];           // the table row over the tile, as far as its own strip goes
  alignas(16) T rows[S::WX][upTo(S::height * S::C, 12)];  // sums of each row up to the end of each chunk; the last turn
                                                          // into what lies left of the tile
  T corner[upTo(S::C, 3)];                        // sum of what is above and left
};

// A Place is where a tile lies.
struct Place {
  int image, x, y;  // in tiles; image < 0: there are no more
  int left, above;  // how many tiles come before it, in its row and in its column
  int flags;
};

constexpr int kReduceBarrier = 1, kLookBackBarrier = 2, kRowBarrier = 3;  // named barriers among these threads

constexpr int kLastOfRow = 1 << 28, kLastOfColumn = 1 << 29;
constexpr int kCornerFromLeft = 1 << 30;  // nothing is above, but something to the upper left
constexpr int kPublishesRight = (int)0x80000000;     // the next tile is such a one
constexpr int kCornerFromAbove = 1 << 0;
constexpr int kPublishesCorner = 1 << 1;  // to the tile below

// A StatusLayout is where the statuses of a tile lie.
template <class S, class T>
struct StatusLayout {
  typedef TileStatus<T> Word;
  static constexpr int w = Word::words;
  static constexpr int words = (S::rowTriples + S::columnTriples + 2 * S::cornerTriples) * w;  // of 16 bytes, a tile
  // What a tile publishes begins here.
  __device__ static uint4* of(const PlanePass& job, uint4* status, Place at) {
    return status + (((i64)at.image * job.tilesY + at.y) * job.tilesX + at.x) * words;
  }
  __device__ static uint4* rows(uint4* tile, int triple) { return tile + triple * w; }
  __device__ static uint4* columns(uint4* tile, int triple) { return tile + (S::rowTriples + triple) * w; }
  __device__ static uint4* corner(uint4* tile, int triple) { return tile + (S::rowTriples + S::columnTriples + triple) * w; }
  __device__ static uint4* right(uint4* tile, int triple) { return corner(tile, S::cornerTriples + triple); }
};

// listedPlace is where ticket t works when not all tiles are wanted, and the host lists those that are. Of the tiles
// in a row, and of those in a column, all between the first and the last are.
__device__ inline Place listedPlace(const PlanePass& job, u32 t) {
  const int4 entry = job.tileList[t % job.tileCount];
  Place at{(int)(t / job.tileCount), entry.x, entry.y, entry.z & (kLastOfRow - 1), entry.w, entry.z & ~(kLastOfRow - 1)};
  if (at.above > 0) at.flags |= kCornerFromAbove;
  if (!(at.flags & kLastOfColumn)) at.flags |= kPublishesCorner;
  return at;
}

// orderedPlace is where ticket t works, for a whole warp. job.turn images take turns.
// Within one, tiles go row by row in strips, or along diagonals: a row of tiles
// begins when the one above is 1 << job.lag tiles ahead. The steeper they are, the
// nearer is what a tile looks back for; the flatter, the better for the memory.
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
    // How many rows lie before diagonal d whole, and how many tiles do.
    auto rowsAbove = [&](u32 d) { return d < wide ? 0 : min(high, (d - wide >> lag) + 1); };
    auto before = [&](u32 d) {
      const u32 whole = rowsAbove(d), begun = min(high, (d + (1u << lag) - 1) >> lag), part = begun - whole;
      return whole * wide + part * d - (part * (begun + whole - 1) / 2 << lag);
    };
    // The last diagonal with no more than t tiles before it, 32 guesses at a time.
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
