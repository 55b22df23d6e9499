package windows

import (
	"fmt"
	"io"
	"math"
	"strings"
	"time"

	"github.com/boxsum/boxsum/imgio"
	"github.com/boxsum/boxsum/internal/bins"
	"github.com/boxsum/boxsum/internal/cli/console"
	"github.com/boxsum/boxsum/internal/cli/flags"
	"github.com/boxsum/boxsum/internal/cli/imagefile"
	"github.com/boxsum/boxsum/internal/filters"
	"github.com/boxsum/boxsum/internal/raster"
)

// Local implements the local command.
type Local struct {
	Ins             []string     `arg:"" optional:"" name:"IN" help:"Image (PNG, JPEG, GIF, BMP, TIFF, WebP, PNM) or .npy array; - is standard input. Several are processed in turn; one that fails does not stop the others."`
	Demo            bool         `help:"Use a picture of 1920×1080 that boxsum draws, instead of IN."`
	Out             string       `short:"o" placeholder:"OUT" help:"Output file: .npy; .npz, which holds several results by name; or a picture, .png, .pgm, .ppm or .tiff, which also holds floats and all pages of IN; - is .npy on standard output. For several images, a folder such as maps/."`
	Mean            bool         `help:"The mean of every window."`
	Std             bool         `help:"The standard deviation."`
	Variance        bool         `help:"The variance."`
	Normalize       bool         `help:"Local contrast: how many standard deviations a pixel lies above the mean."`
	Median          bool         `help:"The median, which removes salt-and-pepper noise."`
	Entropy         bool         `help:"The entropy of each window's histogram in bits, a measure of texture."`
	Guided          bool         `help:"The guided filter, which smooths but keeps the edges of the guide."`
	Window          flags.Window `default:"31" placeholder:"WxH" help:"Size of the windows, such as 31x15, or 31 for both sides (default ${default}). If a side is even, one more pixel lies on the left or above."`
	Floor           float64      `placeholder:"F" help:"Minimum deviation that --normalize divides by, so that noise stays small (default 0)."`
	Bins            int          `default:"256" placeholder:"N" help:"Bins of --entropy, 2 to 256 (default ${default})."`
	Range           flags.Range  `placeholder:"LOW,HIGH" help:"Range that --entropy divides into bins; required for floats and 32-bit pixels."`
	Epsilon         float64      `default:"-1" placeholder:"E" help:"Variance of the guide below which --guided smooths, in squared units of its pixels. Default: that of a tenth of the range, 650 for 8 bits and 0.01 for floats."`
	Guide           string       `placeholder:"FILE" help:"Image of IN's size, gray or R, G, B, whose edges --guided keeps (default: IN itself)."`
	Type            string       `enum:"auto,f32,f64" default:"auto" help:"Type of the results: auto, f32 or f64. auto is f64 for f64 and 32-bit pixels. Medians and guided filters keep the type of the pixels."`
	imagefile.Flags `set:"color=auto"`
	filterFlags     `set:"gpuhas=A GPU computes --mean and --std of 8- and 16-bit pixels, with the same results."`
}

// statistics returns the names of the selected statistics.
func (c *Local) statistics() (names []string) {
	for _, s := range []struct {
		name  string
		asked bool
	}{
		{"mean", c.Mean}, {"std", c.Std}, {"variance", c.Variance}, {"normalize", c.Normalize},
		{"median", c.Median}, {"entropy", c.Entropy}, {"guided", c.Guided},
	} {
		if s.asked {
			names = append(names, s.name)
		}
	}
	return names
}

// Run computes the statistics of the images and reports.
func (c *Local) Run(sh *console.Shell) error {
	if err := imagefile.CheckLast(c.Ins, c.Out); err != nil {
		return err
	}
	names := c.statistics()
	extension := ".npy"
	if len(names) > 1 {
		extension = ".npz"
	}
	images := batch{c.Ins, c.Demo, c.Out, c.JSON, "maps", func(string) string { return extension }}
	if len(names) == 0 {
		return console.Usage("no filter: give --mean, --std, --variance, --normalize, --median, --entropy or --guided")
	}
	if err := images.check(); err != nil {
		return err
	}
	if err := c.checkFlags(); err != nil {
		return err
	}
	opt, err := c.options()
	if err != nil {
		return err
	}
	for _, name := range names {
		if err := c.checkValid(kinds[name], "--"+name); err != nil {
			return err
		}
	}
	if err := c.openOn(&opt); err != nil {
		return err
	}
	if err := c.setValid(sh, &c.Flags, &opt); err != nil {
		return err
	}
	return images.run(sh, func(in, out string) (report, error) { return c.one(sh, &opt, in, out) })
}

// checkFlags returns an error for flags that cannot be combined.
func (c *Local) checkFlags() error {
	switch {
	case c.Floor != 0 && !c.Normalize:
		return console.Usage("--floor is for --normalize: add it, or leave out --floor")
	case (c.Guide != "" || c.Epsilon != -1) && !c.Guided:
		return console.Usage("--guide and --epsilon are for --guided: add it, or leave them out")
	case c.onGPU() && (c.Variance || c.Normalize || c.Median || c.Entropy || c.Guided || c.Type == "f64"):
		return console.Usage("a GPU computes only --mean and --std, as f32: leave out --on %s", c.On)
	case c.Range.Given && !c.Entropy:
		return console.Usage("--range is for --entropy: add it, or leave out --range")
	}
	return c.checkNumbers()
}

// checkNumbers returns an error for numbers that are out of range.
func (c *Local) checkNumbers() error {
	switch {
	case !(c.Floor >= 0) || c.Floor > math.MaxFloat64:
		return console.Usage("--floor %v: want 0 or more", c.Floor)
	case c.Epsilon != -1 && (!(c.Epsilon >= 0) || c.Epsilon > math.MaxFloat64):
		return console.Usage("--epsilon %v: want 0 or more", c.Epsilon)
	case c.Bins < 2 || c.Bins > 256:
		return console.Usage("--bins %d: want 2 to 256", c.Bins)
	}
	return nil
}

// one computes the statistics of one image.
func (c *Local) one(sh *console.Shell, opt *filters.Options, in, out string) (report, error) {
	names := c.statistics()
	format, err := imagefile.FormatOf(out, "npy", ".npz")
	if err != nil {
		return nil, err
	}
	if len(names) > 1 && format != "npz" {
		return nil, console.Usage("%s holds one result: write %s to a .npz file", imagefile.NameOf(out), strings.Join(names, " and "))
	}
	src, err := openPages(sh, in, out, c.Flags, c.Demo)
	if err != nil {
		return nil, err
	}
	defer src.Close()
	work := &filterWork{
		name: names[0], double: c.wide64(src.Image),
		job: filters.Job{
			Window: filters.Window(c.Window.Window), Options: *opt, Floor: c.Floor, Bins: bins.Range{N: c.Bins, Low: c.Range.Low, High: c.Range.High},
		},
	}
	if pixel := src.Image.Type; c.Entropy && !c.Range.Given && pixel != raster.U8 && pixel != raster.U16 {
		return nil, console.Usage("--entropy of %s pixels needs --range LOW,HIGH, the values to divide into bins", src.Element)
	}
	if err := c.guide(sh, work, src); err != nil {
		return nil, err
	}
	c.tellNaN(sh, in, src.Image, kinds[names[0]])
	r := newFilterReport(src, work, out)
	r.Filters = names
	r.count(src.PagesIn(format))
	if format == "npy" {
		write, err := work.stream(sh, src.Image)
		if err != nil {
			return r, err
		}
		if write != nil {
			src.TellFirst(sh)
			return r, r.streamed(sh, out, write)
		}
	}
	statistic := func(name string) (raster.Array, error) {
		work.name = name
		start := time.Now()
		img, err := work.watched(sh).apply(src.Image)
		r.took(start)
		tellFailed(sh, opt.On)
		return img, err
	}
	if format == "npz" {
		var made []raster.Array
		for _, name := range names {
			img, err := statistic(name)
			if err != nil {
				return r, err
			}
			made = append(made, img)
		}
		src.TellFirst(sh)
		return r, imagefile.Save(sh, out, 0, func(w io.Writer) error { return writeArchive(w, names, made) })
	}
	err = imagefile.SavePages(sh, out, format, src, func() (any, error) {
		img, err := statistic(names[0])
		if err != nil || format == "npy" {
			return imagefile.Encodable(img, err)
		}
		return imagefile.Encodable(c.shown(names[0], img, format, src))
	})
	return r, err
}

// wide64 reports whether results are float64.
func (c *Local) wide64(img raster.Array) bool {
	switch img.Type {
	case raster.F64, raster.I32, raster.U32:
		return c.Type != "f32"
	}
	return c.Type == "f64"
}

// guide reads the guide of a guided filter and sets its epsilon.
func (c *Local) guide(sh *console.Shell, work *filterWork, src *imagefile.Source) error {
	if !c.Guided {
		return nil
	}
	if c.Guide != "" {
		other, err := imagefile.OpenOrDemo(sh, c.Guide, c.Out, &imagefile.Flags{Color: "keep", AsStored: c.AsStored, Large: c.Large}, false)
		if err != nil {
			return err
		}
		// The guide stays open until the process ends, because the filter may still read it after
		// Ctrl-C.
		work.guide = other.Image
	}
	guide := work.guide
	if guide.Type == 0 {
		guide = src.Image
	}
	if work.job.Epsilon = c.Epsilon; c.Epsilon == -1 {
		work.job.Epsilon = 0.01 * math.Pow(whiteOf(guide.Type), 2)
	}
	return nil
}

// whiteOf returns the largest value of integer pixels, and 1 for floats.
func whiteOf(pixel raster.Type) float64 {
	switch pixel {
	case raster.U8:
		return 255
	case raster.U16:
		return 65535
	}
	return 1
}

// writeArchive writes results as .npz.
func writeArchive(w io.Writer, names []string, made []raster.Array) error {
	z := imgio.NewNPZ(w)
	for i, img := range made {
		if err := addArray(z, names[i], img); err != nil {
			return err
		}
	}
	return z.Close()
}

// addArray adds an image to an archive.
func addArray(z *imgio.NPZ, name string, a raster.Array) error {
	return z.WriteBytes(name, a.Type.String(), shapeOf(&a), func(yield func([]byte) bool) {
		for y := range a.Height {
			if !yield(a.Row(y)) {
				return
			}
		}
	})
}

// shown converts a result to a picture with pixels of the source's type. Values in units of pixels
// are rounded; other values are mapped from a fixed range to black and white. TIFF stores floats
// unchanged.
func (c *Local) shown(name string, img raster.Array, format string, src *imagefile.Source) (raster.Array, error) {
	white := whiteOf(src.Image.Type)
	if (&filterWork{name: name}).keepsType() || white == 1 && format == "tiff" {
		return img, nil
	}
	if white == 1 {
		return img, fmt.Errorf("pixels of %s cannot be shown as gray levels: write %s as .tiff or .npy", src.Element, name)
	}
	scale := func(v float64) float64 { return v }
	switch name {
	case "variance": // an image of half black and half white becomes white
		scale = func(v float64) float64 { return v / (white / 4) }
	case "normalize": // from -4 to 4 deviations
		scale = func(v float64) float64 { return (v + 4) / 8 * white }
	case "entropy":
		scale = func(v float64) float64 { return v / math.Log2(float64(c.Bins)) * white }
	}
	if white == 255 {
		return scaled[uint8](img, scale, white)
	}
	return scaled[uint16](img, scale, white)
}

func scaled[D uint8 | uint16](img raster.Array, scale func(float64) float64, white float64) (raster.Array, error) {
	to := func(v float64) D { return D(math.Floor(min(max(scale(v), 0), white) + 0.5)) }
	if img.Type.Float() {
		return imagefile.Converted(img, to)
	}
	return img, nil
}
