package hog

import (
	"image"
	"math"

	"github.com/boxsum/boxsum/internal/engine"
)

// modes groups hits by mean shift, as Dalal's thesis describes it ("Finding people in images
// and videos", 2006) and OpenCV computes it. Its zero value is ready to use.
type modes struct {
	hits  []kernelPoint
	found []mode
}

// A point is a position and the logarithm of a scale.
type point [3]float64

// A kernelPoint is a hit with the bandwidth of its Gaussian.
type kernelPoint struct {
	at, width point
	weight    float64 // divided by the root of the sum of the widths
}

// A mode is a maximum of the density of hits.
type mode struct {
	at point
	n  int // hits that lead to it
}

const (
	shiftEnd   = 1e-5 // squared distance at which the search for a mode ends
	shiftSteps = 100  // maximum number of steps
)

func (m *modes) bytes() int { return engine.Bytes(m.hits) + engine.Bytes(m.found) }

// widthAt returns the bandwidth at a point.
func widthAt(p point) point {
	scale := math.Exp(p[2])
	return point{8 * scale, 16 * scale, math.Log(1.3)}
}

// distance returns the squared distance of two points, in units of the bandwidth at b.
func distance(a, b point) float64 {
	w := widthAt(b)
	var sum float64
	for i := range a {
		d := (b[i] - a[i]) / w[i]
		sum += float64(d * d)
	}
	return sum
}

// density returns the contribution of a hit to the density at a point.
func (k *kernelPoint) density(p point) float64 {
	var sum float64
	for i := range p {
		d := (k.at[i] - p[i]) / k.width[i]
		sum += float64(d * d)
	}
	return k.weight * math.Exp(-sum/2)
}

// step returns the mean of all hits, weighted by their contributions to the density at p.
func (m *modes) step(p point) point {
	var sum, weights point
	for i := range m.hits {
		k := &m.hits[i]
		v := k.density(p)
		for j := range sum {
			sum[j] += float64(v*k.at[j]) / k.width[j]
			weights[j] += v / k.width[j]
		}
	}
	for j := range sum {
		sum[j] /= weights[j]
	}
	return sum
}

// group appends a result for each mode whose density exceeds a threshold.
func (m *modes) group(to []Result, all []hit, window image.Point, density float64, bounds image.Rectangle, set *engine.Settings) ([]Result, error) {
	m.hits, m.found = m.hits[:0], m.found[:0]
	half := func(sum int) float64 { return math.RoundToEven(float64(sum) * 0.5) }
	for _, h := range all {
		k := kernelPoint{at: point{half(h.rect.Min.X + h.rect.Max.X), half(h.rect.Min.Y + h.rect.Max.Y), math.Log(h.scale)}}
		k.width = widthAt(k.at)
		k.weight = h.score / math.Sqrt(k.width[0]+k.width[1]+k.width[2])
		m.hits = append(m.hits, k)
	}
	for i := range m.hits {
		if err := set.Stopped(); err != nil {
			return to, err
		}
		at := m.step(m.hits[i].at)
		for range shiftSteps {
			before := at
			at = m.step(before)
			if distance(at, before) <= shiftEnd {
				break
			}
		}
		known := false
		for j := range m.found {
			if f := &m.found[j]; distance(at, f.at) < 1 {
				f.n++
				known = true
				break
			}
		}
		if !known {
			m.found = append(m.found, mode{at, 1})
		}
	}
	for _, f := range m.found {
		var sum float64
		for i := range m.hits {
			sum += m.hits[i].density(f.at)
		}
		scale := math.Exp(f.at[2])
		w, h := float64(window.X)*scale, float64(window.Y)*scale
		// Negative scores may lead to modes at infinity.
		if far := math.Abs(f.at[0]) + math.Abs(f.at[1]) + w + h; !(far < 1<<30) || !(sum > density) {
			continue
		}
		size := image.Pt(int(w), int(h))
		corner := image.Pt(int(f.at[0]-float64(size.X/2)), int(f.at[1]-float64(size.Y/2)))
		to = appendClipped(to, Result{Rect: image.Rectangle{corner, corner.Add(size)}, Neighbors: f.n, Score: sum}, bounds)
	}
	return to, nil
}
