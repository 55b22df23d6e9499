package plot

import (
	"math"
	"slices"
	"sort"
)

const (
	chartWidth = 760.0
	margin     = 16.0
	lineHeight = 19.0
	sampleSize = 34.0 // of a line next to its name
)

// Size returns the size of the chart.
func (c *Chart) Size() (width, height float64) {
	return chartWidth, max(420, 110+lineHeight*float64(len(c.Series)))
}

func (c *Chart) title() string { return c.Title }

// A frame is the area of the data, with its scales.
type frame struct {
	x0, y0, x1, y1 float64
	x, y           scale
	lines          []int // line of each label of the x-axis
}

func (f frame) place(p Point) point { return point{f.px(p.X), f.py(p.Y)} }
func (f frame) px(v float64) float64 {
	return f.x0 + (f.x1-f.x0)*f.x.at(v)
}
func (f frame) py(v float64) float64 {
	return f.y1 - (f.y1-f.y0)*f.y.at(v)
}

func (c *Chart) frame() frame {
	var xs, ys []float64
	for _, s := range c.Series {
		for _, p := range s.Points {
			xs, ys = append(xs, p.X), append(ys, p.Y)
			if p.High != 0 {
				ys = append(ys, p.Low, p.High)
			}
		}
	}
	width, height := c.Size()
	f := frame{x: scaleOf(c.X, xs), y: scaleOf(c.Y, ys)}
	labeled, _ := f.y.ticks(c.Y)
	left, right := 0.0, 0.0
	for _, t := range labeled {
		left = max(left, widthOf(t.Label, tickFace))
	}
	for _, s := range c.Series {
		right = max(right, widthOf(s.Name, nameFace))
	}
	f.x0, f.x1 = margin+left+8, width-margin-right-sampleSize-24
	f.y0, f.y1 = margin+62, height-margin-44
	labeled, _ = f.x.ticks(c.X)
	if f.lines = stagger(labeled, f.px); slices.ContainsFunc(f.lines, func(line int) bool { return line > 0 }) {
		f.y1 -= lineHeight
	}
	return f
}

// stagger returns the line of each label: labels that would overlap the previous one go to a second
// line, and those that do not fit there either to a third, which is not drawn.
func stagger(ticks []Tick, place func(float64) float64) []int {
	lines := make([]int, len(ticks))
	free := [3]float64{math.Inf(-1), math.Inf(-1), math.Inf(-1)}
	for i, t := range ticks {
		x, half := place(t.At), widthOf(t.Label, tickFace)/2
		for lines[i] < 2 && x-half < free[lines[i]] {
			lines[i]++
		}
		free[lines[i]] = x + half + 6
	}
	return lines
}

func (c *Chart) draw(to canvas) {
	f := c.frame()
	to.text(point{margin, margin + 15}, 0, c.Title, titleFace, ink)
	to.text(point{margin, f.y0 - 15}, 0, c.Y.Label, tickFace, soft)
	_, height := c.Size()
	to.text(point{(f.x0 + f.x1) / 2, height - margin}, 0.5, c.X.Label, tickFace, soft)
	c.drawGrid(to, f)
	for _, s := range c.Series {
		drawSeries(to, f, s)
	}
	c.drawNames(to, f)
}

func (c *Chart) drawGrid(to canvas, f frame) {
	labeled, minor := f.y.ticks(c.Y)
	for _, v := range minor {
		to.line([]point{{f.x0, f.py(v)}, {f.x1, f.py(v)}}, 1, nil, faint)
	}
	for _, t := range labeled {
		y := f.py(t.At)
		to.line([]point{{f.x0, y}, {f.x1, y}}, 1, nil, rule)
		to.text(point{f.x0 - 8, y + 4.5}, 1, t.Label, tickFace, ink)
	}
	labeled, minor = f.x.ticks(c.X)
	for _, v := range minor {
		to.line([]point{{f.px(v), f.y1}, {f.px(v), f.y1 + 3}}, 1, nil, soft)
	}
	for i, t := range labeled {
		x, down := f.px(t.At), lineHeight*float64(min(f.lines[i], 1))
		to.line([]point{{x, f.y0}, {x, f.y1}}, 1, nil, faint)
		to.line([]point{{x, f.y1}, {x, f.y1 + 5 + down*0.6}}, 1, nil, soft)
		if f.lines[i] < 2 {
			to.text(point{x, f.y1 + 21 + down}, 0.5, t.Label, tickFace, ink)
		}
	}
	to.line([]point{{f.x0, f.y1}, {f.x1, f.y1}}, 1.2, nil, soft)
}

func drawSeries(to canvas, f frame, s Series) {
	at := make([]point, len(s.Points))
	for i, p := range s.Points {
		at[i] = f.place(p)
	}
	hue := s.Style.color()
	if len(at) > 1 {
		to.line(at, s.Style.width(), s.Style.dash(), hue)
	}
	for _, p := range s.Points {
		if p.High == 0 {
			continue
		}
		x, low, high := f.px(p.X), f.py(p.Low), f.py(p.High)
		to.line([]point{{x, low}, {x, high}}, 1.1, nil, hue)
		for _, y := range []float64{low, high} {
			to.line([]point{{x - 3.5, y}, {x + 3.5, y}}, 1.1, nil, hue)
		}
	}
	if s.Style.Bare && len(at) > 1 {
		return
	}
	for _, p := range at {
		s.Style.mark(to, p)
	}
}

// mark draws a marker.
func (s Style) mark(to canvas, at point) {
	width := 0.0
	if s.Hollow {
		width = 1.8
	}
	to.area(s.marker(at), width, s.color())
}

// drawNames writes the name of every line to the right of the data, as close to the line's end as the
// other names allow.
func (c *Chart) drawNames(to canvas, f frame) {
	type name struct {
		Series
		end point
	}
	var names []name
	for _, s := range c.Series {
		if len(s.Points) > 0 {
			end := f.place(s.Points[len(s.Points)-1])
			names = append(names, name{s, end})
		}
	}
	sort.SliceStable(names, func(i, j int) bool { return names[i].end.y < names[j].end.y })
	wants := make([]float64, len(names))
	for i, n := range names {
		wants[i] = n.end.y
	}
	for i, y := range spread(wants, lineHeight, f.y0-4, f.y1) {
		n := names[i]
		x := f.x1 + 14
		to.line([]point{{n.end.x + 8, n.end.y}, {f.x1 + 2, n.end.y}, {x - 2, y}}, 0.8, nil, leader)
		sample := []point{{x, y}, {x + sampleSize, y}}
		to.line(sample, n.Style.width(), n.Style.dash(), n.Style.color())
		if !n.Style.Bare {
			n.Style.mark(to, point{x + sampleSize/2, y})
		}
		to.text(point{x + sampleSize + 8, y + 5}, 0, n.Name, nameFace, ink)
	}
}

// spread moves ascending positions as little as possible such that they are at least gap apart and
// between low and high.
func spread(wants []float64, gap, low, high float64) []float64 {
	type group struct {
		from, n int
		sum     float64 // sum of the positions that its members want for the first
	}
	var groups []group
	start := func(g group) float64 {
		return min(max(g.sum/float64(g.n), low), high-gap*float64(g.n-1))
	}
	for i, w := range wants {
		groups = append(groups, group{i, 1, w})
		for len(groups) > 1 {
			a, b := groups[len(groups)-2], groups[len(groups)-1]
			if start(a)+gap*float64(a.n) <= start(b) {
				break
			}
			groups = append(groups[:len(groups)-2], group{a.from, a.n + b.n, a.sum + b.sum - gap*float64(a.n*b.n)})
		}
	}
	out := make([]float64, len(wants))
	for _, g := range groups {
		for i := range g.n {
			out[g.from+i] = start(g) + gap*float64(i)
		}
	}
	return out
}
