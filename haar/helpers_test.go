package haar_test

import (
	"image"
	"math/rand/v2"
	"testing"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/haar"
)

// failer is a *testing.T, a *testing.B or a *rapid.T.
type failer interface {
	Helper()
	Fatal(...any)
}

// noise returns an image of random small integers, including negative ones if the
// type has them, so that sums of floats are exact.
func noise[P boxsum.Pixel](width, height, channels int) boxsum.Image[P] {
	random := rand.New(rand.NewPCG(1, uint64(width*height)))
	img := boxsum.Image[P]{Width: width, Height: height, Channels: channels, Pix: make([]P, width*height*channels)}
	low := 0
	if P(0)-1 < 0 {
		low = -100
	}
	for i := range img.Pix {
		img.Pix[i] = P(low + random.IntN(256))
	}
	return img
}

func integrate[S boxsum.Sum, P boxsum.Pixel](t failer, img boxsum.Image[P], opt *boxsum.Options) *boxsum.Table[S] {
	t.Helper()
	table, err := boxsum.Integrate[S](img, opt)
	if err != nil {
		t.Fatal(err)
	}
	return table
}

func upright[V haar.Number, S boxsum.Sum](t failer, table *boxsum.Table[S], channel int) *haar.Plane[V, S] {
	t.Helper()
	plane, err := haar.Upright[V](table, channel)
	if err != nil {
		t.Fatal(err)
	}
	return plane
}

func all(t failer, width, height int, kinds ...haar.Kind) *haar.Set {
	t.Helper()
	set, err := haar.All(width, height, kinds...)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// pixels returns the sum of the pixels of a box, added one by one.
func pixels[V haar.Number, P boxsum.Pixel](img boxsum.Image[P], box image.Rectangle, channel int) (sum V) {
	for y := box.Min.Y; y < box.Max.Y; y++ {
		for x := box.Min.X; x < box.Max.X; x++ {
			sum += V(img.Pix[(y*img.Width+x)*img.Channels+channel])
		}
	}
	return sum
}

var _ failer = (*testing.T)(nil)
