package gpu

import (
	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/gpu/internal/devmem"
	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/volume"
)

// A Volume holds voxels on a device, slice by slice. Each slice has the layout of
// an [Image].
type Volume[P boxsum.Pixel] struct{ holder }

// NewVolume allocates device memory for a volume of the given size. Zero channels
// means one. The contents are undefined until [Volume.Set] is called.
func NewVolume[P boxsum.Pixel](d *Device, width, height, depth, channels int) (*Volume[P], error) {
	return wrapped[Volume[P]](d.mem().Make(devmem.Array{Element: raster.TypeNamed[P](), Width: width, Height: height, Channels: channels, Volume: true, Depth: depth}))
}

// UploadVolume copies a volume from host memory to a new volume on a device.
func UploadVolume[P boxsum.Pixel](d *Device, src volume.Volume[P]) (*Volume[P], error) {
	_, wrong := checkedVolume(src)
	return filled(wrong, func() (*Volume[P], error) { return NewVolume[P](d, src.Width, src.Height, src.Depth, src.Channels) },
		func(v *Volume[P]) error { return v.Set(src) })
}

// Set copies src into the volume. src must have the size and the number of
// channels of v.
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
		return raster.Invalid("volume is %d×%d×%d with %d channels, want the size of the %s", src.Width, src.Height, src.Depth, src.Channels, v)
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
