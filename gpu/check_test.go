package gpu

import (
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
type pair struct {
	name  string
	float bool // pixels or sums for which an offset makes sense
	check func(t *testing.T, d *Device, s shape) bool

	onePass bool // CUDA has one-pass kernels for it
}

func sums[S boxsum.Sum](pixel raster.Type) pair {
	sum := raster.TypeOf[S]()
	return pair{
		fmt.Sprintf("%s_%s", pixel, sum), offsetSuits(pixel, sum),
		func(t *testing.T, d *Device, s shape) bool { t.Helper(); return checkSums[S](t, d, pixel, s) },
		raster.SumPairs.For(raster.OnePass).Has(pixel, sum),
	}
}

func squares[S boxsum.Sum, Q boxsum.Square](pixel raster.Type) pair {
	sum, square := raster.TypeOf[S](), raster.TypeOf[Q]()
	return pair{
		fmt.Sprintf("%s_%s_%s", pixel, sum, square), offsetSuits(pixel, sum),
		func(t *testing.T, d *Device, s shape) bool { t.Helper(); return checkSquares[S, Q](t, d, pixel, s) },
		raster.SumPairs.For(raster.OnePass).Has(pixel, sum) && raster.SquarePairs.For(raster.OnePass).Has(pixel, square),
	}
}

func offsetSuits(pixel, sum raster.Type) bool {
	return sum == raster.F32 || pixel.Float() && sum.Float()
}

// forms holds the tests by the type of sums. Those with squares are by the type of squares too.
var (
	forms = [raster.NumTypes]func(pixel raster.Type) pair{
		raster.U32: sums[uint32], raster.U64: sums[uint64], raster.I64: sums[int64], raster.F32: sums[float32], raster.F64: sums[float64],
	}
	squaredForms = [raster.NumTypes][raster.NumTypes]func(pixel raster.Type) pair{
		raster.U32: {raster.U64: squares[uint32, uint64], raster.F64: squares[uint32, float64]},
		raster.U64: {raster.U64: squares[uint64, uint64], raster.F64: squares[uint64, float64]},
		raster.I64: {raster.U64: squares[int64, uint64], raster.F64: squares[int64, float64]},
		raster.F32: {raster.U64: squares[float32, uint64], raster.F64: squares[float32, float64]},
		raster.F64: {raster.U64: squares[float64, uint64], raster.F64: squares[float64, float64]},
	}
)

// everyPair lists all supported tables.
var everyPair = func() (all []pair) {
	for _, p := range method.Sums {
		all = append(all, forms[p.Sum](p.Pixel))
		for _, square := range method.Squares.Of(p.Pixel) {
			all = append(all, squaredForms[p.Sum][square](p.Pixel))
		}
	}
	return all
}()

// pairsOf returns the pairs to test on a device.
func pairsOf(d *Device) []pair {
	return devtest.SelectPairs(d.Info().CPU, everyPair, func(p pair) string { return p.name },
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

// layer returns a table for a shape on the device, among guard values.
func layer[S boxsum.Sum](d *Device, s shape) (*Table[S], int64, error) {
	a, bytes, err := guarded(d, devmem.Array{Element: raster.TypeNamed[S](), Width: s.width, Height: s.height, Channels: s.channels, Count: s.count, Border: 1}, s.out)
	return &Table[S]{inside.NewArray(a)}, bytes, err
}

// integrated returns a table that the root package computes, with exactly the given offset.
func integrated[S boxsum.Sum](src raster.Array, offset float32, opt engine.Options) (*boxsum.Table[S], error) {
	t, err := boxsum.NewTable[S](src.Width, src.Height, src.Channels)
	if err != nil {
		return nil, err
	}
	job := engine.Job{Src: src, Offset: offset, Options: opt}
	job.Sums.Array = raster.ArrayOf(t.Sums, raster.PlaneExtent(t.Width, t.Height, t.Channels, t.Stride))
	if err := job.Check(); err != nil {
		return nil, err
	}
	t.Offset = job.Sums.Offset
	return t, job.Run()
}

// integratedSquares is like integrated for the tables of an image and of its squares.
func integratedSquares[S boxsum.Sum, Q boxsum.Square](src raster.Array, offset float32, opt engine.Options) (*boxsum.SquaredTable[S, Q], error) {
	t, err := boxsum.NewSquaredTable[S, Q](src.Width, src.Height, src.Channels)
	if err != nil {
		return nil, err
	}
	job := engine.Job{Src: src, Offset: offset, Plain: true, Options: opt}
	job.Sums.Array = raster.ArrayOf(t.Sum.Sums, raster.PlaneExtent(t.Sum.Width, t.Sum.Height, t.Sum.Channels, t.Sum.Stride))
	job.Squares.Array = raster.ArrayOf(t.Squares.Sums, raster.PlaneExtent(t.Squares.Width, t.Squares.Height, t.Squares.Channels, t.Squares.Stride))
	if err := job.Check(); err != nil {
		return nil, err
	}
	t.Sum.Offset, t.Squares.Offset = job.Sums.Offset, job.Squares.Offset
	return t, job.Run()
}

// checkSums computes tables of one pair of types and compares them with the CPU's. It reports
// whether they are equal. The pixels have a type only at run time, which saves compiling all of
// this for every pair.
func checkSums[S boxsum.Sum](t *testing.T, d *Device, pixel raster.Type, s shape) bool {
	t.Helper()
	err := func() error {
		im, images, err := place(d, pixel, s)
		if err != nil {
			return err
		}
		defer im.Close()
		table, bytes, err := layer[S](d, s)
		if err != nil {
			return err
		}
		defer table.Close()
		opt := &Options{Offset: s.offset, Kernels: s.kernels}
		var first []*boxsum.Table[S]
		for range 2 {
			if err := (tables{method: method.Plane{}, sums: table.inner()}).integrate(im, opt); err != nil {
				return err
			}
			for i := range images {
				got, err := table.Download(i)
				if err != nil {
					return err
				}
				if len(first) < s.count {
					first = append(first, got)
					want, err := integrated[S](images[i], s.offset, engine.Options{})
					if err != nil {
						return err
					}
					if err := equals(got, want, &images[i], false); err != nil {
						return fmt.Errorf("image %d: %w", i, err)
					}
				} else if err := fixture.SameTables(got, first[i]); err != nil {
					return fmt.Errorf("image %d a second time: %w", i, err)
				}
			}
		}
		if err := intact(table.inner(), bytes); err != nil {
			return err
		}
		if err := answers(table, first, s.seed); err != nil {
			return err
		}
		if s.bandRows == 0 {
			return nil
		}
		got, err := integrated[S](images[0], s.offset, inBands(d, s))
		if err != nil {
			return err
		}
		want, err := integrated[S](images[0], s.offset, engine.Options{})
		if err != nil {
			return err
		}
		if err := equals(got, want, &images[0], false); err != nil {
			return fmt.Errorf("in bands: %w", err)
		}
		return nil
	}()
	if err != nil {
		t.Errorf("%s to %s, %v: %v", pixel, raster.TypeNamed[S](), s, err)
	}
	return err == nil
}

// checkSquares is checkSums for tables with squares.
func checkSquares[S boxsum.Sum, Q boxsum.Square](t *testing.T, d *Device, pixel raster.Type, s shape) bool {
	t.Helper()
	err := func() error {
		im, images, err := place(d, pixel, s)
		if err != nil {
			return err
		}
		defer im.Close()
		sum, sumBytes, err := layer[S](d, s)
		if err != nil {
			return err
		}
		square, squareBytes, err := layer[Q](d, s)
		if err != nil {
			return err
		}
		table := &SquaredTable[S, Q]{sum, square}
		defer table.Close()
		opt := &Options{Offset: s.offset, Plain: true, Kernels: s.kernels}
		var first []*boxsum.SquaredTable[S, Q]
		for range 2 {
			if err := (tables{method: method.Plane{}, sums: sum.inner(), squares: square.inner()}).integrate(im, opt); err != nil {
				return err
			}
			for i := range images {
				got, err := table.Download(i)
				if err != nil {
					return err
				}
				if len(first) < s.count {
					first = append(first, got)
					want, err := integratedSquares[S, Q](images[i], s.offset, engine.Options{})
					if err != nil {
						return err
					}
					if err := equals(got.Sum, want.Sum, &images[i], false); err != nil {
						return fmt.Errorf("sums of image %d: %w", i, err)
					}
					if err := equals(got.Squares, want.Squares, &images[i], true); err != nil {
						return fmt.Errorf("squares of image %d: %w", i, err)
					}
					continue
				}
				if err := fixture.SameTables(got.Sum, first[i].Sum); err != nil {
					return fmt.Errorf("sums of image %d a second time: %w", i, err)
				}
				if err := fixture.SameTables(got.Squares, first[i].Squares); err != nil {
					return fmt.Errorf("squares of image %d a second time: %w", i, err)
				}
			}
		}
		if err := intact(sum.inner(), sumBytes); err != nil {
			return fmt.Errorf("sums: %w", err)
		}
		if err := intact(square.inner(), squareBytes); err != nil {
			return fmt.Errorf("squares: %w", err)
		}
		if s.bandRows == 0 {
			return nil
		}
		got, err := integratedSquares[S, Q](images[0], s.offset, inBands(d, s))
		if err != nil {
			return err
		}
		want, err := integratedSquares[S, Q](images[0], s.offset, engine.Options{})
		if err != nil {
			return err
		}
		if err := equals(got.Sum, want.Sum, &images[0], false); err != nil {
			return fmt.Errorf("sums in bands: %w", err)
		}
		if err := equals(got.Squares, want.Squares, &images[0], true); err != nil {
			return fmt.Errorf("squares in bands: %w", err)
		}
		return nil
	}()
	if err != nil {
		t.Errorf("%s to %s and %s, %v: %v", pixel, raster.TypeNamed[S](), raster.TypeNamed[Q](), s, err)
	}
	return err == nil
}

// inBands returns options for the device to process an image in bands.
func inBands(d *Device, s shape) engine.Options {
	return engine.Options{On: d, Level: levelOf(s.kernels).String(), BandRows: s.bandRows}
}

// equals compares a table with the root package's: integers bit for bit, floats within the
// documented rounding errors of both.
func equals[S boxsum.Sum](got, want *boxsum.Table[S], im *raster.Array, square bool) error {
	e := raster.TypeNamed[S]()
	if e != raster.F32 && e != raster.F64 {
		return fixture.SameTables(got, want)
	}
	if got.Offset != want.Offset {
		return fmt.Errorf("the offset is %v, not %v", got.Offset, want.Offset)
	}
	magnitudes, err := magnitudes(im, got.Offset, square)
	if err != nil {
		return err
	}
	epsilon := 0x1p-24
	if e == raster.F64 {
		epsilon = 0x1p-53
	}
	bound := 2 * epsilon * float64(got.Width+got.Height+16)
	for y := range got.Height + 1 {
		for i := range (got.Width + 1) * got.Channels {
			g, w := got.Sums[y*got.Stride+i], want.Sums[y*want.Stride+i]
			if g != w && !(math.Abs(float64(g)-float64(w)) <= bound*magnitudes.Sums[y*magnitudes.Stride+i]) {
				return fmt.Errorf("entry (%d, %d) channel %d is %v, not %v", i/got.Channels, y, i%got.Channels, g, w)
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

// answers compares box sums computed on the device with those of the downloaded tables.
func answers[S boxsum.Sum](table *Table[S], downloaded []*boxsum.Table[S], seed uint64) error {
	r := rand.New(rand.NewPCG(seed, 17))
	boxes := make([]image.Rectangle, 37)
	for i := range boxes {
		at := func(n int) int { return r.IntN(2*n+3) - n/2 - 1 } // outside too, and with corners exchanged
		boxes[i] = image.Rectangle{
			Min: image.Pt(at(table.inner().Width), at(table.inner().Height)),
			Max: image.Pt(at(table.inner().Width), at(table.inner().Height)),
		}
	}
	boxes = append(boxes, image.Rect(0, 0, table.inner().Width, table.inner().Height), image.Rectangle{},
		image.Rect(math.MinInt32, math.MinInt32, math.MaxInt32, math.MaxInt32))
	got := make([]S, len(boxes)*table.inner().Channels)
	want := make([]S, len(got))
	for i, t := range downloaded {
		if err := table.SumBoxes(i, got, boxes); err != nil {
			return err
		}
		if err := t.SumBoxes(want, boxes); err != nil {
			return err
		}
		for n := range got {
			if got[n] != want[n] {
				return fmt.Errorf("box %v of image %d, channel %d, sums to %v on the device and %v on the host",
					boxes[n/table.inner().Channels], i, n%table.inner().Channels, got[n], want[n])
			}
		}
	}
	return nil
}
