package windows

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/boxsum/boxsum/denoise"
	"github.com/boxsum/boxsum/internal/cli/console"
	"github.com/boxsum/boxsum/internal/cli/display"
	"github.com/boxsum/boxsum/internal/cli/flags"
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
	imagefile.Extent
	In       string  `json:"in,omitempty"` // set if there are several inputs
	Pixels   string  `json:"pixels"`
	Strength float64 `json:"strength"`
	Patch    int     `json:"patch"`
	Search   int     `json:"search"`
	placeReport
	Milliseconds float64 `json:"ms"`
	Out          string  `json:"out"`
}

// String returns the report as one line.
func (r denoiseReport) String() string {
	return fmt.Sprintf("%v %s, non-local means of strength %s%s, %s → %s",
		r.Extent, r.Pixels, display.Rounded(r.Strength), r.ending(), display.Duration(r.Milliseconds), imagefile.NameOf(r.Out))
}

// Run denoises the images and reports.
func (c *Denoise) Run(sh *console.Shell) error {
	switch {
	case !(c.Strength > 0) || math.IsInf(c.Strength, 0):
		return console.Usage("--strength %v: want more than 0", c.Strength)
	case c.Patch < 1 || c.Search < 1:
		return console.Usage("--patch %d --search %d: want 1 or more", c.Patch, c.Search)
	case c.Demo && len(c.Ins) > 0:
		return console.Usage("--demo draws its own image: leave out %s", strings.Join(c.Ins, " "))
	case !c.Demo && len(c.Ins) == 0:
		return console.Usage("no image: name a file, or use --demo")
	}
	on, err := c.choose()
	if err != nil {
		return err
	}
	if !imagefile.Several(c.Ins, c.Out) {
		in := ""
		if len(c.Ins) > 0 {
			in = c.Ins[0]
		}
		r, err := c.one(sh, &on, in, c.Out)
		if err != nil {
			return err
		}
		w := sh.Reports(c.Out)
		if c.JSON {
			return display.JSON(w, r)
		}
		_, err = fmt.Fprintln(w, r)
		return err
	}
	if c.Out == "" {
		return imagefile.NoOutput(c.Ins, "denoised/")
	}
	outs, err := imagefile.InFolder(c.Ins, c.Out, "denoised", imagefile.ExtensionLike)
	if err != nil {
		return err
	}
	return imagefile.Each(sh, c.Ins, outs, c.Out, c.JSON, func(in, out string) (denoiseReport, error) {
		r, err := c.one(sh, &on, in, out)
		if c.JSON {
			r.In = in
		}
		return r, err
	})
}

// one denoises one image.
func (c *Denoise) one(sh *console.Shell, on *processor, in, out string) (r denoiseReport, err error) {
	if _, err := imagefile.FormatOf(out, "png", ".jpg"); err != nil {
		return r, err
	}
	how := c.Flags
	how.AllPages = true
	src, err := imagefile.OpenOn(sh, &flags.Place{On: "cpu"}, func() (*imagefile.Source, error) { return imagefile.OpenOrDemo(sh, in, out, &how, c.Demo) })
	if err != nil {
		return r, err
	}
	defer src.Close()
	format, err := imagefile.FormatOf(out, imagefile.FormatLike(src), ".jpg")
	if err != nil {
		return r, err
	}
	r = denoiseReport{Extent: imagefile.ExtentOf(src.Image), Pixels: src.Image.Type.Short(), Strength: c.Strength, Patch: c.Patch, Search: c.Search, placeReport: on.report(), Out: out}
	start := time.Now()
	err = imagefile.SavePages(sh, out, format, src, func() (any, error) {
		img, err := c.denoised(sh, on, src.Image)
		tellFailed(sh, on.device)
		r.Milliseconds = float64(time.Since(start)) / float64(time.Millisecond)
		return img, err
	})
	return r, err
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
