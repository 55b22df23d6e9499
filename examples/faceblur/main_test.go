package main

import (
	"image"
	"image/color"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"testing"
)

// TestHide draws a face, which must be found and hidden, while the rest of the picture is unchanged.
func TestHide(t *testing.T) {
	cascade := filepath.Join(folder(), "haarcascades", "haarcascade_frontalface_alt2.xml")
	if _, err := os.Stat(cascade); err != nil {
		const missing = "no cascade: install Debian's opencv-data, or let BOXSUM_CASCADES name the folder of OpenCV's cascades"
		if os.Getenv("CI") == "true" {
			t.Fatal(missing)
		}
		t.Skip(missing)
	}
	photo := drawFace()
	at := t.TempDir()
	from, to := filepath.Join(at, "party.png"), filepath.Join(at, "hidden.png")
	write(t, from, photo)
	faces, err := hide(from, to, cascade)
	if err != nil {
		t.Fatal(err)
	}
	if faces != 1 {
		t.Fatalf("%d faces, 1 was drawn", faces)
	}
	hidden := read(t, to)
	eye, corner := image.Pt(128, 128), image.Pt(5, 5)
	if before, after := photo.GrayAt(eye.X, eye.Y).Y, grayAt(hidden, eye); int(after)-int(before) < 30 {
		t.Errorf("an eye of %d is %d: it can be seen", before, after)
	}
	if before, after := photo.GrayAt(corner.X, corner.Y).Y, grayAt(hidden, corner); before != after {
		t.Errorf("the corner of %d is %d", before, after)
	}
	if _, err := hide(from, to, from); err == nil {
		t.Error("a picture is not a cascade")
	}
}

func folder() string {
	if f := os.Getenv("BOXSUM_CASCADES"); f != "" {
		return f
	}
	return "/usr/share/opencv4"
}

// drawFace draws something that a cascade detects as a face: a bright oval with dark eyes, brows, nostrils and mouth.
func drawFace() *image.Gray {
	face := image.NewGray(image.Rect(0, 0, 320, 320))
	for y := range 320 {
		for x := range 320 {
			in := func(cx, cy, rx, ry float64) float64 { // 1 inside, with a soft edge
				d := math.Hypot((float64(x)-cx)/rx, (float64(y)-cy)/ry)
				return 1 / (1 + math.Exp((d-1)*12))
			}
			v := 90.0
			paint := func(level, share float64) { v += (level - v) * share }
			paint(60, in(160, 130, 84, 92))
			paint(200, in(160, 165, 70, 95))
			for _, side := range []float64{-1, 1} {
				paint(80, 0.9*in(160+side*32, 112, 22, 5))
				paint(120, 0.8*in(160+side*32, 130, 22, 12))
				paint(40, in(160+side*32, 130, 9, 8))
				paint(110, 0.8*in(160+side*9, 186, 6, 4))
			}
			paint(230, 0.6*in(160, 160, 8, 30))
			paint(110, 0.9*in(160, 215, 28, 6))
			face.SetGray(x, y, color.Gray{Y: uint8(v)})
		}
	}
	return face
}

func write(t *testing.T, path string, img image.Image) {
	t.Helper()
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if err := png.Encode(file, img); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, path string) image.Image {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	img, err := png.Decode(file)
	if err != nil {
		t.Fatal(err)
	}
	return img
}

func grayAt(img image.Image, at image.Point) uint8 {
	return color.GrayModel.Convert(img.At(at.X, at.Y)).(color.Gray).Y
}
