// How a block processes a tile of all slices, and its carry warps: they load the sums that the
// neighboring tiles published, pass the sums of each warp's rows to the warps below, and publish.
#pragma once

#include "async.h"
#include "lookback.h"
#include "volume_rows.h"
#include "jobs/volume_pass.h"

namespace {

// A VolumeTile is how a block processes a tile: Warps that scan, each Height rows; Stages slices of
// voxels that are in shared memory or being loaded; CarryWarps that take turns. If Bulk is set,
// sums go through shared memory, from which chips of 9.0 copy in hardware.
template <class Pixel, class Sum, int Warps, int Height, int Stages, int CarryWarps, bool Bulk = false>
struct VolumeTile {
  typedef Pixel P;
  typedef Sum T;
  static constexpr int warps = Warps, rows = Height, stages = Stages, carryWarps = CarryWarps;
  static constexpr bool bulk = Bulk;
  static constexpr int height = Warps * Height, scanThreads = Warps * 32, threads = scanThreads + CarryWarps * 32;
  static constexpr int values = EpochWord<T>::values;
  static constexpr int leftWords = height / values, topWords = kWidth / values, words = leftWords + topWords;  // of a tile and slice
  static_assert(CarryWarps >= 2, "an mbarrier must not pass two phases while someone waits for it");
  static_assert(Height % values == 0 && Height * sizeof(T) % 16 == 0 && Warps <= 32);
  struct Memory {
    alignas(128) P stage[Stages][height][kWidth];
    alignas(128) T out[Bulk ? 2 : 0][height][kWidth];  // sums that are being copied out
    alignas(16) T above[2][Warps][kWidth];  // first a warp's last row, then the sums above its first
    alignas(16) T end[2][height];           // the last column of each warp's own table
    alignas(16) T left[2][height];
    Mbarrier scanned[CarryWarps], carried[CarryWarps];
    u32 ticket;
  };
};

// carrySlices carries the slices assigned to one carry warp.
template <class M>
__device__ inline void carrySlices(const VolumePass& job, typename M::Memory& m, uint4* edges, int steps, int x, int y, int first, int lane) {
  typedef typename M::T T;
  typedef EpochWord<T> W;
  constexpr int lefts = (M::leftWords + 31) / 32, tops = M::topWords / 32, all = lefts + tops;  // words of a lane
  const i64 step = M::words;
  const i64 perTile = (job.slabDepth + 1) * step;
  const bool hasRight = x + 1 < job.tilesX, hasBelow = y + 1 < job.tilesY;
  edges += first * step;
  for (int z = first; z < steps; z += M::carryWarps, edges += M::carryWarps * step) {
    const uint4* fromLeft = edges - perTile + lane;
    const uint4* fromTop = edges - job.tilesX * perTile + M::leftWords + lane;
    T found[all][W::values];
    bool missing[all];
#pragma unroll
    for (int k = 0; k < all; k++) {
      missing[k] = k < lefts ? x > 0 && k * 32 + lane < M::leftWords : y > 0;
#pragma unroll
      for (int v = 0; v < W::values; v++) found[k][v] = 0;
    }
    // Loads all missing words at once.
    for (bool again = true; again;) {
      uint4 q[all];
#pragma unroll
      for (int k = 0; k < all; k++)
        if (missing[k]) q[k] = loadRelaxed(k < lefts ? fromLeft + k * 32 : fromTop + (k - lefts) * 32);
      again = false;
#pragma unroll
      for (int k = 0; k < all; k++)
        if (missing[k]) {
          missing[k] = !W::unpack(q[k], job.epoch, found[k]);
          again = again || missing[k];
        }
    }
    __syncwarp();
    const int phase = z % M::carryWarps, slot = z & 1;
    m.scanned[phase].wait(z / M::carryWarps);

    // To the right: the sum to the left of a row, the row itself, and the rows of the warps
    // above.
    T above = 0;
    if (lane < M::warps) above = m.end[slot][lane * M::rows + M::rows - 1];
#pragma unroll
    for (int d = 1; d < M::warps; d <<= 1) {
      const T u = __shfl_up_sync(kAll, above, d);
      if (lane >= d) above += u;
    }
    above = __shfl_up_sync(kAll, above, 1);
    if (lane == 0) above = 0;
#pragma unroll
    for (int k = 0; k < lefts; k++) {
      const int word = k * 32 + lane, row = word * W::values;
      const T over = __shfl_sync(kAll, above, row / M::rows);
      if (word < M::leftWords) {
        T right[W::values];
#pragma unroll
        for (int v = 0; v < W::values; v++) {
          right[v] = found[k][v] + (m.end[slot][row + v] + over);
          m.left[slot][row + v] = found[k][v];
        }
        if (hasRight) storeRelaxed(edges + word, W::pack(right, job.epoch));
      }
    }
    // Down: the sums at the top, and the last rows of the warps.
    T sum[kColumns];
    memcpy(sum, found[lefts], sizeof sum);
#pragma unroll 4
    for (int w = 0; w < M::warps; w++) {
      T last[kColumns];
      loadShared<T>(m.above[slot][w], lane, last);
      storeShared<T>(m.above[slot][w], lane, sum);
#pragma unroll
      for (int k = 0; k < kColumns; k++) sum[k] += last[k];
    }
    __syncwarp();
    if (lane == 0) m.carried[phase].arrive();
    if (hasBelow) {
      const T corner = __shfl_sync(kAll, found[(M::leftWords - 1) / 32][W::values - 1], (M::leftWords - 1) % 32);
#pragma unroll
      for (int k = 0; k < kColumns; k++) sum[k] += corner;
#pragma unroll
      for (int k = 0; k < tops; k++) storeRelaxed(edges + M::leftWords + k * 32 + lane, W::pack(sum + k * W::values, job.epoch));
    }
  }
}

}  // namespace
