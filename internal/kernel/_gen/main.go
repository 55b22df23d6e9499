// Command gen writes the assembly of package kernel and the packages below it, and the dispatch
// tables that list which kernels each level has:
//
//	go run . -dir ..
//
// Every plane kernel is the same loop: it takes four rows at a time, a vector of sums from each, so
// that the four share one read of the row above. What differs between instruction sets, the
// conversion of pixels to sums and the prefix sum of a vector, is in a file for each. The pairs of
// pixel and sum types come from package raster. avo writes the kernels for amd64; the files
// neon_*.go write those for arm64.
package main

import (
	"flag"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"

	. "github.com/mmcloughlin/avo/build"
)

// A level is an instruction set. Its name is that of the constant in package processor, in lower
// case.
type level struct {
	name, arch string
	bytes      int // size of a vector
	set        func() isa
	arm        map[string]func(*armFile) // emits each file, for architectures that avo does not support
}

// levels lists the instruction sets, the slowest of each architecture first.
var levels = []level{
	{"avx2", "amd64", 32, func() isa { return newAVX2() }, nil},
	{"avx512", "amd64", 64, func() isa { return newAVX512() }, nil},
	{"neon", "arm64", 16, nil, neonParts},
}

// A part is a file of assembly that is emitted for each level.
type part struct {
	pkg   string // directory below that of package kernel
	name  string
	emit  func(isa)
	bytes int // if not 0, only the level with vectors of this size has this file
}

// parts lists the files of assembly that avo writes. Files of other levels are in level.arm.
var parts = []part{
	{"", "plane", plane, 0},
	{"", "volume", volume, 0},
	{"", "tilted", tilted, 0},
	{"", "rotated", rotated, 0},
	{"histograms", "histogram", histogram, 0},
	{"", "columns", columnSums, 0},
	{"", "valid", valid, 32},
	{"processor", "memory", memory, 0},
	{"processor", "processor", processor, 32},
	{"windows", "window", each(windowRoutines), 0},
	{"windows", "threshold", each(thresholdRoutines), 0},
	{"windows", "triple", each(tripleRoutines), 32},
	{"windows", "counts", each(countRoutines), 32},
	{"transforms", "fourier", fouriers, 0},
	{"cascades", "cascade", each(cascadeRoutines), 0},
	{"gradients", "gradient", each(gradientRoutines), 0},
	{"codecs", "shuffle", shuffles, 32},
}

func main() {
	dir := flag.String("dir", "", "write all files into this folder and those below it")
	file := flag.String("file", "", "write this file, such as plane_avx2_amd64")
	flag.Parse()
	if *dir != "" {
		if err := writeAll(*dir); err != nil {
			log.Fatal(err)
		}
		return
	}
	for _, l := range levels {
		for _, p := range parts {
			if l.set != nil && *file == fileName(p.name, l) {
				ConstraintExpr(l.arch + ",!noasm")
				p.emit(l.set())
				Generate()
				return
			}
		}
	}
	log.Fatalf("unknown file %q", *file)
}

func fileName(part string, l level) string { return part + "_" + l.name + "_" + l.arch }

// packageName returns the name of the package in a directory below that of package kernel.
func packageName(folder string) string {
	if folder == "" {
		return "kernel"
	}
	return folder
}

// writeAll writes every file. Each takes a process, because avo's state is global to a process.
func writeAll(dir string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	for _, p := range packages {
		if err := os.MkdirAll(filepath.Join(dir, p.folder), 0o755); err != nil {
			return err
		}
	}
	for _, l := range levels {
		for _, p := range parts {
			name := fileName(p.name, l)
			if emit := l.arm[p.name]; emit != nil {
				f := new(armFile)
				emit(f)
				if err := f.write(filepath.Join(dir, p.pkg), name, l.arch, packageName(p.pkg)); err != nil {
					return fmt.Errorf("%s: %w", name, err)
				}
			}
			if l.set == nil || p.bytes != 0 && p.bytes != l.bytes {
				continue
			}
			if err := run(self, p.pkg, name, filepath.Join(dir, p.pkg)); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
	}
	for _, p := range packages {
		for name, text := range p.tables() {
			if err := os.WriteFile(filepath.Join(dir, p.folder, name), text, 0o644); err != nil {
				return err
			}
		}
	}
	return os.WriteFile(filepath.Join(dir, "pairs_test.go"), pairTests(), 0o644)
}

// run writes the files of a part to dir, unless it fails: avo empties files before it knows whether
// it can write them.
func run(self, pkg, name, dir string) error {
	scratch, err := os.MkdirTemp("", "gen")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)
	cmd := exec.Command(self, "-file", name, "-out", name+".s", "-stubs", name+".go", "-pkg", packageName(pkg))
	cmd.Args[0] = "gen"
	cmd.Dir, cmd.Stderr = scratch, os.Stderr
	if err := cmd.Run(); err != nil {
		return err
	}
	for _, file := range []string{name + ".s", name + ".go"} {
		text, err := os.ReadFile(filepath.Join(scratch, file))
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, file), text, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// A routine is one assembly function. Its name leaves out the level, and is also its field in the
// package's dispatch table.
type routine struct {
	name string
	emit func(set isa, name string)
}

// each returns a function that emits all routines in list.
func each(list []routine) func(isa) {
	return func(set isa) {
		for _, r := range list {
			r.emit(set, r.name+set.name())
		}
	}
}
