package haar_test

import (
	"encoding/binary"
	"fmt"
	"image"
	"math"
	"reflect"
	"testing"
	"time"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/haar"
	"github.com/boxsum/boxsum/internal/ref"
)

// ask sends a command with the inclusive table, which scikit-image uses.
func ask[S boxsum.Sum](t testing.TB, s ref.Script, do string, table *boxsum.Table[S], window image.Rectangle) {
	t.Helper()
	view := table.Inclusive()
	_, err := fmt.Fprintln(s.In, do, reflect.TypeFor[S](), view.Height, view.Width,
		window.Min.Y, window.Min.X, window.Dx(), window.Dy())
	for y := 0; y < view.Height && err == nil; y++ {
		err = binary.Write(s.In, binary.NativeEndian, view.Row(y))
	}
	if err != nil {
		t.Fatal(err)
	}
}

func readInto(t testing.TB, s ref.Script, dst any) {
	t.Helper()
	if err := binary.Read(s.Out, binary.NativeEndian, dst); err != nil {
		t.Fatal(err)
	}
}

// TestScikitImage compares values, boxes and the order of both with scikit-image's.
func TestScikitImage(t *testing.T) {
	ref.SkipRace(t)
	s := ref.StartPython(t, "testdata/scikit.py")
	for _, window := range []image.Rectangle{
		image.Rect(0, 0, 24, 24), image.Rect(3, 2, 16, 14), image.Rect(5, 0, 12, 5), image.Rect(0, 7, 4, 18), image.Rect(28, 26, 31, 29),
	} {
		t.Run(fmt.Sprint(window), func(t *testing.T) {
			likeScikit[int64, uint32](t, s, noise[uint8](31, 29, 1), window)
			likeScikit[float64, float64](t, s, noise[float32](31, 29, 1), window)
			if window.Dx() == 24 { // scikit-image takes seconds for the 162,336 features of one table
				return
			}
			likeScikit[int64, uint64](t, s, noise[uint16](31, 29, 1), window)
			likeScikit[int64, int64](t, s, noise[int16](31, 29, 1), window)
			likeScikit[float64, float32](t, s, noise[uint8](31, 29, 1), window)
		})
	}
}

func likeScikit[V haar.Number, S boxsum.Sum, P boxsum.Pixel](t testing.TB, s ref.Script, img boxsum.Image[P], window image.Rectangle) {
	t.Helper()
	table := integrate[S](t, img, nil)
	set := all(t, window.Dx(), window.Dy(), haar.ViolaJones()...)
	got := make([]V, set.Len())
	if err := upright[V](t, table, 0).Values(got, set, []image.Point{window.Min}, nil); err != nil {
		t.Fatal(err)
	}

	// scikit-image adds up the wrong pixels in windows that do not start at the
	// image's corner, so it gets the window as an image of its own.
	own := boxsum.Image[P]{Pix: img.Pix[window.Min.Y*img.Width+window.Min.X:], Stride: img.Width, Width: window.Dx(), Height: window.Dy()}
	ask(t, s, "values", integrate[S](t, own, nil), window.Sub(window.Min))
	var n int
	if _, err := fmt.Fscanln(s.Out, &n); err != nil {
		t.Fatal(err)
	}
	if n != set.Len() {
		t.Fatalf("%d features, scikit-image has %d", set.Len(), n)
	}
	want := make([]float64, n)
	readInto(t, s, want)
	i, boxes := 0, []haar.Box(nil)
	for f := range set.Features() {
		if v := V(want[i]); got[i] != v {
			t.Fatalf("%T, feature %d, %v, is %v, of scikit-image %v", table, i, f, got[i], v)
		}
		boxes = append(boxes, f.Boxes()...)
		i++
	}
	corners := make([][4]int32, len(boxes)) // row, column of the first pixel and of the last
	readInto(t, s, corners)
	for i, c := range corners {
		if b := image.Rect(int(c[1]), int(c[0]), int(c[3])+1, int(c[2])+1); boxes[i].Bounds != b {
			t.Fatalf("box %d is %v, of scikit-image %v", i, boxes[i].Bounds, b)
		}
	}
}

// BenchmarkBesideScikitImage evaluates all features of a 24×24 window, alternating
// with scikit-image on the same table. It reports the best times; times-faster
// compares whole calls, and times-faster-listed a call that is given its
// coordinates.
func BenchmarkBesideScikitImage(b *testing.B) {
	s := ref.StartPython(b, "testdata/scikit.py")
	window := image.Rect(0, 0, 24, 24)
	img := noise[uint8](24, 24, 1)
	likeScikit[int64, uint32](b, s, img, window)
	table := integrate[uint32](b, img, nil)
	plane, set := upright[int64](b, table, 0), all(b, 24, 24, haar.ViolaJones()...)
	values := make([]int64, set.Len())
	whole, listed, ours, alone := int64(math.MaxInt64), int64(math.MaxInt64), int64(math.MaxInt64), int64(math.MaxInt64)
	for b.Loop() {
		for range 15 {
			var w, l int64
			ask(b, s, "time", table, window)
			if _, err := fmt.Fscanln(s.Out, &w, &l); err != nil {
				b.Fatal(err)
			}
			whole, listed = min(whole, w), min(listed, l)
			for range 20 {
				ours = min(ours, timed(b, plane, values, set, nil))
				alone = min(alone, timed(b, plane, values, set, &haar.Options{Workers: 1}))
			}
		}
	}
	b.ReportMetric(float64(whole)/1e6, "scikit-ms")
	b.ReportMetric(float64(listed)/1e6, "scikit-listed-ms")
	b.ReportMetric(float64(ours)/1e6, "boxsum-ms")
	b.ReportMetric(float64(alone)/1e6, "boxsum-1-worker-ms")
	b.ReportMetric(float64(whole)/float64(ours), "times-faster")
	b.ReportMetric(float64(listed)/float64(ours), "times-faster-listed")
}

func timed(b *testing.B, plane *haar.Plane[int64, uint32], values []int64, set *haar.Set, opt *haar.Options) int64 {
	start := time.Now()
	if err := plane.Values(values, set, []image.Point{{}}, opt); err != nil {
		b.Fatal(err)
	}
	return time.Since(start).Nanoseconds()
}
