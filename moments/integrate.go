package moments

import (
	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/moment"
	"github.com/boxsum/boxsum/internal/raster"
)

// Integrate returns the table of an image, which it computes in one pass over the
// pixels. Float pixels require another pass to find the one with the largest
// magnitude.
func Integrate[P boxsum.Pixel](img boxsum.Image[P], opt *Options) (*Table, error) {
	t, err := moment.Integrate(arrayOf(&img), opt.engine())
	if err != nil {
		return nil, err
	}
	return tableOf(t), nil
}

// IntegrateInto computes the table of an image and stores it in dst, which must come
// from [NewTable] or [Integrate] for an image of the same size. The pixels must also
// be of the same group as in that call: 8- and 16-bit pixels are one group, and all
// others are another. Repeated calls with images of the same type allocate only a few
// small objects.
func IntegrateInto[P boxsum.Pixel](dst *Table, img boxsum.Image[P], opt *Options) error {
	var t *moment.Table // moment.Table.Integrate returns an error for nil
	if dst != nil {
		t = dst.sums
	}
	return t.Integrate(arrayOf(&img), opt.engine())
}

func arrayOf[P boxsum.Pixel](img *boxsum.Image[P]) raster.Array {
	return raster.ArrayOf(img.Pix, raster.PlaneExtent(img.Width, img.Height, img.Channels, img.Stride))
}
