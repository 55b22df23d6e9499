package kernels

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write portable.cu")

// portableCU is portable.cu: every instance of the portable source, each in a
// namespace since they share the names of their functions.
func portableCU() string {
	instances := All()
	for _, sum := range accumulators {
		instances = append(instances, Types{Sum: sum})
	}
	var b strings.Builder
	b.WriteString("// Written by go test ./gpu/internal/kernels -update, from the list of types there: every\n// portable kernel for CUDA.\n\n#include \"dialect.h\"\n#include \"job.h\"\n")
	for _, t := range instances {
		macros, file := t.define()
		name := "sums_" + t.Sum
		if t.Pixel != "" {
			name = strings.TrimPrefix(t.Kernel(""), "portable__")
		}
		fmt.Fprintf(&b, "\nnamespace %s {\n#define GROUP %d\n", name, t.MaxGroup())
		for _, m := range macros {
			fmt.Fprintf(&b, "#define %s %s\n", m[0], m[1])
		}
		fmt.Fprintf(&b, "#include %q\n}\n", file)
	}
	return b.String()
}

func TestPortableCU(t *testing.T) {
	if *update {
		if err := os.WriteFile("portable.cu", []byte(portableCU()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile("portable.cu")
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != portableCU() {
		t.Error("portable.cu is not what the list of types says: run go test ./gpu/internal/kernels -update, then make kernels")
	}
}

func TestNames(t *testing.T) {
	kernels := 0
	for _, types := range All() {
		for _, name := range []string{"totals", "finish"} {
			got, err := parse(types.Kernel(name))
			if err != nil || got != types {
				t.Errorf("parse(%q) = %v, %v", types.Kernel(name), got, err)
			}
			kernels++
		}
	}
	if kernels != 2*(13+16) {
		t.Errorf("%d kernels over pixels; there are 13 pairs of pixels and sums, and 16 with squares", kernels)
	}
	for _, name := range []string{"", "portable", "portable_totals", "portable_totals_u8", "portable_totals_u8_u16", "portable_totals_u8_u32_u64_u64",
		"portable_carry_u8", "portable_carry_u32_u32", "portable_other_u32", "fast_totals_u8_u32"} {
		if _, _, err := OpenCL(name, 64); err == nil {
			t.Errorf("kernel %q is no error", name)
		}
	}
	for _, group := range []int{-1, 0, 8, 100} {
		if _, _, err := OpenCL("portable_carry_u32", group); err == nil {
			t.Errorf("a work-group of %d is no error", group)
		}
	}
}

func TestExpand(t *testing.T) {
	source, options, err := OpenCL("portable_finish_u8_f32_u64", 64)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(source, "#include") || !strings.Contains(source, "PASTE2(name, squares)") {
		t.Error("includes are not expanded")
	}
	if want := "-cl-std=CL1.2 -D GROUP=64 -D PIXEL=u8 -D SUM=f32 -D SQUARE=u64 -D TAKE_OFFSET=1"; options != want {
		t.Errorf("options %q, want %q", options, want)
	}
	if _, err := expand("#include \"none.h\"\n"); err == nil {
		t.Error("a missing file is no error")
	}
}
