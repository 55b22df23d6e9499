// Command gen writes the assembly kernels of package kernel, and the tables that
// say what serves which types:
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

// A level is an instruction set, its name in package kernel that of the isa.
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

// parts is what a level has a file of each.
var parts = []struct {
	name  string
	emit  func(isa)
	bytes int // of the vectors of the one level that has it; 0 if all have
}{
	{"plane", plane, 0},
	{"volume", volume, 0},
	{"tilted", tilted, 0},
	{"rotated", rotated, 0},
	{"histogram", histogram, 0},
	{"columns", columnSums, 0},
	{"valid", valid, 32},
	{"window", windows, 0},
	{"threshold", thresholds, 0},
	{"triple", triples, 32},
	{"fourier", fouriers, 0},
	{"cascade", cascades, 0},
	{"shuffle", shuffles, 32},
}

func main() {
	dir := flag.String("dir", "", "write all files into this folder")
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

// all writes every file. Each takes a process: avo has one file at a time.
func all(dir string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	for _, l := range levels {
		for _, p := range parts {
			if l.set == nil || p.bytes != 0 && p.bytes != l.bytes {
				continue
			}
			name := fileName(p.name, l)
			cmd := exec.Command(self, "-file", name, "-out", name+".s", "-stubs", name+".go", "-pkg", "kernel")
			cmd.Args[0] = "gen"
			cmd.Dir, cmd.Stderr = dir, os.Stderr
			if err := cmd.Run(); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
	}
	for _, l := range levels {
		for part, emit := range l.arm {
			f := new(armFile)
			emit(f)
			if err := f.write(dir, fileName(part, l), l.arch); err != nil {
				return fmt.Errorf("%s: %w", fileName(part, l), err)
			}
		}
	}
	for name, text := range tables() {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o644); err != nil {
			return err
		}
	}
	return nil
}
