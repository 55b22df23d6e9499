// How large the tiles of each one-pass kernel are, and how a kernel is declared
// with what the host must know of it.

#include "onepass.h"

namespace {

#if __CUDA_ARCH__ >= 900
constexpr int kSharedBytes = 227 << 10;
#else
constexpr int kSharedBytes = 99 << 10;  // of all chips from 8.0 on
#endif

template <bool First, class A, class B>
struct Pick { typedef A type; };
template <class A, class B>
struct Pick<false, A, B> { typedef B type; };

// Fit is a shape with as many stages as shared memory has room for.
template <class P, class T, class Q, int C, int WX, int WY, int RW, int Gatherers, int Stages = 8>
struct Fit {
  typedef Shape<P, C, WX, WY, RW, Stages, Gatherers> Full;
  static_assert(Stages >= 2, "no tile would be on its way while another is worked on: make the tile smaller");
  static constexpr bool fits = sizeof(Memory<Full, T, Q>) <= kSharedBytes;
  struct Fewer { typedef typename Fit<P, T, Q, C, WX, WY, RW, Gatherers, Stages - 1>::type type; };
  struct Found { typedef Full type; };
  typedef typename Pick<fits, Found, Fewer>::type::type type;
};

// Tuned is the shape for pixels of PB bytes, sums of TB and squares or none.
// The numbers are warps across, warps down, rows of each, and warps of gatherers.
template <class P, class T, class Q, int C, int PB = sizeof(P), int TB = sizeof(T), bool Squares = !Same<Q, None>::value>
struct Tuned;

#define BOXSUM_TUNE(pb, tb, squares, ...) \
  template <class P, class T, class Q, int C>       \
  struct Tuned<P, T, Q, C, pb, tb, squares> : Fit<P, T, Q, C, __VA_ARGS__> {};

// Three channels have shapes of their own, as their lanes have more values.
#define BOXSUM_TUNE3(pb, tb, squares, ...) \
  template <class P, class T, class Q>       \
  struct Tuned<P, T, Q, 3, pb, tb, squares> : Fit<P, T, Q, 3, __VA_ARGS__> {};

#if __CUDA_ARCH__ >= 900
BOXSUM_TUNE(1, 4, false, 2, 4, 32, 4)
BOXSUM_TUNE(1, 8, false, 2, 4, (C == 4 ? 16 : 32), 4)
BOXSUM_TUNE(2, 8, false, 1, (C > 1 ? 4 : 8), (C > 1 ? 32 : 16), 4)
BOXSUM_TUNE(4, 4, false, (C > 1 ? 2 : 1), (C > 1 ? 4 : 8), 16, 4)
BOXSUM_TUNE(4, 8, false, 1, 4, (C > 1 ? 16 : 32), 4)
BOXSUM_TUNE(8, 8, false, 1, 4, (C == 1 || C == 4 ? 16 : 8), 4)
BOXSUM_TUNE(1, 4, true, 2, 4, (C > 1 ? 16 : 32), 4)
BOXSUM_TUNE(1, 8, true, 2, 4, 16, 4)
BOXSUM_TUNE(2, 8, true, 1, (C == 4 ? 4 : 8), 16, 4)
BOXSUM_TUNE(4, 4, true, 1, (C == 4 ? 4 : 6), 16, 4)
BOXSUM_TUNE(4, 8, true, 1, (C == 4 ? 4 : 6), 16, 4)
BOXSUM_TUNE(8, 8, true, 1, 4, 16, 4)
BOXSUM_TUNE3(1, 4, false, 1, 8, 8, 4)
BOXSUM_TUNE3(1, 8, false, 1, 4, 16, 4)
BOXSUM_TUNE3(2, 8, false, 1, 4, 16, 4)
BOXSUM_TUNE3(4, 4, false, 1, 8, 8, 4)
BOXSUM_TUNE3(4, 8, false, 1, 7, 8, 3)
BOXSUM_TUNE3(8, 8, false, 1, 4, 16, 4)
BOXSUM_TUNE3(1, 4, true, 1, 4, 16, 4)
BOXSUM_TUNE3(1, 8, true, 1, 4, 16, 4)
BOXSUM_TUNE3(2, 8, true, 1, 4, 16, 4)
BOXSUM_TUNE3(4, 4, true, 1, 6, 8, 4)
BOXSUM_TUNE3(4, 8, true, 1, 6, 8, 4)
BOXSUM_TUNE3(8, 8, true, 1, 6, 8, 4)
#else
BOXSUM_TUNE(1, 4, false, 1, 8, 16, 4)
BOXSUM_TUNE(1, 8, false, 1, 8, 8, 4)
BOXSUM_TUNE(2, 8, false, 1, 8, 4, 4)
BOXSUM_TUNE(4, 4, false, 1, 8, 4, 4)
BOXSUM_TUNE(4, 8, false, 1, 4, 8, 4)
BOXSUM_TUNE(8, 8, false, 1, 4, 4, 4)
BOXSUM_TUNE(1, 4, true, 1, 4, 8, 4)
BOXSUM_TUNE(1, 8, true, 1, 4, 8, 4)
BOXSUM_TUNE(2, 8, true, 1, 4, 4, 4)
BOXSUM_TUNE(4, 4, true, 1, 4, 8, 4)
BOXSUM_TUNE(4, 8, true, 1, 4, 4, 4)
BOXSUM_TUNE(8, 8, true, 1, 4, 2, 4)
BOXSUM_TUNE3(1, 4, false, 1, 6, 8, 4)
BOXSUM_TUNE3(1, 8, false, 1, 4, 8, 4)
BOXSUM_TUNE3(2, 8, false, 1, 6, 8, 4)
BOXSUM_TUNE3(4, 4, false, 1, 8, 4, 4)
BOXSUM_TUNE3(4, 8, false, 1, 6, 4, 4)
BOXSUM_TUNE3(8, 8, false, 1, 3, 4, 4)
BOXSUM_TUNE3(1, 4, true, 1, 3, 8, 4)
BOXSUM_TUNE3(1, 8, true, 1, 2, 8, 4)
BOXSUM_TUNE3(2, 8, true, 1, 4, 8, 4)
BOXSUM_TUNE3(4, 4, true, 1, 5, 4, 4)
BOXSUM_TUNE3(4, 8, true, 1, 4, 4, 4)
BOXSUM_TUNE3(8, 8, true, 1, 4, 2, 4)
#endif

template <class S, class T>
struct WordsOf { static constexpr int value = Layer<S, T>::words; };
template <class S>
struct WordsOf<S, None> { static constexpr int value = 0; };

// Order is how tiles are drawn, see BoxsumJob, as it suits large images: lag is at most
// so much. Integers may look back far, as they add up what they read in any order.
template <class S, class T, class Q>
struct Order {
  static constexpr int pixel = sizeof(typename S::P);
  static constexpr bool sums = Same<Q, None>::value;  // and no squares
  static constexpr bool integers = !IsFloat<T>::value && (S::C == 1 ? sums || pixel < 4 : S::C < 4 && sums && pixel == 1);
#if __CUDA_ARCH__ >= 900
  static constexpr int strip = integers && pixel < 4 ? 128 : 0, lag = integers ? 5 : 1;
  static constexpr int ahead = pixel < 8 ? (3 << 20) / (S::width * S::height * pixel) : 0;
#else
  static constexpr int strip = integers && sums && S::C == 1 && pixel == 1 && sizeof(T) == 4 ? 128 : 0, lag = 0, ahead = 0;
#endif
};

// Tables of float32 are of pixels less a constant.
template <class T>
struct Summed { typedef Plain<T> Op; };
template <>
struct Summed<float> { typedef Shifted<float> Op; };

}  // namespace

// A kernel, and shape_ with its name: a fastShape of gpu/fast.go.
#define BOXSUM_KERNEL(name, S, T, Q)                                                                                       \
  extern "C" __device__ int shape_##name[10] = {S::width, S::height, S::threads, (int)sizeof(Memory<S, T, Q>),            \
                                                WordsOf<S, T>::value, WordsOf<S, Q>::value, (int)sizeof(BoxsumJob),        \
                                                Order<S, T, Q>::strip, Order<S, T, Q>::lag, Order<S, T, Q>::ahead};        \
  extern "C" __global__ void __launch_bounds__(S::threads, 1) name(const __grid_constant__ BoxsumJob job) {                \
    onePass<S, T, Q, Summed<T>::Op>(job);                                                                                  \
  }
