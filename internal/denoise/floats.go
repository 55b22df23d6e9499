package denoise

import (
	"math"
	"sync"
	"sync/atomic"

	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/kernel/windows"
	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/internal/window"
)

// The defaults of scikit-image, but for the side of what is searched, which is twice the distance and one there.
const (
	DefaultFloatStrength = 0.1
	DefaultFloatSearch   = 23
)

const (
	// maxPadded is the greatest number of values of an extended image.
	maxPadded = float64(1 << 40)
	// tileColumns is the greatest width of a part of a strip: what an offset reads and adds to for a row stays in the first cache.
	tileColumns = 512
)

// A FloatJob is an image or a volume of floats to denoise by non-local means as scikit-image's denoise_nl_means does in its fast mode: plain
// data. Its maker sets the arrays and the numbers, calls Check before it allocates the result, and then Run.
type FloatJob struct {
	Src, Dst raster.Array // Dst may be Src itself
	Solid    bool         // Src is a volume, whose patches extend along all three axes
	Strength float64
	Patch    int // side; even sides count as the next odd one
	Search   int
	Noise    float64 // its standard deviation, which is expected between equal patches
	Shifted  bool    // patches lack their first row and column, as in scikit-image
	Options  engine.Options

	set    engine.Settings
	search int
	before int // how far patches reach up and to the left
	after  int // and down and to the right
	scale  float64
	bias   float64 // expected distance of two equal patches
}

// Check validates the options, the array and the numbers, in this order.
func (j *FloatJob) Check() (err error) {
	if j.set, err = j.Options.Check(); err != nil {
		return err
	}
	if err = j.set.ProcessorOnly("non-local means"); err != nil {
		return err
	}
	src := &j.Src
	if !src.Type.Float() {
		return raster.Unsupported("pixels of %v cannot be denoised as floats, want float32 or float64", src.Type)
	}
	if err := src.Check(); err != nil {
		return err
	}
	switch {
	case j.Patch < 1 || j.Search < 1 || j.Patch > maxSide || j.Search > maxSide:
		return raster.Invalid("patch is %d and search is %d, want sides of 1 to %d", j.Patch, j.Search, maxSide)
	case !(j.Strength > 0) || j.Strength > math.MaxFloat32:
		return raster.Invalid("strength is %v, want more than 0 and at most 3.4e38", j.Strength)
	case !(j.Noise >= 0) || j.Noise > math.MaxFloat32:
		return raster.Invalid("noise is %v, want 0 to 3.4e38", j.Noise)
	}
	j.search = j.Search / 2
	j.before, j.after = j.Patch/2, j.Patch/2
	side, axes := float64(2*j.after+1), 2.0
	if j.Solid {
		axes = 3
	}
	j.scale = 1 / (float64(src.Channels) * j.Strength * j.Strength * math.Pow(side, axes))
	switch {
	case !j.Shifted:
	case j.Patch == 1: // nothing is left of the patch
		j.scale = 0
	default:
		j.before--
	}
	j.bias = 2 * float64(src.Channels) * j.Noise * j.Noise * math.Pow(float64(j.before+1+j.after), axes)
	margin := 2 * float64(j.after+j.search)
	if padded := (float64(src.Width) + margin) * (float64(src.Height) + margin) * (float64(src.Depth) + margin) * float64(src.Channels); padded > maxPadded {
		return raster.Invalid("image of %v has %.0f values with the margins of its search, want at most %.0f (use parts of the image)", src.Extent, padded, maxPadded)
	}
	return nil
}

// Run denoises the array of a checked job, after checking the memory of the result.
func (j *FloatJob) Run() error {
	src, d := &j.Src, &j.Dst
	if d.Type != src.Type {
		return raster.Unsupported("destination has type %v, want %v like the image", d.Type, src.Type)
	}
	if err := d.Check(); err != nil {
		return err
	}
	if d.Width != src.Width || d.Height != src.Height || d.Depth != src.Depth || d.Channels != src.Channels {
		return raster.Invalid("destination is %v, want %v", d.Extent, src.Extent)
	}
	same := len(d.Data) > 0 && len(src.Data) > 0 && &d.Data[0] == &src.Data[0] && d.Stride == src.Stride && d.SliceStride == src.SliceStride
	if !same && raster.Overlap(d.Data, src.Data) != nil {
		return raster.Overlapping("the destination shares part of the image's memory: use the image itself, or separate memory")
	}
	if src.Width == 0 || src.Height == 0 || src.Depth == 0 {
		j.set.Report(1)
		return nil
	}
	f := floatScratch.Get().(*floats)
	defer floatScratch.Put(f)
	return f.run(j)
}

// floatScratch keeps the memory of jobs for later ones.
var floatScratch = sync.Pool{New: func() any { return new(floats) }}

// floats computes non-local means of floats, like means. Tiles are the same for any number of workers, and each pixel adds up its weights in
// the order of offsets, so that results have the same bits. Pairs of patches are compared once if both are in a tile.
type floats struct {
	pixels  []float64 // the channels of the array, extended on all sides by what patches and their search reach
	margin  int
	deep    int // margin of slices
	row     int // values of an extended row
	slice   int // of a slice
	channel int // and of a channel
	workers []floatsWorker
}

type floatsWorker struct {
	columns, weights []float64 // as in means
	stride           int
	distances        windows.FloatWeights
	sums, totals     []float64 // of weighted pixels, channel by channel, and of weights
	row              []float64
	unused           []float64 // totals that have been added already
	_                [raster.LineBytes]byte
}

func (f *floats) run(j *FloatJob) error {
	if !f.extend(j) {
		return raster.Invalid("the image has pixels that are NaN or infinite, want finite pixels")
	}
	height, depth := j.Src.Height, j.Src.Depth
	strips, across := engine.DivUp(height, stripRows), engine.DivUp(j.Src.Width, tileColumns)
	n := strips * across * depth
	workers := min(j.set.Workers(), n)
	f.workers = engine.Workers(f.workers, workers)
	var stopped atomic.Bool
	err := j.set.Each(n, workers, func(worker, i int) {
		w := &f.workers[worker]
		left, top := i%across*tileColumns, i/across%strips*stripRows
		t := tile{left, top, i / across / strips, min(tileColumns, j.Src.Width-left), min(stripRows, height-top)}
		if !f.tile(w, j, &t) {
			stopped.Store(true)
		}
	})
	if err == nil && stopped.Load() {
		err = j.set.Stopped()
	}
	return err
}

// extend copies the array. It reports whether all pixels are finite.
func (f *floats) extend(j *FloatJob) bool {
	src := &j.Src
	f.margin, f.deep = j.after+j.search, 0
	if j.Solid {
		f.deep = f.margin
	}
	f.row = src.Width + 2*f.margin
	f.slice = f.row * (src.Height + 2*f.margin)
	f.channel = f.slice * (src.Depth + 2*f.deep)
	f.pixels = engine.AtLeast(f.pixels, f.channel*src.Channels)
	for z := range src.Depth + 2*f.deep {
		from := sliceOf(src, window.Reflect101.Index(z-f.deep, src.Depth))
		for y := range src.Height + 2*f.margin {
			pixels := from.Span(0, window.Reflect101.Index(y-f.margin, src.Height), src.Width)
			for c := range src.Channels {
				row := f.pixels[c*f.channel+z*f.slice+y*f.row:][:f.row]
				middle := row[f.margin:][:src.Width]
				windows.FloatsOf(src.Type, middle, pixels[c*src.Type.Bytes():], src.Channels)
				for _, v := range middle {
					if v-v != 0 {
						return false
					}
				}
				for x := range f.margin {
					row[x] = middle[window.Reflect101.Index(x-f.margin, src.Width)]
					row[f.margin+src.Width+x] = middle[window.Reflect101.Index(src.Width+x, src.Width)]
				}
			}
		}
	}
	return true
}

// sliceOf returns a slice of an array as an image.
func sliceOf(a *raster.Array, z int) raster.Array {
	s := *a
	if z > 0 {
		s.Data = a.From(z * a.SliceStride)
	}
	return s
}

// at returns a channel of an extended row from a pixel on, which may lie outside the image.
func (f *floats) at(x, y, z, channel int) []float64 {
	return f.pixels[channel*f.channel+(z+f.deep)*f.slice+(y+f.margin)*f.row+x+f.margin:]
}

// A tile is a part of a slice.
type tile struct{ x, y, z, width, height int }

// tile denoises a tile. It returns false if the context stopped it.
func (f *floats) tile(w *floatsWorker, j *FloatJob, t *tile) bool {
	channels := j.Src.Channels
	w.stride = t.width + j.search + j.before + j.after
	w.columns = engine.AtLeast(w.columns, w.stride*min(groupOffsets, 2*j.search+1))
	w.weights, w.unused = engine.AtLeast(w.weights, t.width+j.search), engine.Zeros(w.unused, t.width)
	w.row = engine.AtLeast(w.row, t.width*channels)
	area := t.width * t.height
	w.sums, w.totals = engine.Zeros(w.sums, area*channels), engine.Zeros(w.totals, area)
	w.distances.Bias, w.distances.Scale = j.bias, j.scale
	deep := 0
	if j.Solid {
		deep = j.search
	}
	for o := (floatOffsets{z: -deep}); o.z <= deep; o.z++ {
		o.pairs = o.z == 0
		for o.y = -j.search; o.y <= j.search; o.y++ {
			first := -j.search
			if o.pairs {
				if o.y < 0 {
					continue
				}
				if o.y == 0 {
					first = 1
				}
			}
			for o.first = first; o.first <= j.search; o.first += groupOffsets {
				if j.set.Stopped() != nil {
					return false
				}
				o.count = min(groupOffsets, j.search+1-o.first)
				f.offsets(w, j, t, &o)
			}
		}
	}
	self := w.distances.Self()
	dst := sliceOf(&j.Dst, t.z)
	for y := range t.height {
		for c := range channels {
			sums, totals := w.sums[c*area+y*t.width:][:t.width], w.totals[y*t.width:]
			for i, v := range f.at(t.x, t.y+y, t.z, c)[:t.width] {
				w.row[i*channels+c] = (sums[i] + float64(self*v)) / (totals[i] + self)
			}
		}
		windows.Store(dst.Type, dst.Span(t.x, t.y+y, t.width), w.row)
	}
	return true
}

// floatOffsets are the positions (first, y, z), (first+1, y, z), ... of patches relative to the patch that they are compared with. If they
// are pairs, each of two patches is weighed for the other.
type floatOffsets struct {
	z, y, first, count int
	pairs              bool
}

// offsets adds what offsets contribute to a tile.
func (f *floats) offsets(w *floatsWorker, j *FloatJob, t *tile, o *floatOffsets) {
	side := j.before + 1 + j.after
	clear(w.columns)
	top := 0
	if o.pairs {
		top = -o.y
	}
	for enter := top - j.before; enter < t.height+j.after; enter++ {
		y := enter - j.after
		for i := range o.count {
			dx := o.first + i
			left, count := 0, t.width
			if o.pairs {
				left, count = min(0, -dx), t.width+max(dx, -dx)
			}
			columns := w.columns[i*w.stride:][:count+side-1]
			f.slide(w, j, t, o, columns, left-j.before, dx, enter, enter-side >= top-j.before)
			if y < top {
				continue
			}
			weights := w.weights[:count]
			w.distances.Weigh(j.set.Level, weights, columns, side)
			if y >= 0 {
				f.add(w, j, t, y, weights[-left:], dx, o.y, o.z)
			}
			if o.pairs && y+o.y < t.height {
				f.add(w, j, t, y+o.y, weights[-dx-left:], -dx, -o.y, 0)
			}
		}
	}
}

// slide moves sums of columns down to a row, at an offset. The first column is x.
func (f *floats) slide(w *floatsWorker, j *FloatJob, t *tile, o *floatOffsets, columns []float64, x, dx, row int, full bool) {
	from, to := t.z, t.z // slices of a patch
	if j.Solid {
		from, to = t.z-j.before, t.z+j.after
	}
	x, y, side := t.x+x, t.y+row, j.before+1+j.after
	for c := range j.Src.Channels {
		for z := from; z <= to; z++ {
			a, b := f.at(x, y, z, c), f.at(x+dx, y+o.y, z+o.z, c)
			if full {
				windows.SlideFloats(j.set.Level, columns, a, b, f.at(x, y-side, z, c), f.at(x+dx, y-side+o.y, z+o.z, c))
			} else {
				windows.SlideFloats(j.set.Level, columns, a, b, nil, nil)
			}
		}
	}
}

// add adds the pixels at an offset from those of a row of a tile.
func (f *floats) add(w *floatsWorker, j *FloatJob, t *tile, y int, weights []float64, dx, dy, dz int) {
	totals := w.totals[y*t.width:]
	for c := range j.Src.Channels {
		windows.AddWeighted(j.set.Level, w.sums[c*len(w.totals)+y*t.width:], totals, weights[:t.width], f.at(t.x+dx, t.y+y+dy, t.z+dz, c))
		totals = w.unused
	}
}
