package devmem

import (
	"github.com/boxsum/boxsum/gpu/internal/driver"
	"github.com/boxsum/boxsum/internal/raster"
)

// An Extent describes where the rows of images or tables lie: the offset of the first row, and the
// distances of the others.
type Extent struct {
	From int64
	driver.Rows
	Stride, Distance, Images int64
}

// ErrOverlap is returned for tables that overlap their image or another table.
var ErrOverlap = raster.Overlapping("the table shares memory with its image or another table")

// Overlaps reports whether two extents in the same memory share a byte. They do not if one ends
// before the other begins, or if their images or rows alternate, as in an array of pairs.
func (s Extent) Overlaps(o Extent) bool {
	if s.Bytes*s.Count*s.Images == 0 || o.Bytes*o.Count*o.Images == 0 {
		return false
	}
	shift := o.From - s.From
	if shift >= s.all() || -shift >= o.all() {
		return false
	}
	if image := period(s.Images, s.Distance, o.Images, o.Distance); disjoint(image, shift, s.image(), o.image()) {
		return false
	}
	row := period(s.Count, s.Stride, o.Count, o.Stride)
	return !(disjoint(row, shift, s.Bytes, o.Bytes) && (s.Images == 1 || s.Distance%row == 0) && (o.Images == 1 || o.Distance%row == 0))
}

// image returns the number of bytes from the beginning of an image to its end, and all the
// number from the beginning of the first image to the end of the last.
func (s Extent) image() int64 { return (s.Count-1)*s.Stride + s.Bytes }

func (s Extent) all() int64 { return (s.Images-1)*s.Distance + s.image() }

// period returns a distance after which both extents repeat, or 0 if there is none. A single
// item fits any distance.
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

// disjoint reports whether two ranges do not overlap if both repeat with a period. The first
// has bytes bytes, and the second has shifted bytes and begins shift bytes after the first.
func disjoint(period, shift, bytes, shifted int64) bool {
	if period == 0 {
		return false
	}
	shift = (shift%period + period) % period
	return shift >= bytes && period-shift >= shifted
}

// HostExtent returns the extent of slices of rows in host memory; an image is one slice.
func HostExtent(at Host, r driver.Rows, slices int, distance int64) Extent {
	return Extent{From: int64(uintptr(at.At)), Rows: r, Stride: at.Stride, Distance: distance, Images: int64(slices)}
}

// extent returns the extent of an array. CUDA memory is an address, which may lie inside other
// memory. A cl_mem is assumed not to share memory with others, so overlapping sub-buffers are not
// detected.
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
