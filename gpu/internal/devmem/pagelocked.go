package devmem

import (
	"fmt"
	"slices"
	"sync"
	"unsafe"

	"github.com/boxsum/boxsum/gpu/internal/driver"
)

// HostArray lays out an array in page-locked memory and returns the memory from its first value on. It
// also registers the memory with other devices that can copy it directly.
func HostArray(d *Device, a *Array, others ...*Device) (values []byte, release func() error, err error) {
	bytes, err := a.Layout()
	if err != nil {
		return nil, nil, err
	}
	if err := d.Retain(); err != nil {
		return nil, nil, err
	}
	m, err := d.AllocateHost(max(bytes, 1))
	if err != nil {
		return nil, nil, driver.FirstError(fmt.Errorf("%w (for %s)", err, a), d.Release())
	}
	all := unsafe.Slice((*byte)(m.At), bytes)
	clear(all)
	first := unsafe.Add(m.At, a.At.Offset)
	b := &Block{host: m, Laid: Host{first, a.At.Stride}, Row: a.RowBytes(), Users: 1}
	b.free = func() error { return driver.FirstError(d.Backend.FreeHost(m), d.Release()) }
	d.addBlock(b)
	leave := []func() error{func() error { return d.ReleaseBlock(b) }}
	for _, other := range others {
		if other == d || d.About.Kind != driver.CUDA || other.About.Kind != driver.CUDA { // OpenCL memory belongs to a context
			continue
		}
		d.Mu.Lock()
		b.Users++
		d.Mu.Unlock()
		lent := &Block{host: m, Laid: b.Laid, Row: b.Row, Users: 1, free: func() error { return d.ReleaseBlock(b) }}
		other.addBlock(lent)
		leave = append(leave, func() error { return other.ReleaseBlock(lent) })
	}
	values = unsafe.Slice((*byte)(first), bytes-a.At.Offset)
	return values, sync.OnceValue(func() error {
		return driver.EachError(slices.Values(leave), func(leave func() error) error { return leave() })
	}), nil
}

func (d *Device) addBlock(b *Block) {
	d.Mu.Lock()
	defer d.Mu.Unlock()
	d.Blocks = append(d.Blocks, b)
}

// A Block is page-locked memory of an image or a table. Its users are its owner and the copies in
// progress; the last one frees it.
type Block struct {
	host  driver.HostMemory
	Laid  Host  // its rows
	Row   int64 // size of a row without the gap after it
	Users int   // guarded by the device's Mu
	free  func() error
}

// BlockOf returns the block that rows lie in, if any, and adds a user to it.
func (d *Device) BlockOf(at Host, r driver.Rows) *Block {
	if at.At == nil || r.Count == 0 {
		return nil
	}
	from := uintptr(at.At)
	to := from + uintptr(at.Stride)*uintptr(r.Count-1) + uintptr(r.Bytes)
	d.Mu.Lock()
	defer d.Mu.Unlock()
	for _, b := range d.Blocks {
		if start := uintptr(b.host.At); from >= start && to <= start+uintptr(b.host.Bytes) {
			b.Users++
			return b
		}
	}
	return nil
}

// ReleaseBlock removes a user of a block.
func (d *Device) ReleaseBlock(b *Block) error {
	d.Mu.Lock()
	b.Users--
	unused := b.Users == 0
	if unused {
		d.Blocks = slices.DeleteFunc(d.Blocks, func(other *Block) bool { return other == b })
	}
	d.Mu.Unlock()
	if !unused {
		return nil
	}
	return b.free()
}
