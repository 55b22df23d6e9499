package rotated

import (
	"math"

	"github.com/boxsum/boxsum/internal/raster"
)

// Angles returns the rotations whose ratio or its inverse is an integer up to
// n, by increasing angle: 1/n to 1/2, 1/1, and 2/1 to n/1. Angles(10) returns
// the rotations of table 1 of Messom and Barczak. If n is less than 1, the
// result is empty.
func Angles(n int) []Rotation {
	var list []Rotation
	for b := n; b > 1; b-- {
		list = append(list, Rotation{1, b})
	}
	for a := 1; a <= n; a++ {
		list = append(list, Rotation{a, 1})
	}
	return list
}

// Nearest returns the rotation whose rows climb to the right by the angle
// nearest to the given one, among all rotations whose terms are at most limit
// in magnitude. Angles are modulo 180°, so 190° means 10°. If the nearest
// rotation is 90°, Nearest returns 0/1: exchanging the sides of boxes rotates
// them by 90°. It returns an error if degrees is not finite, or if limit is
// less than 1 or more than 2^30.
func Nearest(degrees float64, limit int) (Rotation, error) {
	if math.IsNaN(degrees) || math.IsInf(degrees, 0) {
		return Rotation{}, raster.Invalid("angle is %v degrees, want a finite number", degrees)
	}
	if limit < 1 || limit > maxTerm {
		return Rotation{}, raster.Invalid("limit is %d, want 1 to %d", limit, maxTerm)
	}
	degrees = math.Remainder(degrees, 180)
	steep := math.Abs(degrees) > 45
	lean := math.Abs(degrees) // from the nearer axis
	if steep {
		lean = 90 - lean
	}
	rot := nearestBelowOne(lean, limit)
	if steep && rot.A > 0 {
		rot.A, rot.B = rot.B, rot.A
	}
	if degrees < 0 {
		rot.A = -rot.A
	}
	return rot, nil
}

func nearestBelowOne(degrees float64, limit int) Rotation {
	// Euclid's algorithm on the tangent gives its neighbors among all ratios
	// within the limit, one on either side.
	const one = 1 << 62
	den, num := uint64(one), uint64(min(math.Tan(degrees*math.Pi/180), 1)*one)
	a0, b0, a1, b1 := uint64(1), uint64(0), uint64(0), uint64(1)
	for num != 0 {
		q := den / num
		if most := (uint64(limit) - b0) / b1; q > most {
			a0, b0 = a0+most*a1, b0+most*b1
			break
		}
		a0, b0, a1, b1 = a1, b1, a0+q*a1, b0+q*b1
		den, num = num, den%num
	}
	near, far := Rotation{int(a1), int(b1)}, Rotation{int(a0), int(b0)}
	if b0 != 0 && math.Abs(far.Degrees()-degrees) < math.Abs(near.Degrees()-degrees) {
		return far
	}
	return near
}
