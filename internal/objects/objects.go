// Package objects holds what the detectors of packages detect and hog share: how images are resized, and how windows
// that show the same object are joined. Both follow OpenCV.
package objects

import (
	"cmp"
	"image"
	"math"
	"slices"

	"github.com/boxsum/boxsum/internal/engine"
)

// Source returns the source of pixel i along a side that is resized from src to dst pixels: it is interpolated between
// place and the next pixel, whose weight is part/256.
func Source(src, dst, i int) (place, part int) {
	k := 1 / (float64(dst) / float64(src))
	p := float64(k*(float64(i)+0.5)) - 0.5
	j := math.Floor(p)
	switch {
	case j < 0:
		return 0, 0
	case j >= float64(src-1):
		return src - 1, 0
	}
	return int(j), int(math.RoundToEven(256 * (p - j)))
}

const epsilon = 0.2 // maximum difference of similar rectangles, relative to their size

func similar(a, b *image.Rectangle) bool {
	delta := float64(epsilon*float64(min(a.Dx(), b.Dx())+min(a.Dy(), b.Dy()))) * 0.5
	return math.Abs(float64(a.Min.X-b.Min.X)) <= delta && math.Abs(float64(a.Min.Y-b.Min.Y)) <= delta &&
		math.Abs(float64(a.Max.X-b.Max.X)) <= delta && math.Abs(float64(a.Max.Y-b.Max.Y)) <= delta
}

// A Joiner joins similar windows into classes. Its zero value is ready to use, and it reuses its memory.
type Joiner struct {
	windows                []image.Rectangle
	order, parent, classes []int32
}

// Reset removes all windows.
func (j *Joiner) Reset() { j.windows = j.windows[:0] }

// Add adds a window.
func (j *Joiner) Add(r image.Rectangle) { j.windows = append(j.windows, r) }

// Bytes returns the memory that the Joiner keeps.
func (j *Joiner) Bytes() int {
	return engine.Bytes(j.windows) + engine.Bytes(j.order) + engine.Bytes(j.parent) + engine.Bytes(j.classes)
}

// Join returns the class of each window, and the number of classes, which are numbered by their first windows. Two
// windows are in one class if similar windows connect them. Where alike is not nil, it must also accept every two
// windows that connect others.
func (j *Joiner) Join(alike func(a, b int32) bool) (classes []int32, n int) {
	j.order, j.parent, j.classes = j.order[:0], j.parent[:0], j.classes[:0]
	for i := range int32(len(j.windows)) {
		j.order, j.parent, j.classes = append(j.order, i), append(j.parent, i), append(j.classes, -1)
	}
	slices.SortFunc(j.order, func(a, b int32) int {
		return cmp.Or(cmp.Compare(j.windows[a].Min.X, j.windows[b].Min.X), cmp.Compare(a, b))
	})
	for i, a := range j.order {
		ra := &j.windows[a]
		reach := ra.Min.X + int(epsilon*0.5*float64(ra.Dx()+ra.Dy())) + 1
		for _, b := range j.order[i+1:] {
			rb := &j.windows[b]
			if rb.Min.X > reach {
				break
			}
			if similar(ra, rb) && (alike == nil || alike(a, b)) {
				p, q := j.root(a), j.root(b)
				j.parent[max(p, q)] = min(p, q)
			}
		}
	}
	for i := range j.classes { // a root is the first window of its class
		root := j.root(int32(i))
		if j.classes[root] < 0 {
			j.classes[root] = int32(n)
			n++
		}
		j.classes[i] = j.classes[root]
	}
	return j.classes, n
}

func (j *Joiner) root(i int32) int32 {
	for j.parent[i] != i {
		j.parent[i] = j.parent[j.parent[i]]
		i = j.parent[i]
	}
	return i
}

// Covers reports whether class a, the mean of n windows, stands for class b, the mean of m windows, because b lies in a
// and has fewer windows.
func Covers(a image.Rectangle, n int, b image.Rectangle, m int) bool {
	dx, dy := int(math.RoundToEven(float64(a.Dx())*epsilon)), int(math.RoundToEven(float64(a.Dy())*epsilon))
	return (n > max(3, m) || m < 3) &&
		b.Min.X >= a.Min.X-dx && b.Min.Y >= a.Min.Y-dy && b.Max.X <= a.Max.X+dx && b.Max.Y <= a.Max.Y+dy
}
