package windows

import (
	"fmt"
	"math/bits"

	"github.com/boxsum/boxsum/internal/cli/imagefile"
	"github.com/boxsum/boxsum/internal/filters"
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
	thresholds raster.Array
}

// apply binarizes an image.
func (w *thresholdWork) apply(img raster.Array) (err error) {
	if img.Type == raster.U16 && w.job.Rule.Method >= thresholds.ISauvola { // these methods use histograms of 8-bit values
		if img, err = imagefile.Converted(img, imagefile.UpperByte); err != nil {
			return err
		}
	}
	if !filters.TakesPixels(img.Type) {
		return fmt.Errorf("pixels are %v, want uint8, uint16, float32 or float64", img.Type)
	}
	if w.invert {
		if img, err = inverted(img); err != nil {
			return err
		}
	}
	j := w.job
	j.Src = img
	if w.mapped {
		j.Form = thresholds.AsMap
		if w.thresholds, err = j.Make(raster.F32); err != nil {
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
func inverted(img raster.Array) (raster.Array, error) {
	switch img.Type {
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
