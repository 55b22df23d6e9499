package filter

import (
	"image"
	"math"
	"slices"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/grid"
	"github.com/boxsum/boxsum/internal/kernel"
	"github.com/boxsum/boxsum/internal/window"
)

// A Found is a window of an image, and the mean of all its values.
type Found struct {
	Box  image.Rectangle
	Mean float64
}

// Brightest is the k windows of width×height pixels with the greatest means, the
// greatest first. All lie inside of the image, and none overlaps another: each is the best
// of those that are left. Of equal ones the topmost is taken, and of these the leftmost.
// The channels of an image count together. There may be fewer than k. Windows with a NaN
// are left out. Of the options, the border has no meaning here.
func Brightest[P Pixel](img boxsum.Image[P], width, height, k int, opt *Options) ([]Found, error) {
	return best(&img, width, height, k, 1, opt)
}

// Darkest is the k windows with the least means, the least first. See [Brightest].
func Darkest[P Pixel](img boxsum.Image[P], width, height, k int, opt *Options) ([]Found, error) {
	return best(&img, width, height, k, -1, opt)
}

func best(from any, width, height, k int, sign float64, opt *Options) ([]Found, error) {
	img := pixels(from)
	var t task
	if err := t.check(&img, Square(1), opt); err != nil {
		return nil, err
	}
	if width < 1 || height < 1 {
		return nil, grid.Invalid("windows of %d×%d: use 1 pixel a side or more", width, height)
	}
	if k < 0 {
		return nil, grid.Invalid("the best %d windows: use 1 or more", k)
	}
	if width > t.src.Width || height > t.src.Height || k == 0 {
		return nil, t.set.Stopped()
	}
	t.shape = window.Shape{Right: width - 1, Down: height - 1, Border: window.Clip}
	if t.src.Of.Float() {
		return search[float64](&t, k, sign)
	}
	return search[uint64](&t, k, sign)
}

// A searcher finds the best window of a row among those that overlap no other found.
type searcher[A kernel.Number] struct {
	image  window.Image
	sums   window.Sums[A, A]
	sign   float64
	w, h   int // of windows
	places int // along a row
	found  []Found
}

type candidate struct {
	x     int // -1 if there is none
	value float64
}

func search[A kernel.Number](t *task, k int, sign float64) ([]Found, error) {
	f := t.frame()
	s := &searcher[A]{sign: sign, w: t.shape.Width(), h: t.shape.Height()}
	s.places = t.src.Width - s.w + 1
	s.image = window.Image{Src: t.src, Border: window.Clip}
	s.image.Outside = window.OutsideRow(nil, &f)
	s.sums.Aim(&f)
	s.sums.Strip(0, t.src.Width)
	rows := make([]candidate, t.src.Height-s.h+1)
	for y := range rows {
		if err := t.set.Stopped(); err != nil {
			return nil, err
		}
		rows[y] = s.row(y)
		if y&63 == 0 {
			t.set.Report(float64(y) / float64(len(rows)))
		}
	}
	for len(s.found) < k {
		at := -1
		for y, c := range rows {
			if c.x >= 0 && (at < 0 || c.value > rows[at].value) {
				at = y
			}
		}
		if at < 0 {
			break
		}
		n := float64(s.w) * float64(s.h) * float64(t.src.Channels)
		box := image.Rect(rows[at].x, at, rows[at].x+s.w, at+s.h)
		s.found = append(s.found, Found{box, sign*rows[at].value/n + f.Offset})
		for y := max(0, at-s.h+1); y < min(len(rows), at+s.h); y++ {
			if err := t.set.Stopped(); err != nil {
				return nil, err
			}
			if c := rows[y]; c.x >= 0 && c.x > box.Min.X-s.w && c.x < box.Max.X { // the best of its row is no longer free
				rows[y] = s.row(y)
			}
		}
	}
	t.set.Report(1)
	return slices.Clip(s.found), nil
}

// row is the best of the windows that start in a row.
func (s *searcher[A]) row(y int) candidate {
	s.sums.Down(&s.image, y)
	r := s.sums.Windows()
	best := candidate{-1, math.Inf(-1)}
	c := r.Channels
places:
	for x := range s.places {
		var v float64
		for i := x * c; i < (x+1)*c; i++ {
			v += float64(r.Hi[i] - r.Lo[i])
		}
		if v *= s.sign; !(v > best.value) && !(best.x < 0 && v == v) {
			continue
		}
		for _, f := range s.found {
			if x > f.Box.Min.X-s.w && x < f.Box.Max.X && y > f.Box.Min.Y-s.h && y < f.Box.Max.Y {
				continue places
			}
		}
		best = candidate{x, v}
	}
	return best
}
