package reproduce

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/boxsum/boxsum/lab/plot"
)

// A view gives experiments access to the results.
type view struct {
	*setting
	machine Machine
	results []Result
	Turned  *Turned
	People  *People

	collect bool   // only record what is looked up
	asked   []Spec // with collect
	figures []*picture
}

// Get returns the result of a spec, or one with the reason why there is none.
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

// MS returns the median time of a spec, or NaN, and mean the mean.
func (v *view) MS(s Spec) float64   { return v.Get(s).orNaN(Result.median) }
func (v *view) mean(s Spec) float64 { return v.Get(s).orNaN(func(r Result) float64 { return r.Mean }) }

// Peek returns the time of a spec that another experiment measures.
func (v *view) Peek(s Spec) float64 {
	return (&view{setting: v.setting, results: v.results}).MS(s)
}

// AlsoMeasure requests specs that only other experiments show.
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

// Times returns the cells of some specs, in milliseconds, and Per one cell in other units.
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

// Cells joins texts to the cells of a table row, marked by the kind of the result.
func (r Result) Cells(texts ...string) string {
	for i, text := range texts {
		texts[i] = mark(text, r.kind())
	}
	return strings.Join(texts, " | ")
}

// kind returns the kind of a spec's cells.
func (s Spec) kind() string {
	if s.Algorithm == Boxsum {
		return "boxsum"
	}
	return ""
}

// Over returns by which factor the second spec is faster than the first, optionally multiplied.
func (v *view) Over(size Size, slow, fast Spec, factor ...int) string {
	a, b := v.Get(slow.At(size)), v.Get(fast.At(size))
	for _, r := range []Result{a, b} {
		if !r.OK() {
			return mark(r.Missing, "missing")
		}
	}
	return mark(times(float64(cmp.Or(first(factor), 1))*a.Median/b.Median), fast.kind())
}

// OverIfAny is like Over but returns an empty text if there is no result.
func (v *view) OverIfAny(size Size, slow, fast Spec) string {
	if math.IsNaN(v.Ratio(size, slow, fast)) {
		return ""
	}
	return v.Over(size, slow, fast)
}

// Ratio returns the ratio of two times, and MeanRatio that of means.
func (v *view) Ratio(size Size, a, b Spec) float64 { return v.MS(a.At(size)) / v.MS(b.At(size)) }
func (v *view) MeanRatio(size Size, a, b Spec) float64 {
	return v.mean(a.At(size)) / v.mean(b.At(size))
}

// Mean returns the cell of a mean time, as some works publish means.
func (v *view) Mean(size Size, s Spec) string {
	return v.cell(s.At(size), func(r Result) string { return number(r.Mean) })
}

// cell returns the text of a result, or the reason why there is none.
func (v *view) cell(s Spec, text func(Result) string) string {
	r := v.Get(s)
	if !r.OK() {
		return mark(r.Missing, "missing")
	}
	return mark(text(r), s.kind())
}

// MeanMedian returns cells for the mean and the median, and the speedup over another spec.
func (v *view) MeanMedian(s, over Spec) string {
	return fmt.Sprint(v.Mean(s.Size, s), " | ", v.Times(s.Size, s), " | ", v.Over(s.Size, over, s))
}

// Spread returns cells for the mean, minimum and maximum of a result, the speedup of its mean over
// the sequential one, and that of boxsum over it.
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

// BestStep returns the fastest step of a sweep at a size, or the first.
func (v *view) BestStep(size Size, steps []int, of Spec) Spec {
	best := Result{Spec: of.Step(steps[0]).At(size)}
	for _, n := range steps {
		if r := v.Get(of.Step(n).At(size)); r.OK() && (!best.OK() || r.Median < best.Median) {
			best = r
		}
	}
	return best.Spec
}

// Published returns a row of a published table, or nil.
func (v *view) Published(table string, size Size) []float64 {
	if size.Name != "" {
		return nil
	}
	return published()[table][fmt.Sprintf("%dx%d", size.Width, size.Height)]
}

// GPUName names the device on which the GPU algorithms ran, GPUShort is a shorter form, OurColumn
// is the head of boxsum's column next to it, and gpuNote returns a sentence about the stand-in for
// a GPU, if there is one.
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
		noDevice: "This machine has neither a GPU nor OpenCL, so the rows for a GPU say “no device”.",
		standIn:  "This machine has no GPU. " + v.machine.Device + " runs the same kernels on the processor instead; its times say nothing about GPUs.",
		realGPU:  "",
	}[v.device]
}

// sizeAxis returns an axis with a mark for every size.
func sizeAxis(sizes []Size) plot.Axis {
	axis := plot.Axis{Label: "image size", Log: true}
	for _, s := range sizes {
		axis.Mark(s.Pixels(), s.String())
	}
	return axis
}

// enough is the fraction of a published factor that counts as reaching it, since machines differ.
const enough = 0.8

// judge returns the finding on a claim: it holds if the ratio reaches the published one, and in
// part if it is above the least.
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

// onlyGPU withdraws a verdict about GPUs if there was none.
func (v *view) onlyGPU(f *finding) *finding {
	switch {
	case v.device == noDevice:
		f.Verdict, f.Text, f.Why = noGPU, "–", ""
	case v.device == standIn && f.Verdict != unknown:
		f.Verdict, f.Text, f.Why = noGPU, "On the processor that stands in, "+lowerFirst(f.Text), ""
	}
	return f
}

// lowerFirst returns a sentence as continued after a comma; names are unchanged.
func lowerFirst(text string) string {
	if strings.HasPrefix(text, "A ") || len(text) > 1 && 'a' <= text[1] && text[1] <= 'z' { // not an initial
		return strings.ToLower(text[:1]) + text[1:]
	}
	return text
}
