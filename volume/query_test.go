package volume_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/volume"
	"pgregory.net/rapid"
)

// TestBoxes tests that any box of any small volume, including boxes that extend
// beyond it or are inverted, equals the sum of its voxels.
func TestBoxes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		side := rapid.IntRange(1, 12)
		size := [4]int{side.Draw(t, "width"), side.Draw(t, "height"), side.Draw(t, "depth"), rapid.IntRange(1, 5).Draw(t, "channels")}
		v := random[int16](rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1)), size)
		table, err := volume.IntegrateSquares[int64, uint64](v, nil)
		if err != nil {
			t.Fatal(err)
		}
		at := rapid.IntRange(-3, 15)
		box := volume.NewBox(at.Draw(t, "x0"), at.Draw(t, "y0"), at.Draw(t, "z0"), at.Draw(t, "x1"), at.Draw(t, "y1"), at.Draw(t, "z1"))
		sums := make([]int64, 2*v.Channels)
		if err := table.Sum.SumBoxes(sums, []volume.Box{box, table.Sum.Bounds()}); err != nil {
			t.Fatal(err)
		}
		for c := range v.Channels {
			var sum, squares int64
			n := 0
			for z := max(box.Z0, 0); z < min(box.Z1, v.Depth); z++ {
				for y := max(box.Y0, 0); y < min(box.Y1, v.Height); y++ {
					for x := max(box.X0, 0); x < min(box.X1, v.Width); x++ {
						p := int64(v.Pix[z*v.SliceStride+y*v.Stride+x*v.Channels+c])
						sum, squares, n = sum+p, squares+p*p, n+1
					}
				}
			}
			if got := table.Sum.SumChannel(box, c); got != sum || sums[c] != sum || table.Sum.SumChannels(nil, box)[c] != sum {
				t.Fatalf("channel %d of %v in %v: %d and %d, want %d", c, box, size, got, sums[c], sum)
			}
			if got := table.Squares.SumChannel(box, c); got != uint64(squares) {
				t.Fatalf("squares of channel %d of %v in %v: %d, want %d", c, box, size, got, squares)
			}
			var mean, variance float64
			if n > 0 {
				mean = float64(sum) / float64(n)
				variance = (float64(squares) - float64(sum)*mean) / float64(n)
			}
			if got := table.Mean(box, c); got != mean {
				t.Fatalf("mean of %v is %v, want %v", box, got, mean)
			}
			if got := table.Variance(box, c); math.Abs(got-variance) > 1e-9*(1+variance) || got < 0 {
				t.Fatalf("variance of %v is %v, want %v", box, got, variance)
			}
		}
		if box.Intersect(v.Bounds()).Empty() != (table.Sum.Mean(box, 0) == 0 && box.Intersect(v.Bounds()).Voxels() == 0) {
			t.Fatalf("%v is empty, or not", box)
		}
	})
}

// TestWrap tests that boxes whose own sum fits are exact in a table that has
// wrapped.
func TestWrap(t *testing.T) {
	const side, value = 40, 1 << 20
	v, err := volume.New[uint32](side, side, side, 1)
	if err != nil {
		t.Fatal(err)
	}
	for i := range v.Pix {
		v.Pix[i] = value
	}
	table, err := volume.Integrate[uint32](v, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got, all := uint64(table.At(side, side, side, 0)), uint64(side*side*side*value); got == all || got != all%(1<<32) {
		t.Errorf("the last entry is %d, want %d modulo 2^32", got, all)
	}
	box := volume.NewBox(20, 25, 27, 36, 40, 40) // 3120 voxels
	if got, want := table.Sum(box), uint32(box.Voxels()*value); got != want {
		t.Errorf("%v sums to %d, want %d", box, got, want)
	}
	if got := table.Mean(box, 0); got != value {
		t.Errorf("its mean is %v", got)
	}
}

// TestSeedFormula tests a box of the inclusive table V in the notes on volumetric
// computation of the intimg project, with corners (1,1,1) and (2,2,2). Of the eight
// corners, those with an odd number of ones are subtracted.
func TestSeedFormula(t *testing.T) {
	v := random[uint8](rand.New(rand.NewPCG(1, 9)), [4]int{4, 4, 4, 1})
	table, err := volume.Integrate[uint32](v, nil)
	if err != nil {
		t.Fatal(err)
	}
	V := func(x, y, z int) uint32 { return table.Inclusive(z).At(x, y, 0) }
	sum := V(2, 2, 2) - V(1, 2, 2) - V(2, 1, 2) - V(2, 2, 1) + V(1, 1, 2) + V(1, 2, 1) + V(2, 1, 1) - V(1, 1, 1)
	if voxel := uint32(v.Slice(2).Row(2)[2]); sum != voxel || table.Sum(volume.NewBox(2, 2, 2, 3, 3, 3)) != voxel {
		t.Errorf("the formula has %d and the box %d, the voxel is %d", sum, table.Sum(volume.NewBox(2, 2, 2, 3, 3, 3)), voxel)
	}
}

// TestSeedRounding tests that, because 2^25 + 2 is 2^25 in float32, a voxel of 2
// behind one of 2^25 is lost unless the sums are float64 or the mean is subtracted
// first.
func TestSeedRounding(t *testing.T) {
	v := volume.Volume[float32]{Pix: []float32{1 << 25, 2}, Width: 1, Height: 1, Depth: 2}
	last := volume.NewBox(0, 0, 1, 1, 1, 2)
	narrow, err := volume.Integrate[float32](v, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := narrow.Sum(last); got != 0 {
		t.Errorf("float32 has %v of it", got)
	}
	wide, err := volume.Integrate[float64](v, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := wide.Sum(last); got != 2 {
		t.Errorf("float64 has %v", got)
	}
	less, err := volume.Integrate[float32](v, &volume.Options{Offset: 1 << 24})
	if err != nil {
		t.Fatal(err)
	}
	if got := less.Sum(last); got != 2 || less.Sum(less.Bounds()) != 1<<25 {
		t.Errorf("without its mean float32 has %v, and %v in all", got, less.Sum(less.Bounds()))
	}
}

// TestFloatBound tests that the error of a float table is within the documented
// bound.
func TestFloatBound(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 3))
	for _, size := range [][4]int{{64, 64, 64, 1}, {7, 150, 40, 1}, {3, 5, 900, 1}, {300, 20, 11, 2}} {
		v := random[float32](rng, size)
		for i := range v.Pix {
			v.Pix[i] = rng.Float32()
		}
		exact := reference[float64](arrayOf(v), false)
		table, err := volume.Integrate[float32](v, nil)
		if err != nil {
			t.Fatal(err)
		}
		bound := float64(v.Width*v.Channels/8+4+v.Height+v.Depth) * math.Pow(2, -24)
		for i, got := range entries(table) {
			if math.Abs(float64(got)-exact[i]) > bound*exact[i] {
				t.Fatalf("%v: entry %d is off by %.3g of it, the bound is %.3g", size, i, math.Abs(float64(got)/exact[i]-1), bound)
			}
		}
	}
}

func TestErrors(t *testing.T) {
	ok := volume.Volume[uint8]{Pix: make([]uint8, 24), Width: 2, Height: 3, Depth: 4}
	change := func(f func(*volume.Volume[uint8])) volume.Volume[uint8] { v := ok; f(&v); return v }
	integrate := func(v volume.Volume[uint8], opt *volume.Options) error {
		_, err := volume.Integrate[uint32](v, opt)
		return err
	}
	table := func(w, h, d int) *volume.Table[uint32] {
		t, _ := volume.NewTable[uint32](w, h, d, 1)
		return t
	}
	shared := make([]uint32, 200)
	for name, test := range map[string]struct {
		err  error
		is   error
		says string
	}{
		"negative width":      {integrate(change(func(v *volume.Volume[uint8]) { v.Width = -1 }), nil), boxsum.ErrInvalid, "want 0 or more"},
		"negative depth":      {integrate(change(func(v *volume.Volume[uint8]) { v.Depth = -1 }), nil), boxsum.ErrInvalid, "want 0 or more"},
		"negative channels":   {integrate(change(func(v *volume.Volume[uint8]) { v.Channels = -1 }), nil), boxsum.ErrInvalid, "want 0 or more"},
		"overflowing sizes":   {integrate(change(func(v *volume.Volume[uint8]) { v.Width, v.Height, v.Depth = 1<<30, 1<<30, 1<<30 }), nil), boxsum.ErrInvalid, "fit in memory"},
		"largest sizes":       {integrate(change(func(v *volume.Volume[uint8]) { v.Width, v.Height, v.Depth = math.MaxInt, math.MaxInt, math.MaxInt }), nil), boxsum.ErrInvalid, "fit in memory"},
		"short buffer":        {integrate(change(func(v *volume.Volume[uint8]) { v.Pix = v.Pix[1:] }), nil), boxsum.ErrInvalid, "too short for 4 slices"},
		"short stride":        {integrate(change(func(v *volume.Volume[uint8]) { v.Stride = 1 }), nil), boxsum.ErrInvalid, "stride"},
		"negative stride":     {integrate(change(func(v *volume.Volume[uint8]) { v.Stride = -2 }), nil), boxsum.ErrInvalid, "stride"},
		"short slice stride":  {integrate(change(func(v *volume.Volume[uint8]) { v.SliceStride = 5 }), nil), boxsum.ErrInvalid, "stride"},
		"largest stride":      {integrate(change(func(v *volume.Volume[uint8]) { v.SliceStride = math.MaxInt }), nil), boxsum.ErrInvalid, "too short for 4 slices"},
		"workers":             {integrate(ok, &volume.Options{Workers: -1}), boxsum.ErrInvalid, "workers"},
		"offset of integers":  {integrate(ok, &volume.Options{Offset: 1}), boxsum.ErrTypes, "float32"},
		"no table":            {volume.IntegrateInto[uint32](nil, ok, nil), boxsum.ErrInvalid, "nil table"},
		"another shape":       {volume.IntegrateInto(table(2, 4, 3), ok, nil), boxsum.ErrInvalid, "table is for 2×4×3 with 1 channel, want 2×3×4 with 1 channel"},
		"table too large":     {func() error { _, err := volume.NewTable[uint64](1<<14, 1<<14, 1<<14, 1); return err }(), boxsum.ErrMemory, "Stream"},
		"own table too short": {volume.IntegrateInto(&volume.Table[uint32]{Sums: shared[:10], Width: 2, Height: 3, Depth: 4}, ok, nil), boxsum.ErrInvalid, "too short for 4 rows"},
		"overlap":             {volume.IntegrateInto(&volume.Table[uint32]{Sums: shared, Width: 2, Height: 2, Depth: 2}, volume.Volume[uint32]{Pix: shared[100:], Width: 2, Height: 2, Depth: 2}, nil), boxsum.ErrOverlap, "shares memory with its"},
		"types":               {func() error { _, err := volume.Integrate[uint32](volume.Volume[int16]{}, nil); return err }(), boxsum.ErrTypes, "int16 pixels sum to int64"},
		"squares": {func() error {
			_, err := volume.IntegrateSquares[float32, uint64](volume.Volume[float32]{}, nil)
			return err
		}(), boxsum.ErrTypes, "uint64"},
		"stream of nothing": {func() error { _, err := new(volume.Stream[uint32, uint8]).Push(ok.Slice(0)); return err }(), boxsum.ErrInvalid, "constructor"},
		"another slice": {func() error {
			s, err := volume.NewStream[uint32, uint8](3, 2, 1, nil)
			if err != nil {
				return err
			}
			_, err = s.Push(ok.Slice(0))
			return err
		}(), boxsum.ErrInvalid, "3×2"},
		"negative slice": {func() error { _, err := volume.NewStream[uint32, uint8](-3, 2, 1, nil); return err }(), boxsum.ErrInvalid, "want 0 or more"},
		"few sums":       {table(2, 3, 4).SumBoxes(make([]uint32, 1), make([]volume.Box, 2)), boxsum.ErrInvalid, "destination has length 1, want 1 for each of 2 boxes"},
	} {
		switch {
		case test.err == nil:
			t.Errorf("%s: no error", name)
		case test.is != nil && !errors.Is(test.err, test.is), !strings.Contains(test.err.Error(), test.says), strings.HasPrefix(test.err.Error(), "boxsum: "):
			t.Errorf("%s: %v", name, test.err)
		}
	}
}

// TestOutside tests that queries outside a table return zero.
func TestOutside(t *testing.T) {
	v := random[uint8](rand.New(rand.NewPCG(4, 4)), [4]int{3, 4, 5, 2})
	table, err := volume.Integrate[uint32](v, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, at := range [][4]int{{-1, 0, 0, 0}, {4, 0, 0, 0}, {0, 5, 0, 0}, {0, 0, 6, 0}, {0, 0, 0, 2}, {0, 0, 0, -1}} {
		if got := table.At(at[0], at[1], at[2], at[3]); got != 0 {
			t.Errorf("entry %v is %d", at, got)
		}
	}
	huge := volume.NewBox(math.MinInt, math.MinInt, math.MinInt, math.MaxInt, math.MaxInt, math.MaxInt)
	if table.Sum(huge) != table.Sum(table.Bounds()) || table.SumChannel(huge, 2) != 0 {
		t.Error("a huge box is not all")
	}
	if table.Slice(-1).Width != 0 || table.Slice(6).Width != 0 || table.Inclusive(5).Width != 0 || v.Slice(5).Width != 0 || v.Slice(-1).Width != 0 {
		t.Error("a slice from outside")
	}
	if got := fmt.Sprint(volume.NewBox(1, 2, 3, 4, 5, 6)); got != "1,2,3,4,5,6" {
		t.Error(got)
	}
}
