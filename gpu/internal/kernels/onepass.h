// One-pass tables for CUDA: every pixel is read once and every sum written
// once, in one launch.
//
// The image is cut into tiles, and blocks draw tiles by ticket. The warps of a
// block have different work, and ring for one another:
//   the carrier  draws tickets and brings pixels into shared memory
//   gatherers    sum a tile's rows and columns and publish them, whatever the
//                others are at: nobody should wait for a tile that is here
//   scouts       look back for what lies left of the tile and above it
//   workers      scan the tile, add what was found and write the table
//
// What is public about a tile, for each layer (sums, squares):
//   rows     for each row, its sum inside the tile; later, from the image's left edge
//   columns  the last row of the tile's own table; later, of the strip's table above and in it
//   corner   the sum of what came in from the left; later, the same for all tiles above too
//   right    the sum of all that is above and left of the next tile, where that has none above
// Each is first an aggregate and then a prefix. Three values travel with one
// flag in 16 bytes that are read and written whole, so no fence is needed. The
// flag carries the launch's epoch: nothing is cleared between launches.
//
// A tile waits for lower tickets only, and those were drawn by blocks that run:
// no launch can hang, however few of its blocks are resident. Floats are folded
// from the oldest value to the newest, whichever form was found: the
// bits never depend on timing.

#include "fast.h"

namespace {

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef short i16;
typedef int i32;
typedef long long i64;

constexpr u32 kAll = 0xffffffffu;

template <class T>
struct IsFloat { static constexpr bool value = false; };
template <>
struct IsFloat<float> { static constexpr bool value = true; };
template <>
struct IsFloat<double> { static constexpr bool value = true; };

// --- Memory that other blocks read while we run ---

// Sixteen bytes at a time, never torn: each is one access of the hardware, which
// CUB's scans rely on too.
__device__ inline uint4 loadShared16(const uint4* p) {
  uint4 v;
  asm volatile("ld.relaxed.gpu.global.v4.u32 {%0,%1,%2,%3}, [%4];" : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(p) : "memory");
  return v;
}

__device__ inline void storeShared16(uint4* p, uint4 v) {
  asm volatile("st.relaxed.gpu.global.v4.u32 [%0], {%1,%2,%3,%4};" ::"l"(p), "r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w) : "memory");
}

// A Trio is three values and a flag, in one or two words of 16 bytes.
template <class T, int Bytes = sizeof(T)>
struct Trio;

template <class T>
struct Trio<T, 4> {
  static constexpr int words = 1;
  T v[3];
  u32 flag;
  __device__ static Trio load(const uint4* p) {
    uint4 q = loadShared16(p);
    Trio t;
    memcpy(t.v, &q, 12);
    t.flag = q.w;
    return t;
  }
  __device__ static void pack(const T v[3], u32 flag, uint4 q[1]) {
    u32 w[3];
    memcpy(w, v, 12);
    q[0] = make_uint4(w[0], w[1], w[2], flag);
  }
  __device__ static void unpack(const uint4* p, T v[3]) {
    const uint4 q = *p;
    memcpy(v, &q, 12);
  }
  __device__ static void store(uint4* p, const T v[3], u32 flag) {
    uint4 q[1];
    pack(v, flag, q);
    storeShared16(p, q[0]);
  }
};

template <class T>
struct Trio<T, 8> {
  static constexpr int words = 2;
  T v[3];
  u32 flag;
  __device__ static Trio load(const uint4* p) {
    uint4 a = loadShared16(p), b = loadShared16(p + 1);
    u32 w[6] = {a.x, a.y, a.z, b.x, b.y, b.z};
    Trio t;
    memcpy(t.v, w, 24);
    t.flag = min(a.w, b.w);  // halves of different age: the older one counts
    if (a.w != b.w) t.flag &= ~3u;
    return t;
  }
  __device__ static void pack(const T v[3], u32 flag, uint4 q[2]) {
    u32 w[6];
    memcpy(w, v, 24);
    q[0] = make_uint4(w[0], w[1], w[2], flag);
    q[1] = make_uint4(w[3], w[4], w[5], flag);
  }
  __device__ static void unpack(const uint4* p, T v[3]) {
    const uint4 a = p[0], b = p[1];
    const u32 w[6] = {a.x, a.y, a.z, b.x, b.y, b.z};
    memcpy(v, w, 24);
  }
  __device__ static void store(uint4* p, const T v[3], u32 flag) {
    uint4 q[2];
    pack(v, flag, q);
    storeShared16(p, q[0]);
    storeShared16(p + 1, q[1]);
  }
};

constexpr u32 kAggregate = 1, kPrefix = 2;  // below the epoch in a flag

// lookBack sums what the n predecessors hold, the nearest at p and each one
// step words before the other, from the nearest prefix on. It reads the nearest
// alone, which mostly is enough, and then W at a time. Sums are folded from the
// prefix forward, so that those of floats do not depend on what was found.
template <class T, int W>
__device__ inline void lookBack(const uint4* p, i64 step, int n, u32 epoch, T out[3]) {
  const u32 aggregate = epoch | kAggregate, prefix = epoch | kPrefix;
  Trio<T> nearest;
  do nearest = Trio<T>::load(p);
  while (nearest.flag != prefix && (nearest.flag != aggregate || n == 1));  // the farthest turns into a prefix
  memcpy(out, nearest.v, sizeof nearest.v);
  if (nearest.flag == prefix) return;

  Trio<T> q[W];
  int back = 1;  // how many aggregates were passed
  for (;;) {
#pragma unroll
    for (int u = 0; u < W; u++)
      if (back + u < n) q[u] = Trio<T>::load(p - (back + u) * step);
    int passed = 0;
    bool open = true, found = false;
#pragma unroll
    for (int u = 0; u < W; u++)
      if (back + u < n) {
        found = found || (open && q[u].flag == prefix);
        open = open && q[u].flag == aggregate && back + u + 1 < n;
        if (open) passed++;
      }
    if constexpr (!IsFloat<T>::value) {
#pragma unroll
      for (int u = 0; u < W; u++)
        if (u < passed || (u == passed && found))
#pragma unroll
          for (int k = 0; k < 3; k++) out[k] += q[u].v[k];
      if (found) return;
    } else if (found) {
#pragma unroll
      for (int u = W - 1; u >= 0; u--)
#pragma unroll
        for (int k = 0; k < 3; k++) {
          if (u == passed) out[k] = q[u].v[k];
          if (u < passed) out[k] += q[u].v[k];
        }
      // What earlier windows held is read again.
      for (; back > 1; back -= min(W, back - 1)) {
        const int m = min(W, back - 1);
#pragma unroll
        for (int u = 0; u < W; u++)
          if (u < m) q[u] = Trio<T>::load(p - (back - 1 - u) * step);
#pragma unroll
        for (int u = 0; u < W; u++)
          if (u < m) {
            while (q[u].flag != aggregate && q[u].flag != prefix) q[u] = Trio<T>::load(p - (back - 1 - u) * step);
#pragma unroll
            for (int k = 0; k < 3; k++) out[k] = q[u].flag == prefix ? q[u].v[k] : out[k] + q[u].v[k];
          }
      }
#pragma unroll
      for (int k = 0; k < 3; k++) out[k] += nearest.v[k];
      return;
    }
    back += passed;
  }
}

// --- Bells ---

#if __CUDA_ARCH__ >= 900
// keep has the L2 cache let go of other lines first. An H200 is 2 to 3% faster with pixels that are kept.
__device__ inline u64 keep() {
  u64 policy;
  asm("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy));
  return policy;
}
#endif

// How often each lane rings for a tile that it brings: before 9.0 also when its copies have landed.
#if __CUDA_ARCH__ >= 900
constexpr int kRings = 1;
#else
constexpr int kRings = 2;
#endif

// A Bell is a barrier in shared memory that some ring and others wait for. All
// threads that wrote ring, each for its own writes. Its
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
#if __CUDA_ARCH__ >= 900
  // expect rings once, and has the bell wait for that many bytes of copies too.
  __device__ void expect(int bytes) { asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(address()), "r"(bytes) : "memory"); }
  // copy brings in the box at (x, y) of an image, zeros where it sticks out.
  __device__ void copy(void* to, const void* map, int x, int y, int image) {
    asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.L2::cache_hint [%0], [%1, {%2, %3, %4}], [%5], %6;" ::"r"(
                     (u32)__cvta_generic_to_shared(to)),
                 "l"(map), "r"(x), "r"(y), "r"(image), "r"(address()), "l"(keep())
                 : "memory");
  }
#else
  // ringWhenCopied rings once this thread's copies so far have landed.
  __device__ void ringWhenCopied() { asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(address()) : "memory"); }
#endif
};

constexpr int kGatherers = 1, kScouts = 2, kRowScouts = 3;  // barriers among these

__device__ inline void barrierWait(int id, int threads) {
  __syncwarp();  // a look-back may have parted the lanes
  asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(threads) : "memory");
}

// --- Values ---

// What is summed: the pixel itself, the pixel less a constant, or its square.
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
  __device__ T operator()(P p) const { T v = (T)p; return v * v; }
};

template <class A, class B>
struct Same { static constexpr bool value = false; };
template <class A>
struct Same<A, A> { static constexpr bool value = true; };

// Word is the widest that so many bytes are a whole number of.
template <int Bytes, int Widest = (Bytes & -Bytes)>
struct Word { typedef uint4 type; };
template <int Bytes>
struct Word<Bytes, 8> { typedef uint2 type; };
template <int Bytes>
struct Word<Bytes, 4> { typedef u32 type; };
template <int Bytes>
struct Word<Bytes, 2> { typedef u16 type; };
template <int Bytes>
struct Word<Bytes, 1> { typedef u8 type; };

template <class T, int N>
__device__ inline void loadVector(const T* p, T v[N]) {
  typedef typename Word<sizeof(T) * N>::type W;
  constexpr int words = sizeof(T) * N / sizeof(W);
  W q[words];
#pragma unroll
  for (int k = 0; k < words; k++) q[k] = ((const W*)p)[k];
  memcpy(v, q, sizeof q);
}

template <class T, int N>
__device__ inline void storeVector(T* p, const T v[N]) {
  typedef typename Word<sizeof(T) * N>::type W;
  constexpr int words = sizeof(T) * N / sizeof(W);
  W q[words];
  memcpy(q, v, sizeof q);
#pragma unroll
  for (int k = 0; k < words; k++) ((W*)p)[k] = q[k];
}

// Narrow is what a row of a chunk is summed in: shorter integers where they hold it, as 128 pixels of 16 bits
// or squares of bytes fit 32 bits. Sums in f64 are exact as far as that, so nothing is rounded otherwise.
template <class P, class T, class Op>
struct Narrow {
  typedef T Sum;
  typedef Op Summand;
};
template <>
struct Narrow<u8, u64, Squared<u64>> {
  typedef u32 Sum;
  typedef Squared<u32> Summand;
};
#define BOXSUM_NARROW(P, T, N)      \
  template <>                       \
  struct Narrow<P, T, Plain<T>> {   \
    typedef N Sum;                  \
    typedef Plain<N> Summand;       \
  };
BOXSUM_NARROW(u8, u64, u32)
BOXSUM_NARROW(u8, double, u32)
BOXSUM_NARROW(u16, u64, u32)
BOXSUM_NARROW(u16, double, u32)
BOXSUM_NARROW(i16, u64, i32)

// PairsOf says whether sums of two rows go in one word: those of bytes fit 16 bits, as a warp has at most 128
// pixels of a row.
template <class P, class Summand, int VX>
struct PairsOf { static constexpr bool value = Same<P, u8>::value && Same<Summand, Plain<u32>>::value && VX % 4 == 0; };

// scanLanes turns R rows of each lane's VX values, of C interleaved channels,
// into sums from the first lane's on. Only lanes Step apart belong together.
// Rows and channels go side by side, so that one's shuffles fill the other's waiting.
template <class T, int R, int VX, int C, int Step>
__device__ inline void scanLanes(T v[R][VX], int lane) {
#pragma unroll
  for (int r = 0; r < R; r++)
#pragma unroll
    for (int k = C; k < VX; k++) v[r][k] += v[r][k - C];
  T s[R][C];
#pragma unroll
  for (int r = 0; r < R; r++)
#pragma unroll
    for (int c = 0; c < C; c++) s[r][c] = v[r][VX - C + c];
#pragma unroll
  for (int d = Step; d < 32; d <<= 1)
#pragma unroll
    for (int r = 0; r < R; r++)
#pragma unroll
      for (int c = 0; c < C; c++) {
        T u = __shfl_up_sync(kAll, s[r][c], d);
        if (lane >= d) s[r][c] += u;
      }
#pragma unroll
  for (int r = 0; r < R; r++)
#pragma unroll
    for (int c = 0; c < C; c++) {
      T before;
      if constexpr (IsFloat<T>::value) {
        before = __shfl_up_sync(kAll, s[r][c], Step);
        if (lane < Step) before = 0;
      } else {
        before = s[r][c] - v[r][VX - C + c];
      }
#pragma unroll
      for (int k = c; k < VX; k += C) v[r][k] += before;
    }
}

// transpose has four neighbouring lanes trade: value k of lane l becomes value l of lane k.
template <class T>
__device__ inline void transpose(T v[4], int lane) {
#pragma unroll
  for (int d = 1; d < 4; d *= 2)
#pragma unroll
    for (int k = 0; k < 4; k++)
      if (!(k & d)) {
        const T come = __shfl_xor_sync(kAll, lane & d ? v[k] : v[k + d], d);
        if (lane & d) v[k] = come;
        else v[k + d] = come;
      }
}

// scanWarp turns R rows of each lane's VX values, of C interleaved channels,
// into sums from the warp's first value on.
template <class T, int R, int VX, int C>
__device__ inline void scanWarp(T v[R][VX], int lane) {
  if constexpr (C == 4) {
    // With four pixels of one channel in each lane it takes half the shuffles.
#pragma unroll
    for (int r = 0; r < R; r++) transpose(v[r], lane);
    scanLanes<T, R, VX, 1, 4>(v, lane);
#pragma unroll
    for (int r = 0; r < R; r++) transpose(v[r], lane);
  } else {
    scanLanes<T, R, VX, C, 1>(v, lane);
  }
}

// scanRows loads R rows of pixels, width values apart, and scans each.
template <class N, int R, int VX, int C, class P, class Op>
__device__ inline void scanRows(const P* from, int width, Op op, N n[R][VX], int lane) {
  if constexpr (PairsOf<P, Op, VX>::value) {
    u32 two[R / 2][VX];
#pragma unroll
    for (int r = 0; r < R / 2; r++) {
      u32 a[VX / 4], b[VX / 4];
      loadVector<u32, VX / 4>((const u32*)(from + 2 * r * width), a);
      loadVector<u32, VX / 4>((const u32*)(from + (2 * r + 1) * width), b);
#pragma unroll
      for (int w = 0; w < VX / 4; w++) {
        const u32 first = __byte_perm(a[w], b[w], 0x5410), last = __byte_perm(a[w], b[w], 0x7632);
        two[r][4 * w] = first & 0x00ff00ff, two[r][4 * w + 1] = first >> 8 & 0x00ff00ff;
        two[r][4 * w + 2] = last & 0x00ff00ff, two[r][4 * w + 3] = last >> 8 & 0x00ff00ff;
      }
    }
    scanWarp<u32, R / 2, VX, C>(two, lane);
#pragma unroll
    for (int r = 0; r < R; r++)
#pragma unroll
      for (int k = 0; k < VX; k++) n[r][k] = r % 2 ? two[r / 2][k] >> 16 : two[r / 2][k] & 0xffff;
  } else {
#pragma unroll
    for (int r = 0; r < R; r++) {
      P p[VX];
      loadVector<P, VX>(from + r * width, p);
#pragma unroll
      for (int k = 0; k < VX; k++) n[r][k] = op(p[k]);
    }
    scanWarp<N, R, VX, C>(n, lane);
  }
}

// sumRows adds up each of R values over the warp, R a power of two. Lane l ends
// up with sum number sumOf(l): halving needs fewer shuffles than R sums would.
template <class T, int R>
__device__ inline T sumRows(T s[R], int lane) {
  int d = 16;
#pragma unroll
  for (int n = R / 2; n >= 1; n /= 2, d /= 2) {
#pragma unroll
    for (int i = 0; i < n; i++) {
      T away = lane & d ? s[i] : s[i + n];
      T keep = lane & d ? s[i + n] : s[i];
      s[i] = keep + __shfl_xor_sync(kAll, away, d);
    }
  }
  T t = s[0];
#pragma unroll
  for (; d >= 1; d /= 2) t += __shfl_xor_sync(kAll, t, d);
  return t;
}

template <int R>
__device__ inline int sumOf(int lane) {
  int row = 0, d = 16;
#pragma unroll
  for (int n = R / 2; n >= 1; n /= 2, d /= 2) row += lane & d ? n : 0;
  return row;
}

__host__ __device__ constexpr int upTo(int n, int multiple) { return (n + multiple - 1) / multiple * multiple; }

// --- Geometry ---

// ValuesOf is how many values a lane has of a row: whole pixels, in as few words as shared memory has room for.
template <class P, int C>
struct ValuesOf {
#if __CUDA_ARCH__ >= 900
  static constexpr bool small = sizeof(P) <= 2;
#else
  static constexpr bool small = sizeof(P) == 1;
#endif
  static constexpr int value = C != 3 ? 4 : small ? 12 : 6;
};

// A Shape is how a block works on a tile: WX×WY warps of workers, each on RW
// rows of 32 lanes with VX values each. Widths count values, not pixels.
template <class Pixel, int Channels, int WarpsX, int WarpsY, int RowsPerWarp, int Stages, int GathererWarps,
          int Values = ValuesOf<Pixel, Channels>::value>
struct Shape {
  typedef Pixel P;
  static constexpr int C = Channels, WX = WarpsX, WY = WarpsY, RW = RowsPerWarp;
  static constexpr int VX = Values;
  static constexpr int chunk = 32 * VX, width = WX * chunk, height = WY * RW;
  static constexpr int stages = Stages;  // tiles in shared memory
  // Values in an element of the tensor map: boxes are at most 256 of them wide.
  static constexpr int perElement = width <= 256 ? 1 : width <= 512 ? 2 : 4;
  // One scout for each trio of rows and of columns, and a warp for the corner.
  static constexpr int rowTrios = (height * C + 2) / 3, columnTrios = (width + 2) / 3, cornerTrios = (C + 2) / 3;
  static constexpr int rowScouts = upTo(rowTrios, 32), columnScouts = upTo(columnTrios, 32);
  static constexpr int workers = WX * WY * 32, gatherers = GathererWarps * 32, scouts = rowScouts + columnScouts + 32;
  static constexpr int threads = workers + gatherers + scouts + 32;
};

// Notes is what a block knows of a tile: first what it gathered, then what it found.
template <class S, class T>
struct Notes {
  alignas(16) T above[S::WY][S::width];           // sums of each column in each row of warps, then above it
  alignas(16) T bottom[upTo(S::width, 3) + 1];    // the last row of the tile's own table, chunk by chunk
  alignas(16) T top[upTo(S::width, 3)];           // the table row over the tile, as far as its own strip goes
  alignas(16) T rows[S::WX][upTo(S::height * S::C, 12)];  // sums of each row up to the end of each chunk; the last turn
                                                          // into what lies left of the tile
  T corner[upTo(S::C, 3)];                        // sum of what is above and left
};

struct Place {
  int image, x, y;  // in tiles; image < 0: there are no more
  int left, above;  // how many tiles come before it, in its row and in its column
  int flags;
};

constexpr int kLastOfRow = 1 << 28, kLastOfColumn = 1 << 29;
constexpr int kCornerFromLeft = 1 << 30;  // nothing is above, but something to the upper left
constexpr int kTellsRight = (int)0x80000000;     // the next tile is such a one
constexpr int kCornerFromAbove = 1 << 0;
constexpr int kTellsCorner = 1 << 1;  // to the tile below

template <class S, class T>
struct Layer {
  typedef Trio<T> Word;
  static constexpr int w = Word::words;
  static constexpr int words = (S::rowTrios + S::columnTrios + 2 * S::cornerTrios) * w;  // of 16 bytes, a tile
  // What a tile tells others begins here.
  __device__ static uint4* of(const BoxsumJob& job, uint4* status, Place at) {
    return status + (((i64)at.image * job.tilesY + at.y) * job.tilesX + at.x) * words;
  }
  __device__ static uint4* rows(uint4* tile, int trio) { return tile + trio * w; }
  __device__ static uint4* columns(uint4* tile, int trio) { return tile + (S::rowTrios + trio) * w; }
  __device__ static uint4* corner(uint4* tile, int trio) { return tile + (S::rowTrios + S::columnTrios + trio) * w; }
  __device__ static uint4* right(uint4* tile, int trio) { return corner(tile, S::cornerTrios + trio); }
};

// spotOf is where ticket t works when not all tiles are wanted, and the host lists those that are. Of the tiles
// in a row, and of those in a column, all between the first and the last are.
__device__ inline Place spotOf(const BoxsumJob& job, u32 t) {
  const int4 spot = job.spots[t % job.spotCount];
  Place at{(int)(t / job.spotCount), spot.x, spot.y, spot.z & (kLastOfRow - 1), spot.w, spot.z & ~(kLastOfRow - 1)};
  if (at.above > 0) at.flags |= kCornerFromAbove;
  if (!(at.flags & kLastOfColumn)) at.flags |= kTellsCorner;
  return at;
}

// placeOf is where ticket t works, for a whole warp. job.turn images take turns.
// Within one, tiles go row by row in strips, or along diagonals: a row of tiles
// begins when the one above is 1 << job.lag tiles ahead. The steeper they are, the
// nearer is what a tile looks back for; the flatter, the better for the memory.
__device__ inline Place placeOf(const BoxsumJob& job, u32 t, int lane) {
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
  if (at.x > 0) at.flags |= (at.y > 0 ? kCornerFromAbove : 0) | (at.y + 1 < job.tilesY ? kTellsCorner : 0);
  return at;
}

// --- What the carrier does ---

__device__ inline void copy16(void* to, const void* from) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"((u32)__cvta_generic_to_shared(to)), "l"(from) : "memory");
}

// fetch starts to bring a tile into shared memory, with one warp. Where the
// tile sticks out of the image, what was there stays: it only ever reaches sums
// that stick out too.
template <class S>
__device__ inline void fetch(const BoxsumJob& job, Place at, typename S::P* stage, Bell& full, int lane) {
  typedef typename S::P P;
  constexpr int rowBytes = S::width * (int)sizeof(P);
  const int rows = min(S::height, job.height - at.y * S::height), values = min(S::width, job.width - at.x * S::width);
  const char* from = job.in + at.image * job.inBatch + (i64)at.y * S::height * job.inStride + (i64)at.x * rowBytes;
  if (job.inAligned) {
#if __CUDA_ARCH__ >= 900
    static_assert(S::perElement * sizeof(P) <= 8 && S::height <= 256, "no tensor map has such boxes");
    if (lane > 0) {
      full.ring();
    } else {
      full.expect(S::height * rowBytes);
      full.copy(stage, job.map, at.x * (S::width / S::perElement), at.y * S::height, at.image);
    }
#else
    const int pieces = upTo(values * (int)sizeof(P), 16) / 16;  // rows are padded
#pragma unroll 8
    for (int i = lane; i < rows * pieces; i += 32) {
      const int r = i / pieces, at16 = i % pieces * 16;
      copy16((char*)stage + r * rowBytes + at16, from + r * job.inStride + at16);
    }
    full.ringWhenCopied();
    full.ring();
#endif
  } else {
    for (int r = 0; r < rows; r++)
#pragma unroll
      for (int k = 0; k < S::width; k += 32)
        if (k + lane < values) stage[r * S::width + k + lane] = ((const P*)(from + r * job.inStride))[k + lane];
    for (int k = 0; k < kRings; k++) full.ring();
  }
}

// ask has a tile come to the L2 cache, from where it is fetched soon.
template <class S>
__device__ inline void ask(const BoxsumJob& job, Place at) {
#if __CUDA_ARCH__ >= 900
  asm volatile("cp.async.bulk.prefetch.tensor.3d.L2.global.tile.L2::cache_hint [%0, {%1, %2, %3}], %4;" ::"l"(job.map),
               "r"(at.x * (S::width / S::perElement)), "r"(at.y * S::height), "r"(at.image), "l"(keep())
               : "memory");
#endif
}

// carry draws tickets and brings tiles in, as far ahead as there is room, and has
// the memory begin with those that are next, whoever will draw them.
template <class S, class M>
__device__ inline void carry(const BoxsumJob& job, M& m, int lane) {
  const u32 tickets = (job.spots ? (u32)job.spotCount : (u32)job.tilesX * job.tilesY) * job.count;
  auto place = [&](u32 t) { return job.spots ? spotOf(job, t) : placeOf(job, t, lane); };
  for (int tile = 0;; tile++) {
    const int slot = tile % S::stages;
    // A ticket is drawn while the tile before in this stage is finished: early enough to hide how long that
    // takes, and late enough to be at work soon, as others wait for it.
    if (tile >= S::stages) m.found[slot].wait(tile / S::stages - 1);
    u32 ticket = 0;
    if (lane == 0) ticket = atomicAdd(job.tickets, 1);
    const u32 t = __shfl_sync(kAll, ticket, 0) - job.base;
    const bool more = t < tickets;
    const Place at = more ? place(t) : Place{-1};
    if (tile >= S::stages) m.empty[slot].wait(tile / S::stages - 1);
    if (lane == 0) m.at[slot] = at;
    __syncwarp();
    if (!more) {
      for (int k = 0; k < kRings; k++) m.full[slot].ring();
      return;
    }
    fetch<S>(job, at, m.stage[slot], m.full[slot], lane);
    if (job.ahead > 0 && tile >= S::stages - 1 && t + job.ahead < tickets) {
      const Place next = place(t + job.ahead);
      if (lane == 0) ask<S>(job, next);
    }
  }
}

// --- What gatherers do ---

// gather sums the rows and columns of the part of a tile that a warp of workers has.
template <class S, class T, class Op>
__device__ inline void gather(const typename S::P* stage, Op op, Notes<S, T>& notes, int warp) {
  typedef typename S::P P;
  typedef typename Narrow<P, T, Op>::Sum N;
  typedef typename Narrow<P, T, Op>::Summand Summand;
  constexpr int most = S::C * sizeof(N) <= 16 ? 8 : 4, R = S::RW < most ? S::RW : most;  // rows at once, as registers allow
  static_assert(S::RW % R == 0, "rows would be counted twice");
  const Summand summand{(N)op.offset};
  const int lane = threadIdx.x & 31, wx = warp % S::WX, wy = warp / S::WX;
  T column[S::VX];
  T* rows = &notes.rows[wx][wy * S::RW * S::C];
  if constexpr (PairsOf<P, Summand, S::VX>::value) {
    constexpr int words = S::VX / 4;
    u32 even[words] = {}, odd[words] = {};  // two columns each: 256 rows of bytes fit 16 bits
#pragma unroll 1
    for (int first = 0; first < S::RW; first += R) {
      u32 row[S::C][R / 2] = {};  // two rows each
#pragma unroll
      for (int r = 0; r < R; r++) {
        u32 p[words];
        loadVector<u32, words>((const u32*)(stage + (first + r) * S::width + lane * S::VX), p);
#pragma unroll
        for (int w = 0; w < words; w++) {
          even[w] += p[w] & 0x00ff00ff;
          odd[w] += p[w] >> 8 & 0x00ff00ff;
        }
#pragma unroll
        for (int c = 0; c < S::C; c++) {
          u32 sum = 0;
#pragma unroll
          for (int w = 0; w < words; w++) {
            u32 ones = 0;  // where the channel's bytes are
#pragma unroll
            for (int b = 0; b < 4; b++) ones |= (w * 4 + b) % S::C == c ? 1u << b * 8 : 0;
            if (ones) sum = __dp4a(p[w], ones, sum);
          }
          row[c][r % (R / 2)] += r < R / 2 ? sum : sum << 16;
        }
      }
#pragma unroll
      for (int c = 0; c < S::C; c++) {
        const u32 sum = sumRows<u32, R / 2>(row[c], lane);
        const int at = first + sumOf<R / 2>(lane);
        if ((lane & (64 / R - 1)) == 0) {
          rows[at * S::C + c] = sum & 0xffff;
          rows[(at + R / 2) * S::C + c] = sum >> 16;
        }
      }
    }
#pragma unroll
    for (int w = 0; w < words; w++) {
      column[4 * w] = even[w] & 0xffff, column[4 * w + 1] = odd[w] & 0xffff;
      column[4 * w + 2] = even[w] >> 16, column[4 * w + 3] = odd[w] >> 16;
    }
  } else {
    N sums[S::VX] = {};
#pragma unroll 1
    for (int first = 0; first < S::RW; first += R) {
      N row[S::C][R];
#pragma unroll
      for (int r = 0; r < R; r++) {
        P p[S::VX];
        N v[S::VX];
        loadVector<P, S::VX>(stage + (first + r) * S::width + lane * S::VX, p);
#pragma unroll
        for (int k = 0; k < S::VX; k++) {
          v[k] = summand(p[k]);
          sums[k] += v[k];
        }
#pragma unroll
        for (int c = 0; c < S::C; c++) {
          row[c][r] = v[c];
#pragma unroll
          for (int k = c + S::C; k < S::VX; k += S::C) row[c][r] += v[k];
        }
      }
#pragma unroll
      for (int c = 0; c < S::C; c++) {
        const N sum = sumRows<N, R>(row[c], lane);
        if ((lane & (32 / R - 1)) == 0) rows[(first + sumOf<R>(lane)) * S::C + c] = sum;
      }
    }
#pragma unroll
    for (int k = 0; k < S::VX; k++) column[k] = sums[k];
  }
  storeVector<T, S::VX>(&notes.above[wy][wx * S::chunk + lane * S::VX], column);
}

// combine turns the parts into the tile's own sums.
template <class S, class T>
__device__ inline void combine(Notes<S, T>& notes, int me) {
  const int lane = me & 31, warp = me >> 5;
  for (int w = warp; w < S::WX; w += S::gatherers / 32) {
    T sum[1][S::VX] = {};
#pragma unroll
    for (int y = 0; y < S::WY; y++) {
      T* at = &notes.above[y][w * S::chunk + lane * S::VX];
      T v[S::VX];
      loadVector<T, S::VX>(at, v);
      storeVector<T, S::VX>(at, sum[0]);
#pragma unroll
      for (int k = 0; k < S::VX; k++) sum[0][k] += v[k];
    }
    scanWarp<T, 1, S::VX, S::C>(sum, lane);
    storeVector<T, S::VX>(&notes.bottom[w * S::chunk + lane * S::VX], sum[0]);
  }
  for (int i = S::gatherers - 1 - me; i < S::height * S::C; i += S::gatherers) {
    T sum = 0;
#pragma unroll
    for (int x = 0; x < S::WX; x++) {
      sum += notes.rows[x][i];
      notes.rows[x][i] = sum;
    }
  }
}

template <class S, class T>
__device__ inline void trioOfRows(const Notes<S, T>& notes, int trio, T v[3]) {
#pragma unroll
  for (int k = 0; k < 3; k++) v[k] = trio * 3 + k < S::height * S::C ? notes.rows[S::WX - 1][trio * 3 + k] : (T)0;
}

template <class S, class T>
__device__ inline void trioOfBottom(const Notes<S, T>& notes, int trio, T v[3]) {
#pragma unroll
  for (int k = 0; k < 3; k++) {
    const int x = trio * 3 + k;
    v[k] = 0;
    if (x < S::width) {
#pragma unroll
      for (int w = 1; w < S::WX; w++)
        if (x >= w * S::chunk) v[k] += notes.bottom[w * S::chunk - S::C + x % S::C];
      v[k] += notes.bottom[x];
    }
  }
}

// herald gathers a tile and makes its own sums public.
template <class S, class T, class Op>
__device__ inline void herald(const BoxsumJob& job, uint4* status, Place at, const typename S::P* stage, Op op, Notes<S, T>& notes, int me) {
  typedef Layer<S, T> L;
  for (int part = me >> 5; part < S::WX * S::WY; part += S::gatherers / 32) {
    const int row = part / S::WX * S::RW, value = part % S::WX * S::chunk;
    // What sticks out reaches no sum that anyone reads.
    if (at.y * S::height + row < job.height && at.x * S::width + value < job.width) gather<S, T>(stage + row * S::width + value, op, notes, part);
  }
  barrierWait(kGatherers, S::gatherers);
  combine<S, T>(notes, me);
  barrierWait(kGatherers, S::gatherers);
  uint4* tile = L::of(job, status, at);
  const u32 aggregate = job.epoch | kAggregate, prefix = job.epoch | kPrefix;
  for (int trio = me; trio < S::rowTrios + S::columnTrios; trio += S::gatherers) {
    T own[3];
    if (trio < S::rowTrios) {
      trioOfRows<S, T>(notes, trio, own);
      L::Word::store(L::rows(tile, trio), own, at.left == 0 ? prefix : aggregate);
    } else {
      trioOfBottom<S, T>(notes, trio - S::rowTrios, own);
      L::Word::store(L::columns(tile, trio - S::rowTrios), own, at.above == 0 && !job.carry ? prefix : aggregate);
    }
  }
}

// --- What workers do ---

// put writes sums. Where there are more of them than of pixels, they should leave the cache first.
template <bool First, class V>
__device__ inline void put(V* to, V v) {
  if constexpr (First) __stcs(to, v);
  else *to = v;
}

// trade has neighbouring lanes swap words: the second of the even lane and the first of the odd one.
__device__ inline void trade(uint4 q[2], int lane) {
  const uint4 away = lane & 1 ? q[0] : q[1];
  const uint4 come = make_uint4(__shfl_xor_sync(kAll, away.x, 1), __shfl_xor_sync(kAll, away.y, 1), __shfl_xor_sync(kAll, away.z, 1),
                                __shfl_xor_sync(kAll, away.w, 1));
  if (lane & 1) q[0] = come;
  else q[1] = come;
}

// finish scans a warp's part of a tile, adds what was found and writes it.
template <class S, class T, class Op>
__device__ inline void finish(const BoxsumJob& job, Place at, const typename S::P* stage, Op op, char* out, i64 outStride, bool aligned,
                              Notes<S, T>& notes) {
  typedef typename S::P P;
  typedef typename Narrow<P, T, Op>::Sum N;
  typedef typename Narrow<P, T, Op>::Summand Summand;
  // Rows that are scanned at once, as registers allow.
  constexpr int rowBytes = S::VX * (PairsOf<P, Summand, S::VX>::value ? 2 : sizeof(N)), most = rowBytes <= 32 ? 4 : 2;
  constexpr int R = S::RW < most ? S::RW : most;
  const Summand summand{(N)op.offset};
  const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, wx = warp % S::WX, wy = warp / S::WX;
  const int x = at.x * S::width + wx * S::chunk, y = at.y * S::height + wy * S::RW;
  const int valuesLeft = job.width - x, rowsLeft = job.height - y;
  if (valuesLeft <= 0 || rowsLeft <= 0) return;
  auto leftOf = [&](int i) {
    const T left = notes.rows[S::WX - 1][i];
    if constexpr (S::WX == 1) return left;
    const T chunks = notes.rows[wx > 0 ? wx - 1 : 0][i];  // read in any case: no branch
    return left + (wx > 0 ? chunks : (T)0);
  };
  // The table's values over the warp's first row.
  T above[1][S::VX], top[S::VX];
  loadVector<T, S::VX>(&notes.above[wy][wx * S::chunk + lane * S::VX], above[0]);
  scanWarp<T, 1, S::VX, S::C>(above, lane);
  loadVector<T, S::VX>(&notes.top[wx * S::chunk + lane * S::VX], top);
#pragma unroll
  for (int c = 0; c < S::C; c++) {
    T s = 0;
#pragma unroll
    for (int first = 0; first < S::height; first += 32) {
      const int r = first + lane;
      if (r < wy * S::RW) s += leftOf(r * S::C + c);
    }
#pragma unroll
    for (int d = 16; d >= 1; d /= 2) s += __shfl_xor_sync(kAll, s, d);
    s += notes.corner[c];
#pragma unroll
    for (int k = c; k < S::VX; k += S::C) above[0][k] += top[k] + s;
  }

  T* to = (T*)(out + (i64)(y + 1) * outStride) + S::C + x;
  const bool whole = aligned && valuesLeft >= S::chunk;
#pragma unroll 1
  for (int first = 0; first < S::RW && first < rowsLeft; first += R) {
    N n[R][S::VX];
    T v[R][S::VX];
    scanRows<N, R, S::VX, S::C>(stage + first * S::width + lane * S::VX, S::width, summand, n, lane);
    auto add = [&](int r) {  // what is above and left, to a row
      const int row = (wy * S::RW + first + r) * S::C;
#pragma unroll
      for (int c = 0; c < S::C; c++) {
        const T left = leftOf(row + c);
#pragma unroll
        for (int k = c; k < S::VX; k += S::C) v[r][k] = above[0][k] += (T)n[r][k] + left;
      }
    };
    if (S::VX == 4) {
#pragma unroll
      for (int r = 0; r < R; r++) add(r);
    }
    if (S::VX == 4 && whole) {
#pragma unroll
      for (int r = 0; r < R; r++) {
        uint4 q[sizeof(T) * S::VX / 16 + 1];
        memcpy(q, v[r], sizeof(T) * S::VX);
        uint4* at16 = (uint4*)to + lane;
        constexpr int words = sizeof(T) * S::VX / 16;
        if constexpr (words == 2) {
          // Neighbours trade halves, so that each store fills sectors of 32 bytes.
          trade(q, lane);
          at16 += lane & ~1;
        }
#pragma unroll
        for (int k = 0; k < words; k++)
          if (first + r < rowsLeft) put<sizeof(P) < 8>(at16 + 2 * k, q[k]);
        to = (T*)((char*)to + outStride);
      }
    } else {
      // Through shared memory, so that neighbouring lanes write neighbouring values or words.
      T* mine = &notes.above[wy][wx * S::chunk];  // nobody else reads these, and they have been read
#pragma unroll
      for (int r = 0; r < R; r++) {
        if (S::VX != 4) add(r);  // one by one: fewer registers
        __syncwarp();
        storeVector<T, S::VX>(mine + lane * S::VX, v[r]);
        __syncwarp();
        if (S::VX != 4 && whole) {
          constexpr int words = S::chunk * sizeof(T) / 16;
#pragma unroll
          for (int k = 0; k < words; k += 32)
            if (k + lane < words && first + r < rowsLeft) put<sizeof(P) < 8>((uint4*)to + k + lane, ((const uint4*)mine)[k + lane]);
        } else {
#pragma unroll
          for (int k = 0; k < S::VX; k++)
            if (k * 32 + lane < valuesLeft && first + r < rowsLeft) __stcs(to + k * 32 + lane, mine[k * 32 + lane]);
        }
        to = (T*)((char*)to + outStride);
      }
    }
  }
  // Column 0, and row 0 where it is not carried from a band above.
  if (at.x == 0 && wx == 0)
    for (int i = lane; i < S::RW * S::C; i += 32)
      if (i / S::C < rowsLeft) ((T*)(out + (i64)(y + 1 + i / S::C) * outStride))[i % S::C] = 0;
  if (at.y == 0 && wy == 0 && !job.carry) {
    for (int i = lane; i < S::chunk && i < valuesLeft; i += 32) ((T*)out)[S::C + x + i] = 0;
    if (x == 0 && lane < S::C) ((T*)out)[lane] = 0;
  }
}

// --- What scouts do ---

// sumLeft adds up what came in from the left over all rows of a tile, in all lanes of a warp.
template <class S, class T>
__device__ inline void sumLeft(const Notes<S, T>& notes, int lane, T sum[upTo(S::C, 3)]) {
#pragma unroll
  for (int c = 0; c < S::C; c++) {
    T s = 0;
#pragma unroll
    for (int r = 0; r < S::height; r += 32)
      if (r + lane < S::height) s += notes.rows[S::WX - 1][(r + lane) * S::C + c];
#pragma unroll
    for (int d = 16; d >= 1; d /= 2) s += __shfl_xor_sync(kAll, s, d);
    sum[c] = s;
  }
}

// scout looks back for what lies left of a tile and above, and publishes the
// prefixes of its rows and columns. Each scout has a trio of its own.
template <class S, class T>
__device__ inline void scout(const BoxsumJob& job, uint4* status, Place at, const T* firstRow, Notes<S, T>& notes, int me) {
  typedef Layer<S, T> L;
  const i64 rowStep = L::words, columnStep = (i64)job.tilesX * L::words;
  uint4* tile = L::of(job, status, at);
  T own[3], before[3] = {};
  const u32 prefix = job.epoch | kPrefix;
  if (me < S::rowScouts) {
    if (me < S::rowTrios) {
      if (at.left > 0) {
        lookBack<T, 4>(L::rows(tile, me) - rowStep, rowStep, at.left, job.epoch, before);
        if (!(at.flags & kLastOfRow)) {
          trioOfRows<S, T>(notes, me, own);
#pragma unroll
          for (int k = 0; k < 3; k++) own[k] += before[k];
          L::Word::store(L::rows(tile, me), own, prefix);
        }
      }
#pragma unroll
      for (int k = 0; k < 3; k++) notes.rows[S::WX - 1][me * 3 + k] = before[k];
    }
  } else if (me < S::rowScouts + S::columnScouts) {
    const int i = me - S::rowScouts;
    if (i < S::columnTrios) {
      if (at.above > 0) {
        lookBack<T, 4>(L::columns(tile, i) - columnStep, columnStep, at.above, job.epoch, before);
      } else if (job.carry) {
#pragma unroll
        for (int k = 0; k < 3; k++) {
          const int x = at.x * S::width + i * 3 + k;
          if (i * 3 + k < S::width && x < job.width) before[k] = firstRow[x];
        }
      }
      if ((at.above > 0 || job.carry) && !(at.flags & kLastOfColumn)) {
        trioOfBottom<S, T>(notes, i, own);
#pragma unroll
        for (int k = 0; k < 3; k++) own[k] += before[k];
        L::Word::store(L::columns(tile, i), own, prefix);
      }
#pragma unroll
      for (int k = 0; k < 3; k++) notes.top[i * 3 + k] = before[k];
    }
  } else {
    const int i = me - S::rowScouts - S::columnScouts;
    if (i < S::cornerTrios) {
      if (at.flags & kCornerFromAbove) lookBack<T, 4>(L::corner(tile, i) - columnStep, columnStep, at.above, job.epoch, before);
      if (at.flags & kCornerFromLeft) lookBack<T, 4>(L::right(tile, i) - rowStep, rowStep, 1, job.epoch, before);
#pragma unroll
      for (int k = 0; k < 3; k++) notes.corner[i * 3 + k] = before[k];
    }
  }
}

// settle publishes the corner, first as far as the rows of the tile tell it and
// then, when all scouts are back, whole; and the upper right one for a tile that is the first of its column.
template <class S, class T>
__device__ inline void settle(const BoxsumJob& job, uint4* status, Place at, const Notes<S, T>& notes, int me) {
  typedef Layer<S, T> L;
  const bool needed = at.flags & kTellsCorner, alone = !(at.flags & (kCornerFromAbove | kCornerFromLeft));
  uint4* tile = L::of(job, status, at);
  T sum[upTo(S::C, 3)] = {};
  if (needed && me < S::rowScouts) {
    barrierWait(kRowScouts, S::rowScouts);
    if (me < 32) sumLeft<S, T>(notes, me, sum);
    if (me == 0)
#pragma unroll
      for (int i = 0; i < S::cornerTrios; i++) L::Word::store(L::corner(tile, i), sum + 3 * i, job.epoch | (alone ? kPrefix : kAggregate));
  }
  barrierWait(kScouts, S::scouts);
  if (needed && !alone && me < 32) {
#pragma unroll
    for (int c = 0; c < S::C; c++) sum[c] += notes.corner[c];
    if (me == 0)
#pragma unroll
      for (int i = 0; i < S::cornerTrios; i++) L::Word::store(L::corner(tile, i), sum + 3 * i, job.epoch | kPrefix);
  }
  if ((at.flags & kTellsRight) && me == 0) {
#pragma unroll
    for (int c = 0; c < S::C; c++) sum[c] = notes.corner[c] + notes.top[S::width - S::C + c];
#pragma unroll
    for (int i = 0; i < S::cornerTrios; i++) L::Word::store(L::right(tile, i), sum + 3 * i, job.epoch | kPrefix);
  }
}

// --- The kernel ---

struct None {};

template <class S, class T>
struct LayerMemory {
  Notes<S, T> notes[S::stages];
};
template <class S>
struct LayerMemory<S, None> {};

template <class S, class T, class Q>
struct Memory {
  alignas(128) typename S::P stage[S::stages][S::width * S::height];
  LayerMemory<S, T> sums;
  LayerMemory<S, Q> squares;
  Place at[S::stages];
  Bell full[S::stages], told[S::stages], found[S::stages], empty[S::stages];
};

template <class S, class T, class Q, class Op>
__device__ inline void onePass(const BoxsumJob& job) {
  extern __shared__ __align__(128) unsigned char raw[];
  constexpr bool hasSquares = !Same<Q, None>::value;
  Memory<S, T, Q>& m = *(Memory<S, T, Q>*)raw;
  if (threadIdx.x == 0) {
    for (int k = 0; k < S::stages; k++) {
      m.full[k].prepare(32 * kRings);
      m.told[k].prepare(S::gatherers);
      m.found[k].prepare(S::scouts);
      m.empty[k].prepare(S::workers);
    }
#if __CUDA_ARCH__ >= 900
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
#endif
  }
  __syncthreads();
  const int lane = threadIdx.x & 31;
  // eachTile goes through the block's tiles: waits for a bell, does its part, rings another, and does what nobody
  // here waits for. The end is rung like a tile.
  auto eachTile = [&](const Bell* before, Bell* after, auto work, auto afterwards) {
    for (int tile = 0;; tile++) {
      const int slot = tile % S::stages;
      before[slot].wait(tile / S::stages);
      const Place at = m.at[slot];
      if (at.image >= 0) work(slot, at);
      __syncwarp();
      after[slot].ring();
      if (at.image < 0) return;
      afterwards(slot, at);
    }
  };
  auto nothing = [](int, Place) {};
  const Op op{(T)job.offset};
  uint4* squaresStatus = job.status + job.squaresStatus;
  int me = threadIdx.x;
  if (me < S::workers) {
    const int warp = me >> 5, part = warp / S::WX * S::RW * S::width + warp % S::WX * S::chunk;
    eachTile(
        m.found, m.empty,
        [&](int slot, Place at) {
          finish<S, T>(job, at, m.stage[slot] + part, op, job.out + at.image * job.outBatch, job.outStride, job.outAligned, m.sums.notes[slot]);
          if constexpr (hasSquares)
            finish<S, Q>(job, at, m.stage[slot] + part, Squared<Q>{}, job.squares + at.image * job.squaresBatch, job.squaresStride,
                         job.squaresAligned, m.squares.notes[slot]);
        },
        nothing);
    return;
  }
  me -= S::workers;
  if (me < S::gatherers) {
    eachTile(
        m.full, m.told,
        [&](int slot, Place at) {
          herald<S, T>(job, job.status, at, m.stage[slot], op, m.sums.notes[slot], me);
          if constexpr (hasSquares) herald<S, Q>(job, squaresStatus, at, m.stage[slot], Squared<Q>{}, m.squares.notes[slot], me);
        },
        nothing);
    return;
  }
  me -= S::gatherers;
  if (me < S::scouts) {
    eachTile(
        m.told, m.found,
        [&](int slot, Place at) {
          scout<S, T>(job, job.status, at, (const T*)(job.out + at.image * job.outBatch) + S::C, m.sums.notes[slot], me);
          if constexpr (hasSquares)
            scout<S, Q>(job, squaresStatus, at, (const Q*)(job.squares + at.image * job.squaresBatch) + S::C, m.squares.notes[slot], me);
        },
        [&](int slot, Place at) {
          settle<S, T>(job, job.status, at, m.sums.notes[slot], me);
          if constexpr (hasSquares) settle<S, Q>(job, squaresStatus, at, m.squares.notes[slot], me);
        });
    return;
  }
  carry<S>(job, m, lane);
}

}  // namespace
