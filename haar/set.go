package haar

import (
	"fmt"
	"iter"
	"math"
	"math/bits"
	"slices"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/memory"
)

// A Set is features of one window, in an order of their own: either all that
// there are of some kinds, which takes no memory, or a list.
type Set struct {
	width, height int32
	length        int
	kinds         []Kind    // of a set of all features
	list          []Feature // of any other
}

// All is every feature of these kinds in a window, in the order that the
// package's documentation gives.
func All(width, height int, kinds ...Kind) (*Set, error) {
	s, err := newSet(width, height)
	if err != nil {
		return nil, err
	}
	if len(kinds) == 0 {
		return nil, fmt.Errorf("haar: %w: a set of all features takes a kind", boxsum.ErrSize)
	}
	s.kinds = slices.Clone(kinds)
	for _, k := range kinds {
		if !k.known() {
			return nil, fmt.Errorf("haar: %w: there is no %v; Kinds lists those that there are", boxsum.ErrSize, k)
		}
		columns, rows := s.places(k)
		over, count := bits.Mul64(columns, rows)
		if over != 0 || count > uint64(math.MaxInt-s.length) {
			return nil, fmt.Errorf("haar: %w: a window of %d×%d has more features than an int can count", boxsum.ErrSize, width, height)
		}
		s.length += int(count)
	}
	return s, nil
}

// NewSet is a list of features in a window, such as those that a detector has
// been trained to use. All must lie inside of the window. The list is copied.
func NewSet(width, height int, features ...Feature) (*Set, error) {
	s, err := newSet(width, height)
	if err != nil {
		return nil, err
	}
	for i, f := range features {
		if !f.kind.known() {
			return nil, fmt.Errorf("haar: %w: feature %d is the zero Feature; New makes one", boxsum.ErrSize, i)
		}
		if b := f.Bounds(); b.Max.X > width || b.Max.Y > height {
			return nil, fmt.Errorf("haar: %w: feature %d, %v, is outside of a window of %d×%d", boxsum.ErrSize, i, f, width, height)
		}
	}
	s.list, s.length = slices.Clone(features), len(features)
	return s, nil
}

func newSet(width, height int) (*Set, error) {
	if width < 1 || height < 1 || width > math.MaxInt32 || height > math.MaxInt32 {
		return nil, fmt.Errorf("haar: %w: a window of %d×%d pixels", boxsum.ErrSize, width, height)
	}
	return &Set{width: int32(width), height: int32(height)}, nil
}

// Len is how many features the set has.
func (s *Set) Len() int { return s.length }

// Window is the width and height of the window.
func (s *Set) Window() (width, height int) { return int(s.width), int(s.height) }

// Features goes through the features in order.
func (s *Set) Features() iter.Seq[Feature] {
	return func(yield func(Feature) bool) {
		for i := range s.tiles() {
			for f := range s.in(s.tile(i)) {
				if !yield(f) {
					return
				}
			}
		}
	}
}

// Scale is the list of the features in a window that is larger or smaller by a
// factor, each as [Feature.Scale] makes it. It takes 36 bytes for each.
func (s *Set) Scale(factor float64) (*Set, error) {
	width, err := scaleLine(s.width, factor)
	if err != nil {
		return nil, err
	}
	height, err := scaleLine(s.height, factor)
	if err != nil {
		return nil, err
	}
	list, err := memory.Make[Feature](s.length)
	if err != nil {
		return nil, fmt.Errorf("haar: %w: %w", boxsum.ErrSize, err)
	}
	i := 0
	for f := range s.Features() {
		if list[i], err = f.Scale(factor); err != nil {
			return nil, err
		}
		i++
	}
	return &Set{width: width, height: height, length: len(list), list: list}, nil
}
