package kernels

import (
	"bytes"
	"encoding/binary"
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/boxsum/boxsum/internal/launch"
	"github.com/boxsum/boxsum/internal/raster"
)

var update = flag.Bool("update", false, "write the .cu files")

// cu returns the source of a module. Each instance is in a namespace, because they share the names
// of functions. scripts/kernels.sh reads the line about PTX.
func (m module) cu() string {
	var b strings.Builder
	fmt.Fprintf(&b, "// Code generated from the list in modules.go. DO NOT EDIT.\n// PTX %s for compute capability %d.\n\n", m.ptx, m.oldest)
	for _, file := range m.headers {
		fmt.Fprintf(&b, "#include %q\n", file)
	}
	for _, i := range m.instances {
		if i.openCL {
			continue
		}
		fmt.Fprintf(&b, "\nnamespace %s {\n#define GROUP %d\n", i.kernels[0], i.group)
		for _, macro := range i.macros {
			fmt.Fprintf(&b, "#define %s %s\n", macro[0], macro[1])
		}
		fmt.Fprintf(&b, "#include %q\n}\n", i.file)
	}
	if len(m.lines) > 0 {
		fmt.Fprintf(&b, "\n%s\n", strings.Join(m.lines, "\n"))
	}
	return b.String()
}

func TestLists(t *testing.T) {
	for _, m := range modules() {
		file := m.name + ".cu"
		if *update {
			if err := os.WriteFile(file, []byte(m.cu()), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := os.ReadFile(file); err != nil || string(got) != m.cu() {
			t.Errorf("%s is not what the list says: run make kernels (%v)", file, err)
		}
	}
	if files, _ := os.ReadDir("."); len(files) > 0 {
		for _, f := range files {
			if name, ok := strings.CutSuffix(f.Name(), ".cu"); ok && named(name) == nil {
				t.Errorf("%s.cu belongs to no module", name)
			}
		}
	}
}

func named(name string) *module {
	for i := range modules() {
		if modules()[i].name == name {
			return &modules()[i]
		}
	}
	return nil
}

// expected returns the kernels that package gpu requests from a module.
func expected(m module) (names []string) {
	for _, i := range m.instances {
		if !i.openCL {
			names = append(names, i.kernels...)
		}
	}
	for _, t := range OnePass() {
		for channels := 1; channels <= PlaneChannels; channels++ {
			switch {
			case m.name == "small":
				for _, path := range []string{FlatPath, SmallPath, TallPath} {
					if HasPath(path, t, channels) {
						names = append(names, PlaneKernel(path, t, channels))
					}
				}
			case m.name == "sums" && t.Square == "", m.name == "squares" && t.Square != "":
				names = append(names, PlaneKernel(TilePath, t, channels))
			}
		}
	}
	switch m.name {
	case "volumepass":
		sums, squares := onDevice(raster.Volume | raster.OnePass)
		for i, t := range append(sums, squares...) {
			kernel := VolumePassKernel(t.Pixel, t.Sum, i >= len(sums))
			names = append(names, kernel, VolumePassPlanes(kernel))
		}
	case "filterpass":
		for kind, shapes := range FilterPassShapes {
			for _, shape := range shapes {
				names = append(names, FilterPassKernel(kind, shape[0], shape[1]))
			}
		}
	case "tensor":
		for _, t := range TensorTypes {
			for _, shape := range TensorShapes(t) {
				if names = append(names, TensorKernel("table", t, shape)); t.Pixel == t.Sum {
					names = append(names, TensorKernel("suffix", t, shape))
				}
			}
		}
		for _, pixel := range TensorFloats {
			names = append(names, TensorWindow(pixel))
		}
	case "filterstrip":
		names = append(names, FilterStripEdges)
		for _, s := range FilterStripShapes {
			names = append(names, s.Kernel)
		}
	case "filterwindow":
		for _, s := range FilterWindowShapes {
			names = append(names, s.Kernel)
		}
	case "histogrampass":
		for _, pixel := range raster.SumPairs.For(raster.OnDevice).Pixels() {
			_, write := HistogramPassKernels(pixel.Short(), 1, true)
			names = append(names, write)
			for across := 1; across <= 16; across *= 2 {
				count, write := HistogramPassKernels(pixel.Short(), across, false)
				names = append(names, count, write)
			}
		}
	}
	return names
}

// TestCUDAHasEveryKernel checks that every kernel is in both images of its module, one-pass kernels
// with their shapes.
func TestCUDAHasEveryKernel(t *testing.T) {
	for _, m := range modules() {
		images := slices.Collect(CUDA(m.name, 9, 0))
		if len(images) != 2 {
			t.Fatalf("%d images of %s: run make kernels", len(images), m.name)
		}
		names := expected(m)
		if len(names) == 0 {
			t.Errorf("package gpu requests no kernels of %s", m.name)
		}
		for _, name := range names {
			if !bytes.Contains(images[1], []byte(".entry "+name+"(")) || !bytes.Contains(images[0], []byte(".text."+name+"\x00")) {
				t.Errorf("%s is not in module %s: run make kernels", name, m.name)
			}
			if m.instances != nil && Module(name) != m.name {
				t.Errorf("%s is in %s, not in %s", name, m.name, Module(name))
			}
			shaped := m.name == "sums" || m.name == "squares" || m.name == "small" || m.name == "volumepass" && !strings.HasSuffix(name, "_planes")
			if shaped && (!bytes.Contains(images[1], []byte(" shape_"+name+"[")) || !bytes.Contains(images[0], []byte("\x00shape_"+name+"\x00"))) {
				t.Errorf("%s has no shape: run make kernels", name)
			}
		}
	}
}

var (
	sharedLine = regexp.MustCompile(`^\s*\.shared \.align \d+ \.([bfsu])(\d+) [^\s\[;]+(?:\[(\d+)\])?;`)
	shapeLine  = regexp.MustCompile(`^\.visible \.global .* shape_(\w+)\[\d+\] = \{(.*)\};`)
	threadLine = regexp.MustCompile(`^\.maxntid (\d+)`)
)

// TestPTXFitsEveryChip checks that the blocks of kernels fit on all chips that run the PTX. From 8.0
// on, a block may have 1024 threads, and without further attributes 48 KB of shared memory. With
// them, the least are the 99 KB of 8.6, 8.9 and 12.0.
func TestPTXFitsEveryChip(t *testing.T) {
	const mostThreads, mostStatic, mostShared = 1024, 48 << 10, 99 << 10
	for _, m := range modules() {
		images := slices.Collect(CUDA(m.name, 9, 0))
		entry, static, shapes := "", 0, 0
		for line := range strings.Lines(string(images[len(images)-1])) {
			if _, rest, ok := strings.Cut(line, ".entry "); ok {
				entry, static = rest[:strings.IndexByte(rest, '(')], 0
			}
			if f := threadLine.FindStringSubmatch(line); f != nil && number(t, f[1]) > mostThreads {
				t.Errorf("blocks of %s have %s threads", entry, f[1])
			}
			if f := sharedLine.FindStringSubmatch(line); f != nil {
				bytes := number(t, f[2]) / 8
				if f[3] != "" {
					bytes *= number(t, f[3])
				}
				if static += bytes; static > mostStatic {
					t.Errorf("%s has %d bytes of shared memory, want up to %d", entry, static, mostStatic)
				}
			}
			if f := shapeLine.FindStringSubmatch(line); f != nil {
				var first [16]byte // sizes of a tile, threads, and shared memory; zeros at the end are not written
				for i, b := range strings.Split(f[2], ",") {
					if i < len(first) {
						first[i] = byte(number(t, strings.TrimSpace(b)))
					}
				}
				threads, shared := binary.LittleEndian.Uint32(first[8:]), binary.LittleEndian.Uint32(first[12:])
				if threads == 0 || threads > mostThreads || shared > mostShared {
					t.Errorf("%s has %d threads and %d bytes of shared memory, want up to %d and %d", f[1], threads, shared, mostThreads, mostShared)
				}
				shapes++
			}
		}
		if shaped := m.name == "sums" || m.name == "squares" || m.name == "small" || m.name == "volumepass"; shaped != (shapes > 0) {
			t.Errorf("module %s has %d shapes", m.name, shapes)
		}
	}
}

func number(t *testing.T, text string) int {
	t.Helper()
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestNames(t *testing.T) {
	kernels := 0
	for _, types := range All() {
		for _, name := range []string{"totals", "finish"} {
			i, _, err := find(types.Kernel(name))
			if err != nil || i.macros[0] != [2]string{"PIXEL", types.Pixel} || i.macros[1] != [2]string{"SUM", types.Sum} {
				t.Errorf("%s has %v, %v", types.Kernel(name), i.macros, err)
			}
			kernels++
		}
	}
	want := 0
	for _, p := range raster.SumPairs.For(raster.OnDevice) {
		if raster.SumPairs.Twin(p) != p { // shares the kernels of its twin
			continue
		}
		want += 2 * (1 + len(raster.SquarePairs.For(raster.OnDevice).Of(p.Pixel)))
	}
	if kernels != want {
		t.Errorf("%d kernels over pixels, want %d: two for each pair of pixels and sums, and two with each square", kernels, want)
	}
	for _, name := range []string{"", "portable", "portable_totals", "portable_totals_u8", "portable_totals_u8_u16", "portable_totals_u8_u32_u64_u64",
		"portable_carry_u8", "portable_carry_u32_u32", "portable_other_u32", "fast_totals_u8_u32", launch.Kernel("rows", "f32x4")} {
		if _, _, err := OpenCL(name, 64); err == nil {
			t.Errorf("no error for kernel %q", name)
		}
	}
	for _, group := range []int{-1, 0, 8, 100} {
		if _, _, err := OpenCL("portable_carry_u32", group); err == nil {
			t.Errorf("no error for a work-group of %d", group)
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
		t.Error("no error for a missing file")
	}
}

// TestPapersPrograms checks that a kernel of package papers has the same program for all work-group
// sizes.
func TestPapersPrograms(t *testing.T) {
	for _, i := range named("papers").instances {
		for _, name := range i.kernels {
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
}
