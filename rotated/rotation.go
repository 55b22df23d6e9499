package rotated

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/boxsum/boxsum/internal/raster"
)

// A Rotation is the ratio A/B: the tangent of the angle by which rows climb to
// the right. If it is negative, rows fall to the right. Ratios need not be in
// lowest terms: 2/4 and −1/−2 are the same rotation as 1/2.
type Rotation struct{ A, B int }

// maxTerm keeps the product of a term and a coordinate inside 64 bits.
const maxTerm = 1 << 30

// Parse returns the rotation written as "1/2", "-2/3" or "5/1"; "5" is short
// for "5/1". The result is in lowest terms. Parse returns an error if s has
// another form, and one that wraps [boxsum.ErrInvalid] if a number is too
// large or for the reasons of [Rotation.Reduce].
func Parse(s string) (Rotation, error) {
	first, second, ratio := strings.Cut(s, "/")
	if !ratio {
		second = "1"
	}
	a, err := term(s, first)
	if err != nil {
		return Rotation{}, err
	}
	b, err := term(s, second)
	if err != nil {
		return Rotation{}, err
	}
	return Rotation{a, b}.Reduce()
}

func term(whole, part string) (int, error) {
	n, err := strconv.Atoi(part)
	switch {
	case err == nil:
		return n, nil
	case strings.Contains(err.Error(), strconv.ErrRange.Error()):
		return 0, raster.Invalid("rotation is %q, want terms that fit in %d bits", whole, strconv.IntSize)
	}
	return 0, fmt.Errorf("rotation is %q, want a ratio of two integers, such as 1/2", whole)
}

// String returns the rotation in the form that [Parse] accepts.
func (rot Rotation) String() string { return fmt.Sprintf("%d/%d", rot.A, rot.B) }

// Reduce returns the ratio in lowest terms with a positive B. It returns an
// error that wraps [boxsum.ErrInvalid] if B is 0 or a term of the result
// exceeds 2^30.
func (rot Rotation) Reduce() (Rotation, error) {
	if rot.B == 0 {
		return Rotation{}, raster.Invalid("rotation is %v, want a second number other than 0 (a quarter turn is 0/1 with the sides of boxes exchanged)", rot)
	}
	a, b := magnitude(rot.A), magnitude(rot.B)
	g, rest := a, b
	for rest != 0 {
		g, rest = rest, g%rest
	}
	a, b = a/g, b/g
	if a > maxTerm || b > maxTerm {
		return Rotation{}, raster.Invalid("rotation is %v, want terms of at most %d", rot, maxTerm)
	}
	reduced := Rotation{int(a), int(b)}
	if (rot.A < 0) != (rot.B < 0) {
		reduced.A = -reduced.A
	}
	return reduced, nil
}

// magnitude returns |n|, also for the smallest int, which has no negation.
func magnitude(n int) uint64 {
	if n < 0 {
		return -uint64(n)
	}
	return uint64(n)
}

// Degrees returns the angle by which rows climb to the right, between −90 and
// 90 degrees.
func (rot Rotation) Degrees() float64 {
	return math.Atan(float64(rot.A)/float64(rot.B)) * 180 / math.Pi
}
