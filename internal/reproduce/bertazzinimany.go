package reproduce

import (
	"fmt"

	"github.com/boxsum/boxsum/internal/plot"
)

// manySize is that of an image among many, and manyImages how many there are.
func (s *setting) manySize() Size {
	return s.last(sized(1920, 1080))
}

func (s *setting) manyImages() int {
	if s.quick && s.device != realGPU {
		return 4
	}
	return 32
}

func (s *setting) many(algorithm, precision string) Spec {
	return Spec{Algorithm: algorithm, GPU: true, Precision: precision, Size: s.manySize(), Images: s.manyImages(), Host: true, Runs: 10}
}

func bertazziniManySpecs(s *setting) []Spec {
	one := bertazziniBlock(256)(s.manySize())
	one.Host, one.Runs = true, 10
	return []Spec{one, s.many("bertazzini/many-images", "u32"), s.many(Boxsum, "u32"), s.many(Boxsum, "u8")}
}

func bertazziniMany(v *view) []block {
	specs := bertazziniManySpecs(v.setting)
	n := float64(v.manyImages())
	t := &table{
		Caption: fmt.Sprintf("%d images of %v, from host memory to host memory, ms for each image, on %s.", v.manyImages(), v.manySize(), v.gpuName()),
		Head:    []string{"way", "ms for an image", "times as fast as one at a time"},
	}
	names := []string{"one at a time", "many, asynchronous copies on streams", "boxsum’s pipeline", "boxsum’s pipeline, from bytes"}
	alone := v.ms(specs[0])
	bars := &plot.Bars{Title: fmt.Sprintf("%d images of %v, with their copies", v.manyImages(), v.manySize()), Label: "time for an image (ms)"}
	for i, s := range specs {
		r := v.get(s)
		if !r.ok() {
			t.Rows = append(t.Rows, []cell{{names[i], s.kind()}, missing(r.Missing), {}})
			continue
		}
		each := r.Median
		if i > 0 {
			each /= n
		}
		t.Rows = append(t.Rows, []cell{{names[i], s.kind()}, {number(each), s.kind()}, {times(alone / each), s.kind()}})
		bars.Rows = append(bars.Rows, plot.Bar{Name: names[i], Value: each, Text: number(each), Hue: []int{0, 1, 4, 4}[i]})
	}
	gain := alone * n / v.ms(specs[1])
	blocks := []block{
		text("The conclusion supposes that the GPU would do better with many images, whose copies and kernels overlap on several streams. It was not measured there."), t,
	}
	blocks = append(blocks, draw("bertazzini-many", "Many images at once, from host memory to host memory.", bars)...)
	return append(blocks, v.onlyGPU(judge("Bertazzini and Guiducci: many images at once, with asynchronous copies, would do better on the GPU", gain, 1, 1, "bertazzini/many",
		fmt.Sprintf("%d images go through %s as one at a time.", v.manyImages(), asFast(gain)), "")))
}
