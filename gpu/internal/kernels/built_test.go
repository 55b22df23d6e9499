package kernels

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestBuiltIsCurrent checks that the built modules come from the current sources.
func TestBuiltIsCurrent(t *testing.T) {
	for _, m := range modules() {
		var want strings.Builder
		for _, file := range includes(t, m.name+".cu") {
			content, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&want, "%x  %s\n", sha256.Sum256(code(content)), file)
		}
		got, err := os.ReadFile("built/" + m.name + ".sources")
		if err != nil || string(got) != want.String() {
			t.Errorf("built/%s.* is stale: run make kernels", m.name)
		}
	}
}

// code returns a source without comments and blank lines, as scripts/kernels.sh does.
func code(source []byte) []byte {
	var b bytes.Buffer
	for line := range bytes.Lines(source) {
		line = bytes.TrimSuffix(line, []byte("\n"))
		if !bytes.HasPrefix(line, []byte("// PTX ")) {
			line, _, _ = bytes.Cut(line, []byte("//"))
			line = bytes.TrimRight(line, " \t")
		}
		if len(line) > 0 {
			b.Write(line)
			b.WriteByte('\n')
		}
	}
	return b.Bytes()
}

var include = regexp.MustCompile(`(?m)^#include "(.*)"\n`)

// includes returns a source and the files that it includes, sorted by name.
func includes(t *testing.T, source string) []string {
	t.Helper()
	files := []string{source}
	for i := 0; i < len(files); i++ {
		content, err := os.ReadFile(files[i])
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range include.FindAllStringSubmatch(string(content), -1) {
			if !slices.Contains(files, m[1]) {
				files = append(files, m[1])
			}
		}
	}
	slices.Sort(files)
	return files
}

func TestCUDA(t *testing.T) {
	for _, device := range []struct{ major, minor, images int }{{7, 5, 1}, {8, 9, 1}, {9, 0, 2}, {9, 1, 2}, {10, 0, 1}} {
		images := slices.Collect(CUDA("portable", device.major, device.minor))
		if len(images) != device.images {
			t.Fatalf("%d images for %d.%d, want %d", len(images), device.major, device.minor, device.images)
		}
		if device.images == 2 && !bytes.HasPrefix(images[0], []byte("\x7fELF")) {
			t.Error("the first image is not machine code")
		}
	}
	if slices.Collect(CUDA("sums", 7, 5)) != nil {
		t.Error("one-pass kernels have an image for compute capability 7.5")
	}
	if slices.Collect(CUDA("none", 9, 0)) != nil {
		t.Error("an unknown module has images")
	}
}

// TestPTXVersion checks that the PTX version is one that the oldest supported drivers accept.
func TestPTXVersion(t *testing.T) {
	for _, m := range modules() {
		ptx := slices.Collect(CUDA(m.name, 8, 9))
		if len(ptx) != 1 {
			t.Fatalf("%d images of %s for 8.9", len(ptx), m.name)
		}
		if !bytes.Contains(ptx[0], []byte("\n.version "+m.ptx+"\n")) || !bytes.Contains(ptx[0], []byte("by nvcc")) || ptx[0][len(ptx[0])-1] != 0 {
			t.Errorf("the PTX of %s does not begin or end as it should", m.name)
		}
	}
}

func TestOneKernel(t *testing.T) {
	for module, name := range map[string]string{
		"portable": Types{Pixel: "u8", Sum: "u32"}.Kernel("finish"), "sums": "fast_u8_u32_c3", "small": "flat_u8_u32_c1",
	} {
		one := OneKernel(slices.Collect(CUDA(module, 8, 0))[0], name)
		if n := bytes.Count(one, []byte(".entry ")); n != 1 || !bytes.Contains(one, []byte(".entry "+name+"(")) {
			t.Errorf("%d kernels are left, one of them %s", n, name)
		}
		if !bytes.Contains(one, []byte("\n.version "+named(module).ptx+"\n")) || one[len(one)-1] != 0 {
			t.Errorf("%s does not begin or end as PTX does", name)
		}
		if balance := bytes.Count(one, []byte("{")) - bytes.Count(one, []byte("}")); balance != 0 {
			t.Errorf("%s: %d braces are open", name, balance)
		}
		if bytes.Count(one, []byte("ret;")) != 1 || len(one) > 1<<20 {
			t.Errorf("%s has parts of other kernels", name)
		}
	}
}
