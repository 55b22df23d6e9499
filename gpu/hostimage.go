package gpu

import (
	"fmt"
	"slices"
	"sync"
	"unsafe"

	"github.com/boxsum/boxsum"
)

// NewHostImage is an image of zeros in page-locked memory of the host, laid out
// as on a device, for a camera or a decoder to write to: a device reads it
// without a detour, and [Pipeline] without a copy. Zero channels stand for one.
//
// The memory stays until release is called, also when the device is closed
// meanwhile; the image and its Pix must not be used from then on.
func NewHostImage[P boxsum.Pixel](d *Device, width, height, channels int) (im boxsum.Image[P], release func() error, err error) {
	a := array{element: elementOf[P](), width: width, height: height, channels: channels, count: 1}
	bytes, err := a.lay()
	if err != nil {
		return im, nil, err
	}
	if err := d.hold(); err != nil {
		return im, nil, err
	}
	m, err := d.backend.allocHost(max(bytes, 1))
	if err != nil {
		return im, nil, firstError(fmt.Errorf("%w (for %s)", err, &a), d.release())
	}
	b := &block{host: m, users: 1}
	d.mu.Lock()
	d.blocks = append(d.blocks, b)
	d.mu.Unlock()
	size := int64(a.element.bytes())
	im = boxsum.Image[P]{
		Pix:    unsafe.Slice((*P)(m.at), bytes/size),
		Stride: int(a.at.stride / size),
		Width:  a.width, Height: a.height, Channels: a.channels,
	}
	clear(im.Pix)
	return im, sync.OnceValue(func() error { return d.leaveBlock(b) }), nil
}

// A block is page-locked memory of an image. Its users are its owner and the
// copies under way; the last one frees it.
type block struct {
	host  hostMemory
	users int // under the device's mu
}

// blockOf is the block that the pixels of a job lie in, if any, with one user
// more.
func (d *Device) blockOf(pixels host, job integrateJob) *block {
	row := uintptr(job.width) * uintptr(job.channels) * uintptr(job.pixel.bytes())
	from := uintptr(pixels.at)
	to := from + uintptr(pixels.stride)*uintptr(job.height-1) + row
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, b := range d.blocks {
		if at := uintptr(b.host.at); from >= at && to <= at+uintptr(b.host.bytes) {
			b.users++
			return b
		}
	}
	return nil
}

// leaveBlock ends one use of a block.
func (d *Device) leaveBlock(b *block) error {
	d.mu.Lock()
	b.users--
	unused := b.users == 0
	if unused {
		d.blocks = slices.DeleteFunc(d.blocks, func(other *block) bool { return other == b })
	}
	d.mu.Unlock()
	if !unused {
		return nil
	}
	return firstError(d.backend.freeHost(b.host), d.release())
}
