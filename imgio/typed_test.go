package imgio

import (
	"bytes"
	"errors"
	"image/png"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/boxsum/boxsum"
)

// TestToImage writes images as PNG and reads them back.
func TestToImage(t *testing.T) {
	toImageAndBack[uint8](t)
	toImageAndBack[uint16](t)
}

func toImageAndBack[P uint8 | uint16](t *testing.T) {
	t.Helper()
	for channels := 1; channels <= 4; channels++ {
		img := boxsum.Image[P]{Pix: make([]P, 5*3*channels), Stride: 5 * channels, Width: 5, Height: 3, Channels: channels}
		for i := range img.Pix {
			img.Pix[i] = P(i*257 + 100)
		}
		m, err := ToImage(img)
		if err != nil {
			t.Fatal(err)
		}
		if c := channels; c == 1 || c == 3 {
			var b bytes.Buffer
			if err := png.Encode(&b, m); err != nil {
				t.Fatal(err)
			}
			p, err := Decode(&b, Keep)
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(p.Image, any(img)) {
				t.Errorf("%d channels: %v, want %v", channels, p.Image, img)
			}
			continue
		}
		_, _, _, a := m.At(1, 0).RGBA()
		want := uint32(img.Pix[2*channels-1])
		if _, deep := any(img.Pix).([]uint16); !deep {
			want *= 257
		}
		if a != want {
			t.Errorf("%d channels: alpha %d, want %d", channels, a, want)
		}
	}
}

func TestToImageRefuses(t *testing.T) {
	for _, img := range []any{
		nil, boxsum.Image[float32]{}, boxsum.Image[uint8]{Width: 2, Height: 2}, boxsum.Image[uint8]{Width: -1},
		boxsum.Image[uint16]{Pix: make([]uint16, 100), Width: 2, Height: 2, Channels: 5},
		boxsum.Image[uint8]{Pix: make([]uint8, 100), Width: 9, Height: 2, Stride: 3},
	} {
		if m, err := ToImage(img); err == nil {
			t.Errorf("%#v is shown as %v", img, m.Bounds())
		}
	}
}

func TestOpenImage(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.pgm")
	if err := os.WriteFile(path, []byte("P2 2 1 255 3 4"), 0o600); err != nil {
		t.Fatal(err)
	}
	img, file, err := OpenImage[uint8](path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if img.Row(0)[1] != 4 {
		t.Errorf("pixels %v", img.Row(0))
	}
	if _, _, err := OpenImage[uint16](path, Options{}); !errors.Is(err, boxsum.ErrTypes) {
		t.Errorf("error %v, want %v", err, boxsum.ErrTypes)
	}
}
