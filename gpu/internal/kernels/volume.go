package kernels

import (
	"fmt"
	"slices"
)

// The kernels of volumes (volume.cl, volumeboxes.cl) and of integral histograms
// (histogram.cl, counts.cl) are in two dialects as the portable ones are, whose
// carries they share. volumepass.h has one-pass kernels of volumes, and histogrampass.h
// kernels of histograms, for CUDA only.

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

// How integral histograms are cut, see histogram.h: tiles of HistogramTile columns and
// bands of HistogramBand rows, of which HistogramAcross and HistogramBands are counted
// together. A team of HistogramTeam work-items has HistogramQuads times four bins; the
// work-groups of HistogramFinish are one, and those of the others HistogramGroup.
const (
	HistogramTile   = 32
	HistogramAcross = 2
	HistogramBand   = 32
	HistogramBands  = 2
	HistogramQuads  = 8
	HistogramTeam   = 32
	HistogramGroup  = 128
)

// HistogramPassKernels is the names of the kernels that make integral histograms in two
// launches, see histogrampass.h: across is how many columns a warp writes at a time.
func HistogramPassKernels(pixel string, across int) (count, write string) {
	from := "u16" // the bins of pixels
	if pixel == "u8" {
		from = pixel
	}
	return "histogrampass_count_" + pixel, fmt.Sprintf("histogrampass_write_%s_%d", from, across)
}

// How those cut images: tiles and strips of columns, blocks of HistogramPassThreads for
// a row, and batches of rows that a strip goes down at a time.
const (
	HistogramPassTile    = 32
	HistogramPassStrip   = 16
	HistogramPassThreads = 128
	HistogramPassBatch   = 32
)

// HistogramPassWriters is how many threads have a strip.
func HistogramPassWriters(across int) int { return min(32*HistogramPassStrip/across, 256) }

// A listed instance is part of a module and has some kernels.
type listed struct {
	instance
	module  string
	kernels []string
}

// further lists the instances of volumes and of integral histograms.
var further = func() (all []listed) {
	add := func(module, file string, headers []string, group int, macros [][2]string, kernels ...string) {
		all = append(all, listed{instance{file, headers, macros, group}, module, kernels})
	}
	volume := []string{"dialect.h", "job.h", "volume.h"}
	for _, p := range pairs {
		for _, sum := range p.sums {
			macros := [][2]string{{"PIXEL", p.pixel}, {"SUM", sum}}
			if sum == "f32" {
				macros = append(macros, [2]string{"TAKE_OFFSET", "1"})
			}
			add("volume", "volume.cl", volume, Types{Sum: sum}.MaxGroup(), macros, VolumeKernel(p.pixel, sum, false))
		}
		for _, square := range p.squares {
			macros := [][2]string{{"PIXEL", p.pixel}, {"SUM", square}, {"SQUARED", "1"}}
			add("volume", "volume.cl", volume, Types{Sum: square}.MaxGroup(), macros, VolumeKernel(p.pixel, square, true))
		}
	}
	for _, sum := range accumulators {
		add("volume", "volumeboxes.cl", volume, Types{Sum: sum}.MaxGroup(), [][2]string{{"ACCUMULATOR", sum}}, VolumeBoxes(sum))
	}
	histogram := []string{"dialect.h", "histogram.h", "counts.h"}
	for _, p := range pairs {
		add("histogram", "histogram.cl", histogram, HistogramGroup, [][2]string{{"PIXEL", p.pixel}, {"PIXEL_BYTES", size(p.pixel)}}, HistogramTotals(p.pixel))
	}
	add("histogram", "counts.cl", histogram, HistogramGroup, [][2]string{{"CARRY", "1"}}, HistogramCarry)
	add("histogram", "counts.cl", histogram, HistogramTeam, [][2]string{{"FINISH", "1"}}, HistogramFinish)
	return all
}()

// listedAs is the instance that has a kernel of both dialects, and false where that
// is one of the plain portable ones.
func listedAs(kernel string) (instance, bool) {
	for _, i := range further {
		if slices.Contains(i.kernels, kernel) {
			return i.instance, true
		}
	}
	return turned(kernel)
}
