package interop

import (
	"errors"
	"fmt"
	"testing"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/gpu"
	"github.com/boxsum/boxsum/gpu/internal/devtest"
)

// eachDevice runs a test on every device of the machine.
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

func upload[P boxsum.Pixel](t *testing.T, d *gpu.Device, images ...boxsum.Image[P]) *gpu.Image[P] {
	t.Helper()
	im, err := gpu.Upload(d, images...)
	if err != nil {
		t.Fatal(err)
	}
	return im
}

// TestNoDevice checks that the zero Device and a nil device return errors.
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
