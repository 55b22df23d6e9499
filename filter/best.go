package filter

import (
	"image"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/filters"
	"github.com/boxsum/boxsum/internal/raster"
)

// A Found is a window that [Brightest] or [Darkest] found, with the mean of its pixels.
type Found struct {
	Box  image.Rectangle
	Mean float64
}

// Brightest returns the k windows of width×height pixels with the greatest means, greatest
// first. Windows lie within the image and do not overlap: each is the best of those that
// remain. Among equal windows, the topmost comes first, then the leftmost. The mean is
// taken over all channels. Windows that contain a NaN are skipped. If fewer than k windows
// fit, Brightest returns fewer. It ignores the border.
func Brightest[P Pixel](img boxsum.Image[P], width, height, k int, opt *Options) ([]Found, error) {
	return best(&img, width, height, k, false, opt)
}

// Darkest is like [Brightest] but returns the k windows with the smallest means, smallest
// first.
func Darkest[P Pixel](img boxsum.Image[P], width, height, k int, opt *Options) ([]Found, error) {
	return best(&img, width, height, k, true, opt)
}

func best[P Pixel](img *boxsum.Image[P], width, height, k int, dark bool, opt *Options) ([]Found, error) {
	var src raster.Array
	setImage(&src, img)
	var options filters.Options
	if opt != nil {
		opt.set(&options)
	}
	found, err := filters.Best(src, width, height, k, dark, &options)
	if err != nil || found == nil {
		return nil, err
	}
	all := make([]Found, len(found))
	for i, f := range found {
		all[i] = Found(f)
	}
	return all, nil
}
