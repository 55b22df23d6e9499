package windows

import (
	"fmt"
	"math/bits"

	"github.com/boxsum/boxsum/internal/cli/imagefile"
	"github.com/boxsum/boxsum/internal/filters"
	"github.com/boxsum/boxsum/internal/pixels"
	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/internal/thresholds"
	"github.com/boxsum/boxsum/threshold"
)

// A thresholdWork is a threshold rule and the kind of result to make.
type thresholdWork struct {
	job          thresholds.Job // without images
	bits, mapped bool           // write bits, or write the thresholds
	invert       bool

	black      threshold.Bitmap
	thresholds any
}

// apply binarizes an image of any type.
func (w *thresholdWork) apply(img any) (err error) {
	t := pixels.Of(img).Type
	if t == raster.U16 && w.job.Rule.Method >= thresholds.ISauvola { // these methods use histograms of 8-bit values
		if img, err = imagefile.Converted(img, imagefile.UpperByte); err != nil {
			return err
		}
		t = raster.U8
	}
	if !filters.TakesPixels(t) {
		return fmt.Errorf("thresholds need pixels of uint8, uint16, float32 or float64, not %v", t)
	}
	if w.invert {
		if img, err = inverted(img, t); err != nil {
			return err
		}
	}
	j := w.job
	j.Src = pixels.Of(img)
	if w.mapped {
		j.Form = thresholds.AsMap
		made, err := j.Make(raster.F32)
		if err != nil {
			return err
		}
		if w.thresholds, err = pixels.Image(made); err != nil {
			return err
		}
	}
	if !w.bits {
		return nil
	}
	j.Form = thresholds.AsBits
	if err = j.Check(); err != nil {
		return err
	}
	black, err := threshold.NewBitmap(j.Src.Width, j.Src.Height)
	if err != nil {
		return err
	}
	j.Bits = black.Width
	raster.SetPlane(&j.Dst, black.Bits, (black.Width+7)/8, black.Height, 1, black.Stride)
	if err = j.Run(); err == nil {
		w.black = black
	}
	return err
}

// inverted returns an image with black and white exchanged.
func inverted(img any, t raster.Type) (any, error) {
	switch t {
	case raster.U8:
		return imagefile.Converted(img, func(v float64) uint8 { return 255 - uint8(v) })
	case raster.U16:
		return imagefile.Converted(img, func(v float64) uint16 { return 65535 - uint16(v) })
	case raster.F32:
		return imagefile.Converted(img, func(v float64) float32 { return 1 - float32(v) })
	}
	return imagefile.Converted(img, func(v float64) float64 { return 1 - v })
}

// countBits returns the number of bits that are set.
func countBits(row []byte) (n int) {
	for _, b := range row {
		n += bits.OnesCount8(b)
	}
	return n
}
