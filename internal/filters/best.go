package filters

import (
	"image"
	"math"
	"slices"

	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/internal/window"
)

// A Found is a window of an image and the mean of its values.
type Found struct {
	Box  image.Rectangle
	Mean float64
}

// Best returns the k windows of width×height pixels with the greatest means, or the smallest if dark is set,
// see Brightest in package filter.
func Best(img raster.Array, width, height, k int, dark bool, opt *Options) ([]Found, error) {
	j := Job{Src: img, Window: pixelWindow, Options: *opt}
	if err := j.Check(); err != nil {
		return nil, err
	}
	if j.counts() {
		return nil, raster.Unsupported("masks are not supported for the brightest and darkest windows, which skip NaN themselves")
	}
	if width < 1 || height < 1 {
		return nil, raster.Invalid("window is %d×%d, want at least 1×1", width, height)
	}
	if k < 0 {
		return nil, raster.Invalid("number of windows is %d, want 0 or more", k)
	}
	if width > j.Src.Width || height > j.Src.Height || k == 0 {
		return nil, j.set.Stopped()
	}
	j.shape = window.Shape{Right: width - 1, Down: height - 1, Border: window.Clip}
	sign := 1.0
	if dark {
		sign = -1
	}
	return search(&j, k, sign)
}

// A searcher finds the best window of each row among those that overlap no window found so
// far.
type searcher struct {
	image  window.Image
	sums   window.Sums
	values []float64 // of the windows of a row, by channel
	sign   float64
	w, h   int // window size
	places int // per row
	found  []Found
}

type candidate struct {
	x     int // -1 if there is none
	value float64
}

func search(j *Job, k int, sign float64) ([]Found, error) {
	sum := raster.U64
	if j.Src.Type.Float() {
		sum = raster.F64
	}
	f := j.frame(sum, 0)
	s := &searcher{sign: sign, w: j.shape.Width(), h: j.shape.Height()}
	s.places = j.Src.Width - s.w + 1
	s.values = make([]float64, s.places*j.Src.Channels)
	s.image = window.Image{Src: j.Src, Border: window.Clip}
	s.image.Outside = window.OutsideRow(nil, &f)
	s.sums.Aim(&f)
	s.sums.Strip(0, j.Src.Width)
	rows := make([]candidate, j.Src.Height-s.h+1)
	for y := range rows {
		if err := j.set.Stopped(); err != nil {
			return nil, err
		}
		rows[y] = s.row(y)
		if y&63 == 0 {
			j.set.Report(float64(y) / float64(len(rows)))
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
		n := float64(s.w) * float64(s.h) * float64(j.Src.Channels)
		box := image.Rect(rows[at].x, at, rows[at].x+s.w, at+s.h)
		s.found = append(s.found, Found{box, sign*rows[at].value/n + f.Offset})
		for y := max(0, at-s.h+1); y < min(len(rows), at+s.h); y++ {
			if err := j.set.Stopped(); err != nil {
				return nil, err
			}
			if c := rows[y]; c.x >= 0 && c.x > box.Min.X-s.w && c.x < box.Max.X { // the row's best is no longer free
				rows[y] = s.row(y)
			}
		}
	}
	j.set.Report(1)
	return slices.Clip(s.found), nil
}

// row returns the best of the windows that start in a row.
func (s *searcher) row(y int) candidate {
	s.sums.Down(&s.image, y)
	r := s.sums.Windows()
	best := candidate{-1, math.Inf(-1)}
	c := r.Channels
	sums := r.Sums.Slice(0, len(s.values))
	sums.Floats(s.values)
places:
	for x := range s.places {
		var v float64
		for _, sum := range s.values[x*c:][:c] {
			v += sum
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
