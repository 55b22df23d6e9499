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
	n := box.Pixels()
	if most := mostOr[S](&t.Pixels, false); n > most {
		var sum Int
		if !addParts(&sum, t, box, most) {
			return math.NaN()
		}
		return sum.Mean(n)
	}
	s := t.Sum(box)
	if t.Signed {
		return Mean(n, signed(s))
	}
	return float64(t.Offset) + Mean(n, s)
}

// addParts adds the sums of parts of a box that have this many pixels at most. It reports
// whether the box could be cut into such.
func addParts[S kernel.Sum, B Box[B]](sum *Int, t *Table[S, B], box B, most int) bool {
	if box.Pixels() > most {
		one, other, ok := box.Halves()
		return ok && addParts(sum, t, one, most) && addParts(sum, t, other, most)
	}
	if s := t.Sum(box); t.Signed {
		add(sum, signed(s))
	} else {
		add(sum, s)
	}
	return true
}

// VarianceOf is the variance of a box, see [Variance]; rounding and whole are asked for
// where there are floats.
func VarianceOf[S, Q kernel.Sum, B Box[B]](sums *Table[S, B], squares *Table[Q, B], box B, rounding func(box B) Rounding, whole func(box B) bool) float64 {
	n := box.Pixels()
	most := min(mostOr[S](&sums.Pixels, false), mostOr[Q](&squares.Pixels, true))
	if n > most && !IsFloat[Q]() {
		var sum, squared Int
		if !addParts(&sum, sums, box, most) || !addParts(&squared, squares, box, most) {
			return math.NaN()
		}
		return sum.Variance(n, &squared)
	}
	if !IsFloat[S]() && !IsFloat[Q]() {
		sum, squared := sums.Sum(box), squares.Sum(box)
		if sums.Signed {
			return Variance(n, signed(sum), squared, nil, nil)
		}
		return Variance(n, sum, squared, nil, nil)
	}
	var all, unit float64
	var magnitudeOfAll uint64
	if n > most {
		all, unit = MeanOf(sums, box)*float64(n), epsilon[float64]()
	} else {
		sum := sums.Sum(box)
		if sums.Offset != squares.Offset {
			sum += S(float64(sums.Offset) * float64(n))
		}
		all, unit, magnitudeOfAll = float64(sum), epsilon[S](), magnitude(sum)
	}
	r := rounding(box)
	v, exact, ask := ofFloats(n, all, float64(squares.Sum(box)), magnitudeOfAll, unit, epsilon[Q](), &r)
	if ask && whole(box) {
		return exact
	}
	return v
}

// Each writes what there is to say of every channel of every box.
func Each[T, B any](dst []T, boxes []B, channels int, of func(box B, channel int) T) {
	for i, box := range boxes {
		for channel := range channels {
			dst[i*channels+channel] = of(box, channel)
		}
	}
}
