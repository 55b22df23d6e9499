// Types, values, loads and stores that all CUDA-only kernels share.
#pragma once

#include "dialect.h"

namespace {

constexpr u32 kAll = 0xffffffffu;  // the lanes of a warp

template <class T>
struct IsFloat { static constexpr bool value = false; };
template <>
struct IsFloat<float> { static constexpr bool value = true; };
template <>
struct IsFloat<double> { static constexpr bool value = true; };

template <class A, class B>
struct Same { static constexpr bool value = false; };
template <class A>
struct Same<A, A> { static constexpr bool value = true; };

template <bool First, class A, class B>
struct Pick { typedef A type; };
template <class A, class B>
struct Pick<false, A, B> { typedef B type; };

__host__ __device__ constexpr int upTo(int n, int multiple) { return (n + multiple - 1) / multiple * multiple; }

// --- Values ---

// less subtracts an offset from a float pixel, rounded to the pixel's type. Other pixels have no
// offset.
template <class P, class T>
__device__ inline P less(P p, T offset) {
  if constexpr (IsFloat<P>::value) return p - (P)offset;
  else return p;
}

// The summands: the pixel, the pixel minus a constant, or the square of either.
template <class T>
struct Plain {
  T offset;
  template <class P>
  __device__ T operator()(P p) const { return (T)less(p, offset); }
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
  __device__ T operator()(P p) const { T v = (T)less(p, offset); return v * v; }
};

// Float32 tables subtract a constant from the pixels, integers included.
template <class T>
struct Summed { typedef Plain<T> Op; };
template <>
struct Summed<float> { typedef Shifted<float> Op; };

// Narrow is the type in which a warp sums its part of a row: a shorter integer if the sum fits. 128
// 16-bit pixels, or 128 squares of bytes, fit in 32 bits. Float64 sums are exact in this range, so
// the result has the same bits.
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

// PacksRows reports whether the sums of two rows share a word. Sums of bytes fit in 16 bits, as a
// warp has at most 128 pixels of a row.
template <class P, class Summand, int VX>
struct PacksRows { static constexpr bool value = Same<P, u8>::value && Same<Summand, Plain<u32>>::value && VX % 4 == 0; };

// --- Loads and stores ---

// Word is the widest type whose size divides this number of bytes.
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

// Accesses to memory that other blocks read during the launch. An aligned 16-byte access is a
// single hardware access and never torn; CUB's scans rely on this too.
__device__ inline uint4 loadRelaxed(const uint4* p) {
  uint4 v;
  asm volatile("ld.relaxed.gpu.global.v4.u32 {%0,%1,%2,%3}, [%4];" : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(p) : "memory");
  return v;
}

__device__ inline u32 loadRelaxed(const u32* p) {
  u32 v;
  asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(v) : "l"(p));
  return v;
}

__device__ inline void storeRelaxed(uint4* p, uint4 v) {
  asm volatile("st.relaxed.gpu.global.v4.u32 [%0], {%1,%2,%3,%4};" ::"l"(p), "r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w) : "memory");
}

}  // namespace
