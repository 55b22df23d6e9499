// Barriers between the warps of a block, and asynchronous copies. Chips from 9.0 on copy whole
// boxes in hardware; on older ones each lane issues its own copies.
#pragma once

#include "common.h"

namespace {

__device__ inline u32 sharedAddress(const void* p) { return (u32)__cvta_generic_to_shared(p); }

#if __CUDA_ARCH__ >= 900
// keep returns a cache policy that evicts these lines from L2 last. On an H200, keeping pixels is 2
// to 3% faster.
__device__ inline u64 keep() {
  u64 policy;
  asm("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy));
  return policy;
}
#endif

// An Mbarrier is a barrier in shared memory at which some threads arrive and others wait. Every
// thread that wrote data arrives, each for its own writes. Phases are numbered from 0; wait(n)
// waits for the end of phase n.
struct Mbarrier {
  u64 word;
  __device__ u32 address() const { return sharedAddress(&word); }
  __device__ void init(int arrivals) { asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(address()), "r"(arrivals) : "memory"); }
  __device__ void arrive() {
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
  // expect arrives once, and makes the phase also wait for this many bytes of copies.
  __device__ void expect(int bytes) { asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(address()), "r"(bytes) : "memory"); }
  // copy loads the box at (x, y) of an image. Elements outside the image are zero.
  __device__ void copy(void* to, const void* map, int x, int y, int image) {
    asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.L2::cache_hint [%0], [%1, {%2, %3, %4}], [%5], %6;" ::"r"(
                     sharedAddress(to)),
                 "l"(map), "r"(x), "r"(y), "r"(image), "r"(address()), "l"(keep())
                 : "memory");
  }
#else
  // arriveWhenCopied arrives once when the copies that this thread has issued are complete.
  __device__ void arriveWhenCopied() { asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(address()) : "memory"); }
#endif
};

// kArrivals is the number of times each lane of a producer warp arrives for a tile. Before 9.0 it
// arrives a second time when its copies are complete.
#if __CUDA_ARCH__ >= 900
constexpr int kArrivals = 1;
#else
constexpr int kArrivals = 2;
#endif

// showMbarriers makes the initialization of mbarriers visible to copies.
__device__ inline void showMbarriers() {
#if __CUDA_ARCH__ >= 900
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
#endif
}

// prefetchBox loads a box into the L2 cache.
__device__ inline void prefetchBox(const void* map, int x, int y, int image) {
#if __CUDA_ARCH__ >= 900
  asm volatile("cp.async.bulk.prefetch.tensor.3d.L2.global.tile.L2::cache_hint [%0, {%1, %2, %3}], %4;" ::"l"(map),
               "r"(x), "r"(y), "r"(image), "l"(keep())
               : "memory");
#endif
}

// namedBarrier synchronizes the given number of threads of the block.
__device__ inline void namedBarrier(int id, int threads) {
  __syncwarp();  // lanes may have diverged in a look-back
  asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(threads) : "memory");
}

// --- Copies by a lane into shared memory ---

__device__ inline void copyAsync16(void* to, const void* from) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(sharedAddress(to)), "l"(from) : "memory");
}

// copyAsync copies Bytes bytes: the first take from memory, zeros for the rest.
template <int Bytes>
__device__ inline void copyAsync(u32 to, const void* from, int take) {
  if constexpr (Bytes == 16)
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(take) : "memory");
  else
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(to), "l"(from), "n"(Bytes), "r"(take) : "memory");
}

// commitCopies closes a group of copies. waitCopies<N> waits for all of the lane's groups but the
// last N.
__device__ inline void commitCopies() { asm volatile("cp.async.commit_group;" ::: "memory"); }

template <int N>
__device__ inline void waitCopies() {
  asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory");
}

// --- Copies by a lane out of shared memory, from 9.0 on ---

// bulkStore starts a copy. The threads that wrote the data must have called showToBulk. commitBulk
// closes a group, and waitBulkRead<N> waits until all of the lane's groups but the last N have been
// read from shared memory.
__device__ inline void bulkStore(char* to, const void* from, int bytes) {
#if __CUDA_ARCH__ >= 900
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to), "r"(sharedAddress(from)), "r"(bytes) : "memory");
#endif
}
__device__ inline void showToBulk() {
#if __CUDA_ARCH__ >= 900
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#endif
}
__device__ inline void commitBulk() {
#if __CUDA_ARCH__ >= 900
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
#endif
}
template <int N>
__device__ inline void waitBulkRead() {
#if __CUDA_ARCH__ >= 900
  asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(N) : "memory");
#endif
}

// --- Overlapping launches ---

// A launch may begin before the previous one has ended; it waits for its end before it reads its
// results. Chips before 9.0 do not overlap launches.
__device__ inline void letNextBegin() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;");
#endif
}

__device__ inline void waitForPrevious() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

}  // namespace
