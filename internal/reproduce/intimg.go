package reproduce

import (
	"fmt"

	"github.com/boxsum/boxsum/internal/plot"
)

const (
	intimgMachine = "Intel Core i7-8650U with 4 cores, NVIDIA GeForce GTX 1050"
	intimgRuns    = 25
)

// intimgRows are the algorithms of the work's table, whose images are of
// 4096×4096.
var intimgRows = []struct {
	name, algorithm string
	gpu             bool
	threads         int
	ms, speedup     float64
	style           plot.Style
}{
	{"CPU", "intimg/serial", false, 0, 112, 1, plot.Style{Hue: 0}},
	{"CPU×8", "intimg/parallel", false, 8, 51.56, 2.2, plot.Style{Hue: 1}},
	{"GPUv1", "intimg/gpu-v1", true, 0, 21, 5.3, plot.Style{Hue: 2}},
	{"GPUv2", "intimg/gpu-v2", true, 0, 9, 12.4, plot.Style{Hue: 3}},
}

var intimgExperiments = []*Experiment{
	{Name: "intimg/table", Title: "Table: four algorithms at 4096×4096", specs: intimgTableSpecs, tell: intimgTable},
	{Name: "intimg/chart", Title: "Chart: times by image size", specs: intimgChartSpecs, tell: intimgChart},
}

func (s *setting) intimgSize() Size { return s.last(sized(4096, 4096)) }

func intimgSpec(row int) func(Size) Spec {
	r := intimgRows[row]
	return at(Spec{Algorithm: r.algorithm, GPU: r.gpu, Precision: "f32", Threads: r.threads, Runs: intimgRuns})
}

// hosted is a spec from host memory to host memory.
func hosted(of func(Size) Spec) func(Size) Spec {
	return func(size Size) Spec {
		s := of(size)
		s.Host = true
		return s
	}
}

// intimgAll is every algorithm of the work, and boxsum.
func intimgAll() []func(Size) Spec {
	var of []func(Size) Spec
	for i := range intimgRows {
		of = append(of, intimgSpec(i))
	}
	return append(of, ourOne("f32"), ourCPU("f32"), ourGPU("f32"))
}

func intimgTableSpecs(s *setting) []Spec {
	return atSizes([]Size{s.intimgSize()}, append(intimgAll(), hosted(intimgSpec(3)), hosted(ourGPU("f32")))...)
}

func intimgChartSpecs(s *setting) []Spec {
	return atSizes(s.intimgSizes(), intimgAll()...)
}

func (s *setting) intimgSizes() []Size {
	sizes := s.sweep(squares(256, 4096)...)
	// The size of the table is measured anyway.
	if last := s.intimgSize(); s.sizes == nil && sizes[len(sizes)-1].Pixels() < last.Pixels() {
		sizes = append(sizes, last)
	}
	return sizes
}

func intimgTable(v *view) []block {
	size := v.intimgSize()
	serial := intimgSpec(0)(size)
	t := &table{
		Caption: fmt.Sprintf("%d×%d, single precision, ms. Published: mean of 25 runs on %s; here: mean and median of %d, the GPU’s on %s. boxsum is compared with the median.",
			size.Width, size.Height, intimgMachine, v.get(serial).Runs, v.gpuName()),
		Head: []string{"algorithm", "published", "speed-up", "here, mean", "here, median", "speed-up", "boxsum is faster by"},
	}
	add := func(name string, pub, speed cell, s, ours Spec) {
		r := v.get(s)
		mean := missing(r.Missing)
		if r.ok() {
			mean = cell{number(r.Mean), s.kind()}
		}
		row := []cell{{name, s.kind()}, pub, speed, mean, v.cell(s, 1), v.ratio(serial, s)}
		if s.Algorithm == Boxsum {
			row = append(row, cell{})
		} else {
			row = append(row, v.ratio(s, ours))
		}
		t.Rows = append(t.Rows, row)
	}
	none := published("–")
	for i, r := range intimgRows {
		ours := ourOne("f32")(size)
		switch {
		case r.gpu:
			ours = ourGPU("f32")(size)
		case r.threads > 0:
			ours = ourCPU("f32")(size)
		}
		if size == sized(4096, 4096) {
			add(r.name, published(fmt.Sprintf("%v", r.ms)), published(fmt.Sprintf("%v×", r.speedup)), intimgSpec(i)(size), ours)
		} else {
			add(r.name, none, none, intimgSpec(i)(size), ours)
		}
	}
	host, ourHost := hosted(intimgSpec(3))(size), hosted(ourGPU("f32"))(size)
	add("GPUv2 with copies", none, none, host, ourHost)
	add("boxsum, one core", none, none, ourOne("f32")(size), Spec{})
	add(fmt.Sprintf("boxsum, %s", count(v.cores, "core")), none, none, ourCPU("f32")(size), Spec{})
	add("boxsum, "+v.gpuShort(), none, none, ourGPU("f32")(size), Spec{})
	add("boxsum with copies", none, none, ourHost, Spec{})

	v1, v2 := intimgSpec(2)(size), intimgSpec(3)(size)
	better := v.ms(v1) / v.ms(v2)
	copies := max(0, v.ms(host)-v.ms(v2)) / v.ms(v2)
	blocks := []block{
		text("The serial loops; the same on 8 threads, rows and then columns; a GPU’s thread for each row and then each column (GPUv1); and prefix sums by whole blocks with a transpose after each (GPUv2)."),
		t,
	}
	bars := &plot.Bars{Title: fmt.Sprintf("One table of %v, single precision", size), Label: "time (ms)"}
	for i, r := range intimgRows {
		if size == sized(4096, 4096) {
			bars.Rows = append(bars.Rows, plot.Bar{Name: r.name + ", published", Value: r.ms, Hue: r.style.Hue, Pale: true})
		}
		if ms := v.ms(intimgSpec(i)(size)); ms > 0 {
			bars.Rows = append(bars.Rows, plot.Bar{Name: r.name + ", here", Value: ms, Text: number(ms), Hue: r.style.Hue})
		}
	}
	for _, b := range []struct {
		name string
		spec Spec
	}{{"boxsum, CPU", ourCPU("f32")(size)}, {"boxsum, " + v.gpuShort(), ourGPU("f32")(size)}} {
		if ms := v.ms(b.spec); ms > 0 {
			bars.Rows = append(bars.Rows, plot.Bar{Name: b.name, Value: ms, Text: number(ms), Hue: 4})
		}
	}
	blocks = append(blocks, draw("intimg-table", "The table again: outlines are the published times.", bars)...)
	return append(blocks,
		v.onlyGPU(judge("intimg: prefix sums by blocks with transposes (GPUv2) are faster than a thread for each row (GPUv1)", better, 1, 2.3, "intimg/table",
			fmt.Sprintf("GPUv2 is %s as GPUv1 at %v (published: 2.3×).", asFast(better), size), "")),
		v.onlyGPU(judge("intimg: copying an image to the GPU and its table back takes longer than making the table", copies, 1, 1, "intimg/table",
			fmt.Sprintf("The copies take %s the time of GPUv2’s kernels at %v.", times(copies), size), "")))
}

func intimgChart(v *view) []block {
	t := &table{Caption: "Single precision, ms; the GPU’s on " + v.gpuName() + ".", Head: []string{"image"}}
	for _, r := range intimgRows {
		t.Head = append(t.Head, r.name)
	}
	t.Head = append(t.Head, "boxsum (1)", "boxsum (CPU)", v.ourColumn(), "boxsum (CPU) over CPU×8", v.ourColumn()+" over GPUv2")
	for _, size := range v.intimgSizes() {
		row := cells(size.String())
		for _, of := range intimgAll() {
			row = append(row, v.cell(of(size), 1))
		}
		t.Rows = append(t.Rows, append(row, v.ratio(intimgSpec(1)(size), ourCPU("f32")(size)), v.ratio(intimgSpec(3)(size), ourGPU("f32")(size))))
	}
	var curves []curve
	for i, r := range intimgRows {
		name := r.name
		if r.gpu && v.device == standIn {
			name += ", OpenCL on the CPU"
		}
		curves = append(curves, curve{name, r.style, intimgSpec(i), 1})
	}
	curves = append(curves, curve{"boxsum, CPU", boxsumCPU, ourCPU("f32"), 1}, curve{"boxsum, " + v.gpuShort(), boxsumGPU, ourGPU("f32"), 1})
	blocks := []block{text("The work shows times by size as a chart whose numbers it does not give."), t}
	return append(blocks, draw("intimg-chart", "The chart again, with boxsum: time by image size, single precision.", v.bySize("Time by image size", v.intimgSizes(), curves))...)
}

// count is a number of something.
func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
