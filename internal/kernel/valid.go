package kernel

import "unsafe"

// A Selection is a row of pixels of which only some are valid.
type Selection[P Pixel] struct {
	From []P
	Mask []uint8 // 0 for a pixel that is not valid; nil if there is no mask
	NaN  bool    // it is not valid either
	Fill P       // what stands for a pixel that is not valid

	// Ahead and MaskAhead are how many elements further on pixels and mask are
	// wanted next: as a rule a row or two below. They may be none of the image.
	Ahead, MaskAhead int

	To    []P     // the pixels, or Fill
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
type Selector[P Pixel] struct{ routine selectRoutine }

// NewSelector is the fastest one of a level.
func NewSelector[P Pixel](level Level, mask, nan bool) Selector[P] {
	return Selector[P]{selects[level][selectKind{int(unsafe.Sizeof(*new(P))), mask, nan && IsFloat[P]()}]}
}

// Select goes through one row.
func (l Selector[P]) Select(s *Selection[P]) {
	n, unit := len(s.From), l.routine.unit
	if l.routine.do == nil || n < unit {
		portableSelect(s)
		return
	}
	l.some(s, 0, n/unit*unit)
	if n%unit != 0 {
		l.some(s, n-unit, unit) // some of them again
	}
}

// some does n pixels from a place on.
func (l Selector[P]) some(s *Selection[P], at, n int) {
	mask := s.Mask
	if mask != nil {
		mask = mask[at:][:n]
	}
	l.routine.do(first(s.To[at:][:n]), first(s.Valid[at:][:n]), first(s.From[at:][:n]), first(mask), first(unsafe.Slice(&s.Fill, 1)),
		n, s.Ahead*int(unsafe.Sizeof(s.Fill)), s.MaskAhead)
}

// portableSelect is the specification.
func portableSelect[P Pixel](s *Selection[P]) {
	to, valid := s.To[:len(s.From)], s.Valid[:len(s.From)]
	for i, p := range s.From {
		v := uint8(1)
		if s.Mask != nil && s.Mask[i] == 0 || s.NaN && p != p {
			p, v = s.Fill, 0
		}
		to[i], valid[i] = p, v
	}
}

// IsFloat reports whether pixels are floats.
func IsFloat[P Pixel]() bool { return P(1)/2 != 0 }

// first is where a slice starts.
func first[T any](s []T) *byte { return (*byte)(unsafe.Pointer(unsafe.SliceData(s))) }
