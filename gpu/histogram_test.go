package gpu

import (
	"errors"
	"fmt"
	"image"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/gpu/internal/devmem"
	"github.com/boxsum/boxsum/gpu/internal/devtest"
	"github.com/boxsum/boxsum/gpu/internal/driver"
	"github.com/boxsum/boxsum/gpu/internal/inside"
	"github.com/boxsum/boxsum/gpu/internal/method"
	"github.com/boxsum/boxsum/histogram"
	"github.com/boxsum/boxsum/internal/fixture"
	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/internal/ref"
)

// histogramPixels returns an image with values at, between and beyond the edges of bins.
func histogramPixels[P boxsum.Pixel](s shape, bins histogram.Bins) boxsum.Image[P] {
	im := fixture.Noise[P](s.seed, s.width, s.height, s.channels, s.pad)
	r := rand.New(rand.NewPCG(s.seed, 1))
	float := raster.TypeNamed[P]() == raster.F32 || raster.TypeNamed[P]() == raster.F64
	for i := range im.Pix {
		if r.IntN(4) == 0 {
			continue // noise
		}
		v := bins.Edge(r.IntN(bins.N + 1))
		switch r.IntN(4) {
		case 0:
			v += (bins.High - bins.Low) / float64(3*bins.N)
		case 1:
			v = math.Nextafter(v, v-1)
		case 2:
			if float && r.IntN(8) == 0 {
				v = []float64{math.NaN(), math.Inf(1), math.Inf(-1)}[r.IntN(3)]
			}
		}
		if !float {
			v = min(max(math.Trunc(v), 0), math.MaxInt16)
		}
		im.Pix[i] = P(v)
	}
	return im
}

// histogramWays returns the kernels for integral histograms that a device has.
func histogramWays(d *Device) []Kernels {
	if b := d.inner.Backend.CUDA(); b != nil && b.Major >= 8 {
		return []Kernels{Fast, Portable, AutoKernels}
	}
	return []Kernels{AutoKernels, Portable}
}

// checkHistogram computes integral histograms among guard values with all kernels, and compares
// them with those of the CPU.
func checkHistogram[P boxsum.Pixel](d *Device, s shape, bins histogram.Bins) error {
	over, err := histogram.Over[P](bins)
	if err != nil {
		return err
	}
	in, _, err := guarded(d, devmem.Array{Element: raster.TypeNamed[P](), Width: s.width, Height: s.height, Channels: s.channels, Count: s.count}, s.in)
	if err != nil {
		return err
	}
	im := &Image[P]{inside.NewArray(in)}
	defer im.Close()
	var want []*histogram.Table[uint32]
	for i := range s.count {
		pixels := s
		pixels.seed += uint64(i)
		src := histogramPixels[P](pixels, over)
		table, err := histogram.Integrate(src, bins, nil)
		if err := errors.Join(err, im.Set(i, src)); err != nil {
			return err
		}
		want = append(want, table)
	}
	h, err := NewHistogram[P](d, s.width, s.height, s.channels, s.count, bins)
	if err != nil {
		return err
	}
	defer h.Close()
	if err := h.table.Close(); err != nil {
		return err
	}
	bytes := int64(0)
	*h.table.inner(), bytes, err = guarded(d, devmem.Array{Element: raster.U32, Width: s.width, Height: s.height, Channels: s.channels * bins.N, Count: s.count, Border: 1}, s.out)
	if err != nil {
		return err
	}
	for _, way := range histogramWays(d) {
		err := d.inner.Use(func() error {
			return d.inner.Backend.Fill(d.inner.Stream, driver.Plane{Memory: h.table.inner().At.Memory}, guard, bytes)
		})
		if err != nil {
			return err
		}
		if err := IntegrateHistogramInto(h, im, &Options{Kernels: way}); err != nil {
			return err
		}
		for i := range want {
			got, err := h.Download(i)
			if err != nil {
				return err
			}
			if got.Bins != over {
				return fmt.Errorf("bins are %+v, not %+v", got.Bins, over)
			}
			if at := firstDifference(got.Counts, want[i].Counts); at >= 0 {
				entry := at / (s.channels * bins.N)
				return fmt.Errorf("kernels %v, image %d: value %d of entry (%d, %d) is %d, not %d", way, i, at%(s.channels*bins.N),
					entry%(s.width+1), entry/(s.width+1), got.Counts[at], want[i].Counts[at])
			}
		}
		if err := intact(h.table.inner(), bytes); err != nil {
			return fmt.Errorf("kernels %v: %w", way, err)
		}
	}
	r := rand.New(rand.NewPCG(s.seed, 2))
	boxes := []image.Rectangle{{}, image.Rect(-3, -3, s.width+3, s.height+3)}
	for range 20 {
		boxes = append(boxes, image.Rect(r.IntN(s.width+1), r.IntN(s.height+1), r.IntN(s.width+1), r.IntN(s.height+1)))
	}
	n := len(boxes) * s.channels * bins.N
	got, counts := make([]uint32, n), make([]uint32, n)
	if err := errors.Join(h.Histograms(s.count-1, got, boxes), want[s.count-1].Histograms(counts, boxes)); err != nil {
		return err
	}
	if at := firstDifference(got, counts); at >= 0 {
		return fmt.Errorf("count %d of the boxes is %d, not %d", at, got[at], counts[at])
	}
	return nil
}

// firstDifference returns the index where two slices differ, or -1.
func firstDifference(a, b []uint32) int {
	if slices.Equal(a, b) {
		return -1
	}
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return i
		}
	}
	return min(len(a), len(b))
}

// A histogramType holds the pixels that a test runs for.
type histogramType struct {
	name  string
	check func(d *Device, s shape, bins histogram.Bins) error
	open  bool // the range may be left zero
}

// The first types run everywhere. The others, which share the source, run only where compiling
// kernels does not take seconds for each. TestLimits covers all types.
var histogramTypes = []histogramType{
	{"u8", checkHistogram[uint8], true}, {"f32", checkHistogram[float32], false}, {"i16", checkHistogram[int16], true},
	{"u16", checkHistogram[uint16], true}, {"u32", checkHistogram[uint32], false}, {"i32", checkHistogram[int32], false},
	{"f64", checkHistogram[float64], false},
}

func histogramTypesOf(d *Device) []histogramType {
	if d.Info().CPU {
		return histogramTypes[:3]
	}
	return histogramTypes
}

// TestLimits checks that limits put every value into the same bin as the bins do.
func TestLimits(t *testing.T) {
	for _, bins := range histogramBins[1:] {
		limitsAgree[uint8](t, bins)
		limitsAgree[uint16](t, bins)
		limitsAgree[int16](t, bins)
		limitsAgree[uint32](t, bins)
		limitsAgree[int32](t, bins)
		limitsAgree[float32](t, bins)
		limitsAgree[float64](t, bins)
	}
}

func limitsAgree[P boxsum.Pixel](t *testing.T, bins histogram.Bins) {
	t.Helper()
	raw, count := method.LimitsOf(raster.TypeOf[P](), bins.N, bins.Clamp, bins)
	var limits []P
	if count > 0 {
		limits = unsafe.Slice((*P)(unsafe.Pointer(&raw[0])), count)
	}
	im := histogramPixels[P](shape{width: 500, height: 4, channels: 1, seed: 3}, bins)
	for _, v := range im.Pix {
		got := -1
		for _, l := range limits {
			if v >= l {
				got++
			}
		}
		if got >= bins.N {
			got = -1
		}
		if want := bins.Index(float64(v)); got != want {
			t.Fatalf("%T %v is in bin %d of %+v, not in %d", v, v, got, bins, want)
		}
	}
}

// histogramBins holds few and many bins, with ranges that end among the values, at their ends and
// beyond.
var histogramBins = []histogram.Bins{
	{N: 32}, {N: 2, Low: 10, High: 200}, {N: 3, Low: 0, High: 256, Clamp: true}, {N: 5, Low: -7.5, High: 90.1}, {N: 8, Low: 0.1, High: 0.7},
	{N: 16, Low: 0, High: 255}, {N: 37, Low: 30, High: 30.5, Clamp: true}, {N: 64, Low: 0, High: 1 << 16}, {N: 255, Low: -1, High: 254}, {N: 256, Low: 0, High: 256}, {N: 33, Low: 0, High: 1e9},
}

func TestHistogram(t *testing.T) {
	ref.SkipRace(t)
	sizes := [][2]int{{1, 1}, {1, 70}, {133, 1}, {3, 5}, {32, 32}, {33, 65}, {64, 64}, {65, 31}, {127, 66}, {7, 131}}
	eachDevice(t, func(t *testing.T, d *Device) {
		for k, p := range histogramTypesOf(d) {
			t.Run(p.name, func(t *testing.T) {
				for n := range len(sizes) * len(histogramBins) {
					if every := 6; d.Info().CPU && k > 0 && (n+k)%every != 0 {
						continue
					}
					size, bins := sizes[n%len(sizes)], histogramBins[n%len(histogramBins)]
					if !p.open && bins.Low == 0 && bins.High == 0 {
						bins.High = 300
					}
					s := shape{
						width: size[0], height: size[1], channels: 1 + n%7/4 + n%11/10*2, count: 1 + n%5/4, pad: n % 3,
						in: spacing(n / 2 % int(spacings)), out: spacing(n / 3 % int(spacings)), seed: uint64(100*k + n),
					}
					if n%2 == 0 {
						s.in, s.out = own, own
					}
					if err := p.check(d, s, bins); err != nil {
						t.Fatalf("%v, %+v: %v", s, bins, err)
					}
				}
			})
		}
	})
}

func TestHistogramRandom(t *testing.T) {
	ref.SkipRace(t)
	eachDevice(t, func(t *testing.T, d *Device) {
		count := 12
		if !d.Info().CPU {
			count = 200
		}
		r := rand.New(rand.NewPCG(11, 12))
		for n := range count {
			bins := histogram.Bins{N: 2 + r.IntN(1+r.IntN(255)), Low: float64(r.IntN(100)), Clamp: r.IntN(2) == 0}
			bins.High = bins.Low + 1 + 200*r.Float64()
			s := shape{width: 1 + r.IntN(300), height: 1 + r.IntN(200), channels: 1 + r.IntN(1+r.IntN(4)), count: 1 + r.IntN(2), pad: r.IntN(4), seed: uint64(n)}
			if s.width*s.height*s.channels*bins.N > 2e6 {
				s.height = 1 + 2e6/(s.width*s.channels*bins.N)
			}
			types := histogramTypesOf(d)
			if err := types[r.IntN(len(types))].check(d, s, bins); err != nil {
				t.Fatalf("%v, %+v: %v", s, bins, err)
			}
		}
	})
}

// TestHistogramHost computes histograms from host memory to host memory, whole and in bands, on
// request and for lack of memory.
func TestHistogramHost(t *testing.T) {
	eachDevice(t, func(t *testing.T, d *Device) {
		bins := histogram.Bins{N: 12, Low: 3, High: 240}
		src := fixture.Noise[uint8](5, 101, 77, 2, 3)
		want, err := histogram.Integrate(src, bins, nil)
		if err != nil {
			t.Fatal(err)
		}
		for n, rows := range []int{0, 1, 32, 50, 77, 200, 33, 7} {
			ways := histogramWays(d)
			way := ways[n%len(ways)]
			got, err := histogram.Integrate(src, bins, &histogram.Options{On: d, BandRows: rows, Level: levelOf(way)})
			if err != nil {
				t.Fatal(err)
			}
			if at := firstDifference(got.Counts, want.Counts); at >= 0 {
				t.Errorf("in bands of %d, kernels %v: count %d is %d, want %d", rows, way, at, got.Counts[at], want.Counts[at])
			}
		}
		for _, size := range [][2]int{{0, 5}, {5, 0}, {0, 0}} {
			got, err := histogram.Integrate(boxsum.Image[uint8]{Width: size[0], Height: size[1]}, bins, &histogram.Options{On: d})
			if err != nil || slices.Max(got.Counts) != 0 {
				t.Errorf("of %v: %v", size, err)
			}
		}
		if d.Info().CPU {
			limited, s := strictly(t, d)
			s.limit = 1 << 20 // the table takes 0.77 MB, and its counts more
			got, err := histogram.Integrate(src, bins, &histogram.Options{On: limited})
			if err != nil {
				t.Fatal(err)
			}
			if at := firstDifference(got.Counts, want.Counts); at >= 0 {
				t.Errorf("with little memory: count %d is %d, want %d", at, got.Counts[at], want.Counts[at])
			}
			s.limit = 10_000
			if _, err := histogram.Integrate(src, bins, &histogram.Options{On: limited}); !errors.Is(err, boxsum.ErrMemory) {
				t.Errorf("not even a row fits: %v", err)
			}
		}
	})
}

// TestHistogramWide tests wide images, whose rows are counted in several chunks, and batches of
// images that are processed in several cohorts of strips.
func TestHistogramWide(t *testing.T) {
	ref.SkipRace(t)
	numbers := []int{2, 12, 32, 70}
	if testing.Short() {
		numbers = []int{32}
	}
	eachDevice(t, func(t *testing.T, d *Device) {
		for n, s := range []shape{
			{width: 2049, height: 35, channels: 1, count: 1}, {width: 6001, height: 3, channels: 2, count: 1},
			{width: 300, height: 40, channels: 1, count: 70}, {width: 65535, height: 2, channels: 1, count: 1}, {width: 17, height: 3000, channels: 1, count: 2},
		} {
			s.seed = uint64(n)
			for k, bins := range numbers {
				if devtest.Few(d.Info().CPU) && (n+k)%2 != 0 {
					continue
				}
				if err := checkHistogram[uint8](d, s, histogram.Bins{N: bins, Low: 3, High: 200}); err != nil {
					t.Errorf("%v, %d bins: %v", s, bins, err)
				}
			}
		}
		wide, err := NewImage[uint8](d, 1<<16, 1, 1, 1)
		if err != nil {
			t.Fatal(err)
		}
		defer wide.Close()
		if _, err := IntegrateHistogram(wide, histogram.Bins{N: 2}, &Options{Kernels: Fast}); !errors.Is(err, boxsum.ErrTypes) {
			t.Errorf("rows of 2^16 pixels do not fit 16 bits: %v", err)
		}
	})
}

// TestHistogramErrors checks the errors of invalid calls.
func TestHistogramErrors(t *testing.T) {
	eachDevice(t, func(t *testing.T, d *Device) {
		src := fixture.Noise[uint8](1, 30, 20, 2, 0)
		im, floats := upload(t, d, src), upload(t, d, fixture.Noise[float32](1, 30, 20, 2, 0))
		bins := histogram.Bins{N: 8}
		h, err := IntegrateHistogram(im, bins, nil)
		if err != nil {
			t.Fatal(err)
		}
		other, err := NewHistogram[uint8](d, 30, 21, 2, 1, bins)
		if err != nil {
			t.Fatal(err)
		}
		host, _ := histogram.NewTable[uint32](30, 20, 2, histogram.Bins{N: 8, High: 255})
		short := src
		short.Pix = short.Pix[:5]
		for name, err := range map[string]error{
			"one bin":              second(IntegrateHistogram(im, histogram.Bins{N: 1}, nil)),
			"too many bins":        second(IntegrateHistogram(im, histogram.Bins{N: 257}, nil)),
			"absurdly many bins":   second(NewHistogram[uint8](d, 3, 3, 1, 1, histogram.Bins{N: math.MaxInt})),
			"floats without range": second(IntegrateHistogram(floats, bins, nil)),
			"a range of nothing":   second(IntegrateHistogram(im, histogram.Bins{N: 8, Low: 3, High: 3}, nil)),
			"a negative side":      second(NewHistogram[uint8](d, 3, -3, 1, 1, bins)),
			"an overflowing size":  second(NewHistogram[uint8](d, 1<<30, 1<<30, 1, 1, bins)),
			"too many channels":    second(NewHistogram[uint8](d, 1, 1, 1<<29, 1, bins)),
			"no images":            second(NewHistogram[uint8](d, 3, 3, 1, 0, bins)),
			"no image":             second(IntegrateHistogram((*Image[uint8])(nil), bins, nil)),
			"no histogram":         IntegrateHistogramInto(nil, im, nil),
			"another size":         IntegrateHistogramInto(other, im, nil),
			"another type":         IntegrateHistogramInto(h, floats, nil),
			"an offset":            IntegrateHistogramInto(h, im, &Options{Offset: 1}),
			"no such kernels":      IntegrateHistogramInto(h, im, &Options{Kernels: Fast + 1}),
			"no such number":       second(h.Download(1)),
			"into other bins":      h.DownloadInto(0, host),
			"into nothing":         h.DownloadInto(0, nil),
			"no room":              h.Histograms(0, make([]uint32, 15), []image.Rectangle{{}}),
			"too few pixels":       second(histogram.Integrate(short, bins, &histogram.Options{On: d})),
		} {
			if err == nil {
				t.Errorf("no error for %s", name)
			}
		}
		if slow := !slices.Contains(histogramWays(d), Fast); slow != (IntegrateHistogramInto(h, im, &Options{Kernels: Fast}) != nil) {
			t.Errorf("the fast kernels are an error: %v", !slow)
		}
		var none *Histogram
		if err := errors.Join(none.Close(), h.Close(), h.Close(), other.Close()); err != nil {
			t.Error(err)
		}
		if _, err := h.Download(0); !errors.Is(err, boxsum.ErrClosed) {
			t.Errorf("after Close: %v", err)
		}
	})
}
