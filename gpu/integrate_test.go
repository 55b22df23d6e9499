package gpu

import (
	"errors"
	"fmt"
	"image"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/gpu/internal/devmem"
	"github.com/boxsum/boxsum/gpu/internal/devtest"
	"github.com/boxsum/boxsum/gpu/internal/inside"
	"github.com/boxsum/boxsum/gpu/internal/method"
	"github.com/boxsum/boxsum/internal/fixture"
	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/internal/ref"
)

// sizes holds corner cases: one pixel, one row, one column, primes, one more or less than a power
// of two, and wider or higher than several tiles.
var sizes = [][2]int{
	{1, 1}, {1, 2}, {2, 1}, {1, 601}, {601, 1}, {3, 5}, {31, 33}, {64, 64},
	{127, 129}, {257, 17}, {17, 257}, {509, 131}, {1031, 37}, {4099, 3}, {3, 2053},
}

// ways returns the kernels that a device has.
func ways(d *Device, channels int) []Kernels {
	if (method.Plane{}).Obstacle(method.Job{Device: d.inner, Channels: channels}) == "" {
		return []Kernels{Portable, Fast}
	}
	return []Kernels{Portable}
}

func TestIntegrate(t *testing.T) {
	ref.SkipRace(t)
	eachDevice(t, func(t *testing.T, d *Device) {
		every := 1 // of the sizes and channels, so that the pairs together cover all of them
		if d.Info().CPU {
			every = 3
		}
		if testing.Short() || devtest.Few(d.Info().CPU) {
			every = 6 // each size and number of channels still has two pairs
		}
		for k, p := range pairsOf(d) {
			t.Run(p.String(), func(t *testing.T) {
				n := 0
				for channels := 1; channels <= 6; channels++ {
					for i, size := range sizes {
						if (i+channels+k)%every != 0 {
							continue
						}
						for _, kernels := range ways(d, channels) {
							if kernels == Fast && !p.onePass() {
								continue
							}
							n++
							s := shape{
								width: size[0], height: size[1], channels: channels, count: 1 + n%3,
								pad: n % 4, kernels: kernels, in: spacing(n % int(spacings)), out: spacing(n / 3 % int(spacings)), seed: uint64(n),
							}
							if n%2 == 0 {
								s.bandRows = 1 + n%41
							}
							if p.float() && n%3 == 0 {
								s.offset = 0.5
							}
							if !p.check(t, d, s) {
								return
							}
						}
					}
				}
			})
		}
	})
}

// TestRandomShapes tries BOXSUM_GPU_SHAPES random shapes.
func TestRandomShapes(t *testing.T) {
	count := 100
	if testing.Short() {
		count = 40
	}
	count = devtest.Count(t, "BOXSUM_GPU_SHAPES", count)
	eachDevice(t, func(t *testing.T, d *Device) {
		r := rand.New(rand.NewPCG(ref.Seed(t, 1), 2))
		values, good, some := 0, 0, pairsOf(d)
		for n := range count {
			p := some[r.IntN(len(some))]
			s := randomShape(r, p.float())
			s.seed = uint64(n)
			w := ways(d, s.channels)
			if s.kernels = w[r.IntN(len(w))]; s.kernels == Fast && !p.onePass() {
				s.kernels = Portable
			}
			if b := d.inner.Backend.CUDA(); b != nil { // most shapes would use the paths of small images
				b.Tuning.Path = []string{"", method.TilePath}[r.IntN(2)]
			}
			values += s.width * s.height * s.channels * s.count
			if p.check(t, d, s) {
				good++
			}
			if n+1-good >= 10 {
				t.Fatal("stopping after ten failures")
			}
		}
		fmt.Printf("%s: %d of %d random shapes, %d million values, equal the CPU\n", d.Info().Name, good, count, values/1e6)
	})
}

func randomShape(r *rand.Rand, float bool) shape {
	limit := 1 << 16
	if r.IntN(16) == 0 {
		limit = 1 << 20
	}
	scale := func(most float64) int { return int(math.Exp(r.Float64() * math.Log(most))) }
	s := shape{
		width: scale(5000), channels: 1 + r.IntN(4), count: 1,
		in: spacing(r.IntN(int(spacings))), out: spacing(r.IntN(int(spacings))), pad: r.IntN(3),
	}
	if r.IntN(10) == 0 {
		s.channels = 5 + r.IntN(9)
	}
	s.height = min(scale(5000), max(1, limit/(s.width*s.channels)))
	if r.IntN(3) == 0 {
		s.count = scale(float64(min(40, max(1, limit/(s.width*s.height*s.channels)))))
	}
	if r.IntN(3) == 0 {
		s.bandRows = 1 + r.IntN(s.height)
	}
	if float && r.IntN(2) == 0 {
		s.offset = float32(r.NormFloat64())
	}
	return s
}

// TestEmpty checks that an image without pixels has a table of zeros.
func TestEmpty(t *testing.T) {
	eachDevice(t, func(t *testing.T, d *Device) {
		for _, size := range [][2]int{{0, 0}, {0, 7}, {7, 0}} {
			for channels := 1; channels <= 3; channels++ {
				s := shape{width: size[0], height: size[1], channels: channels, count: 2, bandRows: 1, out: odd}
				pair{raster.U8, raster.U32, 0}.check(t, d, s)
				pair{raster.F32, raster.F32, raster.F64}.check(t, d, s)
			}
		}
	})
}

// TestWrap checks that integer tables wrap, and box sums stay exact.
func TestWrap(t *testing.T) {
	eachDevice(t, func(t *testing.T, d *Device) {
		const size = 300
		im, err := boxsum.NewImage[uint32](size, size, 1)
		if err != nil {
			t.Fatal(err)
		}
		for i := range im.Pix {
			im.Pix[i] = math.MaxUint32 - uint32(i)
		}
		table, err := Integrate[uint32](upload(t, d, im), nil)
		if err != nil {
			t.Fatal(err)
		}
		got := make([]uint32, 1)
		if err := table.SumBoxes(0, got, []image.Rectangle{image.Rect(size-1, size-1, size, size)}); err != nil {
			t.Fatal(err)
		}
		if want := im.Pix[len(im.Pix)-1]; got[0] != want {
			t.Errorf("the last pixel is %d, want %d", got[0], want)
		}
	})
}

// TestManyBoxes queries more boxes than fit in one launch.
func TestManyBoxes(t *testing.T) {
	eachDevice(t, func(t *testing.T, d *Device) {
		im := fixture.Noise[uint8](3, 40, 30, 3, 0)
		table, err := Integrate[uint64](upload(t, d, im), nil)
		if err != nil {
			t.Fatal(err)
		}
		host, err := table.Download(0)
		if err != nil {
			t.Fatal(err)
		}
		r := rand.New(rand.NewPCG(4, 4))
		boxes := make([]image.Rectangle, method.QueryBytes/24+1234)
		for i := range boxes {
			boxes[i] = image.Rect(r.IntN(41), r.IntN(31), r.IntN(41), r.IntN(31))
		}
		got, want := make([]uint64, 3*len(boxes)), make([]uint64, 3*len(boxes))
		if err := table.SumBoxes(0, got, boxes); err != nil {
			t.Fatal(err)
		}
		if err := host.SumBoxes(want, boxes); err != nil {
			t.Fatal(err)
		}
		for i := range got {
			if got[i] != want[i] {
				t.Fatalf("box %d: %d, want %d", i/3, got[i], want[i])
			}
		}
	})
}

// TestHostTables checks that the gaps between rows of tables on the host do not change.
func TestHostTables(t *testing.T) {
	eachDevice(t, func(t *testing.T, d *Device) {
		const width, height, channels, stride = 45, 33, 3, 46*3 + 5
		im := fixture.Noise[uint16](8, width, height, channels, 4)
		want, err := boxsum.Integrate[uint64](im, nil)
		if err != nil {
			t.Fatal(err)
		}
		device, err := Integrate[uint64](upload(t, d, im), nil)
		if err != nil {
			t.Fatal(err)
		}
		for name, write := range map[string]func(*boxsum.Table[uint64]) error{
			"DownloadInto":      func(dst *boxsum.Table[uint64]) error { return device.DownloadInto(0, dst) },
			"IntegrateHostInto": func(dst *boxsum.Table[uint64]) error { return boxsum.IntegrateInto(dst, im, &boxsum.Options{On: d}) },
			"IntegrateHostInto, in bands": func(dst *boxsum.Table[uint64]) error {
				return boxsum.IntegrateInto(dst, im, &boxsum.Options{On: d, BandRows: 4})
			},
		} {
			got := &boxsum.Table[uint64]{Sums: make([]uint64, stride*(height+1)), Stride: stride, Width: width, Height: height, Channels: channels}
			for i := range got.Sums {
				got.Sums[i] = guard
			}
			if err := write(got); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if err := fixture.SameTables(got, want); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			for i, v := range got.Sums {
				if i%stride >= (width+1)*channels && v != guard {
					t.Fatalf("%s wrote element %d of row %d", name, i%stride, i/stride)
				}
			}
		}
	})
}

// TestClearAtOnce checks that tables of images without pixels are filled at once, however many rows
// they have.
func TestClearAtOnce(t *testing.T) {
	eachDevice(t, func(t *testing.T, real *Device) {
		for _, size := range [][2]int{{0, 1000}, {1000, 0}, {0, 0}} {
			d, s := strictly(t, real)
			pixels := fixture.Noise[uint8](1, size[0], size[1], 3, 0)
			im, err := Upload(d, pixels, pixels, pixels)
			if err != nil {
				t.Fatal(err)
			}
			sums, err := NewTable[uint32](d, size[0], size[1], 3, 3)
			if err != nil {
				t.Fatal(err)
			}
			squares, err := NewTable[uint64](d, size[0], size[1], 3, 3)
			if err != nil {
				t.Fatal(err)
			}
			all := d.inner.Use(func() error {
				return d.inner.Backend.Fill(d.inner.Stream, sums.inner().At.Plane, guard, 3*sums.inner().At.Distance)
			})
			before := s.calls
			err = errors.Join(all, IntegrateSquaresInto(&SquaredTable[uint32, uint64]{sums, squares}, im, nil))
			if calls := s.calls - before; err != nil || calls != 2 {
				t.Errorf("%v: %d calls for two tables, %v", size, calls, err)
			}
			for i := range 3 {
				got, err := sums.Download(i)
				if err != nil {
					t.Fatal(err)
				}
				if n := slices.IndexFunc(got.Sums, func(sum uint32) bool { return sum != 0 }); n >= 0 {
					t.Errorf("%v: sum %d of table %d is %d", size, n, i, got.Sums[n])
				}
			}
			if err := errors.Join(d.Close(), s.left()); err != nil {
				t.Error(err)
			}
		}
	})
}

// TestClearBetween checks that rows of tables in larger memory are filled separately.
func TestClearBetween(t *testing.T) {
	eachDevice(t, func(t *testing.T, d *Device) {
		for s := range spacings {
			for _, size := range [][2]int{{0, 7}, {7, 0}} {
				a, bytes, err := guarded(d, devmem.Array{Element: raster.U32, Width: size[0], Height: size[1], Channels: 2, Count: 3, Border: 1}, s)
				if err != nil {
					t.Fatal(err)
				}
				table, pixels := &Table[uint32]{inside.NewArray(a)}, fixture.Noise[uint8](1, size[0], size[1], 2, 0)
				err = errors.Join(IntegrateInto(table, upload(t, d, pixels, pixels, pixels), nil), intact(&a, bytes))
				got, failed := table.Download(2)
				if err := errors.Join(err, failed); err != nil {
					t.Fatalf("%v, spacing %d: %v", size, s, err)
				}
				if slices.Max(got.Sums) != 0 {
					t.Errorf("%v, spacing %d: %v", size, s, got.Sums)
				}
			}
		}
	})
}
