package gpu

import (
	"fmt"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/gpu/internal/devmem"
	"github.com/boxsum/boxsum/internal/launch"
	"github.com/boxsum/boxsum/internal/pairs"
	"github.com/boxsum/boxsum/volume"
)

// A Volume is voxels on a device: slice after slice, each as an [Image] lies.
type Volume[P boxsum.Pixel] struct{ array devmem.Array }

// NewVolume takes device memory for a volume of this size; zero channels stand for
// one. What it holds is undefined until [Volume.Set].
func NewVolume[P boxsum.Pixel](d *Device, width, height, depth, channels int) (*Volume[P], error) {
	a, err := d.mem().Make(devmem.Array{Element: pairs.Of[P](), Width: width, Height: height, Channels: channels, Volume: true, Depth: depth})
	if err != nil {
		return nil, err
	}
	return &Volume[P]{a}, nil
}

// UploadVolume copies a volume to a device.
func UploadVolume[P boxsum.Pixel](d *Device, src volume.Volume[P]) (*Volume[P], error) {
	_, wrong := checkedVolume(src)
	return filled(wrong, func() (*Volume[P], error) { return NewVolume[P](d, src.Width, src.Height, src.Depth, src.Channels) },
		func(v *Volume[P]) error { return v.Set(src) })
}

// Set copies src into the volume, which must have its size.
func (v *Volume[P]) Set(src volume.Volume[P]) error {
	a := v.inner()
	if a.Device == nil {
		return errNoImage
	}
	src, err := checkedVolume(src)
	if err != nil {
		return err
	}
	if src.Width != a.Width || src.Height != a.Height || src.Depth != a.Depth || src.Channels != a.Channels {
		return fmt.Errorf("gpu: %w: a volume of %d×%d×%d voxels with %d channels does not go into a %s",
			boxsum.ErrInvalid, src.Width, src.Height, src.Depth, src.Channels, v)
	}
	return using(a, func() error {
		for z := range a.Depth {
			slice := src.Slice(z)
			if err := a.CopyIn(z, devmem.HostRows(slice.Pix, slice.Stride)); err != nil {
				return err
			}
		}
		return nil
	})
}

// inner is the array inside, an empty one of no volume.
func (v *Volume[P]) inner() *devmem.Array {
	if v == nil {
		return &devmem.Array{}
	}
	return &v.array
}

// Width is that of the volume, in voxels.
func (v *Volume[P]) Width() int { return v.inner().Width }

// Height is that of the volume, in voxels.
func (v *Volume[P]) Height() int { return v.inner().Height }

// Depth is that of the volume, in voxels.
func (v *Volume[P]) Depth() int { return v.inner().Depth }

// Channels is how many values a voxel has.
func (v *Volume[P]) Channels() int { return v.inner().Channels }

// String tells what it is.
func (v *Volume[P]) String() string { return v.inner().String() }

// Close frees the memory on the device, after the work that uses it. Closing
// again, or after the device was closed, does nothing.
func (v *Volume[P]) Close() error { return v.inner().Close() }

// Inner is for packages of this module: nobody else can make a key.
func (v *Volume[P]) Inner(launch.Key) *devmem.Array { return &v.array }
