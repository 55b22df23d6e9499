// Command gen writes the assembly kernels of package kernel, and the tables that
// say what serves which types:
//
//	go run . -dir ..
//
// Every kernel is the same loop: four rows at a time, a vector of sums from
// each, so that the four share one read of the row above. What differs, how
// pixels become sums and how a vector is summed, is in the file of the
// instruction set. The pairs of types are those of package pairs.
package main

import (
	"flag"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/boxsum/boxsum/internal/pairs"
	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/reg"
)

// A level is an instruction set, its name in package kernel that of the isa.
type level struct {
	name, arch string
	bytes      int // of a vector
	set        func() isa
}

// levels is all of them, for each architecture slowest first.
var levels = []level{
	{"avx2", "amd64", 32, func() isa { return newAVX2() }},
	{"avx512", "amd64", 64, func() isa { return newAVX512() }},
}

// parts is what a level has a file of each.
var parts = []struct {
	name string
	emit func(isa)
}{
	{"plane", plane},
	{"volume", volume},
	{"tilted", tilted},
	{"rotated", rotated},
	{"histogram", histogram},
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
			if *file == fileName(p.name, l) {
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
			name := fileName(p.name, l)
			cmd := exec.Command(self, "-file", name, "-out", name+".s", "-stubs", name+".go", "-pkg", "kernel")
			cmd.Args[0] = "gen"
			cmd.Dir, cmd.Stderr = dir, os.Stderr
			if err := cmd.Run(); err != nil {
				return fmt.Errorf("%s: %w", name, err)
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

// plane emits the kernels of plane tables, and what is not of any table.
func plane(set isa) {
	for _, o := range ops(pairs.Upright) {
		kernel(set, o)
	}
	limits(set)
	if set.name() == "AVX2" {
		processor()
	}
}

// processor emits what Go has no words for.
func processor() {
	TEXT("pause", NOSPLIT, "func()")
	Doc("pause tells the processor that the caller is polling.")
	PAUSE()
	RET()

	TEXT("cpuid", NOSPLIT, "func(leaf, sub uint32) (eax, ebx, ecx, edx uint32)")
	Doc("cpuid asks the processor about itself.")
	Load(Param("leaf"), reg.EAX)
	Load(Param("sub"), reg.ECX)
	CPUID()
	Store(reg.EAX, ReturnIndex(0))
	Store(reg.EBX, ReturnIndex(1))
	Store(reg.ECX, ReturnIndex(2))
	Store(reg.EDX, ReturnIndex(3))
	RET()
}

// doc is the Go loop that a kernel replaces, as its doc comment.
func doc(name string, o op) []string {
	value := fmt.Sprintf("%s(src[r*srcStride+i])", o.sum.String())
	switch {
	case o.square:
		value += " squared"
	case o.sum == f32:
		value += " - offset"
	}
	lines := []string{
		name + " is, in the summation order of the portable loop,",
		"",
		"\tfor r := range rows {",
		"\t\tfor i := range n {",
		"\t\t\tsum[r][i%channels] += " + value,
		"\t\t\tabove[i] += sum[r][i%channels]",
		"\t\t\tdst[r*dstStride+i] = above[i]",
		"\t\t}",
		"\t}",
		"",
	}
	if o.dot {
		return append(lines, "for a single channel, with strides in bytes.")
	}
	return append(lines, "with the channels as lanes says, and strides in bytes.")
}
