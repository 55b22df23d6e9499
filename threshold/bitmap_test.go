package threshold_test

import (
	"bytes"
	"errors"
	"image/color"
	"image/png"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/imgio"
	"github.com/boxsum/boxsum/threshold"
)

// TestSaveBitmap tests that formats that support it store bitmaps with one bit per pixel.
func TestSaveBitmap(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 5))
	b, err := threshold.NewBitmap(77, 31)
	if err != nil {
		t.Fatal(err)
	}
	for i := range b.Bits {
		b.Bits[i] = byte(rng.Uint32())
	}
	for _, name := range []string{"a.png", "a.tiff", "a.pbm", "a.pgm", "a.gif", "a.npy", "a.jpg"} {
		path := filepath.Join(t.TempDir(), name)
		if err := imgio.SaveWith(path, b, imgio.Metadata{XResolution: 300, YResolution: 300}); err != nil {
			t.Fatal(err)
		}
		p, err := imgio.Open(path, imgio.ToGray)
		if err != nil {
			t.Fatal(err)
		}
		if want := map[string]int{"a.png": 1, "a.tiff": 1, "a.pbm": 1, "a.npy": 0}; name != "a.npy" && (p.Bits == 1) != (want[name] == 1) {
			t.Errorf("%s: %d bits", name, p.Bits)
		}
		img := p.Image.(boxsum.Image[uint8])
		for y := range 31 {
			for x := range 77 {
				if v := img.Row(y)[x]; name != "a.jpg" && b.Black(x, y) != (v == 0) || v != 0 && v != 255 && name != "a.jpg" {
					t.Fatalf("%s: (%d, %d) is %d, black %v", name, x, y, v, b.Black(x, y))
				}
			}
		}
	}
	if short := (threshold.Bitmap{Width: 9, Height: 9, Bits: make([]byte, 10)}); !errors.Is(imgio.Encode(&bytes.Buffer{}, "png", short), boxsum.ErrInvalid) || short.Row(0) != nil {
		t.Error("a bitmap with too few bytes is written")
	}
	if b.Row(-1) != nil || b.Row(31) != nil || len(b.Row(30)) != 10 {
		t.Error("rows")
	}
	// A Bitmap is an image with a palette, which package image/png writes with one bit per pixel.
	var file bytes.Buffer
	if err := png.Encode(&file, b); err != nil {
		t.Fatal(err)
	}
	if config, err := png.DecodeConfig(&file); err != nil || len(config.ColorModel.(color.Palette)) != 2 {
		t.Errorf("%v, %v", config, err)
	}
}
