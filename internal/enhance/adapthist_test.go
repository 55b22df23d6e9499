package enhance

import (
	"errors"
	"strings"
	"testing"

	"github.com/boxsum/boxsum/internal/device"
	"github.com/boxsum/boxsum/internal/raster"
)

type noDevice struct{ device.Handle }

func (noDevice) Wait() error  { return nil }
func (noDevice) Close() error { return nil }
func (noDevice) Err() error   { return nil }

// TestAdaptiveOnDevice tests that a device is refused, not ignored.
func TestAdaptiveOnDevice(t *testing.T) {
	img, err := raster.NewPixelArray(raster.U16, raster.PlaneExtent(4, 4, 1, 0))
	if err != nil {
		t.Fatal(err)
	}
	j := AdaptiveJob{Src: img, Dst: img, Width: 2, Height: 2, Bins: 16}
	j.Options.On = &noDevice{device.NewHandle(struct{ device.Runner }{})}
	if err := j.Run(); !errors.Is(err, raster.ErrInvalid) || !strings.Contains(err.Error(), "not supported on a device") {
		t.Error(err)
	}
}
