// Package bins computes integral histograms of images. The types of pixels, weights and
// counts are known only at run time.
package bins

import (
	"fmt"
	"image"
	"math"

	"github.com/boxsum/boxsum/internal/device"
	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/raster"
)

// A Table is the integral histogram of an image: entry (x, y) is the histogram of the pixels in
// [0,x)×[0,y), with N counts per channel. Counts has the extent of the image.
type Table struct {
	Counts raster.Array
	Range  Range
}

// maxCounts ensures that every byte offset fits an int.
const maxCounts = math.MaxInt / 16

// Bytes returns the memory size of a table.
func Bytes(count raster.Type, width, height, channels, bins int) (int64, error) {
	if err := checkCount(bins); err != nil {
		return 0, err
	}
	e := raster.PlaneExtent(width, height, channels, 0)
	if err := e.CheckSize(); err != nil {
		return 0, err
	}
	counts := (float64(width) + 1) * (float64(height) + 1) * float64(e.Channels) * float64(bins)
	if counts > maxCounts {
		return 0, raster.Invalid("a table of %s needs %.3g bytes, which do not fit in memory", describe(width, height, e.Channels, bins), counts*float64(count.Bytes()))
	}
	return int64(width+1) * int64(height+1) * int64(e.Channels) * int64(bins) * int64(count.Bytes()), nil
}

// New allocates a table for images of the given size. Zero channels means one.
func New(count raster.Type, width, height, channels int, r Range) (Table, error) {
	if err := r.Check(); err != nil {
		return Table{}, err
	}
	bytes, err := Bytes(count, width, height, channels, r.N)
	if err != nil {
		return Table{}, err
	}
	channels = max(1, channels)
	memory, err := raster.Make[uint64]((int(bytes) + 7) / 8)
	if err != nil {
		return Table{}, raster.OutOfMemory("a table of %s: %w: use fewer bins, or parts of the image", describe(width, height, channels, r.N), err)
	}
	return Table{raster.Array{Data: raster.Bytes(memory)[:bytes:bytes], Type: count, Extent: raster.PlaneExtent(width, height, channels, 0)}, r}, nil
}

func describe(width, height, channels, bins int) string {
	s := fmt.Sprintf("%d×%d pixels and %d bins", width, height, bins)
	if channels > 1 {
		s += fmt.Sprintf(" in %d channels", channels)
	}
	return s
}

// A Job computes the integral histogram of an image, possibly with weights. Its types,
// memory and options have been checked.
type Job struct {
	set          engine.Settings
	src, weights raster.Array
}

// Check returns the job of computing a table with the given type of counts. weights is an
// image of one channel; the zero Array counts every pixel as 1.
func Check(count raster.Type, src, weights raster.Array, opt engine.Options) (j Job, err error) {
	if j.set, err = opt.Check(); err != nil {
		return j, err
	}
	j.src, j.weights = src, weights
	if err := j.src.Pixels(src.Len()); err != nil || weights.Type == 0 {
		return j, err
	}
	if err := j.set.ProcessorOnly("weighted histograms"); err != nil {
		return j, err
	}
	if !raster.SumPairs.Has(weights.Type, count) {
		return j, raster.Unsupported("weights have type %v, which has no sums of %v: %s", weights.Type, count, raster.SumPairs.Choices(weights.Type))
	}
	if err := j.weights.Pixels(weights.Len()); err != nil {
		return j, err
	}
	if w, e := &j.weights, &j.src; w.Width != e.Width || w.Height != e.Height || w.Channels != 1 {
		return j, raster.Invalid("weights are %v, want %d×%d (the size of the image) with 1 channel", w.Extent, e.Width, e.Height)
	}
	return j, nil
}

// Size returns the size of the image.
func (j *Job) Size() (width, height, channels int) {
	return j.src.Width, j.src.Height, j.src.Channels
}

// Fill makes a table, which must have the image's size. If the table has no range, it gets that of the
// image's pixels.
func (j *Job) Fill(t *Table) error {
	if err := t.Counts.Same(&j.src.Extent); err != nil {
		return err
	}
	over, err := t.Range.Over(j.src.Type)
	if err != nil {
		return err
	}
	t.Range = over
	entry := j.src.Channels * t.Range.N
	if need := (j.src.Width + 1) * (j.src.Height + 1) * entry; t.Counts.Len() != need {
		return raster.Invalid("table has %[2]d counts, want %[1]d (use NewTable)", need, t.Counts.Len())
	}
	if err := raster.Overlap(j.src.Data, t.Counts.Data); err != nil {
		return err
	}
	if err := raster.Overlap(j.weights.Data, t.Counts.Data); err != nil {
		return err
	}
	if on := j.set.On(); on != nil {
		return on.Histogram(&device.Histogram{Src: j.src, Counts: t.Counts.Data, Range: device.Range(over), Options: j.set.OnDevice()})
	}
	r := runs.Take()
	l := &r.Layer
	l.table, l.src, l.weights, l.level = *t, j.src, j.weights, j.set.Level
	p := engine.Work{
		Rows: j.src.Height, N: j.src.Width * j.src.Channels, Channels: j.src.Channels,
		PixelBytes: j.src.Type.Bytes(), SumBytes: t.Range.N * t.Counts.Type.Bytes(), Workers: j.set.Workers(),
	}.PlanEntries(maxBand)
	return r.Fill(&j.set, &p, l)
}

// Integrate makes the integral histogram of an image; see [Check] for the weights.
func Integrate(count raster.Type, src, weights raster.Array, r Range, opt engine.Options) (Table, error) {
	j, err := Check(count, src, weights, opt)
	if err != nil {
		return Table{}, err
	}
	if r, err = r.Over(src.Type); err != nil {
		return Table{}, err
	}
	t, err := New(count, j.src.Width, j.src.Height, j.src.Channels, r)
	if err != nil {
		return Table{}, err
	}
	return t, j.Fill(&t)
}

// runs keeps the engines and scratch memory of the layer for later calls.
var runs engine.Runs[layer]

// at returns the counts of entry (x, y) of a channel.
func (t *Table) at(x, y, channel int) []byte {
	bytes := t.Range.N * t.Counts.Type.Bytes()
	return t.Counts.Data[((y*(t.Counts.Width+1)+x)*t.Counts.Channels+channel)*bytes:][:bytes]
}

// Histogram writes the N counts of one channel over a box, clipped to the image. They are zero if the box
// is empty or the image has no such channel.
func (t *Table) Histogram(dst []byte, box image.Rectangle, channel int) {
	box = box.Intersect(image.Rect(0, 0, t.Counts.Width, t.Counts.Height))
	if box.Empty() || uint(channel) >= uint(t.Counts.Channels) {
		clear(dst)
		return
	}
	differences[t.Counts.Type](dst, t.at(box.Min.X, box.Min.Y, channel), t.at(box.Max.X, box.Min.Y, channel),
		t.at(box.Min.X, box.Max.Y, channel), t.at(box.Max.X, box.Max.Y, channel))
}

// differences holds functions that compute a histogram from four entries, by the type of counts.
var differences = [raster.NumTypes]func(dst, a, b, c, d []byte){
	raster.U32: difference[uint32],
	raster.U64: difference[uint64],
	raster.I64: difference[int64],
	raster.F32: difference[float32],
	raster.F64: difference[float64],
}

func difference[S raster.Number](dst, a, b, c, d []byte) {
	Difference(raster.Elems[S](dst), raster.Elems[S](a), raster.Elems[S](b), raster.Elems[S](c), raster.Elems[S](d))
}

// Difference writes d − c − b + a: the histogram of a box with these entries at its corners, row by row
// from the top left.
func Difference[S raster.Number](dst, a, b, c, d []S) {
	n := len(dst)
	a, b, c, d = a[:n], b[:n], c[:n], d[:n]
	for i := range dst {
		dst[i] = d[i] - c[i] - b[i] + a[i]
	}
}
