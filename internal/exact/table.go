package exact

import (
	"math"

	"github.com/boxsum/boxsum/internal/kernel"
)

// A Box is a box of a kind of table, clipped to its image and not empty.
type Box[B any] interface {
	Pixels() int
	Halves() (one, other B, ok bool) // not ok if it cannot be cut
}

// A Table is one channel of a table, as statistics see it.
type Table[S kernel.Sum, B any] struct {
	Pixels
	Offset float32
	Sum    func(box B) S // without the offset
}

// MeanOf is the mean of a box. One whose sum does not fit its type is summed in parts
// that do, and is NaN if it cannot be cut into such.
func MeanOf[S kernel.Sum, B Box[B]](t *Table[S, B], box B) float64 {
	if most := mostOr[S](&t.Pixels, false); box.Pixels() > most {
		var sum Int
		if !inParts(box, most, func(part B) { t.add(&sum, part) }) {
			return math.NaN()
		}
		return sum.Mean(box.Pixels())
	}
	s := t.Sum(box)
	if t.Signed {
		return Mean(box.Pixels(), signed(s))
	}
	return float64(t.Offset) + Mean(box.Pixels(), s)
}

func (t *Table[S, B]) add(sum *Int, box B) {
	if s := t.Sum(box); t.Signed {
		add(sum, signed(s))
	} else {
		add(sum, s)
	}
}

// VarianceOf is the variance of a box, see [Variance]; rounding and whole are asked for
// where there are floats.
func VarianceOf[S, Q kernel.Sum, B Box[B]](sums *Table[S, B], squares *Table[Q, B], box B, rounding func(box B) Rounding, whole func(box B) bool) float64 {
	n := box.Pixels()
	exactly := func() bool { return whole(box) }
	most := min(mostOr[S](&sums.Pixels, false), mostOr[Q](&squares.Pixels, true))
	switch {
	case n > most && IsFloat[Q]():
		r := rounding(box)
		return Variance(n, MeanOf(sums, box)*float64(n), squares.Sum(box), &r, exactly)
	case n > most:
		var sum, squared Int
		if !inParts(box, most, func(part B) {
			sums.add(&sum, part)
			squares.add(&squared, part)
		}) {
			return math.NaN()
		}
		return sum.Variance(n, &squared)
	}
	sum := sums.Sum(box)
	switch {
	case !IsFloat[S]() && !IsFloat[Q]():
		if sums.Signed {
			return Variance(n, signed(sum), squares.Sum(box), nil, nil)
		}
		return Variance(n, sum, squares.Sum(box), nil, nil)
	case sums.Offset != squares.Offset:
		sum += S(float64(sums.Offset) * float64(n))
	}
	r := rounding(box)
	return Variance(n, sum, squares.Sum(box), &r, exactly)
}

// inParts visits parts of a box that have this many pixels at most. It reports
// whether the box could be cut into such.
func inParts[B Box[B]](box B, most int, visit func(part B)) bool {
	if box.Pixels() <= most {
		visit(box)
		return true
	}
	one, other, ok := box.Halves()
	return ok && inParts(one, most, visit) && inParts(other, most, visit)
}

// Each writes what there is to say of every channel of every box.
func Each[T, B any](dst []T, boxes []B, channels int, of func(box B, channel int) T) {
	for i, box := range boxes {
		for channel := range channels {
			dst[i*channels+channel] = of(box, channel)
		}
	}
}
