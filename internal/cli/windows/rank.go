package windows

import (
	"fmt"
	"time"

	"github.com/boxsum/boxsum/internal/cli/console"
	"github.com/boxsum/boxsum/internal/cli/flags"
	"github.com/boxsum/boxsum/internal/cli/imagefile"
	"github.com/boxsum/boxsum/internal/pixels"
	"github.com/boxsum/boxsum/internal/rank"
	"github.com/boxsum/boxsum/internal/raster"
)

// Rank implements the rank command.
type Rank struct {
	Ins             []string     `arg:"" optional:"" name:"IN" help:"Image of 8 or 16 bits (PNG, JPEG, GIF, BMP, TIFF, WebP, PNM) or .npy array; - is standard input. Several are processed in turn; one that fails does not stop the others."`
	Demo            bool         `help:"Filter a picture of 1920×1080 that boxsum draws, instead of IN."`
	Out             string       `short:"o" placeholder:"OUT" help:"Output file: .png, .jpg, .tiff, .pgm, .ppm or .npy; - is standard output, in the format of IN if possible, else PNG. For several images, a folder such as ranked/."`
	Statistic       string       `short:"s" required:"" enum:"minimum,maximum,gradient,mean,sum,subtract-mean,threshold,percentile,majority,autolevel,equalize,otsu,bilateral-mean" placeholder:"NAME" help:"What to compute from every window: minimum, maximum, gradient, mean, sum, subtract-mean, threshold, percentile, majority, autolevel, equalize, otsu or bilateral-mean."`
	Window          flags.Window `default:"31" placeholder:"WxH" help:"Size of the windows, such as 31x15, or 31 for both sides (default ${default}). If a side is even, one more pixel lies on the left or above."`
	Fraction        float64      `default:"0.5" placeholder:"F" help:"Fraction of --statistic percentile, from 0 to 1 (default ${default}, the median)."`
	Below           int          `default:"10" placeholder:"N" help:"How many gray levels below a pixel --statistic bilateral-mean includes (default ${default})."`
	Above           int          `default:"10" placeholder:"N" help:"How many gray levels above a pixel it includes (default ${default})."`
	Levels          int          `placeholder:"N" help:"Number of gray levels of 16-bit pixels, such as 4096 (default: one more than the greatest pixel)."`
	Mask            string       `placeholder:"FILE" help:"Leave out pixels where this image or .npy array of the same size is zero; one channel applies to all."`
	JSON            bool         `name:"json" help:"Print JSON instead of the line."`
	place           `set:"gpuhas=A GPU computes mean and, for 8-bit pixels, percentile, minimum, maximum and equalize, without --mask, with the same results."`
	imagefile.Flags `set:"color=keep"`
}

// A rankReport describes what rank did.
type rankReport struct {
	inputReport
	Statistic string `json:"statistic"`
	Window    []int  `json:"window"`
	placeReport
	outputReport
}

// String returns the report as one line.
func (r *rankReport) String() string {
	return fmt.Sprintf("%v, %s of %d×%d%s, %v", r.inputReport, r.Statistic, r.Window[0], r.Window[1], r.ending(), r.outputReport)
}

// Run filters the images and reports.
func (c *Rank) Run(sh *console.Shell) error {
	images := batch{c.Ins, c.Demo, c.Out, c.JSON, "ranked", imagefile.ExtensionLike}
	switch {
	case !(c.Fraction >= 0 && c.Fraction <= 1):
		return console.Usage("--fraction %v: want 0 to 1", c.Fraction)
	case c.Below < 0 || c.Above < 0:
		return console.Usage("--below %d --above %d: want 0 or more", c.Below, c.Above)
	case c.Mask == console.Standard:
		return console.Usage("--mask cannot be standard input: name a file")
	}
	if err := images.check(); err != nil {
		return err
	}
	on, err := c.choose()
	if err != nil {
		return err
	}
	var mask raster.Array
	if c.Mask != "" {
		img, err := imagefile.ReadMask(sh, c.Mask, &c.Flags)
		if err != nil {
			return err
		}
		mask = pixels.Of(img)
	}
	return images.run(sh, func(in, out string) (report, error) { return c.one(sh, &on, mask, in, out) })
}

// one filters one image.
func (c *Rank) one(sh *console.Shell, on *processor, mask raster.Array, in, out string) (report, error) {
	src, format, err := openLike(sh, in, out, c.Flags, c.Demo)
	if err != nil {
		return nil, err
	}
	defer src.Close()
	r := &rankReport{newInputReport(src), c.Statistic, []int{c.Window.Width, c.Window.Height}, on.report(), outputReport{Out: out}}
	return r, imagefile.SavePages(sh, out, format, src, func() (any, error) {
		start := time.Now()
		img, err := c.ranked(sh, on, src.Image, mask)
		r.took(start)
		tellFailed(sh, on.device)
		if c.Statistic == "threshold" && format != "npy" && err == nil {
			whiten(img)
		}
		return imagefile.Encodable(img, err)
	})
}

// ranked returns the filtered image.
func (c *Rank) ranked(sh *console.Shell, on *processor, img, mask raster.Array) (raster.Array, error) {
	kind, err := rank.ParseKind(c.Statistic)
	if err != nil {
		return img, err
	}
	j := rank.Job{
		Kind: kind, Src: img, Width: c.Window.Width, Height: c.Window.Height, Mask: mask,
		Levels: c.Levels, Fraction: c.Fraction, Below: c.Below, Above: c.Above,
	}
	j.Options.On, j.Options.Workers, j.Options.Level = on.device, on.workers, on.level.String()
	j.Options.Context, j.Options.Progress = sh.Ctx, sh.Progress.Share("filtering")
	if err := j.Check(); err != nil {
		return img, err
	}
	if j.Dst, err = raster.NewPixelArray(img.Type, raster.PlaneExtent(img.Width, img.Height, img.Channels, 0)); err != nil {
		return img, err
	}
	return j.Dst, j.Run()
}

// whiten turns ones into white.
func whiten(img raster.Array) {
	for y := range img.Height {
		row := img.Span(0, y, img.Width)
		if img.Type == raster.U16 {
			for i, v := range raster.Elems[uint16](row) {
				raster.Elems[uint16](row)[i] = -v
			}
			continue
		}
		for i, v := range row {
			row[i] = -v
		}
	}
}
