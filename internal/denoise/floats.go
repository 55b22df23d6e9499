package denoise

import (
	"math"
	"sync"

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
	// farthest is the distance of patches from which on they have no weight.
	farthest = 5
	// expScale and expZero make the upper half of a float64 that is close to exp(-d), within 4%: it is linear in d, and the exponent is in its
	// upper bits.
	expScale, expZero = -1512775.3951951856938, 1072632447
	// maxPadded is the greatest number of values of an extended image.
	maxPadded = 1 << 40
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
	bias   float64 // expected squared difference of two equal pixels
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
	j.bias = 2 * float64(src.Channels) * j.Noise * j.Noise
	if margin := 2 * float64(j.after+j.search); (float64(src.Width)+margin)*(float64(src.Height)+margin)*(float64(src.Depth)+margin)*float64(src.Channels) > maxPadded {
		return raster.Invalid("image is %v, which is too large for a search of %d (use parts of the image)", src.Extent, j.Search)
	}
	return nil
}

// Run denoises the array of a checked job, after checking the memory of the result.
func (j *FloatJob) Run() error {
	src, d := &j.Src, &j.Dst
	if d.Type != src.Type {
		return raster.Unsupported("results of %v cannot have type %v", src.Type, d.Type)
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

// floats computes non-local means of floats. The distances of patches slide down the rows of a strip, as sums of columns. Strips begin at
// the same rows for any number of workers, and each pixel adds up its weights in the order of offsets, so that results have the same bits.
// For that, unlike for bytes, each pair of patches is compared twice.
type floats struct {
	pixels  []float64 // the array, extended on all sides by what patches and their search reach
	margin  int
	deep    int // margin of slices
	row     int // values of an extended row
	slice   int // and of a slice
	workers []floatsWorker
}

type floatsWorker struct {
	ring, columns, prefix, weights []float64
	sums, totals                   []float64 // of weighted pixels and of weights, for rows extended by what is searched
	_                              [raster.LineBytes]byte
}

func (f *floats) run(j *FloatJob) error {
	if !f.extend(j) {
		return raster.Invalid("the image has pixels that are NaN or infinite")
	}
	height, depth := j.Src.Height, j.Src.Depth
	strips := engine.DivUp(height, stripRows)
	n := strips * depth
	workers := min(j.set.Workers(), n)
	f.workers = engine.Workers(f.workers, workers)
	return j.set.Each(n, workers, func(worker, i int) {
		w := &f.workers[worker]
		top := i % strips * stripRows
		f.strip(w, j, i/strips, top, min(height, top+stripRows))
	})
}

// extend copies the array. It reports whether all pixels are finite.
func (f *floats) extend(j *FloatJob) bool {
	src := &j.Src
	f.margin, f.deep = j.after+j.search, 0
	if j.Solid {
		f.deep = f.margin
	}
	c := src.Channels
	f.row = (src.Width + 2*f.margin) * c
	f.slice = f.row * (src.Height + 2*f.margin)
	f.pixels = engine.AtLeast(f.pixels, f.slice*(src.Depth+2*f.deep))
	for z := range src.Depth + 2*f.deep {
		from := sliceOf(src, window.Reflect101.Index(z-f.deep, src.Depth))
		for y := range src.Height + 2*f.margin {
			row := f.pixels[z*f.slice+y*f.row:][:f.row]
			middle := row[f.margin*c:][:src.Width*c]
			windows.Floats(src.Type, middle, from.Span(0, window.Reflect101.Index(y-f.margin, src.Height), src.Width))
			for _, v := range middle {
				if v-v != 0 {
					return false
				}
			}
			for x := range f.margin {
				copy(row[x*c:][:c], middle[window.Reflect101.Index(x-f.margin, src.Width)*c:])
				copy(row[(f.margin+src.Width+x)*c:][:c], middle[window.Reflect101.Index(src.Width+x, src.Width)*c:])
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

// at returns the extended row of a pixel from it on, which may lie outside the image.
func (f *floats) at(x, y, z, channels int) []float64 {
	return f.pixels[(z+f.deep)*f.slice+(y+f.margin)*f.row+(x+f.margin)*channels:]
}

// strip denoises rows [top, bottom) of a slice.
func (f *floats) strip(w *floatsWorker, j *FloatJob, z, top, bottom int) {
	width, c, side := j.Src.Width, j.Src.Channels, j.before+1+j.after
	columns := width + side
	w.ring, w.columns = engine.AtLeast(w.ring, side*columns), engine.AtLeast(w.columns, columns+windows.Slack)
	w.prefix, w.weights = engine.AtLeast(w.prefix, columns+1+windows.Slack), engine.AtLeast(w.weights, width)
	w.sums, w.totals = engine.Zeros(w.sums, width*(bottom-top)*c), engine.Zeros(w.totals, width*(bottom-top))
	deep := 0
	if j.Solid {
		deep = j.search
	}
	for dz := -deep; dz <= deep; dz++ {
		for dy := -j.search; dy <= j.search; dy++ {
			if j.set.Stopped() != nil {
				return
			}
			for dx := -j.search; dx <= j.search; dx++ {
				f.offset(w, j, z, top, bottom, dx, dy, dz)
			}
		}
	}
	dst := sliceOf(&j.Dst, z)
	for y := top; y < bottom; y++ {
		sums, totals := w.sums[(y-top)*width*c:][:width*c], w.totals[(y-top)*width:]
		for i := range sums {
			sums[i] /= totals[i/c]
		}
		windows.Store(dst.Type, dst.Span(0, y, width), sums)
	}
}

// offset adds what an offset contributes to a strip.
func (f *floats) offset(w *floatsWorker, j *FloatJob, z, top, bottom, dx, dy, dz int) {
	width, c, side := j.Src.Width, j.Src.Channels, j.before+1+j.after
	columns := w.columns[:width+side-1]
	clear(w.columns)
	clear(w.ring)
	w.prefix[0] = 0
	for y := top - j.before; y < bottom+j.after; y++ {
		leave := w.ring[(y+side*stripRows)%side*len(columns):][:len(columns)]
		for i, v := range leave {
			columns[i] -= v
			leave[i] = 0
		}
		from, to := z, z
		if j.Solid {
			from, to = z-j.before, z+j.after
		}
		for s := from; s <= to; s++ {
			addDistances(leave, f.at(-j.before, y, s, c), f.at(dx-j.before, y+dy, s+dz, c), c, j.bias)
		}
		for i, v := range leave {
			columns[i] += v
		}
		row := y - j.after
		if row < top {
			continue
		}
		windows.Prefix(j.set.Level, raster.F64, raster.Bytes(w.prefix[:len(columns)+1+windows.Slack]), raster.Bytes(w.columns), 1)
		weigh(w.weights, w.prefix[side:], w.prefix, j.scale)
		at := (row - top) * width
		addWeighted(w.sums[at*c:], w.totals[at:], w.weights, f.at(dx, row+dy, z+dz, c), c)
	}
}

// addDistances adds the squared distances of pixels, less a bias, to sums.
func addDistances(sums, a, b []float64, channels int, bias float64) {
	a, b = a[:len(sums)*channels], b[:len(sums)*channels]
	if channels == 1 {
		for i := range sums {
			d := a[i] - b[i]
			sums[i] += float64(d*d) - bias
		}
		return
	}
	for i := range sums {
		sum := 0.0
		for k := i * channels; k < (i+1)*channels; k++ {
			d := a[k] - b[k]
			sum += float64(d * d)
		}
		sums[i] += sum - bias
	}
}

// weigh computes the weights of patches from their distances, which are differences of two entries.
func weigh(weights, high, low []float64, scale float64) {
	high, low = high[:len(weights)], low[:len(weights)]
	for i := range weights {
		d := float64(max(high[i]-low[i], 0) * scale)
		weights[i] = 0
		if d <= farthest {
			weights[i] = math.Float64frombits(uint64(int32(float64(expScale*d))+expZero) << 32)
		}
	}
}

// addWeighted adds weights to totals, and pixels times these to sums.
func addWeighted(sums, totals, weights, pixels []float64, channels int) {
	totals = totals[:len(weights)]
	if channels == 1 {
		sums, pixels = sums[:len(weights)], pixels[:len(weights)]
		for i, v := range weights {
			totals[i] += v
			sums[i] += float64(v * pixels[i])
		}
		return
	}
	for i, v := range weights {
		totals[i] += v
		for k := i * channels; k < (i+1)*channels; k++ {
			sums[k] += float64(v * pixels[k])
		}
	}
}
