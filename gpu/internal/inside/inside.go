// Package inside lets package interop reach what lies behind the types of package gpu, which
// sets these functions when it is initialized.
package inside

import "github.com/boxsum/boxsum/gpu/internal/devmem"

var (
	// Device returns the place of the device in a *gpu.Device that is not nil.
	Device func(device any) **devmem.Device
	// Array returns the array of a *gpu.Image, *gpu.Table, *gpu.TiltedTable, *gpu.Volume or
	// *gpu.VolumeTable that is not nil.
	Array func(holder any) *devmem.Array
)
