// Command gen writes the assembly kernels of package kernel, one instruction
// set a run:
//
//	go run . -level avx512 -out ../avx512_amd64.s -stubs ../avx512_amd64.go -pkg kernel
//
// Every kernel is the same loop: four rows at a time, a vector of sums from
// each, so that the four share one read of the row above. What differs, how
// pixels become sums and how a vector is summed, is in ops.go and in the file
// of the instruction set.
package main

import (
	"flag"
	"fmt"
	"log"

	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/reg"
)

func main() {
	level := flag.String("level", "avx512", "instruction set: avx2 or avx512")
	part := flag.String("part", "sums", "what to write: sums, or the kernels of histogram.go, tilted.go, rotated.go or volume.go")
	flag.Parse()
	ConstraintExpr("amd64,!noasm")
	if *part == "histogram" {
		histogram(map[string]isa{"avx2": new(avx2), "avx512": new(avx512)}[*level])
		Generate()
		return
	}
	var set isa
	switch *level {
	case "avx2":
		set = newAVX2()
	case "avx512":
		set = newAVX512()
	default:
		log.Fatalf("unknown level %q", *level)
	}
	if *part == "tilted" {
		tilted(set)
		Generate()
		return
	}
	if *part == "rotated" {
		rotated(set)
		Generate()
		return
	}
	if *part == "volume" {
		volume(set)
		Generate()
		return
	}
	for _, o := range ops {
		kernel(set, o)
	}
	limits(set)
	if *level == "avx2" {
		processor()
	}
	Generate()
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
	value := fmt.Sprintf("%s(src[r*srcStride+i])", o.sum.goType)
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
		return append(lines, "for a single channel.")
	}
	return append(lines, "with the channels as lanes says.")
}
