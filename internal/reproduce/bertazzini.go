package reproduce

import (
	"fmt"
	"math"
	"slices"

	"github.com/boxsum/boxsum/internal/plot"
)

const (
	bertazziniMachine = "Intel Core i9-11900KF with 8 cores, GeForce RTX 3070 Ti"
	bertazziniRuns    = 100
)

var bertazziniExperiments = []*Experiment{
	{Name: "bertazzini/threads", Title: "Figures 3 to 5: threads on the CPU", specs: bertazziniThreadsSpecs, tell: bertazziniThreads},
	{Name: "bertazzini/cuda", Title: "Figures 6 to 8: the GPU, by threads of a block", specs: bertazziniCUDASpecs, tell: bertazziniCUDA},
	{Name: "bertazzini/both", Title: "Figures 9 and 10: CPU threads beside the GPU", specs: bertazziniBothSpecs, tell: bertazziniBoth},
	{Name: "bertazzini/many", Title: "The conclusion’s suggestion: many images at once", specs: bertazziniManySpecs, tell: bertazziniMany},
}

// The sweeps of threads. The work’s charts do not state theirs; its text names
// eight, one for every core of its machine.
var groups = []int{32, 64, 128, 256, 512, 1024}

func (s *setting) threads() []int {
	threads := []int{1, 2, 4, 8, 16}
	if !slices.Contains(threads, s.cores) {
		threads = append(threads, s.cores)
		slices.Sort(threads)
	}
	if s.quick {
		// More threads than twice the cores say nothing new.
		threads = slices.DeleteFunc(threads, func(n int) bool { return n > max(8, s.cores) })
	}
	return threads
}

func (s *setting) blocks() []int {
	if s.quick && s.device != realGPU {
		return []int{64, 256}
	}
	return groups
}

func (s *setting) videos() []Size { return s.asked(videoSizes()) }

var bertazziniSequential = at(Spec{Algorithm: "bertazzini/sequential", Precision: "u32", Runs: bertazziniRuns})

func bertazziniOn(threads int) func(Size) Spec {
	return at(Spec{Algorithm: "bertazzini/threads", Precision: "u32", Threads: threads, Runs: bertazziniRuns})
}

func bertazziniBlock(group int) func(Size) Spec {
	return at(Spec{Algorithm: "bertazzini/cuda", GPU: true, Precision: "u32", Group: group, Runs: bertazziniRuns})
}

// often is a spec with the runs of this work.
func often(of func(Size) Spec) func(Size) Spec {
	return func(size Size) Spec {
		s := of(size)
		s.Runs = bertazziniRuns
		return s
	}
}

func bertazziniThreadsSpecs(s *setting) []Spec {
	of := []func(Size) Spec{bertazziniSequential}
	for _, n := range s.threads() {
		of = append(of, bertazziniOn(n))
	}
	return atSizes(s.videos(), append(of, often(ourOne("u8")), often(ourCPU("u8")))...)
}

func bertazziniCUDASpecs(s *setting) []Spec {
	of := []func(Size) Spec{bertazziniSequential}
	for _, n := range s.blocks() {
		of = append(of, bertazziniBlock(n))
	}
	return atSizes(s.videos(), append(of, often(ourGPU("u32")), often(ourGPU("u8")))...)
}

func bertazziniBothSpecs(s *setting) []Spec {
	return slices.Concat(bertazziniThreadsSpecs(s), bertazziniCUDASpecs(s))
}

// spread is mean, least and most of a result in cells.
func (v *view) spread(s Spec) []cell {
	r := v.get(s)
	if !r.ok() {
		return []cell{missing(r.Missing), {}, {}}
	}
	return []cell{{number(r.Mean), s.kind()}, {number(r.Min), s.kind()}, {number(r.Max), s.kind()}}
}

// mean is the mean time of a spec, or NaN: this work’s figures are means.
func (v *view) mean(s Spec) float64 {
	if r := v.get(s); r.ok() {
		return r.Mean
	}
	return math.NaN()
}

// sweepTable is the mean, least and most time of each step of a sweep.
func (v *view) sweepTable(caption, sweep string, steps []int, of func(int) func(Size) Spec, ours []struct {
	name string
	of   func(Size) Spec
}) *table {
	t := &table{Caption: caption, Left: 2, Grouped: true, Head: []string{"image", "algorithm", sweep, "mean", "least", "most", "speed-up", "boxsum over it"}}
	for _, size := range v.videos() {
		seq := bertazziniSequential(size)
		best := ours[len(ours)-1].of(size)
		add := func(name, step string, s Spec) {
			row := append([]cell{{size.String(), ""}, {name, s.kind()}, {step, s.kind()}}, v.spread(s)...)
			speedup, over := cell{}, cell{}
			if r := v.mean(seq) / v.mean(s); !math.IsNaN(r) {
				speedup = cell{times(r), s.kind()}
			}
			if r := v.mean(s) / v.mean(best); !math.IsNaN(r) && s.Algorithm != Boxsum {
				over = cell{times(r), ""}
			}
			t.Rows = append(t.Rows, append(row, speedup, over))
		}
		add("sequential", "", seq)
		for _, n := range steps {
			add("rows and transposes", fmt.Sprint(n), of(n)(size))
		}
		for _, o := range ours {
			add(o.name, "", o.of(size))
		}
	}
	return t
}

// sweepCharts are the times by step of a sweep, and the speed-ups, a line for
// every size.
func (v *view) sweepCharts(steps []int, of func(int) func(Size) Spec, axis string) (duration, speedup *plot.Chart) {
	duration = &plot.Chart{X: plot.Axis{Label: axis, Log: true}, Y: plot.Axis{Label: "mean time (ms)", Log: true}}
	speedup = &plot.Chart{X: plot.Axis{Label: axis, Log: true}, Y: plot.Axis{Label: "times as fast as sequential", Zero: true}}
	for _, n := range steps {
		tick := plot.Tick{At: float64(n), Label: fmt.Sprint(n)}
		duration.X.Ticks, speedup.X.Ticks = append(duration.X.Ticks, tick), append(speedup.X.Ticks, tick)
	}
	for i, size := range v.videos() {
		style := plot.Style{Hue: i}
		d, s := plot.Series{Name: size.String(), Style: style}, plot.Series{Name: size.String(), Style: style}
		for _, n := range steps {
			if r := v.get(of(n)(size)); r.ok() {
				d.Points = append(d.Points, plot.Point{X: float64(n), Y: r.Mean, Low: r.Min, High: r.Max})
				if seq := v.mean(bertazziniSequential(size)); !math.IsNaN(seq) {
					s.Points = append(s.Points, plot.Point{X: float64(n), Y: seq / r.Mean})
				}
			}
		}
		if d.Points != nil {
			duration.Series, speedup.Series = append(duration.Series, d), append(speedup.Series, s)
		}
	}
	return duration, speedup
}

type named = struct {
	name string
	of   func(Size) Spec
}

func bertazziniThreads(v *view) []block {
	ours := []named{{"boxsum, one core", often(ourOne("u8"))}, {fmt.Sprintf("boxsum, %s", count(v.cores, "core")), often(ourCPU("u8"))}}
	blocks := []block{
		text("Grey pixels as 32-bit integers; transpose, sum every row, transpose, sum every row, the rows dealt out to T threads. The figures are charts without numbers; the text says that the best speed-up was 5.55, for 720p on 8 threads (" + bertazziniMachine + ", Java, 100 runs). boxsum takes the grey bytes as they are and makes sums of 32 bits."),
		v.sweepTable(fmt.Sprintf("Times in ms; speed-ups are of means, over the sequential algorithm. This machine has %s.", count(v.cores, "core")), "threads", v.threads(), bertazziniOn, ours),
	}
	duration, speedup := v.sweepCharts(v.threads(), bertazziniOn, "threads")
	duration.Title, speedup.Title = "Rows and transposes on threads", "Speed-up by threads"
	blocks = append(blocks, draw("bertazzini-threads", "Figure 3 again: mean time by threads; bars reach from the least to the most.", duration)...)
	blocks = append(blocks, draw("bertazzini-speedup", "Figure 5 again: speed-up over the sequential algorithm by threads.", speedup)...)
	best := v.bySize("Sequential and threads, by image size", v.videos(), []curve{
		{"sequential", plot.Style{Hue: 0}, bertazziniSequential, 1}, {"threads, best number", plot.Style{Hue: 1}, v.best(v.threads(), bertazziniOn), 1},
		{"boxsum, one core", boxsumToo, ours[0].of, 1}, {"boxsum, all cores", boxsumCPU, ours[1].of, 1},
	})
	blocks = append(blocks, draw("bertazzini-figure-4", "Figure 4 again: sequential beside the best number of threads.", best)...)
	top, where, by := 0.0, Size{}, 0
	for _, size := range v.videos() {
		for _, n := range v.threads() {
			if s := v.mean(bertazziniSequential(size)) / v.mean(bertazziniOn(n)(size)); s > top {
				top, where, by = s, size, n
			}
		}
	}
	ratio := top
	if top == 0 {
		ratio = math.NaN()
	}
	return append(blocks, judge("Bertazzini and Guiducci: threads make it faster, up to 5.55 times on 8 cores", ratio, 1, 5.55, "bertazzini/threads",
		fmt.Sprintf("The best speed-up is %s, for %v on %s, with %s.", times(top), where, count(by, "thread"), count(v.cores, "core")),
		v.whyThreads()))
}

// whyThreads says what the transposes cost.
func (v *view) whyThreads() string {
	sizes := v.videos()
	last := sizes[len(sizes)-1]
	return fmt.Sprintf("On one thread, with its two transposes, which go down columns, it takes %s the time of the sequential algorithm at %v: that much the threads have to make good first.",
		times(v.mean(bertazziniOn(1)(last))/v.mean(bertazziniSequential(last))), last)
}

// whyBlocks says what the size of a block does.
func (v *view) whyBlocks() string {
	sizes, steps := v.videos(), v.blocks()
	last := sizes[len(sizes)-1]
	slow, fast := v.mean(bertazziniBlock(steps[len(steps)-1])(last)), v.mean(v.best(steps, bertazziniBlock)(last))
	return fmt.Sprintf("With a thread for each row, small blocks spread over all multiprocessors and large ones over few: at %v those of %d take %s the time of the best.", last, steps[len(steps)-1], times(slow/fast))
}

// best is the fastest step of a sweep at a size.
func (v *view) best(steps []int, of func(int) func(Size) Spec) func(Size) Spec {
	return func(size Size) Spec {
		var specs []Spec
		for _, n := range steps {
			specs = append(specs, of(n)(size))
		}
		if r, ok := v.fastest(specs); ok {
			return r.Spec
		}
		return specs[0]
	}
}

func bertazziniCUDA(v *view) []block {
	ours := []named{{"boxsum from bytes, " + v.gpuShort(), often(ourGPU("u8"))}, {"boxsum, " + v.gpuShort(), often(ourGPU("u32"))}}
	blocks := []block{
		text("The same on the GPU, with one thread for every row between transposes, by the number of threads in a block; transfers are not counted. The figures are charts without numbers; the text says that all speed-ups over the sequential algorithm in C++ exceed 5."),
		v.sweepTable("Times in ms, on "+v.gpuName()+"; sequential is on one core.", "threads a block", v.blocks(), bertazziniBlock, ours),
	}
	duration, speedup := v.sweepCharts(v.blocks(), bertazziniBlock, "threads a block")
	duration.Title, speedup.Title = "A thread for each row, "+v.gpuShort(), "Speed-up over the sequential algorithm, "+v.gpuShort()
	blocks = append(blocks, draw("bertazzini-cuda", "Figure 6 again: mean time by threads of a block, on "+v.gpuName()+".", duration)...)
	blocks = append(blocks, draw("bertazzini-cuda-speedup", "Figure 8 again: speed-up over the sequential algorithm, on "+v.gpuName()+".", speedup)...)
	best := v.bySize("Sequential and GPU, by image size", v.videos(), []curve{
		{"sequential, CPU", plot.Style{Hue: 0}, bertazziniSequential, 1}, {"thread for each row, " + v.gpuShort(), plot.Style{Hue: 1}, v.best(v.blocks(), bertazziniBlock), 1},
		{"boxsum, " + v.gpuShort(), boxsumGPU, ours[1].of, 1}, {"boxsum from bytes, " + v.gpuShort(), boxsumToo, ours[0].of, 1},
	})
	blocks = append(blocks, draw("bertazzini-figure-7", "Figure 7 again: sequential beside the best block on "+v.gpuName()+".", best)...)
	least := math.Inf(1)
	var at Size
	for _, size := range v.videos() {
		if s := v.mean(bertazziniSequential(size)) / v.mean(v.best(v.blocks(), bertazziniBlock)(size)); s < least {
			least, at = s, size
		}
	}
	if math.IsInf(least, 1) {
		least = math.NaN()
	}
	return append(blocks, v.onlyGPU(judge("Bertazzini and Guiducci: the GPU is more than 5 times as fast as the sequential algorithm at every size", least, 5, 5, "bertazzini/cuda",
		fmt.Sprintf("The least speed-up is %s, at %v.", times(least), at), "With a thread for each row there are too few threads to keep a GPU busy.")))
}

func bertazziniBoth(v *view) []block {
	threads, device := v.best(v.threads(), bertazziniOn), v.best(v.blocks(), bertazziniBlock)
	t := &table{
		Caption: "Mean times in ms, each with its best number of threads.",
		Head:    []string{"image", "sequential", "threads", v.gpuShort(), "GPU over threads", "boxsum, CPU", "boxsum, " + v.gpuShort()},
	}
	mean := func(s Spec) cell { return v.spread(s)[0] }
	won, measured := 0, 0
	for _, size := range v.videos() {
		over := missing(v.get(device(size)).Missing)
		if r := v.mean(threads(size)) / v.mean(device(size)); !math.IsNaN(r) {
			over = cell{Text: times(r)}
			measured++
			if r < 1 {
				won++
			}
		}
		t.Rows = append(t.Rows, []cell{{size.String(), ""}, mean(bertazziniSequential(size)), mean(threads(size)), mean(device(size)), over, mean(ourCPU("u8")(size)), mean(ourGPU("u32")(size))})
	}
	share := math.NaN()
	if measured > 0 {
		share = float64(won) / float64(measured)
	}
	blocks := []block{
		text("The work compares its two parallel versions (figure 9) and finds Java threads a little faster than CUDA; and its sequential versions in Java and C++ (figure 10), of which there is one here."), t,
	}
	blocks = append(blocks, draw("bertazzini-both", "Figure 9 again: the best number of threads on the CPU beside the best block on "+v.gpuName()+".",
		v.bySize("CPU threads beside the GPU", v.videos(), []curve{
			{"threads, CPU", plot.Style{Hue: 0}, threads, 1}, {"thread for each row, " + v.gpuShort(), plot.Style{Hue: 1}, device, 1},
			{"boxsum, CPU", boxsumCPU, ourCPU("u8"), 1}, {"boxsum, " + v.gpuShort(), boxsumGPU, ourGPU("u32"), 1},
		}))...)
	return append(blocks, v.onlyGPU(judge("Bertazzini and Guiducci: threads on the CPU are a little faster than the GPU", share, 0, 1, "bertazzini/both",
		fmt.Sprintf("They are at %d of %d sizes.", won, measured), v.whyBlocks())))
}
