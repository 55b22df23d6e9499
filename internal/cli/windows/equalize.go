package windows

import (
	"fmt"
	"math"
	"time"

	"github.com/boxsum/boxsum/enhance"
	"github.com/boxsum/boxsum/internal/cli/console"
	"github.com/boxsum/boxsum/internal/cli/display"
	"github.com/boxsum/boxsum/internal/cli/flags"
	"github.com/boxsum/boxsum/internal/cli/imagefile"
	"github.com/boxsum/boxsum/internal/raster"
)

// Equalize implements the equalize command.
type Equalize struct {
	Ins             []string     `arg:"" optional:"" name:"IN" help:"Image of 8 or 16 bits (PNG, JPEG, GIF, BMP, TIFF, WebP, PNM) or .npy array; - is standard input. Several are processed in turn; one that fails does not stop the others."`
	Demo            bool         `help:"Equalize a picture of 1920×1080 that boxsum draws, instead of IN."`
	Out             string       `short:"o" placeholder:"OUT" help:"Output file: .png, .jpg, .tiff, .pgm, .ppm or .npy; - is standard output, in the format of IN if possible, else PNG. For several images, a folder such as equalized/."`
	Clip            float64      `default:"2" placeholder:"C" help:"The most by which contrast is amplified (default ${default}); 0 is no limit."`
	Tiles           flags.Window `default:"8" placeholder:"WxH" help:"Number of tiles across and down, such as 12x8, or 8 for both (default ${default}). Each is equalized by itself, and results are blended."`
	JSON            bool         `name:"json" help:"Print JSON instead of the line."`
	place           `set:"gpuhas=A GPU returns the same results."`
	imagefile.Flags `set:"color=keep"`
}

// An equalizeReport describes what equalize did.
type equalizeReport struct {
	inputReport
	Clip  float64 `json:"clip"`
	Tiles []int   `json:"tiles"`
	placeReport
	outputReport
}

// String returns the report as one line.
func (r *equalizeReport) String() string {
	return fmt.Sprintf("%v, CLAHE with %d×%d tiles, clip %s%s, %v", r.inputReport, r.Tiles[0], r.Tiles[1], display.Rounded(r.Clip), r.ending(), r.outputReport)
}

// Run equalizes the images and reports.
func (c *Equalize) Run(sh *console.Shell) error {
	images := batch{c.Ins, c.Demo, c.Out, c.JSON, "equalized", imagefile.ExtensionLike}
	if !(c.Clip >= 0) || math.IsInf(c.Clip, 0) {
		return console.Usage("--clip %v: want 0 or more", c.Clip)
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

// one equalizes one image.
func (c *Equalize) one(sh *console.Shell, on *processor, in, out string) (report, error) {
	src, format, err := openLike(sh, in, out, c.Flags, c.Demo)
	if err != nil {
		return nil, err
	}
	defer src.Close()
	r := &equalizeReport{newInputReport(src), c.Clip, []int{c.Tiles.Width, c.Tiles.Height}, on.report(), outputReport{Out: out}}
	return r, imagefile.SavePages(sh, out, format, src, func() (any, error) {
		start := time.Now()
		img, err := c.equalized(sh, on, src.Image)
		r.took(start)
		tellFailed(sh, on.device)
		return img, err
	})
}

// equalized returns the equalized image, a boxsum.Image.
func (c *Equalize) equalized(sh *console.Shell, on *processor, img raster.Array) (any, error) {
	opt := &enhance.Options{
		Across: c.Tiles.Width, Down: c.Tiles.Height, Clip: c.Clip, Color: true,
		On: on.device, Workers: on.workers, Level: on.level, Context: sh.Ctx, Progress: sh.Progress.Share("equalizing"),
	}
	if c.Clip == 0 {
		opt.Clip = -1
	}
	switch img.Type {
	case raster.U8:
		return enhance.CLAHE(imagefile.ImageOf[uint8](img), opt)
	case raster.U16:
		return enhance.CLAHE(imagefile.ImageOf[uint16](img), opt)
	}
	return nil, fmt.Errorf("pixels of %v cannot be equalized, want uint8 or uint16", img.Type)
}
