package bench

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/boxsum/boxsum/internal/plot"
)

// A Plot is a chart of results.
type Plot struct {
	Name  string // of its files, such as time-u8-u32
	chart *plot.Chart
}

// SVG writes the chart as SVG.
func (p Plot) SVG(w io.Writer) error { return plot.SVG(w, p.chart) }

// PNG writes the chart as a picture, of twice the pixels.
func (p Plot) PNG(w io.Writer) error { return plot.PNG(w, p.chart) }

// Plots draws results: for every case the time by size, the throughput beside
// that of the limits, and, where there are several worker counts, the speed-up
// by workers.
func Plots(results []Result) []Plot {
	var plots []Plot
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
		for _, chart := range []struct {
			name  string
			chart *plot.Chart
		}{{"time", timeChart(c, of)}, {"throughput", throughputChart(c, of)}, {"speedup", speedupChart(c, of)}} {
			if chart.chart.Check() == nil {
				plots = append(plots, Plot{chart.name + "-" + fileName(c), chart.chart})
			}
		}
	}
	return plots
}

// fileName is a case as part of a file's name.
func fileName(c Case) string {
	return strings.NewReplacer(":", "-", "/", "-", "+", "-", "@", "-along-").Replace(c.String())
}

func timeChart(c Case, results []Result) *plot.Chart {
	chart := &plot.Chart{
		Title: title("Time of a table", c, results), X: sizeAxis(results), Y: plot.Axis{Label: "time (ms), " + which(results), Log: true},
	}
	chart.Series = seriesBySize(results, Result.counted, LimitFillRead, LimitDevice, LimitCopies)
	return chart
}

func throughputChart(c Case, results []Result) *plot.Chart {
	chart := &plot.Chart{
		Title: title("Throughput", c, results), X: sizeAxis(results), Y: plot.Axis{Label: "read and written (GB/s), " + which(results), Zero: true},
	}
	chart.Series = seriesBySize(results, Result.GBPerSecond, LimitFillRead, LimitCopy, LimitDevice, LimitCopies)
	return chart
}

// speedupChart is empty where no two worker counts can be compared.
func speedupChart(c Case, results []Result) *plot.Chart {
	chart := &plot.Chart{
		Title: title("Speed-up by workers", c, results),
		X:     plot.Axis{Label: "workers"}, Y: plot.Axis{Label: "times as fast as with one worker", Zero: true},
	}
	most := 0
	counts := map[int]bool{}
	for _, r := range results {
		alone := runner{Boxsum, 1}.find(besides(results, r, 1))
		if !r.is(Boxsum) || math.IsNaN(alone.Min) {
			continue
		}
		name := r.Label()
		i := slices.IndexFunc(chart.Series, func(s plot.Series) bool { return s.Name == name })
		if i < 0 {
			i = len(chart.Series)
			chart.Series = append(chart.Series, plot.Series{Name: name, Style: plot.Style{Hue: i % plot.Grey, Dash: i / plot.Grey}})
		}
		chart.Series[i].Points = append(chart.Series[i].Points, plot.Point{X: float64(r.Workers), Y: alone.Min / r.Min})
		counts[r.Workers] = true
		most = max(most, r.Workers)
	}
	if len(counts) < 2 {
		return &plot.Chart{}
	}
	for n := range counts {
		chart.X.Ticks = append(chart.X.Ticks, plot.Tick{At: float64(n), Label: fmt.Sprint(n)})
	}
	slices.SortFunc(chart.X.Ticks, func(a, b plot.Tick) int { return cmp.Compare(a.At, b.At) })
	for _, s := range chart.Series {
		slices.SortFunc(s.Points, func(a, b plot.Point) int { return cmp.Compare(a.X, b.X) })
	}
	chart.Series = append(chart.Series, plot.Series{
		Name: "as many times as workers", Style: plot.Style{Hue: plot.Grey, Dash: 3, Bare: true},
		Points: []plot.Point{{X: 1, Y: 1}, {X: float64(most), Y: float64(most)}},
	})
	return chart
}

// boxsumHue is boxsum's in every chart, and otherHues are everyone else's.
const boxsumHue = 4

var otherHues = []int{0, 1, 2, 3, 5, 6}

// seriesBySize is a line for every algorithm and worker count, and for those
// limits that are asked for.
func seriesBySize(results []Result, value func(Result) float64, limits ...string) []plot.Series {
	type line struct {
		algorithm, on string
		workers       int
	}
	var lines []line
	var series []plot.Series
	hue, ours, dash, most := 0, 0, 1, 0
	for _, r := range results {
		most = max(most, r.Workers)
	}
	for _, r := range results {
		limit := strings.HasPrefix(r.Algorithm, "limit: ")
		if limit && (!slices.Contains(limits, r.Algorithm) || r.Workers != most) {
			continue // one line for each limit is enough to read
		}
		key := line{r.Algorithm, r.On, r.Workers}
		i := slices.Index(lines, key)
		if i < 0 {
			i = len(lines)
			lines = append(lines, key)
			s := plot.Series{Name: lineName(r)}
			if mixed(results) {
				s.Name += ", " + r.On
			}
			switch {
			case r.is(Boxsum):
				s.Style = plot.Style{Hue: boxsumHue, Dash: ours % 4, Hollow: ours%2 == 1, Heavy: true}
				ours++
			case limit:
				s.Style = plot.Style{Hue: plot.Grey, Dash: dash, Bare: true}
				dash++
			default:
				s.Style = plot.Style{Hue: otherHues[hue%len(otherHues)], Dash: hue / len(otherHues)}
				hue++
			}
			series = append(series, s)
		}
		p := plot.Point{X: r.Pixels(), Y: value(r)}
		if !slices.ContainsFunc(series[i].Points, func(q plot.Point) bool { return q.X == p.X }) {
			series[i].Points = append(series[i].Points, p)
		}
	}
	for _, s := range series {
		slices.SortFunc(s.Points, func(a, b plot.Point) int { return cmp.Compare(a.X, b.X) })
	}
	return series
}

// mixed reports whether results are from more than one place.
func mixed(results []Result) bool {
	return slices.ContainsFunc(results, func(r Result) bool { return r.On != results[0].On })
}

// lineName is an algorithm, with its number of workers where it has one.
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

// sizeAxis has a mark for every size, under its name.
func sizeAxis(results []Result) plot.Axis {
	axis := plot.Axis{Label: "image size", Log: true}
	for _, r := range results {
		t := plot.Tick{At: r.Pixels(), Label: r.Label()}
		if !slices.Contains(axis.Ticks, t) {
			axis.Ticks = append(axis.Ticks, t)
		}
		if r.Depth > 0 {
			axis.Label = "volume size"
		}
	}
	slices.SortFunc(axis.Ticks, func(a, b plot.Tick) int { return cmp.Compare(a.At, b.At) })
	return axis
}

func title(what string, c Case, results []Result) string {
	text := fmt.Sprintf("%s, %s", what, strings.ReplaceAll(c.String(), ":", "→"))
	if len(results) > 0 && results[0].On != "cpu" && !mixed(results) {
		text += " on " + results[0].On
	}
	return text
}

// which says which run counts.
func which(results []Result) string {
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
