package reproduce

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/boxsum/boxsum/lab/plot"
)

// A view is what experiments see of the results.
type view struct {
	*setting
	machine Machine
	results []Result
	Turned  *Turned

	collect bool   // what is looked up, and nothing else
	asked   []Spec // with collect
	figures []*picture
}

// Get is the result of a spec, or one that says why there is none.
func (v *view) Get(s Spec) Result {
	if v.collect {
		v.asked = addSpec(v.asked, s)
	}
	if i := slices.IndexFunc(v.results, func(r Result) bool { return r.Spec.same(s) }); i >= 0 {
		return v.results[i]
	}
	why := "not measured"
	if s.GPU && v.device == noDevice {
		why = "no device"
	}
	return Result{Spec: s, Missing: why}
}

// MS is the time of a spec that counts, or NaN, and mean the mean one.
func (v *view) MS(s Spec) float64   { return v.Get(s).orNaN(Result.median) }
func (v *view) mean(s Spec) float64 { return v.Get(s).orNaN(func(r Result) float64 { return r.Mean }) }

// Peek is the time of a spec that another experiment measures.
func (v *view) Peek(s Spec) float64 {
	return (&view{setting: v.setting, results: v.results}).MS(s)
}

// AlsoMeasure asks for what only other experiments show.
func (v *view) AlsoMeasure(sizes []Size, specs ...Spec) string {
	for _, size := range sizes {
		for _, s := range specs {
			v.Get(s.At(size))
		}
	}
	return ""
}

func (r Result) median() float64 { return r.Median }

func (r Result) orNaN(of func(Result) float64) float64 {
	if r.OK() {
		return of(r)
	}
	return math.NaN()
}

// Times is the cells of some specs, in milliseconds, and Per one in units of several.
func (v *view) Times(size Size, specs ...Spec) string {
	var cells []string
	for _, s := range specs {
		cells = append(cells, v.Per(1, size, s))
	}
	return strings.Join(cells, " | ")
}

func (v *view) Per(unit float64, size Size, s Spec) string {
	return v.cell(s.At(size), func(r Result) string { return number(r.Median / unit) })
}

// Cells is texts of a result's kind.
func (r Result) Cells(texts ...string) string {
	for i, text := range texts {
		texts[i] = mark(text, r.kind())
	}
	return strings.Join(texts, " | ")
}

// kind is that of a spec's cells.
func (s Spec) kind() string {
	if s.Algorithm == Boxsum {
		return "boxsum"
	}
	return ""
}

// Over is how many times as fast the second is as the first, or a multiple of that.
func (v *view) Over(size Size, slow, fast Spec, factor ...int) string {
	a, b := v.Get(slow.At(size)), v.Get(fast.At(size))
	for _, r := range []Result{a, b} {
		if !r.OK() {
			return mark(r.Missing, "missing")
		}
	}
	return mark(times(float64(cmp.Or(first(factor), 1))*a.Median/b.Median), fast.kind())
}

// OverIfAny is the same without a reason where there is none.
func (v *view) OverIfAny(size Size, slow, fast Spec) string {
	if math.IsNaN(v.Ratio(size, slow, fast)) {
		return ""
	}
	return v.Over(size, slow, fast)
}

// Ratio is that of two times, and MeanRatio that of means.
func (v *view) Ratio(size Size, a, b Spec) float64 { return v.MS(a.At(size)) / v.MS(b.At(size)) }
func (v *view) MeanRatio(size Size, a, b Spec) float64 {
	return v.mean(a.At(size)) / v.mean(b.At(size))
}

// Mean is the cell of a mean time: the figures of some works are means.
func (v *view) Mean(size Size, s Spec) string {
	return v.cell(s.At(size), func(r Result) string { return number(r.Mean) })
}

// cell is what a result has, or why there is none.
func (v *view) cell(s Spec, text func(Result) string) string {
	r := v.Get(s)
	if !r.OK() {
		return mark(r.Missing, "missing")
	}
	return mark(text(r), s.kind())
}

// MeanMedian is mean and median, and how many times as fast as another that is.
func (v *view) MeanMedian(s, over Spec) string {
	return fmt.Sprint(v.Mean(s.Size, s), " | ", v.Times(s.Size, s), " | ", v.Over(s.Size, over, s))
}

// Spread is mean, least and most of a result, how many times as fast as the sequential
// one its mean is, and how many times as fast as that boxsum's.
func (v *view) Spread(size Size, s, sequential, ours Spec) string {
	r := v.Get(s.At(size))
	if !r.OK() {
		return mark(r.Missing, "missing") + " | | | |"
	}
	speedup, over := "", ""
	if x := v.MeanRatio(size, sequential, s); !math.IsNaN(x) {
		speedup = mark(times(x), s.kind())
	}
	if x := v.MeanRatio(size, s, ours); !math.IsNaN(x) && s.Algorithm != Boxsum {
		over = times(x)
	}
	return fmt.Sprint(r.Cells(number(r.Mean), number(r.Min), number(r.Max)), " | ", speedup, " | ", over)
}

// BestStep is the fastest step of a sweep at a size, or the first.
func (v *view) BestStep(size Size, steps []int, of Spec) Spec {
	best := Result{Spec: of.Step(steps[0]).At(size)}
	for _, n := range steps {
		if r := v.Get(of.Step(n).At(size)); r.OK() && (!best.OK() || r.Median < best.Median) {
			best = r
		}
	}
	return best.Spec
}

// Published is a row of a published table, or nil.
func (v *view) Published(table string, size Size) []float64 {
	if size.Name != "" {
		return nil
	}
	return published[table][fmt.Sprintf("%dx%d", size.Width, size.Height)]
}

// GPUName is what the algorithms for a GPU ran on, GPUShort that where there is little
// room, OurColumn the head of boxsum's column beside them, and gpuNote says in a sentence
// what stands in for a GPU, if anything does.
func (v *view) GPUName() string {
	return [...]string{noDevice: "a GPU, which is missing here", standIn: "OpenCL on the CPU, standing in for a GPU", realGPU: v.machine.Device}[v.device]
}

func (v *view) GPUShort() string {
	return [...]string{noDevice: "GPU", standIn: "OpenCL on the CPU", realGPU: "GPU"}[v.device]
}

func (v *view) OurColumn() string {
	return [...]string{noDevice: "boxsum (GPU)", standIn: "boxsum (OpenCL)", realGPU: "boxsum (GPU)"}[v.device]
}

func (v *view) gpuNote() string {
	return [...]string{
		noDevice: "There is no GPU and no OpenCL here, and so the rows for a GPU say “no device”.",
		standIn:  "There is no GPU here: " + v.machine.Device + " runs the same kernels on the processor and stands in for one. Its times say nothing about GPUs.",
		realGPU:  "",
	}[v.device]
}

// sizeAxis has a mark for every size.
func sizeAxis(sizes []Size) plot.Axis {
	axis := plot.Axis{Label: "image size", Log: true}
	for _, s := range sizes {
		axis.Mark(s.Pixels(), s.String())
	}
	return axis
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
