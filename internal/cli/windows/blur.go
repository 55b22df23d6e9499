package windows

import (
	"io"
	"math"
	"time"

	"github.com/boxsum/boxsum/filter"
	"github.com/boxsum/boxsum/internal/cli/console"
	"github.com/boxsum/boxsum/internal/cli/flags"
	"github.com/boxsum/boxsum/internal/cli/imagefile"
	"github.com/boxsum/boxsum/internal/filters"
	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/store"
	"github.com/boxsum/boxsum/zarr"
)

// Blur implements the blur command.
type Blur struct {
	Ins             []string     `arg:"" optional:"" name:"IN" help:"Image (PNG, JPEG, GIF, BMP, TIFF, WebP, PNM) or .npy array; - is standard input. Several are processed in turn; one that fails does not stop the others."`
	Demo            bool         `help:"Blur a picture of 1920×1080 that boxsum draws, instead of IN."`
	Out             string       `short:"o" placeholder:"OUT" help:"Output file: .png, .jpg, .tiff, .pgm, .ppm, .pam, .npy or a Zarr array (.zarr, a URL), block by block; - is standard output, in the format of IN if possible, else PNG. For several images, a folder such as blurred/."`
	Radius          int          `short:"r" default:"-1" placeholder:"R" help:"Blur by the mean of a window of 2·R+1 by 2·R+1 pixels."`
	Window          flags.Window `placeholder:"WxH" help:"Blur by the mean of a window of this size, such as 31x15, or 31 for both sides. If a side is even, one more pixel lies on the left or above."`
	Gaussian        bool         `short:"g" help:"Blur by a Gaussian with the standard deviation of the box, about 0.58·R."`
	Sigma           float64      `default:"-1" placeholder:"S" help:"Blur by a Gaussian of this standard deviation in pixels."`
	Passes          int          `placeholder:"N" help:"Approximate the Gaussian by N boxes, 1 to 6; more are closer to it. Default: 3, and exact weights for standard deviations below 2, or below 6 if pixels are not bytes."`
	Memory          string       `default:"1GiB" placeholder:"SIZE" help:"For OUT.zarr: maximum memory to use, such as 300MB (default ${default})."`
	MaxChunks       int64        `placeholder:"N" help:"For OUT.zarr: refuse images of more than N chunks and results of more than N blocks (default 16777216): damaged metadata may declare huge arrays."`
	imagefile.Flags `set:"color=keep"`
	filterFlags     `set:"gpuhas=A GPU computes boxes of 8- and 16-bit pixels, with the same results."`
}

// Run filters the images and reports.
func (c *Blur) Run(sh *console.Shell) error {
	images := batch{c.Ins, c.Demo, c.Out, c.JSON, "blurred", imagefile.ExtensionLike}
	if err := imagefile.CheckLast(c.Ins, c.Out); err != nil {
		return err
	}
	work, err := c.work()
	if err != nil {
		return err
	}
	if err := images.check(); err != nil {
		return err
	}
	if imagefile.IsStore(c.Out) {
		return c.runStore(sh, work)
	}
	if err := c.openOn(&work.job.Options); err != nil {
		return err
	}
	if err := c.setValid(sh, &c.Flags, &work.job.Options); err != nil {
		return err
	}
	return images.run(sh, func(in, out string) (report, error) { return c.one(sh, work, in, out) })
}

// bySigma reports whether the size of the filter is given as a standard deviation.
func (c *Blur) bySigma() bool { return c.Sigma != -1 }

// checkSize returns an error for sizes that are invalid or cannot be combined with other flags.
func (c *Blur) checkSize() error {
	bySigma := c.bySigma()
	switch {
	case c.Radius < -1 || c.Radius > 1<<28:
		return console.Usage("--radius %d: want 0 to %d", c.Radius, 1<<28)
	case bySigma && !(c.Sigma >= 0 && c.Sigma <= 1e8):
		return console.Usage("--sigma %v: want 0 to 1e8", c.Sigma)
	case c.Passes < 0 || c.Passes > 6:
		return console.Usage("--passes %d: want 1 to 6", c.Passes)
	case c.Radius >= 0 && c.Window.Given, c.Radius >= 0 && bySigma, c.Window.Given && bySigma:
		return console.Usage("--radius, --window and --sigma are all sizes: give one of them")
	case c.Radius < 0 && !c.Window.Given && !bySigma:
		return console.Usage("no size: give --radius 15, --window 31x31 or --sigma 9")
	case c.onGPU() && (c.Gaussian || bySigma):
		return console.Usage("--gaussian and --sigma are for the CPU: leave them out with --on %s", c.On)
	case c.Passes > 0 && !c.Gaussian && !bySigma:
		return console.Usage("--passes is for Gaussians: add --gaussian, or leave it out")
	case c.Passes > 0 && c.Sigma > 0 && sigmaOfBoxes(c.Sigma, c.Passes) == 0:
		return console.Usage("--passes %d: boxes of 3 pixels and more cannot approximate a standard deviation of %v: leave it out", c.Passes, c.Sigma)
	}
	return nil
}

// sigmaOfBoxes returns the standard deviation of the boxes that approximate a Gaussian of standard deviation
// sigma.
func sigmaOfBoxes(sigma float64, passes int) float64 {
	variance := 0.0
	for _, n := range filter.Boxes(sigma, passes) {
		variance += deviationOf(n) * deviationOf(n)
	}
	return math.Sqrt(variance)
}

// deviationOf returns the standard deviation of a box of n pixels.
func deviationOf(n int) float64 { return math.Sqrt((float64(n)*float64(n) - 1) / 12) }

// work returns the filter selected by the flags.
func (c *Blur) work() (*filterWork, error) {
	opt, err := c.options()
	if err != nil {
		return nil, err
	}
	w := &filterWork{name: "box"}
	w.job = filters.Job{Options: opt, Window: filters.Window(c.Window.Window), Sigma: filters.Sigma{X: c.Sigma, Y: c.Sigma, Passes: c.Passes}}
	if err := c.checkSize(); err != nil {
		return nil, err
	}
	bySigma := c.bySigma()
	if c.Radius >= 0 {
		w.job.Window = filters.Window(filter.Radius(c.Radius))
	}
	if c.Gaussian && !bySigma {
		w.job.Sigma.X, w.job.Sigma.Y = deviationOf(w.job.Window.Width), deviationOf(w.job.Window.Height)
	}
	if c.Gaussian || bySigma {
		w.name = "gaussian"
	}
	return w, c.checkValid(kinds[w.name], "--gaussian and --sigma")
}

// one blurs one image.
func (c *Blur) one(sh *console.Shell, work *filterWork, in, out string) (report, error) {
	src, format, err := openLike(sh, in, out, c.Flags, c.Demo)
	if err != nil {
		return nil, err
	}
	defer src.Close()
	c.tellNaN(sh, in, src.Image, kinds[work.name])
	r := newFilterReport(src, work, out)
	r.count(src.PagesIn(format))
	if format == "npy" && !hasAlpha(src) {
		write, err := work.stream(sh, src.Image)
		if err != nil {
			return nil, err
		}
		if write != nil {
			src.TellFirst(sh)
			return r, r.streamed(sh, out, write)
		}
	}
	return r, imagefile.SavePages(sh, out, format, src, func() (any, error) {
		watched := work.watched(sh)
		start := time.Now()
		apply := watched.apply
		if hasAlpha(src) {
			apply = func(img raster.Array) (raster.Array, error) { return throughAlpha(img, watched.apply) }
		}
		img, err := apply(src.Image)
		r.took(start)
		tellFailed(sh, work.job.Options.On)
		return imagefile.Encodable(img, err)
	})
}

// watched returns a filter that Ctrl-C cancels and whose progress is shown.
func (f *filterWork) watched(sh *console.Shell) *filterWork {
	w := *f
	w.job.Options.Context = sh.Ctx
	sh.Progress.Begin("filtering", 0)
	w.job.Options.Progress = sh.Progress.Share("filtering")
	return &w
}

// newFilterReport returns a report without results.
func newFilterReport(src *imagefile.Source, work *filterWork, out string) *filterReport {
	r := &filterReport{
		inputReport: newInputReport(src), Filters: []string{work.name}, Border: work.job.Options.Border.String(),
		placeReport: placeReportOf(work.job.Options.On, work.job.Options.Workers), outputReport: outputReport{Out: out},
	}
	if work.name == "gaussian" {
		r.Sigma = []float64{work.job.Sigma.X, work.job.Sigma.Y}
		r.Passes = work.job.Sigma.Boxes(src.Image.Type)
	} else {
		r.Window = []int{work.job.Window.Width, work.job.Window.Height}
	}
	return r
}

// streamed writes a result row by row.
func (r *filterReport) streamed(sh *console.Shell, out string, write func(io.Writer) error) error {
	start := time.Now()
	err := imagefile.Save(sh, out, 0, write)
	r.took(start)
	r.RowByRow, r.Workers = true, 1
	return err
}

// runStore filters an image into an array in a store.
func (c *Blur) runStore(sh *console.Shell, work *filterWork) error {
	switch {
	case c.onGPU():
		return console.Usage("arrays in stores are blurred on the CPU: leave out --on %s", c.On)
	case len(c.Ins) != 1:
		return console.Usage("%d images: only one can be blurred into a store", len(c.Ins))
	case c.valid():
		return console.Usage("--nan skip and --mask are not supported for arrays in stores: leave them out")
	case work.name != "box":
		return console.Usage("arrays in stores are blurred by box filters only: leave out --gaussian and --sigma")
	}
	memory, err := imagefile.ParseSize(c.Memory)
	if err != nil {
		return err
	}
	start := time.Now()
	src, err := imagefile.OpenArray(sh, c.Ins[0], &c.Flags)
	if err != nil {
		return err
	}
	defer src.Close()
	if err := imagefile.CheckTiles(src, c.Ins[0], c.Out); err != nil {
		return err
	}
	dst, err := zarr.OpenBucket(sh.Ctx, c.Out, true)
	if err != nil {
		return err
	}
	err = store.FilterArray(sh.Ctx, src, dst, filter.Window(work.job.Window), &store.FilterOptions{
		Border: filter.Border(work.job.Options.Border), Value: work.job.Options.Value, Workers: work.job.Options.Workers, Memory: memory, MaxChunks: c.MaxChunks, Progress: func(done, all int) { sh.Progress.Reach("filtering", done, all) },
	})
	if err = imagefile.CloseStore(dst, c.Out, err); err != nil {
		return err
	}
	shape := append(src.Shape(), 1)
	r := &filterReport{
		inputReport: inputReport{Extent: imagefile.Extent{Width: shape[1], Height: shape[0], Channels: shape[2]}, Pixels: src.Type().String()},
		Filters:     []string{work.name}, Window: []int{work.job.Window.Width, work.job.Window.Height}, Border: work.job.Options.Border.String(),
		placeReport: placeReportOf(nil, work.job.Options.Workers), outputReport: outputReport{Out: zarr.Redacted(c.Out)},
	}
	r.took(start)
	return printReport(sh, r, c.JSON)
}
