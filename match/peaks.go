package match

import (
	"container/heap"
	"image"
	"slices"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/matching"
	"github.com/boxsum/boxsum/internal/raster"
)

// A Peak is a position whose score is at least as good as those of its eight neighbors.
type Peak struct {
	X, Y  int // position of the template's top left pixel
	Score float32

	// SubX and SubY are the position with subpixel precision: the vertices of parabolas
	// through the score and its horizontal and vertical neighbors. They differ from X and Y by
	// at most a half.
	SubX, SubY float64
}

// Find returns the best k peaks of the scores of template in img, best first. No two peaks
// are less than half the template's width apart horizontally and less than half its height
// vertically. Find returns fewer than k peaks if there are no more, and an error if k is
// negative or [Match] returns one.
func Find[P Pixel](img, template boxsum.Image[P], m Method, k int, opt *Options) ([]Peak, error) {
	if k < 0 {
		return nil, badCount(k)
	}
	scores, err := Match(img, template, m, opt)
	if err != nil {
		return nil, err
	}
	return Peaks(scores, m, k, image.Pt(max(1, template.Width/2), max(1, template.Height/2)))
}

func badCount(k int) error { return raster.Invalid("number of peaks is %d, want 0 or more", k) }

// Peaks returns the best k peaks of scores, which were computed by method m, best first. Of
// two peaks that are less than apart.X apart horizontally and less than apart.Y vertically,
// it keeps only the better one (non-maximum suppression). Among equal scores it prefers the
// topmost, then the leftmost. A position with an equally good neighbor before it is not a
// peak, so a flat region has at most one. NaN scores are not peaks. Peaks returns fewer
// than k peaks if there are no more. It returns an error if scores has more than one
// channel, or if k or a coordinate of apart is negative.
func Peaks(scores boxsum.Image[float32], m Method, k int, apart image.Point) ([]Peak, error) {
	if err := matching.Method(m).Check(); err != nil {
		return nil, err
	}
	e := raster.PlaneExtent(scores.Width, scores.Height, scores.Channels, scores.Stride)
	if err := e.Pixels(len(scores.Pix)); err != nil {
		return nil, err
	}
	if e.Channels != 1 {
		return nil, raster.Invalid("scores have %d channels, want 1", e.Channels)
	}
	if k < 0 {
		return nil, badCount(k)
	}
	if apart.X < 0 || apart.Y < 0 {
		return nil, raster.Invalid("minimum distance is (%d, %d), want 0 or more along each axis", apart.X, apart.Y)
	}
	f := finder{pix: scores.Pix, width: e.Width, height: e.Height, stride: e.Stride, sign: 1}
	if m == SSD {
		f.sign = -1
	}
	if k == 0 || e.Width == 0 || e.Height == 0 {
		return nil, nil
	}
	// Most images have many peaks, of which few are wanted. Keep only the best, and retry
	// with more only if these are too close together.
	for most := 64 + 16*min(k, 1<<20); ; most *= 8 {
		f.collect(most)
		peaks := f.choose(k, apart)
		if len(peaks) == k || !f.more {
			return peaks, nil
		}
	}
}

// A finder keeps the best peaks in a heap, worst first.
type finder struct {
	pix                   []float32
	width, height, stride int
	sign                  float32
	best                  []place
	more                  bool // some were dropped
}

// A place is a position with a score of which higher is better.
type place struct {
	x, y  int
	score float32
}

// better reports whether a sorts before b.
func (a place) better(b place) bool {
	switch {
	case a.score != b.score:
		return a.score > b.score
	case a.y != b.y:
		return a.y < b.y
	}
	return a.x < b.x
}

func (f *finder) Len() int           { return len(f.best) }
func (f *finder) Less(i, j int) bool { return f.best[j].better(f.best[i]) }
func (f *finder) Swap(i, j int)      { f.best[i], f.best[j] = f.best[j], f.best[i] }
func (f *finder) Push(p any)         { f.best = append(f.best, p.(place)) }
func (f *finder) Pop() any {
	last := f.best[len(f.best)-1]
	f.best = f.best[:len(f.best)-1]
	return last
}

func (f *finder) at(x, y int) float32 { return f.sign * f.pix[y*f.stride+x] }

// collect keeps the best most peaks.
func (f *finder) collect(most int) {
	f.best, f.more = f.best[:0], false
	for y := range f.height {
		for x, v := range f.pix[y*f.stride:][:f.width] {
			v *= f.sign
			full := len(f.best) == most
			if full && v <= f.best[0].score {
				f.more = true // it may not be a peak; then the next round is wasted
				continue
			}
			if v != v || !f.peak(x, y, v) {
				continue
			}
			p := place{x, y, v}
			if full {
				f.best[0], f.more = p, true
				heap.Fix(f, 0)
			} else {
				heap.Push(f, p)
			}
		}
	}
}

// peak reports whether no neighbor is better and no earlier neighbor is equal.
func (f *finder) peak(x, y int, v float32) bool {
	for j := max(0, y-1); j <= min(f.height-1, y+1); j++ {
		for i := max(0, x-1); i <= min(f.width-1, x+1); i++ {
			n := f.at(i, j)
			if n > v || n == v && (j < y || j == y && i < x) {
				return false
			}
		}
	}
	return true
}

// choose returns up to k peaks that are far enough apart, best first.
func (f *finder) choose(k int, apart image.Point) (peaks []Peak) {
	slices.SortFunc(f.best, func(a, b place) int {
		if a.better(b) {
			return -1
		}
		return 1
	})
next:
	for _, p := range f.best {
		if len(peaks) == k {
			break
		}
		for _, other := range peaks {
			if distance(p.x, other.X) < apart.X && distance(p.y, other.Y) < apart.Y {
				continue next
			}
		}
		peak := Peak{X: p.x, Y: p.y, Score: f.sign * p.score, SubX: float64(p.x), SubY: float64(p.y)}
		if p.x > 0 && p.x < f.width-1 {
			peak.SubX += top(f.at(p.x-1, p.y), p.score, f.at(p.x+1, p.y))
		}
		if p.y > 0 && p.y < f.height-1 {
			peak.SubY += top(f.at(p.x, p.y-1), p.score, f.at(p.x, p.y+1))
		}
		peaks = append(peaks, peak)
	}
	return peaks
}

func distance(a, b int) int { return max(a-b, b-a) }

// top returns the offset, -0.5 to 0.5, of the vertex of the parabola through three scores.
// The middle score must be the best.
func top(before, at, after float32) float64 {
	l, r := float64(at)-float64(before), float64(at)-float64(after)
	if !(l+r > 0) || !finite(l+r) {
		return 0 // flat, or next to a NaN
	}
	return (l - r) / (2 * (l + r))
}

// finite reports whether v is neither infinite nor NaN.
func finite(v float64) bool { return v-v == 0 }
