// Package products sums the products of two images, to compute the covariance and the
// correlation of any box in constant time.
//
//	a, err := boxsum.IntegrateSquares[uint32, uint64](left, nil)
//	b, err := boxsum.IntegrateSquares[uint32, uint64](right, nil)
//	ab, err := products.Integrate[uint64](left, right, nil)
//	pair, err := products.PairOf(a, b, ab)
//	r := pair.Correlation(image.Rect(10, 10, 19, 19), 0)
//
// [Pair.Correlation] is the zero-normalized cross-correlation of a window, known as ZNCC
// in stereo matching and as LNCC in image registration.
//
// # Types
//
// Both images must have the same type of pixels and the same size. The table is an
// ordinary [boxsum.Table] with all of its queries:
//
//	pixels    sums
//	uint8     uint64, float64 or uint32
//	uint16    uint64 or uint32
//	int16     int64
//	float32   float64
//	float64   float64
//
// Products of integers and of float32 pixels are exact; those of float64 pixels are
// rounded. Sums of integers are exact modulo their type. Results are bit-identical at
// every level and with any number of workers.
package products
