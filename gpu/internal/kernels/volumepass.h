// Tables of volumes for CUDA in one pass: every voxel is read once and every sum
// written once, in one launch.
//
// A slice of the table is the slice before it plus the plane table of the voxels
// between. A block has a tile of the plane, and marches through all slices with
// its part of the table in registers. For the plane table of a slice it needs two
// things from its neighbours:
//   left  for each of its rows, the sum of all to the left from the tile's first row on
//   top   for each of its columns, the plane table's entry in the row over the tile
// and tells two things: the same for the tile to its right, and for the one below.
// A value travels with the launch's epoch, in words that are read and written
// whole, so that no fence is needed and nothing is cleared between launches.
//
// Workers have some rows each. They scan the voxels of a slice while scouts carry
// for the one before: these fetch what the neighbours told, add what the workers'
// rows give to the rows below, and tell the neighbours. Then workers write that one.
// So nobody waits for what was begun just now. A tile waits for lower tickets only,
// and those were drawn by blocks that run: no launch can hang. Every sum has one
// order of its additions, so that the bits of floats do not depend on timing.
//
// Where a slice has too few tiles, slabs of slices are worked on side by side. For
// that the voxels are read once more before: each slab begins with the plane table
// of all slices before it added up, as if that were a slice.
//
// Rows of voxels, and entries (1, y, z), lie on multiples of 16 bytes.

#include "volumejob.h"

namespace {

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef short i16;
typedef int i32;
typedef long long i64;

constexpr u32 kAll = 0xffffffffu;
constexpr int kColumns = 4;             // that a lane has
constexpr int kWidth = 32 * kColumns;   // of a tile

template <class T>
struct IsFloat { static constexpr bool value = false; };
template <>
struct IsFloat<float> { static constexpr bool value = true; };
template <>
struct IsFloat<double> { static constexpr bool value = true; };

// --- What neighbours tell each other ---

__device__ inline uint4 loadWord(const uint4* p) {
  uint4 v;
  asm volatile("ld.relaxed.gpu.global.v4.u32 {%0,%1,%2,%3}, [%4];" : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(p) : "memory");
  return v;
}

__device__ inline void storeWord(uint4* p, uint4 v) {
  asm volatile("st.relaxed.gpu.global.v4.u32 [%0], {%1,%2,%3,%4};" ::"l"(p), "r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w) : "memory");
}

// A Word is 16 bytes: two values of 4 bytes or one of 8, each with its epoch.
template <class T, int Bytes = sizeof(T)>
struct Word;

template <class T>
struct Word<T, 4> {
  static constexpr int values = 2;
  __device__ static uint4 pack(const T v[2], u32 epoch) {
    u32 w[2];
    memcpy(w, v, 8);
    return make_uint4(w[0], epoch, w[1], epoch);
  }
  __device__ static bool unpack(uint4 q, u32 epoch, T v[2]) {
    const u32 w[2] = {q.x, q.z};
    memcpy(v, w, 8);
    return q.y == epoch && q.w == epoch;
  }
};

template <class T>
struct Word<T, 8> {
  static constexpr int values = 1;
  __device__ static uint4 pack(const T v[1], u32 epoch) {
    u32 w[2];
    memcpy(w, v, 8);
    return make_uint4(w[0], w[1], epoch, epoch);
  }
  __device__ static bool unpack(uint4 q, u32 epoch, T v[1]) {
    const u32 w[2] = {q.x, q.y};
    memcpy(v, w, 8);
    return q.z == epoch && q.w == epoch;
  }
};

// A Bell is a barrier in shared memory that some ring and others wait for. Its
// phases alternate: the n-th ringing, from 0 on, is waited for with wait(n).
struct Bell {
  u64 word;
  __device__ u32 address() const { return (u32)__cvta_generic_to_shared(&word); }
  __device__ void prepare(int rings) { asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(address()), "r"(rings) : "memory"); }
  __device__ void ring() {
    asm volatile("{\n .reg .b64 state;\n mbarrier.arrive.shared.b64 state, [%0];\n}" ::"r"(address()) : "memory");
  }
  __device__ void wait(int n) const {
#if __CUDA_ARCH__ >= 900
    asm volatile(
        "{\n .reg .pred done;\n"
        "again:\n mbarrier.try_wait.parity.shared.b64 done, [%0], %1;\n @!done bra again;\n}" ::"r"(address()),
        "r"(n & 1)
        : "memory");
#else
    asm volatile(
        "{\n .reg .pred done;\n"
        "again:\n mbarrier.test_wait.parity.shared.b64 done, [%0], %1;\n @!done bra again;\n}" ::"r"(address()),
        "r"(n & 1)
        : "memory");
#endif
  }
};

// --- Values ---

// What is summed: the voxel itself, the voxel less a constant, or its square.
template <class T>
struct Plain {
  T offset;
  template <class P>
  __device__ T operator()(P p) const { return (T)p; }
};
template <class T>
struct Shifted {
  T offset;
  template <class P>
  __device__ T operator()(P p) const { return (T)p - offset; }
};
template <class T>
struct Squared {
  T offset;
  template <class P>
  __device__ T operator()(P p) const { return (T)p * (T)p; }
};

template <class T, int N>
__device__ inline void loadVector(const T* p, T v[N]) {
  constexpr int bytes = sizeof(T) * N;
  if constexpr (bytes % 16 == 0) {
    uint4 q[bytes / 16];
#pragma unroll
    for (int k = 0; k < bytes / 16; k++) q[k] = ((const uint4*)p)[k];
    memcpy(v, q, bytes);
  } else if constexpr (bytes == 8) {
    uint2 q = *(const uint2*)p;
    memcpy(v, &q, 8);
  } else {
    static_assert(bytes == 4);
    u32 q = *(const u32*)p;
    memcpy(v, &q, 4);
  }
}

template <class T, int N>
__device__ inline void storeVector(T* p, const T v[N]) {
  constexpr int bytes = sizeof(T) * N;
  static_assert(bytes % 16 == 0);
  uint4 q[bytes / 16];
  memcpy(q, v, bytes);
#pragma unroll
  for (int k = 0; k < bytes / 16; k++) ((uint4*)p)[k] = q[k];
}

// A lane's columns in a row of shared memory: pieces of 16 bytes, the first of all
// lanes and then the second, so that lanes use all banks.
template <class T>
__device__ inline void loadShared(const T* row, int lane, T v[kColumns]) {
  constexpr int pieces = sizeof(T) * kColumns / 16;
  uint4 q[pieces];
#pragma unroll
  for (int k = 0; k < pieces; k++) q[k] = ((const uint4*)row)[k * 32 + lane];
  memcpy(v, q, sizeof q);
}

template <class T>
__device__ inline void storeShared(T* row, int lane, const T v[kColumns]) {
  constexpr int pieces = sizeof(T) * kColumns / 16;
  uint4 q[pieces];
  memcpy(q, v, sizeof q);
#pragma unroll
  for (int k = 0; k < pieces; k++) ((uint4*)row)[k * 32 + lane] = q[k];
}

// --- Scans of a warp ---

template <class A, class B>
struct Same { static constexpr bool value = false; };
template <class A>
struct Same<A, A> { static constexpr bool value = true; };

template <bool First, class A, class B>
struct Pick { typedef A type; };
template <class A, class B>
struct Pick<false, A, B> { typedef B type; };

// Rows is a warp's rows of a slice, scanned: the table of these rows alone.
template <class T, int R>
struct Rows {
  T v[R][kColumns];

  // scan makes it of values: rows added up from the first, then along.
  __device__ void scan(int lane) {
    T s[R];
#pragma unroll
    for (int r = 0; r < R; r++) {
#pragma unroll
      for (int k = 0; k < kColumns && r > 0; k++) v[r][k] += v[r > 0 ? r - 1 : 0][k];
    }
#pragma unroll
    for (int r = 0; r < R; r++) {
#pragma unroll
      for (int k = 1; k < kColumns; k++) v[r][k] += v[r][k - 1];
      s[r] = v[r][kColumns - 1];
    }
#pragma unroll
    for (int d = 1; d < 32; d <<= 1)
#pragma unroll
      for (int r = 0; r < R; r++) {
        const T u = __shfl_up_sync(kAll, s[r], d);
        if (lane >= d) s[r] += u;
      }
#pragma unroll
    for (int r = 0; r < R; r++) {
      T before;
      if constexpr (IsFloat<T>::value) {
        before = __shfl_up_sync(kAll, s[r], 1);
        if (lane == 0) before = 0;
      } else {
        before = s[r] - v[r][kColumns - 1];
      }
#pragma unroll
      for (int k = 0; k < kColumns; k++) v[r][k] += before;
    }
  }

  __device__ void last(T row[kColumns]) const { memcpy(row, v[R - 1], sizeof v[R - 1]); }
  __device__ void end(T column[R]) const {
#pragma unroll
    for (int r = 0; r < R; r++) column[r] = v[r][kColumns - 1];
  }
  // addTo adds the rows to sums, with what is above and to the left of them.
  __device__ void addTo(T sum[R][kColumns], const T above[kColumns], const T left[R]) const {
#pragma unroll
    for (int r = 0; r < R; r++)
#pragma unroll
      for (int k = 0; k < kColumns; k++) sum[r][k] += v[r][k] + (above[k] + left[r]);
  }
};

// ByteRows is the same of bytes, four to a lane. A row of a warp adds up to less
// than 2^16, so that two rows share a word. It keeps the bytes, and what is before
// them in their rows; dot products make the table of it.
template <class T, int R>
struct ByteRows {
  static_assert(kWidth * 255 < 1 << 16 && R % 2 == 0);
  u32 bytes[R], before[R / 2];

  __device__ static u32 half(const u32 pairs[R / 2], int r) { return r % 2 ? pairs[r / 2] >> 16 : pairs[r / 2] & 0xffff; }
  __device__ static u32 upTo(u32 four, int k, u32 sum) { return __dp4a(four, 0x01010101u >> (24 - 8 * k), sum); }

  __device__ void scan(int lane) {
    u32 own[R / 2];
#pragma unroll
    for (int r = 0; r < R; r += 2) before[r / 2] = own[r / 2] = upTo(bytes[r], 3, 0) + (upTo(bytes[r + 1], 3, 0) << 16);
#pragma unroll
    for (int d = 1; d < 32; d <<= 1)
#pragma unroll
      for (int r = 0; r < R / 2; r++) {
        const u32 u = __shfl_up_sync(kAll, before[r], d);
        if (lane >= d) before[r] += u;
      }
#pragma unroll
    for (int r = 0; r < R / 2; r++) before[r] -= own[r];
  }

  __device__ void last(T row[kColumns]) const {
    u32 all = 0;
#pragma unroll
    for (int r = 0; r < R; r++) all += half(before, r);
#pragma unroll
    for (int k = 0; k < kColumns; k++) {
      u32 down = all;
#pragma unroll
      for (int r = 0; r < R; r++) down = upTo(bytes[r], k, down);
      row[k] = (T)down;
    }
  }
  __device__ void end(T column[R]) const {
    u32 down = 0;
#pragma unroll
    for (int r = 0; r < R; r++) column[r] = (T)(down = upTo(bytes[r], 3, down + half(before, r)));
  }
  __device__ void addTo(T sum[R][kColumns], const T above[kColumns], const T left[R]) const {
    u32 down[kColumns] = {}, all = 0;
    if constexpr (Same<T, u32>::value)
#pragma unroll
      for (int k = 0; k < kColumns; k++) down[k] = above[k];
#pragma unroll
    for (int r = 0; r < R; r++) {
      all += half(before, r);
#pragma unroll
      for (int k = 0; k < kColumns; k++) {
        down[k] = upTo(bytes[r], k, down[k]);
        if constexpr (Same<T, u32>::value) sum[r][k] += down[k] + (all + left[r]);
        else sum[r][k] += (T)(down[k] + all) + (above[k] + left[r]);
      }
    }
  }
};

// --- The kernel ---

// A March is how a block works: Warps of workers, each on Height rows of a tile,
// Stages slices of voxels in shared memory or on their way there, and Scouts warps
// of scouts that take turns. Bulk is whether sums go by way of shared memory, which
// chips of 9.0 copy on their own.
template <class Pixel, class Sum, int Warps, int Height, int Stages, int Scouts, bool Bulk = false>
struct March {
  typedef Pixel P;
  typedef Sum T;
  static constexpr int warps = Warps, rows = Height, stages = Stages, scouts = Scouts;
  static constexpr bool bulk = Bulk;
  static constexpr int height = Warps * Height, workers = Warps * 32, threads = workers + Scouts * 32;
  static constexpr int values = Word<T>::values;
  static constexpr int leftWords = height / values, topWords = kWidth / values, words = leftWords + topWords;  // of a tile and slice
  static_assert(Scouts >= 2, "a bell must not ring twice while someone waits for it");
  static_assert(Height % values == 0 && Height * sizeof(T) % 16 == 0 && Warps <= 32);
  struct Memory {
    alignas(128) P stage[Stages][height][kWidth];
    alignas(128) T out[Bulk ? 2 : 0][height][kWidth];  // sums on their way there
    alignas(16) T above[2][Warps][kWidth];  // first a warp's last row, then what is above its first
    alignas(16) T end[2][height];           // the last column of each warp's own table
    alignas(16) T left[2][height];
    Bell scanned[Scouts], carried[Scouts];
    u32 ticket;
  };
};

// bring starts the copy of a warp's voxels of a slice, zeros where there are none.
// What lies beyond the last voxel of a row reaches no sum that anyone reads.
template <class M, bool Whole>
__device__ inline void bring(const BoxsumVolume& job, typename M::P* to, const char* from, int valuesLeft, int rowsLeft, int lane) {
  typedef typename M::P P;
  constexpr int bytes = kColumns * sizeof(P), piece = bytes < 16 ? bytes : 16, pieces = bytes / piece;
  from += lane * piece;
  const u32 first = (u32)__cvta_generic_to_shared(to) + lane * piece;
#pragma unroll
  for (int r = 0; r < M::rows; r++) {
#pragma unroll
    for (int k = 0; k < pieces; k++) {
      const int offset = k * 32 * piece;
      const u32 at = first + r * kWidth * (int)sizeof(P) + offset;
      const int take = Whole || (offset + lane * piece < valuesLeft * (int)sizeof(P) && r < rowsLeft) ? piece : 0;
      if constexpr (piece == 16)
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(at), "l"(from + offset), "r"(take) : "memory");
      else
        asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(at), "l"(from + offset), "n"(piece), "r"(take) : "memory");
    }
    if (Whole || r + 1 < rowsLeft) from += job.inStride;  // never beyond the last row
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

// putAll writes the sums of a row that all lanes have. Lanes of a pair swap halves
// where a lane has 32 bytes, so that each store is of whole sectors.
template <class T>
__device__ inline void putAll(T* to, const T v[kColumns], int lane) {
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

// carryOut starts a copy of a lane from shared memory to the table, after handOver
// of those who wrote there. Copies up to close are a group, and settle<N> waits
// until all groups of the lane but N have been read.
__device__ inline void carryOut(char* to, const void* from, int bytes) {
#if __CUDA_ARCH__ >= 900
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to), "r"((u32)__cvta_generic_to_shared(from)), "r"(bytes) : "memory");
#endif
}
__device__ inline void handOver() {
#if __CUDA_ARCH__ >= 900
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#endif
}
__device__ inline void close() {
#if __CUDA_ARCH__ >= 900
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
#endif
}
template <int N>
__device__ inline void settle() {
#if __CUDA_ARCH__ >= 900
  asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(N) : "memory");
#endif
}

// scout carries for every slice that falls to a warp of scouts.
template <class M>
__device__ inline void scout(const BoxsumVolume& job, typename M::Memory& m, uint4* edges, int steps, int x, int y, int first, int lane) {
  typedef typename M::T T;
  typedef Word<T> W;
  constexpr int lefts = (M::leftWords + 31) / 32, tops = M::topWords / 32, all = lefts + tops;  // words of a lane
  const i64 step = M::words;
  const i64 perTile = (job.slabDepth + 1) * step;
  const bool tellRight = x + 1 < job.tilesX, tellDown = y + 1 < job.tilesY;
  edges += first * step;
  for (int z = first; z < steps; z += M::scouts, edges += M::scouts * step) {
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
    // All that is missing is asked for at once.
    for (bool again = true; again;) {
      uint4 q[all];
#pragma unroll
      for (int k = 0; k < all; k++)
        if (missing[k]) q[k] = loadWord(k < lefts ? fromLeft + k * 32 : fromTop + (k - lefts) * 32);
      again = false;
#pragma unroll
      for (int k = 0; k < all; k++)
        if (missing[k]) {
          missing[k] = !W::unpack(q[k], job.epoch, found[k]);
          again = again || missing[k];
        }
    }
    __syncwarp();
    const int bell = z % M::scouts, slot = z & 1;
    m.scanned[bell].wait(z / M::scouts);

    // To the right: what is left of a row, the row itself, and what warps above add.
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
        if (tellRight) storeWord(edges + word, W::pack(right, job.epoch));
      }
    }
    // Down: what is on top, and the last rows of the warps.
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
    if (lane == 0) m.carried[bell].ring();
    if (tellDown) {
      const T corner = __shfl_sync(kAll, found[(M::leftWords - 1) / 32][W::values - 1], (M::leftWords - 1) % 32);
#pragma unroll
      for (int k = 0; k < kColumns; k++) sum[k] += corner;
#pragma unroll
      for (int k = 0; k < tops; k++) storeWord(edges + M::leftWords + k * 32 + lane, W::pack(sum + k * W::values, job.epoch));
    }
  }
}

template <class M, class Op>
__device__ inline void marchThrough(const BoxsumVolume& job) {
  typedef typename M::P P;
  typedef typename M::T T;
  constexpr int R = M::rows;
  extern __shared__ __align__(128) unsigned char raw[];
  typename M::Memory& m = *(typename M::Memory*)raw;
  if (threadIdx.x == 0) {
    m.ticket = atomicAdd(job.tickets, 1) - job.base;
    for (int k = 0; k < M::scouts; k++) {
      m.scanned[k].prepare(M::warps);
      m.carried[k].prepare(1);
    }
  }
  __syncthreads();
  const int tiles = job.tilesX * job.tilesY, ticket = m.ticket, slab = ticket / tiles, tile = ticket % tiles;
  const int tileX = tile % job.tilesX, tileY = tile / job.tilesX;
  // The slices of the slab, and one more step where there are slices before it.
  const int firstZ = slab * job.slabDepth, endZ = min(firstZ + job.slabDepth, job.depth);
  const int before = slab > 0, steps = endZ - firstZ + before;
  uint4* edges = job.edges + (i64)ticket * (job.slabDepth + 1) * M::words;
  const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  if (warp >= M::warps) {
    scout<M>(job, m, edges, steps, tileX, tileY, warp - M::warps, lane);
    return;
  }
  const int mine = warp * R, x = tileX * kWidth + lane * kColumns, y = tileY * M::height + mine;
  const int valuesLeft = job.width - x, rowsLeft = job.height - y;
  const bool whole = job.width - tileX * kWidth >= kWidth && rowsLeft >= R;
  const int rowBytes = min(kWidth, max(job.width - tileX * kWidth, 0)) / kColumns * kColumns * (int)sizeof(T);  // of lanes with all columns
  const Op op{(T)job.offset};

  // Row 0 and column 0 are zero in every slice, and slice 0 is, unless it is carried.
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
  int z = firstZ;  // of the next slice that is brought
  auto start = [&] {
    P* to = m.stage[(u32)z % M::stages][mine];
    if (z < endZ) {
      if (whole) bring<M, true>(job, to, in, 0, 0, lane);
      else bring<M, false>(job, to, in, job.width - tileX * kWidth, rowsLeft, lane);
    }
    asm volatile("cp.async.commit_group;" ::: "memory");
    z++;
    in += job.inSlice;
  };
#pragma unroll 1
  for (int k = 1; k < M::stages; k++) start();

  // show hands a step's rows to the scouts, and finish takes from them.
  auto show = [&](const auto& rows, int step) {
    T last[kColumns], end[R];
    rows.last(last);
    storeShared<T>(m.above[step & 1][warp], lane, last);
    rows.end(end);
    if (lane == 31) storeVector<T, R>(&m.end[step & 1][mine], end);
    __syncwarp();
    if (lane == 0) m.scanned[step % M::scouts].ring();
  };
  auto finish = [&](const auto& rows, int step) {
    m.carried[step % M::scouts].wait(step / M::scouts);
    T above[kColumns], left[R];
    loadShared<T>(m.above[step & 1][warp], lane, above);
    loadVector<T, R>(&m.left[step & 1][mine], left);
    rows.addTo(sum, above, left);
  };
  if (before) {
    // The slabs before this one, added up.
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
    asm volatile("cp.async.wait_group %0;" ::"n"(M::stages - 2) : "memory");
    if constexpr (kColumns * sizeof(P) > 16) __syncwarp();  // lanes bring for each other
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
      settle<1>();
      __syncwarp();
#pragma unroll
      for (int r = 0; r < R; r++) storeVector<T, kColumns>(&to[r][lane * kColumns], sum[r]);
      handOver();
      __syncwarp();
      if (lane < min(R, rowsLeft) && rowBytes > 0) carryOut(out + lane * (job.outStride - kColumns * (int)sizeof(T)), to[lane], rowBytes);
      close();
      if (valuesLeft > 0 && valuesLeft < kColumns)
#pragma unroll
        for (int r = 0; r < R; r++)
          if (r < rowsLeft) put<T>((T*)(out + r * job.outStride), sum[r], valuesLeft);
    } else if (whole) {
#pragma unroll
      for (int r = 0; r < R; r++) putAll((T*)(out + r * job.outStride), sum[r], lane);
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
  if constexpr (M::bulk) settle<0>();
}

// addUp sums the voxels of each slab along z into its plane. A warp has a row of a
// tile.
template <class M, class Op>
__device__ inline void addUp(const BoxsumVolume& job) {
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
