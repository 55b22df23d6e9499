package kernels

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"
)

// listedCU is the source of a module: every instance, each in a namespace since they
// share the names of their functions.
func listedCU(module string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "// Written by go test ./gpu/internal/kernels -update, from the list in volume.go: every\n// kernel of module %s for CUDA.\n\n", module)
	var included []string
	for _, i := range further {
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

func TestListedCU(t *testing.T) {
	for _, module := range []string{"volume", "histogram"} {
		file := module + ".cu"
		if *update {
			if err := os.WriteFile(file, []byte(listedCU(module)), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := os.ReadFile(file); err != nil || string(got) != listedCU(module) {
			t.Errorf("%s is not what the list says: run go test ./gpu/internal/kernels -update, then make kernels (%v)", file, err)
		}
	}
}

// Every kernel must be in both images of its module.
func TestCUDAHasListedKernels(t *testing.T) {
	all := append([]listed(nil), further...)
	for _, p := range pairs {
		add := func(kernel string) {
			all = append(all, listed{module: "volumepass", kernels: []string{kernel, VolumePassPlanes(kernel)}})
		}
		for _, sum := range p.sums {
			add(VolumePassKernel(p.pixel, sum, false))
		}
		for _, square := range p.squares {
			add(VolumePassKernel(p.pixel, square, true))
		}
	}
	for _, p := range pairs {
		for across := 1; across <= 16; across *= 2 {
			count, write := HistogramPassKernels(p.pixel, across)
			all = append(all, listed{module: "histogrampass", kernels: []string{count, write}})
		}
	}
	images := map[string][][]byte{}
	for _, i := range all {
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
