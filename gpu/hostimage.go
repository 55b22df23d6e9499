package gpu

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"unsafe"

	"github.com/boxsum/boxsum"
)

// NewHostImage is an image of zeros in page-locked memory of the host, laid out
// as on a device, for a camera or a decoder to write to: [Pipeline] and
// [IntegrateHost] read it where it is, without a copy. Zero channels stand for
// one.
//
// The memory stays until release is called, also when the device is closed
// meanwhile; the image and its Pix must not be used from then on.
func NewHostImage[P boxsum.Pixel](d *Device, width, height, channels int) (im boxsum.Image[P], release func() error, err error) {
	a := array{element: elementOf[P](), width: width, height: height, channels: channels, count: 1}
	pix, release, err := hostArray[P](d, &a)
	if err != nil {
		return im, nil, err
	}
	return boxsum.Image[P]{
		Pix: pix, Stride: int(a.at.stride) / a.element.bytes(),
		Width: a.width, Height: a.height, Channels: a.channels,
	}, release, nil
}

// NewHostTable is a table of zeros in page-locked memory of the host, laid out as
// on a device: [PipelineInto] and [IntegrateHostInto] let the device write there,
// without a copy. It stays until release is called, as with [NewHostImage].
func NewHostTable[S boxsum.Sum](d *Device, width, height, channels int) (t *boxsum.Table[S], release func() error, err error) {
	a := array{element: elementOf[S](), width: width, height: height, channels: channels, count: 1, border: 1}
	sums, release, err := hostArray[S](d, &a)
	if err != nil {
		return nil, nil, err
	}
	return &boxsum.Table[S]{
		Sums: sums, Stride: int(a.at.stride) / a.element.bytes(),
		Width: a.width, Height: a.height, Channels: a.channels,
	}, release, nil
}

// hostArray lays an array out in page-locked memory, and is its values from the
// first on.
func hostArray[T any](d *Device, a *array) (values []T, release func() error, err error) {
	bytes, err := a.lay()
	if err != nil {
		return nil, nil, err
	}
	if err := d.hold(); err != nil {
		return nil, nil, err
	}
	m, err := d.allocateHost(max(bytes, 1))
	if err != nil {
		return nil, nil, firstError(fmt.Errorf("%w (for %s)", err, a), d.release())
	}
	all := unsafe.Slice((*byte)(m.at), bytes)
	clear(all)
	first := unsafe.Add(m.at, a.at.offset)
	b := &block{host: m, laid: host{first, a.at.stride}, row: a.rowBytes(), users: 1}
	d.mu.Lock()
	d.blocks = append(d.blocks, b)
	d.mu.Unlock()
	values = unsafe.Slice((*T)(first), (bytes-a.at.offset)/int64(a.element.bytes()))
	return values, sync.OnceValue(func() error { return d.leaveBlock(b) }), nil
}

// allocateHost is page-locked memory, for which it gives up what is only kept for
// later, as allocate does.
func (d *Device) allocateHost(bytes int64) (hostMemory, error) {
	m, err := d.backend.allocHost(bytes)
	if errors.Is(err, ErrMemory) && d.dropSpare() {
		m, err = d.backend.allocHost(bytes)
	}
	return m, err
}

// A block is page-locked memory of an image or a table. Its users are its owner
// and the copies under way; the last one frees it.
type block struct {
	host  hostMemory
	laid  host  // the rows in it
	row   int64 // bytes of one, without the gap after it
	users int   // under the device's mu
}

// blockOf is the block that rows lie in, if any, with one user more.
func (d *Device) blockOf(at host, r rows) *block {
	if at.at == nil || r.count == 0 {
		return nil
	}
	from := uintptr(at.at)
	to := from + uintptr(at.stride)*uintptr(r.count-1) + uintptr(r.bytes)
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, b := range d.blocks {
		if start := uintptr(b.host.at); from >= start && to <= start+uintptr(b.host.bytes) {
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
