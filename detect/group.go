package detect

import (
	"cmp"
	"image"
	"math"
	"slices"
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
	order, parent, number []int32
	classes               []class
}

const epsilon = 0.2 // maximum difference of similar rectangles, relative to their size

func similar(a, b *image.Rectangle) bool {
	delta := float64(epsilon*float64(min(a.Dx(), b.Dx())+min(a.Dy(), b.Dy()))) * 0.5
	return math.Abs(float64(a.Min.X-b.Min.X)) <= delta && math.Abs(float64(a.Min.Y-b.Min.Y)) <= delta &&
		math.Abs(float64(a.Max.X-b.Max.X)) <= delta && math.Abs(float64(a.Max.Y-b.Max.Y)) <= delta
}

func (g *grouper) root(i int32) int32 {
	for g.parent[i] != i {
		g.parent[i] = g.parent[g.parent[i]]
		i = g.parent[i]
	}
	return i
}

// group appends a result for each class of more than neighbors candidates, as OpenCV's
// groupRectangles does.
func (g *grouper) group(to []Result, all []candidate, neighbors int, bounds image.Rectangle) []Result {
	n := len(all)
	g.order, g.parent, g.number = g.order[:0], g.parent[:0], g.number[:0]
	for i := range int32(n) {
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
			if similar(ra, rb) && all[a].mirrored == all[b].mirrored && (all[a].angle == all[b].angle || near(all[a].angle, all[b].angle)) {
				if p, q := g.root(a), g.root(b); p < q {
					g.parent[q] = p
				} else {
					g.parent[p] = q
				}
			}
		}
	}
	g.classes = g.classes[:0]
	for i := range int32(n) {
		root := g.root(i) // the representative of its class
		if g.number[root] < 0 {
			g.number[root] = int32(len(g.classes))
			g.classes = append(g.classes, class{stage: -1, mirrored: all[i].mirrored})
		}
		a, c := &all[i], &g.classes[g.number[root]]
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
				Rect:  image.Rect(a.left, a.top, a.left+a.width, a.top+a.height),
				Angle: a.meanAngle(), Neighbors: a.n, Score: a.score, Stage: int(a.stage), Mirrored: a.mirrored,
			}, bounds)
		}
	}
	return to
}

// inside reports whether a class lies within another class that has more candidates.
func (g *grouper) inside(i, neighbors int) bool {
	a := &g.classes[i]
	for j := range g.classes {
		b := &g.classes[j]
		if j == i || b.n <= neighbors || !(b.n > max(3, a.n) || a.n < 3) {
			continue
		}
		dx, dy := int(math.RoundToEven(float64(b.width)*epsilon)), int(math.RoundToEven(float64(b.height)*epsilon))
		if a.left >= b.left-dx && a.top >= b.top-dy &&
			a.left+a.width <= b.left+b.width+dx && a.top+a.height <= b.top+b.height+dy {
			return true
		}
	}
	return false
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
