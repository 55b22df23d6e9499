package transfer

import "github.com/boxsum/boxsum/gpu/internal/devmem"

// A Device is an open device that keeps the slots of its last work for the next, because
// page-locked memory is slow to allocate.
type Device struct {
	*devmem.Device
	spare [poolKinds]*pool // guarded by Mu
}

// NewDevice returns a device, which frees its slots if memory is short.
func NewDevice(d *devmem.Device) *Device {
	own := &Device{Device: d}
	d.Spare = own
	return own
}

// takeSpare removes and returns the pool that was kept, or nil.
func (d *Device) takeSpare(kind poolKind) *pool {
	d.Mu.Lock()
	defer d.Mu.Unlock()
	p := d.spare[kind]
	d.spare[kind] = nil
	return p
}

// keepSpare keeps a pool for the next work, or frees it if there is one already.
func (d *Device) keepSpare(p *pool) error {
	d.Mu.Lock()
	taken := d.spare[p.kind] != nil
	if !taken {
		d.spare[p.kind] = p
	}
	d.Mu.Unlock()
	if taken {
		return p.free()
	}
	return nil
}

// Kept returns the device memory of the slots that are kept for images of pipelines.
func (d *Device) Kept() int64 {
	d.Mu.Lock()
	defer d.Mu.Unlock()
	if p := d.spare[forImages]; p != nil {
		return p.bytes()
	}
	return 0
}

// Drop frees the pools that are kept, and reports whether there were any.
func (d *Device) Drop() bool {
	freed := false
	for kind := range poolKinds {
		if p := d.takeSpare(kind); p != nil {
			freed = p.free() == nil || freed
		}
	}
	return freed
}
