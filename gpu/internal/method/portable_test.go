package method

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/gpu/internal/devmem"
	"github.com/boxsum/boxsum/gpu/internal/devtest"
	"github.com/boxsum/boxsum/gpu/internal/driver"
	"github.com/boxsum/boxsum/gpu/internal/kernels"
	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/internal/ref"
)

// A portableCase is a launch below the API, with tilings that a device would not choose, and
// layouts that images and tables of this package never have.
type portableCase struct {
	width, height, channels, count int
	cut                            tiling
	carry                          bool
	offset                         float32 // for float32 sums
	lead, gap                      int     // elements before entry (0, 0), after each row, and after each image
}

func (c portableCase) String() string {
	return fmt.Sprintf("%dx%dx%dx%d group %d rows %d carry %v offset %v lead %d gap %d",
		c.count, c.width, c.height, c.channels, c.cut.group, c.cut.rows, c.carry, c.offset, c.lead, c.gap)
}

// portablePair runs a case for a pair of types, with or without squares.
type portablePair struct {
	types kernels.Types
	check func(t *testing.T, d *devmem.Device, c portableCase)
}

func portableSums[S boxsum.Sum](pixel raster.Type) portablePair {
	job := Job{Pixel: pixel, Sum: raster.TypeOf[S]()}
	return portablePair{portableTypes(job), checkPortable[S, uint64](job)}
}

func portableSquares[S boxsum.Sum, Q boxsum.Square](pixel raster.Type) portablePair {
	job := Job{Pixel: pixel, Sum: raster.TypeOf[S](), Square: raster.TypeOf[Q]()}
	return portablePair{portableTypes(job), checkPortable[S, Q](job)}
}

// portableForms holds the tests by the type of sums. Those with squares are by the type of squares
// too.
var (
	portableForms = [raster.NumTypes]func(pixel raster.Type) portablePair{
		raster.U32: portableSums[uint32], raster.U64: portableSums[uint64], raster.I64: portableSums[int64],
		raster.F32: portableSums[float32], raster.F64: portableSums[float64],
	}
	portableSquaredForms = [raster.NumTypes][raster.NumTypes]func(pixel raster.Type) portablePair{
		raster.U32: {raster.U64: portableSquares[uint32, uint64], raster.F64: portableSquares[uint32, float64]},
		raster.U64: {raster.U64: portableSquares[uint64, uint64], raster.F64: portableSquares[uint64, float64]},
		raster.I64: {raster.U64: portableSquares[int64, uint64], raster.F64: portableSquares[int64, float64]},
		raster.F32: {raster.U64: portableSquares[float32, uint64], raster.F64: portableSquares[float32, float64]},
		raster.F64: {raster.U64: portableSquares[float64, uint64], raster.F64: portableSquares[float64, float64]},
	}
)

// portablePairs lists one pair for each kernel: sums of the same bits share it.
var portablePairs = func() (all []portablePair) {
	for _, p := range Sums {
		if bits := p.Sum.Bits(); bits != p.Sum && Sums.Has(p.Pixel, bits) {
			continue
		}
		all = append(all, portableForms[p.Sum](p.Pixel))
		for _, square := range Squares.Of(p.Pixel) {
			all = append(all, portableSquaredForms[p.Sum][square](p.Pixel))
		}
	}
	return all
}()

func TestPortablePairs(t *testing.T) {
	for _, want := range kernels.All() {
		if !slices.ContainsFunc(portablePairs, func(p portablePair) bool { return p.types == want }) {
			t.Errorf("no pair has %v", want)
		}
	}
}

// TestPortableKernels runs every kernel at sizes that end inside of tiles, bands and segments.
func TestPortableKernels(t *testing.T) {
	devtest.Each(t, func(t *testing.T, d *devmem.Device) {
		for _, pair := range devtest.SelectPairs(d.Info().CPU, portablePairs, func(p portablePair) string { return p.types.Kernel("tables") },
			"portable_tables_u8_u32", "portable_tables_u16_f64", "portable_tables_i16_u64", "portable_tables_f32_f32",
			"portable_tables_u8_u32_u64", "portable_tables_i32_u64_f64", "portable_tables_f32_f64_f64") {
			most := pair.types.MaxGroup()
			for _, c := range []portableCase{
				{width: 1, height: 1, channels: 1, count: 1},
				{width: most + 1, height: 67, channels: 1, count: 2, lead: 3, gap: 1},
				{width: most - 1, height: 2*most/16 + 1, channels: 3, count: 1, offset: 2, gap: 5},
				{width: most*2 + 3, height: 50, channels: 4, count: 1, carry: true, lead: 28},
				{width: 5, height: 41, channels: 17, count: 3, carry: true, gap: 2, offset: -3},
				{width: most + 2, height: most, channels: 1, count: 3, lead: 1},
			} {
				c.cut = tiling{most, most / 16 * 2, int64(c.gap) << 20} // without gaps, image by image
				pair.check(t, d, c)
			}
		}
	})
}

// A cutPlane is Plane with tiles of a given size.
type cutPlane struct {
	Plane
	cut tiling
}

func (p cutPlane) Portable(job Job) (Plan, error) { return planePlan(job, p.cut) }

// TestPortableTilings runs every size of work-groups and tiles that a device may require.
func TestPortableTilings(t *testing.T) {
	devtest.Each(t, func(t *testing.T, d *devmem.Device) {
		if d.Info().Kind == driver.CUDA {
			t.Skip("CUDA's kernels are compiled for one size of work-groups: PoCL, Debian's pocl-opencl-icd, has all")
		}
		some := []portablePair{portableSums[uint32](raster.U8), portableSquares[int64, uint64](raster.I16)}
		for _, pair := range some {
			for group := driver.SmallestGroup; group <= pair.types.MaxGroup(); group *= 2 {
				for _, rows := range []int{1, group / 16, group/16*3 + 1} {
					c := portableCase{width: 2*group/3 + 1, height: 2*rows + 1, channels: 3, count: 2, cut: tiling{group, rows, 1 << 20}, gap: 1, carry: rows == 1}
					pair.check(t, d, c)
				}
			}
		}
	})
}

// TestPortableChannels runs every number of channels up to three groups of lanes.
func TestPortableChannels(t *testing.T) {
	devtest.Each(t, func(t *testing.T, d *devmem.Device) {
		pair := portableSums[uint32](raster.U8)
		for channels := 1; channels <= 2*portableTasks+1; channels++ {
			pair.check(t, d, portableCase{width: 260 / channels * 2, height: 35, channels: channels, count: 1, cut: tiling{256, 16, 1 << 20}})
		}
	})
}

// TestPortableCarries has more columns and rows of tiles than a work-group of the carries has
// work-items.
func TestPortableCarries(t *testing.T) {
	devtest.Each(t, func(t *testing.T, d *devmem.Device) {
		pair := portableSquares[uint32, uint64](raster.U8)
		for _, c := range []portableCase{
			{width: 128*40 + 1, height: 9, channels: 1, count: 2, cut: tiling{128, 8, 1 << 20}},
			{width: 129, height: 8*150 + 3, channels: 1, count: 1, cut: tiling{128, 8, 1 << 20}},
			{width: 70, height: 3000, channels: 4, count: 1, cut: tiling{128, 64, 1 << 20}},
		} {
			pair.check(t, d, c)
		}
	})
}

func TestPortableTooTall(t *testing.T) {
	devtest.Each(t, func(t *testing.T, d *devmem.Device) {
		job := Job{Device: d, Stream: d.Stream, Pixel: raster.U8, Sum: raster.U32, Channels: 1, Width: 1, Height: mostRows + 1, Count: 1}
		if err := Run(Plane{}, job, Portable); !errors.Is(err, boxsum.ErrInvalid) {
			t.Errorf("%d rows give %v", job.Height, err)
		}
	})
}

// checkPortable compares the kernels with brute force, bit for bit: the floats are small integers,
// whose sums are exact. Bytes between rows must not change. The reference sums the pixels as int64,
// which holds all of their values.
func checkPortable[S boxsum.Sum, Q boxsum.Square](types Job) func(t *testing.T, d *devmem.Device, c portableCase) {
	return func(t *testing.T, d *devmem.Device, c portableCase) {
		t.Helper()
		name := fmt.Sprintf("%s %v", portableTypes(types).Kernel("tables"), c)
		if types.Sum != raster.F32 && !types.Pixel.Float() {
			c.offset = 0
		}
		r := rand.New(rand.NewPCG(uint64(c.width), uint64(c.height)))
		random := func() int64 {
			if ref.IsFloat[S]() || types.Square == raster.F64 {
				return int64(r.IntN(16)) // exact in all types, also when squared
			}
			return truncated(types.Pixel, r.Uint64())
		}
		job := types
		job.Device, job.Stream, job.Channels, job.Carry, job.Offset = d, d.Stream, c.channels, c.carry, float64(c.offset)
		job.Width, job.Height, job.Count = c.width, c.height, c.count

		in := layOut[int64](c, c.width*c.channels, c.height)
		for i := range in.values {
			in.values[i] = random()
		}
		out := layOut[S](c, (c.width+1)*c.channels, c.height+1)
		squares := layOut[Q](c, (c.width+1)*c.channels, c.height+1)
		wantOut, wantSquares := out.copy(), squares.copy()
		for i := range c.count {
			pix := in.values[in.start(i):]
			im := ref.Image[int64]{Pix: pix, Stride: in.stride, Width: c.width, Height: c.height, Channels: c.channels}
			expect(wantOut, i, ref.Table[S](im, false), c, c.offset)
			if types.Pixel.Float() { // their squares subtract the offset too
				im.Pix = slices.Clone(pix)
				for n := range im.Pix {
					im.Pix[n] -= int64(c.offset)
				}
			}
			expect(wantSquares, i, ref.Table[Q](im, true), c, 0)
		}
		if c.carry { // both started with the same row 0
			for i := range c.count {
				for x := range (c.width + 1) * c.channels {
					out.values[out.start(i)+x] = wantOut.values[out.start(i)+x]
					squares.values[squares.start(i)+x] = wantSquares.values[squares.start(i)+x]
				}
			}
		}

		job.In = sendPixels(t, d, types.Pixel, in)
		job.Out = out.send(t, d)
		if types.Square != 0 {
			job.Squares = squares.send(t, d)
		}
		if err := Run(cutPlane{cut: c.cut}, job, Portable); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		out.fetch(t, d, job.Out)
		if at := out.differs(wantOut); at >= 0 {
			x, y, i := out.locate(at)
			t.Fatalf("%s: sum %d in row %d of image %d is %v, want %v", name, x, y, i, out.values[at], wantOut.values[at])
		}
		if types.Square != 0 {
			squares.fetch(t, d, job.Squares)
			if at := squares.differs(wantSquares); at >= 0 {
				x, y, i := squares.locate(at)
				t.Fatalf("%s: square %d in row %d of image %d is %v, want %v", name, x, y, i, squares.values[at], wantSquares.values[at])
			}
		}
	}
}

// truncated returns the low bits of a number as a pixel of an integer type.
func truncated(pixel raster.Type, n uint64) int64 {
	switch pixel {
	case raster.U8:
		return int64(uint8(n))
	case raster.U16:
		return int64(uint16(n))
	case raster.I16:
		return int64(int16(n))
	case raster.I32:
		return int64(int32(n))
	}
	return int64(uint32(n))
}

// sendPixels copies pixels to the device in their type.
func sendPixels(t *testing.T, d *devmem.Device, pixel raster.Type, from layout[int64]) devmem.Batch {
	t.Helper()
	switch pixel {
	case raster.U8:
		return converted[uint8](from).send(t, d)
	case raster.U16:
		return converted[uint16](from).send(t, d)
	case raster.U32:
		return converted[uint32](from).send(t, d)
	case raster.I16:
		return converted[int16](from).send(t, d)
	case raster.I32:
		return converted[int32](from).send(t, d)
	case raster.F32:
		return converted[float32](from).send(t, d)
	}
	return converted[float64](from).send(t, d)
}

func converted[P boxsum.Pixel](from layout[int64]) layout[P] {
	to := layout[P]{values: make([]P, len(from.values)), lead: from.lead, stride: from.stride, distance: from.distance, images: from.images}
	for i, v := range from.values {
		to.values[i] = P(v)
	}
	return to
}

// expect writes a table over the guard values, with a carried row or an offset added.
func expect[S boxsum.Sum](to layout[S], image int, table []S, c portableCase, offset float32) {
	row := (c.width + 1) * c.channels
	for y := range c.height + 1 {
		for x := range row {
			v := table[y*row+x] - S(offset)*S(y*(x/c.channels))
			if c.carry && x >= c.channels {
				v += S(x % 11)
			}
			to.values[to.start(image)+y*to.stride+x] = v
		}
	}
}

// A layout is a batch in host memory, laid out as on the device.
type layout[T any] struct {
	values                         []T
	lead, stride, distance, images int
}

const guardByte = 0x5B

func layOut[T any](c portableCase, row, rows int) layout[T] {
	l := layout[T]{lead: c.lead, stride: row + c.gap, images: c.count}
	l.distance = rows*l.stride + c.gap
	l.values = make([]T, l.lead+c.count*l.distance+c.gap)
	clearTo(l.bytes(), guardByte)
	return l
}

func clearTo(b []byte, value byte) {
	for i := range b {
		b[i] = value
	}
}

func (l layout[T]) start(image int) int { return l.lead + image*l.distance }

func (l layout[T]) bytes() []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(&l.values[0])), len(l.values)*int(unsafe.Sizeof(l.values[0])))
}

func (l layout[T]) copy() layout[T] {
	l.values = append([]T(nil), l.values...)
	return l
}

func (l layout[T]) send(t *testing.T, d *devmem.Device) devmem.Batch {
	t.Helper()
	m, err := d.Backend.Alloc(int64(len(l.bytes())))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Backend.Free(m); err != nil {
			t.Error(err)
		}
	})
	n := int64(len(l.bytes()))
	if err := d.Backend.CopyIn(d.Stream, driver.Plane{Memory: m, Stride: n}, unsafe.Pointer(&l.values[0]), n, driver.Rows{Bytes: n, Count: 1}); err != nil {
		t.Fatal(err)
	}
	size := int64(unsafe.Sizeof(l.values[0]))
	return devmem.Batch{Plane: driver.Plane{Memory: m, Offset: int64(l.lead) * size, Stride: int64(l.stride) * size}, Distance: int64(l.distance) * size}
}

func (l layout[T]) fetch(t *testing.T, d *devmem.Device, from devmem.Batch) {
	t.Helper()
	n := int64(len(l.bytes()))
	if err := d.Backend.CopyOut(d.Stream, unsafe.Pointer(&l.values[0]), n, driver.Plane{Memory: from.Memory, Stride: n}, driver.Rows{Bytes: n, Count: 1}); err != nil {
		t.Fatal(err)
	}
	if err := d.Backend.Wait(d.Stream); err != nil {
		t.Fatal(err)
	}
}

func (l layout[T]) differs(want layout[T]) int {
	a, b := l.bytes(), want.bytes()
	if bytes.Equal(a, b) {
		return -1
	}
	for i := range a {
		if a[i] != b[i] {
			return i / int(unsafe.Sizeof(l.values[0]))
		}
	}
	return -1
}

func (l layout[T]) locate(at int) (x, y, image int) {
	at -= l.lead
	return at % l.distance % l.stride, at % l.distance / l.stride, at / l.distance
}

// TestPortableFloats checks that sums of random floats are accurate, and have the same bits every
// time.
func TestPortableFloats(t *testing.T) {
	devtest.Each(t, func(t *testing.T, d *devmem.Device) {
		const width, height = 700, 300
		c := portableCase{width: width, height: height, channels: 1, count: 1}
		in := layOut[float32](c, width, height)
		r := rand.New(rand.NewPCG(1, 2))
		for i := range in.values {
			in.values[i] = r.Float32() - 0.25
		}
		want := ref.Table[float64](ref.Image[float32]{Pix: in.values, Stride: width, Width: width, Height: height, Channels: 1}, false)
		out := layOut[float32](c, width+1, height+1)
		job := Job{Device: d, Stream: d.Stream, Pixel: raster.F32, Sum: raster.F32, Channels: 1, Width: width, Height: height, Count: 1}
		job.In, job.Out = in.send(t, d), out.send(t, d)
		var first layout[float32]
		for round := range 3 {
			if err := Run(Plane{}, job, Portable); err != nil {
				t.Fatal(err)
			}
			out.fetch(t, d, job.Out)
			if round == 0 {
				first = out.copy()
			}
			if out.differs(first) >= 0 {
				t.Fatal("the same image gave other bits")
			}
		}
		for i, w := range want {
			if diff := math.Abs(float64(out.values[i]) - w); diff > 1e-5*width*height {
				t.Fatalf("entry %d is %v, want %v", i, out.values[i], w)
			}
		}
	})
}
