package imgio

import (
	"fmt"
	"math"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/raster"
)

// mostExact is the limit up to which float64 represents every integer.
const mostExact = 1 << 53

// pixels returns the array with elements that are pixels: itself, or 64-bit
// integers as int32 if all fit, else as uint32, else as float64 if that is
// exact.
func (a *Array) pixels() (*Array, error) {
	switch data := a.Data.(type) {
	case []int64:
		return narrowed(a, data)
	case []uint64:
		return narrowed(a, data)
	}
	return a, nil
}

func narrowed[T int64 | uint64](a *Array, data []T) (*Array, error) {
	low, high := rangeOf(data)
	var made any
	var err error
	switch {
	case signed[T]() && holds[int32](low, high):
		made, err = converted[int32](data)
	case holds[uint32](low, high):
		made, err = converted[uint32](data)
	case holds[float64](low, high):
		made, err = converted[float64](data)
	default:
		return nil, tooWide(low, high, "2^53, up to which float64 is exact (subtract a constant or divide first)")
	}
	if err != nil {
		return nil, err
	}
	return &Array{Shape: a.Shape, Data: made}, nil
}

// tooWide returns the error for integers that no pixel type holds.
func tooWide[T int64 | uint64](low, high T, limit string) error {
	return raster.Unsupported("values of %T from %d to %d do not fit in %s", low, low, high, limit)
}

// signed reports whether a type has negative numbers.
func signed[T int64 | uint64]() bool { return *new(T)-1 < 0 }

// rangeOf returns the smallest and the largest number, or 0 for both if there
// is none.
func rangeOf[T int64 | uint64](data []T) (low, high T) {
	if len(data) == 0 {
		return 0, 0
	}
	low, high = data[0], data[0]
	for _, v := range data {
		low, high = min(low, v), max(high, v)
	}
	return low, high
}

// holds reports whether pixels of type P represent all integers from low to
// high exactly.
func holds[P boxsum.Pixel, T int64 | uint64](low, high T) bool {
	least, most := int64(0), uint64(0)
	switch any(*new(P)).(type) {
	case uint8:
		most = math.MaxUint8
	case uint16:
		most = math.MaxUint16
	case uint32:
		most = math.MaxUint32
	case int16:
		least, most = math.MinInt16, math.MaxInt16
	case int32:
		least, most = math.MinInt32, math.MaxInt32
	case float32:
		least, most = -1<<24, 1<<24
	case float64:
		least, most = -mostExact, mostExact
	}
	return (low >= 0 || int64(low) >= least) && (high < 0 || uint64(high) <= most)
}

func converted[P boxsum.Pixel, T int64 | uint64](data []T) ([]P, error) {
	made, err := raster.Make[P](len(data))
	for i := range made {
		made[i] = P(data[i])
	}
	return made, err
}

// image64 returns an array of 64-bit integers as an image that shares its
// memory. It returns nil for other arrays and, unless all is set, for integers
// that fit another pixel type.
func (a *Array) image64(all bool) (any, error) {
	switch data := a.Data.(type) {
	case []int64:
		return image64Of(a, data, all)
	case []uint64:
		return image64Of(a, data, all)
	}
	return nil, nil
}

func image64Of[T int64 | uint64](a *Array, data []T, all bool) (any, error) {
	if !all {
		low, high := rangeOf(data)
		if signed[T]() && holds[int32](low, high) || !signed[T]() && holds[uint32](low, high) {
			return nil, nil
		}
	}
	width, height, channels, n, err := imageShape(a.Shape, len(data))
	if err != nil {
		return nil, err
	}
	return boxsum.Image[T]{Pix: data[:n], Stride: width * channels, Width: width, Height: height, Channels: channels}, nil
}

// pixelsAs converts an image of 64-bit integers to pixels of type P, which must hold
// all of their values. ok is false for other images.
func pixelsAs[P boxsum.Pixel](img any) (made boxsum.Image[P], ok bool, err error) {
	switch img := img.(type) {
	case boxsum.Image[int64]:
		made, err = image32[P](img)
		return made, true, err
	case boxsum.Image[uint64]:
		made, err = image32[P](img)
		return made, true, err
	}
	return made, false, nil
}

func image32[P boxsum.Pixel, T int64 | uint64](img boxsum.Image[T]) (boxsum.Image[P], error) {
	low, high := rangeOf(img.Pix)
	if !holds[P](low, high) {
		return boxsum.Image[P]{}, tooWide(low, high, fmt.Sprintf("pixels of %T", *new(P)))
	}
	pix, err := converted[P](img.Pix)
	if err != nil {
		return boxsum.Image[P]{}, err
	}
	return boxsum.Image[P]{Pix: pix, Stride: img.Stride, Width: img.Width, Height: img.Height, Channels: img.Channels}, nil
}

// halfToFloat converts a float16 to float32, which is exact.
func halfToFloat(h uint16) float32 {
	const bias = 127 - 15
	sign, exponent, fraction := uint32(h>>15)<<31, uint32(h>>10&0x1f), uint32(h&0x3ff)
	switch exponent {
	case 0: // zero and subnormal numbers
		small := float32(fraction) * 0x1p-24
		return math.Float32frombits(math.Float32bits(small) | sign)
	case 0x1f: // infinity and NaN
		return math.Float32frombits(sign | 0xff<<23 | fraction<<13)
	}
	return math.Float32frombits(sign | (exponent+bias)<<23 | fraction<<13)
}

// widened returns a function that converts the elements of a file to a wider
// type.
func widened[From, To Element](to func(From) To) func(any) (any, error) {
	return func(data any) (any, error) {
		from := data.([]From)
		made, err := raster.Make[To](len(from))
		for i := range made {
			made[i] = to(from[i])
		}
		if err != nil {
			return nil, fmt.Errorf("reading .npy: %w", err)
		}
		return made, nil
	}
}
