package tables

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/cli/imagefile"
	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/papers"
)

// A pair is a type of pixels and a type of sums.
type pair struct {
	pixel, sum, square raster.Type
	wide               bool // 64-bit integers, which only have sums and direct queries
}

// allPairs lists the supported pairs. The first pair of a pixel type is its default.
var allPairs = func() (all []pair) {
	for _, p := range raster.SumPairs {
		wide := p.Pixel.Bytes() == 8 && !p.Pixel.Float()
		all = append(all, pair{pixel: p.Pixel, sum: p.Sum, square: raster.SquarePairs.Default(p.Pixel), wide: wide})
	}
	return all
}()

// job returns the job that makes the tables of a source, whose pixels have the type of the pair.
func (p pair) job(src *imagefile.Source, want tableChoice) (job, error) {
	if src.Stack != nil {
		return newSolid(p, src.Stack, want)
	}
	return newPlane(p, src.Image, want)
}

// holds reports whether the sum of all pixels of the given number of slices is exact. There is no
// better type for 64-bit integers.
func (p pair) holds(img raster.Array, slices int) bool {
	return p.wide || imagefile.ExtentOf(img).Fits(slices, largestSum(p.sum)/largestPixel(p.pixel))
}

// directOf returns an oracle that reads the pixels of an image.
func directOf(img raster.Array) oracle {
	if img.Type == raster.I64 || img.Type == raster.U64 {
		return newDirect64(img)
	}
	return newDirect(img)
}

// prepare returns the job of a published algorithm for an image.
func prepare(img raster.Array, a *papers.Algorithm, opt *papers.Options) (*papers.Job, error) {
	if f := preparers[img.Type]; f != nil {
		return f(img, a, opt)
	}
	return nil, fmt.Errorf("pixels of %v cannot be summed by %s, want integers of at most 32 bits or floats", img.Type, a.Name)
}

// preparers holds the instances of [papers.Prepare], by type of pixels.
var preparers = [raster.NumTypes]func(img raster.Array, a *papers.Algorithm, opt *papers.Options) (*papers.Job, error){
	raster.U8: prepareOf[uint8], raster.U16: prepareOf[uint16], raster.U32: prepareOf[uint32],
	raster.I16: prepareOf[int16], raster.I32: prepareOf[int32], raster.F32: prepareOf[float32], raster.F64: prepareOf[float64],
}

func prepareOf[P boxsum.Pixel](img raster.Array, a *papers.Algorithm, opt *papers.Options) (*papers.Job, error) {
	return papers.Prepare(a, opt, imagefile.ImageOf[P](img))
}

// pairWhere returns the first pair of the image's pixel type that satisfies good. Otherwise it
// calls fail with the names of the types.
func pairWhere(img raster.Array, good func(pair) bool, fail func(pixel, sums string) error) (pair, error) {
	pixel := img.Type
	found := slices.DeleteFunc(slices.Clone(allPairs), func(p pair) bool { return p.pixel != pixel })
	if len(found) == 0 {
		return pair{}, fmt.Errorf("pixels of %v cannot be summed, want integers of at most 32 bits or floats", pixel)
	}
	var names []string
	for _, p := range found {
		if good(p) {
			return p, nil
		}
		names = append(names, p.sum.Short())
	}
	return pair{}, fail(pixel.Short(), strings.Join(names, ", "))
}

// pairNamed returns the pair with the named sum type, or the default for "auto".
func pairNamed(img raster.Array, sum string) (pair, error) {
	return pairWhere(img, func(p pair) bool { return sum == "auto" || sum == p.sum.Short() }, func(pixel, sums string) error {
		return fmt.Errorf("%s pixels cannot be summed as %s: choose --type auto or %s", pixel, sum, sums)
	})
}

// pairExact returns the first pair whose sums cannot overflow for an image, or for a volume of the
// given number of slices.
func pairExact(img raster.Array, slices int) (pair, error) {
	return pairWhere(img, func(p pair) bool { return p.holds(img, slices) }, func(pixel, _ string) error {
		return fmt.Errorf("sums of %s pixels may overflow in an image of this size (split the image)", pixel)
	})
}

// largestPixel returns the largest magnitude of a pixel type. Float pixels count as 1: their sums
// round and do not overflow.
func largestPixel(t raster.Type) uint64 {
	switch bits := 8 * t.Bytes(); {
	case t.Float():
		return 1
	case t.Signed():
		return 1 << (bits - 1)
	default:
		return 1<<bits - 1
	}
}

// largestSum returns the largest number up to which a sum type represents all integers.
func largestSum(t raster.Type) uint64 {
	switch t {
	case raster.F32:
		return 1 << 24
	case raster.F64:
		return 1 << 53
	case raster.I64:
		return math.MaxInt64
	default:
		return math.MaxUint64 >> (64 - 8*t.Bytes())
	}
}
