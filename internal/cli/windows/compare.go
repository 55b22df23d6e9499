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
	Truth           string  `arg:"" name:"TRUTH" help:"True image; - is standard input. Without --ssim, --msssim or --lncc, pixels below 128 are black."`
	Image           string  `arg:"" name:"IMAGE" help:"Image of the same size to compare; - is standard input."`
	SSIM            bool    `name:"ssim" help:"Compare gray or color images: structural similarity, 1 for equal images, with PSNR and MSE."`
	MSSSIM          bool    `name:"msssim" help:"Like --ssim, over five scales."`
	LNCC            bool    `name:"lncc" help:"Local normalized cross-correlation, squared: 1 where windows differ in brightness and contrast only."`
	Out             string  `short:"o" placeholder:"MAP" help:"Write the similarity of the window around every pixel: .npy, .tiff, or a picture, white where the images are equal. For --ssim or --lncc."`
	Window          int     `placeholder:"N" help:"Side of the windows of --ssim and --lncc, an odd number of pixels (default 7 for --ssim, 9 for --lncc)."`
	Sigma           float64 `placeholder:"S" help:"Standard deviation of Gaussian weights for the windows of --ssim, such as 1.5 (default: all pixels of a window count the same)."`
	Range           float64 `placeholder:"R" help:"Difference between the greatest and the smallest possible pixel (default 255 for 8 bits, 65535 for 16 bits). Floats require it."`
	NaN             string  `name:"nan" enum:"keep,skip" default:"keep" help:"How to treat NaN: with keep, it makes the result NaN; skip leaves out pixels that are NaN in either image."`
	Mask            string  `placeholder:"FILE" help:"Leave out pixels where this image or .npy array of the same size is zero."`
	JSON            bool    `name:"json" help:"Print JSON instead of lines."`
	place           `set:"gpuhas=A GPU computes --ssim of 8- and 16-bit pixels, without --sigma and --mask, with the same results."`
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
	if c.Truth == console.Standard && c.Image == console.Standard {
		return console.Usage("standard input can be one image only: name a file for the other")
	}
	if err := c.place.check(); err != nil {
		return err
	}
	if c.SSIM || c.MSSSIM || c.LNCC {
		return c.similarity(sh)
	}
	if c.Out != "" || c.Window != 0 || c.Sigma != 0 || c.Range != 0 || c.NaN == "skip" || c.Mask != "" || c.onGPU() {
		return console.Usage("-o, --window, --sigma, --range, --nan, --mask and --on are for --ssim, --msssim and --lncc: add one of them")
	}
	truth, err := c.read(sh, c.Truth)
	if err != nil {
		return err
	}
	out, err := c.read(sh, c.Image)
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
	by := imagefile.Byte // copied, because the file will be closed
	switch pixel := src.Image.Type; pixel {
	case raster.U8:
	case raster.U16:
		by = imagefile.UpperByte
	default:
		return img, fmt.Errorf("%s: pixels are %v, want uint8 or uint16 for a black-and-white image", imagefile.NameOf(path), pixel)
	}
	bytes, err := imagefile.Converted(src.Image, by)
	return imagefile.ImageOf[uint8](bytes), err
}
