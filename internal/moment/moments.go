package moment

import (
	"image"
	"math"
)

// Moments holds the moments of one channel of a box; see package moments.
type Moments struct {
	// Raw moments, about the top left pixel of the box.
	M00, M10, M01, M20, M11, M02, M30, M21, M12, M03 float64
	// Central moments, about the centroid.
	Mu20, Mu11, Mu02, Mu30, Mu21, Mu12, Mu03 float64
	// Normalized central moments, which do not change with scale.
	Nu20, Nu11, Nu02, Nu30, Nu21, Nu12, Nu03 float64
}

// Moments returns the moments of one channel over a box, clipped to the image. They are zero if the box is
// empty or the image has no such channel.
//
// If M00 is zero there is no centroid: the central moments are then the raw ones, and the normalized ones
// are zero, as in OpenCV.
func (t *Table) Moments(box image.Rectangle, channel int) (m Moments) {
	box = box.Intersect(image.Rect(0, 0, t.Width, t.Height))
	if box.Empty() || uint(channel) >= uint(t.Channels) {
		return m
	}
	raw := t.exact(box, channel, box.Min.X, box.Min.Y)
	f := raw.floats()
	m.M00, m.M10, m.M01, m.M20, m.M11, m.M02, m.M30, m.M21, m.M12, m.M03 = f[m00], f[m10], f[m01], f[m20], f[m11], f[m02], f[m30], f[m21], f[m12], f[m03]
	if m.M00 == 0 {
		m.Mu20, m.Mu11, m.Mu02, m.Mu30, m.Mu21, m.Mu12, m.Mu03 = m.M20, m.M11, m.M02, m.M30, m.M21, m.M12, m.M03
		return m.times(t.unit)
	}
	// Exactly to the pixel nearest to the centroid, and from there, by at most half a pixel, in floats. If
	// pixels are negative, the centroid may be far from the box, and the distance is larger.
	x := int(math.Round(min(max(m.M10/m.M00, 0), float64(box.Dx()))))
	y := int(math.Round(min(max(m.M01/m.M00, 0), float64(box.Dy()))))
	near := raw.about(x, y)
	m.central(near.floats())
	m.normalise()
	return m.times(t.unit)
}

// times converts moments in units to those of the pixels. Only here can a number exceed the range of
// float64.
func (m Moments) times(unit float64) Moments {
	if unit == 1 {
		return m
	}
	root := math.Sqrt(unit)
	for _, f := range []*float64{
		&m.M00, &m.M10, &m.M01, &m.M20, &m.M11, &m.M02, &m.M30, &m.M21, &m.M12, &m.M03,
		&m.Mu20, &m.Mu11, &m.Mu02, &m.Mu30, &m.Mu21, &m.Mu12, &m.Mu03,
	} {
		*f *= unit
	}
	for _, f := range []*float64{&m.Nu20, &m.Nu11, &m.Nu02} {
		*f /= unit
	}
	for _, f := range []*float64{&m.Nu30, &m.Nu21, &m.Nu12, &m.Nu03} {
		*f = *f / unit / root
	}
	return m
}

func (s *sums) floats() (f [orders]float64) {
	for i := range s {
		f[i] = s[i].float()
	}
	return f
}

// central computes the central moments from those about a nearby point.
func (m *Moments) central(s [orders]float64) {
	x, y := s[m10]/s[m00], s[m01]/s[m00]
	m.Mu20 = s[m20] - x*s[m10]
	m.Mu11 = s[m11] - x*s[m01]
	m.Mu02 = s[m02] - y*s[m01]
	m.Mu30 = s[m30] - x*(3*m.Mu20+x*s[m10])
	m.Mu21 = s[m21] - x*(2*m.Mu11+x*s[m01]) - y*m.Mu20
	m.Mu12 = s[m12] - y*(2*m.Mu11+y*s[m10]) - x*m.Mu02
	m.Mu03 = s[m03] - y*(3*m.Mu02+y*s[m01])
}

func (m *Moments) normalise() {
	second := 1 / m.M00 / m.M00
	third := second / math.Sqrt(math.Abs(m.M00))
	m.Nu20, m.Nu11, m.Nu02 = m.Mu20*second, m.Mu11*second, m.Mu02*second
	m.Nu30, m.Nu21, m.Nu12, m.Nu03 = m.Mu30*third, m.Mu21*third, m.Mu12*third, m.Mu03*third
}
