// Package kernels holds the kernels of package gpu: their sources, and what was
// built from them for CUDA.
//
// The portable kernels (portable.cl, carry.cl) are one source in two dialects,
// see dialect.h: OpenCL compiles it on the user's machine, CUDA gets it
// compiled ahead, as portable.cu lists it. So are those of turned tables, which
// turned.go names and tilted.cu and lattice.cu list, those of volumes and integral
// histograms (volume.go, volume.cu, histogram.cu), and those of package papers
// (papers.cl, papers.cu). For CUDA only there are one-pass
// kernels: onepass.h says how they work, shapes.h holds their tuning, sums.cu and
// squares.cu list them, and small.cu is for small images; volumepass.h and
// volumepass.cu are those of volumes, histogrampass.h and histogrampass.cu those of
// integral histograms. "make kernels" builds all of this into the folder built.
package kernels

import (
	"fmt"
	"slices"
	"strings"
)

// Types are what the portable kernels are made for: signed sums are the same
// bits as unsigned ones, so that u64 stands for i64 too. Square is empty where
// there are no squares.
type Types struct{ Pixel, Sum, Square string }

// pairs lists for each pixel its sums and its squares.
var pairs = []struct {
	pixel         string
	sums, squares []string
}{
	{"u8", []string{"u32", "u64", "f32", "f64"}, []string{"u64"}},
	{"u16", []string{"u64", "f64"}, []string{"u64"}},
	{"i16", []string{"u64"}, []string{"u64"}},
	{"i32", []string{"u64"}, []string{"u64", "f64"}},
	{"u32", []string{"u32", "u64"}, []string{"u64", "f64"}},
	{"f32", []string{"f32", "f64"}, []string{"f64"}},
	{"f64", []string{"f64"}, []string{"f64"}},
}

// accumulators are the types of all sums and squares.
var accumulators = []string{"u32", "u64", "f32", "f64"}

// All lists the types of every portable kernel over pixels.
func All() []Types {
	var all []Types
	for _, p := range pairs {
		for _, sum := range p.sums {
			for _, square := range append([]string{""}, p.squares...) {
				all = append(all, Types{p.pixel, sum, square})
			}
		}
	}
	return all
}

// MaxGroup is how many work-items a work-group has where the device allows it:
// fewer for wide sums, of which local memory holds fewer.
func (t Types) MaxGroup() int {
	if t.Sum[1:] == "64" || t.Square != "" {
		return 128
	}
	return 256
}

// Kernel is the name of a kernel over pixels, "totals" or "finish".
func (t Types) Kernel(name string) string {
	name = "portable_" + name + "_" + t.Pixel + "_" + t.Sum
	if t.Square != "" {
		name += "_" + t.Square
	}
	return name
}

// SumKernel is the name of a kernel over sums, "carry", "climb" or "boxes".
func SumKernel(name, sum string) string { return "portable_" + name + "_" + sum }

// define lists the macros that one instance of the source takes, the last of
// its names being the file.
func (t Types) define() (macros [][2]string, file string) {
	if t.Pixel == "" {
		return [][2]string{{"ACCUMULATOR", t.Sum}}, "carry.cl"
	}
	macros = [][2]string{{"PIXEL", t.Pixel}, {"SUM", t.Sum}}
	if t.Square != "" {
		macros = append(macros, [2]string{"SQUARE", t.Square})
	}
	if t.Sum == "f32" {
		macros = append(macros, [2]string{"TAKE_OFFSET", "1"})
	}
	return macros, "portable.cl"
}

// parse is what a kernel's name says of its types.
func parse(kernel string) (Types, error) {
	var t Types
	parts := strings.Split(kernel, "_")
	known := len(parts) >= 3 && parts[0] == "portable"
	if known {
		switch parts[1] {
		case "totals", "finish":
			for i, part := range parts[2:] {
				switch i {
				case 0:
					t.Pixel = part
				case 1:
					t.Sum = part
				case 2:
					t.Square = part
				}
			}
			known = len(parts) <= 5 && slices.Contains(All(), t)
		case "carry", "climb", "boxes":
			t.Sum = parts[2]
			known = len(parts) == 3 && slices.Contains(accumulators, t.Sum)
		default:
			known = false
		}
	}
	if !known {
		return t, fmt.Errorf("no kernel is called %q", kernel)
	}
	return t, nil
}
