// Tables of volumes for CUDA in one pass: every voxel is read once and every sum written once, in one launch.
//
// A slice of the table is the previous slice plus the plane table of the voxels between them. A block has a tile of the
// plane, and goes through all slices with its part of the table in registers. For the plane table of a slice it needs, from
// its neighbors,
//   left  for each of its rows, the sum of everything to the left, from the tile's first row down
//   top   for each of its columns, the plane table's entry in the row above the tile
// and publishes the same for the tiles to the right and below, each value with the launch's epoch, see lookback.h.
//
// Scan warps have some rows each. They scan the voxels of a slice while carry warps work on the previous slice: they load
// what the neighbors published, pass the sums of each warp's rows to the warps below, and publish. Then the scan warps
// write the previous slice. So no warp waits for work that has just begun. A tile waits only for lower tickets, which were
// drawn by blocks that are running, so no launch can hang. Additions have a fixed order, so the bits of floats do not depend
// on timing.
//
// If a slice has too few tiles, slabs of slices are processed concurrently. This takes one more read of the voxels
// beforehand: each slab begins with the plane table of the sum of all slices before it, as if that were a slice.
//
// Rows of voxels, and entries (1, y, z), are aligned to 16 bytes.
#pragma once

#include "volume_carry.h"

namespace {

// loadSlice starts the copy of a warp's voxels of a slice, with zeros outside of the volume. Values
// beyond the end of a row reach no sum that is read.
template <class M, bool Whole>
__device__ inline void loadSlice(const VolumePass& job, typename M::P* to, const char* from, int valuesLeft, int rowsLeft, int lane) {
  typedef typename M::P P;
  constexpr int bytes = kColumns * sizeof(P), piece = bytes < 16 ? bytes : 16, pieces = bytes / piece;
  from += lane * piece;
  const u32 first = sharedAddress(to) + lane * piece;
#pragma unroll
  for (int r = 0; r < M::rows; r++) {
#pragma unroll
    for (int k = 0; k < pieces; k++) {
      const int offset = k * 32 * piece;
      const u32 at = first + r * kWidth * (int)sizeof(P) + offset;
      const int take = Whole || (offset + lane * piece < valuesLeft * (int)sizeof(P) && r < rowsLeft) ? piece : 0;
      copyAsync<piece>(at, from + offset, take);
    }
    if (Whole || r + 1 < rowsLeft) from += job.inStride;  // stays within the last row
  }
}

// put writes the sums of a lane's row.
template <class T>
__device__ inline void put(T* to, const T v[kColumns], int valuesLeft) {
  if (valuesLeft >= kColumns) {
    uint4 q[sizeof(T) * kColumns / 16];
    memcpy(q, v, sizeof q);
#pragma unroll
    for (int k = 0; k < (int)sizeof(T) * kColumns / 16; k++) __stcs((uint4*)to + k, q[k]);
  } else {
#pragma unroll
    for (int k = 0; k < kColumns; k++)
      if (k < valuesLeft) __stcs(to + k, v[k]);
  }
}

// putWhole writes the sums of a row that is complete in all lanes. Pairs of lanes swap halves if a
// lane has 32 bytes, so that each store fills whole sectors.
template <class T>
__device__ inline void putWhole(T* to, const T v[kColumns], int lane) {
  constexpr int pieces = sizeof(T) * kColumns / 16;
  uint4 q[pieces];
  memcpy(q, v, sizeof q);
  if constexpr (pieces == 1) {
    __stcs((uint4*)to, q[0]);
  } else {
    const bool odd = lane & 1;
    uint4 other = odd ? q[0] : q[1];
    other.x = __shfl_xor_sync(kAll, other.x, 1);
    other.y = __shfl_xor_sync(kAll, other.y, 1);
    other.z = __shfl_xor_sync(kAll, other.z, 1);
    other.w = __shfl_xor_sync(kAll, other.w, 1);
    uint4* at = (uint4*)to - odd;
    __stcs(at, odd ? other : q[0]);
    __stcs(at + 2, odd ? q[1] : other);
  }
}
template <class M, class Op>
__device__ inline void volumePass(const VolumePass& job) {
  typedef typename M::P P;
  typedef typename M::T T;
  constexpr int R = M::rows;
  extern __shared__ __align__(128) unsigned char raw[];
  typename M::Memory& m = *(typename M::Memory*)raw;
  if (threadIdx.x == 0) {
    m.ticket = atomicAdd(job.tickets, 1) - job.base;
    for (int k = 0; k < M::carryWarps; k++) {
      m.scanned[k].init(M::warps);
      m.carried[k].init(1);
    }
  }
  __syncthreads();
  const int tiles = job.tilesX * job.tilesY, ticket = m.ticket, slab = ticket / tiles, tile = ticket % tiles;
  const int tileX = tile % job.tilesX, tileY = tile / job.tilesX;
  // The slices of the slab, and one more step if there are slices before it.
  const int firstZ = slab * job.slabDepth, endZ = min(firstZ + job.slabDepth, job.depth);
  const int before = slab > 0, steps = endZ - firstZ + before;
  uint4* edges = job.edges + (i64)ticket * (job.slabDepth + 1) * M::words;
  const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  if (warp >= M::warps) {
    carrySlices<M>(job, m, edges, steps, tileX, tileY, warp - M::warps, lane);
    return;
  }
  const int mine = warp * R, x = tileX * kWidth + lane * kColumns, y = tileY * M::height + mine;
  const int valuesLeft = job.width - x, rowsLeft = job.height - y;
  const bool whole = job.width - tileX * kWidth >= kWidth && rowsLeft >= R;
  const int rowBytes = min(kWidth, max(job.width - tileX * kWidth, 0)) / kColumns * kColumns * (int)sizeof(T);  // of lanes with all columns
  const Op op{(T)job.offset};

  // Row 0 and column 0 are zero in every slice. Slice 0 is zero unless it is carried.
  char* out = job.out + (i64)(y + 1) * job.outStride + (i64)(x + 1) * (int)sizeof(T);
  T sum[R][kColumns];
#pragma unroll
  for (int r = 0; r < R; r++) {
#pragma unroll
    for (int k = 0; k < kColumns; k++) {
      sum[r][k] = 0;
      if (job.carry && r < rowsLeft && k < valuesLeft) sum[r][k] = ((const T*)(out + r * job.outStride))[k];
    }
    if (!job.carry && !before && r < rowsLeft) put<T>((T*)(out + r * job.outStride), sum[r], valuesLeft);
  }
  const int columnRow = job.columnBytes == 32 ? lane / 2 : lane;
  const bool firstRow = tileY == 0 && warp == 0;
  auto border = [&](char* slice) {
    if (tileX == 0 && columnRow < min(R, rowsLeft)) {
      T* at = (T*)(slice + (i64)(y + 1 + columnRow) * job.outStride);
      if (job.columnBytes == 32) *(uint4*)((char*)(at + 1) - 32 + lane % 2 * 16) = make_uint4(0, 0, 0, 0);
      else *at = 0;
    }
    if (firstRow) {
      const T zeros[kColumns] = {};
      put<T>((T*)slice + x + 1, zeros, valuesLeft);
      if (x == 0) ((T*)slice)[0] = 0;
    }
  };
  if (!job.carry && !before) border(job.out);
  char* slice = job.out + firstZ * job.outSlice;
  out += firstZ * job.outSlice;

  const char* in = job.in + (i64)firstZ * job.inSlice + (i64)y * job.inStride + (i64)tileX * kWidth * (int)sizeof(P);
  int z = firstZ;  // the next slice to load
  auto start = [&] {
    P* to = m.stage[(u32)z % M::stages][mine];
    if (z < endZ) {
      if (whole) loadSlice<M, true>(job, to, in, 0, 0, lane);
      else loadSlice<M, false>(job, to, in, job.width - tileX * kWidth, rowsLeft, lane);
    }
    commitCopies();
    z++;
    in += job.inSlice;
  };
#pragma unroll 1
  for (int k = 1; k < M::stages; k++) start();

  // show passes a step's rows to the carry warps, and finish takes their results.
  auto show = [&](const auto& rows, int step) {
    T last[kColumns], end[R];
    rows.last(last);
    storeShared<T>(m.above[step & 1][warp], lane, last);
    rows.end(end);
    if (lane == 31) storeVector<T, R>(&m.end[step & 1][mine], end);
    __syncwarp();
    if (lane == 0) m.scanned[step % M::carryWarps].arrive();
  };
  auto finish = [&](const auto& rows, int step) {
    m.carried[step % M::carryWarps].wait(step / M::carryWarps);
    T above[kColumns], left[R];
    loadShared<T>(m.above[step & 1][warp], lane, above);
    loadVector<T, R>(&m.left[step & 1][mine], left);
    rows.addTo(sum, above, left);
  };
  if (before) {
    // The sum of all earlier slabs.
    const i64 row = (i64)job.tilesX * kWidth, plane = row * job.tilesY * M::height;
    const T* from = (const T*)job.planes + y * row + x;
    Rows<T, R> rows;
#pragma unroll
    for (int r = 0; r < R; r++)
#pragma unroll
      for (int k = 0; k < kColumns; k++) rows.v[r][k] = 0;
    for (int s = 0; s < slab; s++, from += plane)
#pragma unroll
      for (int r = 0; r < R; r++) {
        T p[kColumns];
        loadVector<T, kColumns>(from + r * row, p);
#pragma unroll
        for (int k = 0; k < kColumns; k++) rows.v[r][k] += p[k];
      }
    rows.scan(lane);
    show(rows, 0);
    finish(rows, 0);
  }

  constexpr bool bytes = sizeof(P) == 1 && Same<Op, Plain<T>>::value;
  typedef typename Pick<bytes, ByteRows<T, R>, Rows<T, R>>::type Held;
  auto scan = [&](Held& rows, int step) {
    const P(*stage)[kWidth] = &m.stage[(u32)(firstZ + step - before) % M::stages][mine];
    waitCopies<M::stages - 2>();
    if constexpr (kColumns * sizeof(P) > 16) __syncwarp();  // lanes load for each other
#pragma unroll
    for (int r = 0; r < R; r++) {
      if constexpr (bytes) {
        rows.bytes[r] = *(const u32*)&stage[r][lane * kColumns];
      } else {
        P p[kColumns];
        loadVector<P, kColumns>(&stage[r][lane * kColumns], p);
#pragma unroll
        for (int k = 0; k < kColumns; k++) rows.v[r][k] = op(p[k]);
      }
    }
    start();
    rows.scan(lane);
    show(rows, step);
  };
  auto write = [&](const Held& rows, int step) {
    finish(rows, step);
    out += job.outSlice;
    slice += job.outSlice;
    if constexpr (M::bulk) {
      T(*to)[kWidth] = &m.out[step & 1][mine];
      waitBulkRead<1>();
      __syncwarp();
#pragma unroll
      for (int r = 0; r < R; r++) storeVector<T, kColumns>(&to[r][lane * kColumns], sum[r]);
      showToBulk();
      __syncwarp();
      if (lane < min(R, rowsLeft) && rowBytes > 0) bulkStore(out + lane * (job.outStride - kColumns * (int)sizeof(T)), to[lane], rowBytes);
      commitBulk();
      if (valuesLeft > 0 && valuesLeft < kColumns)
#pragma unroll
        for (int r = 0; r < R; r++)
          if (r < rowsLeft) put<T>((T*)(out + r * job.outStride), sum[r], valuesLeft);
    } else if (whole) {
#pragma unroll
      for (int r = 0; r < R; r++) putWhole((T*)(out + r * job.outStride), sum[r], lane);
    } else {
#pragma unroll
      for (int r = 0; r < R; r++)
        if (r < rowsLeft) put<T>((T*)(out + r * job.outStride), sum[r], valuesLeft);
    }
    border(slice);
  };
  Held now, next;
  scan(now, before);
#pragma unroll 1
  for (int step = before; step < steps; step++) {
    if (step + 1 < steps) scan(next, step + 1);
    write(now, step);
    now = next;
  }
  if constexpr (M::bulk) waitBulkRead<0>();
}

// sumSlabs sums the voxels of each slab along z into its plane. A warp has a row of a tile.
template <class M, class Op>
__device__ inline void sumSlabs(const VolumePass& job) {
  typedef typename M::P P;
  typedef typename M::T T;
  const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, warps = blockDim.x >> 5;
  const int rows = job.tilesY * M::height, rowGroups = rows / warps;  // height is a multiple of the warps
  const int tileX = blockIdx.x % job.tilesX, y = blockIdx.x / job.tilesX % rowGroups * warps + warp, slab = blockIdx.x / job.tilesX / rowGroups;
  const int x = tileX * kWidth + lane * kColumns, valuesLeft = job.width - x;
  const int firstZ = slab * job.slabDepth, endZ = min(firstZ + job.slabDepth, job.depth);
  const Op op{(T)job.offset};
  T sum[kColumns] = {};
  if (y < job.height && valuesLeft > 0) {
    const char* in = job.in + firstZ * job.inSlice + (i64)y * job.inStride + (i64)x * (int)sizeof(P);
#pragma unroll 8
    for (int z = firstZ; z < endZ; z++, in += job.inSlice) {
      P p[kColumns];
      loadVector<P, kColumns>((const P*)in, p);
#pragma unroll
      for (int k = 0; k < kColumns; k++) sum[k] += op(p[k]);
    }
  }
  const i64 row = (i64)job.tilesX * kWidth;
  storeVector<T, kColumns>((T*)job.planes + ((i64)slab * rows + y) * row + x, sum);
}

}  // namespace
