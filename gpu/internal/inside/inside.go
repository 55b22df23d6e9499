// Package inside lets package interop reach what lies behind the types of package gpu, which
// sets these functions when it is initialized.
package inside

import (
	"github.com/boxsum/boxsum/gpu/internal/devmem"
	"github.com/boxsum/boxsum/internal/device"
)

var (
	// Device returns the place of the device in a *gpu.Device that is not nil.
	Device func(device any) **devmem.Device
	// Array returns the array of a *gpu.Image, *gpu.Table, *gpu.TiltedTable, *gpu.Volume or
	// *gpu.VolumeTable that is not nil.
	Array func(holder any) *devmem.Array
	// Integrate queues the tables of images, or of a volume, like gpu.IntegrateInto.
	// squares may be nil.
	Integrate func(kind device.Kind, src, sums, squares *devmem.Array) error
)
