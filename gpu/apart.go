package gpu

import (
	"fmt"
	"unsafe"

	"github.com/boxsum/boxsum"
)

// A stretch is where the rows of images or tables lie: how far into their memory the
// first one is, and how far apart the others are.
type stretch struct {
	from int64
	rows
	stride, distance, images int64
}

var errOverlap = fmt.Errorf("gpu: %w: a table may not lie in the memory of its image or of another table", boxsum.ErrInvalid)

// apart says whether two stretches in one memory share no byte: one ends before the
// other begins, or images or rows of both take turns, as in an array of pairs.
func (s stretch) apart(o stretch) bool {
	if s.bytes*s.count*s.images == 0 || o.bytes*o.count*o.images == 0 {
		return true
	}
	shift := o.from - s.from
	if shift >= s.all() || -shift >= o.all() {
		return true
	}
	if image := period(s.images, s.distance, o.images, o.distance); turns(image, shift, s.image(), o.image()) {
		return true
	}
	row := period(s.count, s.stride, o.count, o.stride)
	return turns(row, shift, s.bytes, o.bytes) && (s.images == 1 || s.distance%row == 0) && (o.images == 1 || o.distance%row == 0)
}

// image is the bytes from the beginning of an image to its end, and all those of all
// images.
func (s stretch) image() int64 { return (s.count-1)*s.stride + s.bytes }
func (s stretch) all() int64   { return (s.images-1)*s.distance + s.image() }

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

// turns says whether pieces of so many bytes, one of them shifted, do not meet when
// both repeat with a period.
func turns(period, shift, bytes, shifted int64) bool {
	if period == 0 {
		return false
	}
	shift = (shift%period + period) % period
	return shift >= bytes && period-shift >= shifted
}

// stretchOf is where rows in memory of the host lie.
func stretchOf(at host, r rows) stretch {
	return stretch{from: int64(uintptr(at.at)), rows: r, stride: at.stride, images: 1}
}

// stretchOfSlices is where slices of rows lie, whose size was checked.
func stretchOfSlices[T any](values []T, row, rowCount, stride, slices, distance int) stretch {
	size := int64(unsafe.Sizeof(*new(T)))
	return stretch{
		from: int64(uintptr(unsafe.Pointer(unsafe.SliceData(values)))), rows: rows{int64(row) * size, int64(rowCount)},
		stride: int64(stride) * size, distance: int64(distance) * size, images: int64(slices),
	}
}

// stretch is where an array lies. Memory of CUDA is an address, which may be that of a
// part of other memory. A cl_mem is taken to share nothing with others: sub-buffers that
// lie in one another go unnoticed.
func (a *array) stretch() stretch {
	s := stretch{from: a.at.offset, rows: a.rows(), stride: a.at.stride, distance: a.at.distance, images: int64(a.count)}
	if a.device.about.Kind == CUDA {
		s.from += int64(a.at.memory)
	}
	return s
}

// apart says whether two arrays on one device share no memory.
func (a *array) apart(o *array) bool {
	return a.device.about.Kind != CUDA && a.at.memory != o.at.memory || a.stretch().apart(o.stretch())
}
