package haar

import (
	"image"
	"iter"
	"math"
	"math/bits"
	"slices"

	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/rotated"
)

// A Set is an ordered set of features of one window. A set of all features of
// some kinds takes almost no memory; any other set stores a list.
type Set struct {
	window window
	length int
	kinds  []Kind    // the kinds of a set of all features
	starts []int     // for a turned window, the start of each tile's features, followed by the length
	list   []Feature // the features of any other set
}

// All returns the set of all features of the given kinds in a window, in the
// order described in the package documentation. On a rotated plane, the sides
// of the window are parallel to the axes of the plane, and width and height
// count lines of its lattice instead of pixels. All returns an error if kinds
// is empty or contains an unknown kind, or if a side of the window is less
// than 1.
func All(width, height int, kinds ...Kind) (*Set, error) {
	return AllRotated(upright, width, height, kinds...)
}

// maxAll is the maximum side of a turned window whose features are counted.
// Counting takes time proportional to its square, less than a second for a
// kind.
const maxAll = 1 << 12

// AllRotated returns the set of all features of the given kinds along the lines
// of a rotation that stay inside an upright window of pixels wherever the
// window is, in the order described in the package documentation. It omits
// features whose cells are single cells of the lattice, because these may
// contain no pixel. With a rotation of 0/1 the result is that of [All].
// AllRotated returns an error under the conditions of [All], for the reasons of
// [rotated.Rotation.Reduce], or if a side of the window exceeds 4096 and the
// rotation is not 0/1.
func AllRotated(rot rotated.Rotation, width, height int, kinds ...Kind) (*Set, error) {
	w, err := newWindow(rot, width, height)
	if err != nil {
		return nil, err
	}
	if w.turned() && max(width, height) > maxAll {
		return nil, raster.Invalid("window is %v, want sides of at most %d to list all features", &w, maxAll)
	}
	if len(kinds) == 0 {
		return nil, raster.Invalid("no kinds of features, want at least one")
	}
	for _, k := range kinds {
		if !k.known() {
			return nil, raster.Invalid("unknown %v, want one that Kinds lists", k)
		}
	}
	s := &Set{window: w, kinds: slices.Clone(kinds)}
	tooMany := raster.Invalid("window is %v, which has more features than an int can count (use a smaller window)", &w)
	add := func(count uint64) bool {
		if count > uint64(math.MaxInt-s.length) {
			return false
		}
		s.length += int(count)
		return true
	}
	if !w.turned() {
		for _, k := range kinds {
			columns, rows := s.places(k)
			if over, count := bits.Mul64(columns, rows); over != 0 || !add(count) {
				return nil, tooMany
			}
		}
		return s, nil
	}
	for _, k := range kinds {
		for y := range int32(len(w.rows)) {
			s.starts = append(s.starts, s.length)
			z := s.sizes(k, w.top+y)
			if !add(z.features()) {
				return nil, tooMany
			}
		}
	}
	s.starts = append(s.starts, s.length)
	return s, nil
}

// NewSet returns a set of the given features in a window, such as those that a
// detector has been trained to use. All must lie inside the window. The list is
// copied. On a rotated plane, the sides of the window are parallel to the axes
// of the plane, and width and height count lines of its lattice.
func NewSet(width, height int, features ...Feature) (*Set, error) {
	return NewRotatedSet(upright, width, height, features...)
}

// NewRotatedSet returns a set of the given features along the lines of a
// rotation, in an upright window of pixels. As in [AllRotated], all features
// must stay inside the window wherever it is, but their cells may have any
// size. The list is copied.
func NewRotatedSet(rot rotated.Rotation, width, height int, features ...Feature) (*Set, error) {
	w, err := newWindow(rot, width, height)
	if err != nil {
		return nil, err
	}
	for i, f := range features {
		if !f.kind.known() {
			return nil, raster.Invalid("feature %d is the zero Feature (use New)", i)
		}
		if !w.holds(f.Bounds()) {
			return nil, raster.Invalid("feature %d is %v, want bounds inside the window of %v", i, f, &w)
		}
	}
	return &Set{window: w, list: slices.Clone(features), length: len(features)}, nil
}

// Len returns the number of features in the set.
func (s *Set) Len() int { return s.orEmpty().length }

func (s *Set) orEmpty() *Set {
	if s == nil {
		return new(Set)
	}
	return s
}

// Window returns the width and height of the window.
func (s *Set) Window() (width, height int) {
	w := &s.orEmpty().window
	return int(w.width), int(w.height)
}

// Rotation returns the rotation of a set from [AllRotated] or [NewRotatedSet].
// It returns 0/1 for any other set, which can be used with every plane.
func (s *Set) Rotation() rotated.Rotation {
	if !s.orEmpty().window.turned() {
		return upright
	}
	return s.window.rot
}

// Features returns an iterator over the features, in order.
func (s *Set) Features() iter.Seq[Feature] {
	s = s.orEmpty()
	return func(yield func(Feature) bool) {
		for i := range s.tiles() {
			for f := range s.featuresOf(s.tile(i)) {
				if !yield(f) {
					return
				}
			}
		}
	}
}

// Scale returns a set of the same features, each scaled by a factor as
// [Feature.Scale] does, in a window scaled by the same factor. Rounding may
// move a feature over the edge of an upright window with rotated axes. Such a
// feature is moved back by a line or, if that is not enough, made slightly
// smaller. The new set takes 36 bytes for each feature.
func (s *Set) Scale(factor float64) (*Set, error) {
	s = s.orEmpty()
	width, err := scaleLine(s.window.width, factor)
	if err != nil {
		return nil, err
	}
	height, err := scaleLine(s.window.height, factor)
	if err != nil {
		return nil, err
	}
	w, err := newWindow(s.Rotation(), int(width), int(height))
	if err != nil {
		return nil, err
	}
	list, err := raster.Make[Feature](s.length)
	if err != nil {
		return nil, raster.OutOfMemory("%w", err)
	}
	i := 0
	for f := range s.Features() {
		if list[i], err = w.fit(f, factor); err != nil {
			return nil, err
		}
		i++
	}
	return &Set{window: w, length: len(list), list: list}, nil
}

// fit scales a feature into a window that is scaled by the same factor.
func (w *window) fit(f Feature, factor float64) (Feature, error) {
	// The factor is reduced in steps to 1, at which the feature fits. A factor
	// below 1 is not reduced, because a box could vanish.
	const steps = 32
	for i := range steps + 1 {
		scaled, err := f.Scale(factor + max(0, factor-1)*float64(-i)/steps)
		if err != nil {
			return Feature{}, err
		}
		if w.pullBack(&scaled) {
			return scaled, nil
		}
	}
	return Feature{}, raster.Invalid("factor is %v: %v does not fit in the window of %v after scaling", factor, f, w)
}

// pullBack moves a feature into the window, by at most one line each way.
func (w *window) pullBack(f *Feature) bool {
	for _, d := range [...]image.Point{{}, {X: 1}, {X: -1}, {Y: 1}, {Y: -1}, {X: 1, Y: 1}, {X: -1, Y: 1}, {X: 1, Y: -1}, {X: -1, Y: -1}} {
		if !w.holds(f.Bounds().Add(d)) {
			continue
		}
		s := &shapes[f.kind]
		for i := range s.x {
			f.x[i] += int32(d.X)
		}
		for i := range s.y {
			f.y[i] += int32(d.Y)
		}
		return true
	}
	return false
}
