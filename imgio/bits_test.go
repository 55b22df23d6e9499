package imgio

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/boxsum/boxsum"
)

// TestEncodeBits tests that images of bits are read back unchanged, whatever their runs.
func TestEncodeBits(t *testing.T) {
	rng := rand.New(rand.NewPCG(18, 6))
	for i := range 240 {
		width, height := 1+rng.IntN(90), 1+rng.IntN(12)
		if i%8 == 0 {
			width = 1 + rng.IntN(6000) // runs that need several codes
		}
		stride := (width+7)/8 + rng.IntN(3)
		data := make([]byte, stride*height)
		for y := range height {
			black, left := rng.IntN(2) == 0, 0
			for x := range width {
				if left == 0 {
					black = !black
					left = []int{1, 1 + rng.IntN(4), 1 + rng.IntN(70), 1 + rng.IntN(3000)}[(i/2+rng.IntN(2))%4]
				}
				left--
				if black && i%16 != 1 && !(i%16 == 3 && y > 0) {
					data[y*stride+x/8] |= 0x80 >> (x % 8)
				}
				if i%16 == 5 && y > 0 { // like the row above, shifted by a pixel or two
					data[y*stride+x/8] &^= 0x80 >> (x % 8)
					if from := x - 1 - y%2; from >= 0 && bitAt(data[(y-1)*stride:], from) {
						data[y*stride+x/8] |= 0x80 >> (x % 8)
					}
				}
			}
		}
		for _, format := range []string{"png", "tiff", "pbm"} {
			name := fmt.Sprintf("image %d, %d×%d as %s", i, width, height, format)
			var file bytes.Buffer
			if err := EncodeBits(&file, format, data, stride, width, height); err != nil {
				t.Fatal(name, err)
			}
			p, err := Decode(&file, ToGray)
			if err != nil {
				t.Fatal(name, err)
			}
			img := p.Image.(boxsum.Image[uint8])
			if img.Width != width || img.Height != height {
				t.Fatalf("%s came back as %d×%d", name, img.Width, img.Height)
			}
			for y := range height {
				for x, v := range img.Row(y) {
					if black := bitAt(data[y*stride:], x); black != (v == 0) || !black && v != 255 {
						t.Fatalf("%s: pixel (%d, %d) came back as %d", name, x, y, v)
					}
				}
			}
		}
	}
}

func TestEncodeBitsErrors(t *testing.T) {
	for _, c := range []struct {
		format              string
		bytes, stride, w, h int
	}{{"png", 1, 1, 0, 1}, {"png", 1, 1, 8, 2}, {"tiff", 1, 1, 9, 1}, {"pbm", 4, 1, 9, 2}, {"jpeg", 4, 1, 8, 2}, {"pbm", 0, 1, 8, 1}, {"png", 1, 1, -8, 1}} {
		var file bytes.Buffer
		if err := EncodeBits(&file, c.format, make([]byte, c.bytes), c.stride, c.w, c.h); !errors.Is(err, boxsum.ErrInvalid) {
			t.Errorf("%+v: %v", c, err)
		}
	}
}
