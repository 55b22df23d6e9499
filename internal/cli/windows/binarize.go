package windows

import (
	"fmt"
	"math/bits"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/filter"
	"github.com/boxsum/boxsum/internal/cli/imagefile"
	"github.com/boxsum/boxsum/threshold"
)

// A thresholdWork is a rule, and what is to be made by it.
type thresholdWork struct {
	rule         threshold.Rule
	opt          *threshold.Options
	bits, mapped bool // what is wanted
	invert       bool

	black      threshold.Bitmap
	thresholds any
}

// apply makes an image of any type black and white.
func (w *thresholdWork) apply(img any) error {
	switch img := img.(type) {
	case boxsum.Image[uint8]:
		return applyThreshold(w, img, 255)
	case boxsum.Image[uint16]:
		if w.rule.Method >= threshold.ISauvola { // these count 8-bit values
			narrow, err := imagefile.Converted(img, imagefile.UpperByte)
			if err != nil {
				return err
			}
			return w.apply(narrow)
		}
		return applyThreshold(w, img, 65535)
	case boxsum.Image[float32]:
		return applyThreshold(w, img, 1)
	case boxsum.Image[float64]:
		return applyThreshold(w, img, 1)
	}
	return fmt.Errorf("thresholds need pixels of uint8, uint16, float32 or float64, not %v", imagefile.PixelOf(img))
}

func applyThreshold[P filter.Pixel](w *thresholdWork, img boxsum.Image[P], white P) (err error) {
	if w.invert {
		if img, err = imagefile.Converted(img, func(v float64) P { return white - P(v) }); err != nil {
			return err
		}
	}
	if w.mapped {
		if w.thresholds, err = threshold.Map[float32](img, w.rule, w.opt); err != nil {
			return err
		}
	}
	if w.bits {
		w.black, err = threshold.BinarizeBits(img, w.rule, w.opt)
	}
	return err
}

// countBits returns the number of bits that are 1.
func countBits(row []byte) (n int) {
	for _, b := range row {
		n += bits.OnesCount8(b)
	}
	return n
}
