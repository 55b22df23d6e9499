package reproduce

import (
	"fmt"
	"math"
	"slices"

	"github.com/boxsum/boxsum/internal/plot"
)

const messomRuns = 10

// messomSizes are those of tables 3 to 5. The last is of 1024 rows and 2048
// columns.
var messomSizes = append(squares(64, 1024), sized(2048, 1024))

// The published figures of Messom and Barczak.
var (
	messomTable2 = []struct {
		Size
		normal, twisted, rotated float64 // ms
	}{{sized(320, 240), 0.3, 4.2, 4.2}, {sized(640, 480), 1.6, 4.4, 17.2}, {sized(1280, 960), 8, 22, 68}}

	// Seconds of table 3, by size, for 1, 2 and 10 cycles, and the average
	// without the first.
	messomTable3 = []struct{ one, two, ten, average, perPixel float64 }{
		{0.0259, 0.0268, 0.0327, 7.6e-4, 1.8e-7}, {0.0262, 0.0272, 0.0342, 8.9e-4, 5.4e-8}, {0.0268, 0.028, 0.0359, 1.0e-3, 1.5e-8},
		{0.0299, 0.0314, 0.0445, 1.6e-3, 6.2e-9}, {0.0445, 0.0484, 0.087, 4.7e-3, 4.5e-9}, {0.0646, 0.0735, 0.1498, 9.5e-3, 4.5e-9},
	}

	// Seconds of ten cycles of table 4.
	messomTable4 = []struct{ float, float4, eight float64 }{
		{0.819, 0.318, 0.1552}, {3.832, 1.487, 0.709}, {17.47, 6.81, 3.243}, {79.44, 30.71, 14.82}, {354.76, 136.7, 65.42}, {744.50, 387.37, 137.44},
	}

	// Seconds of a cycle of table 5.
	messomTable5 = []float64{7.0e-6, 2.8e-5, 1.1e-4, 5.0e-4, 8.1e-3, 1.9e-2}
)

const (
	messomOpteron = "Opteron 250, 2.4 GHz"
	messomQuad    = "one core of a 2.66 GHz Intel quad core"
	messomCard    = "ATI HD4850"
)

var messomExperiments = []*Experiment{
	{Name: "messom/table-2", Title: "Table 2: normal, twisted and rotated tables on the CPU", specs: messomTable2Specs, tell: tellMessomTable2},
	{Name: "messom/table-3", Title: "Table 3 and figure 12: stream processing on the GPU", specs: messomTable3Specs, tell: tellMessomTable3},
	{Name: "messom/table-4", Title: "Table 4 and figure 13: stream processing simulated on the CPU", specs: messomTable4Specs, tell: tellMessomTable4},
	{Name: "messom/table-5", Title: "Table 5 and figure 14: the serial algorithm on the CPU", specs: messomTable5Specs, tell: tellMessomTable5},
}

// messomSweep is the published sizes, or those asked for.
func (s *setting) messomSweep() []Size { return s.asked(messomSizes) }

// publishedAt is the index of a size in the published tables, or -1.
func publishedAt(size Size) int { return slices.Index(messomSizes, size) }

func onOneCore(algorithm string) func(Size) Spec {
	return at(Spec{Algorithm: algorithm, Precision: "f32", Runs: messomRuns})
}

func onDevice(algorithm string) func(Size) Spec {
	return at(Spec{Algorithm: algorithm, GPU: true, Precision: "f32", Runs: messomRuns})
}

func ourTable(kind string) func(Size) Spec {
	return at(Spec{Algorithm: Boxsum, Precision: "f32", Threads: 1, Table: kind, Runs: messomRuns})
}

// messomKinds are the columns of table 2.
var messomKinds = []struct {
	name         string
	theirs, ours func(Size) Spec
}{
	{"normal", onOneCore("messom/serial"), ourTable("")},
	{"twisted", onOneCore("messom/twisted"), ourTable("tilted")},
	{"rotated", onOneCore("messom/rotated"), ourTable("rotated")},
}

func (s *setting) messomTable2Sizes() []Size {
	var sizes []Size
	for _, row := range messomTable2 {
		sizes = append(sizes, row.Size)
	}
	return s.asked(sizes)
}

func messomTable2Specs(s *setting) []Spec {
	var of []func(Size) Spec
	for _, k := range messomKinds {
		of = append(of, k.theirs, k.ours)
	}
	return atSizes(s.messomTable2Sizes(), of...)
}

func tellMessomTable2(v *view) []block {
	t := &table{
		Caption: "Single precision on one core, ms. Published figures are from an " + messomOpteron + ". Rotated is 1-2, 26.57°. Ratios are to the normal table of the same column.",
		Left:    2,
		Grouped: true,
		Head:    []string{"image", "table", "published", "ratio", "here", "ratio", "boxsum", "ratio", "boxsum over theirs"},
	}
	charts := make([]plot.Series, 0, 9)
	var least, most float64 = math.Inf(1), 0
	for k, kind := range messomKinds {
		pub := plot.Series{Name: kind.name + ", published", Style: plot.Style{Hue: k, Dash: 1, Hollow: true}}
		here := plot.Series{Name: kind.name + ", here", Style: plot.Style{Hue: k}}
		ours := plot.Series{Name: kind.name + ", boxsum", Style: plot.Style{Hue: k, Heavy: true, Dash: 2}}
		for _, size := range v.messomTable2Sizes() {
			for _, row := range messomTable2 {
				if row.Size == size {
					pub.Points = append(pub.Points, plot.Point{X: size.Pixels(), Y: []float64{row.normal, row.twisted, row.rotated}[k]})
				}
			}
			if ms := v.ms(kind.theirs(size)); ms > 0 {
				here.Points = append(here.Points, plot.Point{X: size.Pixels(), Y: ms})
			}
			if ms := v.ms(kind.ours(size)); ms > 0 {
				ours.Points = append(ours.Points, plot.Point{X: size.Pixels(), Y: ms})
			}
		}
		for _, s := range []plot.Series{pub, here, ours} {
			if s.Points != nil {
				charts = append(charts, s)
			}
		}
	}
	for _, size := range v.messomTable2Sizes() {
		for k, kind := range messomKinds {
			row := cells(size.String(), kind.name)
			pub, ratio := published("–"), published("–")
			for _, p := range messomTable2 {
				if p.Size == size {
					ms := []float64{p.normal, p.twisted, p.rotated}[k]
					pub, ratio = published(fmt.Sprintf("%v", ms)), published(times(ms/p.normal))
				}
			}
			row = append(row, pub, ratio)
			for _, of := range []func(int) func(Size) Spec{
				func(k int) func(Size) Spec { return messomKinds[k].theirs }, func(k int) func(Size) Spec { return messomKinds[k].ours },
			} {
				row = append(row, v.cell(of(k)(size), 1))
				if c := v.ratio(of(k)(size), of(0)(size)); c.Kind == "missing" {
					row = append(row, cell{})
				} else {
					row = append(row, c)
				}
			}
			t.Rows = append(t.Rows, append(row, v.ratio(kind.theirs(size), kind.ours(size))))
		}
		r := v.ms(messomKinds[2].theirs(size)) / v.ms(messomKinds[0].theirs(size))
		least, most = min(least, r), max(most, r)
	}
	blocks := []block{
		text("The normal table by its recurrence, the 45° table, and that of an integer rotation by the line-buffer method, each on one core."), t,
	}
	blocks = append(blocks, draw("messom-table-2", "Table 2 again: published times are hollow and dashed, boxsum’s lines are heavy.",
		&plot.Chart{Title: "Normal, twisted and rotated tables, one core", X: sizeAxis(v.messomTable2Sizes()), Y: plot.Axis{Label: "time (ms)", Log: true}, Series: charts})...)
	return append(blocks, judge("Messom and Barczak: a rotated table takes an order of magnitude longer than a normal one (8.5 to 14 times)", least, 5, 8.5, "messom/table-2",
		fmt.Sprintf("Their line-buffer method takes %s to %s the time of their normal table here.", times(least), times(most)),
		"In the normal table’s recurrence three additions wait for each other, and then for the sum on the left; the line buffers add work that a core of today does meanwhile."))
}

func messomTable3Specs(s *setting) []Spec {
	specs := atSizes(s.messomSweep(), onDevice("messom/stream"), onDevice("messom/stream-float4"), onDevice("messom/stream-8"), ourGPU("f32"))
	for _, size := range s.messomSweep() {
		for _, n := range messomCycles {
			specs = append(specs, withCycles(size, n))
		}
	}
	return specs
}

var messomCycles = []int{1, 2, 10}

// withCycles is n cycles from a device that has not run the kernel yet.
func withCycles(size Size, n int) Spec {
	s := onDevice("messom/stream-8")(size)
	s.Cycles, s.Runs = n, 3
	return s
}

func tellMessomTable3(v *view) []block {
	t := &table{
		Caption: "Single precision. Published figures are from an " + messomCard + ", ours from " + v.gpuName() + ". A start loads the kernels and sends the image; a cycle is one table by the kernel with float4 and eight streams.",
		Left:    2,
		Grouped: true,
		Head:    []string{"image", "", "start and 1 cycle (ms)", "and 2", "and 10", "average cycle (ms)", "ns/pixel", "float (ms)", "float4 (ms)", "boxsum (ms)", "boxsum over 8 streams"},
	}
	average := onDevice("messom/stream-8")
	pub := plot.Series{Name: "8 streams, HD4850, published", Style: plot.Style{Hue: 1, Dash: 1, Hollow: true}}
	for _, size := range v.messomSweep() {
		if i := publishedAt(size); i >= 0 {
			p := messomTable3[i]
			t.Rows = append(t.Rows, []cell{{size.String(), ""}, published("published"), published(number(1e3 * p.one)), published(number(1e3 * p.two)), published(number(1e3 * p.ten)),
				published(number(1e3 * p.average)), published(number(1e9 * p.perPixel)), {}, {}, {}, {}})
			pub.Points = append(pub.Points, plot.Point{X: size.Pixels(), Y: 1e3 * p.average})
		}
		row := cells(size.String(), "here")
		for _, n := range messomCycles {
			row = append(row, v.cell(withCycles(size, n), 1))
		}
		s := average(size)
		row = append(row, v.cell(s, 1), v.cell(s, size.Pixels()/1e6), v.cell(onDevice("messom/stream")(size), 1), v.cell(onDevice("messom/stream-float4")(size), 1),
			v.cell(ourGPU("f32")(size), 1), v.ratio(s, ourGPU("f32")(size)))
		t.Rows = append(t.Rows, row)
	}
	sizes := v.messomSweep()
	blocks := []block{
		text("Each pass adds the value at twice the distance of the pass before, first along rows and then along columns, so that log₂N + log₂M passes read and write the whole image. The work’s kernel takes float4 and eight streams at once; the first cycle of a program also loads it."), t,
	}
	chart := v.bySize("Stream processing on the GPU", sizes, []curve{
		{"float, " + v.gpuShort(), plot.Style{Hue: 0}, onDevice("messom/stream"), 1}, {"float4, " + v.gpuShort(), plot.Style{Hue: 2}, onDevice("messom/stream-float4"), 1},
		{"8 streams, " + v.gpuShort(), plot.Style{Hue: 1}, average, 1}, {"boxsum, " + v.gpuShort(), boxsumGPU, ourGPU("f32"), 1},
	})
	if pub.Points != nil {
		chart.Series = append(chart.Series, pub)
	}
	blocks = append(blocks, draw("messom-table-3", "Table 3 and figure 12 again: the average cycle by image size.", chart)...)
	first, last := average(sizes[0]), average(sizes[len(sizes)-1])
	better := (v.ms(first) / first.Pixels()) / (v.ms(last) / last.Pixels())
	cheaper := v.ms(onDevice("messom/stream")(last.Size)) / v.ms(onDevice("messom/stream-float4")(last.Size))
	return append(blocks,
		v.onlyGPU(judge("Messom and Barczak: on the GPU a pixel costs less the larger the image is", better, 1, 1, "messom/table-3",
			fmt.Sprintf("A pixel costs %s ns at %v and %s ns at %v (published: 180 and 4.5).", number(1e6*v.ms(first)/first.Pixels()), first.Size, number(1e6*v.ms(last)/last.Pixels()), last.Size), "")),
		v.onlyGPU(judge("Messom and Barczak: float4 improves on float in the stream kernel", cheaper, 1, 1, "messom/table-3",
			fmt.Sprintf("At %v the passes with float4 are %s as those with float.", last.Size, asFast(cheaper)),
			"A GPU of today joins the loads of neighbouring threads whatever their width.")))
}
