package tables

import (
	"fmt"
	"image"
	"math"
	"math/big"
	"math/bits"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/cli/imagefile"
)

// fitsNoPixels refuses 64-bit integers that were read as floats although the user did not ask for
// floats.
func fitsNoPixels(src *imagefile.Source) error {
	img, ok := src.Image.(boxsum.Image[float64])
	if !ok || src.Element != "int64" && src.Element != "uint64" {
		return nil
	}
	low, high := math.Inf(1), math.Inf(-1)
	for y := range img.Height {
		for _, v := range img.Row(y) {
			low, high = min(low, v), max(high, v)
		}
	}
	return fmt.Errorf("values of %s from %.0f to %.0f do not fit in 32 bits: squares, --tilted, --volume and --on need --type f64", src.Element, low, high)
}

// direct64 answers from the pixels of boxes without rounding, with sums of 128 bits.
type direct64[T int64 | uint64] struct {
	src boxsum.Image[T]
}

func newDirect64[T int64 | uint64](src boxsum.Image[T]) oracle {
	return &direct64[T]{src}
}

func (d *direct64[T]) size() imagefile.Extent {
	return imagefile.Extent{Width: d.src.Width, Height: d.src.Height, Channels: d.src.Channels}
}

func (d *direct64[T]) area(b box) int64 {
	clipped := b.rectangle().Intersect(image.Rect(0, 0, d.src.Width, d.src.Height))
	return int64(clipped.Dx()) * int64(clipped.Dy())
}

// each calls visit for the pixels of a box in one channel.
func (d *direct64[T]) each(b box, channel int, visit func(T)) {
	clipped := b.rectangle().Intersect(image.Rect(0, 0, d.src.Width, d.src.Height))
	for y := clipped.Min.Y; y < clipped.Max.Y; y++ {
		row := d.src.Row(y)[clipped.Min.X*d.src.Channels : clipped.Max.X*d.src.Channels]
		for i := channel; i < len(row); i += d.src.Channels {
			visit(row[i])
		}
	}
}

func (d *direct64[T]) stats(b box, channel int) stats {
	n := d.area(b)
	if n == 0 {
		return stats{sum: T(0)}
	}
	var low uint64
	var high int64
	d.each(b, channel, func(v T) {
		var carry uint64
		low, carry = bits.Add64(low, uint64(v), 0)
		if high += int64(carry); v < 0 {
			high--
		}
	})
	sum := new(big.Int).Lsh(big.NewInt(high), 64)
	sum.Add(sum, new(big.Int).SetUint64(low))
	of := stats{sum: sum}
	of.mean, _ = new(big.Rat).SetFrac(sum, big.NewInt(n)).Float64()

	// Differences from an integer near the mean are integers too, so only their squares are
	// rounded.
	near := nearest[T](sum, n)
	var differences, squares float64
	d.each(b, channel, func(v T) {
		distance := float64(uint64(v) - uint64(near))
		if v < near {
			distance = -float64(uint64(near) - uint64(v))
		}
		differences += distance
		squares += distance * distance
	})
	count := float64(n)
	of.std = math.Sqrt(max(0, squares-differences*differences/count) / count)
	return of
}

// nearest returns an integer less than one away from the mean.
func nearest[T int64 | uint64](sum *big.Int, n int64) T {
	mean := new(big.Int).Quo(sum, big.NewInt(n))
	if mean.Sign() < 0 {
		return T(mean.Int64())
	}
	return T(mean.Uint64())
}
