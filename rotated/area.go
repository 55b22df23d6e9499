package rotated

import "math"

// areas holds the running totals that count the pixels of a box in constant
// time.
//
// In line v of the view, the pixels with r' < r and c' < c are those with
//
//	u < c + ⌊a·v/b⌋    and    u < first(r − v)
//
// The former bound grows with v and the latter shrinks, so the count is the sum
// of the former over the lines before they meet plus that of the latter over
// the lines after.
type areas struct {
	slopes []int64 // running totals of ⌊a·v/b⌋ over v < i
	firsts []int64 // running totals of first(k) over k < i; beyond the end, first(k) is a whole line
}

func newAreas(w *view) (areas, error) {
	slopes, err := allocate[int64](w.nv + 1)
	if err != nil {
		return areas{}, err
	}
	firsts, err := allocate[int64](w.slope(w.nu-1) + 2)
	if err != nil {
		return areas{}, err
	}
	for v := range w.nv {
		slopes[v+1] = slopes[v] + int64(w.slope(v))
	}
	for k := range len(firsts) - 1 {
		firsts[k+1] = firsts[k] + int64(w.first(k, w.nu))
	}
	return areas{slopes, firsts}, nil
}

// Area returns the number of pixels of the image whose cells are in a box.
func (l *Lattice) Area(box Box) int64 {
	if box = box.Intersect(l.Bounds()); box.Empty() {
		return 0
	}
	return l.count(box.C1, box.R1) - l.count(box.C0, box.R1) - l.count(box.C1, box.R0) + l.count(box.C0, box.R0)
}

// count returns the number of pixels with c' < c and r' < r, for a corner of a
// box inside the bounds.
func (l *Lattice) count(c, r int) int64 {
	w := &l.view
	meet := l.meet(c, r)
	// Lines where the growing bound is below 0 have no pixels, and those where
	// it is above nu have all.
	from := min(w.first(-c, w.nv), meet)
	full := max(from, min(w.first(w.nu-c, w.nv), meet))
	n := l.areas.slopes[full] - l.areas.slopes[from] + int64(c)*int64(full-from)
	n += int64(w.nu) * int64(meet-full)
	return n + l.firsts(r-meet+1) - l.firsts(r-w.nv+1)
}

// meet returns the first line of the view where first(r − v) is the smaller
// bound.
func (l *Lattice) meet(c, r int) int {
	w := &l.view
	grown := func(v int) bool { return w.slope(c+w.slope(v)-1) >= r-v }
	// For real numbers they meet here; the floors move that by at most two.
	t := w.tangent()
	v := int(math.Floor((float64(r) - t*float64(c-1)) / (1 + t*t)))
	v = min(max(v, 0), w.nv)
	for v > 0 && grown(v-1) {
		v--
	}
	for v < w.nv && !grown(v) {
		v++
	}
	return v
}

// firsts returns the sum of first(k), at most nu each, over k < end.
func (l *Lattice) firsts(end int) int64 {
	sums := l.areas.firsts
	if end <= 0 {
		return 0
	}
	if last := len(sums) - 1; end > last {
		return sums[last] + int64(end-last)*int64(l.view.nu)
	}
	return sums[end]
}
