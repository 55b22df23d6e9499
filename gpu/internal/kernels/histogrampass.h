// Integral histograms in two launches, for CUDA: a lane of a warp has a bin.
//
//	count  the bin of every pixel; for every row, how many pixels of each bin there are left of each tile
//	write  goes down strips of columns, the table's row in registers, and writes every entry once
//
// A strip is as high as the image, so that nothing has to be carried down, and all
// strips together write row after row, as a fill does: those that are ahead wait for
// the others. Which of 32 pixels have a lane's bin is a mask, from one vote of the warp
// for each bit of the bins' numbers.
#ifndef HISTOGRAMPASS_H
#define HISTOGRAMPASS_H

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef short i16;
typedef int i32;
typedef long long i64;
typedef float f32;
typedef double f64;

// What the host tells a kernel. gpu/histogram_pass.go has the same struct. Bins go in
// groups of up to 32, one to a lane; a part is a group of a channel. Where a group has
// 16 bins or fewer, a column has that many slots, the next power of two, and a warp has
// several columns at a time.
struct BoxsumHistogram {
  u64 in, out, limits;
  u64 table;  // of bytes: the bin of every value
  u64 plane;  // of others, per image, channel and row: the bin of every pixel, in whole tiles
  u64 left;   // per image, row, tile, part and slot: pixels left of the tile
  u64 written;  // per company and batch of rows: strips that have written it
  i64 inStride, inDistance, outStride, outDistance;  // bytes
  i32 width, height, channels, count;
  i32 bins, limitCount;
  i32 lanes, groups;  // bins of a group; groups of a channel
  i32 slots;
  i32 tiles, strips;  // across
  i32 carry;          // row 0 of the table is an input
  i32 quadsIn;        // four pixels can be read at once
  i32 company;        // blocks that write and wait for each other
  i32 batches;        // of all companies
  i32 unused;
};

static_assert(sizeof(BoxsumHistogram) == 152, "gpu/histogram_pass.go has a struct of the same size");

namespace {

constexpr int kTile = 32;      // columns
constexpr int kStrip = 16;     // columns, which divides kTile
constexpr int kBatch = 32;     // rows that a strip goes down between two barriers
constexpr int kLead = 3;       // batches that a strip may be ahead of others
constexpr int kSplit = 4;      // warps that count a row
constexpr int kCountThreads = 32 * kSplit;
constexpr int kShare = 16;     // tiles of a row that a warp counts at a time
constexpr u32 kNone = 0xffff;  // the bin of pixels that count in none

// The second launch may begin before the first has ended, and waits for it before it
// reads what that wrote. Chips before 9.0 begin it later.
__device__ __forceinline__ void letNextBegin() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;");
#endif
}

__device__ __forceinline__ void waitForLast() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

__device__ __forceinline__ u32 peek(const u32 *at) {
  u32 value;
  asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(at));
  return value;
}

// A Voter finds the pixels of 32, one to a lane, that have a lane's bin.
struct Voter {
  u32 flips[5];  // where the bin has a zero

  __device__ explicit Voter(u32 bin) {
#pragma unroll
    for (int b = 0; b < 5; b++) {
      flips[b] = (bin >> b & 1) - 1;
      asm("" : "+r"(flips[b]));  // stays in a register
    }
  }

  __device__ __forceinline__ u32 mask(u32 bin, u32 lanes) const {
    u32 same = __ballot_sync(~0u, bin < lanes);
#pragma unroll
    for (int b = 0; b < 5; b++) same &= __ballot_sync(~0u, (bin & 1u << b) != 0) ^ flips[b];
    return same;
  }
};

template <class P>
struct alignas(sizeof(P) < 4 ? 4 * sizeof(P) : 16) Quad { P part[4]; };
struct alignas(8) QuadBins { u16 part[4]; };

// A Binner says which bin a value is in: bytes have a table, and others the smallest
// value of each bin and the smallest beyond the last one, as far as there are such values.
template <class P>
struct Binner {
  P limits[257];

  __device__ void prepare(const BoxsumHistogram &job) {
    for (int i = threadIdx.x; i < job.limitCount; i += blockDim.x) limits[i] = ((const P *)job.limits)[i];
  }

  __device__ u32 operator()(const BoxsumHistogram &job, P value) const {
    int low = 0, high = job.limitCount;  // of these, how many are at most value
    while (low < high) {
      int middle = (low + high) / 2;
      if (value >= limits[middle])
        low = middle + 1;
      else
        high = middle;
    }
    return low > 0 && low <= job.bins ? low - 1 : kNone;
  }
};

template <>
struct Binner<u8> {
  alignas(4) u16 table[256];

  __device__ void prepare(const BoxsumHistogram &job) {
    for (int i = threadIdx.x; i < 128; i += blockDim.x) ((u32 *)table)[i] = ((const u32 *)job.table)[i];
  }

  __device__ u32 operator()(const BoxsumHistogram &, u8 value) const { return table[value]; }
};

// What the threads of a block that counts share.
template <class P>
struct Counting {
  Binner<P> binner;
  alignas(8) u16 bins[kSplit][kShare * kTile];
  u32 totals[2][kSplit][32];
  u32 runs[kSplit][8][32];  // of each group, up to a chunk
};

// countRow counts a row of a channel, in chunks of which each warp has a share.
template <class P>
__device__ __forceinline__ void countRow(const BoxsumHistogram &job) {
  __shared__ Counting<P> shared;
  if (blockIdx.x == 0)
    for (int i = threadIdx.x; i < job.batches; i += kCountThreads) ((u32 *)job.written)[i] = 0;
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32, parts = job.channels * job.groups;
  u32 row = blockIdx.x / job.channels, channel = blockIdx.x - row * job.channels;  // of all images
  u32 image = row / job.height, y = row - image * job.height;
  const u8 *in = (const u8 *)job.in + image * job.inDistance + y * job.inStride + channel * (int)sizeof(P);
  u16 *plane = (u16 *)job.plane + (((i64)image * job.channels + channel) * job.height + y) * job.tiles * kTile;
  u16 *left = (u16 *)job.left + ((i64)row * job.tiles * parts + channel * job.groups) * job.slots + lane;
  u16 *bins = shared.bins[warp];
  Voter voter(lane % job.slots);
  for (int chunk = 0, turn = 0; chunk < job.tiles; chunk += kSplit * kShare) {
    int all = min(job.tiles - chunk, kSplit * kShare), each = (all + kSplit - 1) / kSplit;
    int first = chunk + warp * each, tiles = max(min(each, all - warp * each), 0);
    Quad<P> raw[kShare / 4];
#pragma unroll
    for (int k = 0; k < kShare / 4; k++) {
      int quad = 32 * k + lane, x = first * kTile + 4 * quad;
      if (quad >= tiles * kTile / 4 || x >= job.width) continue;
      if (job.quadsIn) {
        raw[k] = *(const Quad<P> *)(in + x * (int)sizeof(P));
      } else {
#pragma unroll
        for (int i = 0; i < 4; i++)
          if (x + i < job.width) raw[k].part[i] = *(const P *)(in + (i64)(x + i) * job.channels * (int)sizeof(P));
      }
    }
    if (chunk == 0) {
      shared.binner.prepare(job);
      __syncthreads();
    }
#pragma unroll
    for (int k = 0; k < kShare / 4; k++) {
      int quad = 32 * k + lane, x = first * kTile + 4 * quad;
      bool some = quad < tiles * kTile / 4;
      QuadBins found;
#pragma unroll
      for (int i = 0; i < 4; i++) found.part[i] = some && x + i < job.width ? shared.binner(job, raw[k].part[i]) : kNone;
      *(QuadBins *)&bins[4 * quad] = found;
      if (sizeof(P) > 1 && some) *(QuadBins *)&plane[x] = found;
    }
    __syncwarp();
    for (int group = 0; group < job.groups; group++, turn ^= 1) {
      u32 before[kShare], sum = 0;  // pixels of the share's tiles, and those left of each
#pragma unroll
      for (int t = 0; t < kShare; t++) before[t] = (u32)bins[t * kTile + lane] - group * job.lanes;
#pragma unroll
      for (int t = 0; t < kShare; t++) {
        u32 own = __popc(voter.mask(before[t], job.lanes));
        before[t] = sum;
        sum += own;
      }
      shared.totals[turn][warp][lane] = sum;
      __syncthreads();
      u32 run = chunk > 0 ? shared.runs[warp][group][lane] : 0, base = run;
#pragma unroll
      for (int s = 0; s < kSplit; s++) {
        u32 other = shared.totals[turn][s][lane];
        run += other;
        if (s < warp) base += other;
      }
      shared.runs[warp][group][lane] = run;
      u16 *to = left + ((i64)first * parts + group) * job.slots;
#pragma unroll
      for (int t = 0; t < kShare; t++, to += parts * job.slots)
        if (t < tiles && lane < job.slots) *to = base + before[t];
    }
    __syncwarp();  // before the bins are others
  }
  letNextBegin();  // earlier, its blocks would crowd where these have left room
}

// A Strip is how a block writes: it has kStrip columns, and a warp Steps times Across of
// them. A lane has every Across-th, so that a warp writes neighbouring entries at once.
// P is u8 for pixels that are bytes, and u16 for the bins of others.
template <class P, int Across, int Steps, int Batch = kBatch, int Lead = kLead>
struct Strip {
  static constexpr int slots = 32 / Across, warps = kStrip / (Across * Steps), threads = 32 * warps;
  static constexpr int mine = Batch / warps;  // rows of a batch whose masks a warp finds

  static __device__ __forceinline__ void write(const BoxsumHistogram &job) {
    __shared__ uint2 rows[2][Batch][32];  // for each lane: a row's mask from the strip on, and the pixels left of it
    __shared__ Binner<u8> binner;         // of bytes
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32, slot = lane % slots, parts = job.channels * job.groups;
    int part = blockIdx.x % parts, stripX = blockIdx.x / parts % job.strips;
    i64 image = blockIdx.x / parts / job.strips;
    int channel = part / job.groups, firstBin = part % job.groups * job.lanes;
    int tile = stripX * kStrip / kTile, skip = stripX * kStrip % kTile;  // the strip begins so far into a tile
    int column = warp * Steps * Across + lane / slots, x = stripX * kStrip + column;  // the lane's first
    bool bin = slot < job.lanes && firstBin + slot < job.bins;
    int columns = bin ? job.width - x : 0;  // that are left
    i64 entry = (i64)job.channels * job.bins, stride = job.outStride / 4;  // counts
    u32 *out = (u32 *)(job.out + image * job.outDistance) + (x + 1) * entry + channel * job.bins + firstBin + slot;

    // Row 0, and column 0.
    u32 sum[Steps];
#pragma unroll
    for (int s = 0; s < Steps; s++) {
      sum[s] = 0;
      if (s * Across < columns) {
        if (job.carry)
          sum[s] = out[s * Across * entry];
        else
          out[s * Across * entry] = 0;
      }
    }
    if (stripX == 0 && lane < slots && bin)
      for (int y = warp; y <= job.height; y += warps)
        if (y > 0 || !job.carry) out[y * stride - (x + 1) * entry] = 0;
    out += stride;

    const P *plane = (const P *)job.plane + ((image * job.channels + channel) * job.height) * job.tiles * kTile + tile * kTile + lane;
    i64 planeStride = (i64)job.tiles * kTile, leftStride = (i64)job.tiles * parts * slots;
    if constexpr (sizeof(P) == 1) {
      binner.prepare(job);
      plane = (const P *)(job.in + image * job.inDistance) + (tile * kTile + lane) * job.channels + channel;
      planeStride = job.inStride;
      __syncthreads();
    }
    bool inside = sizeof(P) > 1 || tile * kTile + lane < job.width;
    plane += warp * mine * planeStride;
    const u16 *left = (const u16 *)job.left + (image * job.height + warp * mine) * leftStride + (tile * parts + part) * slots + slot;
    P pixels[mine];
    u32 lefts[mine];
    auto readPixels = [&](int y) {  // the warp's rows of a batch
#pragma unroll
      for (int k = 0; k < mine; k++)
        if (inside && y + warp * mine + k < job.height) pixels[k] = plane[k * planeStride];
      plane += Batch * planeStride;
    };
    auto readLefts = [&](int y) {
#pragma unroll
      for (int k = 0; k < mine; k++) lefts[k] = y + warp * mine + k < job.height ? left[k * leftStride] : 0;
      left += Batch * leftStride;
    };
    if (sizeof(P) == 1) readPixels(0);
    waitForLast();
    if (sizeof(P) > 1) readPixels(0);
    readLefts(0);
    u32 first = blockIdx.x / job.company * job.company, company = min(gridDim.x - first, job.company);
    u32 *written = (u32 *)job.written + (i64)(blockIdx.x / job.company) * ((job.height + Batch - 1) / Batch);
    bool waits = Lead > 0;
    Voter voter(slot);
    auto down = [&](auto whole) {
      for (int y = 0, turn = 0; y < job.height; y += Batch, turn ^= 1) {
#pragma unroll
        for (int k = 0; k < mine; k++) {
          u32 found = pixels[k];
          if constexpr (sizeof(P) == 1) found = inside ? binner(job, pixels[k]) : kNone;
          u32 mask = voter.mask(found - firstBin, job.lanes);
          rows[turn][warp * mine + k][lane] = make_uint2(mask >> skip, lefts[k] + __popc(mask & ((1u << skip) - 1)));
        }
        readPixels(y + Batch);
        readLefts(y + Batch);
        __syncthreads();
        u32 others = 0;
        if (waits && threadIdx.x == 0) {
          if (y > 0) atomicAdd(written - 1, 1);
          if (y / Batch + 1 >= Lead) others = peek(written + 1 - Lead);
        }
        auto row = [&](int r) {
          uint2 here = rows[turn][r][lane];
          u32 mask = here.x >> column, run = here.y + __popc(here.x & ((1u << column) - 1));
#pragma unroll
          for (int s = 0; s < Steps; s++) {
            if constexpr (Across == 1)
              run += mask >> s & 1;
            else
              run += s == 0 ? mask & 1 : __popc(mask >> ((s - 1) * Across + 1) & ((1u << Across) - 1));
            sum[s] += run;
            if (whole.value ? bin : s * Across < columns) __stcs(out + s * Across * entry, sum[s]);
          }
          out += stride;
        };
        if (y + Batch <= job.height) {
#pragma unroll 8
          for (int r = 0; r < Batch; r++) row(r);
        } else {
          for (int r = 0; r < job.height - y; r++) row(r);
        }
        if (waits && threadIdx.x == 0 && y / Batch + 1 >= Lead && y + Batch < job.height) {
          int patience = 100;  // blocks that have not begun are not waited for
          while (others < company && patience-- > 0) others = peek(written + 1 - Lead);
          waits = patience > 0;
        }
        written++;
      }
    };
    struct Yes { enum { value = true }; };
    struct No { enum { value = false }; };
    if (__all_sync(~0u, !bin || columns > (Steps - 1) * Across))
      down(Yes{});
    else
      down(No{});
  }
};

}  // namespace

#endif
