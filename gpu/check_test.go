package gpu

import (
	"bytes"
	"fmt"
	"image"
	"math"
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/gpu/internal/devmem"
	"github.com/boxsum/boxsum/gpu/internal/devtest"
	"github.com/boxsum/boxsum/gpu/internal/driver"
	"github.com/boxsum/boxsum/gpu/internal/inside"
	"github.com/boxsum/boxsum/gpu/internal/method"
	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/fixture"
	"github.com/boxsum/boxsum/internal/raster"
)

// A shape describes what to integrate, and how.
type shape struct {
	width, height, channels, count int

	pad      int // elements between the rows of the host's image
	offset   float32
	bandRows int // 0 for no bands
	kernels  Kernels
	in, out  spacing
	seed     uint64
}

// A spacing is the layout of an array in foreign memory on the device.
type spacing int

const (
	own    spacing = iota // as this package lays out arrays
	packed                // without gaps
	odd                   // gaps of odd numbers of elements everywhere
	spacings
)

func (s shape) String() string {
	return fmt.Sprintf("%d of %dx%dx%d, pad %d, offset %v, bands %d, kernels %d, layouts %d %d, seed %d",
		s.count, s.width, s.height, s.channels, s.pad, s.offset, s.bandRows, s.kernels, s.in, s.out, s.seed)
}

// A pair holds the types that a test runs for.
type pair struct{ pixel, sum, square raster.Type } // square is 0 for sums alone

func (p pair) String() string {
	if p.square == 0 {
		return fmt.Sprintf("%v_%v", p.pixel, p.sum)
	}
	return fmt.Sprintf("%v_%v_%v", p.pixel, p.sum, p.square)
}

// float reports whether an offset makes sense.
func (p pair) float() bool { return p.sum == raster.F32 || p.pixel.Float() && p.sum.Float() }

// onePass reports whether CUDA has one-pass kernels.
func (p pair) onePass() bool {
	return raster.SumPairs.For(raster.OnePass).Has(p.pixel, p.sum) && (p.square == 0 || raster.SquarePairs.For(raster.OnePass).Has(p.pixel, p.square))
}

// everyPair lists all supported tables.
var everyPair = func() (all []pair) {
	for _, p := range method.Sums {
		all = append(all, pair{p.Pixel, p.Sum, 0})
		for _, square := range method.Squares.Of(p.Pixel) {
			all = append(all, pair{p.Pixel, p.Sum, square})
		}
	}
	return all
}()

// pairsOf returns the pairs to test on a device.
func pairsOf(d *Device) []pair {
	return devtest.SelectPairs(d.Info().CPU, everyPair, pair.String,
		"uint8_uint32", "uint8_float32", "uint16_uint64", "uint32_uint32", "int16_int64", "int32_int64", "float32_float64", "float64_float64",
		"uint8_uint32_uint64", "uint16_float64_uint64", "int32_int64_float64", "float32_float32_float64", "uint8_uint32_float64")
}

func upload[P boxsum.Pixel](t *testing.T, d *Device, images ...boxsum.Image[P]) *Image[P] {
	t.Helper()
	im, err := Upload(d, images...)
	if err != nil {
		t.Fatal(err)
	}
	return im
}

const guard = 0xA5

// guarded returns an array inside a larger piece of memory that is filled with guard values.
func guarded(d *Device, a devmem.Array, s spacing) (devmem.Array, int64, error) {
	a.Device, a.Owned = d.inner, true
	if _, err := a.Layout(); err != nil {
		return a, 0, err
	}
	value := int64(a.Element.Bytes())
	const around = 4096
	switch s {
	case own:
		a.At.Offset += around
	case packed:
		a.At.Offset = around
		a.At.Stride = a.RowBytes()
		a.At.Distance = a.At.Stride * a.Rows().Count
	case odd:
		a.At.Offset = around + 5*value
		a.At.Stride = a.RowBytes() + 3*value
		a.At.Distance = a.At.Stride*a.Rows().Count + 7*value
	}
	bytes := a.At.Offset + int64(a.Count)*a.At.Distance + around
	var err error
	if a.At.Memory, err = d.inner.NewBuffer(bytes); err != nil {
		return a, 0, err
	}
	return a, bytes, d.inner.Use(func() error {
		return d.inner.Backend.Fill(d.inner.Stream, driver.Plane{Memory: a.At.Memory}, guard, bytes)
	})
}

// intact returns an error if a guard value has changed.
func intact(a *devmem.Array, bytes int64) error {
	raw := make([]byte, bytes)
	err := a.Device.Use(func() error {
		d := a.Device
		err := d.Backend.CopyOut(d.Stream, unsafe.Pointer(&raw[0]), bytes, driver.Plane{Memory: a.At.Memory, Offset: 0, Stride: bytes}, driver.Rows{Bytes: bytes, Count: 1})
		if err != nil {
			return err
		}
		return d.Backend.Wait(d.Stream)
	})
	if err != nil {
		return err
	}
	next := int64(0) // first byte after the previous row
	for i := range a.Count {
		for y := range a.Rows().Count {
			from := a.At.Offset + int64(i)*a.At.Distance + y*a.At.Stride
			for ; next < from; next++ {
				if raw[next] != guard {
					return fmt.Errorf("byte %d before row %d of number %d was written", from-next, y, i)
				}
			}
			next = from + a.RowBytes()
		}
	}
	for ; next < bytes; next++ {
		if raw[next] != guard {
			return fmt.Errorf("byte %d of %d, after the last row, was written", next, bytes)
		}
	}
	return nil
}

// place copies images of random pixels to the device in the layout of the shape.
func place(d *Device, pixel raster.Type, s shape) (*devmem.Array, []raster.Array, error) {
	a, _, err := guarded(d, devmem.Array{Element: pixel, Width: s.width, Height: s.height, Channels: s.channels, Count: s.count}, s.in)
	if err != nil {
		return nil, nil, err
	}
	images := make([]raster.Array, s.count)
	for i := range images {
		images[i] = fixture.NoiseArray(pixel, s.seed+uint64(i), s.width, s.height, s.channels, s.pad)
		if err := using(&a, func() error { return a.CopyIn(i, rowsOf(&images[i])) }); err != nil {
			return nil, nil, err
		}
	}
	return &a, images, nil
}

// room returns the memory of tables for a shape on the device, among guard values.
func room(d *Device, s shape, sum raster.Type) (*devmem.Array, int64, error) {
	a, bytes, err := guarded(d, devmem.Array{Element: sum, Width: s.width, Height: s.height, Channels: s.channels, Count: s.count, Border: 1}, s.out)
	return &a, bytes, err
}

// integrated returns the tables of sums and of squares that package engine computes, with exactly the
// given offset.
func (p pair) integrated(src raster.Array, offset float32, opt engine.Options) (both [2]engine.Table, err error) {
	job := engine.Job{Src: src, Offset: offset, Plain: true, Options: opt}
	job.Sums.Type, job.Squares.Type = p.sum, p.square
	if err = job.Check(); err != nil {
		return both, err
	}
	if job.Sums.Array, err = raster.NewTable(p.sum, src.Extent); err != nil {
		return both, err
	}
	if p.square != 0 {
		if job.Squares.Array, err = raster.NewTable(p.square, src.Extent); err != nil {
			return both, err
		}
	}
	err = job.Run()
	return [2]engine.Table{job.Sums, job.Squares}, err
}

// check computes tables and compares them with the CPU's. It reports whether they are equal.
func (p pair) check(t *testing.T, d *Device, s shape) bool {
	t.Helper()
	err := p.compare(d, s)
	if err != nil {
		t.Errorf("%v, %v: %v", p, s, err)
	}
	return err == nil
}

func (p pair) compare(d *Device, s shape) error {
	im, images, err := place(d, p.pixel, s)
	if err != nil {
		return err
	}
	defer im.Close()
	sums, sumBytes, err := room(d, s, p.sum)
	if err != nil {
		return err
	}
	defer sums.Close()
	on, lengths := []*devmem.Array{sums}, []int64{sumBytes}
	work := tables{method: method.Plane{}, sums: sums}
	if p.square != 0 {
		squares, squareBytes, err := room(d, s, p.square)
		if err != nil {
			return err
		}
		defer squares.Close()
		on, lengths = append(on, squares), append(lengths, squareBytes)
		work.squares = squares
	}
	first := make([][2]engine.Table, s.count)
	for round := range 2 {
		if err := work.integrate(im, &Options{Offset: s.offset, Plain: true, Kernels: s.kernels}); err != nil {
			return err
		}
		for i := range images {
			want := first[i]
			if round == 0 {
				if want, err = p.integrated(images[i], s.offset, engine.Options{}); err != nil {
					return err
				}
			}
			for k, a := range on {
				got, err := downloaded(a, i, images[i].Extent)
				if err != nil {
					return err
				}
				if round == 0 {
					first[i][k] = got
					err = equals(&got, &want[k], &images[i], k == 1)
				} else {
					err = sameSums(&got, &want[k])
				}
				if err != nil {
					return fmt.Errorf("round %d, table %d of image %d: %w", round, k, i, err)
				}
			}
		}
	}
	for k, a := range on {
		if err := intact(a, lengths[k]); err != nil {
			return fmt.Errorf("table %d: %w", k, err)
		}
	}
	if p.square == 0 {
		if err := answers[p.sum](sums, first, s.seed); err != nil {
			return err
		}
	}
	if s.bandRows == 0 {
		return nil
	}
	got, err := p.integrated(images[0], s.offset, inBands(d, s))
	if err != nil {
		return err
	}
	want, err := p.integrated(images[0], s.offset, engine.Options{})
	if err != nil {
		return err
	}
	for k := range on {
		if err := equals(&got[k], &want[k], &images[0], k == 1); err != nil {
			return fmt.Errorf("table %d in bands: %w", k, err)
		}
	}
	return nil
}

// downloaded copies table i of an image of this extent to the host.
func downloaded(a *devmem.Array, i int, e raster.Extent) (t engine.Table, err error) {
	if t.Array, err = raster.NewTable(a.Element, e); err != nil {
		return t, err
	}
	err = using(a, func() error { return a.CopyOut(i, rowsOf(&t.Array)) })
	t.Offset = a.OffsetOf(i)
	return t, err
}

// tableOfSums returns a table with its type as data.
func tableOfSums[S boxsum.Sum](t *boxsum.Table[S]) *engine.Table {
	return &engine.Table{Array: raster.ArrayOf(t.Sums, raster.PlaneExtent(t.Width, t.Height, t.Channels, t.Stride)), Offset: t.Offset}
}

// inBands returns options for the device to process an image in bands.
func inBands(d *Device, s shape) engine.Options {
	return engine.Options{On: d, Level: levelOf(s.kernels).String(), BandRows: s.bandRows}
}

// sameSums compares the bits of two tables.
func sameSums(got, want *engine.Table) error {
	size := want.Type.Bytes()
	for y := range want.Height + 1 {
		g, w := got.From(y*got.Stride), want.From(y*want.Stride)
		for i := range (want.Width + 1) * want.Channels {
			if !bytes.Equal(g[i*size:][:size], w[i*size:][:size]) {
				return fmt.Errorf("entry (%d, %d) channel %d is %v, not %v",
					i/want.Channels, y, i%want.Channels, got.Floats(nil, y, i, i+1, 1), want.Floats(nil, y, i, i+1, 1))
			}
		}
	}
	return nil
}

// equals compares a table with the CPU's: integers bit for bit, floats within the documented rounding
// errors of both.
func equals(got, want *engine.Table, im *raster.Array, square bool) error {
	if !want.Type.Float() {
		return sameSums(got, want)
	}
	if got.Offset != want.Offset {
		return fmt.Errorf("the offset is %v, not %v", got.Offset, want.Offset)
	}
	magnitudes, err := magnitudes(im, got.Offset, square)
	if err != nil {
		return err
	}
	epsilon := 0x1p-24
	if want.Type == raster.F64 {
		epsilon = 0x1p-53
	}
	bound := 2 * epsilon * float64(got.Width+got.Height+16)
	n := (got.Width + 1) * got.Channels
	var g, w []float64
	for y := range got.Height + 1 {
		g, w = got.Floats(g[:0], y, 0, n, 1), want.Floats(w[:0], y, 0, n, 1)
		for i := range n {
			if g[i] != w[i] && !(math.Abs(g[i]-w[i]) <= bound*magnitudes.Sums[y*magnitudes.Stride+i]) {
				return fmt.Errorf("entry (%d, %d) channel %d is %v, not %v", i/got.Channels, y, i%got.Channels, g[i], w[i])
			}
		}
	}
	return nil
}

// magnitudes returns the table that rounding errors are relative to.
func magnitudes(im *raster.Array, offset float32, square bool) (*boxsum.Table[float64], error) {
	all, err := boxsum.NewImage[float64](im.Width, im.Height, im.Channels)
	if err != nil {
		return nil, err
	}
	var pixels []float64
	for y := range im.Height {
		row := all.Row(y)
		pixels = im.Floats(pixels[:0], y, 0, len(row), 1)
		for i, p := range pixels {
			if row[i] = math.Abs(p - float64(offset)); square {
				row[i] *= row[i]
			}
		}
	}
	return boxsum.Integrate[float64](all, nil)
}

// answers holds, by the type of sums, the function that compares box sums computed on the device with
// those of the downloaded tables.
var answers = [raster.NumTypes]func(a *devmem.Array, downloaded [][2]engine.Table, seed uint64) error{
	raster.U32: sameAnswers[uint32], raster.U64: sameAnswers[uint64], raster.I64: sameAnswers[int64],
	raster.F32: sameAnswers[float32], raster.F64: sameAnswers[float64],
}

func sameAnswers[S boxsum.Sum](a *devmem.Array, downloaded [][2]engine.Table, seed uint64) error {
	r := rand.New(rand.NewPCG(seed, 17))
	boxes := make([]image.Rectangle, 37)
	for i := range boxes {
		at := func(n int) int { return r.IntN(2*n+3) - n/2 - 1 } // outside too, and with corners exchanged
		boxes[i] = image.Rectangle{Min: image.Pt(at(a.Width), at(a.Height)), Max: image.Pt(at(a.Width), at(a.Height))}
	}
	boxes = append(boxes, image.Rect(0, 0, a.Width, a.Height), image.Rectangle{},
		image.Rect(math.MinInt32, math.MinInt32, math.MaxInt32, math.MaxInt32))
	table := &Table[S]{inside.NewArray(*a)}
	got := make([]S, len(boxes)*a.Channels)
	want := make([]S, len(got))
	for i := range downloaded {
		t := &downloaded[i][0]
		host := boxsum.Table[S]{Sums: raster.Elems[S](t.Data), Width: t.Width, Height: t.Height, Channels: t.Channels, Stride: t.Stride, Offset: t.Offset}
		if err := table.SumBoxes(i, got, boxes); err != nil {
			return err
		}
		if err := host.SumBoxes(want, boxes); err != nil {
			return err
		}
		for n := range got {
			if got[n] != want[n] {
				return fmt.Errorf("box %v of image %d, channel %d, sums to %v on the device and %v on the host",
					boxes[n/a.Channels], i, n%a.Channels, got[n], want[n])
			}
		}
	}
	return nil
}
