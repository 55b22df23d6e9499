package interop

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/gpu"
	"github.com/boxsum/boxsum/gpu/internal/devtest"
)

// eachDevice runs a test body on every device of the machine.
func eachDevice(t *testing.T, body func(t *testing.T, d *gpu.Device)) {
	t.Helper()
	for _, info := range devtest.Infos(t) {
		t.Run(fmt.Sprintf("%s%d", info.Kind, info.Index), func(t *testing.T) {
			d, err := gpu.Open(gpu.Info(info))
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				if err := d.Close(); err != nil {
					t.Errorf("close the device: %v", err)
				}
			})
			body(t, d)
		})
	}
}

// randomImage is noise with gaps between its rows.
func randomImage[P boxsum.Pixel](seed uint64, width, height, channels, pad int) boxsum.Image[P] {
	r := rand.New(rand.NewPCG(seed, uint64(width)<<32+uint64(height)))
	stride := width*channels + pad
	pix := make([]P, stride*height)
	for i := range pix {
		pix[i] = P(r.Uint32())
	}
	return boxsum.Image[P]{Pix: pix, Stride: stride, Width: width, Height: height, Channels: channels}
}

func upload[P boxsum.Pixel](t *testing.T, d *gpu.Device, images ...boxsum.Image[P]) *gpu.Image[P] {
	t.Helper()
	im, err := gpu.Upload(d, images...)
	if err != nil {
		t.Fatal(err)
	}
	return im
}

// sameBits says where two tables first differ.
func sameBits[S boxsum.Sum](got, want *boxsum.Table[S]) error {
	for y := range got.Height + 1 {
		for x := range got.Width + 1 {
			for c := range got.Channels {
				if g, w := got.At(x, y, c), want.At(x, y, c); g != w {
					return fmt.Errorf("entry (%d, %d) channel %d is %v, not %v", x, y, c, g, w)
				}
			}
		}
	}
	return nil
}

// A Device that nobody opened is an error, as nil is.
func TestNoDevice(t *testing.T) {
	for _, d := range []*gpu.Device{nil, {}} {
		_, stream := OnStream(d, 0)
		_, taken := Take(d, 1)
		_, over := ImageOver[uint8](d, Foreign{})
		for name, err := range map[string]error{"OnStream": stream, "Take": taken, "Give": Give(d, 1), "ImageOver": over} {
			if !errors.Is(err, gpu.ErrNoDevice) {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}
