package tables

import (
	"fmt"
	"image"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/cli/console"
	"github.com/boxsum/boxsum/internal/pixels"
	fromsums "github.com/boxsum/boxsum/internal/stats"
)

func FuzzParseBox(f *testing.F) {
	for _, text := range []string{"0,0,1,1", "-5, -6, 7, 8", "1,2,3", "NaN,0,1,1", "1e3,0,1,1", "3,3,2,2", "99999999999999999999,0,1,1", ""} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		b, err := parseBox(text, 4)
		if err != nil {
			return
		}
		if b[0] > b[2] || b[1] > b[3] {
			t.Errorf("%q became the inverted %v", text, b)
		}
		if again, err := parseBox(b.String(), 4); err != nil || !slices.Equal(again, b) {
			t.Errorf("%q became %v and then %v, %v", text, b, again, err)
		}
	})
}

// TestDeviationOfLargePixels asks for boxes whose squares do not fit a uint64.
func TestDeviationOfLargePixels(t *testing.T) {
	img := boxsum.Image[int32]{Pix: []int32{
		math.MaxInt32, math.MinInt32, math.MaxInt32, math.MinInt32,
		math.MaxInt32, math.MinInt32, math.MaxInt32, math.MinInt32,
	}, Stride: 4, Width: 4, Height: 2, Channels: 1}
	work, err := newPlane(pairOf[int32, int64, uint64](), pixels.Of(img), tableChoice{squares: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := work.integrate(nil, nil); err != nil {
		t.Fatal(err)
	}
	for _, box := range []box{{0, 0, 2, 1}, {0, 0, 4, 2}} {
		got := work.stats(box, 0)
		if got.mean != -0.5 || got.std != math.MaxInt32+0.5 {
			t.Errorf("%v: mean %v and std %v, want -0.5 and 2147483647.5", box, got.mean, got.std)
		}
	}
}

// TestDeviationFarFromZero asks for a deviation that the squares of float
// pixels, which are 10^16 times as large, have no digits left for.
func TestDeviationFarFromZero(t *testing.T) {
	const width, height = 100, 100
	img, err := boxsum.NewImage[float64](width, height, 1)
	if err != nil {
		t.Fatal(err)
	}
	for i := range img.Pix {
		img.Pix[i] = 1e8 + float64(i%2)
	}
	work, err := newPlane(pairOf[float64, float64, float64](), pixels.Of(img), tableChoice{squares: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := work.integrate(nil, nil); err != nil {
		t.Fatal(err)
	}
	for where, want := range map[image.Rectangle]float64{
		image.Rect(0, 0, 100, 100):  0.5,
		image.Rect(90, 90, 100, 92): 0.5,
		image.Rect(7, 3, 8, 99):     0,
		{}:                          0,
	} {
		if got := work.stats(box{where.Min.X, where.Min.Y, where.Max.X, where.Max.Y}, 0).std; math.Abs(got-want) > 1e-6 {
			t.Errorf("%v: std %v, want %v", where, got, want)
		}
	}
}

// TestReadBoxes reads what Windows editors write.
func TestReadBoxes(t *testing.T) {
	got, err := readBoxes([]box{{9, 9, 9, 9}}, "boxes", strings.NewReader("\ufeff0,0,1,1\r\n\r\n -1,2,3,4 \r\n5,6,7,8"), 4)
	want := []box{{9, 9, 9, 9}, {0, 0, 1, 1}, {-1, 2, 3, 4}, {5, 6, 7, 8}}
	if err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("boxes are %v, %v, want %v", got, err, want)
	}
	for _, long := range []string{strings.Repeat("1", 1000), strings.Repeat("1", 1000) + ",2,3,4", strings.Repeat("1", 1<<20)} {
		if _, err := readBoxes(nil, "boxes", strings.NewReader("0,0,1,1\n"+long), 4); err == nil || len(err.Error()) > 200 || !strings.HasPrefix(err.Error(), "boxes:2: ") {
			t.Errorf("a line of %d digits gives %v", len(long), err)
		}
	}
}

// TestNotFinite checks what JSON shows of numbers that it cannot hold.
func TestNotFinite(t *testing.T) {
	var b strings.Builder
	err := (&Query{JSON: true}).print(&console.Shell{Stdout: &b}, []answer{{box: box{0, 0, 1, 1}, channels: []stats{{fromsums.SumOf(math.NaN()), math.Inf(1), math.Inf(-1), nil}}, area: 1}})
	if err != nil {
		t.Fatal(err)
	}
	want := "[\n  {\"box\":[0,0,1,1],\"sum\":null,\"mean\":null,\"std\":null,\"area\":1}\n]\n"
	if b.String() != want {
		t.Errorf("got %s, want %s", &b, want)
	}
}
