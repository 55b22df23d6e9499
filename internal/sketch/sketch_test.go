package sketch

import (
	"errors"
	"image"
	"image/color"
	"math"
	"testing"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/haar"
	"github.com/boxsum/boxsum/internal/pixels"
	"github.com/boxsum/boxsum/rotated"
	"pgregory.net/rapid"
)

func lattice(t interface {
	Helper()
	Fatal(...any)
}, width, height int, rot rotated.Rotation) *rotated.Lattice {
	t.Helper()
	l, err := rotated.NewLattice(width, height, rot)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func someRotation(t *rapid.T) rotated.Rotation {
	return rotated.Rotation{A: rapid.IntRange(-6, 6).Draw(t, "a"), B: rapid.IntRange(1, 6).Draw(t, "b")}
}

// TestIdealRectangle tests that the nearest box of the rectangle drawn around a box is that box.
func TestIdealRectangle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := lattice(t, rapid.IntRange(1, 50).Draw(t, "width"), rapid.IntRange(1, 50).Draw(t, "height"), someRotation(t))
		box := rotated.Box{C0: rapid.IntRange(-40, 40).Draw(t, "c0"), R0: rapid.IntRange(-40, 40).Draw(t, "r0")}
		box.C1, box.R1 = box.C0+rapid.IntRange(1, 30).Draw(t, "columns"), box.R0+rapid.IntRange(1, 30).Draw(t, "rows")
		corners := Corners(l, box)
		a, b, c := corners[0], corners[1], corners[2]
		rect := rotated.Rectangle{
			X: (a.X + c.X) / 2, Y: (a.Y + c.Y) / 2,
			Width: math.Hypot(b.X-a.X, b.Y-a.Y), Height: math.Hypot(c.X-b.X, c.Y-b.Y),
			Degrees: math.Atan2(a.Y-b.Y, b.X-a.X) * 180 / math.Pi,
		}
		if rect.Degrees -= 180 * math.Round(rect.Degrees/180); math.Abs(rect.Degrees-l.Rotation().Degrees()) > 1e-9 {
			// Along an exchanged axis, the sides are exchanged.
			rect.Width, rect.Height, rect.Degrees = rect.Height, rect.Width, l.Rotation().Degrees()
		}
		got, err := l.FromRectangle(rect)
		if err != nil || got != box {
			t.Fatalf("the box nearest to that of %v along %v is %v, %v", box, l.Rotation(), got, err)
		}
		for i, p := range rectangleCorners(rect) {
			near := false
			for _, q := range corners {
				near = near || math.Hypot(p.X-q.X, p.Y-q.Y) < 1e-6
			}
			if !near {
				t.Fatalf("corner %d of %+v is %v, not of %v", i, rect, p, corners)
			}
		}
	})
}

// TestCoveredPixels tests that the counted pixels are those that the lattice counts, that they are tinted, and that all
// are in view.
func TestCoveredPixels(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := lattice(t, rapid.IntRange(1, 20).Draw(t, "width"), rapid.IntRange(1, 20).Draw(t, "height"), someRotation(t))
		box := rotated.Box{C0: rapid.IntRange(-20, 20).Draw(t, "c0"), R0: rapid.IntRange(-5, 25).Draw(t, "r0")}
		box.C1, box.R1 = box.C0+rapid.IntRange(0, 20).Draw(t, "columns"), box.R0+rapid.IntRange(0, 20).Draw(t, "rows")
		boxes := []Box{{box, rapid.SampledFrom([]int{-1, 1}).Draw(t, "weight")}}
		plus, minus := Count(l, boxes)
		if want := int(l.Area(box)); plus+minus != want || (plus > 0 && boxes[0].Weight < 0) {
			t.Fatalf("%d + and %d − of %d pixels", plus, minus, want)
		}
		f := Figure{Lattice: l, Boxes: boxes, Scale: rapid.SampledFrom([]int{1, 5, 6, 20}).Draw(t, "scale")}
		if err := f.check(); err != nil {
			t.Fatal(err)
		}
		around := Around(l, boxes, 1)
		for y := range f.View.Max.Y {
			for x := range f.View.Max.X {
				dst := image.NewRGBA(image.Rect(0, 0, 20*20+1, 20*20+1))
				f.pixel(dst, x, y)
				c, r := l.Cell(x, y)
				at := dst.RGBAAt(x*f.Scale+f.Scale/4, y*f.Scale+f.Scale/4)
				weight, covered := weigh(boxes, c, r)
				if covered && !image.Pt(x, y).In(around) {
					t.Fatalf("pixel (%d,%d) is not in %v", x, y, around)
				}
				if blue := at.B > at.R; covered && blue != (weight > 0) || !covered && at.R < shaded.R {
					t.Fatalf("pixel (%d,%d), covered %v, is %v", x, y, covered, at)
				}
			}
		}
	})
}

func TestFeature(t *testing.T) {
	l := lattice(t, 24, 24, rotated.Rotation{A: -2, B: 3})
	f, err := haar.New(haar.CenterSurround, image.Rect(0, 0, 9, 9))
	if err != nil {
		t.Fatal(err)
	}
	boxes := Feature(l, f, image.Pt(12, 6))
	plus, minus := Count(l, boxes)
	if len(boxes) != 2 || int64(plus) != l.Area(boxes[1].Box) || int64(plus+minus) != l.Area(boxes[0].Box) || plus == 0 {
		t.Errorf("boxes %v cover %d + and %d −", boxes, plus, minus)
	}
}

// TestMiddle tests that features are centered to within about a pixel.
func TestMiddle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := lattice(t, rapid.IntRange(40, 60).Draw(t, "width"), rapid.IntRange(40, 60).Draw(t, "height"), someRotation(t))
		x, y := rapid.IntRange(-9, 9).Draw(t, "x"), rapid.IntRange(-9, 9).Draw(t, "y")
		bounds := image.Rect(x, y, x+rapid.IntRange(1, 12).Draw(t, "columns"), y+rapid.IntRange(1, 12).Draw(t, "rows"))
		corners := Corners(l, haar.Cells(l, bounds, Middle(l, bounds)))
		width, height := l.Size()
		dx, dy := (corners[0].X+corners[2].X-float64(width))/2, (corners[0].Y+corners[2].Y-float64(height))/2
		if math.Hypot(dx, dy) > 1.6 {
			t.Fatalf("%v along %v is off by (%v,%v)", bounds, l.Rotation(), dx, dy)
		}
	})
}

func TestDraw(t *testing.T) {
	l := lattice(t, 30, 20, rotated.Rotation{A: 1, B: 2})
	boxes := []Box{{rotated.Box{C0: 1, R0: 8, C1: 12, R1: 15}, 1}, {rotated.Box{C0: 12, R0: 8, C1: 20, R1: 15}, -1}}
	gray := image.NewGray(image.Rect(5, 5, 35, 25))
	for _, test := range []struct {
		name   string
		figure Figure
		want   image.Point
	}{
		{"blank", Figure{Lattice: l, Boxes: boxes}, image.Pt(30*33+1, 20*33+1)},
		{"image", Figure{Lattice: l, Image: gray, Boxes: boxes, Scale: 2}, image.Pt(60, 40)},
		{"view", Figure{Lattice: l, View: image.Rect(-5, 3, 10, 8), Boxes: boxes, Scale: 10}, image.Pt(101, 51)},
		{"outlines", Figure{Lattice: l, Outlines: []rotated.Rectangle{{X: 10, Y: 10, Width: 1e9, Height: 3, Degrees: 5}, {X: 3, Y: 3, Width: 2, Height: 2}}, Scale: 10}, image.Pt(301, 201)},
	} {
		got, err := Draw(test.figure)
		if err != nil || got.Rect.Size() != test.want {
			t.Errorf("%s: %v, %v, want a picture of %v", test.name, got, err, test.want)
		}
	}
	for _, test := range []struct {
		figure Figure
		want   string
	}{
		{Figure{}, "nil lattice"},
		{Figure{Lattice: l, Image: image.NewGray(image.Rect(0, 0, 5, 5))}, "image is 5×5, want 30×20 like the lattice"},
		{Figure{Lattice: l, View: image.Rect(50, 50, 60, 60)}, "the part to draw is outside the image of 30×20"},
		{Figure{Lattice: lattice(t, 0, 5, rotated.Rotation{A: 1, B: 2})}, "the part to draw is outside the image of 0×5"},
		{Figure{Lattice: l, Scale: -1}, "picture has 30×20 pixels, each drawn -1 wide, want at most 67108864 pixels in all (show a smaller part, or make pixels smaller)"},
		{Figure{Lattice: l, Scale: math.MaxInt}, "picture has 30×20 pixels, each drawn 9223372036854775807 wide, want at most 67108864 pixels in all (show a smaller part, or make pixels smaller)"},
	} {
		if _, err := Draw(test.figure); !errors.Is(err, boxsum.ErrInvalid) || err.Error() != test.want && math.MaxInt > math.MaxInt32 {
			t.Errorf("got  %v\nwant %s", err, test.want)
		}
	}
}

// TestShow tests that values of any type become shades of gray, and channels colors.
func TestShow(t *testing.T) {
	grey := func(v uint8) color.RGBA { return color.RGBA{v, v, v, 255} }
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	for name, test := range map[string]struct {
		img  image.Image
		want []color.RGBA
	}{
		"uint8":    {Show(pixels.Of(boxsum.Image[uint8]{Pix: []uint8{10, 20}, Stride: 2, Width: 2, Height: 1, Channels: 1})), []color.RGBA{grey(10), grey(20)}},
		"int16":    {Show(pixels.Of(boxsum.Image[int16]{Pix: []int16{-5, 0, 5}, Stride: 3, Width: 3, Height: 1, Channels: 1})), []color.RGBA{grey(0), grey(128), grey(255)}},
		"float32":  {Show(pixels.Of(boxsum.Image[float32]{Pix: []float32{-1, 3, nan, inf}, Stride: 4, Width: 4, Height: 1, Channels: 1})), []color.RGBA{grey(0), grey(255), grey(0), grey(255)}},
		"flat":     {Show(pixels.Of(boxsum.Image[float64]{Pix: []float64{7, 7}, Stride: 2, Width: 2, Height: 1, Channels: 1})), []color.RGBA{grey(128), grey(128)}},
		"channels": {Show(pixels.Of(boxsum.Image[uint8]{Pix: []uint8{1, 2, 3, 9}, Stride: 4, Width: 1, Height: 1, Channels: 4})), []color.RGBA{{1, 2, 3, 255}}},
	} {
		for x, want := range test.want {
			if got := test.img.At(x, 0); got != want {
				t.Errorf("%s: pixel %d is %v, want %v", name, x, got, want)
			}
		}
	}
}
