// Package inside gives package interop access to the internals of package gpu's types. Package gpu
// sets these functions when it is initialized.
package inside

import (
	"github.com/boxsum/boxsum/gpu/internal/devmem"
	"github.com/boxsum/boxsum/internal/device"
)

var (
	// NewDevice returns an open device as a *gpu.Device.
	NewDevice func(*devmem.Device) any
	// Device returns the device in a *gpu.Device.
	Device func(device any) *devmem.Device
	// Array returns the array of a non-nil *gpu.Image, *gpu.Table, *gpu.TiltedTable, *gpu.Volume or
	// *gpu.VolumeTable.
	Array func(holder any) *devmem.Array
	// Integrate queues the tables of images, or of a volume, like gpu.IntegrateInto. squares may be
	// nil.
	Integrate func(kind device.Kind, src, sums, squares *devmem.Array) error
)
