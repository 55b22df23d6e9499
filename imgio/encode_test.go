package imgio

import (
	"bytes"
	"errors"
	"image"
	"image/color"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/boxsum/boxsum"
)

func noise[P boxsum.Pixel](w, h, channels int) boxsum.Image[P] {
	rng := rand.New(rand.NewPCG(uint64(w), uint64(h)))
	img := boxsum.Image[P]{Pix: make([]P, (w*channels+3)*h), Width: w, Height: h, Channels: channels, Stride: w*channels + 3}
	for i := range img.Pix {
		img.Pix[i] = P(rng.IntN(1 << 15))
	}
	return img
}

// tight returns an image without gaps between its rows.
func tight[P boxsum.Pixel](img boxsum.Image[P]) boxsum.Image[P] {
	to := img
	to.Pix, to.Stride = nil, img.Width*img.Channels
	for y := range img.Height {
		to.Pix = append(to.Pix, img.Row(y)...)
	}
	return to
}

// TestEncode tests that images are read back unchanged.
func TestEncode(t *testing.T) {
	for _, size := range [][2]int{{1, 1}, {7, 5}, {300, 401}} {
		for channels := 1; channels <= 4; channels++ {
			writesAndReads(t, noise[uint8](size[0], size[1], channels), "png", "tiff", "pnm", "npy")
			writesAndReads(t, noise[uint16](size[0], size[1], channels), "png", "tiff", "pnm", "npy")
			writesAndReads(t, noise[uint32](size[0], size[1], channels), "tiff", "npy")
			writesAndReads(t, noise[int16](size[0], size[1], channels), "tiff", "npy")
			writesAndReads(t, noise[int32](size[0], size[1], channels), "tiff", "npy")
			writesAndReads(t, noise[float32](size[0], size[1], channels), "tiff", "npy")
			writesAndReads(t, noise[float64](size[0], size[1], channels), "tiff", "npy")
		}
	}
}

func writesAndReads[P boxsum.Pixel](t *testing.T, img boxsum.Image[P], formats ...string) {
	t.Helper()
	for _, format := range formats {
		var b bytes.Buffer
		if err := Encode(&b, format, img); err != nil {
			t.Fatalf("%T, %d channels as %s: %v", img, img.Channels, format, err)
		}
		got, err := Decode(&b, Keep)
		if err != nil {
			t.Fatalf("%T, %d channels as %s: %v", img, img.Channels, format, err)
		}
		want := tight(img)
		picture := got.Element == ""                                               // arrays have an element type
		if img.Channels == 2 && picture && (format == "tiff" || format == "png") { // as R, G, B, A
			wide := want
			wide.Pix, wide.Channels, wide.Stride = nil, 4, 4*img.Width
			for i := 0; i < len(want.Pix); i += 2 {
				v := want.Pix[i]
				wide.Pix = append(wide.Pix, v, v, v, want.Pix[i+1])
			}
			want = wide
		}
		have, ok := got.Image.(boxsum.Image[P])
		if !ok || got.Format != format {
			t.Fatalf("%T as %s is %T of %s", img, format, got.Image, got.Format)
		}
		if !reflect.DeepEqual(tight(have), want) {
			t.Errorf("%T, %d×%d, %d channels as %s: other pixels", img, img.Width, img.Height, img.Channels, format)
		}
	}
}

func TestEncodeRefuses(t *testing.T) {
	var b bytes.Buffer
	for _, c := range []struct {
		format string
		img    any
		want   error
	}{
		{"bmp", noise[uint8](2, 2, 1), boxsum.ErrInvalid},
		{"gif", noise[uint16](2, 2, 1), boxsum.ErrTypes},
		{"png", noise[float32](2, 2, 1), boxsum.ErrTypes},
		{"pnm", noise[float32](2, 2, 1), boxsum.ErrTypes},
		{"pbm", noise[float64](2, 2, 1), boxsum.ErrTypes},
		{"tiff", "text", boxsum.ErrTypes},
		{"npy", "text", boxsum.ErrTypes},
		{"png", noise[uint8](0, 2, 1), boxsum.ErrInvalid},
		{"tiff", noise[uint8](2, 0, 1), boxsum.ErrInvalid},
		{"pnm", noise[uint8](2, 2, 5), boxsum.ErrInvalid},
		{"tiff", boxsum.Image[uint8]{Width: 3, Height: 3, Channels: 1}, boxsum.ErrInvalid},
	} {
		if err := Encode(&b, c.format, c.img); !errors.Is(err, c.want) {
			t.Errorf("%T as %s: %v", c.img, c.format, err)
		}
	}
}

func TestSave(t *testing.T) {
	folder := t.TempDir()
	img := tight(noise[uint8](5, 4, 3))
	for _, name := range []string{"a.PNG", "a.tif", "a.ppm", "a.npy"} {
		path := filepath.Join(folder, name)
		if err := Save(path, img); err != nil {
			t.Fatal(err)
		}
		got, err := Open(path, Keep)
		if err != nil || !reflect.DeepEqual(got.Image, img) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := Save(filepath.Join(folder, "a.bmp"), img); err == nil || !strings.Contains(err.Error(), ".png") {
		t.Error(err)
	}
}

// TestPNMVariants tests that a file has the variant of PNM that its extension names.
func TestPNMVariants(t *testing.T) {
	for _, c := range []struct {
		name     string
		channels int
		want     string // how the file begins, or what the error says
	}{
		{"a.pgm", 1, "P5\n"}, {"a.pgm", 2, "not 2 channels"}, {"a.pgm", 3, "not 3 channels (convert the image to gray, or use .ppm"},
		{"a.ppm", 1, "P6\n"}, {"a.ppm", 3, "P6\n"}, {"a.ppm", 4, "color images without alpha, not 4 channels"},
		{"a.pam", 1, "P7\n"}, {"a.pam", 2, "P7\n"}, {"a.pam", 3, "P7\n"}, {"a.pam", 4, "P7\n"},
		{"a.pnm", 1, "P5\n"}, {"a.pnm", 2, "P7\n"}, {"a.pnm", 3, "P6\n"}, {"a.pnm", 4, "P7\n"},
	} {
		pnmVariant(t, c.name, tight(noise[uint8](5, 4, c.channels)), c.want)
		pnmVariant(t, c.name, tight(noise[uint16](5, 4, c.channels)), c.want)
	}
}

func pnmVariant[P uint8 | uint16](t *testing.T, name string, img boxsum.Image[P], want string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	err := Save(path, img)
	if !strings.HasPrefix(want, "P") {
		if !errors.Is(err, boxsum.ErrTypes) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s of %d channels: %v, want %q", name, img.Channels, err, want)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil || !strings.HasPrefix(string(data), want) {
		t.Errorf("%s of %d channels begins with %.3q, want %q", name, img.Channels, data, want)
	}
	mode := Keep
	if name == "a.ppm" && img.Channels == 1 {
		mode = ToGray
	}
	got, err := Open(path, mode)
	if err != nil || !reflect.DeepEqual(got.Image, img) {
		t.Errorf("%s of %d channels: read %v, %v", name, img.Channels, got.Image, err)
	}
}

// TestEncodeJPEG tests that JPEG is close to the original, and that images it cannot hold are refused.
func TestEncodeJPEG(t *testing.T) {
	for _, channels := range []int{1, 3} {
		img := boxsum.Image[uint8]{Pix: make([]uint8, 37*(23*channels+5)), Width: 23, Height: 37, Channels: channels, Stride: 23*channels + 5}
		for y := range img.Height {
			for i := range img.Row(y) {
				img.Row(y)[i] = uint8(3*y + 2*(i/channels))
			}
		}
		var b bytes.Buffer
		if err := Encode(&b, "jpeg", img); err != nil {
			t.Fatal(err)
		}
		got, err := Decode(&b, Keep)
		if err != nil {
			t.Fatal(err)
		}
		read := got.Image.(boxsum.Image[uint8])
		if read.Width != 23 || read.Height != 37 || read.Channels != channels {
			t.Fatalf("read %d×%d×%d", read.Width, read.Height, read.Channels)
		}
		for y := range img.Height {
			for i, v := range img.Row(y) {
				if d := int(read.Row(y)[i]) - int(v); d < -6 || d > 6 {
					t.Fatalf("%d channels: %d is read as %d", channels, v, read.Row(y)[i])
				}
			}
		}
	}
	for _, img := range []any{noise[uint8](3, 3, 2), noise[uint8](3, 3, 4), noise[uint16](3, 3, 1), noise[float32](3, 3, 3)} {
		if err := Encode(&bytes.Buffer{}, "jpeg", img); !errors.Is(err, boxsum.ErrTypes) {
			t.Errorf("%T: %v", img, err)
		}
	}
	for _, img := range []any{boxsum.Image[uint8]{Width: 0, Height: 4}, boxsum.Image[uint8]{Pix: make([]uint8, 1<<16), Width: 1 << 16, Height: 1}} {
		if err := Encode(&bytes.Buffer{}, "jpeg", img); !errors.Is(err, boxsum.ErrInvalid) {
			t.Errorf("%T: %v", img, err)
		}
	}
}

// TestSaveRefuses tests that every format refuses values that are not images, and images without end.
func TestSaveRefuses(t *testing.T) {
	for _, extension := range []string{".png", ".tif", ".pgm", ".ppm", ".pnm", ".pam", ".pbm", ".jpg", ".gif", ".npy"} {
		for _, img := range []any{nil, 3, "picture", (*image.RGBA)(nil), image.NewUniform(color.White)} {
			path := filepath.Join(t.TempDir(), "x"+extension)
			err := Save(path, img)
			if err == nil || !strings.Contains(err.Error(), "cannot be written") && !strings.Contains(err.Error(), "2000000000×2000000000 pixels") {
				t.Errorf("%s of a %T: %v", extension, img, err)
			}
			if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("%s of a %T leaves a file: %v", extension, img, err)
			}
		}
	}
}
