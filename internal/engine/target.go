package engine

import (
	"github.com/boxsum/boxsum/internal/device"
	"github.com/boxsum/boxsum/internal/raster"
)

// A Receiver makes a rotated table from pixels whose type is known at run time.
type Receiver interface {
	Integrate(src raster.Array, opt Options) error
	Planes() device.RotatedTable // its memory
}

// A Target is embedded in a rotated table, whose memory is private to its package. It
// lets [IntegrateInto] and [PlanesOf] reach the code below the generic functions of
// that package.
type Target struct{ receiver Receiver }

// NewTarget returns the target of a table.
func NewTarget(r Receiver) Target { return Target{r} }

func (t *Target) reach() Receiver { return t.receiver }

// IntegrateInto computes the table of an image and stores it in dst, which has a
// [Target] and is not nil.
func IntegrateInto(dst interface{ reach() Receiver }, src raster.Array, opt Options) error {
	r := dst.reach()
	if r == nil {
		return raster.NoTable()
	}
	return r.Integrate(src, opt)
}

// PlanesOf returns the memory of a table that has a [Target] and is not nil.
func PlanesOf(of interface{ reach() Receiver }) device.RotatedTable {
	r := of.reach()
	if r == nil {
		return device.RotatedTable{}
	}
	return r.Planes()
}
