package cli

import (
	"context"
	"fmt"
	"image"
	"math"
	"slices"
	"strings"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/gpu"
	"github.com/boxsum/boxsum/internal/pairs"
	"github.com/boxsum/boxsum/internal/sketch"
	"github.com/boxsum/boxsum/moments"
	"github.com/boxsum/boxsum/papers"
	"github.com/boxsum/boxsum/rotated"
)

//go:generate go run github.com/boxsum/boxsum/internal/pairs/expand -out pairlist.go -before "package cli\n// allPairs are all the tables that boxsum makes. The first pair of a pixel type is its default.\nvar allPairs = []pair{" -line "pairOf[{{.Pixel}}, {{.Sum}}, {{square .Pixel}}]()," -after "}"

// A pair is one pixel type with one sum type that it can be integrated to.
type pair struct {
	pixelKind
	sum    string
	wide   bool                           // 64-bit integers, which have sums and are asked directly; most of what follows is nil
	holds  func(img any, slices int) bool // whether the sum of all of them, in this many images, is exact
	job    func(src *source, want tableChoice) (job, error)
	rotate func(d *gpu.Device, img any, rot rotated.Rotation, opt *boxsum.Options) (*rotatedJob, error)

	// stream answers of boxes from a table that is in no memory.
	stream func(ctx context.Context, img any, boxes []box, report func(done float64)) (oracle, error)

	haar func(c *haarCmd, img any, opt *boxsum.Options) ([]haarValue, error)
}

// A pixelKind is what goes by the pixels alone.
type pixelKind struct {
	pixel     string
	is        func(img any) bool // whether the image has these pixels
	size      func(img any) extent
	moments   func(img any, alone bool, opt *moments.Options) (func(b image.Rectangle, channel int) (moments.Moments, error), error)
	direct    func(img any) oracle
	show      func(img any) image.Image // to look at
	mask      func(img any) (boxsum.Image[uint8], error)
	prepare   func(img any, a *papers.Algorithm, opt *papers.Options) (*papers.Job, error)
	histogram func(c *histogramCmd, img, weights any, d *gpu.Device, opt *boxsum.Options) (*histogramWork, error)
}

func pairOf[P boxsum.Pixel, S boxsum.Sum, Q boxsum.Square]() pair {
	kind, most := pixelKindOf[P](), largestSum[S]()/largestPixel[P]()
	size := kind.size
	return pair{
		pixelKind: kind,
		sum:       typeName[S](),
		holds:     func(img any, slices int) bool { return size(img).fits(slices, most) },
		job: func(src *source, want tableChoice) (job, error) {
			if src.stack != nil {
				return newSolid[P, S, Q](src.stack, want)
			}
			return newPlane[P, S, Q](src.image.(boxsum.Image[P]), want)
		},
		rotate: func(d *gpu.Device, img any, rot rotated.Rotation, opt *boxsum.Options) (*rotatedJob, error) {
			return newRotatedJob[P, S](d, img.(boxsum.Image[P]), rot, opt)
		},
		stream: newStreamed[P, S, Q],
		haar:   haarOf[P, S],
	}
}

//go:noinline
func pixelKindOf[P boxsum.Pixel]() pixelKind {
	return pixelKind{
		pixel: typeName[P](),
		is:    func(img any) bool { _, ok := img.(boxsum.Image[P]); return ok },
		size: func(img any) extent {
			src := img.(boxsum.Image[P])
			return extent{Width: src.Width, Height: src.Height, Channels: max(src.Channels, 1)}
		},
		direct:  newDirect[P],
		moments: momentsOf[P],
		show:    func(img any) image.Image { return sketch.Show(img.(boxsum.Image[P])) },
		mask:    func(img any) (boxsum.Image[uint8], error) { return maskOf(img.(boxsum.Image[P])) },
		prepare: func(img any, a *papers.Algorithm, opt *papers.Options) (*papers.Job, error) {
			return papers.Prepare(a, opt, img.(boxsum.Image[P]))
		},
		histogram: newHistogram[P],
	}
}

// fits reports whether so many slices of this size have no more pixels than most.
func (e extent) fits(slices int, most uint64) bool {
	return uint64(e.Width)*uint64(e.Height)*uint64(slices) <= most
}

// pairWhere is the first pair of the image's pixel type that is good, or else an error from the
// names of its pixels and sums.
func pairWhere(img any, good func(pair) bool, fail func(pixel, sums string) error) (pair, error) {
	found := slices.DeleteFunc(slices.Concat(allPairs, pairs64), func(p pair) bool { return !p.is(img) })
	if len(found) == 0 {
		return pair{}, fmt.Errorf("there are no tables of %T", img)
	}
	var names []string
	for _, p := range found {
		if good(p) {
			return p, nil
		}
		names = append(names, p.sum)
	}
	return pair{}, fail(found[0].pixel, strings.Join(names, ", "))
}

// pairNamed is the pair with a sum type by name, or the default for "auto".
func pairNamed(img any, sum string) (pair, error) {
	return pairWhere(img, func(p pair) bool { return sum == "auto" || sum == p.sum }, func(pixel, sums string) error {
		return fmt.Errorf("%s pixels cannot be summed as %s: choose --type auto or %s", pixel, sum, sums)
	})
}

// pairExact is the first pair whose sums hold the whole image, or a volume of this
// many slices like it, whatever the pixels.
func pairExact(img any, slices int) (pair, error) {
	return pairWhere(img, func(p pair) bool { return p.holds(img, slices) }, func(pixel, _ string) error {
		return fmt.Errorf("sums of %s pixels may overflow in an image as large as this: cut it up", pixel)
	})
}

// typeName is u8 for uint8, i16 for int16, f64 for float64.
func typeName[T boxsum.Pixel | boxsum.Sum]() string { return pairs.Of[T]().Short() }

// largestPixel is the largest magnitude of a pixel type. Float pixels count
// as 1: their sums round anyway, and do not overflow.
func largestPixel[P boxsum.Pixel]() uint64 {
	t := pairs.Of[P]()
	switch bits := 8 * t.Bytes(); {
	case t.Float():
		return 1
	case t.Signed():
		return 1 << (bits - 1)
	default:
		return 1<<bits - 1
	}
}

// largestSum is the number up to which a sum type holds every whole number.
func largestSum[S boxsum.Sum]() uint64 {
	switch t := pairs.Of[S](); t {
	case pairs.F32:
		return 1 << 24
	case pairs.F64:
		return 1 << 53
	case pairs.I64:
		return math.MaxInt64
	default:
		return math.MaxUint64 >> (64 - 8*t.Bytes())
	}
}
