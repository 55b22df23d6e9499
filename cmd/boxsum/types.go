package main

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/gpu"
	"github.com/boxsum/boxsum/imgio"
	"github.com/boxsum/boxsum/rotated"
)

// A pair is one pixel type with one sum type that it can be integrated to.
type pair struct {
	pixel, sum string
	is         func(img any) bool             // whether the image has these pixels
	holds      func(img any, slices int) bool // whether the sum of all of them, in so many images, is exact
	job        func(img any, squares, rows bool) (job, error)
	volume     func(stack *imgio.Stack, squares, slices bool) (volumeJob, error)
	turn       func(d *gpu.Device, img any, rot rotated.Rotation) (turned, error)
}

// pairs are all the tables that boxsum makes. The first pair of a pixel type
// is its default.
var pairs = []pair{
	pairOf[uint8, uint32, uint64](),
	pairOf[uint8, uint64, uint64](),
	pairOf[uint8, float32, uint64](),
	pairOf[uint8, float64, uint64](),
	pairOf[uint16, uint64, uint64](),
	pairOf[uint16, float64, uint64](),
	pairOf[uint32, uint64, uint64](),
	pairOf[uint32, uint32, uint64](),
	pairOf[int16, int64, uint64](),
	pairOf[int32, int64, uint64](),
	pairOf[float32, float64, float64](),
	pairOf[float32, float32, float64](),
	pairOf[float64, float64, float64](),
}

func pairOf[P boxsum.Pixel, S boxsum.Sum, Q boxsum.Square]() pair {
	return pair{
		pixel: typeName[P](),
		sum:   typeName[S](),
		is:    func(img any) bool { _, ok := img.(boxsum.Image[P]); return ok },
		holds: func(img any, slices int) bool {
			im := img.(boxsum.Image[P])
			return uint64(im.Width)*uint64(im.Height)*uint64(slices) <= largestSum[S]()/largestPixel[P]()
		},
		job: func(img any, squares, rows bool) (job, error) {
			return newTypedJob[P, S, Q](img.(boxsum.Image[P]), squares, rows)
		},
		volume: newTypedVolume[P, S, Q],
		turn: func(d *gpu.Device, img any, rot rotated.Rotation) (turned, error) {
			return newTypedTurned[P, S](d, img.(boxsum.Image[P]), rot)
		},
	}
}

// pairsFor are the pairs of the image's pixel type, its default first.
func pairsFor(img any) ([]pair, error) {
	found := slices.DeleteFunc(slices.Clone(pairs), func(p pair) bool { return !p.is(img) })
	if len(found) == 0 {
		return nil, fmt.Errorf("there are no tables of %T", img)
	}
	return found, nil
}

// pairNamed is the pair of the image's pixel type with a sum type by name, or
// the default for "auto".
func pairNamed(img any, sum string) (pair, error) {
	found, err := pairsFor(img)
	if err != nil {
		return pair{}, err
	}
	var names []string
	for _, p := range found {
		if sum == "auto" || sum == p.sum {
			return p, nil
		}
		names = append(names, p.sum)
	}
	return pair{}, fmt.Errorf("%s pixels cannot be summed as %s: choose --type auto or %s",
		found[0].pixel, sum, strings.Join(names, ", "))
}

// pairExact is the first pair whose sums hold the whole image, or a volume of so
// many slices like it, whatever the pixels.
func pairExact(img any, slices int) (pair, error) {
	found, err := pairsFor(img)
	if err != nil {
		return pair{}, err
	}
	for _, p := range found {
		if p.holds(img, slices) {
			return p, nil
		}
	}
	return pair{}, fmt.Errorf("sums of %s pixels may overflow in an image as large as this: cut it up", found[0].pixel)
}

// typeName is u8 for uint8, i16 for int16, f64 for float64.
func typeName[T boxsum.Pixel | boxsum.Sum]() string {
	t := reflect.TypeFor[T]()
	return fmt.Sprintf("%c%d", t.Kind().String()[0], t.Bits())
}

// largestPixel is the largest magnitude of a pixel type. Float pixels count
// as 1: their sums round anyway, and do not overflow.
func largestPixel[P boxsum.Pixel]() uint64 {
	switch any(*new(P)).(type) {
	case uint8:
		return math.MaxUint8
	case uint16:
		return math.MaxUint16
	case uint32:
		return math.MaxUint32
	case int16:
		return -math.MinInt16
	case int32:
		return -math.MinInt32
	}
	return 1
}

// largestSum is the number up to which a sum type holds every whole number.
func largestSum[S boxsum.Sum]() uint64 {
	switch any(*new(S)).(type) {
	case uint32:
		return math.MaxUint32
	case uint64:
		return math.MaxUint64
	case int64:
		return math.MaxInt64
	case float32:
		return 1 << 24
	}
	return 1 << 53
}
