package measure

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"testing"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/pixels"
	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/internal/ref"
	"github.com/boxsum/boxsum/tilted"
)

var best boxsum.Level

// TestPrepare tests that every kind is verified at every level, with sizes around a vector's width.
func TestPrepare(t *testing.T) {
	types := []string{squares}
	for _, p := range raster.SumPairs.For(raster.Tilted | raster.Volume) { // 64-bit pixels are not measured
		types = append(types, p.String(), p.String()+TiltedSuffix, p.String()+volumeSuffix)
	}
	sizes := []Size{{Name: "1x1", Width: 1, Height: 1}, {Name: "17x5", Width: 17, Height: 5}, {Name: "300x70", Width: 300, Height: 70}}
	if ref.Race { // tables this small have one worker
		sizes = sizes[:2]
	}
	for _, types := range types {
		for _, channels := range []int{1, 3, 5} {
			for _, size := range sizes {
				c := Case{Types: types, Channels: channels}
				if c.Volume() {
					size.Depth = 3
				}
				for _, level := range boxsum.Levels() {
					w, err := Prepare(c, size, []int{1, 2, 3}, Options{Level: level})
					if err != nil {
						t.Fatalf("%v %v %v: %v", c, size, level, err)
					}
					written := int64(0)
					for _, table := range w.Tables {
						written += int64(len(table.output))
					}
					if read, want := c.Bytes(size); int64(len(w.Pixels)) != read || written != want {
						t.Errorf("%v %v: %d and %d bytes, the name says %d and %d", c, size, len(w.Pixels), written, read, want)
					}
				}
			}
		}
	}
}

// TestRunEnds tests that the context of the options ends a run of any kind of table.
func TestRunEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, types := range []string{"u8:u32", "squares", "tilted", "rotated:1/2", "volume", "histogram"} {
		cases, err := ParseTypes(types)
		if err != nil {
			t.Fatal(err)
		}
		w, err := Prepare(cases[0], Size{Width: 40, Height: 30, Depth: 3}, []int{1}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Run(Options{Context: ctx}); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", types, err)
		}
	}
}

// TestOneWrongEntry tests that verify and equal find a single wrong entry, wherever it is.
func TestOneWrongEntry(t *testing.T) {
	t.Run("u8:u32", func(t *testing.T) { testOneWrong[uint8, uint32](t, false) })
	t.Run("f32:f32", func(t *testing.T) { testOneWrong[float32, float32](t, false) })
	t.Run("i16:i64", func(t *testing.T) { testOneWrong[int16, int64](t, false) })
	t.Run("squares", func(t *testing.T) { testOneWrong[uint8, uint64](t, true) })
}

func testOneWrong[P boxsum.Pixel, S boxsum.Sum](t *testing.T, square bool) {
	img, err := randomOf[P, S](Size{Width: 7, Height: 4}, 2)
	if err != nil {
		t.Fatal(err)
	}
	summed := img
	if square {
		summed.Pix = make([]P, len(img.Pix))
		for i, p := range img.Pix {
			img.Pix[i] = p / 16 // so that P holds the square
			summed.Pix[i] = img.Pix[i] * img.Pix[i]
		}
	}
	table, err := boxsum.Integrate[S](summed, nil)
	if err != nil {
		t.Fatal(err)
	}
	var right bytes.Buffer
	view := table.Exclusive()
	for y := range view.Height {
		right.Write(raster.Bytes(view.Row(y)))
	}
	entries, src := raster.ArrayOf(table.Sums, raster.PlaneExtent(table.Width, table.Height, table.Channels, table.Stride)), pixels.Of(img)
	verify := verifyUpright[S]
	if square {
		verify = verifySquares
	}
	check := func() (verified, equals error) {
		return verify(&entries, &src), equal[S](bytes.NewReader(right.Bytes()), view)
	}
	if v, e := check(); v != nil || e != nil {
		t.Fatal(v, e)
	}
	for y := range view.Height {
		row := view.Row(y)
		for i := range row {
			old := row[i]
			row[i] += S(1)
			v, e := check()
			row[i] = old
			at := fmt.Sprintf("entry (%d, %d) of channel %d is ", i/2, y, i%2)
			for _, err := range []error{v, e} {
				if differs := (*DiffersError)(nil); !errors.As(err, &differs) || !bytes.HasPrefix([]byte(err.Error()), []byte(at)) {
					t.Errorf("a wrong entry (%d, %d) of channel %d gives %v", i/2, y, i%2, err)
				}
			}
		}
	}
}

// TestEqualReads tests that squares that a peer holds as float64 are equal to integers of the same
// value, and that all data is read even if it differs, up to the start of the next reply.
func TestEqualReads(t *testing.T) {
	view := boxsum.View[uint64]{Sums: []uint64{0, 1, 2, 1 << 52}, Stride: 2, Width: 2, Height: 2, Channels: 1}
	for _, test := range []struct {
		theirs []float64
		want   string
	}{
		{[]float64{0, 1, 2, 1 << 52}, ""},
		{[]float64{0, 1.5, 2, 1 << 52}, "entry (1, 0) of channel 0 is 1, and the peer has 1.5"},
		{[]float64{math.NaN(), 1, 2, 1 << 52}, "entry (0, 0) of channel 0 is 0, and the peer has NaN"},
		{[]float64{0, 1, 2}, "unexpected EOF"},
	} {
		r := bytes.NewReader(raster.Bytes(test.theirs))
		got := ""
		if err := equal[float64](r, view); err != nil {
			got = err.Error()
		}
		if _, err := r.ReadByte(); got != test.want || err != io.EOF {
			t.Errorf("%v: %q with %d bytes left, want %q", test.theirs, got, r.Len(), test.want)
		}
	}
}

// TestRandomImageIsExact tests that the sums of random images need no more bits than their type has.
func TestRandomImageIsExact(t *testing.T) {
	for _, size := range []Size{{Name: "", Width: 1, Height: 1}, {Name: "", Width: 64, Height: 64}, {Name: "", Width: 1000, Height: 1000}, {Name: "", Width: 4100, Height: 4100}} {
		if ref.Race && size.Pixels() > 1<<20 {
			continue
		}
		img, err := randomOf[float32, float32](size, 1)
		if err != nil {
			t.Fatal(err)
		}
		unit, sum := math.Inf(1), 0.0
		for _, p := range img.Pix {
			if p < 0 || p > 1 {
				t.Fatalf("%v: pixel %v", size, p)
			}
			sum += float64(p)
			if p > 0 {
				_, exp := math.Frexp(float64(p))
				for f := math.Ldexp(1, exp-1); ; f /= 2 { // the lowest bit of p
					if math.Mod(float64(p), f) == 0 {
						unit = min(unit, f)
						break
					}
				}
			}
		}
		if sum/unit > 1<<24 || size.Pixels() > 1 && sum == 0 {
			t.Errorf("%d×%d: pixels of %v sum to %v, which float32 cannot tell apart", size.Width, size.Height, unit, sum)
		}
	}
}

// TestOneWrongTilted tests that a single wrong entry of a 45° table is found, wherever it is.
func TestOneWrongTilted(t *testing.T) {
	img, err := randomOf[uint16, uint64](Size{Width: 5, Height: 6}, 2)
	if err != nil {
		t.Fatal(err)
	}
	table, err := tilted.Integrate[uint64](img, nil)
	if err != nil {
		t.Fatal(err)
	}
	view, src := table.View(), pixels.Of(img)
	entries := raster.ArrayOf(table.Sums, raster.PlaneExtent(table.Width, table.Height, table.Channels, table.Stride))
	if err := verifyTilted[uint64](&entries, &src); err != nil {
		t.Fatal(err)
	}
	for y := range view.Height {
		for i := range view.Row(y) {
			view.Row(y)[i]++
			if differs := (*DiffersError)(nil); !errors.As(verifyTilted[uint64](&entries, &src), &differs) {
				t.Errorf("value %d of row %d was wrong, and nobody said so", i, y)
			}
			view.Row(y)[i]--
		}
	}
}

// randomOf returns a random image of P whose sums in S are exact.
func randomOf[P boxsum.Pixel, S boxsum.Sum](size Size, channels int) (boxsum.Image[P], error) {
	img, err := randomImage(raster.TypeOf[P](), exactBits(raster.TypeOf[S]()), size, channels)
	if err != nil {
		return boxsum.Image[P]{}, err
	}
	return boxsum.Image[P]{Pix: raster.Elems[P](img.Data), Stride: img.Stride, Width: img.Width, Height: img.Height, Channels: img.Channels}, nil
}
