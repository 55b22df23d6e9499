package moment

// The ten moments of up to the third order, in the order of an entry.
const (
	m00 = iota
	m10
	m01
	m20
	m11
	m02
	m30
	m21
	m12
	m03
	orders
)

// powers holds p and q of each moment.
var powers = [orders][2]int{{0, 0}, {1, 0}, {0, 1}, {2, 0}, {1, 1}, {0, 2}, {3, 0}, {2, 1}, {1, 2}, {0, 3}}

// sums holds the ten moments about some point.
type sums [orders]wide

// about moves the point by (dx, dy): it computes Σ (x−dx)^p·(y−dy)^q·I with the binomial theorem, first for x
// and then for y. It is exact modulo 2^128; dx and dy have up to 30 bits.
func (s *sums) about(dx, dy int) sums {
	t := *s
	t.shift(m00, m10, m20, m30, -int64(dx))
	t.shift(m01, m11, m21, none, -int64(dx))
	t.shift(m02, m12, none, none, -int64(dx))
	t.shift(m00, m01, m02, m03, -int64(dy))
	t.shift(m10, m11, m12, none, -int64(dy))
	t.shift(m20, m21, none, none, -int64(dy))
	return t
}

// none stands for a moment of higher order, which is not computed.
const none = -1

// shift adds d to one coordinate. The arguments are the moments with its powers 0 to 3.
func (s *sums) shift(zero, one, two, three int, d int64) {
	if three != none {
		s[three] = s[three].add(s[two].timesSigned(3 * d)).add(s[one].timesSigned(3 * d * d)).add(s[zero].timesSigned(d * d).timesSigned(d))
	}
	if two != none {
		s[two] = s[two].add(s[one].timesSigned(2 * d)).add(s[zero].timesSigned(d * d))
	}
	s[one] = s[one].add(s[zero].timesSigned(d))
}

func (s *sums) add(t *sums) {
	for i := range s {
		s[i] = s[i].add(t[i])
	}
}

// largest returns the largest possible magnitude of a moment of a box whose pixels have magnitudes of at most
// peak. The point about which moments are taken divides the sides into left and right, above and below.
func largest(peak float64, left, right, above, below int) (most float64) {
	for _, p := range powers {
		x := powerSum(left, p[0]) + powerSum(right, p[0])
		y := powerSum(above, p[1]) + powerSum(below, p[1])
		most = max(most, peak*x*y)
	}
	return most
}

// powerSum returns 1^p + … + n^p. For p = 0 it adds half a pixel, because the two parts of a side add up to
// one pixel less than the side.
func powerSum(n, p int) float64 {
	x := float64(n)
	switch p {
	case 0:
		return x + 0.5
	case 1:
		return x * (x + 1) / 2
	case 2:
		return x * (x + 1) * (2*x + 1) / 6
	}
	return x * (x + 1) / 2 * (x * (x + 1) / 2)
}
