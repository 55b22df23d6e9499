package reproduce

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/boxsum/boxsum/internal/plot"
)

// A view is what experiments see of the results.
type view struct {
	*setting
	machine Machine
	results []Result
}

// get is the result of a spec, or one that says why there is none.
func (v *view) get(s Spec) Result {
	if i := slices.IndexFunc(v.results, func(r Result) bool { return r.Spec.same(s) }); i >= 0 {
		return v.results[i]
	}
	why := "not measured"
	if s.GPU && v.device == noDevice {
		why = "no device"
	}
	return Result{Spec: s, Missing: why}
}

// ms is the time of a spec that counts, or NaN.
func (v *view) ms(s Spec) float64 {
	if r := v.get(s); r.ok() {
		return r.Median
	}
	return math.NaN()
}

// cell is the time of a spec, in units of some milliseconds.
func (v *view) cell(s Spec, unit float64) cell {
	r := v.get(s)
	if !r.ok() {
		return missing(r.Missing)
	}
	return cell{number(r.Median / unit), s.kind()}
}

// kind is that of a spec's cells.
func (s Spec) kind() string {
	if s.Algorithm == Boxsum {
		return "boxsum"
	}
	return ""
}

// ratio is how many times as fast the second is as the first.
func (v *view) ratio(slow, fast Spec) cell {
	a, b := v.get(slow), v.get(fast)
	for _, r := range []Result{a, b} {
		if !r.ok() {
			return missing(r.Missing)
		}
	}
	return cell{times(a.Median / b.Median), fast.kind()}
}

// gpuName is what the algorithms for a GPU ran on.
func (v *view) gpuName() string {
	switch v.device {
	case noDevice:
		return "a GPU, which is missing here"
	case standIn:
		return "OpenCL on the CPU, standing in for a GPU"
	}
	return v.machine.Device
}

// gpuShort is gpuName where there is little room.
func (v *view) gpuShort() string {
	if v.device == standIn {
		return "OpenCL on the CPU"
	}
	return "GPU"
}

// ourColumn is the head of boxsum's column beside a GPU's algorithms.
func (v *view) ourColumn() string {
	if v.device == standIn {
		return "boxsum (OpenCL)"
	}
	return "boxsum (GPU)"
}

// gpuNote says in a sentence what stands in for a GPU, if anything does.
func (v *view) gpuNote() string {
	switch v.device {
	case noDevice:
		return "There is no GPU and no OpenCL here, and so the rows for a GPU say “no device”."
	case standIn:
		return fmt.Sprintf("There is no GPU here: %s runs the same kernels on the processor and stands in for one. Its times say nothing about GPUs.", v.machine.Device)
	}
	return ""
}

// A curve is a line of a chart: a name, its look, and what was measured at a
// size.
type curve struct {
	name  string
	style plot.Style
	spec  func(Size) Spec
	scale float64 // of the times; zero stands for 1
}

// Looks of what appears in many charts.
var (
	boxsumCPU = plot.Style{Hue: 4, Heavy: true}
	boxsumGPU = plot.Style{Hue: 4, Heavy: true, Dash: 1}
	// boxsumToo is boxsum a second time: the colour stays.
	boxsumToo = plot.Style{Hue: 4, Heavy: true, Dash: 2, Hollow: true}
)

// bySize is a log–log chart of times by size.
func (v *view) bySize(title string, sizes []Size, curves []curve, fixed ...plot.Series) *plot.Chart {
	chart := &plot.Chart{Title: title, X: sizeAxis(sizes), Y: plot.Axis{Label: "time (ms)", Log: true}}
	for _, c := range curves {
		s := plot.Series{Name: c.name, Style: c.style}
		for _, size := range sizes {
			if ms := v.ms(c.spec(size)); !math.IsNaN(ms) && ms > 0 {
				s.Points = append(s.Points, plot.Point{X: size.Pixels(), Y: ms * cmp.Or(c.scale, 1)})
			}
		}
		if s.Points != nil {
			chart.Series = append(chart.Series, s)
		}
	}
	chart.Series = append(chart.Series, fixed...)
	return chart
}

// sizeAxis has a mark for every size.
func sizeAxis(sizes []Size) plot.Axis {
	axis := plot.Axis{Label: "image size", Log: true}
	for _, s := range sizes {
		axis.Ticks = append(axis.Ticks, plot.Tick{At: s.Pixels(), Label: s.String()})
	}
	slices.SortFunc(axis.Ticks, func(a, b plot.Tick) int { return cmp.Compare(a.At, b.At) })
	return axis
}

// draw is a picture, or nothing where there is nothing to draw.
func draw(name, caption string, f plot.Figure) []block {
	if c, ok := f.(interface{ Check() error }); ok && c.Check() != nil {
		return nil
	}
	return []block{&picture{name, caption, f}}
}

// enough is the part of a published factor that is as good as the whole: machines
// differ.
const enough = 0.8

// judge is what figures say of a claim: it holds where the ratio reaches the
// published one, and in part where it is above the least.
func judge(claim string, ratio, least, published float64, where, figures, why string) *finding {
	f := &finding{Claim: claim, Where: where, Text: figures}
	switch {
	case math.IsNaN(ratio):
		f.Verdict, f.Text = unknown, "It was not measured here."
	case ratio >= enough*published && ratio > least:
		f.Verdict = holds
	case ratio > least:
		f.Verdict, f.Why = partly, why
	default:
		f.Verdict, f.Why = fails, why
	}
	return f
}

// onlyGPU takes back a verdict on a GPU that none was there for.
func (v *view) onlyGPU(f *finding) *finding {
	switch {
	case v.device == noDevice:
		f.Verdict, f.Text, f.Why = noGPU, "–", ""
	case v.device == standIn && f.Verdict != unknown:
		f.Verdict, f.Text, f.Why = noGPU, "On the processor that stands in, "+lowerFirst(f.Text), ""
	}
	return f
}

// lowerFirst is a sentence as it goes on after a comma; names stay as they are.
func lowerFirst(text string) string {
	if strings.HasPrefix(text, "A ") || len(text) > 1 && 'a' <= text[1] && text[1] <= 'z' { // no initials
		return strings.ToLower(text[:1]) + text[1:]
	}
	return text
}

// fastest is the fastest of some specs, and its time; ok is false where none has
// one.
func (v *view) fastest(specs []Spec) (best Result, ok bool) {
	for _, s := range specs {
		if r := v.get(s); r.ok() && (!ok || r.Median < best.Median) {
			best, ok = r, true
		}
	}
	return best, ok
}
