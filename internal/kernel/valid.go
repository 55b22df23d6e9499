package kernel

import (
	"unsafe"

	"github.com/boxsum/boxsum/internal/raster"
)

// A Selection is a row of pixels of which some may be invalid.
type Selection struct {
	From []byte  // pixels
	Mask []uint8 // 0 for an invalid pixel; nil if all are valid
	NaN  bool    // NaN is invalid

	// Ahead and MaskAhead are the prefetch distances of pixels and mask in elements, usually a row
	// or two. They may point beyond the image.
	Ahead, MaskAhead int

	To    []byte  // the pixels, with invalid ones replaced
	Valid []uint8 // 1 for a valid pixel, else 0
}

type (
	selectKind struct {
		bytes     int // of a pixel
		mask, nan bool
	}
	selectRoutine struct {
		do   func(to, valid, from, mask, fill *byte, n, ahead, maskAhead int) // nil for portable Go
		unit int                                                              // pixels that it processes at a time
	}
)

// A Selector replaces the invalid pixels of rows. All rows have a mask or none has, and NaN is
// invalid in all rows or in none.
type Selector struct {
	routine  selectRoutine
	portable func(s *Selection, fill float32)
	pixel    int // size in bytes
	fill     float32
	filled   uint64 // fill as the bits of a pixel
}

// selections holds, by pixel type, the portable loop and the conversion of fill to the bits of a
// pixel.
var selections = [raster.NumTypes]struct {
	loop func(s *Selection, fill float32)
	bits func(fill float32) uint64
}{
	raster.U8:  {portableSelect[uint8], pixelBits[uint8]},
	raster.U16: {portableSelect[uint16], pixelBits[uint16]},
	raster.U32: {portableSelect[uint32], pixelBits[uint32]},
	raster.U64: {portableSelect[uint64], pixelBits[uint64]},
	raster.I16: {portableSelect[int16], pixelBits[int16]},
	raster.I32: {portableSelect[int32], pixelBits[int32]},
	raster.I64: {portableSelect[int64], pixelBits[int64]},
	raster.F32: {portableSelect[float32], pixelBits[float32]},
	raster.F64: {portableSelect[float64], pixelBits[float64]},
}

// NewSelector returns the fastest selector of a level. It replaces invalid pixels by fill.
func NewSelector(pixel raster.Type, level Level, mask, nan bool, fill float32) Selector {
	return Selector{
		routine:  selects[level][selectKind{pixel.Bytes(), mask, nan && pixel.Float()}],
		portable: selections[pixel].loop, pixel: pixel.Bytes(),
		fill: fill, filled: selections[pixel].bits(fill),
	}
}

func pixelBits[P Pixel](fill float32) (bits uint64) {
	*(*P)(unsafe.Pointer(&bits)) = P(fill)
	return bits
}

// Select processes one row.
func (l *Selector) Select(s *Selection) {
	n, unit := len(s.Valid), l.routine.unit
	if l.routine.do == nil || n < unit {
		l.portable(s, l.fill)
		return
	}
	l.selectRange(s, 0, n/unit*unit)
	if n%unit != 0 {
		l.selectRange(s, n-unit, unit) // overlaps pixels that are already done
	}
}

// selectRange processes n pixels starting at pixel at.
func (l *Selector) selectRange(s *Selection, at, n int) {
	mask := s.Mask
	if mask != nil {
		mask = mask[at:][:n]
	}
	from, bytes := at*l.pixel, n*l.pixel
	l.routine.do(first(s.To[from:][:bytes]), first(s.Valid[at:][:n]), first(s.From[from:][:bytes]), first(mask), (*byte)(unsafe.Pointer(&l.filled)),
		n, s.Ahead*l.pixel, s.MaskAhead)
}

// portableSelect is the specification.
func portableSelect[P Pixel](s *Selection, fill float32) {
	from := raster.Elems[P](s.From)
	to, valid := raster.Elems[P](s.To)[:len(from)], s.Valid[:len(from)]
	for i, p := range from {
		v := uint8(1)
		if s.Mask != nil && s.Mask[i] == 0 || s.NaN && p != p {
			p, v = P(fill), 0
		}
		to[i], valid[i] = p, v
	}
}

// IsFloat reports whether pixels are floats.
func IsFloat[P Pixel]() bool { return P(1)/2 != 0 }

// first returns a pointer to the first element of a slice.
func first[T any](s []T) *byte { return (*byte)(unsafe.Pointer(unsafe.SliceData(s))) }
