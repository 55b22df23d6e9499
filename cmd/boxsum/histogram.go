package main

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/histogram"
)

type histogramCmd struct {
	In      string    `arg:"" optional:"" name:"IN" help:"Image (PNG, JPEG, GIF, BMP, TIFF, WebP, PNM) or .npy array; - is standard input."`
	Demo    bool      `help:"Count a picture of 1920×1080 that boxsum draws itself, instead of IN."`
	Bins    int       `default:"32" placeholder:"N" help:"How many bins, 2 to 256 (${default})."`
	Range   rangeFlag `placeholder:"LOW,HIGH" help:"Values to cut into bins. Unless told, all that 8- and 16-bit pixels can have; for others, from the smallest to the largest of the image."`
	Weights string    `placeholder:"FILE" help:"Image or .npy array of IN's size, gray: a pixel counts as much as the weight in its place, such as 0 and 1 of a mask."`
	Clamp   bool      `help:"Count what is out of range in the first or last bin, and not in none."`
	Out     string    `short:"o" placeholder:"OUT" help:"Where the table goes: .npy, .npz (keys histogram and edges), or .png (the image with its boxes and their histograms); - is .npy on standard output."`
	Box     boxList   `placeholder:"X0,Y0,X1,Y1" help:"Box whose histogram to print, from its first column and row up to, not with, X1 and Y1. May be given again."`
	Boxes   string    `placeholder:"FILE" help:"File with a box on every line; - is standard input."`
	Color   string    `enum:"gray,keep" default:"gray" help:"What to do with colour: gray makes one channel of it, keep has a histogram for each. Arrays (.npy) keep theirs."`
	Workers int       `placeholder:"N" help:"Goroutines to use at most; all processors unless told."`
	placeFlag
	JSON bool `name:"json" help:"Print JSON."`

	announce func(bytes int64) // says how much memory is about to be taken
}

// Run makes the table, writes it and prints what is asked of it.
func (c *histogramCmd) Run(sh *shell) error {
	if c.Workers < 0 {
		return fmt.Errorf("--workers %d is negative: give a positive number, or leave it out to use all processors", c.Workers)
	}
	switch {
	case c.onGPU() && c.Workers != 0:
		return fmt.Errorf("--workers is for the CPU: leave it out with --on %s", c.On)
	case c.onGPU() && c.Weights != "":
		return fmt.Errorf("--weights is for the CPU: leave out --on %s", c.On)
	case c.Weights == standard && c.In == standard:
		return errors.New("the image and its weights cannot both come from standard input")
	}
	if _, err := histogram.Bytes[uint32](0, 0, 1, c.Bins); err != nil {
		return fmt.Errorf("--bins: %w", err)
	}
	out, err := formatOf(c.Out, "histograms", false, false)
	if err != nil {
		return err
	}
	boxes, err := await(sh.ctx, func() ([]box, error) { return boxesOf(c.Box, c.Boxes, c.In, sh.stdin, 4) })
	if err != nil {
		return err
	}
	src, err := sh.source(&c.placeFlag, func() (*source, error) { return sh.imageOrDemo(c.In, c.Out, c.Color, c.Demo) })
	if err != nil {
		return err
	}
	defer src.close()
	pair, err := pairNamed(src.image, "auto")
	if err != nil {
		return err
	}
	var weights any
	if c.Weights != "" {
		if err := checkApart(c.Weights, c.Out, false); err != nil {
			return err
		}
		picture, err := sh.open(c.Weights, "gray")
		if err != nil {
			return err
		}
		defer picture.Close()
		weights = picture.Image
	}
	opt := &boxsum.Options{Workers: cmp.Or(c.Workers, runtime.GOMAXPROCS(0))}
	c.announce = func(bytes int64) { *opt = *sh.watched(opt, "counting, "+inBytes(bytes), src.device) }
	work, err := pair.histogram(c, src.image, weights, src.device, opt)
	if err = cmp.Or(err, sh.ctx.Err()); err != nil {
		return err
	}
	if len(boxes) == 0 && c.Boxes == "" && (c.Out == "" || strings.EqualFold(filepath.Ext(c.Out), ".png")) {
		boxes = []box{{0, 0, work.Width, work.Height}}
	}
	report := histogramReport{
		extent: work.extent, On: "cpu",
		Bins: work.bins.N, Range: [2]float64{work.bins.Low, work.bins.High}, Weighted: weights != nil,
		Milliseconds: float64(work.took) / float64(time.Millisecond), Bytes: work.bytes, Out: c.Out,
	}
	if d := src.device; d != nil {
		report.On, report.Device = d.Info().Kind.String(), d.Info().Name
	}
	for _, b := range boxes {
		work.boxes = append(work.boxes, work.ask(b))
	}
	if err := sh.save(c.Out, out, work); err != nil {
		return err
	}
	return c.print(sh, report, work)
}

// A rangeFlag is LOW,HIGH.
type rangeFlag struct {
	low, high float64
	given     bool
}

func parseRange(text string) (r rangeFlag, err error) {
	var ends [2]float64
	if err := parseFloats(ends[:], 2, text, "range", "LOW,HIGH", "number that a pixel can have"); err != nil {
		return r, err
	}
	if ends[0] >= ends[1] {
		return r, fmt.Errorf("range %.60q is empty: HIGH must be larger than LOW", text)
	}
	return rangeFlag{ends[0], ends[1], true}, nil
}
