package reproduce

import (
	"fmt"
	"math"

	"github.com/boxsum/boxsum/internal/plot"
)

func messomTable4Specs(s *setting) []Spec {
	return atSizes(s.messomSweep(), onOneCore("messom/stream-cpu"), onOneCore("messom/stream-cpu-float4"), onOneCore("messom/stream-cpu-8"), ourTable(""))
}

func tellMessomTable4(v *view) []block {
	t := &table{
		Caption: "Single precision on one core, ms for one cycle. Published figures are a tenth of those for ten cycles, on " + messomQuad + ".",
		Left:    2,
		Grouped: true,
		Head:    []string{"image", "", "float", "float4", "8 streams", "ns/pixel, 8 streams", "boxsum", "boxsum over 8 streams"},
	}
	eight := onOneCore("messom/stream-cpu-8")
	float, float4 := onOneCore("messom/stream-cpu"), onOneCore("messom/stream-cpu-float4")
	pubs := []plot.Series{
		{Name: "float, published", Style: plot.Style{Hue: 0, Dash: 1, Hollow: true}},
		{Name: "float4, published", Style: plot.Style{Hue: 2, Dash: 1, Hollow: true}},
		{Name: "8 streams, published", Style: plot.Style{Hue: 1, Dash: 1, Hollow: true}},
	}
	for _, size := range v.messomSweep() {
		if i := publishedAt(size); i >= 0 {
			p := messomTable4[i]
			for j, s := range []float64{p.float, p.float4, p.eight} {
				pubs[j].Points = append(pubs[j].Points, plot.Point{X: size.Pixels(), Y: 100 * s})
			}
			t.Rows = append(t.Rows, []cell{{size.String(), ""}, published("published"), published(number(100 * p.float)), published(number(100 * p.float4)), published(number(100 * p.eight)),
				published(number(1e8 * p.eight / size.Pixels())), {}, {}})
		}
		t.Rows = append(t.Rows, append(cells(size.String(), "here"), v.cell(float(size), 1), v.cell(float4(size), 1), v.cell(eight(size), 1), v.cell(eight(size), size.Pixels()/1e6),
			v.cell(ourTable("")(size), 1), v.ratio(eight(size), ourTable("")(size))))
	}
	var fixed []plot.Series
	for _, p := range pubs {
		if p.Points != nil {
			fixed = append(fixed, p)
		}
	}
	blocks := []block{
		text("The same passes on one core of the processor. The work’s simulation calls a function for every element of a stream, which is what its times are mostly made of."), t,
	}
	sizes := v.messomSweep()
	blocks = append(blocks, draw("messom-table-4", "Table 4 and figure 13 again: one cycle of the simulated stream processing on one core.",
		v.bySize("Stream processing simulated on one core", sizes, []curve{
			{"float, here", plot.Style{Hue: 0}, float, 1}, {"float4, here", plot.Style{Hue: 2}, float4, 1}, {"8 streams, here", plot.Style{Hue: 1}, eight, 1},
			{"boxsum, one core", boxsumCPU, ourTable(""), 1},
		}, fixed...))...)
	last := sizes[len(sizes)-1]
	gain4, gain8 := v.ms(float(last))/v.ms(float4(last)), v.ms(float4(last))/v.ms(eight(last))
	return append(blocks, judge("Messom and Barczak: simulated on the CPU, float4 is faster than float, and eight streams are faster still", bothGain(gain4, gain8), 0, 2, "messom/table-4",
		fmt.Sprintf("At %v float4 is %s as float, and eight streams %s as float4 (published: 1.9× and 2.8×).", last, asFast(gain4), asFast(gain8)),
		"Calls of the kernel are cheaper today than they were, beside what it does."))
}

// bothGain is how many of two ratios are a gain beyond what noise can make.
func bothGain(a, b float64) float64 {
	if math.IsNaN(a + b) {
		return math.NaN()
	}
	n := 0.0
	for _, r := range []float64{a, b} {
		if r > 1.05 {
			n++
		}
	}
	return n
}

func messomTable5Specs(s *setting) []Spec {
	return atSizes(s.messomSweep(), onOneCore("messom/serial"), ourTable(""), ourCPU("f32"))
}

func tellMessomTable5(v *view) []block {
	t := &table{
		Caption: "Single precision. Published figures are from " + messomQuad + ".",
		Head:    []string{"image", "published (µs)", "ns/pixel", "here (µs)", "ns/pixel", "boxsum, one core (µs)", "boxsum, all cores (µs)", "boxsum (1) over serial"},
	}
	serial, one := onOneCore("messom/serial"), ourTable("")
	pub := plot.Series{Name: "serial, published", Style: plot.Style{Hue: 0, Dash: 1, Hollow: true}}
	for _, size := range v.messomSweep() {
		row := cells(size.String(), "", "")
		row[1], row[2] = published("–"), published("–")
		if i := publishedAt(size); i >= 0 {
			s := messomTable5[i]
			row[1], row[2] = published(number(1e6*s)), published(number(1e9*s/size.Pixels()))
			pub.Points = append(pub.Points, plot.Point{X: size.Pixels(), Y: 1e3 * s})
		}
		t.Rows = append(t.Rows, append(row, v.cell(serial(size), 1e-3), v.cell(serial(size), size.Pixels()/1e6), v.cell(one(size), 1e-3), v.cell(ourCPU("f32")(size), 1e-3), v.ratio(serial(size), one(size))))
	}
	var fixed []plot.Series
	if pub.Points != nil {
		fixed = append(fixed, pub)
	}
	sizes := v.messomSweep()
	blocks := []block{text("The serial recurrence on one core. The published time of a pixel grows from 1.7 to 8.9 ns once the image and its table outgrow the cache."), t}
	blocks = append(blocks, draw("messom-table-5", "Table 5 and figure 14 again: the serial algorithm by image size.",
		v.bySize("The serial algorithm on one core", sizes, []curve{
			{"serial, here", plot.Style{Hue: 0}, serial, 1}, {"boxsum, one core", boxsumCPU, one, 1}, {"boxsum, all cores", boxsumToo, ourCPU("f32"), 1},
		}, fixed...))...)
	last := sizes[len(sizes)-1]
	gpu := v.ms(serial(last)) / v.ms(onDevice("messom/stream-8")(last))
	return append(blocks, v.onlyGPU(judge("Messom and Barczak: for large images the GPU is faster than the serial algorithm on one core", gpu, 1, 2, "messom/table-5",
		fmt.Sprintf("At %v the stream kernels are %s (published: 2.0×).", last, asFast(gpu)), "")))
}
