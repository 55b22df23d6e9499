package moments

import (
	"image"
	"math"
)

// Moments holds the raw, central and normalized moments of one channel of a box, up to
// the third order.
type Moments struct {
	// Raw moments, about the top left pixel of the box.
	M00, M10, M01, M20, M11, M02, M30, M21, M12, M03 float64
	// Central moments, about the centroid.
	Mu20, Mu11, Mu02, Mu30, Mu21, Mu12, Mu03 float64
	// Normalized central moments, which do not change with scale.
	Nu20, Nu11, Nu02, Nu30, Nu21, Nu12, Nu03 float64
}

// Moments returns the moments of one channel over a box, clipped to the image. They
// are zero if the box is empty or the image has no such channel.
//
// If M00 is zero, there is no centroid: the central moments then equal the raw ones,
// and the normalized ones are zero, as in OpenCV.
func (t *Table) Moments(box image.Rectangle, channel int) Moments {
	if t == nil || t.sums == nil {
		return Moments{}
	}
	return Moments(t.sums.Moments(box, channel))
}

// Hu returns Hu's seven invariants. They do not change when a shape is moved, rotated
// or scaled, and when it is mirrored only the sign of the last one changes.
func (m Moments) Hu() [7]float64 {
	sum, difference := m.Nu20+m.Nu02, m.Nu20-m.Nu02
	a, b := m.Nu30+m.Nu12, m.Nu21+m.Nu03
	c, d := m.Nu30-3*m.Nu12, 3*m.Nu21-m.Nu03
	// These are the real and imaginary parts of the cube of a+ib.
	re, im := a*(a*a-3*b*b), b*(3*a*a-b*b)
	return [7]float64{
		sum,
		difference*difference + 4*m.Nu11*m.Nu11,
		c*c + d*d,
		a*a + b*b,
		c*re + d*im,
		difference*(a*a-b*b) + 4*m.Nu11*a*b,
		d*re - c*im,
	}
}

// Centroid returns the mean position, weighted by the pixels, relative to the top left
// pixel of the box. If M00 is zero it returns (0, 0).
func (m Moments) Centroid() (x, y float64) {
	if m.M00 == 0 {
		return 0, 0
	}
	return m.M10 / m.M00, m.M01 / m.M00
}

// Ellipse returns the uniformly filled ellipse with the same second moments: the
// longer and the shorter half axis in pixels, and the angle in radians from the x axis
// to the longer axis. The angle is between −π/2 and π/2, and positive if the axis
// falls to the right. If M00 is zero, Ellipse returns zeros.
func (m Moments) Ellipse() (major, minor, angle float64) {
	if m.M00 == 0 {
		return 0, 0, 0
	}
	middle, half := (m.Mu20+m.Mu02)/2/m.M00, math.Hypot(m.Mu20-m.Mu02, 2*m.Mu11)/2/m.M00
	return 2 * math.Sqrt(max(0, middle+half)), 2 * math.Sqrt(max(0, middle-half)), math.Atan2(2*m.Mu11, m.Mu20-m.Mu02) / 2
}
