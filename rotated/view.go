package rotated

// A view maps a Width×Height image to coordinates (u, v) in which its rotation
// is a/b with 0 ≤ a ≤ b.
type view struct {
	a, b          int
	width, height int // size of the image in pixels
	nu, nv        int // of the view
	mirror        bool
	exchange      bool
}

func newView(width, height int, rot Rotation) view {
	w := view{a: rot.A, b: rot.B, width: width, height: height, nu: width, nv: height}
	if w.mirror = w.a < 0; w.mirror {
		w.a = -w.a
	}
	if w.exchange = w.a > w.b; w.exchange {
		w.a, w.b = w.b, w.a
		w.nu, w.nv = w.nv, w.nu
	}
	return w
}

// toView returns the point of the view for pixel (x, y).
func (w *view) toView(x, y int) (u, v int) {
	if w.mirror {
		x = w.width - 1 - x
	}
	if w.exchange {
		return y, x
	}
	return x, y
}

// toPixel returns the pixel for a point of the view.
func (w *view) toPixel(u, v int) (x, y int) {
	x, y = u, v
	if w.exchange {
		x, y = v, u
	}
	if w.mirror {
		x = w.width - 1 - x
	}
	return x, y
}

// slope returns ⌊a·n/b⌋, for any n.
func (w *view) slope(n int) int { return int(floorDiv(int64(w.a)*int64(n), int64(w.b))) }

// first returns the smallest n in [0, end) whose slope is at least k, or end if
// there is none.
func (w *view) first(k, end int) int {
	switch {
	case k <= 0:
		return 0
	case w.a == 0:
		return end
	}
	return int(min((int64(k)*int64(w.b)+int64(w.a)-1)/int64(w.a), int64(end)))
}

func (w *view) tangent() float64 { return float64(w.a) / float64(w.b) }

func floorDiv(n, d int64) int64 {
	q := n / d
	if n%d < 0 {
		q--
	}
	return q
}
