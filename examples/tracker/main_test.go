package main

import (
	"image"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/boxsum/boxsum"
)

// TestTracker moves a patch of texture over noise and tests that it is followed.
func TestTracker(t *testing.T) {
	frame := func(at image.Point, seed uint64) boxsum.Image[uint8] {
		random := rand.New(rand.NewPCG(seed, 1))
		img := boxsum.Image[uint8]{Pix: make([]uint8, 160*120), Width: 160, Height: 120}
		for i := range img.Pix {
			x, y := i%160, i/160
			img.Pix[i] = uint8(90 + random.IntN(30) + x/8)
			if p := image.Pt(x, y).Sub(at); p.In(image.Rect(0, 0, 30, 24)) {
				img.Pix[i] = uint8(120 + 60*math.Sin(float64(p.X*p.X)/40) + 40*math.Cos(float64(p.Y)/3))
			}
		}
		return img
	}
	at := image.Pt(30, 40)
	follow, err := newTracker(frame(at, 0), image.Rect(30, 40, 60, 64))
	if err != nil {
		t.Fatal(err)
	}
	for i := range 8 {
		at = at.Add(image.Pt(7, 3-i))
		if err := follow.next(frame(at, uint64(i+1))); err != nil {
			t.Fatal(err)
		}
		if off := follow.box.Min.Sub(at); max(off.X, -off.X, off.Y, -off.Y) > 3 {
			t.Errorf("frame %d: the region is at %v and found at %v", i, at, follow.box)
		}
	}
	if _, err := newTracker(frame(at, 0), image.Rect(150, 100, 190, 140)); err == nil {
		t.Error("a region outside of the picture was taken")
	}
}

// TestCovariance compares the covariance of a box with the definition.
func TestCovariance(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	img := boxsum.Image[uint8]{Pix: make([]uint8, 40*30), Width: 40, Height: 30}
	for i := range img.Pix {
		img.Pix[i] = uint8(random.IntN(256))
	}
	box := image.Rect(5, 6, 31, 24)
	follow, err := newTracker(img, box)
	if err != nil {
		t.Fatal(err)
	}
	var sx, sv, sxv float64
	for y := box.Min.Y; y < box.Max.Y; y++ {
		for x := box.Min.X; x < box.Max.X; x++ {
			v := float64(img.Pix[y*40+x])
			sx, sv, sxv = sx+float64(x), sv+v, sxv+float64(x)*v
		}
	}
	area := float64(box.Dx() * box.Dy())
	if want := (sxv - sx*sv/area) / (area - 1); math.Abs(follow.model[0][2]-want) > 1e-9*math.Abs(want) {
		t.Errorf("covariance of x and brightness: %v, want %v", follow.model[0][2], want)
	}
	if d := distance(follow.model, follow.model); d > 1e-6 {
		t.Errorf("a region is %v from itself", d)
	}
	double := follow.model
	for i := range n {
		for j := range n {
			double[i][j] *= 2
		}
	}
	if d, want := distance(follow.model, double), math.Sqrt(n)*math.Ln2; math.Abs(d-want) > 1e-6 {
		t.Errorf("the double is %v away, want %v", d, want)
	}
}
