package match_test

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/boxsum/boxsum/internal/ref"
	"github.com/boxsum/boxsum/match"
)

// TestPeers compares scores with OpenCV's, as far as its float32 is accurate: for noise, in which every window has
// contrast.
func TestPeers(t *testing.T) {
	ref.SkipRace(t)
	py := ref.StartPython(t, "testdata/opencv.py")
	rng := rand.New(rand.NewPCG(18, 18))
	for i := range 24 {
		m := match.Method(i % 3)
		c := []int{1, 3}[i/3%2]
		w, h := 4+rng.IntN(60), 4+rng.IntN(40)
		img := picture[uint8](rng, w+rng.IntN(150), h+rng.IntN(100), c, 0)
		template := picture[uint8](rng, w, h, c, 0)
		fmt.Fprintln(py.In, m, img.Height, img.Width, h, w, c)
		for y := range img.Height {
			py.In.Write(img.Row(y))
		}
		for y := range h {
			py.In.Write(template.Row(y))
		}
		got, err := match.Match(img, template, m, nil)
		if err != nil {
			t.Fatal(err)
		}
		want := make([]float32, got.Width*got.Height)
		if err := binary.Read(py.Out, binary.NativeEndian, want); err != nil {
			t.Fatal(err)
		}
		tolerance := 2e-5
		if m == match.SSD {
			tolerance = 1e-6 * 255 * 255 * float64(w*h*c)
		}
		for k, v := range want {
			if g := got.Row(k / got.Width)[k%got.Width]; math.Abs(float64(g)-float64(v)) > tolerance {
				t.Fatalf("%v of %d×%d×%d in %d×%d: %v at %d, cv2.matchTemplate has %v", m, w, h, c, img.Width, img.Height, g, k, v)
			}
		}
	}
}
