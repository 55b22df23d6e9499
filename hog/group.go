package hog

import (
	"cmp"
	"image"
	"math"
	"slices"

	"github.com/boxsum/boxsum/internal/engine"
)

// A grouper joins hits into classes. Its zero value is ready to use, and it reuses its memory.
type grouper struct {
	order, parent, number []int32
	classes               []class
}

// A class is a set of hits connected by similarity.
type class struct {
	n     int
	rect  image.Rectangle // sums, then the mean
	score float64
}

const epsilon = 0.2 // maximum difference of similar rectangles, relative to their size

func (g *grouper) bytes() int {
	return engine.Bytes(g.order) + engine.Bytes(g.parent) + engine.Bytes(g.number) + engine.Bytes(g.classes)
}

func similar(a, b *image.Rectangle) bool {
	delta := float64(epsilon*float64(min(a.Dx(), b.Dx())+min(a.Dy(), b.Dy()))) * 0.5
	near := func(a, b int) bool { return math.Abs(float64(a-b)) <= delta }
	return near(a.Min.X, b.Min.X) && near(a.Min.Y, b.Min.Y) && near(a.Max.X, b.Max.X) && near(a.Max.Y, b.Max.Y)
}

func (g *grouper) root(i int32) int32 {
	for g.parent[i] != i {
		g.parent[i] = g.parent[g.parent[i]]
		i = g.parent[i]
	}
	return i
}

// group appends a result for each class of more than neighbors hits, as OpenCV's
// HOGDescriptor does. Unlike those of cascades, means are computed in float64.
func (g *grouper) group(to []Result, all []hit, neighbors int, bounds image.Rectangle) []Result {
	g.order, g.parent, g.number = g.order[:0], g.parent[:0], g.number[:0]
	for i := range int32(len(all)) {
		g.order, g.parent, g.number = append(g.order, i), append(g.parent, i), append(g.number, -1)
	}
	slices.SortFunc(g.order, func(a, b int32) int {
		return cmp.Or(cmp.Compare(all[a].rect.Min.X, all[b].rect.Min.X), cmp.Compare(a, b))
	})
	for i, a := range g.order {
		ra := &all[a].rect
		reach := ra.Min.X + int(epsilon*0.5*float64(ra.Dx()+ra.Dy())) + 1
		for _, b := range g.order[i+1:] {
			rb := &all[b].rect
			if rb.Min.X > reach {
				break
			}
			if similar(ra, rb) {
				if p, q := g.root(a), g.root(b); p < q {
					g.parent[q] = p
				} else {
					g.parent[p] = q
				}
			}
		}
	}
	g.classes = g.classes[:0]
	for i := range all {
		root := g.root(int32(i)) // the first of its class
		if g.number[root] < 0 {
			g.number[root] = int32(len(g.classes))
			g.classes = append(g.classes, class{score: math.Inf(-1)})
		}
		h, c := &all[i], &g.classes[g.number[root]]
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
		b := &g.classes[j]
		if j == i || b.n <= neighbors || !(b.n > max(3, a.n) || a.n < 3) {
			continue
		}
		dx, dy := round(float64(b.rect.Dx())*epsilon), round(float64(b.rect.Dy())*epsilon)
		outer := image.Rectangle{b.rect.Min.Sub(image.Pt(dx, dy)), b.rect.Max.Add(image.Pt(dx, dy))}
		if a.rect.Min.X >= outer.Min.X && a.rect.Min.Y >= outer.Min.Y && a.rect.Max.X <= outer.Max.X && a.rect.Max.Y <= outer.Max.Y {
			return true
		}
	}
	return false
}
