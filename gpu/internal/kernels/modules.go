package kernels

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/boxsum/boxsum/internal/launch"
	"github.com/boxsum/boxsum/internal/raster"
)

// A module is a set of kernels that are built together for CUDA, from the .cu file with its name.
type module struct {
	name      string
	oldest    int        // lowest compute capability, times ten
	ptx       string     // PTX version that the kernels need; older drivers reject them
	headers   []string   // headers that instances and lines need
	instances []instance // sources in both dialects
	lines     []string   // macros with arguments, for CUDA only
}

// An instance is a source with its macros.
type instance struct {
	file    string
	macros  [][2]string
	group   int  // work-group size on CUDA
	always  bool // the same size with OpenCL
	kernels []string
	openCL  bool // not on CUDA
}

// Module returns the CUDA module that contains a kernel of both dialects.
func Module(kernel string) string {
	module, _, _ := strings.Cut(kernel, "_")
	return module
}

// find returns the instance that contains a kernel of both dialects, and its headers.
func find(kernel string) (instance, []string, error) {
	for _, m := range modules() {
		for _, i := range m.instances {
			if slices.Contains(i.kernels, kernel) {
				return i, m.headers, nil
			}
		}
	}
	return instance{}, nil, fmt.Errorf("no kernel is named %q", kernel)
}

// modules returns all modules, those of both dialects first. PTX 6.3 came with CUDA 10.0, and 7.1
// with CUDA 11.1. The list is created on first use, so that programs without GPUs do not pay for
// it.
func modules() []module {
	listed.once.Do(func() {
		listed.modules = []module{
			{"portable", 75, "6.3", []string{"dialect.h", "job.h"}, portableInstances(), nil},
			{"tilted", 75, "6.3", []string{"dialect.h", "job.h", "tilted.h"}, tiltedInstances(), nil},
			{"lattice", 75, "6.3", []string{"dialect.h", "job.h", "lattice.h"}, latticeInstances(), nil},
			{"volume", 75, "6.3", []string{"dialect.h", "job.h", "jobs/volume.h"}, volumeInstances(), nil},
			{"histogram", 75, "6.3", []string{"dialect.h", "histogram.h", "counts.h"}, histogramInstances(), nil},
			{"papers", 75, "6.3", []string{"dialect.h", "papers.h"}, papersInstances(), nil},
			{"filter", 75, "6.3", []string{"dialect.h", "filter.h"}, filterInstances(), nil},
			{"match", 75, "6.3", []string{"dialect.h", "jobs/match.h"}, []instance{{"match.cl", nil, MatchGroup, false, []string{MatchKernel}, false}}, nil},
			{"detect", 75, "6.3", []string{"dialect.h", "jobs/detect.h"}, detectInstances(), nil},
			{"ssim", 75, "6.3", []string{"dialect.h", "ssim.h"}, ssimInstances(), nil},
			{"hog", 75, "6.3", []string{"dialect.h", "jobs/hog.h"}, hogInstances(), nil},
			{"clahe", 75, "6.3", []string{"dialect.h", "clahe.h"}, claheInstances(), nil},
			{"rank", 75, "6.3", []string{"dialect.h", "rank.h"}, rankInstances(), nil},
			{"nlm", 75, "6.3", []string{"dialect.h", "nlm.h"}, nlmInstances(), nil},
			{"sums", 80, "7.1", []string{"plane_shapes.h"}, nil, planeLines("BOXSUM_SUMS", false)},
			{"squares", 80, "7.1", []string{"plane_shapes.h"}, nil, planeLines("BOXSUM_SQUARES", true)},
			{"small", 80, "7.1", []string{"small.h"}, nil, append(planeLines("BOXSUM_SMALL_SUMS", false), smallSquares()...)},
			{"volumepass", 80, "7.1", []string{"volume_shapes.h"}, nil, volumePassLines()},
			{"histogrampass", 80, "7.1", []string{"histogram_pass.h"}, nil, histogramPassLines()},
			{"filterpass", 80, "7.1", []string{"filter_pass.h"}, nil, filterPassLines()},
			{"tensor", 80, "7.1", []string{"tensor_down.h"}, nil, tensorLines()},
			{"filterstrip", 80, "7.1", []string{"filter_strip.h"}, nil, filterStripLines()},
			{"filterwindow", 80, "7.1", []string{"filter_window.h"}, nil, filterWindowLines()},
		}
	})
	return listed.modules
}

var listed struct {
	once    sync.Once
	modules []module
}

// accumulators lists the types of sums and squares.
var accumulators = func() (all []string) {
	for _, t := range raster.SumTypes() {
		if t.Bits() == t {
			all = append(all, t.Short())
		}
	}
	return all
}()

// onDevice returns the pairs that a kind of tables supports, for sums and for squares.
func onDevice(kind raster.Kinds) (sums, squares []Types) {
	for _, p := range raster.SumPairs.For(raster.OnDevice | kind) {
		if raster.SumPairs.Twin(p) == p {
			sums = append(sums, typesOf(p))
		}
	}
	for _, p := range raster.SquarePairs.For(raster.OnDevice | kind) {
		squares = append(squares, typesOf(p))
	}
	return sums, squares
}

// macros returns the definitions of the pixel and sum types, followed by more.
func (t Types) macros(more ...[2]string) [][2]string {
	all := append([][2]string{{"PIXEL", t.Pixel}, {"SUM", t.Sum}}, more...)
	switch {
	case t.Pixel[0] == 'f':
		all = append(all, [2]string{"FLOAT_PIXEL", "1"})
	case t.Sum == "f32":
		all = append(all, [2]string{"TAKE_OFFSET", "1"})
	}
	return all
}

// overSums returns an instance for each sum type.
func overSums(file string, group func(sum string) int, name func(name, sum string) string, kernels ...string) (all []instance) {
	for _, sum := range accumulators {
		i := instance{file: file, macros: [][2]string{{"ACCUMULATOR", sum}}, group: group(sum)}
		for _, kernel := range kernels {
			i.kernels = append(i.kernels, name(kernel, sum))
		}
		all = append(all, i)
	}
	return all
}

func maxGroup(sum string) int { return Types{Sum: sum}.MaxGroup() }

func portableInstances() (all []instance) {
	for _, t := range All() {
		macros := t.macros()
		if t.Square != "" {
			macros = slices.Insert(macros, 2, [2]string{"SQUARE", t.Square})
		}
		all = append(all, instance{file: "portable.cl", macros: macros, group: t.MaxGroup(), kernels: []string{t.Kernel("totals"), t.Kernel("finish")}})
	}
	return append(all, overSums("carry.cl", maxGroup, SumKernel, "carry", "climb", "boxes", "values")...)
}

// tiltedInstances returns the instances of sums of all tilted tables, and of those squares that
// cannot reuse them.
func tiltedInstances() (all []instance) {
	sums, squares := onDevice(raster.Tilted)
	add := func(t Types, quads, group int, more ...[2]string) {
		macros := append([][2]string{{"PIXEL", t.Pixel}, {"PIXEL_BYTES", size(t.Pixel)}, {"SUM", t.Sum}, {"SUM_BYTES", size(t.Sum)}}, more...)
		all = append(all, instance{file: "tilted.cl", macros: macros, group: group, kernels: []string{TiltedKernel("totals", t, quads), TiltedKernel("finish", t, quads)}})
	}
	for _, t := range sums {
		add(t, 0, t.MaxGroup())
		few, many, openCL := TiltedQuads(t)
		for _, quads := range slices.Compact([]int{few, many, openCL}) {
			add(t, quads, QuadsGroup, [2]string{"QUADS", fmt.Sprint(quads)})
			all[len(all)-1].openCL = quads > many
		}
	}
	for _, t := range squares {
		if !slices.Contains(sums, t) {
			add(t, 0, t.MaxGroup())
		}
	}
	all = append(all, overSums("diagonals.cl", maxGroup, DiagonalKernel, "lines", "windows", "boxes")...)
	return append(all, overSums("tilted_sums.cl", func(string) int { return SumsGroup }, DiagonalKernel, "sums")...)
}

func latticeInstances() []instance {
	all := overSums("lattice_boxes.cl", maxGroup, LatticeSums, "edges", "boxes", "lines")
	for _, bytes := range []int{1, 2, 4, 8} {
		macros := [][2]string{{"PIXEL", fmt.Sprintf("u%d", 8*bytes)}, {"PIXEL_BYTES", fmt.Sprint(bytes)}}
		all = append(all,
			instance{file: "lattice.cl", macros: macros, group: LatticeGroup, kernels: []string{LatticeKernel("lay", bytes)}},
			instance{file: "lattice_gray.cl", macros: macros, group: GrayGroup, kernels: []string{LatticeKernel("gray", bytes)}})
	}
	return all
}

func volumeInstances() (all []instance) {
	sums, squares := onDevice(raster.Volume)
	for _, t := range sums {
		all = append(all, instance{file: "volume.cl", macros: t.macros(), group: t.MaxGroup(), kernels: []string{VolumeKernel(t.Pixel, t.Sum, false)}})
	}
	for _, t := range squares {
		all = append(all, instance{file: "volume.cl", macros: t.macros([2]string{"SQUARED", "1"}), group: t.MaxGroup(), kernels: []string{VolumeKernel(t.Pixel, t.Sum, true)}})
	}
	return append(all, overSums("volumeboxes.cl", maxGroup, func(_, sum string) string { return VolumeBoxes(sum) }, "boxes")...)
}

func histogramInstances() (all []instance) {
	for _, pixel := range raster.SumPairs.For(raster.OnDevice).Pixels() {
		macros := [][2]string{{"PIXEL", pixel.Short()}, {"PIXEL_BYTES", size(pixel.Short())}}
		all = append(all, instance{file: "histogram.cl", macros: macros, group: HistogramGroup, kernels: []string{HistogramTotals(pixel.Short())}})
	}
	return append(all,
		instance{file: "counts.cl", macros: [][2]string{{"CARRY", "1"}}, group: HistogramGroup, kernels: []string{HistogramCarry}},
		instance{file: "counts.cl", macros: [][2]string{{"FINISH", "1"}}, group: HistogramTeam, kernels: []string{HistogramFinish}})
}

// filterInstances returns the kernels of column sums and of filters, for each pixel type.
func filterInstances() (all []instance) {
	for _, t := range [][2]string{{"u8", "u32"}, {"u16", "u64"}} {
		for _, name := range FilterKernels {
			macros := [][2]string{{"PIXEL", t[0]}, {"SQUARE", t[1]}, {strings.ToUpper(name), "1"}}
			all = append(all, instance{"filter.cl", macros, FilterGroup, false, []string{FilterKernel(name, t[0])}, false})
		}
	}
	return all
}

// ssimInstances returns the kernels that compare images, and the one that adds their sums.
func ssimInstances() []instance {
	types := func(pixel, square, word string) [][2]string {
		return [][2]string{{"PIXEL", pixel}, {"SQUARE", square}, {"WORD", word}}
	}
	return []instance{
		{file: "ssim.cl", macros: append(types("u8", "u32", "u32"), [2]string{"NARROW", "1"}), group: SSIMGroup, kernels: []string{SSIMKernel("u8", true)}},
		{file: "ssim.cl", macros: types("u8", "u32", "u64"), group: SSIMGroup, kernels: []string{SSIMKernel("u8", false)}},
		{file: "ssim.cl", macros: types("u16", "u64", "u64"), group: SSIMGroup, kernels: []string{SSIMKernel("u16", false)}},
		{file: "ssim.cl", macros: [][2]string{{"TOTAL", "1"}}, group: SSIMGroup, kernels: []string{SSIMTotal}},
	}
}

// claheInstances returns the kernels that count levels, make tables and map pixels.
func claheInstances() (all []instance) {
	for _, pixel := range []string{"u8", "u16"} {
		count, convert := CLAHEKernels(pixel)
		counting, mapping := [][2]string{{"PIXEL", pixel}, {"COUNT", "1"}}, [][2]string{{"PIXEL", pixel}, {"MAP", "1"}, {"WORD", "u64"}}
		if pixel == "u8" {
			counting, mapping = append(counting, [2]string{"LOCAL_COUNTS", "1"}), append(mapping[:2], [2]string{"WORD", "u32"}, [2]string{"LOCAL_TABLES", "1"})
		}
		all = append(all,
			instance{file: "clahe.cl", macros: counting, group: CLAHEGroup, kernels: []string{count}},
			instance{file: "clahe.cl", macros: mapping, group: CLAHEGroup, kernels: []string{convert}})
	}
	return append(all, instance{file: "clahe.cl", macros: [][2]string{{"TABLES", "1"}}, group: CLAHEGroup, kernels: []string{CLAHETables}})
}

// rankInstances returns the kernels of rank filters.
func rankInstances() []instance {
	kernel := func(name, pixel, macro string, group int) instance {
		return instance{file: "rank.cl", macros: [][2]string{{"PIXEL", pixel}, {macro, "1"}}, group: group, kernels: []string{name}}
	}
	return []instance{
		kernel(RankMean("u8"), "u8", "MEAN", RankGroup), kernel(RankMean("u16"), "u16", "MEAN", RankGroup),
		kernel(RankPercentile, "u8", "PERCENTILE", RankHistogramGroup), kernel(RankEqualize, "u8", "EQUALIZE", RankHistogramGroup),
	}
}

// nlmInstances returns the kernels of non-local means.
func nlmInstances() []instance {
	all := []instance{{file: "nlm.cl", macros: [][2]string{{"EXTEND", "1"}}, group: NLMGroup, kernels: []string{NLMExtend}}}
	add := func(pixel string, channels int, sum string) {
		name, rows := NLMKernel(pixel, channels)
		macros := [][2]string{{"PIXEL", pixel}, {"ROWS", fmt.Sprint(rows)}, {"CHANNELS", fmt.Sprint(channels)}, {"SUM", sum}}
		all = append(all, instance{file: "nlm.cl", macros: macros, group: NLMGroup, kernels: []string{name}})
	}
	add("u8", 1, "u32")
	add("u16", 1, "u64")
	add("u8", NLMChannels, "u64")
	add("u16", NLMChannels, "u64")
	return all
}

// detectInstances returns an instance for each kernel.
func detectInstances() (all []instance) {
	add := func(kernel string, macros ...string) {
		i := instance{file: "detect.cl", group: DetectGroup, kernels: []string{kernel}}
		for _, m := range macros {
			i.macros = append(i.macros, [2]string{m, "1"})
		}
		all = append(all, i)
	}
	add(DetectRows, "ROWS")
	add(DetectColumns, "COLUMNS")
	add(DetectDiagonals, "DIAGONALS")
	add(DetectSkip, "SKIP")
	add(DetectFirst(false), "FIRST")
	add(DetectFirst(true), "FIRST", "PATTERNS")
	add(DetectStages(false), "STAGES")
	add(DetectStages(true), "STAGES", "PATTERNS")
	return all
}

// hogInstances returns an instance for each kernel.
func hogInstances() []instance {
	return []instance{
		{file: "hog.cl", macros: [][2]string{{"GRADIENTS", "1"}}, group: HOGGroup, kernels: []string{HOGGradients}},
		{file: "hog.cl", macros: [][2]string{{"BLOCKS", "1"}, {"CHUNK", fmt.Sprint(HOGChunk)}}, group: HOGGroup, kernels: []string{HOGBlocks}},
		{file: "hog.cl", macros: [][2]string{{"NORMALIZE", "1"}}, group: HOGGroup, kernels: []string{HOGNormalize}},
		{file: "hog.cl", macros: [][2]string{{"SCORES", "1"}}, group: HOGGroup, kernels: []string{HOGScores}},
	}
}

// papersInstances returns an instance for each type of values. The work-group size is fixed: rows
// and columns work with any.
func papersInstances() (all []instance) {
	add := func(element string, macros [][2]string, names ...string) {
		i := instance{file: "papers.cl", macros: append([][2]string{{"ELEMENT", element}}, macros...), group: launch.Group, always: true}
		for _, name := range names {
			i.kernels = append(i.kernels, launch.Kernel(name, element))
		}
		all = append(all, i)
	}
	scan := []string{"transpose", "scan", "increment"}
	whole := append(slices.Clone(scan), "rows", "columns", "prefix")
	add("f32", [][2]string{{"STREAMS", "1"}}, append(slices.Clone(whole), "stream", "stream4", "stream8")...)
	add("f64", nil, whole...)
	add("u32", nil, whole...)
	add("f32x4", [][2]string{{"FOUR", "1"}}, scan...)
	return all
}

// planeLines returns the declarations of one-pass kernels, with squares or without.
func planeLines(macro string, squares bool) (lines []string) {
	for _, t := range OnePass() {
		if squares && t.Square != "" {
			lines = append(lines, line(macro, t.Pixel, t.Sum, t.Square))
		} else if !squares && t.Square == "" {
			lines = append(lines, line(macro, t.Pixel, t.Sum))
		}
	}
	return lines
}

// smallSquares returns the declarations of kernels of small images with squares.
func smallSquares() (lines []string) {
	for _, t := range OnePass() {
		if t.Square != "" && HasPath(TallPath, t, 1) {
			lines = append(lines, line("BOXSUM_SMALL_SQUARES", t.Pixel, t.Sum, t.Square))
		}
	}
	return lines
}

func volumePassLines() (lines []string) {
	sums, squares := onDevice(raster.Volume | raster.OnePass)
	for _, t := range sums {
		lines = append(lines, line("BOXSUM_VOLUME_SUMS", t.Pixel, t.Sum))
	}
	for _, t := range squares {
		lines = append(lines, line("BOXSUM_VOLUME_SQUARES", t.Pixel, t.Sum))
	}
	return lines
}

func histogramPassLines() (lines []string) {
	for _, pixel := range raster.SumPairs.For(raster.OnDevice).Pixels() {
		lines = append(lines, line("BOXSUM_COUNT", pixel.Short()))
	}
	return append(lines, line("BOXSUM_STRIPS", "u8"), line("BOXSUM_STRIPS", "u16"))
}

func filterPassLines() (lines []string) {
	for _, kind := range FilterKernels[1:] {
		for _, shape := range FilterPassShapes[kind] {
			lines = append(lines, line("BOXSUM_FILTER", kind, filterPassKinds[kind], fmt.Sprint(shape[0]), fmt.Sprint(shape[1])))
		}
	}
	return lines
}

// tensorLines returns the declarations of tables, sums from the opposite corner, and windows.
func tensorLines() (lines []string) {
	for _, t := range TensorTypes {
		for _, s := range TensorShapes(t) {
			numbers := []string{fmt.Sprint(s.Warps), fmt.Sprint(s.Rows), fmt.Sprint(s.Chunks), fmt.Sprint(s.Blocks)}
			lines = append(lines, line("BOXSUM_TENSOR", append([]string{"table", t.Pixel, t.Sum, "false"}, numbers...)...))
			if t.Pixel == t.Sum {
				lines = append(lines, line("BOXSUM_TENSOR", append([]string{"suffix", t.Pixel, t.Sum, "true"}, numbers...)...))
			}
		}
	}
	for _, name := range []string{"table", "suffix"} {
		for _, pixel := range TensorFloats {
			for _, s := range TensorDowns(name, pixel) {
				lines = append(lines, line("BOXSUM_TENSOR_DOWN", name, pixel, fmt.Sprint(name == "suffix"), fmt.Sprint(s.Warps), fmt.Sprint(s.Rows), fmt.Sprint(s.Stages),
					fmt.Sprint(s.Mids), fmt.Sprint(s.Chunks), fmt.Sprint(s.Blocks)))
			}
		}
	}
	for _, pixel := range TensorFloats {
		lines = append(lines, line("BOXSUM_WINDOW", pixel))
	}
	return lines
}

func filterStripLines() (lines []string) {
	for _, s := range FilterStripShapes {
		lines = append(lines, line("BOXSUM_FILTER_STRIP", s.Kernel, s.Strip, s.Of, fmt.Sprint(s.Ahead), fmt.Sprint(s.Blocks)))
	}
	return lines
}

func filterWindowLines() (lines []string) {
	for _, s := range FilterWindowShapes {
		lines = append(lines, line("BOXSUM_FILTER_WINDOW", s.Kernel, fmt.Sprint(s.Halves), fmt.Sprint(s.Decide), fmt.Sprint(s.Wide), fmt.Sprint(s.Ahead), fmt.Sprint(s.Blocks)))
	}
	return lines
}

// filterPassKinds maps kinds to their names in filter_pass.h.
var filterPassKinds = map[string]string{"box": "kBox", "stats": "kStats", "sauvola": "kSauvola"}

func line(macro string, args ...string) string { return macro + "(" + strings.Join(args, ", ") + ")" }

// size returns the size of a type for a macro.
func size(name string) string {
	t, _ := raster.ParseType(name)
	return fmt.Sprint(t.Bytes())
}
