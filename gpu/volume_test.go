package gpu

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/gpu/internal/devmem"
	"github.com/boxsum/boxsum/gpu/internal/driver"
	"github.com/boxsum/boxsum/gpu/internal/inside"
	"github.com/boxsum/boxsum/gpu/internal/method"
	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/fixture"
	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/internal/ref"
	"github.com/boxsum/boxsum/volume"
)

// A solidShape describes a volume to integrate, and how.
type solidShape struct {
	width, height, depth, channels int

	pad     int // elements after the rows and slices of the host's volume
	offset  float32
	kernels Kernels
	slabs   int // of CUDA's one-pass kernels; 0 for the default
	gaps    bool
	in, out spacing
	seed    uint64
}

// randomVolume returns noise with gaps after its rows and slices.
func randomVolume[P boxsum.Pixel](s solidShape) volume.Volume[P] {
	a := randomVoxels(raster.TypeOf[P](), s)
	return volume.Volume[P]{
		Pix: raster.Elems[P](a.Data), Stride: a.Stride, SliceStride: a.SliceStride,
		Width: s.width, Height: s.height, Depth: s.depth, Channels: s.channels,
	}
}

// randomVoxels is randomVolume for a type of pixels that is known only at run time.
func randomVoxels(pixel raster.Type, s solidShape) raster.Array {
	a := fixture.NoiseArray(pixel, s.seed, s.width, s.height*s.depth+1, s.channels, s.pad)
	a.Extent = raster.VolumeExtent(s.width, s.height, s.depth, s.channels, a.Stride, s.height*a.Stride+min(s.pad, a.Stride/max(s.depth, 1)))
	return a
}

// slice returns a slice of a volume.
func slice(voxels *raster.Array, z int) raster.Array {
	return raster.Array{
		Data: voxels.From(z * voxels.SliceStride), Type: voxels.Type,
		Extent: raster.PlaneExtent(voxels.Width, voxels.Height, voxels.Channels, voxels.Stride),
	}
}

// A solidPair holds the types that a test runs for.
type solidPair struct {
	name  string
	float bool // pixels or sums for which an offset makes sense
	check func(t *testing.T, d *Device, s solidShape) bool
}

func solidSums[S boxsum.Sum](pixel raster.Type) solidPair {
	sum := raster.TypeOf[S]()
	return solidPair{fmt.Sprintf("%s_%s", pixel, sum), pair{pixel, sum, 0}.float(), checkVolume[S](pixel, 0, func(t, v *devmem.Array, opt *Options) error {
		return tables{method: method.Volume{}, sums: t}.integrate(v, opt)
	})}
}

// solidSquares computes tables of squares Q beside sums of another type.
func solidSquares[Q boxsum.Square](pixel, sum raster.Type) solidPair {
	return solidPair{fmt.Sprintf("%s squared_%s", pixel, raster.TypeOf[Q]()), false, checkVolume[Q](pixel, sum, func(t, v *devmem.Array, opt *Options) error {
		sums, err := v.Device.Make(devmem.Array{
			Element: sum, Width: v.Width, Height: v.Height, Channels: v.Channels, Count: v.Count, Border: 1, Volume: true, Depth: v.Depth,
		})
		if err != nil {
			return err
		}
		both := tables{method: method.Volume{}, sums: &sums, squares: t}
		err = both.integrate(v, &Options{Kernels: opt.Kernels, Plain: true})
		if opt.Kernels == Fast && errors.Is(err, boxsum.ErrTypes) { // the one-pass kernels do not support all types
			err = both.integrate(v, &Options{Plain: true})
		}
		return closeAfter(&sums, err)
	})}
}

// volumeOnCPU returns the table of a volume or, if sum is not 0, that of its squares, made
// beside sums of this type.
func volumeOnCPU[S boxsum.Sum](src raster.Array, sum raster.Type, offset float32) (*volume.Table[S], error) {
	t, err := volume.NewTable[S](src.Width, src.Height, src.Depth, src.Channels)
	if err != nil {
		return nil, err
	}
	made := raster.ArrayOf(t.Sums, raster.VolumeExtent(t.Width, t.Height, t.Depth, t.Channels, t.Stride, t.SliceStride))
	job := engine.Job{Kind: engine.Volume, Src: src, Offset: offset, Plain: true}
	if job.Sums.Array = made; sum != 0 {
		job.Squares.Array = made
		if job.Sums.Array, err = raster.NewTable(sum, src.Extent); err != nil {
			return nil, err
		}
	}
	if err := job.Check(); err != nil {
		return nil, err
	}
	t.Offset = job.Sums.Offset
	return t, job.Run()
}

func closeAfter(c interface{ Close() error }, err error) error {
	return driver.FirstError(err, c.Close())
}

// The first pairs run everywhere. The others, which share the source, run only where compiling
// kernels does not take seconds for each.
var solidPairs = []solidPair{
	solidSums[uint32](raster.U8), solidSums[float32](raster.F32), solidSums[float64](raster.F32),
	solidSums[int64](raster.I16), solidSquares[uint64](raster.U8, raster.U32), solidSquares[float64](raster.F32, raster.F64),

	solidSums[uint32](raster.U16), solidSums[float64](raster.I16), solidSums[int64](raster.U8),
	solidSquares[uint64](raster.U16, raster.U32), solidSquares[uint64](raster.I16, raster.F64), solidSquares[float64](raster.I16, raster.I64),
	solidSums[uint64](raster.U8), solidSums[float32](raster.U8), solidSums[float64](raster.U8),
	solidSums[uint64](raster.U16), solidSums[float64](raster.U16),
	solidSums[uint32](raster.U32), solidSums[uint64](raster.U32),
	solidSums[int64](raster.I32), solidSums[float64](raster.F64),

	solidSquares[uint64](raster.U16, raster.U64), solidSquares[float64](raster.U16, raster.U64), solidSquares[float64](raster.U8, raster.U32),
	solidSquares[uint64](raster.U32, raster.U64), solidSquares[float64](raster.U32, raster.U64),
	solidSquares[uint64](raster.I16, raster.I64), solidSquares[uint64](raster.I32, raster.I64), solidSquares[float64](raster.I32, raster.I64),
	solidSquares[float64](raster.F64, raster.F64),
}

// solidPairsOf returns the pairs to test on a device.
func solidPairsOf(d *Device) []solidPair {
	if d.Info().CPU && os.Getenv("BOXSUM_GPU_PAIRS") != "all" {
		return solidPairs[:6]
	}
	return solidPairs
}

// checkVolume computes tables of one pair of types twice, among guard values, and compares them
// with those of the CPU.
func checkVolume[S boxsum.Sum](pixel, sum raster.Type, integrate func(t, v *devmem.Array, opt *Options) error) func(*testing.T, *Device, solidShape) bool {
	return func(t *testing.T, d *Device, s solidShape) bool {
		t.Helper()
		err := func() error {
			src := randomVoxels(pixel, s)
			in, _, err := guarded(d, devmem.Array{Element: pixel, Width: s.width, Height: s.height, Channels: s.channels, Count: max(s.depth, 1), Volume: true, Depth: s.depth}, s.in)
			if err != nil {
				return err
			}
			defer in.Close()
			for z := range s.depth {
				rows := slice(&src, z)
				if err := using(&in, func() error { return in.CopyIn(z, rowsOf(&rows)) }); err != nil {
					return err
				}
			}
			out, bytes, err := guarded(d, devmem.Array{Element: raster.TypeNamed[S](), Width: s.width, Height: s.height, Channels: s.channels, Count: s.depth + 1, Border: 1, Volume: true, Depth: s.depth}, s.out)
			if err != nil {
				return err
			}
			out.Gaps = s.gaps
			table := &VolumeTable[S]{inside.NewArray(out)}
			defer table.Close()
			way := s.kernels
			if way == Fast && (method.Volume{}).Obstacle(method.Of(&out, nil, &in, 0)) != "" {
				way = AutoKernels
			}
			if b := d.inner.Backend.CUDA(); b != nil {
				b.Tuning.Slabs = s.slabs
				defer func() { b.Tuning.Slabs = 0 }()
			}
			want, err := volumeOnCPU[S](src, sum, s.offset)
			if err != nil {
				return err
			}
			var first *volume.Table[S]
			for range 2 {
				if err := integrate(table.inner(), &in, &Options{Offset: s.offset, Kernels: way}); err != nil {
					return err
				}
				got, err := table.Download()
				if err != nil {
					return err
				}
				if first == nil {
					first = got
					if err := nearVolume(got, want, &src, s.offset, sum != 0); err != nil {
						return err
					}
				} else if err := sameVolume(got, first); err != nil {
					return fmt.Errorf("a second time: %w", err)
				}
			}
			if err := intactVolume(table.inner(), bytes); err != nil {
				return err
			}
			return volumeAnswers(table, first, s)
		}()
		if err != nil {
			t.Errorf("%s to %s, %+v: %v", pixel, raster.TypeNamed[S](), s, err)
		}
		return err == nil
	}
}

// intactVolume returns an error if a guard value has changed, except in gaps that may be written.
func intactVolume(a *devmem.Array, bytes int64) error {
	whole := *a
	if a.Gaps { // as one row, with the gap before its first entry
		const sector = 32
		last := (int64(whole.Count)-1)*whole.At.Distance + (whole.Rows().Count-1)*whole.At.Stride + whole.RowBytes()
		whole = devmem.Array{Device: whole.Device, Element: raster.U8, Width: int(last) + sector, Height: 1, Channels: 1, Count: 1, At: whole.At}
		whole.At.Offset -= sector
	}
	return intact(&whole, bytes)
}

// nearVolume compares with the CPU: integers bit for bit, floats within twice the error bound of
// package volume, because the order of additions differs.
func nearVolume[S boxsum.Sum](got, want *volume.Table[S], src *raster.Array, offset float32, square bool) error {
	e := raster.TypeNamed[S]()
	if e != raster.F32 && e != raster.F64 {
		return sameVolume(got, want)
	}
	size := volume.Volume[float64]{Width: src.Width, Height: src.Height, Depth: src.Depth, Channels: src.Channels}
	for z := range src.Depth {
		rows := slice(src, z)
		for y := range rows.Height {
			for _, p := range rows.Floats(nil, y, 0, rows.Width*rows.Channels, 1) {
				v := math.Abs(p - float64(offset))
				if square {
					v = p * p
				}
				size.Pix = append(size.Pix, v)
			}
		}
	}
	magnitudes, err := volume.Integrate[float64](size, nil)
	if err != nil {
		return err
	}
	unit := 0x1p-53
	if e == raster.F32 {
		unit = 0x1p-24
	}
	bound := 2 * (float64(src.Width+src.Height+src.Depth) + 16) * unit
	return eachEntry(got, want, func(x, y, z, c int, g, w S) bool {
		return math.Abs(float64(g)-float64(w)) <= bound*magnitudes.At(x, y, z, c)
	})
}

func sameVolume[S boxsum.Sum](got, want *volume.Table[S]) error {
	return eachEntry(got, want, func(_, _, _, _ int, g, w S) bool { return g == w })
}

// eachEntry returns an error for an entry that is not as expected.
func eachEntry[S boxsum.Sum](got, want *volume.Table[S], ok func(x, y, z, c int, g, w S) bool) error {
	for z := range want.Depth + 1 {
		for y := range want.Height + 1 {
			for x := range want.Width + 1 {
				for c := range want.Channels {
					if g, w := got.At(x, y, z, c), want.At(x, y, z, c); !ok(x, y, z, c, g, w) {
						return fmt.Errorf("entry (%d, %d, %d) channel %d is %v, not %v", x, y, z, c, g, w)
					}
				}
			}
		}
	}
	return nil
}

// volumeAnswers compares box sums on the device with those of the downloaded table.
func volumeAnswers[S boxsum.Sum](table *VolumeTable[S], host *volume.Table[S], s solidShape) error {
	r := rand.New(rand.NewPCG(s.seed, 3))
	boxes := []volume.Box{{}, host.Bounds(), volume.NewBox(-5, -5, -5, math.MaxInt32, math.MaxInt, 2)}
	for range 60 {
		at := func(n int) (int, int) { return r.IntN(n+3) - 1, r.IntN(n+3) - 1 }
		var b volume.Box
		b.X0, b.X1 = at(s.width)
		b.Y0, b.Y1 = at(s.height)
		b.Z0, b.Z1 = at(s.depth)
		boxes = append(boxes, b)
	}
	got, want := make([]S, len(boxes)*s.channels), make([]S, len(boxes)*s.channels)
	if err := table.SumBoxes(got, boxes); err != nil {
		return err
	}
	if err := host.SumBoxes(want, boxes); err != nil {
		return err
	}
	for i := range got {
		if got[i] != want[i] {
			return fmt.Errorf("box %v channel %d sums to %v, not %v", boxes[i/s.channels], i%s.channels, got[i], want[i])
		}
	}
	return nil
}

// solidSizes holds single voxels, thin slabs and bars, primes, and sizes where tiles begin and end.
var solidSizes = [][3]int{
	{1, 1, 1}, {1, 1, 17}, {1, 19, 1}, {23, 1, 1}, {1, 131, 3}, {257, 1, 5}, {127, 61, 1}, {3, 2, 5}, {13, 11, 7},
	{16, 16, 16}, {129, 33, 4}, {128, 64, 3}, {255, 17, 9}, {301, 67, 5}, {37, 97, 11}, {5, 3, 101},
}

func TestVolume(t *testing.T) {
	eachDevice(t, func(t *testing.T, d *Device) {
		n := 0
		for k, p := range solidPairsOf(d) {
			every := 5 // of the sizes and channels, so that the pairs together cover all of them
			if k < 3 {
				every = 3
			}
			if !d.Info().CPU {
				every = 1 + every/5
			}
			t.Run(p.name, func(t *testing.T) {
				for channels := 1; channels <= 3; channels++ {
					for i, size := range solidSizes {
						if n++; (i+channels+k)%every != 0 {
							continue
						}
						s := solidShape{
							width: size[0], height: size[1], depth: size[2], channels: channels, pad: n % 4, slabs: n % 4,
							in: spacing(n % int(spacings)), out: spacing(n / 3 % int(spacings)), seed: uint64(n), gaps: n%4 > 1,
						}
						if n%2 == 0 {
							s.in, s.out = own, own
						}
						s.kernels = []Kernels{Fast, Portable, Fast, AutoKernels}[n/2%4] // fast where possible
						if p.float && n%3 == 0 {
							s.offset = 0.75
						}
						if !p.check(t, d, s) {
							return
						}
					}
				}
			})
		}
	})
}

func TestVolumeRandom(t *testing.T) {
	ref.SkipRace(t)
	count := 30
	if testing.Short() {
		count = 10
	}
	eachDevice(t, func(t *testing.T, d *Device) {
		r := rand.New(rand.NewPCG(7, 3))
		if !d.Info().CPU {
			count *= 20
		}
		for n := range count {
			s := solidShape{
				width: 1 + r.IntN(1+r.IntN(400)), height: 1 + r.IntN(1+r.IntN(150)), depth: 1 + r.IntN(1+r.IntN(60)), channels: 1,
				pad: r.IntN(4), slabs: r.IntN(5), seed: uint64(n), kernels: Kernels(r.IntN(3)), gaps: r.IntN(2) == 0,
			}
			if s.width*s.height*s.depth > 300_000 {
				s.depth = 1 + 300_000/(s.width*s.height)
			}
			if r.IntN(3) == 0 {
				s.channels = 1 + r.IntN(5)
			}
			if r.IntN(3) == 0 {
				s.in, s.out = spacing(r.IntN(int(spacings))), spacing(r.IntN(int(spacings)))
			}
			solids := solidPairsOf(d)
			if !solids[r.IntN(len(solids))].check(t, d, s) {
				return
			}
		}
	})
}

// TestVolumeHost computes volumes from host memory to host memory, whole and in slabs, on request
// and for lack of memory.
func TestVolumeHost(t *testing.T) {
	eachDevice(t, func(t *testing.T, d *Device) {
		for _, channels := range []int{1, 2} {
			s := solidShape{width: 61, height: 33, depth: 29, channels: channels, pad: 3, seed: 9}
			src := randomVolume[uint8](s)
			both, err := volume.IntegrateSquares[uint32, uint64](src, nil)
			if err != nil {
				t.Fatal(err)
			}
			for _, slices := range []int{0, 1, 7, 29} {
				opt := &boxsum.Options{BandRows: slices}
				got, err := volume.Integrate[uint32](src, boxsumOn(d, opt))
				if err != nil {
					t.Fatal(err)
				}
				if err := sameVolume(got, both.Sum); err != nil {
					t.Errorf("%d channels in slabs of %d: %v", channels, slices, err)
				}
				squared, err := volume.IntegrateSquares[uint32, uint64](src, boxsumOn(d, opt))
				if err != nil {
					t.Fatal(err)
				}
				if err := errors.Join(sameVolume(squared.Sum, both.Sum), sameVolume(squared.Squares, both.Squares)); err != nil {
					t.Errorf("squares, %d channels in slabs of %d: %v", channels, slices, err)
				}
			}
			floats := randomVolume[float32](s)
			voxels := randomVoxels(raster.F32, s)
			whole, err := volume.Integrate[float64](floats, nil)
			if err != nil {
				t.Fatal(err)
			}
			got, err := volume.Integrate[float64](floats, &volume.Options{On: d, BandRows: 5})
			if err == nil {
				err = nearVolume(got, whole, &voxels, 0, false)
			}
			if err != nil {
				t.Errorf("floats in slabs: %v", err)
			}
		}
	})
}

func TestVolumeLittleMemory(t *testing.T) {
	eachDevice(t, func(t *testing.T, d *Device) {
		if !d.Info().CPU {
			return // a limit on memory requires the portable kernels
		}
		src := randomVolume[uint8](solidShape{width: 200, height: 150, depth: 40, channels: 1, seed: 4})
		want, err := volume.Integrate[uint32](src, nil)
		if err != nil {
			t.Fatal(err)
		}
		limited, s := strictly(t, d)
		s.limit = 2 << 20 // the table takes 5 MB
		got, err := volume.Integrate[uint32](src, &volume.Options{On: limited})
		if err != nil {
			t.Fatal(err)
		}
		if err := sameVolume(got, want); err != nil {
			t.Error(err)
		}
		if _, err := UploadVolume(limited, src); err != nil {
			t.Errorf("1.2 MB: %v", err)
		}
		if _, err := NewVolumeTable[uint32](limited, 200, 150, 40, 1); !errors.Is(err, boxsum.ErrMemory) {
			t.Errorf("a table that does not fit: %v", err)
		}
		s.limit = 100_000
		if _, err := volume.Integrate[uint32](src, &volume.Options{On: limited}); !errors.Is(err, boxsum.ErrMemory) {
			t.Errorf("not even a slice fits: %v", err)
		}
	})
}

func TestVolumeEmpty(t *testing.T) {
	eachDevice(t, func(t *testing.T, d *Device) {
		for _, size := range [][3]int{{0, 3, 4}, {3, 0, 4}, {3, 4, 0}, {0, 0, 0}} {
			src := volume.Volume[uint8]{Width: size[0], Height: size[1], Depth: size[2]}
			vol, err := UploadVolume(d, src)
			if err != nil {
				t.Fatal(err)
			}
			table, err := IntegrateVolume[uint32](vol, nil)
			if err != nil {
				t.Fatal(err)
			}
			got, err := table.Download()
			if err != nil {
				t.Fatal(err)
			}
			host, err := volume.Integrate[uint32](src, &volume.Options{On: d})
			if err != nil {
				t.Fatal(err)
			}
			want, err := volume.NewTable[uint32](size[0], size[1], size[2], 1)
			if err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(sameVolume(got, want), sameVolume(host, want), vol.Close(), table.Close(), table.Close()); err != nil {
				t.Errorf("%v: %v", size, err)
			}
		}
	})
}

// TestVolumeErrors checks the errors of invalid calls.
func TestVolumeErrors(t *testing.T) {
	eachDevice(t, func(t *testing.T, d *Device) {
		src := randomVolume[uint8](solidShape{width: 9, height: 8, depth: 7, channels: 2})
		vol, err := UploadVolume(d, src)
		if err != nil {
			t.Fatal(err)
		}
		table, err := IntegrateVolume[uint32](vol, nil)
		if err != nil {
			t.Fatal(err)
		}
		other, err := NewVolumeTable[uint32](d, 9, 8, 6, 2)
		if err != nil {
			t.Fatal(err)
		}
		small, _ := volume.NewTable[uint32](9, 8, 6, 2)
		short := src
		short.Pix = short.Pix[:len(short.Pix)/2]
		closed, _ := UploadVolume(d, src)
		if err := closed.Close(); err != nil {
			t.Fatal(err)
		}
		for name, err := range map[string]error{
			"a negative side":      second(NewVolume[uint8](d, 3, 3, -1, 1)),
			"an overflowing size":  second(NewVolumeTable[uint32](d, 1<<30, 1<<30, 1<<30, 1)),
			"a side of 2^31":       second(NewVolume[uint8](d, 1, 1, math.MaxInt32, 1)),
			"too few voxels":       second(UploadVolume(d, short)),
			"another size":         vol.Set(randomVolume[uint8](solidShape{width: 9, height: 8, depth: 6, channels: 2})),
			"no volume":            second(IntegrateVolume[uint32]((*Volume[uint8])(nil), nil)),
			"an empty volume":      second(IntegrateVolume[uint32](&Volume[uint8]{}, nil)),
			"no table":             IntegrateVolumeInto((*VolumeTable[uint32])(nil), vol, nil),
			"a table of its own":   IntegrateVolumeInto(other, vol, nil),
			"no such pair":         second(IntegrateVolume[uint32](&Volume[float32]{}, nil)),
			"no such squares":      second(IntegrateVolumeSquares[float32, uint64](&Volume[float32]{}, nil)),
			"an offset":            IntegrateVolumeInto(table, vol, &Options{Offset: 1}),
			"no room":              table.SumBoxes(make([]uint32, 1), []volume.Box{{}}),
			"into nothing":         table.DownloadInto(nil),
			"into another size":    table.DownloadInto(small),
			"a closed volume":      IntegrateVolumeInto(table, closed, nil),
			"no such host pair":    second(volume.Integrate[uint32](volume.Volume[float32]{}, &volume.Options{On: d})),
			"too few host voxels":  second(volume.Integrate[uint32](short, &volume.Options{On: d})),
			"no such kernels":      IntegrateVolumeInto(table, vol, &Options{Kernels: 9}),
			"one pass of channels": IntegrateVolumeInto(table, vol, &Options{Kernels: Fast}),
		} {
			if err == nil {
				t.Errorf("no error for %s", name)
			}
		}
		var none *VolumeTable[uint32]
		if err := errors.Join(none.Close(), vol.Close(), vol.Close(), table.Close(), other.Close()); err != nil {
			t.Error(err)
		}
		if _, err := table.Download(); !errors.Is(err, boxsum.ErrClosed) {
			t.Errorf("after Close: %v", err)
		}
	})
}

// BenchmarkVolumeHost runs from host memory to host memory, in overlapping slabs and all at once.
func BenchmarkVolumeHost(bench *testing.B) {
	for _, info := range devices(bench) {
		size := 512
		if info.CPU {
			size = 64
		}
		d, err := Open(info)
		if err != nil {
			bench.Fatal(err)
		}
		src := randomVolume[uint8](solidShape{width: size, height: size, depth: size, channels: 1})
		dst, err := volume.NewTable[uint32](size, size, size, 1)
		if err != nil {
			bench.Fatal(err)
		}
		for _, slices := range []int{0, size} {
			name := "slabs"
			if slices > 0 {
				name = "at once"
			}
			bench.Run(fmt.Sprintf("%s%d %d³ u8 to u32, %s", info.Kind, info.Index, size, name), func(bench *testing.B) {
				bench.SetBytes(int64(len(dst.Sums))*4 + int64(size)*int64(size)*int64(size))
				for bench.Loop() {
					if err := volume.IntegrateInto(dst, src, &volume.Options{On: d, BandRows: slices}); err != nil {
						bench.Fatal(err)
					}
				}
			})
		}
		if err := d.Close(); err != nil {
			bench.Fatal(err)
		}
	}
}
