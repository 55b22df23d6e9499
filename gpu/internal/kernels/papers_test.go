package kernels

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/boxsum/boxsum/internal/launch"
)

// papersCU is papers.cu: every instance of papers.cl, each in a namespace since they
// share the names of their functions.
func papersCU() string {
	var b strings.Builder
	b.WriteString("// Written by go test ./gpu/internal/kernels -update, from the list of types there: every\n// kernel of package papers for CUDA.\n\n")
	for _, file := range papersInstances[0].headers {
		fmt.Fprintf(&b, "#include %q\n", file)
	}
	for _, i := range papersInstances {
		fmt.Fprintf(&b, "\nnamespace %s {\n#define GROUP %d\n", i.kernels[0], i.group)
		for _, m := range i.macros {
			fmt.Fprintf(&b, "#define %s %s\n", m[0], m[1])
		}
		fmt.Fprintf(&b, "#include %q\n}\n", i.file)
	}
	return b.String()
}

func TestPapersCU(t *testing.T) {
	if *update {
		if err := os.WriteFile("papers.cu", []byte(papersCU()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile("papers.cu"); err != nil || string(got) != papersCU() {
		t.Errorf("papers.cu is not what the list of types says: run go test ./gpu/internal/kernels -update, then make kernels (%v)", err)
	}
}

// Every kernel must be in both images, and its program the same for all work-groups.
func TestPapersKernels(t *testing.T) {
	images := CUDA("papers", 9, 0)
	if len(images) != 2 {
		t.Fatalf("%d images: run make kernels", len(images))
	}
	cubin, ptx := images[0], images[1]
	for _, i := range papersInstances {
		for _, name := range i.kernels {
			if !bytes.Contains(ptx, []byte(".entry "+name+"(")) || !bytes.Contains(cubin, []byte(".text."+name+"\x00")) {
				t.Errorf("%s was not built: run make kernels", name)
			}
			if Module(name) != "papers" {
				t.Errorf("%s is in %s", name, Module(name))
			}
			source, options, err := OpenCL(name, 256)
			if err != nil {
				t.Error(err)
			}
			again, same, err := OpenCL(name, 7)
			if err != nil || source != again || options != same {
				t.Errorf("%s has another program for other work-groups: %v", name, err)
			}
		}
	}
	if _, _, err := OpenCL(launch.Kernel("rows", "f32x4"), 256); err == nil {
		t.Error("a kernel that there is not is no error")
	}
}
