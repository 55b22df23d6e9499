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
// Workers scan the tile; scouts fetch what neighbours told, a few slices ahead. A tile waits for lower tickets only, and those were drawn by
// blocks that run: no launch can hang. Every sum has one order of its additions,
// so that the bits of floats do not depend on timing.
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
constexpr int kSlots = 8;               // slices that scouts may be ahead

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

// What is summed: the voxel itself, or the voxel less a constant.
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

// scanRows turns R rows of each lane's values, of N slices, into the warp's own
// tables: rows added up from the first, then along. They go side by side, so that
// one's shuffles fill the other's waiting.
template <class T, int N, int R>
__device__ inline void scanRows(T v[N][R][kColumns], int lane) {
  T s[N][R];
#pragma unroll
  for (int n = 0; n < N; n++)
#pragma unroll
    for (int r = 0; r < R; r++) {
#pragma unroll
      for (int k = 0; k < kColumns && r > 0; k++) v[n][r][k] += v[n][r > 0 ? r - 1 : 0][k];
    }
#pragma unroll
  for (int n = 0; n < N; n++)
#pragma unroll
    for (int r = 0; r < R; r++) {
#pragma unroll
      for (int k = 1; k < kColumns; k++) v[n][r][k] += v[n][r][k - 1];
      s[n][r] = v[n][r][kColumns - 1];
    }
#pragma unroll
  for (int d = 1; d < 32; d <<= 1)
#pragma unroll
    for (int n = 0; n < N; n++)
#pragma unroll
      for (int r = 0; r < R; r++) {
        T u = __shfl_up_sync(kAll, s[n][r], d);
        if (lane >= d) s[n][r] += u;
      }
#pragma unroll
  for (int n = 0; n < N; n++)
#pragma unroll
    for (int r = 0; r < R; r++) {
      T before;
      if constexpr (IsFloat<T>::value) {
        before = __shfl_up_sync(kAll, s[n][r], 1);
        if (lane == 0) before = 0;
      } else {
        before = s[n][r] - v[n][r][kColumns - 1];
      }
#pragma unroll
      for (int k = 0; k < kColumns; k++) v[n][r][k] += before;
    }
}

// scanBytes makes the same of R rows of bytes, four to a lane. A row of a warp adds up
// to less than 2^16, so that two rows share a word.
template <class T, int N, int R>
__device__ inline void scanBytes(const u32 bytes[N][R], T v[N][R][kColumns], int lane) {
  static_assert(kWidth * 255 < 1 << 16 && R % 2 == 0);
  u32 own[N][R / 2], sum[N][R / 2];
#pragma unroll
  for (int n = 0; n < N; n++)
#pragma unroll
    for (int r = 0; r < R; r += 2)
      sum[n][r / 2] = own[n][r / 2] = __dp4a(bytes[n][r], 0x01010101u, 0u) + (__dp4a(bytes[n][r + 1], 0x01010101u, 0u) << 16);
#pragma unroll
  for (int d = 1; d < 32; d <<= 1)
#pragma unroll
    for (int n = 0; n < N; n++)
#pragma unroll
      for (int r = 0; r < R / 2; r++) {
        const u32 u = __shfl_up_sync(kAll, sum[n][r], d);
        if (lane >= d) sum[n][r] += u;
      }
#pragma unroll
  for (int n = 0; n < N; n++) {
    u32 down[kColumns] = {};
#pragma unroll
    for (int r = 0; r < R; r++) {
      const u32 before = sum[n][r / 2] - own[n][r / 2], left = r % 2 ? before >> 16 : before & 0xffff;
#pragma unroll
      for (int k = 0; k < kColumns; k++) {
        down[k] = __dp4a(bytes[n][r], 0x01010101u >> (24 - 8 * k), down[k] + left);
        v[n][r][k] = (T)down[k];
      }
    }
  }
}

template <class A, class B>
struct Same { static constexpr bool value = false; };
template <class A>
struct Same<A, A> { static constexpr bool value = true; };

template <int N>
struct Number { static constexpr int value = N; };

// --- The kernel ---

// A March is how a block works: Warps of workers, each on Rows rows of a tile,
// Stages slices of voxels in shared memory or on their way there, and Scouts warps
// of scouts that take turns. Workers do Together slices at a time.
template <class Pixel, class Sum, int Warps, int Rows, int Stages, int Scouts, int Together>
struct March {
  typedef Pixel P;
  typedef Sum T;
  static constexpr int warps = Warps, rows = Rows, stages = Stages, scouts = Scouts, together = Together;
  static constexpr int height = Warps * Rows, workers = Warps * 32, threads = workers + Scouts * 32;
  static constexpr int values = Word<T>::values;
  static constexpr int leftWords = height / values, topWords = kWidth / values, words = leftWords + topWords;  // of a tile and slice
  struct Memory {
    alignas(128) P stage[Stages][height][kWidth];  // what a lane brings, it uses itself
    alignas(16) T bottom[2][Together][Warps][kWidth];  // the last row of each warp's own tables
    alignas(16) T top[kSlots][kWidth];
    alignas(16) T left[kSlots][height];
    Bell full[kSlots], empty[kSlots];
    u32 ticket;
  };
};

// bring starts the copy of a lane's voxels of a slice, zeros where there are none.
// What lies beyond the last voxel of a row reaches no sum that anyone reads.
template <class M>
__device__ inline void bring(const BoxsumVolume& job, typename M::P* to, const char* from, int valuesLeft, int rowsLeft) {
  typedef typename M::P P;
  constexpr int bytes = kColumns * sizeof(P), piece = bytes < 16 ? bytes : 16;
#pragma unroll
  for (int r = 0; r < M::rows; r++) {
    const bool inside = valuesLeft > 0 && r < rowsLeft;
#pragma unroll
    for (int k = 0; k < bytes; k += piece) {
      const u32 at = (u32)__cvta_generic_to_shared((char*)(to + r * kWidth) + k);
      if constexpr (piece == 16)
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(at), "l"(from + k), "r"(inside ? 16 : 0) : "memory");
      else
        asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(at), "l"(from + k), "n"(piece), "r"(inside ? piece : 0) : "memory");
    }
    if (r + 1 < rowsLeft) from += job.inStride;  // never beyond the last row
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

// fetch is what a warp of scouts does: it hands what the neighbours told to the
// workers, about every slice that falls to it.
template <class M>
__device__ inline void fetch(const BoxsumVolume& job, typename M::Memory& m, const uint4* edges, int steps, int x, int y, int scout, int lane) {
  typedef typename M::T T;
  typedef Word<T> W;
  constexpr int perLane = (M::words + 31) / 32;
  const i64 step = M::words;
  const i64 perTile = (job.slabDepth + 1) * step;
  const uint4* left = edges - perTile;
  const uint4* top = edges - job.tilesX * perTile;
  for (int z = scout; z < steps; z += M::scouts) {
    const int slot = z % kSlots;
    T found[perLane][W::values];
    bool missing[perLane];
#pragma unroll
    for (int k = 0; k < perLane; k++) {
      const int word = k * 32 + lane;
      missing[k] = word < M::words && (word < M::leftWords ? x > 0 : y > 0);
#pragma unroll
      for (int v = 0; v < W::values; v++) found[k][v] = 0;
    }
    // All that is missing is asked for at once.
    for (bool again = true; again;) {
      uint4 q[perLane];
#pragma unroll
      for (int k = 0; k < perLane; k++) {
        const int word = k * 32 + lane;
        if (missing[k]) q[k] = loadWord((word < M::leftWords ? left : top) + word + z * step);
      }
      again = false;
#pragma unroll
      for (int k = 0; k < perLane; k++)
        if (missing[k]) {
          missing[k] = !W::unpack(q[k], job.epoch, found[k]);
          again = again || missing[k];
        }
    }
    __syncwarp();
    if (z >= kSlots) m.empty[slot].wait(z / kSlots - 1);
#pragma unroll
    for (int k = 0; k < perLane; k++) {
      const int word = k * 32 + lane;
#pragma unroll
      for (int v = 0; v < W::values; v++) {
        if (word < M::leftWords) m.left[slot][word * W::values + v] = found[k][v];
        else if (word < M::words) m.top[slot][(word - M::leftWords) * W::values + v] = found[k][v];
      }
    }
    m.full[slot].ring();
  }
}

// tell makes a lane's values public.
template <class T, int N>
__device__ inline void tell(uint4* to, const T v[N], u32 epoch) {
#pragma unroll
  for (int k = 0; k < N; k += Word<T>::values) storeWord(to + k / Word<T>::values, Word<T>::pack(v + k, epoch));
}

template <class M, class Op>
__device__ inline void marchThrough(const BoxsumVolume& job) {
  typedef typename M::P P;
  typedef typename M::T T;
  extern __shared__ __align__(128) unsigned char raw[];
  typename M::Memory& m = *(typename M::Memory*)raw;
  if (threadIdx.x == 0) {
    m.ticket = atomicAdd(job.tickets, 1) - job.base;
    for (int k = 0; k < kSlots; k++) {
      m.full[k].prepare(32);
      m.empty[k].prepare(M::warps);
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
    fetch<M>(job, m, edges, steps, tileX, tileY, warp - M::warps, lane);
    return;
  }
  const int x = tileX * kWidth + lane * kColumns, y = tileY * M::height + warp * M::rows;
  const int valuesLeft = job.width - x, rowsLeft = job.height - y;
  const Op op{(T)job.offset};

  // Row 0 and column 0 are zero in every slice, and slice 0 is, unless it is carried.
  char* out = job.out + (i64)(y + 1) * job.outStride + (i64)(x + 1) * (int)sizeof(T);
  T sum[M::rows][kColumns];
#pragma unroll
  for (int r = 0; r < M::rows; r++) {
#pragma unroll
    for (int k = 0; k < kColumns; k++) {
      sum[r][k] = 0;
      if (job.carry && r < rowsLeft && k < valuesLeft) sum[r][k] = ((const T*)(out + r * job.outStride))[k];
    }
    if (!job.carry && !before && r < rowsLeft) put<T>((T*)(out + r * job.outStride), sum[r], valuesLeft);
  }
  const T zeros[kColumns] = {};
  auto border = [&](char* slice) {
    if (tileX == 0 && lane == 0)
#pragma unroll
      for (int r = 0; r < M::rows; r++)
        if (r < rowsLeft) ((T*)(slice + (i64)(y + 1 + r) * job.outStride))[0] = 0;
    if (tileY == 0 && warp == 0) {
      put<T>((T*)slice + x + 1, zeros, valuesLeft);
      if (x == 0) ((T*)slice)[0] = 0;
    }
  };
  if (!job.carry && !before) border(job.out);
  out += firstZ * job.outSlice;

  const char* in = job.in + (i64)y * job.inStride + (i64)x * (int)sizeof(P);
  P(*stage)[M::height][kWidth] = m.stage;
  const int mine = warp * M::rows;
  constexpr bool bytes = sizeof(P) == 1 && Same<Op, Plain<T>>::value;
  auto start = [&](int z) {
    if (z < endZ) bring<M>(job, &stage[z % M::stages][mine][lane * kColumns], in + z * job.inSlice, valuesLeft, rowsLeft);
    asm volatile("cp.async.commit_group;" ::: "memory");
  };
#pragma unroll 1
  for (int z = firstZ; z < firstZ + M::stages - M::together; z++) start(z);

  // advance does N slices from step on. The first of them is a sum of slices where
  // virtually is set, and then it is not written.
  int turn = 0;
  auto advance = [&](auto count, auto virtually, int step) {
    constexpr int N = decltype(count)::value;
    const int z = firstZ + step - before;
    T v[N][M::rows][kColumns];
    if constexpr (!decltype(virtually)::value) {
      asm volatile("cp.async.wait_group %0;" ::"n"(M::stages - 2 * M::together) : "memory");
      if constexpr (bytes) {
        u32 p[N][M::rows];
#pragma unroll
        for (int n = 0; n < N; n++)
#pragma unroll
          for (int r = 0; r < M::rows; r++) p[n][r] = *(const u32*)&stage[(z + n) % M::stages][mine + r][lane * kColumns];
#pragma unroll
        for (int n = 0; n < N; n++) start(z + n + M::stages - M::together);
        scanBytes<T, N, M::rows>(p, v, lane);
      } else {
#pragma unroll
        for (int n = 0; n < N; n++)
#pragma unroll
          for (int r = 0; r < M::rows; r++) {
            P p[kColumns];
            loadVector<P, kColumns>(&stage[(z + n) % M::stages][mine + r][lane * kColumns], p);
#pragma unroll
            for (int k = 0; k < kColumns; k++) v[n][r][k] = op(p[k]);
          }
#pragma unroll
        for (int n = 0; n < N; n++) start(z + n + M::stages - M::together);
        scanRows<T, N, M::rows>(v, lane);
      }
    } else {
      const i64 row = (i64)job.tilesX * kWidth, plane = row * job.tilesY * M::height;
      const T* from = (const T*)job.planes + y * row + x;
#pragma unroll
      for (int r = 0; r < M::rows; r++)
#pragma unroll
        for (int k = 0; k < kColumns; k++) v[0][r][k] = 0;
      for (int s = 0; s < slab; s++, from += plane)
#pragma unroll
        for (int r = 0; r < M::rows; r++) {
          T p[kColumns];
          loadVector<T, kColumns>(from + r * row, p);
#pragma unroll
          for (int k = 0; k < kColumns; k++) v[0][r][k] += p[k];
        }
      scanRows<T, N, M::rows>(v, lane);
    }
    // What the warps above add.
    T(*bottom)[M::warps][kWidth] = m.bottom[turn];
    turn ^= 1;
#pragma unroll
    for (int n = 0; n < N; n++) storeVector<T, kColumns>(&bottom[n][warp][lane * kColumns], v[n][M::rows - 1]);
    asm volatile("bar.sync 1, %0;" ::"n"(M::workers) : "memory");
    T above[N][kColumns] = {};
#pragma unroll 2
    for (int w = 0; w < warp; w++)
#pragma unroll
      for (int n = 0; n < N; n++) {
        T b[kColumns];
        loadVector<T, kColumns>(&bottom[n][w][lane * kColumns], b);
#pragma unroll
        for (int k = 0; k < kColumns; k++) above[n][k] += b[k];
      }
    // What the neighbours add, and what they are told.
#pragma unroll
    for (int n = 0; n < N; n++) {
      const int slot = (step + n) % kSlots;
      m.full[slot].wait((step + n) / kSlots);
      T left[M::rows], top[kColumns];
#pragma unroll
      for (int r = 0; r < M::rows; r++) left[r] = m.left[slot][mine + r];
      loadVector<T, kColumns>(&m.top[slot][lane * kColumns], top);
      __syncwarp();
      if (lane == 0) m.empty[slot].ring();
#pragma unroll
      for (int r = 0; r < M::rows; r++)
#pragma unroll
        for (int k = 0; k < kColumns; k++) v[n][r][k] += above[n][k] + left[r];
      if (lane == 31 && tileX + 1 < job.tilesX) {
        T right[M::rows];
#pragma unroll
        for (int r = 0; r < M::rows; r++) right[r] = v[n][r][kColumns - 1];
        tell<T, M::rows>(edges + mine / M::values, right, job.epoch);
      }
#pragma unroll
      for (int r = 0; r < M::rows; r++)
#pragma unroll
        for (int k = 0; k < kColumns; k++) v[n][r][k] += top[k];
      if (warp == M::warps - 1 && tileY + 1 < job.tilesY)
        tell<T, kColumns>(edges + M::leftWords + lane * kColumns / M::values, v[n][M::rows - 1], job.epoch);
      edges += M::words;
#pragma unroll
      for (int r = 0; r < M::rows; r++)
#pragma unroll
        for (int k = 0; k < kColumns; k++) sum[r][k] += v[n][r][k];
      if constexpr (!decltype(virtually)::value) {
        out += job.outSlice;
#pragma unroll
        for (int r = 0; r < M::rows; r++)
          if (r < rowsLeft) put<T>((T*)(out + r * job.outStride), sum[r], valuesLeft);
        border(job.out + (i64)(z + n + 1) * job.outSlice);
      }
    }
  };
  int step = 0;
  if (before) advance(Number<1>{}, Number<true>{}, step++);
#pragma unroll 1
  for (; step + M::together <= steps; step += M::together) advance(Number<M::together>{}, Number<false>{}, step);
  if constexpr (M::together > 1)
    if (step < steps) advance(Number<1>{}, Number<false>{}, step);
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
