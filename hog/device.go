package hog

import (
	"fmt"
	"image"
	"math"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/device"
	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/kernel/gradients"
	"github.com/boxsum/boxsum/internal/objects"
	"github.com/boxsum/boxsum/internal/oriented"
	"github.com/boxsum/boxsum/internal/raster"
)

// detectOn returns the objects that a device finds in images of one size: in the given images or, if
// there are none, in those that are already on the device.
func (d *Descriptor) detectOn(images []boxsum.Image[uint8], o *Options) ([][]Result, error) {
	var opt Options
	var set engine.Settings
	if err := d.classifies(); err != nil {
		return nil, err
	}
	if err := o.check(d, &opt, &set); err != nil {
		return nil, err
	}
	there := set.On().Resident()
	size, count, colors := image.Pt(there.Width, there.Height), there.Count, 3
	arrays := make([]raster.Array, len(images))
	var s search
	for i := range images {
		if err := s.look(&images[i], opt.BGR); err != nil {
			return nil, inBatch(i, len(images), err)
		}
		arrays[i] = raster.ArrayOf(images[i].Pix, s.src.Extent)
		size, count, colors = image.Pt(s.src.Width, s.src.Height), len(images), s.colors
	}
	if len(images) == 0 && there.Channels == 1 {
		colors = 1
	}
	if max(size.X, size.Y) > 1<<22 { // axisOf stores positions in 31 bits, of which 9 are for the fraction
		return nil, raster.Invalid("image is %d×%d, want sides of at most %d on a device", size.X, size.Y, 1<<22)
	}
	levels := d.levelsOf(nil, size.X, size.Y, &opt)
	if count == 0 || len(levels) == 0 {
		set.Report(1)
		return make([][]Result, count), nil
	}
	job := device.DetectHOG{Images: arrays, Search: d.searchOn(levels, size, colors, &opt), Options: set.OnDevice()}
	if err := set.On().DetectHOG(&job); err != nil {
		return nil, err
	}
	all, errs := make([][]Result, count), make([]error, count)
	if err := set.Quiet().Each(count, set.Workers(), func(_, i int) {
		all[i], errs[i] = d.resultsOf(job.Found[i], levels, size, &opt, &set)
	}); err != nil {
		return nil, err
	}
	for i, err := range errs {
		if err != nil {
			return nil, inBatch(i, count, err)
		}
	}
	return all, nil
}

// inBatch adds the number of an image to an error, if there are several.
func inBatch(i, count int, err error) error {
	if count == 1 {
		return err
	}
	return fmt.Errorf("image %d: %w", i, err)
}

// searchOn describes a search to package gpu.
func (d *Descriptor) searchOn(levels []level, size image.Point, colors int, o *Options) *oriented.Search {
	c := &d.config
	lattice := image.Pt(gcd(o.Step.X, c.Stride.X), gcd(o.Step.Y, c.Stride.Y))
	s := &oriented.Search{
		Colors: colors, Channels: channelsOf(colors, o.BGR), Roots: d.roots[:],
		Bins: c.Bins, Turn: d.directions.PerRadian(), Block: c.Block, Grow: gradients.Grow(d.length), Clip: d.clip,
		Cells:   make([][]oriented.Vote, d.cells.X*d.cells.Y),
		Lattice: lattice, Blocks: d.blocks,
		Stride: image.Pt(c.Stride.X/lattice.X, c.Stride.Y/lattice.Y), Pace: image.Pt(o.Step.X/lattice.X, o.Step.Y/lattice.Y),
		Coefficients: c.Coefficients[:d.Size()], Bias: d.bias, Threshold: o.Threshold, Limit: o.Limit,
	}
	if len(o.Ignore) > 0 { // windows in these areas do not count
		s.Limit = math.MaxInt
	}
	for i := range d.pixels {
		p := &d.pixels[i]
		for k, cell := range p.Cells[:p.N] {
			s.Cells[cell] = append(s.Cells[cell], oriented.Vote{X: int(p.X), Y: int(p.Y), Weight: p.Weights[k]})
		}
	}
	for i := range levels {
		l := &levels[i]
		s.Levels = append(s.Levels, oriented.Level{
			Width: l.padded.X, Windows: l.count, Last: l.padded.X &^ (colorLanes - 1), Short: atanFrom(l.padded.X),
			AxisX: axisOf(size.X, l.width, l.padding.X), AxisY: axisOf(size.Y, l.height, l.padding.Y),
		})
	}
	return s
}

// axisOf returns the positions in the image of the pixels along one side of a padded level; see
// [oriented.Level].
func axisOf(src, dst, padding int) []int32 {
	all := make([]int32, dst+2*padding+2)
	inside := all[padding+1:][:dst]
	for i := range inside {
		place, part := objects.Source(src, dst, i)
		inside[i] = int32(place<<9 | part)
	}
	for i := range padding + 1 {
		all[i] = inside[mirrored(i-1-padding, dst)]
		all[padding+1+dst+i] = inside[mirrored(dst+i, dst)]
	}
	return all
}

// resultsOf groups the windows that a device found in one image.
func (d *Descriptor) resultsOf(found []oriented.Found, levels []level, size image.Point, o *Options, set *engine.Settings) ([]Result, error) {
	s := takeSearch(d, detects)
	defer s.leave()
	s.opt, s.set, s.step, s.hits = *o, *set, o.Step, s.hits[:0]
	s.src.Width, s.src.Height = size.X, size.Y
	for _, f := range found {
		if h, ok := s.hitAt(&levels[f.Level], f.Level, f.X, f.Y, f.Score); ok {
			s.hits = append(s.hits, h)
		}
	}
	if len(s.hits) > o.Limit {
		return nil, tooMany(o.Limit)
	}
	sortHits(s.hits)
	return s.results(nil)
}
