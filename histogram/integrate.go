package histogram

import (
	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/bins"
	"github.com/boxsum/boxsum/internal/raster"
)

// Integrate returns the integral histogram of an image:
//
//	table, err := histogram.Integrate(img, histogram.Bins{N: 32}, nil)
func Integrate[P boxsum.Pixel](img boxsum.Image[P], bins Bins, opt *Options) (*Table[uint32], error) {
	return integrate[uint32](arrayOf(&img), raster.Array{}, bins, opt)
}

// IntegrateInto makes the integral histogram of an image in dst, which must have the
// size of the image and must not overlap it. If dst has no range, it gets that of the
// pixels of the first image. Repeated calls with images of the same type do not
// allocate.
func IntegrateInto[P boxsum.Pixel](dst *Table[uint32], img boxsum.Image[P], opt *Options) error {
	return integrateInto(dst, arrayOf(&img), raster.Array{}, opt)
}

// IntegrateWeighted returns an integral histogram in which each pixel counts as much as
// the weight at its position, in all channels. The image of weights has the same size
// and one channel; the pairs of weight and sum types are those of [boxsum.Integrate]:
//
//	table, err := histogram.IntegrateWeighted[float64](img, weights, histogram.Bins{N: 32}, nil)
func IntegrateWeighted[S boxsum.Sum, P, W boxsum.Pixel](img boxsum.Image[P], weights boxsum.Image[W], bins Bins, opt *Options) (*Table[S], error) {
	return integrate[S](arrayOf(&img), arrayOf(&weights), bins, opt)
}

// IntegrateWeightedInto is like [IntegrateWeighted], but makes the table in dst.
func IntegrateWeightedInto[S boxsum.Sum, P, W boxsum.Pixel](dst *Table[S], img boxsum.Image[P], weights boxsum.Image[W], opt *Options) error {
	return integrateInto(dst, arrayOf(&img), arrayOf(&weights), opt)
}

func integrate[S boxsum.Sum](src, weights raster.Array, b Bins, opt *Options) (*Table[S], error) {
	t, err := bins.Integrate(raster.TypeOf[S](), src, weights, b.core(), opt.engine())
	if err != nil {
		return nil, err
	}
	return tableOf[S](t), nil
}

func integrateInto[S boxsum.Sum](dst *Table[S], src, weights raster.Array, opt *Options) error {
	j, err := bins.Check(raster.TypeOf[S](), src, weights, opt.engine())
	if err != nil {
		return err
	}
	if dst == nil {
		return raster.NoTable()
	}
	t := bins.Table{Counts: raster.ArrayOf(dst.Counts, raster.PlaneExtent(dst.Width, dst.Height, dst.Channels, 0)), Range: dst.Bins.core()}
	err = j.Fill(&t)
	dst.Bins = binsOf(t.Range)
	return err
}

func arrayOf[P boxsum.Pixel](img *boxsum.Image[P]) raster.Array {
	return raster.ArrayOf(img.Pix, raster.PlaneExtent(img.Width, img.Height, img.Channels, img.Stride))
}
