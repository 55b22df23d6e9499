package windows

import (
	"cmp"
	"fmt"
	"io"
	"runtime"
	"strings"
	"time"

	"github.com/boxsum/boxsum/imgio"
	"github.com/boxsum/boxsum/internal/cli/console"
	"github.com/boxsum/boxsum/internal/cli/flags"
	"github.com/boxsum/boxsum/internal/cli/imagefile"
	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/pixels"
	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/internal/thresholds"
	"github.com/boxsum/boxsum/internal/window"
)

// Threshold implements the threshold command.
type Threshold struct {
	Ins     []string     `arg:"" optional:"" name:"IN" help:"Image (PNG, JPEG, GIF, BMP, TIFF, WebP, PNM) or .npy array; - is standard input. Several are processed in turn; one that fails does not stop the others."`
	Demo    bool         `help:"Use a picture of 1920×1080 that boxsum draws, instead of IN."`
	Out     string       `short:"o" placeholder:"OUT" help:"Output file: .png, .tiff (fax group 4, all pages) or .pbm with one bit per pixel, .pgm or .npy with 0 and 255; - is PNG on standard output. For several images, a folder such as black/."`
	Map     string       `placeholder:"FILE" help:"Output file for the threshold of every pixel, as float32: .npy or .tiff. -o is then optional."`
	Method  string       `short:"m" enum:"sauvola,niblack,wolf,nick,trsingh,phansalkar,bradley,meanc,isauvola,su,otsu" default:"sauvola" help:"Method: sauvola (most scans), niblack, wolf (low contrast), nick (faint ink), trsingh, phansalkar (dark images), bradley (fast), meanc (OpenCV's adaptiveThreshold), isauvola (no specks), su (stains), or otsu: one threshold for the whole image (even light)."`
	Window  flags.Window `placeholder:"WxH" help:"Size of the windows, such as 75x51, or 75 for both sides: a few times as large as letters are high. If a side is even, one more pixel lies on the right or below. Default: 75; for bradley an eighth of the width, and for su what fits the strokes."`
	K       *float64     `name:"k" placeholder:"K" help:"Weight of the deviation: sauvola, niblack, wolf, nick, trsingh, phansalkar, isauvola (default 0.2, or -0.2 for nick)."`
	R       float64      `name:"r" placeholder:"R" help:"Deviation at which the threshold is the mean: sauvola, phansalkar, isauvola (default 128 for 8-bit pixels)."`
	White   float64      `placeholder:"W" help:"Maximum pixel value: trsingh, phansalkar (default 255 for 8 bits, 65535 for 16 bits, 1 for floats)."`
	P       *float64     `name:"p" placeholder:"P" help:"How much phansalkar raises the threshold of dark windows (default 3)."`
	Q       *float64     `name:"q" placeholder:"Q" help:"How fast that decreases as windows become brighter: phansalkar (default 10)."`
	Percent float64      `default:"15" placeholder:"T" help:"Percent by which bradley's threshold lies below the mean (default ${default})."`
	C       float64      `name:"c" default:"10" placeholder:"C" help:"Amount by which meanc's threshold lies below the mean (default ${default})."`
	MinN    int          `name:"min-n" placeholder:"N" help:"Minimum number of high-contrast pixels in a window of su, if --window is given (default: its width)."`
	Border  string       `enum:"auto,reflect101,reflect,replicate,clip,wrap" default:"auto" help:"Pixels outside the image, as for blur; auto is clip, or replicate for meanc."`
	Invert  bool         `help:"Invert the image first: for white writing on black."`

	imagefile.Flags `set:"color=auto"`
	place           `set:"gpuhas=A GPU supports sauvola for 8- and 16-bit pixels, with the same results."`
	JSON            bool `name:"json" help:"Print JSON instead of the line."`
}

// rule returns the rule described by the flags.
func (c *Threshold) rule() (r thresholds.Rule, err error) {
	m, err := thresholds.ParseMethod(c.Method)
	if err != nil {
		return r, console.Usage("--method: %w", err)
	}
	r = thresholds.New(m, 0)
	if c.Window.Given {
		r.Window = thresholds.Square(c.Window.Width)
		down := thresholds.Square(c.Window.Height)
		r.Window.Height, r.Window.Shift.Y = down.Height, down.Shift.Y
	}
	if c.K != nil {
		r.K = *c.K
	}
	if c.P != nil {
		r.P = *c.P
	}
	if c.Q != nil {
		r.Q = *c.Q
	}
	if c.Border != "auto" {
		if r.Border, err = window.ParseBorder(c.Border); err != nil {
			return r, console.Usage("--border: %w", err)
		}
	}
	switch {
	case c.R < 0:
		return r, console.Usage("--r %v: want 0 or more", c.R)
	case c.White < 0:
		return r, console.Usage("--white %v: want 0 or more", c.White)
	case c.MinN < 0:
		return r, console.Usage("--min-n %d: want 0 or more", c.MinN)
	}
	r.R, r.White, r.T, r.C, r.MinN = c.R, c.White, c.Percent, c.C, c.MinN
	return r, nil
}

// options returns the options for thresholds.
func (c *Threshold) options() (*engine.Options, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	if c.onGPU() && (c.Method != "sauvola" && c.Method != "meanc" || c.Map != "") {
		return nil, console.Usage("a GPU supports only --method sauvola and meanc, without --map: leave out --on %s", c.On)
	}
	on, err := c.choose()
	return &engine.Options{On: on.device, Workers: cmp.Or(on.workers, runtime.GOMAXPROCS(0)), Level: on.level.String()}, err
}

// Run binarizes the images and reports.
func (c *Threshold) Run(sh *console.Shell) error {
	images := batch{c.Ins, c.Demo, c.Out, c.JSON, "black", func(in string) string { return c.PagedExtension(in, ".png") }}
	rule, err := c.rule()
	if err != nil {
		return err
	}
	opt, err := c.options()
	if err != nil {
		return err
	}
	if err := images.check(); err != nil {
		return err
	}
	if c.Map != "" && imagefile.Several(c.Ins, c.Out) {
		return console.Usage("--map is for one image: name one, or leave out --map")
	}
	return images.run(sh, func(in, out string) (report, error) { return c.one(sh, rule, opt, in, out) })
}

// one binarizes one image.
func (c *Threshold) one(sh *console.Shell, rule thresholds.Rule, opt *engine.Options, in, out string) (report, error) {
	format, mapFormat, err := c.formats(in, out)
	if err != nil {
		return nil, err
	}
	src, err := openPages(sh, in, out, c.Flags, c.Demo)
	if err != nil {
		return nil, err
	}
	defer src.Close()
	if c.Map != "" {
		if err := src.CheckOnePage("--map"); err != nil {
			return nil, err
		}
	}
	r := &thresholdReport{
		inputReport: newInputReport(src), Method: rule.Method.String(), Border: rule.Border.String(), Window: []int{rule.Window.Width, rule.Window.Height},
		placeReport: placeReportOf(opt.On, opt.Workers), outputReport: outputReport{Out: cmp.Or(out, c.Map)}, Map: c.Map,
	}
	r.count(src.PagesIn(format))
	work := thresholdWork{job: thresholds.Job{Rule: rule, Options: *opt}, bits: format != "", mapped: c.Map != "", invert: c.Invert}
	work.job.Options.Context = sh.Ctx
	sh.Progress.Begin("thresholding", 0)
	work.job.Options.Progress = sh.Progress.Share("thresholding")
	black, all := 0.0, 0.0
	page := func() (any, error) {
		start := time.Now()
		err := work.apply(src.Image)
		r.took(start)
		tellFailed(sh, opt.On)
		if err == nil && c.Map != "" {
			err = saveMap(sh, c.Map, mapFormat, work.thresholds, src.Metadata)
		}
		for y := range work.black.Height {
			black += float64(countBits(work.black.Row(y)))
		}
		all += float64(work.black.Width) * float64(work.black.Height)
		return work.black, err
	}
	if format == "" {
		_, err = page()
		return r, err
	}
	err = imagefile.SavePages(sh, out, format, src, page)
	r.Black = black / max(1, all)
	return r, err
}

// formats returns the formats of the bitmap and the map, which are empty for a file that is not written.
func (c *Threshold) formats(in, out string) (format, mapFormat string, err error) {
	if out != "" || c.Map == "" {
		if format, err = bitsFormat(out); err != nil {
			return "", "", err
		}
	}
	if c.Map == "" {
		return format, "", nil
	}
	if mapFormat, err = imagefile.FormatOf(c.Map, "npy"); err != nil {
		return "", "", err
	}
	switch {
	case mapFormat != "npy" && mapFormat != "tiff":
		return "", "", console.Usage("%s: thresholds are written as .npy or .tiff", c.Map)
	case c.Map == out:
		return "", "", console.Usage("%s is both the output and the map: name two files", c.Map)
	}
	return format, mapFormat, imagefile.CheckApart(cmp.Or(in, console.Standard), c.Map, false)
}

// saveMap writes thresholds.
func saveMap(sh *console.Shell, path, format string, thresholds raster.Array, m imgio.Metadata) error {
	img, err := pixels.Image(thresholds)
	if err != nil {
		return err
	}
	return imagefile.Save(sh, path, 0, func(w io.Writer) error { return imgio.EncodeWith(w, format, img, m) })
}

// bitsFormat returns the format of an output path for a bitmap.
func bitsFormat(path string) (string, error) {
	if strings.HasSuffix(strings.ToLower(path), ".pbm") {
		return "pbm", imagefile.CheckFolder(path)
	}
	return imagefile.FormatOf(path, "png", ".pbm")
}

// A thresholdReport describes what threshold did.
type thresholdReport struct {
	inputReport
	Method string  `json:"method"`
	Window []int   `json:"window"` // zeros if the method determines it
	Border string  `json:"border"`
	Black  float64 `json:"black"` // share of black pixels; 0 if only thresholds were computed
	placeReport
	outputReport
	Map string `json:"map,omitempty"`
}

// String returns the report as one line.
func (r *thresholdReport) String() string {
	s := fmt.Sprintf("%v, %s", r.inputReport, r.Method)
	if r.Window[0] > 0 {
		s += fmt.Sprintf(" %d×%d, %s", r.Window[0], r.Window[1], r.Border)
	}
	if r.Out != r.Map {
		s += fmt.Sprintf(", %.1f%% black", 100*r.Black)
	}
	return fmt.Sprintf("%s, %v, %v", s, r.placeReport, r.outputReport)
}
