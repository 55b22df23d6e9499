package gpu

import (
	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/gpu/internal/devmem"
	"github.com/boxsum/boxsum/internal/pairs"
)

// NewHostImage is an image of zeros in page-locked memory of the host, laid out
// as on a device, for a camera or a decoder to write to: [Pipeline] and
// [IntegrateHost] read it where it is, without a copy. Zero channels stand for
// one.
//
// The memory stays until release is called, also when the device is closed
// meanwhile; the image and its Pix must not be used from then on.
func NewHostImage[P boxsum.Pixel](d *Device, width, height, channels int) (im boxsum.Image[P], release func() error, err error) {
	a := devmem.Array{Element: pairs.Of[P](), Width: width, Height: height, Channels: channels, Count: 1}
	pix, release, err := devmem.HostArray[P](d.mem(), &a, d.shared().Devices...)
	if err != nil {
		return im, nil, err
	}
	return boxsum.Image[P]{
		Pix: pix, Stride: int(a.At.Stride) / a.Element.Bytes(),
		Width: a.Width, Height: a.Height, Channels: a.Channels,
	}, release, nil
}

// NewHostTable is a table of zeros in page-locked memory of the host, laid out as
// on a device: [PipelineInto] and [IntegrateHostInto] let the device write there,
// without a copy. It stays until release is called, as with [NewHostImage].
func NewHostTable[S boxsum.Sum](d *Device, width, height, channels int) (t *boxsum.Table[S], release func() error, err error) {
	a := devmem.Array{Element: pairs.Of[S](), Width: width, Height: height, Channels: channels, Count: 1, Border: 1}
	sums, release, err := devmem.HostArray[S](d.mem(), &a, d.shared().Devices...)
	if err != nil {
		return nil, nil, err
	}
	return &boxsum.Table[S]{
		Sums: sums, Stride: int(a.At.Stride) / a.Element.Bytes(),
		Width: a.Width, Height: a.Height, Channels: a.Channels,
	}, release, nil
}
