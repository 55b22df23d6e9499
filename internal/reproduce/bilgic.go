package reproduce

import (
	"fmt"
	"slices"

	"github.com/boxsum/boxsum/internal/plot"
)

// Bilgic, Horn and Masaki give their times as charts only. What their text says
// of them is at 4 megapixels.
var fourMegapixels = sized(2048, 2048)

const (
	bilgicMachine = "NVIDIA GeForce GTX 295, and one core of a 2.5 GHz processor"
	bilgicRuns    = 25 // the work does not say how many it took
)

var bilgicExperiments = []*Experiment{
	{Name: "bilgic/figure-4", Title: "Figure 4: single precision on the CPU and the GPU", specs: bilgicSpecs("f32"), tell: bilgicFigure4},
	{Name: "bilgic/figure-5", Title: "Figure 5: float4 beside four times float", specs: bilgicFigure5Specs, tell: bilgicFigure5},
	{Name: "bilgic/figure-6", Title: "Figure 6: double and single precision on the GPU", specs: bilgicFigure6Specs, tell: bilgicFigure6},
	{Name: "bilgic/figure-7", Title: "Figure 7: double precision on the CPU and the GPU", specs: bilgicSpecs("f64"), tell: bilgicFigure7},
	{Name: "bilgic/table-1", Title: "Table 1: what the kernels take from the GPU", specs: bilgicTable1Specs, tell: bilgicTable1},
}

func (s *setting) bilgicSizes() []Size {
	return s.sweep(squares(256, 4096)...)
}

// bilgicSize is the size that the text is about, or the one nearest to it that is
// measured.
func (s *setting) bilgicSize() Size {
	sizes := s.bilgicSizes()
	if slices.Contains(sizes, fourMegapixels) {
		return fourMegapixels
	}
	return sizes[len(sizes)-1]
}

// at is a spec at any size.
func at(s Spec) func(Size) Spec {
	return func(size Size) Spec { s.Size = size; return s }
}

func sequential(precision string) func(Size) Spec {
	return at(Spec{Algorithm: "bilgic/sequential", Precision: precision, Runs: bilgicRuns})
}

func scanTranspose(precision string) func(Size) Spec {
	return at(Spec{Algorithm: "bilgic/scan-transpose", GPU: true, Precision: precision, Runs: bilgicRuns})
}

var streams8 = at(Spec{Algorithm: "messom/stream-8", GPU: true, Precision: "f32", Runs: bilgicRuns})

// ourCPU is boxsum on all cores, ourOne on one, and ourGPU on the device.
func ourCPU(precision string) func(Size) Spec {
	return at(Spec{Algorithm: Boxsum, Precision: precision, Runs: bilgicRuns})
}

func ourOne(precision string) func(Size) Spec {
	return at(Spec{Algorithm: Boxsum, Precision: precision, Threads: 1, Runs: bilgicRuns})
}

func ourGPU(precision string) func(Size) Spec {
	return at(Spec{Algorithm: Boxsum, GPU: true, Precision: precision, Runs: bilgicRuns})
}

func deviceCopy(precision string) func(Size) Spec {
	return at(Spec{Algorithm: DeviceCopy, GPU: true, Precision: precision, Runs: bilgicRuns})
}

// atSizes is every spec at every size.
func atSizes(sizes []Size, of ...func(Size) Spec) []Spec {
	var specs []Spec
	for _, size := range sizes {
		for _, f := range of {
			specs = append(specs, f(size))
		}
	}
	return specs
}

// bilgicSpecs is the CPU beside the GPU, and in single precision Messom and
// Barczak beside both.
func bilgicSpecs(precision string) func(*setting) []Spec {
	return func(s *setting) []Spec {
		of := []func(Size) Spec{sequential(precision), ourOne(precision), ourCPU(precision), scanTranspose(precision), ourGPU(precision)}
		if precision == "f32" {
			of = append(of, streams8)
		}
		return atSizes(s.bilgicSizes(), of...)
	}
}

func bilgicFigure5Specs(s *setting) []Spec {
	return atSizes(s.bilgicSizes(), scanTranspose("f32"), scanTranspose("f32x4"), ourGPU("f32"), ourGPU("f32x4"))
}

func bilgicFigure6Specs(s *setting) []Spec {
	return atSizes(s.bilgicSizes(), scanTranspose("f32"), scanTranspose("f64"), streams8, ourGPU("f32"), ourGPU("f64"))
}

// bilgicTable is a table of times by size with speed-ups at its end.
func bilgicTable(v *view, caption string, heads []string, columns []func(Size) Spec, ratios [][2]func(Size) Spec) *table {
	t := &table{Caption: caption, Head: append([]string{"image"}, heads...)}
	for _, size := range v.bilgicSizes() {
		row := cells(size.String())
		for _, c := range columns {
			row = append(row, v.cell(c(size), 1))
		}
		for _, r := range ratios {
			row = append(row, v.ratio(r[0](size), r[1](size)))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

func bilgicFigure4(v *view) []block {
	seq, scan, one, cpu, gpu := sequential("f32"), scanTranspose("f32"), ourOne("f32"), ourCPU("f32"), ourGPU("f32")
	blocks := []block{
		text("The sequential loop on one core beside the scan on the GPU: each row in segments of 512 by up-sweep and down-sweep, a tiled transpose, and the same again; transfers are not counted. The figure is a chart without numbers. The text says that at 4 megapixels the GPU is 8 times as fast as the CPU, and about 3 times as fast as the stream kernels of Messom and Barczak (" + bilgicMachine + ")."),
		bilgicTable(v, "Single precision, ms. Sequential and boxsum (1) are on one core, boxsum (CPU) on all; scan, streams and "+v.ourColumn()+" are on "+v.gpuName()+".",
			[]string{"sequential", "scan", "streams", "boxsum (1)", "boxsum (CPU)", v.ourColumn(), "scan over sequential", v.ourColumn() + " over scan"},
			[]func(Size) Spec{seq, scan, streams8, one, cpu, gpu}, [][2]func(Size) Spec{{seq, scan}, {scan, gpu}}),
	}
	blocks = append(blocks, draw("bilgic-figure-4", "Figure 4 again: single precision on the CPU and on "+v.gpuName()+".",
		v.bySize("Single precision: CPU and GPU", v.bilgicSizes(), []curve{
			{"sequential, CPU", plot.Style{Hue: 0}, seq, 1}, {"stream kernels, " + v.gpuShort(), plot.Style{Hue: 2}, streams8, 1},
			{"scan, " + v.gpuShort(), plot.Style{Hue: 1}, scan, 1}, {"boxsum, CPU", boxsumCPU, cpu, 1}, {"boxsum, " + v.gpuShort(), boxsumGPU, gpu, 1},
		}))...)
	size := v.bilgicSize()
	faster := v.ms(seq(size)) / v.ms(scan(size))
	blocks = append(blocks, v.onlyGPU(judge("Bilgic et al.: the GPU is 8 times as fast as the sequential CPU at 4 megapixels, in single precision", faster, 1, 8, "bilgic/figure-4",
		fmt.Sprintf("It is %s at %v (published: 8×).", asFast(faster), size), "")))
	over := v.ms(streams8(size)) / v.ms(scan(size))
	return append(blocks, v.onlyGPU(judge("Bilgic et al.: the scan is about 3 times as fast as the stream kernels of Messom and Barczak at 4 megapixels", over, 1, 3, "bilgic/figure-4",
		fmt.Sprintf("On the same device it is %s at %v (published: about 3×, on two different cards).", asFast(over), size),
		"")))
}

func bilgicFigure5(v *view) []block {
	one, four := scanTranspose("f32"), scanTranspose("f32x4")
	our, our4 := ourGPU("f32"), ourGPU("f32x4")
	t := &table{
		Caption: "Single precision on " + v.gpuName() + ", ms. A ratio above 1 says that four values in a float4 cost less than four floats.",
		Head:    []string{"image", "4 × float", "float4", "float4 gains", "boxsum, 4 × float", "boxsum, 4 channels", "boxsum gains", "boxsum over float4"},
	}
	for _, size := range v.bilgicSizes() {
		row := cells(size.String())
		for _, pair := range [][2]func(Size) Spec{{one, four}, {our, our4}} {
			a, b := pair[0](size), pair[1](size)
			row = append(row, v.cell(a, 0.25), v.cell(b, 1))
			if gain := v.ratio(a, b); gain.Kind == "missing" {
				row = append(row, gain)
			} else {
				row = append(row, cell{times(4 * v.ms(a) / v.ms(b)), a.kind()})
			}
		}
		t.Rows = append(t.Rows, append(row, v.ratio(four(size), our4(size))))
	}
	blocks := []block{
		text("Four values in one float4 beside four times the time of one float, both by the scan. The figure is a chart without numbers; the text says that float4 takes less, since four values come in one access."), t,
	}
	blocks = append(blocks, draw("bilgic-figure-5", "Figure 5 again: float4 beside four times float, on "+v.gpuName()+".",
		v.bySize("Four values for each pixel", v.bilgicSizes(), []curve{
			{"4 × float, scan", plot.Style{Hue: 0, Dash: 1, Hollow: true}, one, 4}, {"float4, scan", plot.Style{Hue: 1}, four, 1},
			{"boxsum, 4 channels", boxsumGPU, our4, 1},
		}))...)
	return append(blocks, v.float4Finding())
}

// float4Finding is the claim of figure 5 at the largest size.
func (v *view) float4Finding() *finding {
	sizes := v.bilgicSizes()
	size := sizes[len(sizes)-1]
	one, four := scanTranspose("f32")(size), scanTranspose("f32x4")(size)
	gain := 4 * v.ms(one) / v.ms(four)
	return v.onlyGPU(judge("Bilgic et al.: float4 is cheaper per value than float", gain, 1, 1, "bilgic/figure-5",
		fmt.Sprintf("At %v a value costs %s in float4 and %s in float: float4 handles %s as many in the same time.", size, v.perValue(four), v.perValue(one), times(gain)),
		"A GPU of today joins the loads of neighbouring threads whatever their width."))
}

func bilgicFigure6(v *view) []block {
	single, double := scanTranspose("f32"), scanTranspose("f64")
	our, ourDouble := ourGPU("f32"), ourGPU("f64")
	blocks := []block{
		text("The scan in single and in double precision. The figure is a chart without numbers; the text says that double precision is slower, and that the results are about 4 times as fast at 2048×2048 as those of an earlier work by Messom and Barczak (ENZCON 2008), which is not among these. The stream kernels here are those of their later one, in single precision."),
		bilgicTable(v, "On "+v.gpuName()+", ms.",
			[]string{"float", "double", "streams, float", "boxsum, float", "boxsum, double", "double costs", "boxsum: double costs", "boxsum over double"},
			[]func(Size) Spec{single, double, streams8, our, ourDouble}, [][2]func(Size) Spec{{double, single}, {ourDouble, our}, {double, ourDouble}}),
	}
	return append(blocks, draw("bilgic-figure-6", "Figure 6 again: double and single precision on "+v.gpuName()+".",
		v.bySize("Double and single precision", v.bilgicSizes(), []curve{
			{"double, scan", plot.Style{Hue: 0}, double, 1}, {"float, scan", plot.Style{Hue: 1}, single, 1}, {"float, stream kernels", plot.Style{Hue: 2}, streams8, 1},
			{"boxsum, double", boxsumGPU, ourDouble, 1}, {"boxsum, float", boxsumToo, our, 1},
		}))...)
}

func bilgicFigure7(v *view) []block {
	seq, scan, one, cpu, gpu := sequential("f64"), scanTranspose("f64"), ourOne("f64"), ourCPU("f64"), ourGPU("f64")
	blocks := []block{
		text("Figure 4 in double precision. The figure is a chart without numbers; the text says that at 4 megapixels the GPU is 9 times as fast as the CPU."),
		bilgicTable(v, "Double precision, ms. Sequential and boxsum (1) are on one core, boxsum (CPU) on all; scan and "+v.ourColumn()+" are on "+v.gpuName()+".",
			[]string{"sequential", "scan", "boxsum (1)", "boxsum (CPU)", v.ourColumn(), "scan over sequential", v.ourColumn() + " over scan"},
			[]func(Size) Spec{seq, scan, one, cpu, gpu}, [][2]func(Size) Spec{{seq, scan}, {scan, gpu}}),
	}
	blocks = append(blocks, draw("bilgic-figure-7", "Figure 7 again: double precision on the CPU and on "+v.gpuName()+".",
		v.bySize("Double precision: CPU and GPU", v.bilgicSizes(), []curve{
			{"sequential, CPU", plot.Style{Hue: 0}, seq, 1}, {"scan, " + v.gpuShort(), plot.Style{Hue: 1}, scan, 1},
			{"boxsum, CPU", boxsumCPU, cpu, 1}, {"boxsum, " + v.gpuShort(), boxsumGPU, gpu, 1},
		}))...)
	size := v.bilgicSize()
	faster := v.ms(seq(size)) / v.ms(scan(size))
	return append(blocks, v.onlyGPU(judge("Bilgic et al.: the GPU is 9 times as fast as the sequential CPU at 4 megapixels, in double precision", faster, 1, 9, "bilgic/figure-7",
		fmt.Sprintf("It is %s at %v (published: 9×).", asFast(faster), size), "")))
}
