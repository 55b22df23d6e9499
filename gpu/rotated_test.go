package gpu

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/gpu/internal/devmem"
	"github.com/boxsum/boxsum/gpu/internal/method"
	"github.com/boxsum/boxsum/internal/fixture"
	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/internal/ref"
	"github.com/boxsum/boxsum/rotated"
)

// latticeCell defines where a pixel lies, independently of both packages.
func latticeCell(x, y, width int, rot rotated.Rotation) (c, r int) {
	a, b := rot.A, rot.B
	if a < 0 {
		a, x = -a, width-1-x
	}
	if a > b {
		a, b, x, y = b, a, y, x
	}
	return x - a*y/b, y + a*x/b
}

// bruteBox returns the sum, area and sum of magnitudes of a box, pixel by pixel. The pixels have
// no gaps between rows.
func bruteBox[S boxsum.Sum](pixels []float64, s shape, rot rotated.Rotation, box rotated.Box, channel int) (sum S, area int64, magnitude float64) {
	for y := range s.height {
		for x := range s.width {
			if c, r := latticeCell(x, y, s.width, rot); box.C0 <= c && c < box.C1 && box.R0 <= r && r < box.R1 {
				p := pixels[(y*s.width+x)*s.channels+channel]
				sum += numberOf[S](p)
				area++
				magnitude += math.Abs(p)
			}
		}
	}
	return sum, area, magnitude
}

// someBox returns a box that begins and ends anywhere in the bounds and around them.
func someBox(r *rand.Rand, bounds rotated.Box) rotated.Box {
	const margin = 3
	c, n := bounds.C0-margin, bounds.C1-bounds.C0+2*margin
	y, m := bounds.R0-margin, bounds.R1-bounds.R0+2*margin
	return rotated.Box{C0: c + r.IntN(n), C1: c + r.IntN(n), R0: y + r.IntN(m), R1: y + r.IntN(m)}
}

// A rotatedPair holds the types that a test runs for.
type rotatedPair struct {
	name  string
	check func(d *Device, s shape, rot rotated.Rotation, boxes int) error
}

func rotatedSums[S boxsum.Sum](pixel raster.Type) rotatedPair {
	return rotatedPair{fmt.Sprintf("%s_%s", pixel, raster.TypeOf[S]()), func(d *Device, s shape, rot rotated.Rotation, boxes int) error {
		return checkRotated[S](d, pixel, s, rot, boxes)
	}}
}

var rotatedPairs = []rotatedPair{
	rotatedSums[uint32](raster.U8), rotatedSums[uint64](raster.U8), rotatedSums[float32](raster.U8), rotatedSums[float64](raster.U8), rotatedSums[int64](raster.U8),
	rotatedSums[uint64](raster.U16), rotatedSums[float64](raster.U16), rotatedSums[uint32](raster.U16),
	rotatedSums[uint32](raster.U32), rotatedSums[uint64](raster.U32),
	rotatedSums[int64](raster.I16), rotatedSums[float64](raster.I16), rotatedSums[int64](raster.I32),
	rotatedSums[float32](raster.F32), rotatedSums[float64](raster.F32), rotatedSums[float64](raster.F64),
}

// checkRotated computes rotated tables of one pair of types twice, among guard values, and compares
// random boxes with brute force, on the device and downloaded.
func checkRotated[S boxsum.Sum](d *Device, pixel raster.Type, s shape, rot rotated.Rotation, count int) error {
	im, images, err := place(d, pixel, s)
	if err != nil {
		return err
	}
	defer im.Close()
	table, err := NewRotatedTable[S](d, s.width, s.height, s.channels, s.count, rot)
	if err != nil {
		return err
	}
	defer table.Close()
	columns, rows := table.lattice.Shape.Size()
	guarded, bytes, err := guarded(d, devmem.Array{
		Element: raster.TypeNamed[S](), Width: columns, Height: rows, Channels: s.channels, Count: s.count << table.lattice.Shape.Split, Border: 1,
	}, s.out)
	if err := errors.Join(err, table.cells.Close()); err != nil {
		return err
	}
	table.cells = guarded
	r := rand.New(rand.NewPCG(s.seed, 9))
	bounds := table.Lattice().Bounds()
	boxes := []rotated.Box{{C0: math.MinInt, C1: math.MaxInt, R0: math.MinInt, R1: math.MaxInt}, {}}
	for range count {
		boxes = append(boxes, someBox(r, bounds))
	}
	i := r.IntN(s.count)
	got, again := make([]S, len(boxes)*s.channels), make([]S, len(boxes)*s.channels)
	for _, sums := range [][]S{got, again} {
		if err := table.tables().integrate(im, nil); err != nil {
			return err
		}
		if err := table.SumBoxes(i, sums, boxes); err != nil {
			return err
		}
	}
	host, err := table.Download(i)
	if err != nil {
		return err
	}
	e := raster.TypeNamed[S]()
	epsilon := map[raster.Type]float64{raster.F32: 0x1p-24, raster.F64: 0x1p-53}[e] * float64(4*(s.width+s.height)+64)
	var pixels []float64
	for y := range s.height {
		pixels = append(pixels, images[i].Floats(nil, y, 0, s.width*s.channels, 1)...)
	}
	_, _, all := bruteBox[S](pixels, s, rot, boxes[0], 0)
	for c := range s.channels {
		_, _, m := bruteBox[S](pixels, s, rot, boxes[0], c)
		all = max(all, m)
	}
	for n, box := range boxes {
		for c := range s.channels {
			want, area, _ := bruteBox[S](pixels, s, rot, box, c)
			g, h := got[n*s.channels+c], host.SumChannel(box, c)
			if g != again[n*s.channels+c] {
				return fmt.Errorf("box %v, channel %d: %v the first time, then %v", box, c, g, again[n*s.channels+c])
			}
			if !(math.Abs(float64(g)-float64(want)) <= epsilon*all) || !(math.Abs(float64(h)-float64(want)) <= 2*epsilon*all) || epsilon == 0 && (g != want || h != want) {
				return fmt.Errorf("box %v, channel %d: %v on the device, %v downloaded, not %v", box, c, g, h, want)
			}
			if a := table.Lattice().Area(box); a != area {
				return fmt.Errorf("box %v holds %d pixels, not %d", box, area, a)
			}
		}
	}
	return intact(&table.cells, bytes)
}

// quadrants holds ratios of each of the four orientations, besides random ones.
var quadrants = []struct {
	name   string
	ratios []rotated.Rotation
	random func(r *rand.Rand) rotated.Rotation
}{
	{"0 to 1", []rotated.Rotation{{A: 1, B: 1}, {A: 1, B: 2}, {A: 2, B: 3}, {A: 3, B: 5}, {A: 1, B: 10}, {A: 0, B: 1}, {A: 1, B: 1 << 30}},
		func(r *rand.Rand) rotated.Rotation {
			b := 1 + r.IntN(40)
			return rotated.Rotation{A: r.IntN(b + 1), B: b}
		}},
	{"-1 to 0", []rotated.Rotation{{A: -1, B: 1}, {A: -1, B: 2}, {A: -2, B: 3}, {A: -3, B: 5}, {A: -1, B: 10}, {A: 1 - 1<<30, B: 1 << 30}},
		func(r *rand.Rand) rotated.Rotation {
			b := 1 + r.IntN(40)
			return rotated.Rotation{A: -1 - r.IntN(b), B: b}
		}},
	{"above 1", []rotated.Rotation{{A: 5, B: 1}, {A: 2, B: 1}, {A: 3, B: 2}, {A: 5, B: 3}, {A: 10, B: 1}, {A: 1 << 30, B: 1}},
		func(r *rand.Rand) rotated.Rotation {
			b := 1 + r.IntN(20)
			return rotated.Rotation{A: b + 1 + r.IntN(40), B: b}
		}},
	{"below -1", []rotated.Rotation{{A: -5, B: 1}, {A: -2, B: 1}, {A: -3, B: 2}, {A: -5, B: 3}, {A: -10, B: 1}, {A: -1 << 30, B: 1}},
		func(r *rand.Rand) rotated.Rotation {
			b := 1 + r.IntN(20)
			return rotated.Rotation{A: -b - 1 - r.IntN(40), B: b}
		}},
}

// TestRotatedQuadrants compares random boxes of random images and ratios in each quadrant with
// brute force.
func TestRotatedQuadrants(t *testing.T) {
	ref.SkipRace(t)
	const boxes = 10
	eachDevice(t, func(t *testing.T, d *Device) {
		for q, quadrant := range quadrants {
			t.Run(quadrant.name, func(t *testing.T) {
				r := rand.New(rand.NewPCG(ref.Seed(t, 8), uint64(q)))
				for n := range ref.Trials(t, 80) {
					rot := quadrant.random(r)
					if n%2 == 0 {
						rot = quadrant.ratios[n/2%len(quadrant.ratios)]
					}
					s := shape{width: 1 + r.IntN(70), height: 1 + r.IntN(70), channels: 1, count: 1, pad: r.IntN(3), seed: r.Uint64()}
					p := rotatedPairs[0]
					if n%4 == 3 {
						s.channels, s.count, p = 1+r.IntN(5), 1+r.IntN(3), rotatedPairs[r.IntN(len(rotatedPairs))]
						s.in, s.out = spacing(r.IntN(int(spacings))), spacing(r.IntN(int(spacings)))
					}
					if n%16 == 5 { // many tiles in each direction
						s.width, s.height = 200+r.IntN(300), 100+r.IntN(200)
					}
					if b := d.inner.Backend.CUDA(); b != nil {
						b.Tuning.Path = []string{"", method.TilePath}[r.IntN(2)]
					}
					if err := p.check(d, s, rot, boxes); err != nil {
						t.Fatalf("%s, %v, %v: %v", p.name, s, rot, err)
					}
				}
			})
		}
	})
}

// TestRotatedLarge compares large tables, most of whose lattice is left out, with the CPU's.
func TestRotatedLarge(t *testing.T) {
	ref.SkipRace(t)
	eachDevice(t, func(t *testing.T, d *Device) {
		size := 1500
		if d.Info().CPU {
			size = 600
		}
		if testing.Short() {
			size = 200
		}
		for n, rot := range []rotated.Rotation{{A: 1, B: 2}, {A: -2, B: 3}, {A: 1, B: 1}, {A: -1, B: 1}, {A: 10, B: 9}, {A: -5, B: 1}, {A: 1, B: 10}, {A: 0, B: 1}} {
			for channels := 1; channels <= 1+2*(n%2); channels += 2 {
				width, height := size+37*n, size*2/3+channels
				im := fixture.Noise[uint8](uint64(n), width, height, channels, 0)
				want, err := rotated.Integrate[uint32](im, rot, nil)
				if err != nil {
					t.Fatal(err)
				}
				src, err := Upload(d, im)
				if err != nil {
					t.Fatal(err)
				}
				table, err := IntegrateRotated[uint32](src, rot, nil)
				if err != nil {
					t.Fatal(err)
				}
				host, err := table.Download(0)
				if err != nil {
					t.Fatal(err)
				}
				r := rand.New(rand.NewPCG(uint64(n), 3))
				boxes := make([]rotated.Box, 1000)
				for i := range boxes {
					boxes[i] = someBox(r, want.Bounds())
				}
				got := make([]uint32, len(boxes)*channels)
				if err := table.SumBoxes(0, got, boxes); err != nil {
					t.Fatal(err)
				}
				for i, box := range boxes {
					for c := range channels {
						if w, h := want.SumChannel(box, c), host.SumChannel(box, c); got[i*channels+c] != w || h != w {
							t.Fatalf("%d×%d along %v, channel %d of box %v: %d on the device, %d downloaded, want %d", width, height, rot, c, box, got[i*channels+c], h, w)
						}
					}
				}
				if err := errors.Join(table.Close(), src.Close()); err != nil {
					t.Fatal(err)
				}
			}
		}
	})
}

// TestRotatedTypes runs every pair of types, at sizes where tiles begin and end.
func TestRotatedTypes(t *testing.T) {
	ref.SkipRace(t)
	sizes := [][2]int{{1, 1}, {1, 90}, {90, 1}, {64, 64}, {257, 33}, {33, 257}, {129, 130}}
	eachDevice(t, func(t *testing.T, d *Device) {
		for k, p := range rotatedPairs {
			for i, size := range sizes {
				q := quadrants[(i+k)%len(quadrants)]
				s := shape{width: size[0], height: size[1], channels: 1 + (i+k)%6, count: 1 + i%2, seed: uint64(i), in: spacing(i % int(spacings)), out: spacing((i + k) % int(spacings))}
				rot := q.ratios[(i*3+k)%len(q.ratios)]
				if err := p.check(d, s, rot, 6); err != nil {
					t.Fatalf("%s, %v, %v: %v", p.name, s, rot, err)
				}
			}
		}
		// More channels than values in a row of a tile.
		for _, rot := range []rotated.Rotation{{A: 1, B: 2}, {A: 1, B: 1}} {
			s := shape{width: 5, height: 7, channels: 301, count: 2}
			if err := rotatedPairs[4].check(d, s, rot, 2); err != nil {
				t.Fatalf("%v, %v: %v", s, rot, err)
			}
		}
	})
}

// TestRotatedTooLarge checks that a table which does not fit the device is an error before the host
// does any work.
func TestRotatedTooLarge(t *testing.T) {
	eachDevice(t, func(t *testing.T, d *Device) {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := NewRotatedTable[uint32](d, 1<<20, 1<<20, 1, 1, rotated.Rotation{A: 1, B: 2})
		runtime.ReadMemStats(&after)
		if !errors.Is(err, boxsum.ErrMemory) && !errors.Is(err, boxsum.ErrInvalid) { // the latter if addresses have 32 bits
			t.Errorf("terabytes: %v", err)
		}
		if taken := after.TotalAlloc - before.TotalAlloc; taken > 1<<20 {
			t.Errorf("%d bytes of the host were taken for it", taken)
		}
	})
}
