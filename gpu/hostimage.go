package gpu

import (
	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/gpu/internal/devmem"
	"github.com/boxsum/boxsum/internal/raster"
)

// NewHostImage returns an image of zeros in page-locked host memory, with the
// layout of images on the device. A camera or a decoder can write to it, and
// [Pipeline] and [boxsum.Integrate] read it in place, without a copy. Zero channels
// means one.
//
// The memory remains valid until release is called, even after the device is
// closed. Once release has been called, the image must not be used.
func NewHostImage[P boxsum.Pixel](d *Device, width, height, channels int) (im boxsum.Image[P], release func() error, err error) {
	a := devmem.Array{Element: raster.TypeNamed[P](), Width: width, Height: height, Channels: channels, Count: 1}
	pix, release, err := devmem.HostArray(d.mem(), &a, d.memories()...)
	if err != nil {
		return im, nil, err
	}
	return boxsum.Image[P]{
		Pix: raster.Elems[P](pix), Stride: int(a.At.Stride) / a.Element.Bytes(),
		Width: a.Width, Height: a.Height, Channels: a.Channels,
	}, release, nil
}

// NewHostTable returns a table of zeros in page-locked host memory, with the layout
// of tables on the device. [PipelineInto] and [boxsum.IntegrateInto] let the device
// write to it directly. As with [NewHostImage], it remains valid until release is
// called.
func NewHostTable[S boxsum.Sum](d *Device, width, height, channels int) (t *boxsum.Table[S], release func() error, err error) {
	a := devmem.Array{Element: raster.TypeNamed[S](), Width: width, Height: height, Channels: channels, Count: 1, Border: 1}
	sums, release, err := devmem.HostArray(d.mem(), &a, d.memories()...)
	if err != nil {
		return nil, nil, err
	}
	return &boxsum.Table[S]{
		Sums: raster.Elems[S](sums), Stride: int(a.At.Stride) / a.Element.Bytes(),
		Width: a.Width, Height: a.Height, Channels: a.Channels,
	}, release, nil
}

// memories returns the memory of the devices that d consists of.
func (d *Device) memories() (all []*devmem.Device) {
	for _, m := range d.Members() {
		all = append(all, m.mem())
	}
	return all
}
