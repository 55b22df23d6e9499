package tables

import (
	"fmt"
	"image"
	"math"
	"math/big"
	"math/bits"

	"github.com/boxsum/boxsum/internal/cli/imagefile"
	"github.com/boxsum/boxsum/internal/raster"
	fromsums "github.com/boxsum/boxsum/internal/stats"
)

// fitsNoPixels refuses 64-bit integers that were read as floats although the user did not ask for
// floats.
func fitsNoPixels(src *imagefile.Source) error {
	img := &src.Image
	if img.Type != raster.F64 || src.Element != "int64" && src.Element != "uint64" {
		return nil
	}
	low, high := math.Inf(1), math.Inf(-1)
	for y := range img.Height {
		for _, v := range raster.Elems[float64](img.Row(y)) {
			low, high = min(low, v), max(high, v)
		}
	}
	return fmt.Errorf("values of %s from %.0f to %.0f do not fit in 32 bits: squares, --tilted, --volume and --on need --type f64", src.Element, low, high)
}

// direct64 answers from the pixels of boxes without rounding, with sums of 128 bits. Pixels are the
// bits of an int64 or a uint64.
type direct64 struct {
	src    raster.Array
	signed bool
}

func newDirect64(src raster.Array) oracle { return &direct64{src, src.Type.Signed()} }

func (d *direct64) size() imagefile.Extent { return imagefile.ExtentOf(d.src) }

func (d *direct64) area(b box) int64 {
	clipped := b.rectangle().Intersect(image.Rect(0, 0, d.src.Width, d.src.Height))
	return int64(clipped.Dx()) * int64(clipped.Dy())
}

// less reports whether a < b.
func (d *direct64) less(a, b uint64) bool {
	if d.signed {
		return int64(a) < int64(b)
	}
	return a < b
}

// each calls visit for the pixels of a box in one channel.
func (d *direct64) each(b box, channel int, visit func(uint64)) {
	clipped := b.rectangle().Intersect(image.Rect(0, 0, d.src.Width, d.src.Height))
	for y := clipped.Min.Y; y < clipped.Max.Y; y++ {
		row := raster.Elems[uint64](d.src.Span(clipped.Min.X, y, clipped.Dx()))
		for i := channel; i < len(row); i += d.src.Channels {
			visit(row[i])
		}
	}
}

func (d *direct64) stats(b box, channel int) stats {
	n := d.area(b)
	if n == 0 {
		return stats{sum: fromsums.SumOf(int64(0))}
	}
	var low uint64
	var high int64
	d.each(b, channel, func(v uint64) {
		var carry uint64
		low, carry = bits.Add64(low, v, 0)
		if high += int64(carry); d.less(v, 0) {
			high--
		}
	})
	sum := new(big.Int).Lsh(big.NewInt(high), 64)
	sum.Add(sum, new(big.Int).SetUint64(low))
	of := stats{sum: fromsums.Wide(high, low)}
	of.mean, _ = new(big.Rat).SetFrac(sum, big.NewInt(n)).Float64()

	// Differences from an integer near the mean are integers too, so only their squares are
	// rounded.
	near := nearest(sum, n)
	var differences, squares float64
	d.each(b, channel, func(v uint64) {
		distance := float64(v - near)
		if d.less(v, near) {
			distance = -float64(near - v)
		}
		differences += distance
		squares += distance * distance
	})
	count := float64(n)
	of.std = math.Sqrt(max(0, squares-differences*differences/count) / count)
	return of
}

// nearest returns the bits of an integer less than one away from the mean.
func nearest(sum *big.Int, n int64) uint64 {
	mean := new(big.Int).Quo(sum, big.NewInt(n))
	if mean.Sign() < 0 {
		return uint64(mean.Int64())
	}
	return mean.Uint64()
}
