package reproduce

import (
	"cmp"
	"fmt"
	"math"

	"github.com/boxsum/boxsum/lab/plot"
)

// A chart shows times by size, and is filled in by a template. Its methods return the empty string.
type chart struct {
	plot.Chart
	v     *view
	sizes []Size
}

// Chart returns a log–log chart of times by size, without lines.
func (v *view) Chart(title string, sizes []Size) *chart {
	return &chart{plot.Chart{Title: title, X: sizeAxis(sizes), Y: plot.Axis{Label: "time (ms)", Log: true}}, v, sizes}
}

// line adds a line unless it has no points.
func (c *chart) line(name, style string, at func(Size) float64) string {
	s := plot.Series{Name: name, Style: styleOf(style)}
	for _, size := range c.sizes {
		if y := at(size); y > 0 {
			s.Points = append(s.Points, plot.Point{X: size.Pixels(), Y: y})
		}
	}
	if s.Points != nil {
		c.Series = append(c.Series, s)
	}
	return ""
}

// Curve adds the line of a spec, Best that of its fastest step, and Published that of a column of
// a published table.
func (c *chart) Curve(name, style string, s Spec, scale ...int) string {
	return c.line(name, style, func(size Size) float64 { return c.v.MS(s.At(size)) * float64(cmp.Or(first(scale), 1)) })
}

func (c *chart) Best(name, style string, steps []int, s Spec) string {
	return c.line(name, style, func(size Size) float64 { return c.v.MS(c.v.BestStep(size, steps, s)) })
}

func (c *chart) Published(name, style, table string, column int, scale float64) string {
	return c.line(name, style, func(size Size) float64 {
		if row := c.v.Published(table, size); row != nil {
			return scale * row[column]
		}
		return math.NaN()
	})
}

// bars is a bar chart that a template fills in.
type bars struct{ plot.Bars }

// Bars returns a bar chart without bars.
func (v *view) Bars(title, label string, note ...string) *bars {
	return &bars{plot.Bars{Title: title, Label: label, Note: append(note, "")[0]}}
}

// Bar adds a bar if there is a value, and Pale a published one.
func (b *bars) Bar(name string, value float64, hue int) string {
	if value > 0 && !math.IsInf(value, 0) {
		b.Rows = append(b.Rows, plot.Bar{Name: name, Value: value, Text: number(value), Hue: hue})
	}
	return ""
}

func (b *bars) Pale(name string, value float64, hue int) string {
	b.Rows = append(b.Rows, plot.Bar{Name: name, Value: value, Hue: hue, Pale: true})
	return ""
}

// SweepChart returns a chart of the mean times by step of a sweep, and SpeedupChart one of the
// speedup of another spec over them, with a line for every size.
func (v *view) SweepChart(title, axis string, steps []int, of Spec) *chart {
	c := &chart{Chart: plot.Chart{Title: title, Y: plot.Axis{Label: "mean time (ms)", Log: true}}}
	return v.bySteps(c, axis, steps, of, func(_ Size, r Result) plot.Point { return plot.Point{Y: r.Mean, Low: r.Min, High: r.Max} })
}

func (v *view) SpeedupChart(title, axis string, steps []int, of, over Spec) *chart {
	c := &chart{Chart: plot.Chart{Title: title, Y: plot.Axis{Label: "times as fast as sequential", Zero: true}}}
	return v.bySteps(c, axis, steps, of, func(size Size, r Result) plot.Point { return plot.Point{Y: v.mean(over.At(size)) / r.Mean} })
}

func (v *view) bySteps(c *chart, axis string, steps []int, of Spec, point func(Size, Result) plot.Point) *chart {
	c.X = plot.Axis{Label: axis, Log: true}
	for _, n := range steps {
		c.X.Mark(float64(n), fmt.Sprint(n))
	}
	for i, size := range v.Videos() {
		s := plot.Series{Name: size.String(), Style: plot.Style{Hue: i}}
		measured := false
		for _, n := range steps {
			r := v.Get(of.Step(n).At(size))
			if !r.OK() {
				continue
			}
			measured = true
			if p := point(size, r); !math.IsNaN(p.Y) {
				p.X = float64(n)
				s.Points = append(s.Points, p)
			}
		}
		if measured {
			c.Series = append(c.Series, s)
		}
	}
	return c
}

// Draw returns the line with which a template shows a figure.
func (v *view) Draw(name string, f any) string {
	p := &picture{Name: name}
	switch f := f.(type) {
	case *chart:
		p.Figure = &f.Chart
	case *bars:
		p.Figure = &f.Bars
	}
	v.figures = append(v.figures, p)
	return fmt.Sprintf("![%d]", len(v.figures)-1)
}
