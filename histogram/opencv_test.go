package histogram_test

import (
	"encoding/binary"
	"fmt"
	"image"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/histogram"
	"github.com/boxsum/boxsum/internal/ref"
)

func TestOpenCV(t *testing.T) {
	p := ref.StartPython(t, "testdata/opencv.py")
	testOpenCV[uint8](t, p, histogram.Bins{N: 32, Low: 0, High: 256}, false)
	testOpenCV[uint8](t, p, histogram.Bins{N: 10, Low: 20, High: 200}, true)
	testOpenCV[uint16](t, p, histogram.Bins{N: 256, Low: 0, High: 65536}, false)
	testOpenCV[float32](t, p, histogram.Bins{N: 17, Low: -20, High: 33}, false)
}

// testOpenCV skips OpenCV if pixels fall on edges that it rounds, because it then
// counts them on either side.
func testOpenCV[P boxsum.Pixel](t *testing.T, py ref.Script, bins histogram.Bins, rounds bool) {
	rng := rand.New(rand.NewPCG(1, 2))
	img := random[P](rng, 97, 61, 1)
	img.Pix[5] = P(bins.Low)
	table, err := histogram.Integrate(img, bins, nil)
	if err != nil {
		t.Fatal(err)
	}
	whole := table.Histogram(nil, table.Bounds(), 0)
	for range 10 {
		box := image.Rect(rng.IntN(97), rng.IntN(61), 97, 61)
		fmt.Fprintln(py.In, reflect.TypeFor[P](), img.Height, img.Width, bins.N, bins.Low, bins.High, box.Min.X, box.Min.Y, box.Max.X, box.Max.Y)
		for y := range img.Height {
			if err := binary.Write(py.In, binary.NativeEndian, img.Row(y)); err != nil {
				t.Fatal(err)
			}
		}
		counts, theirs := make([]int64, bins.N), make([]int64, bins.N)
		var distance float64
		for _, to := range []any{counts, theirs, &distance} {
			if err := binary.Read(py.Out, binary.NativeEndian, to); err != nil {
				t.Fatal(err)
			}
		}
		h := table.Histogram(nil, box, 0)
		for i, n := range h {
			if int64(n) != counts[i] {
				t.Errorf("%T, %+v: bin %d of box %v is %d, NumPy has %d", *new(P), bins, i, box, n, counts[i])
			}
			if !rounds && int64(n) != theirs[i] {
				t.Errorf("%T, %+v: bin %d of box %v is %d, OpenCV has %d", *new(P), bins, i, box, n, theirs[i])
			}
		}
		if rounds {
			continue
		}
		// OpenCV takes the square root of 1 minus the overlap, which magnifies the rounding of floats.
		if got := histogram.Bhattacharyya(h, whole); math.Abs(got-distance) > 1e-4 {
			t.Errorf("%T: the distance of box %v is %v, OpenCV has %v", *new(P), box, got, distance)
		}
	}
}
