package hog

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

// Detect returns the objects found in img, which must have one channel (gray), or three or four
// that start with red, green and blue. If img is smaller than a window, Detect finds nothing.
// It returns an error if the descriptor has no coefficients.
func (d *Descriptor) Detect(img boxsum.Image[uint8], o *Options) ([]Result, error) {
	return d.AppendDetect(nil, img, o)
}

// DetectImage is like [Descriptor.Detect] but searches any image.Image, converted by
// [boxsum.Color]. Positions are relative to the top left pixel of img.
func (d *Descriptor) DetectImage(img image.Image, o *Options) ([]Result, error) {
	if o != nil && o.BGR {
		rgb := *o
		rgb.BGR = false
		o = &rgb
	}
	return d.AppendDetect(nil, boxsum.Color(img), o)
}

// AppendDetect is like [Descriptor.Detect] but appends the results to the slice to, and returns
// the extended slice. If to has enough capacity, searching images of the same size again does
// not allocate. On error, AppendDetect returns to unchanged.
func (d *Descriptor) AppendDetect(to []Result, img boxsum.Image[uint8], o *Options) ([]Result, error) {
	if err := d.classifies(); err != nil {
		return to, err
	}
	if o != nil && o.On != nil {
		found, err := d.detectOn([]boxsum.Image[uint8]{img}, o)
		if err != nil {
			return to, err
		}
		return append(to, found[0]...), nil
	}
	s := takeSearch(d, detects)
	defer s.leave()
	if err := o.check(d, &s.opt, &s.set); err != nil {
		return to, err
	}
	if err := s.look(&img, s.opt.BGR); err != nil {
		return to, err
	}
	s.step = s.opt.Step
	s.levels = d.levelsOf(s.levels[:0], s.src.Width, s.src.Height, &s.opt)
	if err := s.run(); err != nil {
		return to, err
	}
	return s.results(to)
}

// DetectBatch is like [Descriptor.Detect] but searches several images of the same size, and
// returns the results of each. If there are enough images, each worker searches its own, which
// is faster than sharing every image between all workers. If [Options.On] is set, the device
// searches all images together; if it consists of several devices, each of them searches a part
// of the images.
func (d *Descriptor) DetectBatch(images []boxsum.Image[uint8], o *Options) ([][]Result, error) {
	if err := d.classifies(); err != nil {
		return nil, err
	}
	var opt Options
	var set engine.Settings
	if err := o.check(d, &opt, &set); err != nil {
		return nil, err
	}
	for i := range images {
		if a, first := &images[i], &images[0]; a.Width != first.Width || a.Height != first.Height || max(a.Channels, 1) != max(first.Channels, 1) {
			return nil, raster.Invalid("image %d of the batch is %d×%d with %d channels, want %d×%d with %d like the first",
				i, a.Width, a.Height, max(a.Channels, 1), first.Width, first.Height, max(first.Channels, 1))
		}
	}
	if set.On() != nil {
		return d.detectOn(images, o)
	}
	if len(images) == 0 {
		return nil, nil
	}
	workers := set.Workers()
	if opt = (Options{}); o != nil {
		opt = *o
	}
	opt.Progress = nil
	if len(images) >= workers {
		opt.Workers = 1
	} else {
		workers = 1
	}
	all, errs := make([][]Result, len(images)), make([]error, len(images))
	if err := set.Each(len(images), workers, func(_, i int) { all[i], errs[i] = d.Detect(images[i], &opt) }); err != nil {
		return nil, err
	}
	for i, err := range errs {
		if err != nil {
			return nil, fmt.Errorf("image %d: %w", i, err)
		}
	}
	return all, nil
}

// results groups the windows that were found.
func (s *search) results(to []Result) ([]Result, error) {
	bounds := image.Rect(0, 0, s.src.Width, s.src.Height)
	switch {
	case s.opt.Ungrouped:
		for _, h := range s.hits {
			to = appendClipped(to, Result{Rect: h.rect, Neighbors: 1, Score: h.score}, bounds)
		}
		return to, nil
	case s.opt.MeanShift:
		return s.modes.group(to, s.hits, s.descriptor.config.Window, s.opt.Density, bounds, &s.set)
	}
	return s.grouper.group(to, s.hits, s.opt.Neighbors, bounds), nil
}

func appendClipped(to []Result, r Result, bounds image.Rectangle) []Result {
	if r.Rect = r.Rect.Intersect(bounds); !r.Rect.Empty() {
		to = append(to, r)
	}
	return to
}

// A hit is a window that was found.
type hit struct {
	level, x, y int32 // number of the window in the level
	score       float64
	scale       float64
	rect        image.Rectangle
}

// A task is what a search does with windows.
type task int

const (
	detects    task = iota // collects those with a sufficient score
	scores                 // stores all scores
	computes               // stores descriptors
	polars                 // stores gradients
	integrates             // stores votes, for a table
)

// A search is one call. Its memory is reused.
type search struct {
	engine.Base
	engine     engine.Engine
	descriptor *Descriptor
	task       task
	opt        Options
	set        engine.Settings
	work       engine.Plan
	src        engine.Source[uint8]
	channels   [3]int // of blue, green and red in a pixel
	colors     int    // 1 or 3

	step    image.Point
	at      []image.Point // windows of the single level, or nil
	numbers []float32     // results of computes
	values  []float64     // results of scores
	names   []uint8       // results of polars, besides numbers
	votes   []uint16      // results of integrates
	table   *Table        // of integrates

	levels   []level
	sources  []int32  // columns of padded levels, see mirrored
	places   []int32  // columns of resized levels, see axis
	parts    []uint32 // weights of the two columns that are blended
	planes   []uint8  // the channels, one after the other
	separate bool     // planes are set, since a level is resized
	bands    []band
	workers  []worker
	found    atomic.Int64
	hits     []hit
	grouper  grouper
	modes    modes
}

// A band is a range of window rows in one level, or a range of windows in search.at.
type band struct{ level, first, end int }

var idle sync.Pool

// idleBytes limits the memory that an idle search keeps.
const idleBytes = 256 << 20

func takeSearch(d *Descriptor, t task) *search {
	s, _ := idle.Get().(*search)
	if s == nil {
		s = new(search)
	}
	s.descriptor, s.task = d, t
	return s
}

// leave drops references to the caller's memory, and keeps the search for the next call.
func (s *search) leave() {
	s.opt, s.set, s.src = Options{}, engine.Settings{}, engine.Source[uint8]{}
	s.descriptor, s.at, s.numbers, s.values, s.names, s.table = nil, nil, nil, nil, nil, nil
	bytes := engine.Bytes(s.sources) + engine.Bytes(s.places) + engine.Bytes(s.parts) + engine.Bytes(s.planes) + engine.Bytes(s.votes) + engine.Bytes(s.hits) + s.grouper.bytes() + s.modes.bytes()
	for i := range s.workers {
		s.workers[i].search, s.workers[i].windows.Coefficients, s.workers[i].row.Pixels = nil, nil, nil
		bytes += s.workers[i].bytes()
	}
	if bytes <= idleBytes {
		idle.Put(s)
	}
}

// look checks the image.
func (s *search) look(img *boxsum.Image[uint8], bgr bool) error {
	s.src.Image(img.Pix, img.Width, img.Height, img.Channels, img.Stride)
	if err := s.src.Pixels(len(img.Pix)); err != nil {
		return err
	}
	switch s.src.Channels {
	case 1:
		s.colors, s.channels = 1, channelsOf(1, bgr)
	case 3, 4:
		s.colors, s.channels = 3, channelsOf(3, bgr)
	default:
		return raster.Invalid("image has %d channels, want 1, or 3 or 4 that start with red, green and blue", s.src.Channels)
	}
	return nil
}

// channelsOf returns the channels of blue, green and red in a pixel.
func channelsOf(colors int, bgr bool) [3]int {
	switch {
	case colors == 1:
		return [3]int{}
	case bgr:
		return [3]int{0, 1, 2}
	}
	return [3]int{2, 1, 0}
}

// run looks at all windows of the levels.
func (s *search) run() error {
	s.hits, s.bands, s.sources, s.places, s.parts = s.hits[:0], s.bands[:0], s.sources[:0], s.places[:0], s.parts[:0]
	s.found.Store(0)
	workers := s.set.Workers()
	windows := 0
	for i := range s.levels {
		l := &s.levels[i]
		windows += l.count.X * l.count.Y
		l.sources, l.places = len(s.sources), -1
		for x := range l.padded.X + 2 {
			s.sources = append(s.sources, int32(mirrored(x-1-l.padding.X, l.width)))
		}
		if l.width == s.src.Width && l.height == s.src.Height {
			continue
		}
		l.places = len(s.places)
		for x := range l.width {
			place, part := objects.Source(s.src.Width, l.width, x)
			s.places, s.parts = append(s.places, int32(place)), append(s.parts, uint32(256-part)|uint32(part)<<16)
		}
	}
	if s.separate = len(s.places) > 0 && s.src.Channels > 1; s.separate {
		if err := s.split(); err != nil {
			return err
		}
	}
	for i := range s.levels {
		l := &s.levels[i]
		rows := l.count.Y
		if s.at != nil {
			rows = len(s.at)
		}
		n := engine.DivUp(rows, s.bandRows(l, windows, workers))
		for k := range n {
			s.bands = append(s.bands, band{i, rows * k / n, rows * (k + 1) / n})
		}
	}
	s.work = engine.Plan{Grid: engine.Grid{Rows: len(s.bands), N: 1, BandRows: 1, TileWidth: 1, Lead: -1}, Workers: min(workers, len(s.bands))}
	if len(s.bands) == 0 {
		s.set.Report(1)
		return nil
	}
	if err := s.engine.Fill(&s.set, &s.work, s); err != nil {
		return err
	}
	if s.task == detects && s.found.Load() > int64(s.opt.Limit) {
		return tooMany(s.opt.Limit)
	}
	return nil
}

func tooMany(limit int) error {
	return raster.Invalid("more than %d windows pass (raise the threshold or the limit)", limit)
}

// split copies the channels of the image to planes.
func (s *search) split() error {
	width, height, n := s.src.Width, s.src.Height, s.src.Channels
	if err := raster.Check(float64(s.colors) * float64(width) * float64(height)); err != nil {
		return fmt.Errorf("channels of the image: %w", err)
	}
	s.planes = engine.AtLeast(s.planes, s.colors*width*height)
	for c := range s.colors {
		to := s.planes[c*width*height:]
		for y := range height {
			row := s.src.Pix[y*s.src.Stride+s.channels[c]:]
			for x := range to[:width] {
				to[x] = row[x*n]
			}
			to = to[width:]
		}
	}
	return nil
}

// bandRows returns the largest number of window rows in a band of a level. Two bands both compute the
// blocks that they share, so bands are as high as an even distribution of the work permits.
func (s *search) bandRows(l *level, windows, workers int) int {
	const perWorker = 2 // bands; small levels, which come last, keep the workers equally busy
	if s.at != nil {
		return max(1, len(s.at)/(perWorker*workers))
	}
	if workers == 1 {
		return max(1, l.count.Y)
	}
	shared := s.descriptor.config.Window.Y / s.step.Y // window rows that have blocks in common
	return max(1, shared, windows/(perWorker*workers)/max(1, l.count.X))
}

// Prepare allocates the memory of the workers. It implements [engine.Layer].
func (s *search) Prepare(p *engine.Plan) error {
	bytes := 0.0
	for i := range s.levels {
		bytes = max(bytes, s.memory(&s.levels[i]))
	}
	if err := raster.Check(bytes * float64(p.Workers)); err != nil {
		return fmt.Errorf("blocks of %d workers: %w", p.Workers, err)
	}
	s.workers = engine.Workers(s.workers, p.Workers)
	for i := range s.workers[:p.Workers] {
		w := &s.workers[i]
		w.search, w.hits = s, w.hits[:0]
	}
	return nil
}

// Tile implements [engine.Layer].
func (s *search) Tile(worker, x, y, n, rows int) {
	w, b := &s.workers[worker], &s.bands[y]
	switch {
	case s.at != nil:
		w.single(b)
	case s.task == polars:
		w.polar(b)
	case s.task == integrates:
		w.spread(b)
	case s.task != detects || s.found.Load() <= int64(s.opt.Limit):
		w.band(b)
	}
}

// Finish implements [engine.Layer]: it collects the workers' hits, in order.
func (s *search) Finish() {
	for i := range s.workers[:s.work.Workers] {
		s.hits = append(s.hits, s.workers[i].hits...)
	}
	sortHits(s.hits)
}

// sortHits sorts windows by level, row and column.
func sortHits(all []hit) {
	slices.SortFunc(all, func(a, b hit) int {
		if a.level != b.level {
			return int(a.level - b.level)
		}
		if a.y != b.y {
			return int(a.y - b.y)
		}
		return int(a.x - b.x)
	})
}

// Release implements [engine.Layer].
func (s *search) Release() int { return 0 }

// found records a window if its score suffices.
func (w *worker) found(l *level, index, x, y int, score float64) {
	s := w.search
	if score < s.opt.Threshold {
		return
	}
	if h, ok := s.hitAt(l, index, x, y, score); ok && s.found.Add(1) <= int64(s.opt.Limit) {
		w.hits = append(w.hits, h)
	}
}

// hitAt returns a window with a sufficient score, unless it is to be ignored.
func (s *search) hitAt(l *level, index, x, y int, score float64) (h hit, ok bool) {
	rect := l.rect(s.step, x, y)
	middle := rect.Min.Add(rect.Max).Div(2)
	for _, r := range s.opt.Ignore {
		if middle.In(r) {
			return h, false
		}
	}
	return hit{int32(index), int32(x), int32(y), score, l.scale, rect}, true
}

// lowest is the score of windows outside the image.
var lowest = math.Inf(-1)
