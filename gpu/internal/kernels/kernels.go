// Package kernels holds the kernels of package gpu: their sources, and what is built from them for
// CUDA.
//
// Most kernels are one source in two dialects, see dialect.h: OpenCL compiles it on the user's
// machine, and for CUDA it is compiled ahead of time. Only CUDA has the faster kernels, in layers:
//
//	common.h, warp.h, lookback.h, async.h   shared code
//	plane_*.h, small.h                      tables of images in one pass
//	volume_*.h                              tables of volumes in one pass
//	histogram_*.h                           integral histograms in two launches
//	tensor*.h                               batches of planes of floats
//
// Package jobs holds the structs that the host passes to kernels. modules.go lists every kernel,
// given the pairs of types in package raster; "go test ./gpu/internal/kernels -update" writes the
// .cu files from that list, and "make kernels" builds them into the directory built.
package kernels

import (
	"fmt"
	"strconv"

	"github.com/boxsum/boxsum/internal/raster"
)

// Types are the types of a portable kernel. Signed sums have the same bits as unsigned ones, so u64
// also stands for i64. Square is empty for kernels without squares.
type Types struct{ Pixel, Sum, Square string }

// All returns the types of every portable kernel over pixels, and OnePass those of the one-pass
// kernels.
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

// typesOf returns a pair as it appears in the names of kernels.
func typesOf(p raster.Pair) Types { return Types{Pixel: p.Pixel.Short(), Sum: p.Sum.Bits().Short()} }

// MaxGroup returns the work-group size that the kernels are written for: smaller for wide sums, of
// which local memory holds fewer.
func (t Types) MaxGroup() int {
	if t.Sum[1:] == "64" || t.Square != "" {
		return 128
	}
	return 256
}

// String returns the types as they appear in the names of kernels.
func (t Types) String() string {
	if t.Square != "" {
		return t.Pixel + "_" + t.Sum + "_" + t.Square
	}
	return t.Pixel + "_" + t.Sum
}

// Kernel returns the name of a kernel over pixels, such as "totals" or "finish".
func (t Types) Kernel(name string) string { return "portable_" + name + "_" + t.String() }

// PlaneChannels is the largest number of interleaved channels that the one-pass kernels support.
const PlaneChannels = 4

// The paths of one-pass kernels. In TilePath, blocks draw tile after tile and look back. In the
// others each block has one tile, which is lowest in FlatPath and highest in TallPath.
const (
	TilePath  = "fast"
	FlatPath  = "flat"
	SmallPath = "small"
	TallPath  = "tall"
)

// PlaneKernel returns the name of a one-pass kernel, of module "sums", "squares" or "small".
func PlaneKernel(path string, t Types, channels int) string {
	return fmt.Sprintf("%s_%v_c%d", path, t, channels)
}

// HasPath reports whether there is a kernel for a path. To save space, small images of squares and
// the highest tiles have kernels only for the most common types.
func HasPath(path string, t Types, channels int) bool {
	switch {
	case path == TilePath:
		return true
	case t.Square != "":
		return path != FlatPath && channels == 1 && (t.Pixel == "u8" || t.Pixel == "u16" || t.Pixel == "f32")
	}
	return path != TallPath || channels == 1
}

// SumKernel returns the name of a kernel over sums, "carry", "climb" or "boxes", or over any values
// of their type, "values".
func SumKernel(name, sum string) string { return "portable_" + name + "_" + sum }

// TiltedKernel returns the name of a kernel over pixels, "totals" or "finish". If quads is not 0, a
// work-item processes four neighboring pixels of one channel, and tiles are 32*quads work-items
// wide.
func TiltedKernel(name string, t Types, quads int) string {
	if quads > 0 {
		name += fmt.Sprintf("4x%d", quads)
	}
	return "tilted_" + name + "_" + t.Pixel + "_" + t.Sum
}

// TiltedQuads returns the width of tiles in quads: on CUDA, where a work-group is a warp, for few
// and for many warps, and with OpenCL.
func TiltedQuads(t Types) (few, many, openCL int) {
	if t.Sum[1:] == "64" {
		return 1, 1, 2
	}
	return 1, 2, 4
}

// DiagonalKernel returns the name of a kernel of tilted tables over sums, "lines", "windows" or
// "boxes", or "sums", which only CUDA has.
func DiagonalKernel(name, sum string) string { return "tilted_" + name + "_" + sum }

// LatticeKernel returns the name of the kernel that places pixels of a size in the cells of a
// rotation, "lay", or "gray" for images of one channel.
func LatticeKernel(name string, bytes int) string {
	return fmt.Sprintf("lattice_%s_u%d", name, 8*bytes)
}

// LatticeSums returns the name of a kernel of rotated tables over sums, "edges", "boxes" or "lines".
func LatticeSums(name, sum string) string { return "lattice_" + name + "_" + sum }

// VolumeKernel returns the name of the kernel that computes the tables of volumes or, if squares is
// set, those of the squares of their voxels.
func VolumeKernel(pixel, sum string, squares bool) string {
	if squares {
		return "volume_square_" + pixel + "_" + sum
	}
	return "volume_finish_" + pixel + "_" + sum
}

// VolumeBoxes returns the name of the kernel that sums boxes of volumes.
func VolumeBoxes(sum string) string { return "volume_boxes_" + sum }

// VolumePassKernel returns the name of a one-pass kernel of volumes or, if squares is set, of the
// squares of their voxels.
func VolumePassKernel(pixel, sum string, squares bool) string {
	if squares {
		return "volumepass_square_" + pixel + "_" + sum
	}
	return "volumepass_" + pixel + "_" + sum
}

// VolumePassPlanes returns the name of the kernel that adds up slabs of slices for a one-pass
// kernel.
func VolumePassPlanes(kernel string) string { return kernel + "_planes" }

// HistogramTotals returns the name of the kernel that finds the bins of pixels.
func HistogramTotals(pixel string) string { return "histogram_totals_" + pixel }

// HistogramCarry and HistogramFinish are the names of the kernels that propagate counts between
// tiles, and that write integral histograms.
const (
	HistogramCarry  = "histogram_carry_u32"
	HistogramFinish = "histogram_finish_u32"
)

// HistogramPassKernels returns the names of the kernels that compute integral histograms in two
// launches, see histogram_pass.h. across is the number of columns that a warp writes at a time, and
// wide selects strips of HistogramPassWide columns, for which across must be 1.
func HistogramPassKernels(pixel string, across int, wide bool) (count, write string) {
	from := "u16" // the type of the bins of pixels
	if pixel == "u8" {
		from = pixel
	}
	if wide {
		return "histogrampass_count_" + pixel, fmt.Sprintf("histogrampass_write_%s_wide", from)
	}
	return "histogrampass_count_" + pixel, fmt.Sprintf("histogrampass_write_%s_%d", from, across)
}

// FilterKernels lists the portable kernels of filters: that of column sums, and those that use
// them.
var FilterKernels = []string{"columns", "box", "stats", "sauvola"}

// FilterKernel returns the full name of a kernel in FilterKernels for a pixel type.
func FilterKernel(name, pixel string) string {
	if name == "stats" || name == "sauvola" {
		return "filter_" + name + "_" + pixel + "_f64"
	}
	return "filter_" + name + "_" + pixel
}

// FilterPassShapes lists the kernels that filter bytes in one launch, see filter_pass.h: the number
// of columns of a lane, and the minimum number of blocks on a multiprocessor. The first of each
// kind is used.
var FilterPassShapes = map[string][][2]int{
	"box":     {{8, 10}},
	"stats":   {{8, 6}},
	"sauvola": {{8, 6}},
}

// FilterPassKernel returns the full name of a kernel in FilterPassShapes.
func FilterPassKernel(kind string, columns, blocks int) string {
	return fmt.Sprintf("filterpass_%s_%d_%d", kind, columns, blocks)
}

// TensorFloats lists the float types of batches of planes, and TensorTypes those of their tables;
// see tensor.h.
var (
	TensorFloats = []string{"f16", "bf16", "f32", "f64"}
	TensorTypes  = []Types{
		{Pixel: "f16", Sum: "f32"}, {Pixel: "f16", Sum: "f64"}, {Pixel: "bf16", Sum: "f32"}, {Pixel: "bf16", Sum: "f64"},
		{Pixel: "f32", Sum: "f32"}, {Pixel: "f64", Sum: "f64"},
	}
)

// A TensorShape holds the warps of a block, the rows of a warp, the number of chunks of 128
// columns, and the minimum number of blocks on a multiprocessor.
type TensorShape struct{ Warps, Rows, Chunks, Blocks int }

// TensorShapes returns the shapes of the kernels for types: that for narrow planes, and the other.
// A thread's part of a band must fit in registers.
func TensorShapes(t Types) []TensorShape {
	switch {
	case t.Sum == "f64":
		return []TensorShape{{8, 2, 2, 2}, {8, 2, 4, 1}}
	case t.Pixel == "f32":
		return []TensorShape{{8, 2, 2, 4}, {16, 2, 4, 1}}
	}
	return []TensorShape{{8, 4, 2, 4}, {16, 4, 4, 1}}
}

// A TensorDown is the shape of a kernel that processes planes from top to bottom; see
// tensor_down.h.
type TensorDown struct{ Warps, Rows, Stages, Mids, Chunks, Blocks int }

// TensorDowns returns the shapes for float32 sums by increasing width, or none if there is no such
// kernel.
func TensorDowns(name, pixel string) []TensorDown {
	switch {
	case name == "suffix" && pixel == "f32":
		return []TensorDown{{8, 16, 1, 2, 2, 4}, {16, 16, 3, 2, 4, 1}}
	case name == "table" && pixel == "f32":
		return []TensorDown{{16, 32, 2, 2, 1, 2}, {9, 32, 1, 2, 2, 2}, {12, 16, 3, 2, 4, 1}}
	case name == "table" && (pixel == "f16" || pixel == "bf16"):
		return []TensorDown{{9, 16, 1, 2, 2, 4}, {32, 32, 3, 1, 4, 1}}
	}
	return nil
}

// Kernel returns the name of the kernel, and Shared the bytes of shared memory of a block.
func (s TensorDown) Kernel(name, pixel string) string {
	return fmt.Sprintf("tensor_%s_%s_down_%d", name, pixel, s.Chunks)
}
func (s TensorDown) Shared(pixelBytes int) int {
	wide := 128 * s.Chunks
	return s.Stages*(s.Rows*(wide*pixelBytes+16)+16) + s.Mids*s.Rows*wide*4 + (8*s.Stages+15)&^15
}

// TensorCluster is the largest number of blocks that share a plane.
const TensorCluster = 8

// TensorKernel returns the name of a kernel of tables, "table", or of sums from the opposite
// corner, "suffix". TensorWindow returns that of window sums.
func TensorKernel(name string, t Types, s TensorShape) string {
	return fmt.Sprintf("tensor_%s_%v_%d", name, t, s.Chunks)
}
func TensorWindow(pixel string) string { return "tensor_window_" + pixel }

// FilterStripShapes lists the kernels that filter bytes in strips, see filter_strip.h: their
// template arguments, the number of rows loaded ahead, and the minimum number of blocks on a
// multiprocessor.
var FilterStripShapes = []struct {
	Kernel, Strip, Of string
	Ahead, Blocks     int
}{
	{FilterStripMean, "Mean", "false", 4, 5},
	{FilterStripWide, "Mean", "true", 1, 6},
	{FilterStripDecide, "Decide", strconv.Itoa(FilterStripLane), 1, 4},
}

// The names of the strip kernels, and of the kernel that runs before them.
const (
	FilterStripMean   = "filterstrip_mean"
	FilterStripWide   = "filterstrip_wide"
	FilterStripDecide = "filterstrip_decide"
	FilterStripEdges  = "filterstrip_edges"
)

// A FilterWindowShape describes a kernel that sums windows of bytes on tensor cores, see
// filter_window.h: the number of matrix halves that windows span, whether it thresholds or
// computes means, whether it is for wide sums, the number of rows fetched ahead, and the number
// of blocks, each one warp, for which registers are limited, as measured on an H200.
type FilterWindowShape struct {
	Kernel        string
	Halves        int
	Decide, Wide  bool
	Ahead, Blocks int
}

// FilterWindowShapes lists the kernels. The first one that supports a filter is used.
var FilterWindowShapes = []FilterWindowShape{
	{"filterwindow_mean_2", 2, false, false, 4, 10},
	{"filterwindow_mean_3", 3, false, true, 4, 10},
	{"filterwindow_decide_2", 2, true, false, 3, 12},
	{"filterwindow_decide_3", 3, true, true, 3, 12},
}

// Lead returns the greatest number of columns of a window on either side of its pixel.
func (s FilterWindowShape) Lead() int {
	if s.Halves == 2 {
		return 8
	}
	return 8 * (s.Halves - 1)
}

// Columns returns the number of results in a strip, and the position of the first.
func (s FilterWindowShape) Columns() (each, first int) {
	if s.Halves == 2 {
		first = -8
	}
	return 16 * (33 - s.Halves), first
}

// Slots returns the number of rows that a strip holds at once, and Shared the bytes of shared
// memory for them.
func (s FilterWindowShape) Slots(rows int) int  { return rows + s.Ahead }
func (s FilterWindowShape) Shared(rows int) int { return FilterWindowRow*(s.Slots(rows)+3) + 160 }

// MatchKernel is the name of the kernel that scores the positions of a template.
const MatchKernel = "match_scores_u8_f64"

// The kernels of detectors in the order of their launches: tables, the first stage and the windows
// that it skips, and the other stages.
const (
	DetectRows      = "detect_rows"
	DetectColumns   = "detect_columns"
	DetectDiagonals = "detect_diagonals"
	DetectSkip      = "detect_skip"
)

// DetectFirst and DetectStages return the names of the kernels of stages, for Haar-like features or
// local binary patterns.
func DetectFirst(patterns bool) string  { return "detect_first_" + detectKind(patterns) }
func DetectStages(patterns bool) string { return "detect_stages_" + detectKind(patterns) }

func detectKind(patterns bool) string {
	if patterns {
		return "patterns_f64"
	}
	return "haar_f64"
}

// SSIMKernel returns the name of the kernel that compares images. If narrow is set, products of sums over a window fit in
// 32 bits. SSIMTotal is the name of the kernel that adds sums of scores.
func SSIMKernel(pixel string, narrow bool) string {
	if narrow {
		return "ssim_narrow_" + pixel + "_f64"
	}
	return "ssim_wide_" + pixel + "_f64"
}

const SSIMTotal = "ssim_total_f64"

// The kernels of histograms of oriented gradients in the order of their launches.
const (
	HOGGradients = "hog_gradients_f64"
	HOGBlocks    = "hog_blocks_f64"
	HOGNormalize = "hog_normalize_f64"
	HOGScores    = "hog_scores_f64"
)

// CLAHEKernels returns the names of the kernels of CLAHE that count levels and that map pixels. CLAHETables is the name of
// the one between them.
func CLAHEKernels(pixel string) (count, convert string) {
	return "clahe_count_" + pixel, "clahe_map_" + pixel
}

const CLAHETables = "clahe_tables"

// RankMean returns the name of the kernel of means, rounded down. RankPercentile and RankEqualize are the names of those of
// percentiles and of local histogram equalization of bytes.
func RankMean(pixel string) string { return "rank_mean_" + pixel }

const (
	RankPercentile = "rank_percentile_u8_f64"
	RankEqualize   = "rank_equalize_u8"
)

// NLMKernel returns the name of the kernel of non-local means for a number of channels, and how many rows of results a
// work-item has. NLMExtend is the name of the kernel that runs before it.
func NLMKernel(pixel string, channels int) (name string, rows int) {
	if channels == 1 {
		return "nlm_gray_" + pixel, 8
	}
	return "nlm_any_" + pixel, 4
}

const NLMExtend = "nlm_extend"
