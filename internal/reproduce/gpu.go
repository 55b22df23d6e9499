package reproduce

import (
	"fmt"
	"math"
	"strings"

	"github.com/boxsum/boxsum/internal/plot"
	"github.com/boxsum/boxsum/papers"
)

// gpuAlgorithms are those of all works that make an upright table on a GPU.
var gpuAlgorithms = []struct {
	name, algorithm, precision string
	way                        string
	group                      int
}{
	{"Bilgic et al.: scan and transpose, float", "bilgic/scan-transpose", "f32", "scan", 0},
	{"Bilgic et al.: scan and transpose, float4", "bilgic/scan-transpose", "f32x4", "scan", 0},
	{"Bilgic et al.: scan and transpose, double", "bilgic/scan-transpose", "f64", "scan", 0},
	{"intimg GPUv1: thread for each row and column, float", "intimg/gpu-v1", "f32", "row", 0},
	{"intimg GPUv2: block prefix sums and transposes, float", "intimg/gpu-v2", "f32", "scan", 0},
	{"Messom, Barczak: stream passes, float", "messom/stream", "f32", "passes", 0},
	{"Messom, Barczak: stream passes, float4", "messom/stream-float4", "f32", "passes", 0},
	{"Messom, Barczak: stream passes, 8 streams", "messom/stream-8", "f32", "passes", 0},
	{"Bertazzini, Guiducci: thread for each row, transposes, integers", "bertazzini/cuda", "u32", "row", 256},
}

var gpuExperiments = []*Experiment{
	{Name: "gpu/4096", Title: "Every GPU algorithm at 4096×4096, beside boxsum’s", specs: gpuSpecs, tell: gpuTell},
}

func (s *setting) gpuSize() Size {
	switch {
	case s.quick && s.device != realGPU:
		return s.last(sized(1024, 1024))
	case s.device == standIn:
		return s.last(sized(2048, 2048))
	}
	return s.last(sized(4096, 4096))
}

func gpuSpec(i int) func(Size) Spec {
	a := gpuAlgorithms[i]
	return at(Spec{Algorithm: a.algorithm, GPU: true, Precision: a.precision, Group: a.group, Runs: bilgicRuns})
}

func gpuSpecs(s *setting) []Spec {
	var of []func(Size) Spec
	for i := range gpuAlgorithms {
		of = append(of, gpuSpec(i))
	}
	for _, p := range []string{"f32", "f32x4", "f64", "u32"} {
		of = append(of, ourGPU(p), deviceCopy(p))
	}
	return atSizes([]Size{s.gpuSize()}, of...)
}

func gpuTell(v *view) []block {
	size := v.gpuSize()
	perValue := func(s Spec) float64 { return 1e9 * v.ms(s) / s.values() } // in ps, or a million in µs
	units, one, million := 1.0, "ps", "µs"
	for i := range gpuAlgorithms {
		if perValue(gpuSpec(i)(size)) >= 1000 {
			units, one, million = 1000, "ns", "ms"
		}
	}
	t := &table{
		Caption: fmt.Sprintf("%d×%d on %s. Types are those of pixels and sums. Reads and writes are of memory, for each value, as if there were no caches, and GB/s what they come to. A copy moves as many bytes as the image and the table have.", size.Width, size.Height, v.gpuName()),
		Left:    2,
		Head:    []string{"algorithm", "types", "ms", one + " for a value", "reads + writes", "GB/s", "of copy speed", "boxsum (ms)", "boxsum is faster by"},
	}
	bars := &plot.Bars{Title: fmt.Sprintf("One table of %v on the GPU", size), Label: "time for a million values (" + million + ")",
		Note: "orange: scans; green: a thread for each row; blue: stream passes; red: boxsum"}
	if v.device == standIn {
		bars.Title = fmt.Sprintf("One table of %v, OpenCL on the CPU standing in for a GPU", size)
	}
	least := math.NaN()
	for i, a := range gpuAlgorithms {
		s, ours, limit := gpuSpec(i)(size), ourGPU(a.precision)(size), deviceCopy(a.precision)(size)
		row := []cell{{a.name, ""}, {a.precision, ""}, v.cell(s, 1)}
		if v.get(s).ok() {
			cost := costOf(s)
			row = append(row, cell{Text: number(perValue(s) / units)}, cell{Text: fmt.Sprintf("%.3g + %.3g", cost.Reads, cost.Writes)}, cell{Text: number(bytesOf(s, cost) / v.ms(s) / 1e6)},
				cell{Text: percent(v.ms(limit) / v.ms(s))}, v.cell(ours, 1), v.ratio(s, ours))
			bars.Rows = append(bars.Rows, plot.Bar{Name: a.name, Value: perValue(s) / units, Text: number(perValue(s) / units), Hue: map[string]int{"scan": 1, "row": 2, "passes": 0}[a.way]})
			if r := v.ms(s) / v.ms(ours); math.IsNaN(least) || r < least {
				least = r
			}
		} else {
			row = append(row, cell{}, cell{}, cell{}, cell{}, v.cell(ours, 1), cell{})
		}
		t.Rows = append(t.Rows, row)
	}
	ours := v.ourCost()
	for _, p := range []string{"f32", "f32x4", "f64", "u32"} {
		s := ourGPU(p)(size)
		if !v.get(s).ok() {
			continue
		}
		t.Rows = append(t.Rows, []cell{{"boxsum", "boxsum"}, {p, "boxsum"}, v.cell(s, 1), {number(perValue(s) / units), "boxsum"}, {fmt.Sprintf("%v + 1", ours.Reads), "boxsum"}, {number(bytesOf(s, ours) / v.ms(s) / 1e6), "boxsum"}, {percent(v.ms(deviceCopy(p)(size)) / v.ms(s)), "boxsum"}, {}, {}})
		bars.Rows = append(bars.Rows, plot.Bar{Name: "boxsum, " + typeNames[p], Value: perValue(s) / units, Text: number(perValue(s) / units), Hue: 4})
	}
	blocks := []block{text("Every work’s kernels on one device, in the types that the work used, and boxsum’s in the same types. Times are of the kernels alone, between events of the device.")}
	if size != sized(4096, 4096) {
		bars.Title = strings.Replace(bars.Title, size.String(), size.String()+" in place of 4096²", 1)
		blocks = append(blocks, text(fmt.Sprintf("This run took %v.", size)))
	}
	blocks = append(blocks, t)
	blocks = append(blocks, draw("gpu-4096", "Time for a million values, by algorithm; less is better. Scans are orange, threads for rows green, stream passes blue, boxsum red.", bars)...)
	scan, row := gpuSpec(4)(size), gpuSpec(3)(size)
	better := v.ms(row) / v.ms(scan)
	other := v.ms(gpuSpec(8)(size)) / v.ms(gpuSpec(0)(size))
	return append(blocks,
		v.onlyGPU(judge(fmt.Sprintf("At %v, scans with transposes are faster than a thread for each row", size), min(better, other), 1, 1, "gpu/4096",
			fmt.Sprintf("GPUv2 is %s as GPUv1, and Bilgic’s scan %s as Bertazzini and Guiducci’s thread for each row.", asFast(better), asFast(other)), whyRows(better, other))),
		v.onlyGPU(judge(fmt.Sprintf("At %v, boxsum is faster than every published algorithm for a GPU", size), least, 1, 1, "gpu/4096",
			fmt.Sprintf("It is %s as the fastest of them, in the same types.", asFast(least)), "")))
}

// typeNames are what the works call the types.
var typeNames = map[string]string{"f32": "float", "f32x4": "float4", "f64": "double", "u32": "integers"}

// perValue is the time for one value.
func (v *view) perValue(s Spec) string {
	ps := 1e9 * v.ms(s) / s.values()
	if ps >= 1000 {
		return number(ps/1000) + " ns"
	}
	return number(ps) + " ps"
}

// ourCost is what boxsum's kernels read and write: OpenCL has the portable ones
// only.
func (v *view) ourCost() papers.Cost {
	if v.machine.Kind == "cuda" {
		return papers.Cost{Reads: 1, Writes: 1}
	}
	return papers.Cost{Reads: 2, Writes: 1}
}

// costOf is what an algorithm reads and writes.
func costOf(s Spec) papers.Cost {
	a, err := papers.Find(s.Algorithm)
	if err != nil {
		return papers.Cost{Reads: math.NaN(), Writes: math.NaN()}
	}
	return a.Cost(s.Width, s.Height)
}

// bytesOf is how many bytes that is.
func bytesOf(s Spec, c papers.Cost) float64 {
	bytes := 4.0
	if s.Precision == "f64" {
		bytes = 8
	}
	return s.values() * bytes * (c.Reads + c.Writes)
}

// whyRows explains which pair a thread for each row won.
func whyRows(v2, scan float64) string {
	why := ""
	if scan < 1 {
		why += " A row’s thread waits for memory, yet reads and writes each value once; the scan takes its values through shared memory in some twenty steps with a barrier each, which costs more than the memory does on a device whose caches hold the rows that are under way."
	}
	if v2 < 1 {
		why += " GPUv1’s threads go down the columns side by side, which is how memory likes to be read, and its rows fit the cache; GPUv2 reads and writes everything four times."
	}
	return why
}

func percent(share float64) string {
	if math.IsNaN(share) || math.IsInf(share, 0) {
		return "–"
	}
	return fmt.Sprintf("%.0f%%", 100*share)
}
