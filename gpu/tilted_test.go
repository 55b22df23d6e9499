package gpu

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/gpu/internal/devmem"
	"github.com/boxsum/boxsum/gpu/internal/devtest"
	"github.com/boxsum/boxsum/gpu/internal/inside"
	"github.com/boxsum/boxsum/gpu/internal/method"
	"github.com/boxsum/boxsum/internal/fixture"
	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/internal/ref"
	"github.com/boxsum/boxsum/tilted"
)

// coneSums returns a tilted table, computed row by row: a cone is the one above it and the
// diagonals that end at its tip.
func coneSums[S boxsum.Sum](im *raster.Array, of func(float64) S) []S {
	n, row := im.Channels, (im.Width+1)*im.Channels
	table := make([]S, (im.Height+1)*row)
	falling, rising := make([]S, row+n), make([]S, row+n)
	var line []float64
	for y := range im.Height {
		above, sums := table[y*row:], table[(y+1)*row:]
		next := make([]S, row+n)
		line = im.Floats(line[:0], y, 0, im.Width*n, 1)
		for i := range row {
			var p S
			if i >= n {
				p = of(line[i-n])
				next[i] = falling[i-n]
			}
			next[i] += p
			sums[i] = above[i] + next[i] + rising[i+n]
			rising[i] = rising[i+n] + p
		}
		falling = next
	}
	return table
}

// TestConeSums compares the reference itself with the definition.
func TestConeSums(t *testing.T) {
	im := fixture.Noise[uint8](1, 9, 7, 2, 1)
	pixels := arrayOfImage(im)
	table := coneSums(&pixels, numberOf[int64])
	for y := range im.Height + 1 {
		for x := range im.Width + 1 {
			for c := range im.Channels {
				var want int64
				for py := range im.Height {
					for px := range im.Width {
						if across, up := px-(x-1), (y-1)-py; max(across, -across) <= up {
							want += int64(im.Row(py)[px*im.Channels+c])
						}
					}
				}
				if got := table[(y*(im.Width+1)+x)*im.Channels+c]; got != want {
					t.Fatalf("entry (%d, %d) is %d, want %d", x, y, got, want)
				}
			}
		}
	}
}

// A tiltedPair holds the types that a test runs for.
type tiltedPair struct {
	name  string
	check func(t *testing.T, d *Device, s shape) bool
}

func tiltedSums[S boxsum.Sum](pixel raster.Type) tiltedPair {
	return tiltedPair{fmt.Sprintf("%s_%s", pixel, raster.TypeOf[S]()), checkTilted(pixel, numberOf[S], func(t, im *devmem.Array) error {
		return tables{method: method.Tilted{}, sums: t, noOffset: noTiltedOffset}.integrate(im, nil)
	})}
}

// tiltedSquares computes tables of squares Q beside sums of another type.
func tiltedSquares[Q boxsum.Square](pixel, sum raster.Type) tiltedPair {
	square := func(p float64) Q { return numberOf[Q](p) * numberOf[Q](p) }
	return tiltedPair{fmt.Sprintf("%s squared_%s", pixel, raster.TypeOf[Q]()), checkTilted(pixel, square, func(t, im *devmem.Array) error {
		sums, err := im.Device.Make(devmem.Array{Element: sum, Width: im.Width, Height: im.Height, Channels: im.Channels, Count: im.Count, Border: 1})
		if err != nil {
			return err
		}
		return closeAfter(&sums, tables{method: method.Tilted{}, sums: &sums, squares: t, noOffset: noTiltedOffset}.integrate(im, nil))
	})}
}

// numberOf converts a pixel, of which float64 holds every value.
func numberOf[S boxsum.Sum](p float64) S {
	if raster.TypeOf[S]().Float() {
		return S(p)
	}
	return S(int64(p))
}

var tiltedPairs = []tiltedPair{
	tiltedSums[uint32](raster.U8), tiltedSums[uint64](raster.U8), tiltedSums[float32](raster.U8), tiltedSums[float64](raster.U8), tiltedSums[int64](raster.U8),
	tiltedSums[uint64](raster.U16), tiltedSums[float64](raster.U16), tiltedSums[uint32](raster.U16),
	tiltedSums[uint32](raster.U32), tiltedSums[uint64](raster.U32),
	tiltedSums[int64](raster.I16), tiltedSums[float64](raster.I16), tiltedSums[int64](raster.I32),
	tiltedSums[float32](raster.F32), tiltedSums[float64](raster.F32), tiltedSums[float64](raster.F64),

	tiltedSquares[uint64](raster.U8, raster.U32), tiltedSquares[uint64](raster.U16, raster.U64),
	tiltedSquares[uint64](raster.U32, raster.U64), tiltedSquares[float64](raster.U32, raster.U64),
	tiltedSquares[uint64](raster.I16, raster.I64), tiltedSquares[uint64](raster.I16, raster.F64), tiltedSquares[float64](raster.I16, raster.I64), tiltedSquares[uint64](raster.U16, raster.U32), tiltedSquares[uint64](raster.I32, raster.I64), tiltedSquares[float64](raster.I32, raster.I64),
	tiltedSquares[float64](raster.F32, raster.F32), tiltedSquares[float64](raster.F64, raster.F64),
}

// tiltedPairsOf returns the pairs to test on a device.
func tiltedPairsOf(d *Device) []tiltedPair {
	return devtest.SelectPairs(d.Info().CPU, tiltedPairs, func(p tiltedPair) string { return p.name },
		"uint8_uint32", "uint16_float64", "uint32_uint64", "int16_int64", "float32_float32", "uint8 squared_uint64", "int32 squared_float64")
}

// checkTilted computes tilted tables of one pair of types twice, among guard values, and compares
// them with the definition.
func checkTilted[S boxsum.Sum](pixel raster.Type, of func(float64) S, integrate func(t, im *devmem.Array) error) func(*testing.T, *Device, shape) bool {
	return func(t *testing.T, d *Device, s shape) bool {
		t.Helper()
		err := func() error {
			im, images, err := place(d, pixel, s)
			if err != nil {
				return err
			}
			defer im.Close()
			sums, bytes, err := room(d, s, raster.TypeNamed[S]())
			if err != nil {
				return err
			}
			plain := &Table[S]{inside.NewArray(*sums)}
			table := &TiltedTable[S]{inside.NewArray(*plain.inner())}
			defer table.Close()
			var first []*boxsum.Table[S]
			for range 2 {
				if err := integrate(table.inner(), im); err != nil {
					return err
				}
				*plain.inner() = *table.inner()
				for i := range images {
					got, err := plain.Download(i)
					if err != nil {
						return err
					}
					if len(first) < s.count {
						first = append(first, got)
						if err := isTilted(got, &images[i], of); err != nil {
							return fmt.Errorf("image %d: %w", i, err)
						}
					} else if err := fixture.SameTables(got, first[i]); err != nil {
						return fmt.Errorf("image %d a second time: %w", i, err)
					}
				}
			}
			if err := tiltedAnswers(table, s.count-1, s.seed); err != nil {
				return err
			}
			return intact(table.inner(), bytes)
		}()
		if err != nil {
			t.Errorf("%s to %s, %v: %v", pixel, raster.TypeNamed[S](), s, err)
		}
		return err == nil
	}
}

// tiltedAnswers compares box sums of table i on the device with those of the downloaded table.
func tiltedAnswers[S boxsum.Sum](table *TiltedTable[S], i int, seed uint64) error {
	host, err := table.Download(i)
	if err != nil {
		return err
	}
	r := rand.New(rand.NewPCG(seed, 45))
	boxes := []tilted.Box{{}, {X: table.inner().Width, Y: table.inner().Height}}
	for range 200 {
		w, h := r.IntN(table.inner().Height/2+1), r.IntN(table.inner().Height/2+1)
		if box := (tilted.Box{X: r.IntN(table.inner().Width + 1), Y: r.IntN(table.inner().Height - w/2 + 1), W: w, H: h}); host.Contains(box) {
			boxes = append(boxes, box)
		}
	}
	got, want := make([]S, len(boxes)*table.inner().Channels), make([]S, len(boxes)*table.inner().Channels)
	if err := errors.Join(table.SumBoxes(i, got, boxes), host.SumBoxes(want, boxes)); err != nil {
		return err
	}
	for n := range got {
		if got[n] != want[n] {
			return fmt.Errorf("box %+v sums to %v on the device and %v on the host", boxes[n/table.inner().Channels], got[n], want[n])
		}
	}
	return nil
}

// isTilted compares a table with the definition: integers bit for bit, floats within the documented
// rounding errors.
func isTilted[S boxsum.Sum](got *boxsum.Table[S], im *raster.Array, of func(float64) S) error {
	row := (im.Width + 1) * im.Channels
	e := raster.TypeNamed[S]()
	float := e == raster.F32 || e == raster.F64
	var want []S
	var exact, bound []float64
	if float {
		exact = coneSums(im, func(p float64) float64 { return float64(of(p)) })
		bound = coneSums(im, func(p float64) float64 { return math.Abs(float64(of(p))) })
	} else {
		want = coneSums(im, of)
	}
	epsilon := 0x1p-24
	if e == raster.F64 {
		epsilon = 0x1p-52 // the reference rounds too
	}
	epsilon *= float64(im.Height)/16 + 150
	for y := range im.Height + 1 {
		for i := range row {
			g := got.Sums[y*got.Stride+i]
			if float && !(math.Abs(float64(g)-exact[y*row+i]) <= epsilon*bound[y*row+i]) {
				return fmt.Errorf("entry (%d, %d) channel %d is %v, not %v", i/im.Channels, y, i%im.Channels, g, exact[y*row+i])
			}
			if !float && g != want[y*row+i] {
				return fmt.Errorf("entry (%d, %d) channel %d is %v, not %v", i/im.Channels, y, i%im.Channels, g, want[y*row+i])
			}
		}
	}
	return nil
}

// TestTiltedEqualsCPU checks that downloaded tables equal the CPU's bit for bit.
func TestTiltedEqualsCPU(t *testing.T) {
	eachDevice(t, func(t *testing.T, d *Device) {
		im := fixture.Noise[uint8](2, 300, 200, 3, 5)
		want, err := tilted.Integrate[uint32](im, nil)
		if err != nil {
			t.Fatal(err)
		}
		table, err := IntegrateTilted[uint32](upload(t, d, im), nil)
		if err != nil {
			t.Fatal(err)
		}
		got, err := table.Download(0)
		if err != nil {
			t.Fatal(err)
		}
		for y := range im.Height + 1 {
			for x := range im.Width + 1 {
				for c := range im.Channels {
					if g, w := got.At(x, y, c), want.At(x, y, c); g != w {
						t.Fatalf("entry (%d, %d) channel %d is %d, want %d", x, y, c, g, w)
					}
				}
			}
		}
	})
}

// tiltedSizes holds sizes where tiles and strips begin and end.
var tiltedSizes = [][2]int{
	{1, 1}, {1, 2}, {2, 1}, {1, 131}, {601, 1}, {3, 5}, {31, 33}, {32, 64}, {33, 65}, {64, 97},
	{447, 40}, {449, 33}, {193, 34}, {961, 66}, {4, 200}, {1031, 37}, {70, 140},
}

func TestTilted(t *testing.T) {
	ref.SkipRace(t)
	eachDevice(t, func(t *testing.T, d *Device) {
		n := 0
		for k, p := range tiltedPairsOf(d) {
			every := 7 // of the sizes and channels, so that the pairs together cover all of them
			if k == 0 {
				every = 2
				if devtest.Few(d.Info().CPU) {
					every = 4
				}
			}
			if !d.Info().CPU {
				every = 1 + every/4
			}
			t.Run(p.name, func(t *testing.T) {
				for channels := 1; channels <= 5; channels++ {
					for i, size := range tiltedSizes {
						if (i+channels+k)%every != 0 {
							continue
						}
						n++
						s := shape{
							width: size[0], height: size[1], channels: channels, count: 1 + n%3, pad: n % 4,
							in: spacing(n % int(spacings)), out: spacing(n / 3 % int(spacings)), seed: uint64(n),
						}
						if channels == 1 && n%2 == 0 {
							s.in, s.out = own, own
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

func TestTiltedRandom(t *testing.T) {
	count := 60
	if testing.Short() {
		count = 15
	}
	eachDevice(t, func(t *testing.T, d *Device) {
		r, some := rand.New(rand.NewPCG(5, 45)), tiltedPairsOf(d)
		for n := range count {
			s := randomShape(r, false)
			s.seed, s.height = uint64(n), min(s.height, 200)
			if r.IntN(2) == 0 {
				s.channels, s.in, s.out = 1, own, own
			}
			if !some[r.IntN(len(some))].check(t, d, s) {
				return
			}
		}
	})
}

// TestTiltedBoxesAreClipped compares boxes that extend beyond the image on any side with package
// tilted.
func TestTiltedBoxesAreClipped(t *testing.T) {
	eachDevice(t, func(t *testing.T, d *Device) {
		checkClipped[uint32](t, d, fixture.Noise[uint8](1, 23, 17, 2, 1), fixture.Noise[uint8](2, 23, 17, 2, 0))
		checkClipped[int64](t, d, fixture.Noise[int16](3, 40, 9, 1, 0))
		checkClipped[uint64](t, d, fixture.Noise[uint8](4, 5, 30, 3, 0))
	})
}

func checkClipped[S boxsum.Sum, P boxsum.Pixel](t *testing.T, d *Device, images ...boxsum.Image[P]) {
	t.Helper()
	table, err := IntegrateTilted[S](upload(t, d, images...), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer table.Close()
	random := rand.New(rand.NewPCG(7, 7))
	for i, im := range images {
		cpu, err := tilted.Integrate[S](im, nil)
		if err != nil {
			t.Fatal(err)
		}
		boxes := []tilted.Box{{}, {X: math.MinInt, Y: 3, W: 5, H: 5}, {X: math.MinInt32, Y: math.MinInt32, W: math.MaxInt32, H: math.MaxInt32}, {X: 3, Y: 3, W: -1, H: 4}}
		var left, right, above, below, inside bool
		for range 200 {
			box := tilted.Box{X: random.IntN(3*im.Width+6) - im.Width - 3, Y: random.IntN(3*im.Height) - im.Height, W: random.IntN(8), H: random.IntN(8)}
			left, right = left || box.X-box.H < 0, right || box.X+box.W > im.Width
			above, below = above || box.Y < 0, below || box.Y+box.W+box.H > im.Height
			inside = inside || cpu.Contains(box)
			boxes = append(boxes, box)
		}
		if !left || !right || !above || !below || !inside {
			t.Fatalf("boxes beyond no side: %t %t %t %t, inside %t", left, right, above, below, inside)
		}
		got, want := make([]S, len(boxes)*im.Channels), make([]S, len(boxes)*im.Channels)
		if err := errors.Join(cpu.SumBoxes(want, boxes), table.SumBoxes(i, got, boxes)); err != nil {
			t.Fatal(err)
		}
		for n := range want {
			if got[n] != want[n] {
				t.Fatalf("image %d, %+v: %v, want %v", i, boxes[n/im.Channels], got[n], want[n])
			}
		}
	}
}
