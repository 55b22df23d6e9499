package boxsum_test

import (
	"errors"
	"fmt"
	"image"
	"math"
	"math/big"
	"math/rand/v2"
	"os"
	"runtime"
	"strconv"
	"sync"
	"testing"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/internal/ref"
	"github.com/boxsum/boxsum/internal/typed"
	"github.com/boxsum/boxsum/rotated"
	"github.com/boxsum/boxsum/tilted"
	"github.com/boxsum/boxsum/volume"
)

// TestProof compares means, variances and deviations of random boxes with big integers:
// for every type of pixels, sums and squares, every kind of table, one and several
// channels, and up to 30000 pixels a side. BOXSUM_BOXES is the total number of boxes;
// scripts/test-long.sh sets it to a million, which includes large images.
func TestProof(t *testing.T) {
	boxes := 40_000
	if testing.Short() {
		boxes = 2_000
	}
	if ref.Race { // race detection is slow, and other tests fill tables under it
		boxes /= 10
	}
	if text := os.Getenv("BOXSUM_BOXES"); text != "" {
		var err error
		if boxes, err = strconv.Atoi(text); err != nil {
			t.Fatal(err)
		}
	}
	p := &proof{large: boxes >= 1_000_000}
	all := p.tables()
	if ref.Race {
		all = all[:2]
	}
	for i, table := range all {
		p.boxes = boxes/len(all)*12/10 + 1 // plus a fifth, because not every pair has all kinds of tables
		t.Run(table.name, func(t *testing.T) { table.prove(p, t, rand.New(rand.NewPCG(uint64(i), 16))) })
	}
	if p.large {
		t.Run("30000x3000", func(t *testing.T) {
			pairOf(raster.U8, raster.U32, raster.U64).upright(p, t, rand.New(rand.NewPCG(1, 1)), newScene(rand.New(rand.NewPCG(2, 2)), value{0, 255, 0}, 30_000, 3_000, 1, 1), 10_000)
		})
		t.Run("30000x30000", p.largest)
	}
	t.Logf("%d boxes, of which %d are NaN", p.asked, p.refused)
}

type proof struct {
	large          bool
	boxes          int // for each pair of types
	sync.Mutex         // of what follows
	asked, refused int
}

// proven holds the types of pixels, sums and squares of tables.
type proven struct {
	name               string
	pixel, sum, square raster.Type
}

func (p *proof) tables() (all []proven) {
	for _, pair := range raster.SumPairs {
		for _, square := range raster.SquarePairs.Of(pair.Pixel) {
			all = append(all, pairOf(pair.Pixel, pair.Sum, square))
		}
	}
	return all
}

// A value is the range of the whole numbers in an image, and a power of two by which
// each is divided.
type value struct {
	low, high int64
	scale     int
}

// valuesOf returns ranges that are hard for a type of pixels: all values, a few values
// at one end, and for floats values far from zero.
func valuesOf(pixel raster.Type) []value {
	switch pixel {
	case raster.U8:
		return []value{{0, math.MaxUint8, 0}, {253, math.MaxUint8, 0}, {255, 255, 0}, {0, 1, 0}}
	case raster.U16:
		return []value{{0, math.MaxUint16, 0}, {math.MaxUint16 - 2, math.MaxUint16, 0}, {0, 3, 0}}
	case raster.U32:
		return []value{{0, math.MaxUint32, 0}, {math.MaxUint32 - 2, math.MaxUint32, 0}, {1 << 20, 1<<20 + 9, 0}, {0, 3, 0}}
	case raster.I16:
		return []value{{math.MinInt16, math.MaxInt16, 0}, {math.MinInt16, math.MinInt16 + 2, 0}, {-2, 2, 0}}
	case raster.I32:
		return []value{{math.MinInt32, math.MaxInt32, 0}, {math.MinInt32, math.MinInt32 + 2, 0}, {-1 << 20, -1<<20 + 9, 0}, {-2, 2, 0}}
	case raster.F32: // 24 bits
		return []value{{-1 << 23, 1 << 23, 23}, {0, 1 << 24, 24}, {0, 255, 0}, {10_000_000, 10_000_005, 0}, {100_000 * 64, 100_002 * 64, 6}, {0, 10_000_000, 0}, {1 << 23, 1 << 23, 20}}
	}
	return []value{ // 53 bits
		{-1 << 50, 1 << 50, 50}, {0, 1 << 52, 52}, {0, 255, 0}, {9_999_997 << 24, 10_000_003 << 24, 24}, {-100_003 << 30, -99_997 << 30, 30},
		{0, 10_000_000 << 24, 24}, {1<<40 + 1, 1<<40 + 1, 20}, {0, 10_000_000, 0},
	}
}

// A scene holds the pixels of an image or a volume, a+b+c for column, row and slice,
// with different values for each channel, so that the sum of any box has a closed form.
// Small scenes also have irregular pixels.
type scene struct {
	value
	width, height, depth, channels int
	axes                           [3][]axis // of each channel
	noise                          []int64   // of every pixel, or nil
	pairs                          bool      // the smallest part of a box has two pixels
}

// An axis holds the terms that a coordinate adds to a pixel, and their running totals.
type axis struct {
	add           []int64
	first, second []big.Int
}

func newScene(rng *rand.Rand, v value, width, height, depth, channels int) *scene {
	s := &scene{value: v, width: width, height: height, depth: depth, channels: channels}
	n := uint64(v.high - v.low)
	parts := [4]uint64{n / 3, n / 3, n / 3, 0}
	if width*height*depth <= 2000 {
		parts = [4]uint64{n / 8, n / 8, n / 8, n / 2} // leaves half of the range for noise
		s.noise = make([]int64, width*height*depth*channels)
	}
	if n < 8 { // too narrow to split: all of it along one axis, or in the noise
		parts = [4]uint64{n, 0, 0, 0}
		if s.noise != nil {
			parts = [4]uint64{0, 0, 0, n}
		}
	}
	for i := range s.noise {
		s.noise[i] = int64(rng.Uint64N(parts[3] + 1))
	}
	ramp := rng.IntN(3) == 0 // sorted values, as opposed to random order
	for i, length := range [3]int{width, height, depth} {
		for range channels {
			a := axis{make([]int64, length), make([]big.Int, length+1), make([]big.Int, length+1)}
			for j := range a.add {
				if a.add[j] = int64(rng.Uint64N(parts[i] + 1)); ramp {
					a.add[j] = int64(float64(parts[i]) * float64(j) / float64(length) * (1 - 1e-9*rng.Float64()))
				}
				if i == 0 {
					a.add[j] += v.low
				}
				p := big.NewInt(a.add[j])
				a.first[j+1].Add(&a.first[j], p)
				a.second[j+1].Add(&a.second[j], p.Mul(p, p))
			}
			s.axes[i] = append(s.axes[i], a)
		}
	}
	return s
}

// at returns a pixel as a whole number.
func (s *scene) at(x, y, z, c int) int64 {
	p := s.axes[0][c].add[x] + s.axes[1][c].add[y] + s.axes[2][c].add[z]
	if s.noise != nil {
		p += s.noise[((z*s.height+y)*s.width+x)*s.channels+c]
	}
	return p
}

// pixels returns an image or a volume of the scene.
func (s *scene) pixels(pixel raster.Type) raster.Array {
	a := must(raster.NewPixelArray(pixel, raster.VolumeExtent(s.width, s.height, s.depth, s.channels, 0, 0)))
	switch pixel {
	case raster.U8:
		fillScene[uint8](s, &a)
	case raster.U16:
		fillScene[uint16](s, &a)
	case raster.U32:
		fillScene[uint32](s, &a)
	case raster.I16:
		fillScene[int16](s, &a)
	case raster.I32:
		fillScene[int32](s, &a)
	case raster.F32:
		fillScene[float32](s, &a)
	case raster.F64:
		fillScene[float64](s, &a)
	}
	return a
}

// image returns an image of the scene, which has a depth of 1.
func (s *scene) image(pixel raster.Type) raster.Array {
	a := s.pixels(pixel)
	a.Extent = raster.PlaneExtent(s.width, s.height, s.channels, s.width*s.channels)
	return a
}

func fillScene[P boxsum.Pixel](s *scene, to *raster.Array) {
	down := math.Ldexp(1, -s.scale)
	var work sync.WaitGroup
	workers := runtime.GOMAXPROCS(0)
	for w := range workers {
		work.Go(func() {
			for i := w; i < s.depth*s.height; i += workers {
				y, z := i%s.height, i/s.height
				pixels := raster.Elems[P](to.From(z*to.SliceStride + y*to.Stride))
				for c := range s.channels {
					over := s.axes[1][c].add[y] + s.axes[2][c].add[z]
					for x, p := range s.axes[0][c].add {
						at := x*s.channels + c
						if p += over; s.noise != nil {
							p += s.noise[i*s.width*s.channels+at]
						}
						if pixels[at] = P(p); s.scale != 0 {
							pixels[at] = P(float64(p) * down)
						}
					}
				}
			}
		})
	}
	work.Wait()
}

// A moment holds the statistics of whole numbers.
type moment struct {
	n          int64
	sum, power big.Int // the sum of the squares
}

func (m *moment) add(p int64) {
	m.n++
	b := big.NewInt(p)
	m.sum.Add(&m.sum, b)
	m.power.Add(&m.power, b.Mul(b, b))
}

// box returns the moment of all pixels of a box inside the scene.
func (s *scene) box(b volume.Box, c int) *moment {
	m := &moment{}
	if s.noise != nil {
		for z := b.Z0; z < b.Z1; z++ {
			for y := b.Y0; y < b.Y1; y++ {
				for x := b.X0; x < b.X1; x++ {
					m.add(s.at(x, y, z, c))
				}
			}
		}
		return m
	}
	ends := [3][2]int{{b.X0, b.X1}, {b.Y0, b.Y1}, {b.Z0, b.Z1}}
	var first, second [3]big.Int
	var length [3]int64
	for i, e := range ends {
		a := &s.axes[i][c]
		first[i].Sub(&a.first[e[1]], &a.first[e[0]])
		second[i].Sub(&a.second[e[1]], &a.second[e[0]])
		length[i] = int64(e[1] - e[0])
	}
	m.n = length[0] * length[1] * length[2]
	var term big.Int
	for i := range 3 {
		j, k := (i+1)%3, (i+2)%3
		area := big.NewInt(length[j] * length[k])
		m.sum.Add(&m.sum, term.Mul(&first[i], area))
		m.power.Add(&m.power, term.Mul(&second[i], area))
		term.Mul(&first[i], &first[j])
		m.power.Add(&m.power, term.Mul(&term, big.NewInt(2*length[k])))
	}
	return m
}

// run adds pixels x0 to x1 of a row of an image to m.
func (s *scene) run(m *moment, x0, x1, y, c int) {
	x0, x1 = max(x0, 0), min(x1, s.width)
	if x0 < x1 && y >= 0 && y < s.height {
		part := s.box(volume.Box{X0: x0, X1: x1, Y0: y, Y1: y + 1, Z1: 1}, c)
		m.n += part.n
		m.sum.Add(&m.sum, &part.sum)
		m.power.Add(&m.power, &part.power)
	}
}

// statistics returns the mean and the variance, each rounded once.
func (m *moment) statistics(scale int) (mean, variance float64) {
	if m.n == 0 {
		return 0, 0
	}
	quotient := func(a, b *big.Int, scale int) float64 {
		q := new(big.Float).SetPrec(300).SetInt(a)
		f, _ := q.Quo(q, new(big.Float).SetPrec(300).SetInt(b)).Float64()
		return math.Ldexp(f, -scale)
	}
	n := big.NewInt(m.n)
	num, square := new(big.Int).Mul(n, &m.power), new(big.Int).Mul(&m.sum, &m.sum)
	return quotient(&m.sum, n, scale), quotient(num.Sub(num, square), new(big.Int).Mul(n, n), 2*scale)
}

// answers holds the answers of a table of any kind about boxes.
type answers[B any] struct {
	typed.Table[B]
	boxes []B
	steps int             // number of additions that lead to an entry
	reads func(box B) int // number of entries that a box is computed from
	text  func(box B) string
}

func (a *answers[B]) variance(i, c int) float64 {
	all := make([]float64, a.Channels())
	if err := a.VarianceBoxes(all, a.boxes[i:i+1]); err != nil {
		return math.Inf(1)
	}
	return all[c]
}

// hold compares the results for boxes with their moments. Integers must be accurate to
// two units in the last place. For floats, the variance must be accurate to a fiftieth,
// or NaN, and the mean as accurate as sums of that size can be.
func hold[B any](p *proof, t *testing.T, s *scene, types proven, a *answers[B], of func(box B, c int) *moment) {
	t.Helper()
	const exactly = 0x1p-51
	narrow := types.sum == raster.U32
	floatSum, floatSquares := types.sum.Float(), types.square.Float()
	var work sync.WaitGroup
	workers := runtime.GOMAXPROCS(0)
	for w := range workers {
		work.Go(func() {
			refused := 0
			for i := w; i < len(a.boxes); i += workers {
				c, box := i%s.channels, a.boxes[i]
				m := of(box, c)
				mean, variance := m.statistics(s.scale)
				gotMean, gotVariance, gotDeviation := a.Mean(box, c), a.variance(i, c), a.StdDev(box, c)
				tolerance := exactly * math.Abs(mean)
				if floatSum && m.n > 0 {
					// The maximum of intermediate sums, times the maximum of their
					// rounding errors.
					largest := max(math.Abs(float64(s.low)), math.Abs(float64(s.high))) * math.Ldexp(1, -s.scale)
					epsilon := 0x1p-53
					if types.sum == raster.F32 {
						epsilon = 0x1p-24
					}
					steps := float64(a.steps * a.reads(box))
					tolerance += steps * epsilon * largest * float64(s.width) * float64(s.height) * float64(s.depth) / float64(m.n)
				}
				if math.IsNaN(gotMean) && s.pairs && narrow && s.high >= 1<<31 {
					refused++
				} else if !(math.Abs(gotMean-mean) <= tolerance) {
					t.Errorf("%s of %dx%dx%d of %v: mean %v, want %v", a.text(box), s.width, s.height, s.depth, s.value, gotMean, mean)
					return
				}
				tolerance = exactly * variance
				if floatSum || floatSquares {
					tolerance = variance / 50
				}
				switch {
				case math.IsNaN(gotVariance) && (floatSum || floatSquares || s.pairs && max(s.high, -s.low) >= 1<<31):
					refused++
				case !(math.Abs(gotVariance-variance) <= tolerance):
					t.Errorf("%s of %dx%dx%d of %v: variance %v, want %v (mean %v, %d pixels)", a.text(box), s.width, s.height, s.depth, s.value, gotVariance, variance, mean, m.n)
					return
				}
				if want := math.Sqrt(gotVariance); gotDeviation != want && !(math.IsNaN(want) && math.IsNaN(gotDeviation)) {
					t.Errorf("%s: deviation %v, and the root of the variance is %v", a.text(box), gotDeviation, want)
					return
				}
			}
			p.Lock()
			defer p.Unlock()
			p.refused += refused
		})
	}
	work.Wait()
	p.asked += len(a.boxes)
}

// sizes returns the sizes of the images to make for a pair of types.
func (p *proof) sizes(rng *rand.Rand) [][2]int {
	sizes := [][2]int{{1, 1}, {1 + rng.IntN(40), 1 + rng.IntN(40)}, {1 + rng.IntN(300), 1 + rng.IntN(300)}, {30_000, 1 + rng.IntN(3)}, {1 + rng.IntN(3), 30_000}}
	if p.large {
		sizes = append(sizes, [2]int{30_000, 1 + rng.IntN(200)}, [2]int{1 + rng.IntN(200), 30_000}, [2]int{2_000, 2_000})
	}
	return sizes
}

// span returns a part of a length, of any order of magnitude, which may extend beyond
// it.
func span(rng *rand.Rand, length int) (from, to int) {
	size := int(math.Exp(rng.Float64() * math.Log(float64(length)+1)))
	from = rng.IntN(length+1) - rng.IntN(2)*rng.IntN(size+1)
	if rng.IntN(50) == 0 {
		return -1, length + 1
	}
	return from, from + size
}

func pairOf(pixel, sum, square raster.Type) proven {
	return proven{fmt.Sprintf("%v to %v and %v", pixel, sum, square), pixel, sum, square}
}

// prove tests tables of every kind.
func (types proven) prove(p *proof, t *testing.T, rng *rand.Rand) {
	values, sizes := valuesOf(types.pixel), p.sizes(rng)
	each := p.boxes/(len(values)*(len(sizes)+3)) + 1
	for _, v := range values {
		for _, size := range sizes {
			channels := 1 + rng.IntN(3)*rng.IntN(2)
			types.upright(p, t, rng, newScene(rng, v, size[0], size[1], 1, channels), each)
		}
		small := [3]int{1 + rng.IntN(60), 1 + rng.IntN(60), 1 + rng.IntN(20)}
		if rng.IntN(4) == 0 {
			small[rng.IntN(3)] = 3000
		}
		types.solid(p, t, rng, newScene(rng, v, small[0], small[1], small[2], 1+rng.IntN(2)), each)
		types.leaning(p, t, rng, newScene(rng, v, small[0], small[1], 1, 1+rng.IntN(2)), each)
		types.turned(p, t, rng, newScene(rng, v, 1+rng.IntN(30), 1+rng.IntN(30), 1, 1+rng.IntN(2)), each)
	}
}

// slow reports whether boxes are summed in parts of few pixels, so that large boxes
// take long: those with squares that hardly fit.
func (types proven) slow(s *scene) bool {
	return max(s.high, -s.low) > 1<<26 && (types.square == raster.U64 || types.sum == raster.U32)
}

// integrate makes the tables of sums and squares. It returns nil if there are none of
// these types.
func (types proven) integrate(t *testing.T, kind engine.Kind, src raster.Array) *engine.Job {
	t.Helper()
	job := &engine.Job{Kind: kind, Src: src}
	job.Sums.Type, job.Squares.Type = types.sum, types.square
	if err := job.Check(); errors.Is(err, boxsum.ErrTypes) {
		return nil
	} else if err != nil {
		t.Fatal(err)
	}
	job.Sums.Array = must(raster.NewTable(types.sum, src.Extent))
	job.Squares.Array = must(raster.NewTable(types.square, src.Extent))
	if err := job.Run(); err != nil {
		t.Fatal(err)
	}
	return job
}

func (types proven) upright(p *proof, t *testing.T, rng *rand.Rand, s *scene, n int) {
	t.Helper()
	job := types.integrate(t, engine.Upright, s.image(types.pixel))
	if job == nil {
		return
	}
	a := &answers[image.Rectangle]{
		must(typed.NewUpright(&job.Sums, &job.Squares, nil)), make([]image.Rectangle, n), s.height + s.width + 8,
		func(image.Rectangle) int { return 4 }, image.Rectangle.String,
	}
	for i := range a.boxes {
		b := &a.boxes[i]
		b.Min.X, b.Max.X = span(rng, s.width)
		b.Min.Y, b.Max.Y = span(rng, s.height)
		if types.slow(s) && i > 0 {
			b.Max.X, b.Max.Y = min(b.Max.X, b.Min.X+40), min(b.Max.Y, b.Min.Y+40)
		}
	}
	hold(p, t, s, types, a, func(b image.Rectangle, c int) *moment {
		b = b.Intersect(image.Rect(0, 0, s.width, s.height))
		return s.box(volume.Box{X0: b.Min.X, Y0: b.Min.Y, X1: b.Max.X, Y1: b.Max.Y, Z1: 1}, c)
	})
	batches(t, a)
}

// largest tests images of 30000 pixels along both sides, with sums only: tables of
// squares would take 7 GB more.
func (p *proof) largest(t *testing.T) {
	const side = 30_000
	rng := rand.New(rand.NewPCG(3, 3))
	s := newScene(rng, value{250, 255, 0}, side, side, 1, 1)
	im, err := boxsum.NewImage[uint8](side, side, 1)
	if errors.Is(err, boxsum.ErrMemory) {
		ref.Missing(t, "needs 10 GB of memory: "+err.Error())
	}
	pixels := raster.ArrayOf(im.Pix, raster.VolumeExtent(side, side, 1, 1, im.Stride, 0))
	fillScene[uint8](s, &pixels)
	table, err := boxsum.Integrate[uint32](im, nil)
	if errors.Is(err, boxsum.ErrMemory) {
		ref.Missing(t, "needs 10 GB of memory: "+err.Error())
	} else if err != nil {
		t.Fatal(err)
	}
	for range 10_000 {
		var b image.Rectangle
		b.Min.X, b.Max.X = span(rng, side)
		b.Min.Y, b.Max.Y = span(rng, side)
		in := b.Intersect(table.Bounds())
		want, _ := s.box(volume.Box{X0: in.Min.X, Y0: in.Min.Y, X1: in.Max.X, Y1: in.Max.Y, Z1: 1}, 0).statistics(0)
		if got := table.Mean(b, 0); math.Abs(got-want) > 0x1p-52*want {
			t.Fatalf("%v: mean %v, want %v", b, got, want)
		}
	}
	p.asked += 10_000
}

// batches compares the batch methods with the single ones.
func batches(t *testing.T, table *answers[image.Rectangle]) {
	t.Helper()
	boxes, channels := table.boxes[:min(len(table.boxes), 10)], table.Channels()
	means, deviations := make([]float64, len(boxes)*channels), make([]float64, len(boxes)*channels)
	if err := errors.Join(table.MeanBoxes(means, boxes), table.StdDevBoxes(deviations, boxes)); err != nil {
		t.Fatal(err)
	}
	for i, box := range boxes {
		for c := range channels {
			mean, deviation := table.Mean(box, c), table.StdDev(box, c)
			if got := means[i*channels+c]; math.Float64bits(got) != math.Float64bits(mean) && !(math.IsNaN(got) && math.IsNaN(mean)) {
				t.Errorf("%v: mean %v of a batch, and %v by itself", box, got, mean)
			}
			if got := deviations[i*channels+c]; math.Float64bits(got) != math.Float64bits(deviation) && !(math.IsNaN(got) && math.IsNaN(deviation)) {
				t.Errorf("%v: deviation %v of a batch, and %v by itself", box, got, deviation)
			}
		}
	}
}

func (types proven) solid(p *proof, t *testing.T, rng *rand.Rand, s *scene, n int) {
	t.Helper()
	job := types.integrate(t, engine.Volume, s.pixels(types.pixel))
	if job == nil {
		return
	}
	a := &answers[volume.Box]{
		must(typed.NewVolume(&job.Sums, &job.Squares)), make([]volume.Box, n), s.depth + s.height + s.width + 8,
		func(volume.Box) int { return 8 }, volume.Box.String,
	}
	for i := range a.boxes {
		b := &a.boxes[i]
		b.X0, b.X1 = span(rng, s.width)
		b.Y0, b.Y1 = span(rng, s.height)
		b.Z0, b.Z1 = span(rng, s.depth)
		if types.slow(s) && i > 0 {
			b.X1, b.Y1, b.Z1 = min(b.X1, b.X0+12), min(b.Y1, b.Y0+12), min(b.Z1, b.Z0+12)
		}
	}
	hold(p, t, s, types, a, func(b volume.Box, c int) *moment {
		return s.box(b.Intersect(volume.NewBox(0, 0, 0, s.width, s.height, s.depth)), c)
	})
}

func (types proven) leaning(p *proof, t *testing.T, rng *rand.Rand, s *scene, n int) {
	t.Helper()
	job := types.integrate(t, engine.Tilted, s.image(types.pixel))
	if job == nil {
		return
	}
	a := &answers[tilted.Box]{
		must(typed.NewTilted(&job.Sums, &job.Squares)), make([]tilted.Box, n), 4 * (s.height + s.width),
		func(b tilted.Box) int { // boxes that extend below the image read more entries
			if size := (&tilted.Table[uint32]{Width: s.width, Height: s.height}); !size.Contains(b) {
				return 8 * (b.W + b.H) * s.height
			}
			return 4
		},
		func(b tilted.Box) string { return fmt.Sprintf("%+v", b) },
	}
	side := min(s.width, s.height, 60)
	if s.pairs = true; types.slow(s) {
		side = min(side, 6)
	}
	for i := range a.boxes {
		a.boxes[i] = tilted.Box{X: rng.IntN(s.width + 3), Y: rng.IntN(s.height+3) - 1, W: 1 + rng.IntN(side), H: 1 + rng.IntN(side)}
	}
	hold(p, t, s, types, a, func(b tilted.Box, c int) *moment {
		m := &moment{}
		for y := max(b.Y-b.W-b.H, 0); y < min(b.Y+b.W+b.H+1, s.height); y++ {
			low, high := b.X-1+b.Y-y, b.X-1-b.Y+y+1
			s.run(m, max(low, high-2*b.H), min(low+2*b.W, high), y, c)
		}
		return m
	})
}

func (types proven) turned(p *proof, t *testing.T, rng *rand.Rand, s *scene, n int) {
	t.Helper()
	rot := rotated.Rotation{A: rng.IntN(9) - 4, B: 1 + rng.IntN(4)}
	table, err := typed.IntegrateRotated(s.image(types.pixel), types.sum, types.square, rot, engine.Options{})
	if errors.Is(err, boxsum.ErrTypes) {
		return
	} else if err != nil {
		t.Fatal(err)
	}
	a := &answers[rotated.Box]{
		table, make([]rotated.Box, n), 4 * (s.height + s.width),
		func(rotated.Box) int { return 4 },
		func(b rotated.Box) string { return fmt.Sprintf("%+v at %v", b, rot) },
	}
	all := table.Lattice().Bounds()
	for i := range a.boxes {
		b := &a.boxes[i]
		b.C0, b.C1 = span(rng, all.C1-all.C0)
		b.R0, b.R1 = span(rng, all.R1-all.R0)
		b.C0, b.C1, b.R0, b.R1 = b.C0+all.C0, b.C1+all.C0, b.R0+all.R0, b.R1+all.R0
	}
	hold(p, t, s, types, a, func(b rotated.Box, c int) *moment {
		m := &moment{}
		for y := range s.height {
			for x := range s.width {
				if column, row := table.Lattice().Cell(x, y); column >= b.C0 && column < b.C1 && row >= b.R0 && row < b.R1 {
					m.add(s.at(x, y, 0, c))
				}
			}
		}
		return m
	})
}
