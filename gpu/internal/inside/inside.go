// Package inside gives package interop access to the memory behind the types of package gpu, which
// embed what is defined here.
package inside

import (
	"github.com/boxsum/boxsum/gpu/internal/devmem"
	"github.com/boxsum/boxsum/internal/device"
)

// A Device is embedded in gpu.Device.
type Device struct{ memory *devmem.Device }

// NewDevice returns the part of a gpu.Device that holds its memory.
func NewDevice(d *devmem.Device) Device { return Device{d} }

func (d *Device) reach() *devmem.Device { return d.memory }

// Memory returns the memory of a *gpu.Device, which must not be nil.
func Memory(of interface{ reach() *devmem.Device }) *devmem.Device { return of.reach() }

// An Array is embedded in gpu.Image, gpu.Table, gpu.TiltedTable, gpu.Volume and gpu.VolumeTable.
type Array struct{ array devmem.Array }

// NewArray returns the part of an image or a table that holds its array.
func NewArray(a devmem.Array) Array { return Array{a} }

func (a *Array) reach() *devmem.Array { return &a.array }

// ArrayOf returns the array of an image or a table, which must not be nil.
func ArrayOf(of interface{ reach() *devmem.Array }) *devmem.Array { return of.reach() }

// Package gpu sets these functions when it is initialized.
var (
	// Wrap returns an open device as a *gpu.Device.
	Wrap func(*devmem.Device) any
	// Integrate queues the tables of images, or of a volume, like gpu.IntegrateInto. squares may be
	// nil.
	Integrate func(kind device.Kind, src, sums, squares *devmem.Array) error
)
