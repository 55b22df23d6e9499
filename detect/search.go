package detect

import (
	"fmt"
	"image"
	"math"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/objects"
	"github.com/boxsum/boxsum/internal/raster"
)

// Detect returns the objects found in img, which must have one channel (gray), or three or
// four that start with red, green and blue. If img is smaller than the cascade's window,
// Detect finds nothing.
func (c *Cascade) Detect(img boxsum.Image[uint8], o *Options) ([]Result, error) {
	return c.AppendDetect(nil, img, o)
}

// DetectImage is like [Cascade.Detect] but searches any image.Image, converted to gray by
// [boxsum.Gray]. Positions are relative to the top left pixel of img.
func (c *Cascade) DetectImage(img image.Image, o *Options) ([]Result, error) {
	return c.AppendDetect(nil, boxsum.Gray(img), o)
}

// DetectBatch is like [Cascade.Detect] but searches several images of the same size, and
// returns the results of each. If [Options.On] is set, the device searches all images
// together; if it consists of several devices, each of them searches a part of the images.
func (c *Cascade) DetectBatch(images []boxsum.Image[uint8], o *Options) ([][]Result, error) {
	arrays := make([]raster.Array, len(images))
	for i := range images {
		arrays[i] = arrayOf(&images[i])
		if err := arrays[i].Check(); err != nil {
			return nil, fmt.Errorf("image %d: %w", i, err)
		}
		if a, first := &arrays[i], &arrays[0]; a.Width != first.Width || a.Height != first.Height || a.Channels != first.Channels {
			return nil, raster.Invalid("image %d of the batch is %v, want %v like the first", i, a.Extent, first.Extent)
		}
	}
	if o != nil && o.On != nil {
		return c.detectOn(arrays, o)
	}
	if len(images) == 0 {
		return nil, nil
	}
	all := make([][]Result, len(images))
	for i, img := range images {
		var err error
		if all[i], err = c.Detect(img, o.share(i, len(images))); err != nil {
			return nil, fmt.Errorf("image %d: %w", i, err)
		}
	}
	return all, nil
}

// share returns the options for image i of n, with the progress scaled accordingly.
func (o *Options) share(i, n int) *Options {
	if o == nil || o.Progress == nil {
		return o
	}
	part := *o
	part.Progress = func(done float64) { o.Progress((float64(i) + done) / float64(n)) }
	return &part
}

// arrayOf returns the pixels of an image as an Array, without checking it.
func arrayOf(img *boxsum.Image[uint8]) raster.Array {
	return raster.ArrayOf(img.Pix, raster.PlaneExtent(img.Width, img.Height, img.Channels, img.Stride))
}

// AppendDetect is like [Cascade.Detect] but appends the results to the slice to, and
// returns the extended slice. If to has enough capacity, searching images of the same size
// again does not allocate. On error, AppendDetect returns to unchanged.
func (c *Cascade) AppendDetect(to []Result, img boxsum.Image[uint8], o *Options) ([]Result, error) {
	if c == nil || len(c.stages) == 0 {
		return to, raster.Invalid("nil or empty Cascade (use Load)")
	}
	if o != nil && o.On != nil {
		found, err := c.detectOn([]raster.Array{arrayOf(&img)}, o)
		if err != nil {
			return to, err
		}
		return append(to, found[0]...), nil
	}
	s, _ := idle.Get().(*search)
	if s == nil {
		s = new(search)
	}
	defer s.leave()
	if !o.isUpright() || o != nil && o.Mirror {
		return s.appendTurned(to, c, &img, o)
	}
	s.found.Store(0)
	s.resetViews(c)
	if err := s.prepare(&img, o); err != nil {
		return to, err
	}
	if err := s.run(); err != nil {
		return to, err
	}
	return s.results(to), nil
}

// resetViews prepares the views for the next pass, with a single cascade.
func (s *search) resetViews(c *Cascade) {
	s.turning, s.coarse, s.views = nil, false, s.views[:0]
	v := s.view(c)
	v.direction, v.angle, v.mirrored, v.marks, v.between = direction{}, 0, false, 0, 0
}

// view adds a cascade to search on the same tables. All such cascades must have the same
// window size.
func (s *search) view(c *Cascade) *view {
	if n := len(s.views); n < cap(s.views) { // reuse its programs
		s.views = s.views[:n+1]
	} else {
		s.views = append(s.views, view{})
	}
	v := &s.views[len(s.views)-1]
	v.cascade = c
	return v
}

// run executes the prepared search.
func (s *search) run() error {
	s.candidates, s.misses = s.candidates[:0], s.misses[:0]
	if len(s.layers) == 0 {
		return nil
	}
	if err := s.engine.Fill(&s.set, &s.work, s); err != nil {
		return err
	}
	if s.found.Load() > int64(s.opt.Limit) {
		return tooMany(s.opt.Limit)
	}
	return nil
}

// idle holds unused searches with their memory.
var idle sync.Pool

const (
	// idleBytes limits the memory that an idle search keeps.
	idleBytes = 256 << 20
	// bandRows is the number of window rows of a layer that share a table. With more
	// rows, fewer rows are computed twice; with fewer rows, the table stays in the
	// caches.
	bandRows = 64
)

// A search is one call to Detect. Its memory is reused.
type search struct {
	engine.Base
	engine engine.Engine
	set    engine.Settings
	work   engine.Plan
	opt    Options

	views   []view
	turning *turning // for rotated objects
	coarse  bool     // see layersOf
	width   int      // width of the image, or of a larger layer
	src     engine.Source[uint8]
	gray    []uint8 // the gray version of a color image
	layers  []layer
	bands   []band
	places  []int32 // positions of the columns of all layers
	parts   []uint32

	workers []worker
	found   atomic.Int64

	candidates, misses []candidate
	grouper            grouper

	turn                 turning
	marks                marks
	rotated              []uint8 // the rotated image
	turned, turnedMisses []candidate
	poses                []pose
}

// A view is a cascade to search for, with its programs.
type view struct {
	cascade *Cascade
	direction
	angle    float64    // of the objects, in degrees
	mirrored bool       // objects are mirrored
	marks    uint8      // left by its first stages
	between  uint8      // if not zero, search only where one of these marks is set
	programs [3]program // for steps of 1 and 2, and for the odd columns in between
	lattice  []program  // programs on a lattice: for windows a step apart, and for those half a step further in x, y or both
}

// program returns the program for the windows of a layer.
func (v *view) program(l *layer) *program {
	if v.cascade.lattice != nil {
		return &v.lattice[0]
	}
	return &v.programs[l.step-1]
}

// programAt returns the program for a window between searched ones, and its index.
// Windows of one program are adjacent in memory.
func (v *view) programAt(x, y int32) (*program, int) {
	if l := v.cascade.lattice; l != nil {
		k := l.side(x) + 3*l.side(y)
		return &v.lattice[k], k
	}
	return &v.programs[1+x&1], int(x & 1)
}

// A band is a range of window rows in one layer.
type band struct{ layer, first, rows int }

func (s *search) leave() {
	s.opt, s.set, s.src, s.turning = Options{}, engine.Settings{}, engine.Source[uint8]{}, nil
	s.turn = turning{}
	bytes := engine.Bytes(s.gray) + engine.Bytes(s.places) + engine.Bytes(s.parts) + engine.Bytes(s.candidates) + engine.Bytes(s.misses) +
		engine.Bytes(s.rotated) + engine.Bytes(s.turned) + s.marks.bytes() + engine.Bytes(s.turnedMisses)
	for i := range s.workers {
		bytes += s.workers[i].bytes()
	}
	if bytes <= idleBytes {
		idle.Put(s)
	}
}

// prepare validates the arguments and plans the search.
func (s *search) prepare(img *boxsum.Image[uint8], o *Options) (err error) {
	s.layers = s.layers[:0]
	if err := o.check(&s.opt, &s.set); err != nil {
		return err
	}
	s.src.Image(img.Pix, img.Width, img.Height, img.Channels, img.Stride)
	if err := s.src.Pixels(len(img.Pix)); err != nil {
		return err
	}
	if err := checkChannels(s.src.Channels); err != nil {
		return err
	}
	c := s.views[0].cascade
	if s.layers, err = c.layersOf(s.layers, s.src.Width, s.src.Height, &s.opt, s.coarse); err != nil || len(s.layers) == 0 {
		return err
	}
	if s.src.Channels > 1 {
		s.toGray()
	}
	s.bands, s.places, s.parts = s.bands[:0], s.places[:0], s.parts[:0]
	for i := range s.layers {
		l := &s.layers[i]
		l.first = len(s.places)
		if l.width != s.src.Width {
			for x := range l.width {
				place, part := objects.Source(s.src.Width, l.width, x)
				s.places = append(s.places, int32(place))
				s.parts = append(s.parts, uint32(256-part)|uint32(part)<<16)
			}
		}
		if s.turning != nil {
			size := c.sizeAt(l.scale)
			l.level = s.marks.level(math.Sqrt(float64(size.X) * float64(size.Y)))
		}
		rows := bandRows / l.step
		for y := 0; y < l.rows; y += rows {
			s.bands = append(s.bands, band{i, y, min(rows, l.rows-y)})
		}
	}
	s.width = max(s.src.Width, s.layers[0].width)
	for i := range s.views {
		v := &s.views[i]
		if l := v.cascade.lattice; l != nil {
			if v.lattice == nil {
				v.lattice = make([]program, 9)
			}
			for k := range v.lattice {
				v.lattice[k].aim(v.cascade, s.width, l.step, l.neighborDistance(k%3), l.neighborDistance(k/3))
				v.lattice[k].norm.SetContrast(s.opt.Contrast)
			}
			continue
		}
		for k := range v.programs {
			if odd := k / 2; s.coarse && k > 0 || !s.coarse && odd == 0 {
				v.programs[k].aim(v.cascade, s.width, min(k+1, 2), odd, 0)
				v.programs[k].norm.SetContrast(s.opt.Contrast)
			}
		}
	}
	workers := min(len(s.bands), s.set.Workers())
	if c.lattice != nil {
		// Layers larger than the image get fewer tables, to need at most 10 bytes per
		// pixel.
		most := max(16<<20, 10*s.src.Width*s.src.Height)
		workers = min(workers, max(1, most/(4*s.views[0].lattice[0].tables(c.tables()))))
	}
	s.work = engine.Plan{Grid: engine.Grid{Rows: len(s.bands), N: 1, BandRows: 1, TileWidth: 1, Lead: -1}, Workers: workers}
	return nil
}

func checkChannels(n int) error {
	if n != 1 && n != 3 && n != 4 {
		return raster.Invalid("image has %d channels, want 1 (gray), 3 (RGB) or 4 (RGBA)", n)
	}
	return nil
}

// toGray converts a color image as OpenCV does.
func (s *search) toGray() {
	n, width := s.src.Channels, s.src.Width
	s.gray = engine.AtLeast(s.gray, width*s.src.Height)
	red, blue := 9798, 3735
	if s.opt.BGR {
		red, blue = blue, red
	}
	for y := range s.src.Height {
		from, to := s.src.Pix[y*s.src.Stride:][:width*n], s.gray[y*width:][:width]
		for x := range to {
			p := from[x*n:][:3]
			to[x] = uint8((red*int(p[0]) + 19235*int(p[1]) + blue*int(p[2]) + 1<<14) >> 15)
		}
	}
	s.src.Image(s.gray, width, s.src.Height, 1, width)
}

// Prepare implements [engine.Layer].
func (s *search) Prepare(p *engine.Plan) error {
	s.workers = engine.Workers(s.workers, p.Workers)
	for i := range s.workers[:p.Workers] {
		s.workers[i].prepare(s)
	}
	return nil
}

// Tile implements [engine.Layer].
func (s *search) Tile(worker, x, y, n, rows int) {
	if s.found.Load() <= int64(s.opt.Limit) {
		s.workers[worker].band(s, &s.bands[y])
	}
}

// Finish implements [engine.Layer]: it collects the workers' candidates, in order.
func (s *search) Finish() {
	s.candidates, s.misses = s.candidates[:0], s.misses[:0]
	for i := range s.workers[:s.work.Workers] {
		s.candidates = append(s.candidates, s.workers[i].candidates...)
		s.misses = append(s.misses, s.workers[i].misses...)
	}
	for _, all := range [][]candidate{s.candidates, s.misses} {
		slices.SortFunc(all, func(a, b candidate) int { return a.compare(&b) })
	}
	// A window between two bands may have been found in both.
	twice := func(a, b candidate) bool { return a.compare(&b) == 0 }
	s.candidates, s.misses = slices.CompactFunc(s.candidates, twice), slices.CompactFunc(s.misses, twice)
}

// Release implements [engine.Layer].
func (s *search) Release() int { return 0 }

func (s *search) results(to []Result) []Result {
	bounds := image.Rect(0, 0, s.src.Width, s.src.Height)
	for _, all := range [][]candidate{s.candidates, s.misses} {
		if s.opt.Ungrouped {
			to = each(to, all, bounds)
		} else {
			to = s.grouper.group(to, all, s.opt.Neighbors, bounds)
		}
	}
	return to
}
