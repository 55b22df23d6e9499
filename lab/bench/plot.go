package bench

import (
	"fmt"
	"io"
	"math"
	"slices"
	"sort"
	"strings"

	"github.com/boxsum/boxsum/lab/plot"
)

// A Plot is a chart of results.
type Plot struct {
	Name  string // base name of its files, such as time-u8-u32
	chart *plot.Chart
}

// SVG writes the chart as SVG.
func (p Plot) SVG(w io.Writer) error { return plot.SVG(w, p.chart) }

// PNG writes the chart as a PNG of twice the SVG's size in pixels.
func (p Plot) PNG(w io.Writer) error { return plot.PNG(w, p.chart) }

// Plots draws, for every case, the time by size, the throughput next to that of the limits and, if
// there are several worker counts, the speedup by workers.
func Plots(results []Result) (plots []Plot) {
	var seen []Case
	for _, r := range results {
		c := r.Case()
		if slices.Contains(seen, c) {
			continue
		}
		seen = append(seen, c)
		of := slices.DeleteFunc(slices.Clone(results), func(r Result) bool {
			return r.Case() != c || r.Repeat == 0 || r.Pixels() == 0
		})
		add := func(name string, chart *plot.Chart, what string) {
			chart.Title = title(what, c, of)
			if chart.Check() == nil {
				plots = append(plots, Plot{name + "-" + fileName(c), chart})
			}
		}
		add("time", &plot.Chart{
			X: sizeAxis(of), Y: plot.Axis{Label: "time (ms), " + describeRuns(of), Log: true},
			Series: seriesBySize(of, Result.counted, LimitFillRead, LimitDevice, LimitCopies),
		}, "Time of a table")
		add("throughput", &plot.Chart{
			X: sizeAxis(of), Y: plot.Axis{Label: "read and written (GB/s), " + describeRuns(of), Zero: true},
			Series: seriesBySize(of, Result.GBPerSecond, LimitFillRead, LimitCopy, LimitDevice, LimitCopies),
		}, "Throughput")
		add("speedup", speedupChart(of), "Speed-up by workers")
	}
	return plots
}

// fileName returns a case as part of a file name.
func fileName(c Case) string {
	return strings.NewReplacer(":", "-", "/", "-", "+", "-", "@", "-along-").Replace(c.String())
}

// speedupChart draws the speedup by workers. It is empty if no two worker counts can be compared.
func speedupChart(results []Result) *plot.Chart {
	chart := &plot.Chart{X: plot.Axis{Label: "workers"}, Y: plot.Axis{Label: "times as fast as with one worker", Zero: true}}
	var lines lines[string]
	for _, r := range results {
		alone := runner{Boxsum, 1}.find(besides(results, r, 1))
		if !r.is(Boxsum) || math.IsNaN(alone.Min) {
			continue
		}
		lines.add(r.Label(), plot.Point{X: float64(r.Workers), Y: alone.Min / r.Min}, func(i int) plot.Series {
			return plot.Series{Name: r.Label(), Style: plot.Style{Hue: i % plot.Gray, Dash: i / plot.Gray}}
		})
		chart.X.Mark(float64(r.Workers), fmt.Sprint(r.Workers))
	}
	ticks := chart.X.Ticks
	if len(ticks) < 2 {
		return &plot.Chart{}
	}
	most := ticks[len(ticks)-1].At
	chart.Series = append(lines.sorted(), plot.Series{
		Name: "as many times as workers", Style: plot.Style{Hue: plot.Gray, Dash: 3, Bare: true},
		Points: []plot.Point{{X: 1, Y: 1}, {X: most, Y: most}},
	})
	return chart
}

// lines holds series that are built point by point, by key.
type lines[K comparable] struct {
	keys   []K
	series []plot.Series
}

// add adds a point to a series unless it has one at that position. It creates the series if necessary.
func (l *lines[K]) add(key K, p plot.Point, made func(i int) plot.Series) {
	i := slices.Index(l.keys, key)
	if i < 0 {
		i = len(l.keys)
		l.keys, l.series = append(l.keys, key), append(l.series, made(i))
	}
	if s := &l.series[i]; !slices.ContainsFunc(s.Points, func(q plot.Point) bool { return q.X == p.X }) {
		s.Points = append(s.Points, p)
	}
}

// sorted returns the series with their points ordered from left to right.
func (l *lines[K]) sorted() []plot.Series {
	for _, s := range l.series {
		sort.Slice(s.Points, func(i, j int) bool { return s.Points[i].X < s.Points[j].X })
	}
	return l.series
}

// boxsumHue is the hue of boxsum in every chart, and otherHues are those of all others.
const boxsumHue = 4

var otherHues = []int{0, 1, 2, 3, 5, 6}

// seriesBySize returns a line for every algorithm and worker count, and for the given limits.
func seriesBySize(results []Result, value func(Result) float64, limits ...string) []plot.Series {
	type line struct {
		algorithm, on string
		workers       int
	}
	var lines lines[line]
	hue, ours, dash, most := 0, 0, 1, 0
	for _, r := range results {
		most = max(most, r.Workers)
	}
	for _, r := range results {
		limit := strings.HasPrefix(r.Algorithm, "limit: ")
		if limit && (!slices.Contains(limits, r.Algorithm) || r.Workers != most) {
			continue // one line per limit keeps the chart readable
		}
		lines.add(line{r.Algorithm, r.On, r.Workers}, plot.Point{X: r.Pixels(), Y: value(r)}, func(int) plot.Series {
			s := plot.Series{Name: lineName(r)}
			if mixed(results) {
				s.Name += ", " + r.On
			}
			switch {
			case r.is(Boxsum):
				s.Style = plot.Style{Hue: boxsumHue, Dash: ours % 4, Hollow: ours%2 == 1, Heavy: true}
				ours++
			case limit:
				s.Style = plot.Style{Hue: plot.Gray, Dash: dash, Bare: true}
				dash++
			default:
				s.Style = plot.Style{Hue: otherHues[hue%len(otherHues)], Dash: hue / len(otherHues)}
				hue++
			}
			return s
		})
	}
	return lines.sorted()
}

// mixed reports whether results come from more than one place.
func mixed(results []Result) bool {
	return slices.ContainsFunc(results, func(r Result) bool { return r.On != results[0].On })
}

// lineName returns the name of an algorithm with its number of workers, if any.
func lineName(r Result) string {
	name := r.Algorithm
	if r.Workers > 0 {
		name += fmt.Sprintf(", %d worker", r.Workers)
		if r.Workers > 1 {
			name += "s"
		}
	}
	return name
}

// sizeAxis returns an axis with a tick for every size.
func sizeAxis(results []Result) plot.Axis {
	axis := plot.Axis{Label: "image size", Log: true}
	for _, r := range results {
		axis.Mark(r.Pixels(), r.Label())
		if r.Depth > 0 {
			axis.Label = "volume size"
		}
	}
	return axis
}

func title(what string, c Case, results []Result) string {
	text := fmt.Sprintf("%s, %s", what, strings.ReplaceAll(c.String(), ":", "→"))
	if len(results) > 0 && results[0].On != "cpu" && !mixed(results) {
		text += " on " + results[0].On
	}
	return text
}

// describeRuns describes which of the runs is reported.
func describeRuns(results []Result) string {
	most := 0
	for _, r := range results {
		most = max(most, r.Repeat)
	}
	switch {
	case len(results) > 0 && mixed(results):
		return fmt.Sprintf("best of %d, on a device the median", most)
	case len(results) > 0 && results[0].On != "cpu":
		return fmt.Sprintf("median of %d", most)
	}
	return fmt.Sprintf("best of %d", most)
}
