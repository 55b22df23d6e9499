package moments_test

import (
	"encoding/binary"
	"fmt"
	"image"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/ref"
	"github.com/boxsum/boxsum/moments"
)

func TestOpenCV(t *testing.T) {
	cv := ref.StartPython(t, "testdata/opencv.py")
	testOpenCV[uint8](t, cv)
	testOpenCV[uint16](t, cv)
	testOpenCV[int16](t, cv)
	testOpenCV[float32](t, cv)
	testOpenCV[float64](t, cv)
}

func testOpenCV[P boxsum.Pixel](t *testing.T, cv ref.Script) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, size := range [][2]int{{1, 1}, {64, 48}, {301, 199}, {700, 500}} {
		img := boxsum.Image[P]{Pix: make([]P, size[0]*size[1]), Width: size[0], Height: size[1]}
		for i := range img.Pix { // a gradient with noise, or all central moments of odd order would be noise
			x, y := i%size[0], i/size[0]
			img.Pix[i] = P((float64(x*x)/float64(size[0]*size[0]) + float64(x*y)/float64(size[0]*size[1]) + rng.Float64()) / 3 * 255)
		}
		table, err := moments.Integrate(img, nil)
		if err != nil {
			t.Fatal(err)
		}
		for range 10 {
			box := image.Rect(rng.IntN(size[0]+1), rng.IntN(size[1]+1), rng.IntN(size[0]+1), rng.IntN(size[1]+1))
			if box.Empty() || box.Dx() == 2 { // two columns of floats are points of a contour to OpenCV
				box = table.Bounds()
			}
			fmt.Fprintln(cv.In, reflect.TypeFor[P](), size[1], size[0], box.Min.X, box.Min.Y, box.Max.X, box.Max.Y)
			if err := binary.Write(cv.In, binary.NativeEndian, img.Pix); err != nil {
				t.Fatal(err)
			}
			want := make([]float64, 31)
			if err := binary.Read(cv.Out, binary.NativeEndian, want); err != nil {
				t.Fatal(err)
			}
			m := table.Moments(box, 0)
			compareOpenCV(t, fmt.Sprintf("%T, box %v of %v", *new(P), box, size), m, want)
		}
	}
}

// compareOpenCV tolerates OpenCV's rounding errors: it subtracts moments about the
// corner of the box, compared with which central moments are small.
func compareOpenCV(t *testing.T, name string, m moments.Moments, want []float64) {
	t.Helper()
	got := values(m)
	const rounding = 1e-13
	side := 1.0
	if m.M00 != 0 {
		side = math.Sqrt((m.M20 + m.M02) / m.M00)
	}
	tolerance := make([]float64, 31)
	for i := range 10 {
		tolerance[i] = rounding * math.Abs(want[i])
	}
	for i, p := range powers[3:] {
		order := float64(p[0] + p[1])
		tolerance[10+i] = 10 * rounding * m.M00 * math.Pow(side, order)
		tolerance[17+i] = tolerance[10+i]/math.Pow(m.M00, 1+order/2) + rounding*math.Abs(want[17+i])
	}
	// An invariant is a polynomial in the normalized moments, of this degree.
	second, third, off := 0.0, 0.0, 0.0
	for i := range 3 {
		second, off = math.Hypot(second, got[17+i]), math.Hypot(off, tolerance[17+i])
	}
	for i := 3; i < 7; i++ {
		third, off = math.Hypot(third, got[17+i]), math.Hypot(off, tolerance[17+i])
	}
	for i, degree := range [][2]float64{{1, 0}, {2, 0}, {0, 2}, {0, 2}, {0, 4}, {1, 2}, {0, 4}} {
		before := math.Pow(second+off, degree[0]) * math.Pow(third+off, degree[1])
		after := math.Pow(second+2*off, degree[0]) * math.Pow(third+2*off, degree[1])
		tolerance[24+i] = 100*(after-before) + 100*rounding*before
	}
	for i := range got {
		if !(math.Abs(got[i]-want[i]) <= tolerance[i]) {
			t.Errorf("%s: number %d is %v, OpenCV has %v; %v would do", name, i, got[i], want[i], tolerance[i])
		}
	}
}
