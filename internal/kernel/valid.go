package kernel

import (
	"unsafe"

	"github.com/boxsum/boxsum/internal/pairs"
)

// A Selection is a row of pixels of which only some are valid.
type Selection struct {
	From []byte  // pixels
	Mask []uint8 // 0 for a pixel that is not valid; nil if there is no mask
	NaN  bool    // it is not valid either

	// Ahead and MaskAhead are how many elements further on pixels and mask are
	// wanted next: as a rule a row or two below. They may be none of the image.
	Ahead, MaskAhead int

	To    []byte  // the pixels, or what stands for one that is not valid
	Valid []uint8 // 1 for a valid pixel, else 0
}

type (
	selectKind struct {
		bytes     int // of a pixel
		mask, nan bool
	}
	selectRoutine struct {
		do   func(to, valid, from, mask, fill *byte, n, ahead, maskAhead int) // nil for portable Go
		unit int                                                              // pixels that it takes at a time
	}
)

// A Selector goes through rows that all have a mask, or that all have none, and in
// which NaN is valid or is not.
type Selector struct {
	routine  selectRoutine
	portable func(s *Selection, fill float32)
	pixel    int // bytes
	fill     float32
	filled   uint64 // the same, as a pixel
}

// NewSelector is the fastest one of a level, with what stands for a pixel that is not
// valid.
func NewSelector(pixel pairs.Type, level Level, mask, nan bool, fill float32) Selector {
	switch pixel {
	case pairs.U8:
		return newSelector[uint8](portableSelect[uint8], level, mask, nan, fill)
	case pairs.U16:
		return newSelector[uint16](portableSelect[uint16], level, mask, nan, fill)
	case pairs.U32:
		return newSelector[uint32](portableSelect[uint32], level, mask, nan, fill)
	case pairs.I16:
		return newSelector[int16](portableSelect[int16], level, mask, nan, fill)
	case pairs.I32:
		return newSelector[int32](portableSelect[int32], level, mask, nan, fill)
	case pairs.F32:
		return newSelector[float32](portableSelect[float32], level, mask, nan, fill)
	}
	return newSelector[float64](portableSelect[float64], level, mask, nan, fill)
}

// newSelector takes the loop in Go from where its type is known: here the value would be allocated.
func newSelector[P Pixel](portable func(*Selection, float32), level Level, mask, nan bool, fill float32) Selector {
	size := int(unsafe.Sizeof(*new(P)))
	l := Selector{portable: portable, pixel: size, fill: fill}
	l.routine = selects[level][selectKind{size, mask, nan && IsFloat[P]()}]
	*(*P)(unsafe.Pointer(&l.filled)) = P(fill)
	return l
}

// Select goes through one row.
func (l *Selector) Select(s *Selection) {
	n, unit := len(s.Valid), l.routine.unit
	if l.routine.do == nil || n < unit {
		l.portable(s, l.fill)
		return
	}
	l.some(s, 0, n/unit*unit)
	if n%unit != 0 {
		l.some(s, n-unit, unit) // some of them again
	}
}

// some does n pixels from a place on.
func (l *Selector) some(s *Selection, at, n int) {
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
	from := Of[P](s.From)
	to, valid := Of[P](s.To)[:len(from)], s.Valid[:len(from)]
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

// first is where a slice starts.
func first[T any](s []T) *byte { return (*byte)(unsafe.Pointer(unsafe.SliceData(s))) }
