package tables

import (
	"math"
	"testing"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/pixels"
	"github.com/boxsum/boxsum/internal/raster"
	fromsums "github.com/boxsum/boxsum/internal/stats"
	"github.com/boxsum/boxsum/rotated"
	"pgregory.net/rapid"
)

func FuzzParseRectangle(f *testing.F) {
	for _, text := range []string{"1,2,3,4,5", " -1.5, 2e3 ,3,4", "1,2,3", "NaN,0,1,1,0", "1,1,Inf,1,1", "1,1,-1,1,1", "0x1p-2,1,1,1,1", ""} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		r, err := parseRectangle(text)
		if err != nil {
			return
		}
		for i, v := range r {
			if math.IsInf(v, 0) || math.IsNaN(v) && i < 4 {
				t.Errorf("%q became %v", text, r)
			}
		}
		if r[2] <= 0 || r[3] <= 0 {
			t.Errorf("%q became %v, which has no inside", text, r)
		}
	})
}

func FuzzParseFeature(f *testing.F) {
	for _, text := range []string{"EdgeX,0,0,2,1", "diagonal,-4,-4,4,4", "LineY4, 0,0,1,8", "EdgeX", "EdgeX,0,0,3,3", ",,,,", "Kind(0),0,0,1,1"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if feature, err := parseFeature(text); err == nil && feature.Bounds().Empty() {
			t.Errorf("%q became %v", text, feature)
		}
	})
}

// Statistics of rotated boxes are those of their pixels, for every type.
func TestRotatedStats(t *testing.T) {
	t.Run("u8", rapid.MakeCheck(rotatedStatsProperty[uint8, uint32]))
	t.Run("u16", rapid.MakeCheck(rotatedStatsProperty[uint16, uint64]))
	t.Run("u32", rapid.MakeCheck(rotatedStatsProperty[uint32, uint64]))
	t.Run("i16", rapid.MakeCheck(rotatedStatsProperty[int16, int64]))
	t.Run("i32", rapid.MakeCheck(rotatedStatsProperty[int32, int64]))
	t.Run("f32", rapid.MakeCheck(rotatedStatsProperty[float32, float64]))
	t.Run("f64", rapid.MakeCheck(rotatedStatsProperty[float64, float64]))
}

func rotatedStatsProperty[P boxsum.Pixel, S boxsum.Sum](t *rapid.T) {
	rot := rotated.Rotation{A: rapid.IntRange(-4, 4).Draw(t, "a"), B: rapid.IntRange(1, 4).Draw(t, "b")}
	img, err := boxsum.NewImage[P](rapid.IntRange(1, 12).Draw(t, "width"), rapid.IntRange(1, 12).Draw(t, "height"), 2)
	if err != nil {
		t.Fatal(err)
	}
	low := 0
	if P(0)-1 < 0 {
		low = -100
	}
	for i := range img.Pix {
		img.Pix[i] = P(rapid.IntRange(low, 255).Draw(t, "pixel"))
	}
	table, err := newRotatedTable(raster.TypeOf[S](), nil, pixels.Of(img), rot, nil)
	if err != nil {
		t.Fatal(err)
	}
	box := rotated.Box{C0: rapid.IntRange(-12, 12).Draw(t, "c0"), R0: rapid.IntRange(-2, 20).Draw(t, "r0")}
	box.C1, box.R1 = box.C0+rapid.IntRange(1, 20).Draw(t, "columns"), box.R0+rapid.IntRange(1, 20).Draw(t, "rows")
	var n, sum, squares float64
	for y := range img.Height {
		for x := range img.Width {
			if c, r := table.Lattice().Cell(x, y); c >= box.C0 && c < box.C1 && r >= box.R0 && r < box.R1 {
				p := float64(img.Pix[y*img.Stride+2*x+1])
				n, sum, squares = n+1, sum+p, squares+p*p
			}
		}
	}
	mean, std := 0.0, 0.0
	if n > 0 {
		mean, std = sum/n, math.Sqrt(max(0, n*squares-sum*sum))/n
	}
	got := table.stats(box, 1)
	if got.sum != fromsums.SumOf(S(sum)) || math.Abs(got.mean-mean) > 1e-9 || math.Abs(got.std-std) > 1e-9*(1+std) || table.Channels() != 2 {
		t.Fatalf("%v along %v: %v, want %v, %v, %v", box, rot, got, sum, mean, std)
	}
}
