package windows

import (
	"fmt"
	"math"
	"strings"
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
	imagefile.Extent
	In     string  `json:"in,omitempty"` // set if there are several inputs
	Pixels string  `json:"pixels"`
	Clip   float64 `json:"clip"`
	Tiles  []int   `json:"tiles"`
	placeReport
	Milliseconds float64 `json:"ms"`
	Out          string  `json:"out"`
}

// String returns the report as one line.
func (r equalizeReport) String() string {
	return fmt.Sprintf("%v %s, CLAHE with %d×%d tiles, clip %s%s, %s → %s",
		r.Extent, r.Pixels, r.Tiles[0], r.Tiles[1], display.Rounded(r.Clip), r.ending(), display.Duration(r.Milliseconds), imagefile.NameOf(r.Out))
}

// Run equalizes the images and reports.
func (c *Equalize) Run(sh *console.Shell) error {
	switch {
	case !(c.Clip >= 0) || math.IsInf(c.Clip, 0):
		return console.Usage("--clip %v: want 0 or more", c.Clip)
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
		return imagefile.NoOutput(c.Ins, "equalized/")
	}
	outs, err := imagefile.InFolder(c.Ins, c.Out, "equalized", imagefile.ExtensionLike)
	if err != nil {
		return err
	}
	return imagefile.Each(sh, c.Ins, outs, c.Out, c.JSON, func(in, out string) (equalizeReport, error) {
		r, err := c.one(sh, &on, in, out)
		if c.JSON {
			r.In = in
		}
		return r, err
	})
}

// one equalizes one image.
func (c *Equalize) one(sh *console.Shell, on *processor, in, out string) (r equalizeReport, err error) {
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
	r = equalizeReport{Extent: imagefile.ExtentOf(src.Image), Pixels: src.Image.Type.Short(), Clip: c.Clip, Tiles: []int{c.Tiles.Width, c.Tiles.Height}, placeReport: on.report(), Out: out}
	start := time.Now()
	err = imagefile.SavePages(sh, out, format, src, func() (any, error) {
		img, err := c.equalized(sh, on, src.Image)
		tellFailed(sh, on.device)
		r.Milliseconds = float64(time.Since(start)) / float64(time.Millisecond)
		return img, err
	})
	return r, err
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
