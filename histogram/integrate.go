package histogram

import (
	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/bins"
	"github.com/boxsum/boxsum/internal/raster"
)

// Integrate returns the integral histogram of an image, in which every channel has
// histograms of its own:
//
//	table, err := histogram.Integrate(img, histogram.Bins{N: 32}, nil)
func Integrate[P boxsum.Pixel](img boxsum.Image[P], bins Bins, opt *Options) (*Table[uint32], error) {
	return integrate[uint32](arrayOf(&img), raster.Array{}, bins, opt)
}

// IntegrateInto computes the integral histogram of an image and stores it in dst, which
// must have the size of the image and must not overlap it. If the bins of dst have no
// range, they get the default range of the pixel type. Repeated calls with images of
// the same type do not allocate.
func IntegrateInto[P boxsum.Pixel](dst *Table[uint32], img boxsum.Image[P], opt *Options) error {
	return integrateInto(dst, arrayOf(&img), raster.Array{}, opt)
}

// IntegrateWeighted returns an integral histogram that adds, for each pixel, the weight
// at its position instead of 1, in all channels. The image of weights must have the
// same size and one channel. It supports the same pairs of weight and sum types as
// [boxsum.Integrate]:
//
//	table, err := histogram.IntegrateWeighted[float64](img, weights, histogram.Bins{N: 32}, nil)
func IntegrateWeighted[S boxsum.Sum, P, W boxsum.Pixel](img boxsum.Image[P], weights boxsum.Image[W], bins Bins, opt *Options) (*Table[S], error) {
	return integrate[S](arrayOf(&img), arrayOf(&weights), bins, opt)
}

// IntegrateWeightedInto is like [IntegrateWeighted] but stores the table in dst, which
// must have the size of the image and must overlap neither it nor the weights. If the
// bins of dst have no range, they get the default range of the pixel type.
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
