package papers

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/rotated"
	"github.com/boxsum/boxsum/tilted"
)

// verify compares all tables of a job with the reference.
func verify[E element](j *Job, images []boxsum.Image[E], tables []*boxsum.Table[E]) error {
	for i, img := range images {
		if err := j.fetch(i); err != nil {
			return err
		}
		want, err := expected(j.algorithm.Kind, img, j.opt.Rotation)
		if err != nil {
			return err
		}
		tolerance := tolerance(j, img)
		err = compare(tables[i], want, tolerance)
		if math.IsInf(tolerance, 0) {
			err = errors.New("the sums of the pixels are infinite, want smaller pixels or a precision with a larger range")
		}
		if err != nil {
			return fmt.Errorf("%s in %s, %d×%d: %w", j.algorithm.Name, j.opt.Precision, j.width, j.height, err)
		}
	}
	return nil
}

// compare returns an error for the first entry that differs by more than the tolerance.
func compare[E element](table *boxsum.Table[E], want func(x, y, channel int) float64, tolerance float64) error {
	for y := range table.Height + 1 {
		for x := range table.Width + 1 {
			for c := range table.Channels {
				got := table.Sums[y*table.Stride+x*table.Channels+c]
				if w := want(x, y, c); !(math.Abs(float64(got)-w) <= tolerance) {
					return fmt.Errorf("entry (%d,%d) of channel %d is %v, want %v within %v", x, y, c, got, w, tolerance)
				}
			}
		}
	}
	return nil
}

// expected returns the expected entries of a table. Sums of uint32 are modulo 2^32; others are
// computed in float64.
func expected[E element](kind Kind, img boxsum.Image[E], rot rotated.Rotation) (func(x, y, channel int) float64, error) {
	if kind != Upright {
		src := arrayOf(img)
		same, err := convert[float64](&src)
		if err != nil {
			return nil, err
		}
		if kind == Rotated {
			return expectedRotated(same, rot)
		}
		table, err := tilted.Integrate[float64](same, nil)
		if err != nil {
			return nil, err
		}
		return table.At, nil
	}
	if isWhole[E]() {
		return plainTable[E](img), nil
	}
	return plainTable[float64](img), nil
}

// plainTable computes a table by its definition: each entry is the one above it plus the sum of the
// row so far.
func plainTable[A, E element](img boxsum.Image[E]) func(x, y, channel int) float64 {
	n := img.Channels
	stride := (img.Width + 1) * n
	table := make([]A, stride*(img.Height+1))
	for y := range img.Height {
		sums := make([]A, n)
		for i, p := range img.Row(y) {
			sums[i%n] += A(p)
			at := (y+1)*stride + n + i
			table[at] = table[at-stride] + sums[i%n]
		}
	}
	return func(x, y, c int) float64 { return float64(table[y*stride+x*n+c]) }
}

// expectedRotated returns the quadrants of [Rotated].
func expectedRotated(img boxsum.Image[float64], rot rotated.Rotation) (func(x, y, channel int) float64, error) {
	table, err := rotated.Integrate[float64](img, rot, nil)
	if err != nil {
		return nil, err
	}
	all := table.Bounds()
	steep := rot.A > rot.B || -rot.A > rot.B
	return func(x, y, channel int) float64 {
		if x == 0 || y == 0 {
			return 0
		}
		c, r := table.Cell(x-1, y-1)
		box := rotated.Box{C0: c, R0: all.R0, C1: all.C1, R1: r + 1}
		if steep {
			box.C0, box.C1 = all.C0, c+1
		}
		return table.SumChannel(box, channel)
	}, nil
}

func isWhole[E element]() bool {
	one := E(1)
	return one/2 == 0
}

// exactBits returns the number of bits that a sum may have without rounding, one less than the
// float has, because the recurrences add two entries before they subtract a third.
func exactBits(p Precision) int {
	if p.Type == "f64" {
		return 52
	}
	return 23
}

// tolerance returns 0 if no addition rounds: for integers, and if all pixels are multiples of a
// unit and their magnitudes add up to few enough units. Otherwise it returns the error of the
// longest chain of additions; the recurrences accumulate the errors of all previous entries.
func tolerance[E element](j *Job, img boxsum.Image[E]) float64 {
	if isWhole[E]() {
		return 0
	}
	total, unit := 0.0, math.Inf(1)
	for _, p := range img.Pix {
		f := float64(p)
		total += math.Abs(f)
		unit = min(unit, unitOf(f))
	}
	if math.IsInf(total, 0) {
		return total
	}
	digits := exactBits(j.opt.Precision)
	if total == 0 || total <= math.Ldexp(unit, digits) {
		return 0
	}
	steps := 2 * (float64(j.width) + float64(j.height) + 16)
	if j.algorithm.recurrence {
		steps = 4 * float64(j.width) * float64(j.height)
	}
	return steps * total * math.Ldexp(1, -digits-1)
}

// unitOf returns the largest power of two of which a number is a multiple.
func unitOf(f float64) float64 {
	if f == 0 {
		return math.Inf(1)
	}
	fraction, exponent := math.Frexp(f)
	digits := uint64(math.Abs(math.Ldexp(fraction, 53)))
	return math.Ldexp(1, exponent-53+bits.TrailingZeros64(digits))
}

// ExactImage returns a random image whose sums are exact in a precision, whatever the algorithm and
// the order of additions. Its pixels are integers below 256. Large images have smaller pixels, and
// in the largest images most pixels are zero.
func ExactImage[P boxsum.Pixel](width, height int, p Precision) (boxsum.Image[P], error) {
	img, err := boxsum.NewImage[P](width, height, p.Channels)
	if err != nil {
		return img, err
	}
	digits := 8
	if p.Type != "u32" {
		digits = min(digits, exactBits(p)-bits.Len(uint(max(width*height-1, 0))))
	}
	random := rand.NewPCG(uint64(width), uint64(height))
	for i := range img.Pix {
		switch v := random.Uint64(); {
		case digits > 0:
			img.Pix[i] = P(v >> (64 - digits))
		case v>>(64+digits-1) == 0:
			img.Pix[i] = 1
		}
	}
	return img, nil
}
