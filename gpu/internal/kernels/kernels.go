// Package kernels holds the kernels of package gpu: their sources, and what was
// built from them for CUDA.
//
// Most are one source in two dialects, see dialect.h: OpenCL compiles it on the
// user's machine, CUDA gets it compiled ahead. For CUDA only there are faster
// kernels, in layers:
//
//	common.h, warp.h, lookback.h, async.h   what they share
//	plane_*.h, small.h                      tables of images in one pass
//	volume_*.h                              tables of volumes in one pass
//	histogram_*.h                           integral histograms in two launches
//	tensor*.h                               batches of planes of floats
//
// Folder jobs has what the host tells a kernel. modules.go lists every kernel, from
// the pairs of types in package pairs; "go test ./gpu/internal/kernels -update" writes
// the .cu files from that list, and "make kernels" builds them into the folder built.
package kernels

import (
	"fmt"
	"strconv"

	"github.com/boxsum/boxsum/internal/raster"
)

// Types are what the portable kernels are made for: signed sums are the same
// bits as unsigned ones, so that u64 stands for i64 too. Square is empty where
// there are no squares.
type Types struct{ Pixel, Sum, Square string }

// All lists the types of every portable kernel over pixels, and OnePass those of the
// one-pass kernels.
func All() []Types     { return withSquares(raster.OnDevice) }
func OnePass() []Types { return withSquares(raster.OnDevice | raster.OnePass) }

func withSquares(kind raster.Kinds) (all []Types) {
	sums, _ := onDevice(kind)
	for _, t := range sums {
		all = append(all, t)
		pixel, _ := raster.ParseType(t.Pixel)
		for _, square := range raster.SquarePairs.For(kind).Of(pixel) {
			t.Square = square.Short()
			all = append(all, t)
		}
	}
	return all
}

// typesOf is a pair as kernels name it.
func typesOf(p raster.Pair) Types { return Types{Pixel: p.Pixel.Short(), Sum: p.Sum.Bits().Short()} }

// MaxGroup is how many work-items a work-group has where the device allows it:
// fewer for wide sums, of which local memory holds fewer.
func (t Types) MaxGroup() int {
	if t.Sum[1:] == "64" || t.Square != "" {
		return 128
	}
	return 256
}

// String is the types as names of kernels have them.
func (t Types) String() string {
	if t.Square != "" {
		return t.Pixel + "_" + t.Sum + "_" + t.Square
	}
	return t.Pixel + "_" + t.Sum
}

// Kernel is the name of a kernel over pixels, "totals" or "finish".
func (t Types) Kernel(name string) string { return "portable_" + name + "_" + t.String() }

// PlaneChannels is how many interleaved channels the one-pass kernels take.
const PlaneChannels = 4

// The paths of one-pass kernels: in the first, blocks draw tile after tile and look back;
// in the others each has one tile, the lowest in FlatPath and the highest in TallPath.
const (
	TilePath  = "fast"
	FlatPath  = "flat"
	SmallPath = "small"
	TallPath  = "tall"
)

// PlaneKernel is the name of a one-pass kernel, of module "sums", "squares" or "small".
func PlaneKernel(path string, t Types, channels int) string {
	return fmt.Sprintf("%s_%v_c%d", path, t, channels)
}

// HasPath reports whether there is a kernel for a path: those of small images take
// room, so that for squares and for the highest tiles there are those that are used most.
func HasPath(path string, t Types, channels int) bool {
	switch {
	case path == TilePath:
		return true
	case t.Square != "":
		return path != FlatPath && channels == 1 && (t.Pixel == "u8" || t.Pixel == "u16" || t.Pixel == "f32")
	}
	return path != TallPath || channels == 1
}

// SumKernel is the name of a kernel over sums, "carry", "climb" or "boxes", or over any
// values of their type, "values".
func SumKernel(name, sum string) string { return "portable_" + name + "_" + sum }

// TiltedKernel is the name of a kernel over pixels, "totals" or "finish". Where quads is
// not 0, a work-item has four neighbouring pixels of one channel, and tiles are quads
// times as wide as 32 of these.
func TiltedKernel(name string, t Types, quads int) string {
	if quads > 0 {
		name += fmt.Sprintf("4x%d", quads)
	}
	return "tilted_" + name + "_" + t.Pixel + "_" + t.Sum
}

// TiltedQuads is how wide tiles of quads are: on CUDA, where a work-group is a warp, for
// few and for many of them, and with OpenCL.
func TiltedQuads(t Types) (few, many, openCL int) {
	if t.Sum[1:] == "64" {
		return 1, 1, 2
	}
	return 1, 2, 4
}

// DiagonalKernel is the name of a kernel of tilted tables over sums, "lines",
// "windows" or "boxes", or "sums", which only CUDA has.
func DiagonalKernel(name, sum string) string { return "tilted_" + name + "_" + sum }

// LatticeKernel is the name of the kernel that lays pixels of this size out in
// the cells of a rotation, "lay", or "gray" for images of one channel.
func LatticeKernel(name string, bytes int) string {
	return fmt.Sprintf("lattice_%s_u%d", name, 8*bytes)
}

// LatticeSums is the name of a kernel of rotated tables over sums, "edges" or
// "boxes".
func LatticeSums(name, sum string) string { return "lattice_" + name + "_" + sum }

// VolumeKernel is the name of the kernel that makes the tables of volumes, or, where
// squares is set, those of the squares of their voxels.
func VolumeKernel(pixel, sum string, squares bool) string {
	if squares {
		return "volume_square_" + pixel + "_" + sum
	}
	return "volume_finish_" + pixel + "_" + sum
}

// VolumeBoxes is the name of the kernel that answers boxes of volumes.
func VolumeBoxes(sum string) string { return "volume_boxes_" + sum }

// VolumePassKernel is the name of a one-pass kernel of volumes, or, where squares is
// set, of the squares of their voxels.
func VolumePassKernel(pixel, sum string, squares bool) string {
	if squares {
		return "volumepass_square_" + pixel + "_" + sum
	}
	return "volumepass_" + pixel + "_" + sum
}

// VolumePassPlanes is the name of the kernel that adds up slabs of slices for a
// one-pass kernel.
func VolumePassPlanes(kernel string) string { return kernel + "_planes" }

// HistogramTotals is the name of the kernel that finds the bins of pixels.
func HistogramTotals(pixel string) string { return "histogram_totals_" + pixel }

// HistogramCarry and HistogramFinish are the names of the kernels that carry counts
// on, and that write integral histograms.
const (
	HistogramCarry  = "histogram_carry_u32"
	HistogramFinish = "histogram_finish_u32"
)

// HistogramPassKernels is the names of the kernels that make integral histograms in two
// launches, see histogram_pass.h: across is how many columns a warp writes at a time.
func HistogramPassKernels(pixel string, across int) (count, write string) {
	from := "u16" // the bins of pixels
	if pixel == "u8" {
		from = pixel
	}
	return "histogrampass_count_" + pixel, fmt.Sprintf("histogrampass_write_%s_%d", from, across)
}

// FilterKernels are the kernels of filters: sums of columns, and what is made of them.
var FilterKernels = []string{"columns", "box", "stats", "sauvola"}

// FilterKernel is the name of one of them.
func FilterKernel(name, pixel string) string {
	if name == "stats" || name == "sauvola" {
		return "filter_" + name + "_" + pixel + "_f64"
	}
	return "filter_" + name + "_" + pixel
}

// FilterPassShapes are the kernels that filter bytes in one launch, see filter_pass.h: how
// many columns a lane has, and how many blocks a processor at least. The first is used.
var FilterPassShapes = map[string][][2]int{
	"box":     {{8, 10}},
	"stats":   {{8, 6}},
	"sauvola": {{8, 6}},
}

// FilterPassKernel is the name of one of them.
func FilterPassKernel(kind string, columns, blocks int) string {
	return fmt.Sprintf("filterpass_%s_%d_%d", kind, columns, blocks)
}

// TensorFloats are the floats of batches of planes, and TensorTypes those of their tables, see tensor.h.
var (
	TensorFloats = []string{"f16", "bf16", "f32", "f64"}
	TensorTypes  = []Types{
		{Pixel: "f16", Sum: "f32"}, {Pixel: "f16", Sum: "f64"}, {Pixel: "bf16", Sum: "f32"}, {Pixel: "bf16", Sum: "f64"},
		{Pixel: "f32", Sum: "f32"}, {Pixel: "f64", Sum: "f64"},
	}
)

// A TensorShape is the warps of a block, the rows of each, the chunks of 128 columns, and blocks of a multiprocessor at least.
type TensorShape struct{ Warps, Rows, Chunks, Blocks int }

// TensorShapes are those of the kernels for pixels and sums: that for narrow planes, and the other. What a thread has of a band
// must fit its registers.
func TensorShapes(t Types) []TensorShape {
	switch {
	case t.Sum == "f64":
		return []TensorShape{{8, 2, 2, 2}, {8, 2, 4, 1}}
	case t.Pixel == "f32":
		return []TensorShape{{8, 2, 2, 4}, {16, 2, 4, 1}}
	}
	return []TensorShape{{8, 4, 2, 4}, {16, 4, 4, 1}}
}

// A TensorDown is the shape of a kernel that goes down planes: see tensor_down.h.
type TensorDown struct{ Warps, Rows, Stages, Mids, Chunks, Blocks int }

// TensorDowns are those for sums of float32, by the columns that they have room for: none where there is no such kernel.
func TensorDowns(name, pixel string) []TensorDown {
	switch {
	case name == "suffix" && pixel == "f32":
		return []TensorDown{{8, 16, 1, 2, 2, 4}, {16, 16, 3, 2, 4, 1}}
	case name == "table" && pixel == "f32":
		return []TensorDown{{9, 32, 1, 2, 2, 2}, {12, 16, 3, 2, 4, 1}}
	case name == "table" && (pixel == "f16" || pixel == "bf16"):
		return []TensorDown{{9, 16, 1, 2, 2, 4}, {32, 32, 3, 1, 4, 1}}
	}
	return nil
}

// Kernel is its name, and Shared the bytes of shared memory of a block.
func (s TensorDown) Kernel(name, pixel string) string {
	return fmt.Sprintf("tensor_%s_%s_down_%d", name, pixel, s.Chunks)
}
func (s TensorDown) Shared(pixelBytes int) int {
	wide := 128 * s.Chunks
	return s.Stages*(s.Rows*(wide*pixelBytes+16)+16) + s.Mids*s.Rows*wide*4 + (8*s.Stages+15)&^15
}

// TensorCluster is how many blocks share a plane at most.
const TensorCluster = 8

// TensorKernel is the name of a kernel of tables, "table", or of sums from the other corner, "suffix", and TensorWindow that
// of sums of windows.
func TensorKernel(name string, t Types, s TensorShape) string {
	return fmt.Sprintf("tensor_%s_%v_%d", name, t, s.Chunks)
}
func TensorWindow(pixel string) string { return "tensor_window_" + pixel }

// FilterStripShapes are the kernels that filter bytes by strips, see filter_strip.h: what they are
// there, how many rows are loaded ahead, and how many blocks a processor has at least.
var FilterStripShapes = []struct {
	Kernel, Strip, Of string
	Ahead, Blocks     int
}{
	{FilterStripMean, "Mean", "false", 4, 5},
	{FilterStripWide, "Mean", "true", 1, 6},
	{FilterStripDecide, "Decide", strconv.Itoa(FilterStripLane), 1, 4},
}

// Their names, and that of the one before them.
const (
	FilterStripMean   = "filterstrip_mean"
	FilterStripWide   = "filterstrip_wide"
	FilterStripDecide = "filterstrip_decide"
	FilterStripEdges  = "filterstrip_edges"
)

// A FilterWindowShape is a kernel that sums windows of bytes on tensor cores, see filter_window.h: how many halves of products
// windows lie in, whether it decides or makes means, for wide sums or others, how many rows are fetched ahead, and for how many
// blocks, which are warps, a processor should have registers: as measured on an H200.
type FilterWindowShape struct {
	Kernel        string
	Halves        int
	Decide, Wide  bool
	Ahead, Blocks int
}

// FilterWindowShapes are those that there are. Of kernels that would do, the first does.
var FilterWindowShapes = []FilterWindowShape{
	{"filterwindow_mean_2", 2, false, false, 4, 10},
	{"filterwindow_mean_3", 3, false, true, 4, 10},
	{"filterwindow_decide_2", 2, true, false, 3, 12},
	{"filterwindow_decide_3", 3, true, true, 3, 12},
}

// Lead is how many columns a window has to either side at most.
func (s FilterWindowShape) Lead() int {
	if s.Halves == 2 {
		return 8
	}
	return 8 * (s.Halves - 1)
}

// Columns is how many results of a strip there are, and where the first is.
func (s FilterWindowShape) Columns() (each, first int) {
	if s.Halves == 2 {
		first = -8
	}
	return 16 * (33 - s.Halves), first
}

// Slots is how many rows a strip has at once, and Shared the bytes of shared memory that they take.
func (s FilterWindowShape) Slots(rows int) int  { return rows + s.Ahead }
func (s FilterWindowShape) Shared(rows int) int { return FilterWindowRow*(s.Slots(rows)+3) + 160 }

// MatchKernel is the name of the kernel that scores places of a template.
const MatchKernel = "match_scores_u8_f64"

// The kernels of detectors, in their order: tables, the first stage and what is skipped
// after it, and the others.
const (
	DetectRows      = "detect_rows"
	DetectColumns   = "detect_columns"
	DetectDiagonals = "detect_diagonals"
	DetectSkip      = "detect_skip"
)

// DetectFirst and DetectStages are the names of those with features, or local binary
// patterns.
func DetectFirst(patterns bool) string  { return "detect_first_" + detectKind(patterns) }
func DetectStages(patterns bool) string { return "detect_stages_" + detectKind(patterns) }

func detectKind(patterns bool) string {
	if patterns {
		return "patterns_f64"
	}
	return "haar_f64"
}
