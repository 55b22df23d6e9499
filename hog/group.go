package hog

import (
	"image"
	"math"

	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/objects"
)

// A grouper joins hits into classes. Its zero value is ready to use, and it reuses its memory.
type grouper struct {
	joiner  objects.Joiner
	classes []class
}

// A class is a set of hits connected by similarity.
type class struct {
	n     int
	rect  image.Rectangle // sums, then the mean
	score float64
}

func (g *grouper) bytes() int { return g.joiner.Bytes() + engine.Bytes(g.classes) }

// group appends a result for each class of more than neighbors hits, as OpenCV's
// HOGDescriptor does. Unlike those of cascades, means are computed in float64.
func (g *grouper) group(to []Result, all []hit, neighbors int, bounds image.Rectangle) []Result {
	g.joiner.Reset()
	for i := range all {
		g.joiner.Add(all[i].rect)
	}
	classes, n := g.joiner.Join(nil)
	g.classes = g.classes[:0]
	for range n {
		g.classes = append(g.classes, class{score: math.Inf(-1)})
	}
	for i := range all {
		h, c := &all[i], &g.classes[classes[i]]
		c.n++
		c.rect.Min = c.rect.Min.Add(h.rect.Min)
		c.rect.Max = c.rect.Max.Add(h.rect.Size())
		c.score = max(c.score, h.score)
	}
	for i := range g.classes {
		c := &g.classes[i]
		s := 1 / float64(c.n)
		mean := func(sum int) int { return round(float64(sum) * s) }
		c.rect.Min = image.Pt(mean(c.rect.Min.X), mean(c.rect.Min.Y))
		c.rect.Max = c.rect.Min.Add(image.Pt(mean(c.rect.Max.X), mean(c.rect.Max.Y)))
	}
	for i := range g.classes {
		if c := &g.classes[i]; c.n > neighbors && !g.inside(i, neighbors) {
			to = appendClipped(to, Result{Rect: c.rect, Neighbors: c.n, Score: c.score}, bounds)
		}
	}
	return to
}

// inside reports whether a class lies within another one that has more hits.
func (g *grouper) inside(i, neighbors int) bool {
	a := &g.classes[i]
	for j := range g.classes {
		if b := &g.classes[j]; j != i && b.n > neighbors && objects.Covers(b.rect, b.n, a.rect, a.n) {
			return true
		}
	}
	return false
}
