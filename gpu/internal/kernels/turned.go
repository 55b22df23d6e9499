package kernels

import (
	"fmt"
	"slices"
	"strings"
)

// The kernels of turned tables, tilted by 45° (tilted.cl, diagonals.cl) or along
// the lines of a ratio (lattice.cl), are in two dialects as the
// portable ones are, each in a module of its own.

// TiltedKernel is the name of a kernel over pixels, "totals" or "finish". Where
// quads is set, a work-item has four neighbouring pixels of one channel.
func TiltedKernel(name string, t Types, quads bool) string {
	if quads {
		name += "4"
	}
	return "tilted_" + name + "_" + t.Pixel + "_" + t.Sum
}

// DiagonalKernel is the name of a kernel of tilted tables over sums, "lines",
// "windows" or "boxes", or "sums", which only CUDA has.
func DiagonalKernel(name, sum string) string { return "tilted_" + name + "_" + sum }

// LatticeKernel is the name of the kernel that lays pixels of so many bytes out in
// the cells of a rotation, "lay", or "gray" for images of one channel.
func LatticeKernel(name string, bytes int) string {
	return fmt.Sprintf("lattice_%s_u%d", name, 8*bytes)
}

// A tile of a lattice has LatticeGroup work-items at most, rows of LatticeValues
// values, and LatticeRows of these, divided by the bytes of a value; one of a gray
// image has GrayGroup, GrayCells and GrayRows. RegionColumns and RegionRows are those of
// lattice.h.
const (
	LatticeGroup  = 256
	LatticeValues = 256
	LatticeRows   = 64
	GrayGroup     = 128
	GrayCells     = 128
	GrayRows      = 128
	RegionColumns = 256
	RegionRows    = 128
)

// LatticeSums is the name of a kernel of rotated tables over sums, "edges" or
// "boxes".
func LatticeSums(name, sum string) string { return "lattice_" + name + "_" + sum }

// tilted lists the types of all tilted tables: those of upright ones, and the
// squares of pixels that are no sums of them.
func tilted() []Types {
	var all []Types
	for _, p := range pairs {
		for _, sum := range p.sums {
			all = append(all, Types{Pixel: p.pixel, Sum: sum})
		}
		for _, square := range p.squares {
			if !slices.Contains(p.sums, square) {
				all = append(all, Types{Pixel: p.pixel, Sum: square})
			}
		}
	}
	return all
}

// SumsGroup is how many work-items carry the sums of tilted tables on, on CUDA.
const SumsGroup = 512

// QuadsGroup is how many work-items share a tile of quads: on CUDA a warp.
const QuadsGroup = 32

// Module is the CUDA module that has a kernel of both dialects.
func Module(kernel string) string {
	module, _, _ := strings.Cut(kernel, "_")
	return module
}

// An instance is a source with its macros.
type instance struct {
	file    string
	headers []string
	macros  [][2]string
	group   int // work-items on CUDA
}

// turned is the instance that has a kernel, and false where it is not one of
// turned tables.
func turned(kernel string) (instance, bool) {
	for _, i := range turnedInstances {
		if slices.Contains(i.kernels, kernel) {
			return i.instance, true
		}
	}
	return instance{}, false
}

// turnedInstances lists every instance, module by module, with its kernels.
var turnedInstances = func() (all []struct {
	instance
	module  string
	kernels []string
}) {
	add := func(module, file, header string, group int, macros [][2]string, kernels ...string) {
		all = append(all, struct {
			instance
			module  string
			kernels []string
		}{instance{file, []string{"dialect.h", "job.h", header}, macros, group}, module, kernels})
	}
	for _, t := range tilted() {
		types := [][2]string{{"PIXEL", t.Pixel}, {"PIXEL_BYTES", size(t.Pixel)}, {"SUM", t.Sum}, {"SUM_BYTES", size(t.Sum)}}
		add("tilted", "tilted.cl", "tilted.h", t.MaxGroup(), types, TiltedKernel("totals", t, false), TiltedKernel("finish", t, false))
		if slices.Contains(All(), t) { // quads are for sums only
			add("tilted", "tilted.cl", "tilted.h", QuadsGroup, append(types, [2]string{"QUADS", "1"}), TiltedKernel("totals", t, true), TiltedKernel("finish", t, true))
		}
	}
	for _, sum := range accumulators {
		add("tilted", "diagonals.cl", "tilted.h", Types{Sum: sum}.MaxGroup(), [][2]string{{"ACCUMULATOR", sum}}, DiagonalKernel("lines", sum), DiagonalKernel("windows", sum), DiagonalKernel("boxes", sum))
		add("tilted", "tilted_sums.cl", "tilted.h", SumsGroup, [][2]string{{"ACCUMULATOR", sum}}, DiagonalKernel("sums", sum))
	}
	for _, sum := range accumulators {
		add("lattice", "lattice_boxes.cl", "lattice.h", Types{Sum: sum}.MaxGroup(), [][2]string{{"ACCUMULATOR", sum}}, LatticeSums("edges", sum), LatticeSums("boxes", sum))
	}
	for _, bytes := range []int{1, 2, 4, 8} {
		types := [][2]string{{"PIXEL", fmt.Sprintf("u%d", 8*bytes)}, {"PIXEL_BYTES", fmt.Sprint(bytes)}}
		add("lattice", "lattice.cl", "lattice.h", LatticeGroup, types, LatticeKernel("lay", bytes))
		add("lattice", "lattice_gray.cl", "lattice.h", GrayGroup, types, LatticeKernel("gray", bytes))
	}
	return all
}()

// size is the bytes of a type, for a macro.
func size(name string) string {
	var bits int
	fmt.Sscan(name[1:], &bits)
	return fmt.Sprint(bits / 8)
}
