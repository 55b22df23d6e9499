package devmem

import (
	"fmt"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/gpu/internal/driver"
)

// An Extent is where the rows of images or tables lie: how far into their memory the
// first one is, and how far apart the others are.
type Extent struct {
	From int64
	driver.Rows
	Stride, Distance, Images int64
}

// ErrOverlap is the error of tables that lie in memory which is not theirs alone.
var ErrOverlap = fmt.Errorf("gpu: %w: a table may not lie in the memory of its image or of another table: give it memory of its own", boxsum.ErrOverlap)

// Overlaps reports whether two extents in one memory share a byte. They do not where one
// ends before the other begins, or where images or rows of both take turns, as in an
// array of pairs.
func (s Extent) Overlaps(o Extent) bool {
	if s.Bytes*s.Count*s.Images == 0 || o.Bytes*o.Count*o.Images == 0 {
		return false
	}
	shift := o.From - s.From
	if shift >= s.all() || -shift >= o.all() {
		return false
	}
	if image := period(s.Images, s.Distance, o.Images, o.Distance); turns(image, shift, s.image(), o.image()) {
		return false
	}
	row := period(s.Count, s.Stride, o.Count, o.Stride)
	return !(turns(row, shift, s.Bytes, o.Bytes) && (s.Images == 1 || s.Distance%row == 0) && (o.Images == 1 || o.Distance%row == 0))
}

// image is the bytes from the beginning of an image to its end, and all those of all
// images.
func (s Extent) image() int64 { return (s.Count-1)*s.Stride + s.Bytes }

func (s Extent) all() int64 { return (s.Images-1)*s.Distance + s.image() }

// period is a distance in which two things repeat, or 0 if they do not. What is there
// once goes with any distance.
func period(a, distanceA, b, distanceB int64) int64 {
	if a == 1 {
		distanceA = 0
	}
	if b == 1 {
		distanceB = 0
	}
	for distanceB != 0 {
		distanceA, distanceB = distanceB, distanceA%distanceB
	}
	return distanceA
}

// turns reports whether pieces of these bytes, one of them shifted, do not meet when
// both repeat with a period.
func turns(period, shift, bytes, shifted int64) bool {
	if period == 0 {
		return false
	}
	shift = (shift%period + period) % period
	return shift >= bytes && period-shift >= shifted
}

// HostExtent is where slices of rows in memory of the host lie; of an image there is one.
func HostExtent(at Host, r driver.Rows, slices int, distance int64) Extent {
	return Extent{From: int64(uintptr(at.At)), Rows: r, Stride: at.Stride, Distance: distance, Images: int64(slices)}
}

// extent is where an array lies. Memory of CUDA is an address, which may be that of a
// part of other memory. A cl_mem is taken to share nothing with others: sub-buffers that
// lie in one another go unnoticed.
func (a *Array) extent() Extent {
	s := Extent{From: a.At.Offset, Rows: a.Rows(), Stride: a.At.Stride, Distance: a.At.Distance, Images: int64(a.Count)}
	if a.Volume {
		s.Images = int64(a.Depth + a.Border)
	}
	if a.Device.About.Kind == driver.CUDA {
		s.From += int64(a.At.Memory)
	}
	return s
}

// Overlaps reports whether two arrays on one device share memory.
func (a *Array) Overlaps(o *Array) bool {
	return (a.Device.About.Kind == driver.CUDA || a.At.Memory == o.At.Memory) && a.extent().Overlaps(o.extent())
}
