// Results from the sums of windows, with the same bits as on the CPU, and the pixels that windows
// see outside of an image.
#ifndef FILTER_H
#define FILTER_H

#include "jobs/filter.h"

// The borders, with the values of package window.
#define REFLECT101 0
#define REFLECT 1
#define REPLICATE 2
#define CONSTANT 3
#define WRAP 4
#define CLIP 5
#define OUTSIDE (-1)

// beyond maps a position outside of [0, n) to the pixel that the border puts there, at any
// distance.
FUNCTION i32 beyond(i32 i, i32 n, i32 border)
{
	if (border == CONSTANT || border == CLIP)
		return OUTSIDE;
	if (border == REPLICATE)
		return i < 0 ? 0 : n - 1;
	i32 period = border == WRAP ? n : border == REFLECT ? 2 * n : n > 1 ? 2 * n - 2 : 1;
	i %= period;
	if (i < 0)
		i += period;
	return i < n ? i : border == REFLECT101 ? period - i : period - 1 - i;
}

FUNCTION i32 index_of(i32 i, i32 n, i32 border) { return (u32)i < (u32)n ? i : beyond(i, n, border); }

// within returns how many positions of a clipped window are inside the image.
FUNCTION i32 within(i32 x, i32 before, i32 after, i32 n)
{
	i32 from = x > before ? x - before : 0, to = n - x > after ? x + after + 1 : n;
	return to - from;
}

FUNCTION u32 rounded_mean(u64 sum, u32 n)
{
	sum += n / 2;
	return sum >> 32 ? (u32)(sum / n) : (u32)sum / n;
}

#if !defined(__OPENCL_VERSION__) || defined(FLOAT64)

#define MAX_SMALL_VARIANCE 363 // bytes whose n²·variance fits in 31 bits
#define MAX_VARIANCE 33025     // bytes whose sum of squares fits in 31 bits

FUNCTION f32 mean_of(u64 sum, u32 n) { return (f32)((f64)sum * (1 / (f64)n)); }

// byte_variance matches kernel.Variances. A float64 quotient rounded to float32 equals the float32
// quotient.
FUNCTION f32 byte_variance(u32 sum, u32 squares, u32 n, f32 inverse, f32 inverse2)
{
	if (n <= MAX_SMALL_VARIANCE)
		return (f32)(i32)(n * squares - sum * sum) * inverse2;
	u32 m = (u32)rint((f32)((f64)sum / (f64)n)), more = sum - n * m, far = squares - m * (sum + more);
	f32 e = (f32)(i32)more * inverse;
	return (f32)(i32)far * inverse - e * e;
}

// variance_of returns the variance of pixels of any type.
FUNCTION f32 variance_of(u64 sum, u64 squares, u32 n, i32 bytes)
{
	f64 area = (f64)n;
	if (bytes && n <= MAX_VARIANCE)
		return byte_variance((u32)sum, (u32)squares, n, (f32)(1 / area), (f32)(1 / (area * area)));
	return (f32)((f64)(squares * n - sum * sum) * (1 / (area * area)));
}

// A float64 square root rounded to float32 equals the float32 square root.
FUNCTION f32 root_of(f32 v) { return (f32)sqrt((f64)v); }

// sauvola returns 0 for black. Where rounding makes the variance of bytes negative there is no
// threshold, and the pixel is white, as in Doxa.
FUNCTION u32 sauvola(u32 pixel, u64 sum, u64 squares, u32 n, i32 bytes, f64 k, f64 inverseR)
{
	f64 inverse = 1 / (f64)n, mean = (f64)sum * inverse, variance = (f64)squares * inverse - mean * mean;
	if (!bytes && variance < 0)
		variance = 0;
	return (f64)pixel <= mean * (1 + k * (sqrt(variance) * inverseR - 1)) ? 0 : 255;
}

#endif

#endif
