package explore

import (
	"image"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/hog"
	"github.com/boxsum/boxsum/internal/pixels"
)

// TestGradients compares the histograms of cells with a table of the whole image, for all types.
func TestGradients(t *testing.T) {
	rnd := rand.New(rand.NewPCG(4, 40))
	const w, h = 83, 61
	gray := boxsum.Image[uint8]{Pix: make([]uint8, w*h), Stride: w, Width: w, Height: h, Channels: 1}
	pairs := boxsum.Image[uint8]{Pix: make([]uint8, w*h*2), Stride: w * 2, Width: w, Height: h, Channels: 2}
	words := boxsum.Image[uint16]{Pix: make([]uint16, w*h), Stride: w, Width: w, Height: h, Channels: 1}
	for i := range gray.Pix {
		gray.Pix[i] = uint8(rnd.IntN(256))
		pairs.Pix[2*i+1], words.Pix[i] = gray.Pix[i], 1000+10*uint16(gray.Pix[i])
	}
	gray.Pix[0], gray.Pix[1] = 0, 255 // the range of words
	pairs.Pix[1], pairs.Pix[3], words.Pix[0], words.Pix[1] = 0, 255, 1000, 3550
	table, err := hog.Integrate(gray, hog.Votes{Linear: true, Spread: 1}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for channel, img := range []any{gray, pairs, words} {
		p, err := newPlane(t.Context(), pixels.Of(img))
		if err != nil {
			t.Fatal(err)
		}
		for range 50 {
			corner := image.Pt(rnd.IntN(w+10)-10, rnd.IntN(h+10)-10)
			cell := image.Rectangle{Min: corner, Max: corner.Add(image.Pt(11+rnd.IntN(30), 11+rnd.IntN(30)))}
			got, err := p.gradients(cell, channel%2)
			if err != nil {
				t.Fatal(err)
			}
			if want := table.Histogram(nil, cell); !slices.Equal(got.Sums, want) || got.Centers[0] != 10 || got.Centers[8] != 170 {
				t.Fatalf("%T: the gradients of %v are %v, want %v", img, cell, got, want)
			}
		}
		for _, cell := range []image.Rectangle{image.Rect(3, 3, 3, 9), image.Rect(w, 0, w+8, 8)} {
			if got, err := p.gradients(cell, 0); err == nil {
				t.Errorf("%v has the gradients %v", cell, got)
			}
		}
	}
	p, err := newPlane(t.Context(), pixels.Of(boxsum.Image[uint8]{Pix: make([]uint8, 300*2), Stride: 300, Width: 300, Height: 2, Channels: 1}))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.gradients(image.Rect(0, 0, 257, 2), 0); err == nil {
		t.Error("a cell of 257 pixels is accepted")
	}
}
