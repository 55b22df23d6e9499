// Command gen writes the assembly of package kernel and of the packages in its
// folder, and the tables of what each level has:
//
//	go run . -dir ..
//
// Every kernel is the same loop: four rows at a time, a vector of sums from
// each, so that the four share one read of the row above. What differs, how
// pixels become sums and how a vector is summed, is in the file of the
// instruction set. The pairs of types are those of package pairs. Kernels for
// amd64 are written by avo, those for arm64 by the files neon_*.go.
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

// A level is an instruction set, named as in package processor but in lower case.
type level struct {
	name, arch string
	bytes      int // of a vector
	set        func() isa
	arm        map[string]func(*armFile) // its files, where avo has none
}

// levels is all of them, for each architecture slowest first.
var levels = []level{
	{"avx2", "amd64", 32, func() isa { return newAVX2() }, nil},
	{"avx512", "amd64", 64, func() isa { return newAVX512() }, nil},
	{"neon", "arm64", 16, nil, neonParts},
}

// A part is a file of assembly that levels have.
type part struct {
	pkg   string // the folder it lies in, below that of package kernel
	name  string
	emit  func(isa)
	bytes int // of the vectors of the one level that has it; 0 if all have
}

// parts lists the files of assembly. Those of levels that avo does not know are in level.arm.
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
	{"transforms", "fourier", fouriers, 0},
	{"cascades", "cascade", each(cascadeRoutines), 0},
	{"codecs", "shuffle", shuffles, 32},
}

func main() {
	dir := flag.String("dir", "", "write all files into this folder and those below it")
	file := flag.String("file", "", "write this file, such as plane_avx2_amd64")
	flag.Parse()
	if *dir != "" {
		if err := all(*dir); err != nil {
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

// packageName returns the name of the package in a folder below that of package kernel.
func packageName(folder string) string {
	if folder == "" {
		return "kernel"
	}
	return folder
}

// all writes every file. Each takes a process: avo has one file at a time.
func all(dir string) error {
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
			cmd := exec.Command(self, "-file", name, "-out", name+".s", "-stubs", name+".go", "-pkg", packageName(p.pkg))
			cmd.Args[0] = "gen"
			cmd.Dir, cmd.Stderr = filepath.Join(dir, p.pkg), os.Stderr
			if err := cmd.Run(); err != nil {
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

// A routine is one assembly function: its name without that of the level, which is also its field in the
// table of the package, and what emits it.
type routine struct {
	name string
	emit func(set isa, name string)
}

// each emits routines one after the other.
func each(list []routine) func(isa) {
	return func(set isa) {
		for _, r := range list {
			r.emit(set, r.name+set.name())
		}
	}
}
