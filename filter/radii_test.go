package filter_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/filter"
	"github.com/boxsum/boxsum/internal/ref"
)

// TestBoxRadii compares windows of all sizes with the definition.
func TestBoxRadii(t *testing.T) {
	ref.SkipRace(t)
	rng := rand.New(rand.NewPCG(ref.Seed(t, 3), 4))
	for i := range ref.Trials(t, 24) {
		testRadii[uint8](t, rng, i, 0)
		testRadii[uint16](t, rng, i, 0)
		testRadii[float32](t, rng, i, 1e-3)
		testRadii[float64](t, rng, i, 1e-9)
	}
}

func testRadii[P filter.Pixel](t *testing.T, rng *rand.Rand, round int, eps float64) {
	t.Helper()
	img := random[P](rng, 1+rng.IntN(40), 1+rng.IntN(30), 1+rng.IntN(4))
	opt := &filter.Options{Border: borders[round%len(borders)], Workers: 1 + round%3}
	if opt.Border == filter.Constant {
		opt.Value = 7
	}
	radii, err := boxsum.NewImage[uint16](img.Width, img.Height, 1+round%2)
	if err != nil {
		t.Fatal(err)
	}
	for i := range radii.Pix {
		radii.Pix[i] = uint16(rng.IntN(1 + rng.IntN(50)))
	}
	bad := eps > 0 && round%3 == 0
	if bad {
		img.Pix[rng.IntN(len(img.Pix))] = P(math.NaN())
		img.Pix[rng.IntN(len(img.Pix))] = P(math.Inf(1))
		img.Pix[rng.IntN(len(img.Pix))] = P(math.Inf(-1))
	}
	name := fmt.Sprintf("%d×%d×%d of %T, %v", img.Width, img.Height, img.Channels, *new(P), opt.Border)
	got := must[P](t, name)(filter.BoxRadii(img, radii, opt))
	var v []float64
	for y := range img.Height {
		for x := range img.Width {
			r := radii.Row(y)[x*radii.Channels:][:radii.Channels]
			w := filter.Window{Width: 2*int(r[0]) + 1, Height: 2*int(r[len(r)-1]) + 1}
			for c := range img.Channels {
				v = values(v, img, w, opt, x, y, c)
				_, want, _ := moments(v)
				if eps == 0 {
					want = math.Floor(want + 0.5)
				}
				have := float64(got.Pix[y*got.Stride+x*got.Channels+c])
				if !(math.Abs(have-want) <= eps) && !(have != have && want != want) && have != want {
					t.Fatalf("%s: (%d,%d) with radii %v is %v, want %v", name, x, y, r, have, want)
				}
			}
		}
	}
	over := img
	if err := filter.BoxRadiiInto(over, img, radii, opt); err != nil {
		t.Fatal(err)
	}
	if !bad {
		same(t, name+" in place", over, got)
	}
}

func TestBoxRadiiRefuses(t *testing.T) {
	img, _ := boxsum.NewImage[uint8](8, 8, 1)
	other, _ := boxsum.NewImage[uint8](8, 7, 1)
	three, _ := boxsum.NewImage[uint8](8, 8, 3)
	huge, _ := boxsum.NewImage[uint32](8, 8, 1)
	huge.Pix[3] = 1<<32 - 1
	for name, err := range map[string]error{
		"size":     second(filter.BoxRadii(img, other, nil)),
		"channels": second(filter.BoxRadii(img, three, nil)),
		"overlap":  filter.BoxRadiiInto(img, eight(t), img, nil),
		"huge":     second(filter.BoxRadii(img, huge, nil)),
	} {
		if err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if err := filter.BoxRadiiInto(img, eight(t), img, nil); !errors.Is(err, boxsum.ErrOverlap) {
		t.Error(err)
	}
	empty, _ := boxsum.NewImage[uint8](0, 5, 1)
	if _, err := filter.BoxRadii(empty, empty, nil); err != nil {
		t.Error(err)
	}
}

func second[A any](_ A, err error) error { return err }

func eight(t *testing.T) boxsum.Image[uint8] {
	t.Helper()
	img, err := boxsum.NewImage[uint8](8, 8, 1)
	if err != nil {
		t.Fatal(err)
	}
	return img
}
