package detection

import (
	"cmp"
	"image"
	"runtime"
	"slices"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/detect"
	"github.com/boxsum/boxsum/hog"
	"github.com/boxsum/boxsum/internal/cascade/installed"
	"github.com/boxsum/boxsum/internal/cli/console"
	"github.com/boxsum/boxsum/internal/cli/flags"
)

// A detector is a cascade, or a descriptor of gradients, with the options for searching.
type detector struct {
	cascade *detect.Cascade
	opt     detect.Options

	hog    *hog.Descriptor // nil for a cascade
	hogOpt hog.Options

	workers int
}

// onGPU reports whether a device searches.
func (d *detector) onGPU() bool { return d.opt.On != nil }

// findEach searches images of one size on a device, in one call.
func (d *detector) findEach(images []boxsum.Image[uint8]) ([][]detect.Result, error) {
	if d.hog != nil {
		return d.hog.DetectBatch(images, &d.hogOpt)
	}
	return d.cascade.DetectBatch(images, &d.opt)
}

// find appends the objects in an image.
func (d *detector) find(to []detect.Result, img boxsum.Image[uint8], workers int, progress func(float64)) ([]detect.Result, error) {
	if d.hog != nil {
		opt := d.hogOpt
		opt.Workers, opt.Progress = workers, progress
		return d.hog.AppendDetect(to, img, &opt)
	}
	opt := d.opt
	opt.Workers, opt.Progress = workers, progress
	return d.cascade.AppendDetect(to, img, &opt)
}

// detector checks the flags and loads the detector.
func (c *Detect) detector(sh *console.Shell) (*detector, error) {
	level, err := boxsum.ParseLevel(c.Level)
	if err != nil {
		return nil, err
	}
	place := flags.Place{On: c.On}
	if err := place.Check(); err != nil {
		return nil, err
	}
	scale, neighbors := 1.1, 3
	if c.HOG != "" {
		scale, neighbors = 1.05, 2
	}
	if c.Scale != nil {
		scale = *c.Scale
	}
	if c.Neighbors != nil {
		neighbors = *c.Neighbors
	}
	switch {
	case c.Cascade == "" && c.HOG == "":
		return nil, console.Usage("no detector: name a cascade with --cascade, or histograms of gradients with --hog")
	case c.Workers < 0:
		return nil, console.Usage("--workers %d: want 1 or more (without --workers, all processors work)", c.Workers)
	case !(scale > 1 && scale <= 100):
		return nil, console.Usage("--scale %v: want more than 1, such as 1.1", scale)
	case neighbors < 0:
		return nil, console.Usage("--neighbors %d: want 1 or more, or 0 for every window", neighbors)
	case c.Blur && c.Out == "":
		return nil, console.Usage("--blur writes a picture: name a file with -o")
	case place.OnGPU() && c.Level != "auto":
		return nil, console.Usage("--level is for the CPU: leave it out with --on %s", c.On)
	}
	check, load := c.checkCascade, c.loadCascade
	if c.HOG != "" {
		check, load = c.checkHOG, c.loadHOG
	}
	if err := check(&place); err != nil {
		return nil, err
	}
	least, most := image.Pt(c.Min.Width, c.Min.Height), image.Pt(c.Max.Width, c.Max.Height)
	d := &detector{workers: cmp.Or(c.Workers, runtime.GOMAXPROCS(0))}
	d.opt = detect.Options{
		Scale: scale, Neighbors: neighbors, Ungrouped: neighbors == 0, Angles: c.Angles, EachAngle: c.EachAngle, Mirror: c.Mirror, Compat: c.Compat,
		Min: least, Max: most, Level: level, Context: sh.Ctx,
	}
	d.hogOpt = hog.Options{
		Scale: scale, Neighbors: neighbors, Ungrouped: neighbors == 0, Min: least, Max: most,
		Step: image.Pt(c.Step, c.Step), Padding: image.Pt(c.Padding, c.Padding), Level: level, Context: sh.Ctx,
	}
	if c.Turn == "tables" {
		d.opt.Turn = detect.TurnTables
	}
	if c.Threshold != nil {
		d.hogOpt.Threshold = *c.Threshold
	}
	if err := load(sh, d); err != nil {
		return nil, err
	}
	device, err := place.Open()
	if err != nil {
		return nil, err
	}
	if device != nil {
		d.opt.On, d.hogOpt.On = device, device
	}
	return d, nil
}

// loadCascade loads the cascade.
func (c *Detect) loadCascade(_ *console.Shell, d *detector) error {
	path, err := installed.Find(c.Cascade)
	if err != nil {
		return err
	}
	d.cascade, err = detect.LoadFile(path)
	return err
}

// loadHOG loads the descriptor of gradients.
func (c *Detect) loadHOG(sh *console.Shell, d *detector) (err error) {
	d.hog, err = loadHOG(sh.Ctx, c.HOG)
	return err
}

// turned reports whether rotated objects are to be found.
func (c *Detect) turned() bool {
	return slices.ContainsFunc(c.Angles, func(a float64) bool { return a != 0 })
}

// checkCascade checks the flags that depend on each other with --cascade.
func (c *Detect) checkCascade(place *flags.Place) error {
	switch {
	case place.OnGPU() && c.turned():
		return console.Usage("--angles works on the CPU only: leave it out, or use --on cpu")
	case place.OnGPU() && c.Mirror:
		return console.Usage("--mirror works on the CPU only: leave it out, or use --on cpu")
	case c.Compat && c.turned():
		return console.Usage("--compat searches as OpenCV does, which has no --angles: leave one out")
	case c.Compat && c.Mirror:
		return console.Usage("--compat searches as OpenCV does, which has no --mirror: leave one out")
	case c.Threshold != nil || c.Step != 0 || c.Padding != 0:
		return console.Usage("--threshold, --step and --padding are for --hog: leave them out with --cascade")
	}
	return nil
}

// checkHOG checks the flags that depend on --hog.
func (c *Detect) checkHOG(*flags.Place) error {
	switch {
	case c.turned() || c.Mirror || c.EachAngle || c.Turn != "image":
		return console.Usage("--hog finds upright objects: leave out --angles, --turn, --each-angle and --mirror")
	case c.Compat:
		return console.Usage("--hog always searches the windows that OpenCV searches: leave out --compat")
	case c.Threshold != nil && *c.Threshold-*c.Threshold != 0:
		return console.Usage("--threshold %v: want a finite number", *c.Threshold)
	case c.Step < 0:
		return console.Usage("--step %d: want 1 or more", c.Step)
	case c.Padding < 0:
		return console.Usage("--padding %d: want 0 or more", c.Padding)
	}
	return nil
}
