package windows

import (
	"fmt"
	"math"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/cli/console"
	"github.com/boxsum/boxsum/internal/cli/display"
	"github.com/boxsum/boxsum/internal/cli/imagefile"
	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/threshold"
)

// Compare implements the compare command.
type Compare struct {
	Truth           string `arg:"" name:"TRUTH" help:"True image; pixels below 128 are black; - is standard input."`
	Out             string `arg:"" name:"OUT" help:"Image of the same size to compare; - is standard input."`
	JSON            bool   `name:"json" help:"Print JSON instead of lines."`
	imagefile.Flags `set:"color=auto"`
}

// A comparison scores an image against the ground truth. Infinite scores are null.
type comparison struct {
	FMeasure       float64  `json:"f_measure"`
	Precision      float64  `json:"precision"`
	Recall         float64  `json:"recall"`
	PSNR           *float64 `json:"psnr"`
	DRD            *float64 `json:"drd"`
	TruePositives  int64    `json:"true_positives"`
	FalsePositives int64    `json:"false_positives"`
	FalseNegatives int64    `json:"false_negatives"`
	TrueNegatives  int64    `json:"true_negatives"`
}

// Run prints the scores of an image.
func (c *Compare) Run(sh *console.Shell) error {
	if c.Truth == console.Standard && c.Out == console.Standard {
		return console.Usage("standard input can be one image only: name a file for the other")
	}
	truth, err := c.read(sh, c.Truth)
	if err != nil {
		return err
	}
	out, err := c.read(sh, c.Out)
	if err != nil {
		return err
	}
	s, err := threshold.Compare(truth, out)
	if err != nil {
		return err
	}
	w := sh.Results()
	if c.JSON {
		return display.JSON(w, comparison{
			s.FMeasure, s.Precision, s.Recall, orNull(s.PSNR), orNull(s.DRD), s.TruePositives, s.FalsePositives, s.FalseNegatives, s.TrueNegatives,
		})
	}
	_, err = fmt.Fprintf(w, "F-measure %.2f%% (precision %.2f%%, recall %.2f%%)\nPSNR      %.2f dB\nDRD       %.3f\n", s.FMeasure, s.Precision, s.Recall, s.PSNR, s.DRD)
	return err
}

func orNull(v float64) *float64 {
	if math.IsInf(v, 0) {
		return nil
	}
	return &v
}

// read reads an image as bytes. Of 16-bit pixels it takes the upper half.
func (c *Compare) read(sh *console.Shell, path string) (img boxsum.Image[uint8], err error) {
	src, err := imagefile.Open(sh, path, &c.Flags, false)
	if err != nil {
		return img, err
	}
	defer src.File.Close()
	switch imagefile.PixelOf(src.Image) {
	case raster.U8: // copied, because the file will be closed
		return imagefile.Converted(src.Image, func(v float64) uint8 { return uint8(v) })
	case raster.U16:
		return imagefile.Converted(src.Image, imagefile.UpperByte)
	}
	return img, fmt.Errorf("%s: pixels are %[2]v, want uint8 or uint16 for a black-and-white image", imagefile.NameOf(path), imagefile.PixelOf(src.Image))
}
