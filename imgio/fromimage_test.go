package imgio

import (
	"bytes"
	"errors"
	"image"
	"image/color"
	"image/color/palette"
	"image/draw"
	"reflect"
	"testing"

	"github.com/boxsum/boxsum"
)

// plainImage hides the type of an image, like a type of another package.
type plainImage struct{ image.Image }

// imagesOfAllTypes draws the same colors in images of every type that can hold them.
func imagesOfAllTypes(clear bool) map[string]draw.Image {
	r := image.Rect(2, 3, 9, 8)
	all := map[string]draw.Image{
		"RGBA": image.NewRGBA(r), "NRGBA": image.NewNRGBA(r), "RGBA64": image.NewRGBA64(r), "NRGBA64": image.NewNRGBA64(r), "Paletted": image.NewPaletted(r, append(color.Palette{color.Transparent}, palette.WebSafe...)),
	}
	for y := r.Min.Y; y < r.Max.Y; y++ {
		for x := r.Min.X; x < r.Max.X; x++ {
			c := color.NRGBA{uint8(x%6) * 51, uint8(y%6) * 51, 0, 255}
			if clear && x == y {
				c = color.NRGBA{}
			}
			for _, m := range all {
				m.Set(x, y, c)
			}
		}
	}
	return all
}

// TestEncodeImages writes images of all types of package image in all formats.
func TestEncodeImages(t *testing.T) {
	for _, clear := range []bool{false, true} {
		for name, m := range imagesOfAllTypes(clear) {
			for _, img := range []image.Image{m, plainImage{m}} {
				for _, format := range []string{"png", "tiff", "pnm", "npy", "gif", "jpeg"} {
					var b bytes.Buffer
					err := Encode(&b, format, img)
					if format == "jpeg" {
						if clear != errors.Is(err, boxsum.ErrTypes) || !clear && err != nil {
							t.Errorf("%s as JPEG, transparent %v: %v", name, clear, err)
						}
						continue
					}
					if err != nil {
						t.Fatalf("%s as %s: %v", name, format, err)
					}
					p, err := Decode(&b, Keep)
					if err != nil {
						t.Fatal(err)
					}
					var got image.Image
					if p.Format == "npy" || err == nil {
						got, err = ToImage(p.Image)
					}
					if err != nil {
						t.Fatal(err)
					}
					bounds := m.Bounds()
					if got.Bounds().Size() != bounds.Size() {
						t.Fatalf("%s as %s: %v", name, format, got.Bounds())
					}
					for y := range bounds.Dy() {
						for x := range bounds.Dx() {
							if want, have := m.At(bounds.Min.X+x, bounds.Min.Y+y), got.At(x, y); !sameColor(want, have) {
								t.Fatalf("%s as %s, transparent %v: (%d, %d) is %v, want %v", name, format, clear, x, y, have, want)
							}
						}
					}
				}
			}
		}
	}
	// Colors of these types are not preserved exactly.
	for _, m := range []image.Image{image.NewYCbCr(image.Rect(0, 0, 5, 4), image.YCbCrSubsampleRatio420), image.NewCMYK(image.Rect(0, 0, 5, 4)), image.NewUniform(color.Black), image.NewAlpha16(image.Rect(0, 0, 3, 3)), image.NewGray16(image.Rect(1, 1, 3, 3))} {
		if u, ok := m.(*image.Uniform); ok {
			m = plainImage{cropped{u}}
		}
		for _, format := range []string{"png", "tiff", "pnm", "npy", "gif"} {
			var b bytes.Buffer
			if err := Encode(&b, format, m); err != nil {
				t.Errorf("%T as %s: %v", m, format, err)
			} else if p, err := Decode(&b, Keep); err != nil {
				t.Errorf("%T as %s: %v", m, format, err)
			} else if a, _ := arrayOf(p.Image); a.Width != m.Bounds().Dx() || a.Height != m.Bounds().Dy() {
				t.Errorf("%T as %s: %v", m, format, a.Extent)
			}
		}
	}
	for _, m := range []image.Image{(*image.Gray)(nil), image.NewGray(image.Rectangle{}), image.NewRGBA(image.Rect(0, 0, 0, 5))} {
		for _, format := range []string{"png", "tiff", "pnm", "pbm", "gif", "jpeg"} {
			if err := Encode(&bytes.Buffer{}, format, m); err == nil {
				t.Errorf("%T without pixels as %s: no error", m, format)
			}
		}
	}
}

type cropped struct{ *image.Uniform }

func (cropped) Bounds() image.Rectangle { return image.Rect(0, 0, 4, 3) }

func TestEncodeGIF(t *testing.T) {
	gray := tight(noise[uint8](300, 200, 1))
	var b bytes.Buffer
	if err := Encode(&b, "gif", gray); err != nil {
		t.Fatal(err)
	}
	if p, err := Decode(&b, ToGray); err != nil || !reflect.DeepEqual(p.Image, any(gray)) {
		t.Errorf("gray: other pixels, or %v", err)
	}
	// More than 256 colors are dithered, which preserves their mean.
	smooth := image.NewNRGBA(image.Rect(0, 0, 128, 128))
	for y := range 128 {
		for x := range 128 {
			smooth.SetNRGBA(x, y, color.NRGBA{uint8(2 * x), uint8(2 * y), 128, 255})
		}
	}
	smooth.SetNRGBA(0, 0, color.NRGBA{})
	if err := Encode(&b, "gif", smooth); err != nil {
		t.Fatal(err)
	}
	p, err := Decode(&b, Keep)
	if err != nil {
		t.Fatal(err)
	}
	got, sum := p.Image.(boxsum.Image[uint8]), [4]int{}
	for i, v := range got.Pix {
		sum[i%4] += int(v)
	}
	if n := 128 * 128; got.Pix[3] != 0 || sum[3] != 255*(n-1) || max(sum[0]/n-127, 127-sum[0]/n, sum[1]/n-127, 127-sum[1]/n, sum[2]/n-128, 128-sum[2]/n) > 3 {
		t.Errorf("means of %v", [3]int{sum[0] / n, sum[1] / n, sum[2] / n})
	}
	smooth.SetNRGBA(5, 5, color.NRGBA{1, 2, 3, 100})
	if err := Encode(&b, "gif", smooth); !errors.Is(err, boxsum.ErrTypes) {
		t.Errorf("partly transparent: %v", err)
	}
}

func TestEncodePBM(t *testing.T) {
	img := boxsum.Image[uint8]{Pix: []uint8{0, 255, 0, 0, 255, 255, 255, 255, 0, 255, 0, 0}, Width: 9, Height: 1, Stride: 12}
	var b bytes.Buffer
	if err := Encode(&b, "pbm", img); err != nil || b.String() != "P4\n9 1\n\xb0\x80" {
		t.Errorf("%q, %v", b.String(), err)
	}
	img.Pix[4] = 7
	if err := Encode(&b, "pbm", img); !errors.Is(err, boxsum.ErrTypes) {
		t.Errorf("gray: %v", err)
	}
}
