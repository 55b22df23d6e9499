package reproduce

import (
	"fmt"
	"math"
	"strings"

	"github.com/boxsum/boxsum/internal/plot"
)

// bilgicKernels are the rows of table 1.
var bilgicKernels = []struct {
	name                       string
	occupancy, gigabytes       int
	shared, registers, threads string
}{
	{"Scan array", 100, 17, "2224", "11", "256"},
	{"Increment block", 100, 50, "48", "5", "256"},
	{"Transpose", 100, 49, "1120", "8", "16×16"},
}

// kernelName is what table 1 calls a kernel.
func kernelName(name string) string {
	for ours, theirs := range map[string]string{"scan": "Scan array", "increment": "Increment block", "transpose": "Transpose"} {
		if strings.Contains(name, ours) {
			return theirs
		}
	}
	return name
}

func bilgicTable1Specs(s *setting) []Spec {
	theirs, ours := scanTranspose("f32")(s.bilgicSize()), ourGPU("f32")(s.bilgicSize())
	theirs.Kernels, ours.Kernels = true, true
	return []Spec{theirs, ours}
}

func bilgicTable1(v *view) []block {
	t := &table{
		Caption: "Kernels at " + v.bilgicSize().String() + ", single precision. A dash is what the driver does not tell.",
		Left:    2,
		Head:    []string{"kernel", "on", "occupancy", "GB/s", "shared (bytes)", "registers", "threads a block"},
	}
	for _, k := range bilgicKernels {
		t.Rows = append(t.Rows, []cell{{k.name, "published"}, published("GTX 295"), published(fmt.Sprintf("%d%%", k.occupancy)), published(fmt.Sprintf("%d", k.gigabytes)), published(k.shared), published(k.registers), published(k.threads)})
	}
	specs := bilgicTable1Specs(v.setting)
	for _, s := range specs {
		r := v.get(s)
		if !r.ok() {
			t.Rows = append(t.Rows, []cell{{s.Algorithm, ""}, missing(r.Missing), {}, {}, {}, {}, {}})
		}
		for _, k := range r.Each {
			dash := func(n int) string {
				if n == 0 {
					return "–"
				}
				return fmt.Sprint(n)
			}
			occupancy := "–"
			if k.Occupancy > 0 {
				occupancy = fmt.Sprintf("%.0f%%", 100*k.Occupancy)
			}
			rate := "–"
			switch {
			case k.Median > 0 && k.Bytes > 0:
				rate = number(k.GBPerSecond())
			case len(r.Each) == 1: // the whole run
				rate = number(bytesOf(s, v.ourCost()) / r.Median / 1e6)
			}
			name := kernelName(k.Name)
			if s.Algorithm == Boxsum {
				name = "boxsum: " + k.Name
			}
			t.Rows = append(t.Rows, []cell{{name, s.kind()}, {v.gpuShort(), s.kind()}, {occupancy, s.kind()}, {rate, s.kind()}, {dash(k.Shared), s.kind()}, {dash(k.Registers), s.kind()}, {dash(k.Threads), s.kind()}})
		}
	}
	blocks := []block{
		text("Occupancy is how many of the threads that a multiprocessor could hold are there at once. All kernels of the work reach 100%, and yet scan moves 17 GB/s on a card that can move over 100: the barriers between its steps leave the memory idle. GB/s is what a kernel reads and writes over its own time."), t,
	}
	if r := v.get(specs[0]); len(r.Each) > 0 {
		bars := &plot.Bars{Title: "Memory throughput of each kernel", Label: "read and written (GB/s)"}
		for _, k := range bilgicKernels {
			bars.Rows = append(bars.Rows, plot.Bar{Name: k.name + ", GTX 295, published", Value: float64(k.gigabytes), Hue: 0, Pale: true})
		}
		for _, k := range r.Each {
			if rate := k.GBPerSecond(); k.Median > 0 && !math.IsNaN(rate) {
				bars.Rows = append(bars.Rows, plot.Bar{Name: kernelName(k.Name) + ", " + v.gpuShort(), Value: rate, Text: number(rate), Hue: 1})
			}
		}
		if ours := v.get(specs[1]); ours.ok() {
			rate := bytesOf(ours.Spec, v.ourCost()) / ours.Median / 1e6
			bars.Rows = append(bars.Rows, plot.Bar{Name: "boxsum, " + v.gpuShort(), Value: rate, Text: number(rate), Hue: 4})
		}
		blocks = append(blocks, draw("bilgic-table-1", "Table 1 again: how fast each kernel of the scan moves its bytes at "+v.bilgicSize().String()+".", bars)...)
	}
	return blocks
}
