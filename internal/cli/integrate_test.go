package cli

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/imgio"
	"github.com/boxsum/boxsum/internal/raster"
)

// TestIntegrateEqualsLibrary sends images of every pair of types through the
// command and compares what it writes with what the library makes.
func TestIntegrateEqualsLibrary(t *testing.T) {
	equalsLibrary[uint8, uint32](t)
	equalsLibrary[uint8, uint64](t)
	equalsLibrary[uint8, float32](t)
	equalsLibrary[uint8, float64](t)
	equalsLibrary[uint8, int64](t)
	equalsLibrary[uint16, uint64](t)
	equalsLibrary[uint16, float64](t)
	equalsLibrary[uint16, uint32](t)
	equalsLibrary[uint32, uint64](t)
	equalsLibrary[uint32, uint32](t)
	equalsLibrary[int16, int64](t)
	equalsLibrary[int16, float64](t)
	equalsLibrary[int32, int64](t)
	equalsLibrary[float32, float64](t)
	equalsLibrary[float32, float32](t)
	equalsLibrary[float64, float64](t)
}

func equalsLibrary[P boxsum.Pixel, S boxsum.Sum](t *testing.T) {
	t.Helper()
	random := rand.New(rand.NewPCG(1, 2))
	for _, shape := range [][]int{{1, 1}, {37, 53}, {19, 130, 3}} {
		channels := 1
		if len(shape) == 3 {
			channels = shape[2]
		}
		img, err := boxsum.NewImage[P](shape[1], shape[0], channels)
		if err != nil {
			t.Fatal(err)
		}
		for i := range img.Pix {
			img.Pix[i] = P(random.IntN(256))
		}
		want, err := boxsum.Integrate[S](img, nil)
		if err != nil {
			t.Fatal(err)
		}
		view := want.Exclusive()
		var wantFile, image, got bytes.Buffer
		if err := imgio.WriteNPY(&wantFile, imgio.ViewShape(view), imgio.ViewRows(view)); err != nil {
			t.Fatal(err)
		}
		if err := imgio.WriteNPY(&image, shape, func(yield func([]P) bool) { yield(img.Pix) }); err != nil {
			t.Fatal(err)
		}
		args := []string{"integrate", "-", "-o", "-", "--color", "keep", "--type", raster.TypeOf[S]().Short()}
		var stderr strings.Builder
		if code := run(t.Context(), args, &image, &got, &stderr); code != exitOK {
			t.Fatalf("%v: exit code %d: %s", args, code, &stderr)
		}
		if !bytes.Equal(wantFile.Bytes(), got.Bytes()) {
			t.Errorf("%s from %s %v: the command's table is not the library's", raster.TypeOf[S]().Short(), raster.TypeOf[P]().Short(), shape)
		}
	}
}
