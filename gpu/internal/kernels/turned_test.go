package kernels

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"
)

// turnedCU is the source of a module of turned tables: every instance, each in a
// namespace since they share the names of their functions.
func turnedCU(module string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "// Written by go test ./gpu/internal/kernels -update, from the list of types there: every\n// kernel of %s.go for CUDA.\n\n", module)
	var included []string
	for _, i := range turnedInstances {
		if i.module != module {
			continue
		}
		if included == nil {
			included = i.headers
			for _, file := range included {
				fmt.Fprintf(&b, "#include %q\n", file)
			}
		}
		fmt.Fprintf(&b, "\nnamespace %s {\n#define GROUP %d\n", i.kernels[0], i.group)
		for _, m := range i.macros {
			fmt.Fprintf(&b, "#define %s %s\n", m[0], m[1])
		}
		fmt.Fprintf(&b, "#include %q\n}\n", i.file)
	}
	return b.String()
}

func TestTurnedCU(t *testing.T) {
	for _, module := range []string{"tilted", "lattice"} {
		file := module + ".cu"
		if *update {
			if err := os.WriteFile(file, []byte(turnedCU(module)), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := os.ReadFile(file); err != nil || string(got) != turnedCU(module) {
			t.Errorf("%s is not what the list of types says: run go test ./gpu/internal/kernels -update, then make kernels (%v)", file, err)
		}
	}
}

// Every kernel must be in both images.
func TestCUDAHasTurnedKernels(t *testing.T) {
	images := map[string][][]byte{}
	for _, i := range turnedInstances {
		if images[i.module] == nil {
			images[i.module] = CUDA(i.module, 9, 0)
		}
		if len(images[i.module]) != 2 {
			t.Fatalf("%d images of %s: run make kernels", len(images[i.module]), i.module)
		}
		cubin, ptx := images[i.module][0], images[i.module][1]
		for _, name := range i.kernels {
			if Module(name) != i.module {
				t.Errorf("%s is in %s", name, i.module)
			}
			if !bytes.Contains(ptx, []byte(".entry "+name+"(")) || !bytes.Contains(cubin, []byte(".text."+name+"\x00")) {
				t.Errorf("%s was not built: run make kernels", name)
			}
		}
	}
}
