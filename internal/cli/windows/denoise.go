package windows

import (
	"fmt"
	"math"
	"time"

	"github.com/boxsum/boxsum/denoise"
	"github.com/boxsum/boxsum/internal/cli/console"
	"github.com/boxsum/boxsum/internal/cli/display"
	"github.com/boxsum/boxsum/internal/cli/imagefile"
	"github.com/boxsum/boxsum/internal/raster"
)

// Denoise implements the denoise command.
type Denoise struct {
	Ins             []string `arg:"" optional:"" name:"IN" help:"Image of 8 or 16 bits (PNG, JPEG, GIF, BMP, TIFF, WebP, PNM) or .npy array; - is standard input. Several are processed in turn; one that fails does not stop the others."`
	Demo            bool     `help:"Denoise a picture of 1920×1080 that boxsum draws, instead of IN."`
	Out             string   `short:"o" placeholder:"OUT" help:"Output file: .png, .jpg, .tiff, .pgm, .ppm or .npy; - is standard output, in the format of IN if possible, else PNG. For several images, a folder such as denoised/."`
	Strength        float64  `default:"3" placeholder:"H" help:"How much the surroundings of two pixels may differ, in gray levels: about the standard deviation of the noise (default ${default})."`
	Patch           int      `default:"7" placeholder:"N" help:"Side in pixels of the surroundings that are compared (default ${default})."`
	Search          int      `default:"21" placeholder:"N" help:"Side in pixels of the area that is searched around each pixel (default ${default}). The time grows with its square."`
	JSON            bool     `name:"json" help:"Print JSON instead of the line."`
	place           `set:"gpuhas=A GPU returns the same results."`
	imagefile.Flags `set:"color=keep"`
}

// A denoiseReport describes what denoise did.
type denoiseReport struct {
	inputReport
	Strength float64 `json:"strength"`
	Patch    int     `json:"patch"`
	Search   int     `json:"search"`
	placeReport
	outputReport
}

// String returns the report as one line.
func (r *denoiseReport) String() string {
	return fmt.Sprintf("%v, non-local means of strength %s%s, %v", r.inputReport, display.Rounded(r.Strength), r.ending(), r.outputReport)
}

// Run denoises the images and reports.
func (c *Denoise) Run(sh *console.Shell) error {
	images := batch{c.Ins, c.Demo, c.Out, c.JSON, "denoised", imagefile.ExtensionLike}
	switch {
	case !(c.Strength > 0) || math.IsInf(c.Strength, 0):
		return console.Usage("--strength %v: want more than 0", c.Strength)
	case c.Patch < 1 || c.Search < 1:
		return console.Usage("--patch %d --search %d: want 1 or more", c.Patch, c.Search)
	}
	if err := images.check(); err != nil {
		return err
	}
	on, err := c.choose()
	if err != nil {
		return err
	}
	return images.run(sh, func(in, out string) (report, error) { return c.one(sh, &on, in, out) })
}

// one denoises one image.
func (c *Denoise) one(sh *console.Shell, on *processor, in, out string) (report, error) {
	src, format, err := openLike(sh, in, out, c.Flags, c.Demo)
	if err != nil {
		return nil, err
	}
	defer src.Close()
	r := &denoiseReport{newInputReport(src), c.Strength, c.Patch, c.Search, on.report(), outputReport{Out: out}}
	return r, imagefile.SavePages(sh, out, format, src, func() (any, error) {
		start := time.Now()
		img, err := c.denoised(sh, on, src.Image)
		r.took(start)
		tellFailed(sh, on.device)
		return img, err
	})
}

// denoised returns the image without noise, a boxsum.Image.
func (c *Denoise) denoised(sh *console.Shell, on *processor, img raster.Array) (any, error) {
	opt := &denoise.Options{
		Strength: c.Strength, Patch: c.Patch, Search: c.Search,
		On: on.device, Workers: on.workers, Level: on.level, Context: sh.Ctx, Progress: sh.Progress.Share("denoising"),
	}
	switch img.Type {
	case raster.U8:
		return denoise.NonLocalMeans(imagefile.ImageOf[uint8](img), opt)
	case raster.U16:
		return denoise.NonLocalMeans(imagefile.ImageOf[uint16](img), opt)
	}
	return nil, fmt.Errorf("pixels of %v cannot be denoised, want uint8 or uint16", img.Type)
}
