package detect

import (
	"cmp"
	"image"

	"github.com/boxsum/boxsum/internal/objects"
)

// A candidate is a window that passed the cascade.
type candidate struct {
	view        int32
	layer, x, y int32 // position in the layer
	stage       int32 // number of stages that it passed
	score       float64
	rect        image.Rectangle
	angle       float64
	mirrored    bool
}

// compare orders candidates by view, then by scale, y and x.
func (a *candidate) compare(b *candidate) int {
	return cmp.Or(cmp.Compare(a.view, b.view), cmp.Compare(a.layer, b.layer), cmp.Compare(a.y, b.y), cmp.Compare(a.x, b.x))
}

// A class is a set of candidates connected by similarity.
type class struct {
	n                        int
	left, top, width, height int // sums over the candidates, and finally their means
	stage                    int32
	score                    float64
	angle, sin, cos          float64 // angle of the first candidate, and sums over all candidates
	several                  bool    // candidates have different angles
	mirrored                 bool
}

// A grouper joins candidates into classes. Its zero value is ready to use, and it reuses
// its memory.
type grouper struct {
	joiner  objects.Joiner
	classes []class
}

// group appends a result for each class of more than neighbors candidates, as OpenCV's
// groupRectangles does.
func (g *grouper) group(to []Result, all []candidate, neighbors int, bounds image.Rectangle) []Result {
	g.joiner.Reset()
	for i := range all {
		g.joiner.Add(all[i].rect)
	}
	classes, n := g.joiner.Join(func(i, j int32) bool {
		a, b := &all[i], &all[j]
		return a.mirrored == b.mirrored && (a.angle == b.angle || near(a.angle, b.angle))
	})
	g.classes = g.classes[:0]
	for range n {
		g.classes = append(g.classes, class{stage: -1})
	}
	for i := range all {
		a, c := &all[i], &g.classes[classes[i]]
		c.mirrored = a.mirrored // all of a class are, or none
		c.addAngle(a.angle)
		c.n++
		c.left += a.rect.Min.X
		c.top += a.rect.Min.Y
		c.width += a.rect.Dx()
		c.height += a.rect.Dy()
		if a.stage > c.stage || a.stage == c.stage && a.score > c.score {
			c.stage, c.score = a.stage, a.score
		}
	}
	for i := range g.classes {
		c := &g.classes[i]
		s := 1 / float32(c.n)
		for _, v := range []*int{&c.left, &c.top, &c.width, &c.height} {
			*v = round32(float32(*v) * s)
		}
	}
	for i := range g.classes {
		if a := &g.classes[i]; a.n > neighbors && !g.inside(i, neighbors) {
			to = appendClipped(to, Result{
				Rect: a.mean(), Angle: a.meanAngle(), Neighbors: a.n, Score: a.score, Stage: int(a.stage), Mirrored: a.mirrored,
			}, bounds)
		}
	}
	return to
}

// inside reports whether a class lies within another class that has more candidates.
func (g *grouper) inside(i, neighbors int) bool {
	a := &g.classes[i]
	for j := range g.classes {
		if b := &g.classes[j]; j != i && b.n > neighbors && objects.Covers(b.mean(), b.n, a.mean(), a.n) {
			return true
		}
	}
	return false
}

// mean returns the mean of the windows.
func (c *class) mean() image.Rectangle {
	return image.Rect(c.left, c.top, c.left+c.width, c.top+c.height)
}

// each appends every candidate as a separate result.
func each(to []Result, all []candidate, bounds image.Rectangle) []Result {
	for i := range all {
		c := &all[i]
		to = appendClipped(to, Result{Rect: c.rect, Angle: c.angle, Neighbors: 1, Score: c.score, Stage: int(c.stage), Mirrored: c.mirrored}, bounds)
	}
	return to
}

func appendClipped(to []Result, r Result, bounds image.Rectangle) []Result {
	if r.Angle == 0 { // for rotated rectangles, the corners differ
		r.Rect = r.Rect.Intersect(bounds)
	}
	if !r.Rect.Empty() {
		to = append(to, r)
	}
	return to
}
