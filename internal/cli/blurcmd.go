package cli

import (
	"io"
	"math"
	"strings"
	"time"

	"github.com/boxsum/boxsum/filter"
	"github.com/boxsum/boxsum/imgio"
)

type blurCmd struct {
	Ins          []string   `arg:"" optional:"" name:"IN" help:"Image (PNG, JPEG, GIF, BMP, TIFF, WebP, PNM) or .npy array; - is standard input. Several go one after the other: one that fails does not stop the rest."`
	Demo         bool       `help:"Blur a picture of 1920×1080 that boxsum draws itself, instead of IN."`
	Out          string     `short:"o" placeholder:"OUT" help:"Where the image goes: .png, .jpg, .tiff, .pgm, .ppm, .pam, .npy or a Zarr array (.zarr, a URL), block by block; - is standard output, in the format of IN where that can be written, else PNG. Several go to a folder, such as blurred/."`
	Radius       int        `short:"r" default:"-1" placeholder:"R" help:"Blur by the mean of 2·R+1 pixels each way."`
	Window       windowFlag `placeholder:"WxH" help:"Blur by the mean of so many pixels across and down, such as 31x15, or 31 for both. Of an even number one more lies on the left and above."`
	Gaussian     bool       `short:"g" help:"Blur by a Gaussian that is as wide as the box would be: its standard deviation is that of the box, about 0.58·R."`
	Sigma        float64    `default:"-1" placeholder:"S" help:"Blur by a Gaussian of this standard deviation in pixels."`
	Passes       int        `placeholder:"N" help:"Make the Gaussian of N boxes, 1 to 6; four are nearer to it than three. The default is 3, and exact weights for standard deviations below 2."`
	Memory       string     `default:"1GiB" placeholder:"SIZE" help:"For OUT.zarr: memory to use at most, such as 2GiB or 300MB."`
	MaxChunks    int64      `placeholder:"N" help:"For OUT.zarr: Refuse images of more than N chunks, and results of more blocks (16777216): damaged metadata may declare arrays without end."`
	pictureFlags `set:"color=keep"`
	filterFlags
}

// Run blurs images and reports.
func (c *blurCmd) Run(sh *shell) error {
	work, err := c.work()
	if err != nil {
		return err
	}
	if c.Demo && len(c.Ins) > 0 {
		return usage("--demo draws its own image: leave out %s", strings.Join(c.Ins, " "))
	}
	if isStore(c.Out) {
		return c.runStore(sh, work)
	}
	if !severalOf(c.Ins, c.Out) {
		in := ""
		if len(c.Ins) > 0 {
			in = c.Ins[0]
		}
		r, err := c.one(sh, work, in, c.Out)
		if err != nil {
			return err
		}
		return c.print(sh, r)
	}
	if len(c.Ins) == 0 {
		return usage("no image: name a file, or let --demo draw one")
	}
	if c.Out == "" {
		return noOutput(c.Ins, "blurred/")
	}
	outs, err := inFolder(c.Ins, c.Out, "blurred", extensionLike)
	if err != nil {
		return err
	}
	return runEach(sh, c.Ins, outs, c.Out, c.JSON, func(in, out string) (filterReport, error) {
		r, err := c.one(sh, work, in, out)
		if c.JSON {
			r.In = in
		}
		return r, err
	})
}

// work is the filter that was asked for.
func (c *blurCmd) work() (*filterWork, error) {
	opt, err := c.options()
	if err != nil {
		return nil, err
	}
	w := &filterWork{name: "box", opt: opt, window: c.Window.Window, sigma: filter.Sigma{X: c.Sigma, Y: c.Sigma, Passes: c.Passes}}
	bySigma := c.Sigma != -1
	switch {
	case c.Radius < -1 || c.Radius > 1<<28:
		return nil, usage("--radius %d: give a number from 0 to %d", c.Radius, 1<<28)
	case bySigma && !(c.Sigma >= 0 && c.Sigma <= 1e8):
		return nil, usage("--sigma %v: give a number from 0 to 1e8", c.Sigma)
	case c.Passes < 0 || c.Passes > 6:
		return nil, usage("--passes %d: give a number from 1 to 6", c.Passes)
	case c.Radius >= 0 && c.Window.given, c.Radius >= 0 && bySigma, c.Window.given && bySigma:
		return nil, usage("--radius, --window and --sigma each say how much to blur: give one of them")
	case c.Radius < 0 && !c.Window.given && !bySigma:
		return nil, usage("say how much to blur: --radius 15, --window 31x31 or --sigma 9")
	case c.Passes > 0 && !c.Gaussian && !bySigma:
		return nil, usage("--passes is for Gaussians: add --gaussian, or leave it out")
	}
	if c.Radius >= 0 {
		w.window = filter.Radius(c.Radius)
	}
	if c.Gaussian && !bySigma {
		deviation := func(n int) float64 { return math.Sqrt((float64(n)*float64(n) - 1) / 12) }
		w.sigma.X, w.sigma.Y = deviation(w.window.Width), deviation(w.window.Height)
	}
	if c.Gaussian || bySigma {
		w.name = "gaussian"
	}
	return w, nil
}

// one blurs one image.
func (c *blurCmd) one(sh *shell, work *filterWork, in, out string) (filterReport, error) {
	if _, err := imageFormat(out, "png", ".jpg"); err != nil {
		return filterReport{}, err
	}
	src, err := sh.source(&placeFlag{On: "cpu"}, func() (*source, error) { return sh.imageOrDemo(in, out, &c.pictureFlags, c.Demo) })
	if err != nil {
		return filterReport{}, err
	}
	defer src.close()
	format, err := imageFormat(out, formatLike(src), ".jpg")
	if err != nil {
		return filterReport{}, err
	}
	r, err := newFilterReport(src, work, out)
	if err != nil {
		return r, err
	}
	if format == "npy" && !hasAlpha(src) {
		write, err := work.stream(sh, src.image)
		if err != nil {
			return r, err
		}
		if write != nil {
			return r, r.streamed(sh, out, write)
		}
	}
	watched := work.watched(sh)
	start := time.Now()
	by := watched.apply
	if hasAlpha(src) {
		by = func(img any) (any, error) { return throughAlpha(img, watched.apply) }
	}
	img, err := by(src.image)
	r.took(start)
	if err != nil {
		return r, err
	}
	return r, sh.saveAs(out, 0, func(w io.Writer) error { return imgio.Encode(w, format, img) })
}

// watched is a filter that Ctrl-C stops and whose progress is shown.
func (f *filterWork) watched(sh *shell) *filterWork {
	w, opt := *f, *f.opt
	opt.Context = sh.ctx
	sh.progress.begin("filtering", 0)
	opt.Progress = sh.progress.share("filtering")
	w.opt = &opt
	return &w
}

// newFilterReport is what there is to say before the work.
func newFilterReport(src *source, work *filterWork, out string) (filterReport, error) {
	pair, err := pairNamed(src.image, "auto")
	if err != nil {
		return filterReport{}, err
	}
	r := filterReport{
		extent: extentOf(src.image), Pixels: pair.pixel.Short(), Filters: []string{work.name},
		Border: work.opt.Border.String(), Workers: work.opt.Workers, Out: out,
	}
	if work.name == "gaussian" {
		r.Sigma = []float64{work.sigma.X, work.sigma.Y}
	} else {
		r.Window = []int{work.window.Width, work.window.Height}
	}
	return r, nil
}

func (r *filterReport) took(start time.Time) {
	r.Milliseconds += float64(time.Since(start)) / float64(time.Millisecond)
}

// streamed writes a result row by row.
func (r *filterReport) streamed(sh *shell, out string, write func(io.Writer) error) error {
	start := time.Now()
	err := sh.saveAs(out, 0, write)
	r.took(start)
	r.RowByRow, r.Workers = true, 1
	return err
}
