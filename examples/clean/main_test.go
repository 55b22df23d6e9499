package main

import (
	"image"
	"image/color"
	"image/png"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
)

// TestClean cleans a page that is dark on its right, with specks: ink must be exactly where it was drawn.
func TestClean(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	scan := image.NewGray(image.Rect(0, 0, 400, 300))
	inked := func(x, y int) bool { return x > 40 && x < 360 && y > 30 && y < 270 && y%24 < 4 && x%50 > 8 }
	for y := range 300 {
		for x := range 400 {
			light := 230 - 130*x/400
			if inked(x, y) {
				light = light * 2 / 5
			}
			if random.IntN(300) == 0 {
				light = 0
			}
			scan.SetGray(x, y, color.Gray{Y: uint8(light)})
		}
	}
	folder := t.TempDir()
	from, to := filepath.Join(folder, "scan.png"), filepath.Join(folder, "clean.png")
	file, err := os.Create(from)
	if err != nil {
		t.Fatal(err)
	}
	if err := png.Encode(file, scan); err != nil {
		t.Fatal(err)
	}
	file.Close()
	if err := clean(from, to); err != nil {
		t.Fatal(err)
	}
	if file, err = os.Open(to); err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	page, err := png.Decode(file)
	if err != nil {
		t.Fatal(err)
	}
	wrong := 0
	for y := range 300 {
		for x := range 400 {
			if black := color.GrayModel.Convert(page.At(x, y)).(color.Gray).Y < 128; black != inked(x, y) {
				wrong++
			}
		}
	}
	if wrong > 400*300/200 { // medians round the corners of strokes
		t.Errorf("%d of %d pixels are wrong", wrong, 400*300)
	}
	for _, format := range []string{"clean.tiff", "clean.pbm"} {
		if err := clean(from, filepath.Join(folder, format)); err != nil {
			t.Error(err)
		}
	}
	if clean(filepath.Join(folder, "none.png"), to) == nil || clean(from, "clean.docx") == nil {
		t.Error("what cannot be was done")
	}
}
