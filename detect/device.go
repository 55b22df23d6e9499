package detect

import (
	"fmt"
	"image"
	"runtime"
	"slices"
	"sync"

	"github.com/boxsum/boxsum/internal/cascade"
	"github.com/boxsum/boxsum/internal/device"
	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/kernel/cascades"
	"github.com/boxsum/boxsum/internal/objects"
	"github.com/boxsum/boxsum/internal/raster"
)

// detectOn returns the objects that a device finds in images of one size: in the given
// images or, if there are none, in those that are already on the device.
func (c *Cascade) detectOn(images []raster.Array, o *Options) ([][]Result, error) {
	if len(images) > 0 {
		first := &images[0]
		if err := first.Check(); err != nil {
			return nil, err
		}
		if err := checkChannels(first.Channels); err != nil {
			return nil, err
		}
	}
	p, err := c.planOn(o, images)
	if err != nil {
		return nil, err
	}
	if p.count == 0 || len(p.layers) == 0 {
		p.set.Report(1)
		return make([][]Result, p.count), nil
	}
	job := device.Detect{Images: images, Search: p.search, Options: p.set.OnDevice()}
	if err := p.set.On().Detect(&job); err != nil {
		return nil, err
	}
	return p.results(job.Found)
}

// A devicePlan describes a search to package gpu, and how to turn the windows that it
// finds into results.
type devicePlan struct {
	search *cascade.Search
	stages int
	layers []layer
	opt    Options
	set    engine.Settings
	count  int // number of images
	bounds image.Rectangle
}

// planOn returns the search in images on a device.
func (c *Cascade) planOn(o *Options, images []raster.Array) (*devicePlan, error) {
	if c == nil || len(c.stages) == 0 {
		return nil, raster.Invalid("nil or empty Cascade (use Load)")
	}
	p := &devicePlan{stages: len(c.stages)}
	opt := &p.opt
	if err := o.check(opt, &p.set); err != nil {
		return nil, err
	}
	there := p.set.On().Resident()
	width, height := there.Width, there.Height
	if p.count = there.Count; len(images) > 0 {
		width, height, p.count = images[0].Width, images[0].Height, len(images)
	}
	p.bounds = image.Rect(0, 0, width, height)
	switch {
	case !opt.isUpright():
		return nil, raster.Invalid("angles are not supported on a device (use the CPU)")
	case opt.Mirror:
		return nil, raster.Invalid("mirrored objects are not supported on a device (use the CPU)")
	case opt.NearMisses > 0:
		return nil, raster.Invalid("near misses is %d, want 0 on a device (use the CPU)", opt.NearMisses)
	case max(width, height) > 1<<22: // axisOf stores positions in 31 bits, of which 9 are for the fraction
		return nil, raster.Invalid("image is %d×%d, want sides of at most %d on a device", width, height, 1<<22)
	}
	var err error
	if p.layers, err = c.layersOf(nil, width, height, opt, false); err != nil {
		return nil, err
	}
	s := &cascade.Search{
		Patterns: c.kind == LBP, Tilted: c.tilted, Leaves: c.leaves, BlueFirst: opt.BGR, Limit: opt.Limit, TooMany: tooMany(opt.Limit),
	}
	for i := range p.layers {
		l := &p.layers[i]
		to := cascade.Layer{Width: l.width, Height: l.height, Columns: l.columns, Rows: l.rows, Step: l.step}
		to.AxisX, to.AxisY = axisOf(width, l.width), axisOf(height, l.height)
		s.Layers = append(s.Layers, to)
	}
	w, h := c.size.X-2, c.size.Y-2
	norm := cascades.HaarNorm{Area: float64(w * h)}
	norm.SetContrast(opt.Contrast)
	s.Area, s.Most = w*h, norm.Most
	for i, at := range upright(1, 1, w, h) {
		s.Norm[i] = cascade.Point{X: at[0], Y: at[1]}
	}
	for i := range c.nodes {
		n := &c.nodes[i]
		f := &c.features[n.feature]
		to := cascade.Node{Weights: f.weights, Threshold: n.threshold, Left: n.left, Right: n.right, Boxes: 2, Tilted: f.tilted}
		if f.weights[2] != 0 {
			to.Boxes = 3
		}
		if c.kind == LBP {
			to.Subset = c.subsets[i]
			b := f.boxes[0]
			for k := range to.Corners {
				to.Corners[k] = cascade.Point{X: int(b.x) + k%4*int(b.w), Y: int(b.y) + k/4*int(b.h)}
			}
		} else {
			for k, b := range f.boxes {
				corners := upright(int(b.x), int(b.y), int(b.w), int(b.h))
				if f.tilted {
					corners = turned(int(b.x), int(b.y), int(b.w), int(b.h))
				}
				for j, at := range corners {
					to.Corners[4*k+j] = cascade.Point{X: at[0], Y: at[1]}
				}
			}
		}
		s.Nodes = append(s.Nodes, to)
	}
	for _, t := range c.trees {
		s.Trees = append(s.Trees, cascade.Tree{Node: t.nodes.first, Leaf: t.leaves.first})
	}
	for _, st := range c.stages {
		s.Stages = append(s.Stages, cascade.Stage{First: st.trees.first, End: st.trees.end, Threshold: st.threshold})
	}
	p.search = s
	return p, nil
}

// axisOf returns, for each pixel along one side of a layer, the position in the image
// that it is interpolated from: see axis.
func axisOf(src, dst int) []int32 {
	all := make([]int32, dst)
	for i := range all {
		place, part := i, 0
		if src != dst {
			place, part = objects.Source(src, dst, i)
		}
		all[i] = int32(place<<9 | part)
	}
	return all
}

// results groups the windows that passed in each image into results. Grouping takes time in
// proportion to the windows, so images are grouped in parallel.
func (p *devicePlan) results(found [][]cascade.Found) ([][]Result, error) {
	all, errs := make([][]Result, len(found)), make([]error, len(found))
	var group sync.WaitGroup
	room := make(chan struct{}, runtime.GOMAXPROCS(0))
	for i, windows := range found {
		if len(windows) == 0 {
			continue
		}
		room <- struct{}{}
		group.Go(func() {
			defer func() { <-room }()
			all[i], errs[i] = p.resultsOf(windows)
		})
	}
	group.Wait()
	for i, err := range errs {
		if err != nil && len(found) > 1 {
			err = fmt.Errorf("image %d: %w", i, err)
		}
		if err != nil {
			return nil, err
		}
	}
	return all, nil
}

// resultsOf groups the windows that passed in one image into results.
func (p *devicePlan) resultsOf(found []cascade.Found) ([]Result, error) {
	o := &p.opt
	var all []candidate
	for _, f := range found {
		l := &p.layers[f.Layer]
		x, y := f.Column*l.step, f.Row*l.step
		one := candidate{layer: int32(f.Layer), x: int32(x), y: int32(y), stage: int32(p.stages), score: f.Score, rect: l.rect(x, y)}
		middle := one.rect.Min.Add(one.rect.Max).Div(2)
		if !slices.ContainsFunc(o.Ignore, func(r image.Rectangle) bool { return middle.In(r) }) {
			all = append(all, one)
		}
	}
	if len(all) > o.Limit {
		return nil, tooMany(o.Limit)
	}
	slices.SortFunc(all, func(a, b candidate) int { return a.compare(&b) })
	if o.Ungrouped {
		return each(nil, all, p.bounds), nil
	}
	return new(grouper).group(nil, all, o.Neighbors, p.bounds), nil
}
