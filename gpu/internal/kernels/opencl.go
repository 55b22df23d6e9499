package kernels

import (
	"embed"
	"fmt"
	"path"
	"slices"
	"strings"
)

//go:embed *.cl dialect.h job.h band.h layer.h tilted.h lattice.h histogram.h counts.h papers.h filter.h ssim.h clahe.h rank.h nlm.h jobs/*.h
var sources embed.FS

// OpenCL returns the program that contains a kernel, for work-groups of the given size, and the
// options to build it with. Kernels with equal programs and options can share them.
func OpenCL(kernel string, group int) (source, options string, err error) {
	i, headers, err := find(kernel)
	if err != nil {
		return "", "", err
	}
	if i.always {
		group = i.group
	}
	if group < 16 || group&(group-1) != 0 {
		return "", "", fmt.Errorf("work-group size is %d, want a power of two of at least 16", group)
	}
	options = fmt.Sprintf("-cl-std=CL1.2 -D GROUP=%d", group)
	for _, m := range i.macros {
		options += " -D " + m[0] + "=" + m[1]
	}
	if NeedsFloat64(kernel) {
		options += " -D FLOAT64"
	}
	for _, file := range append(slices.Clone(headers), i.file) {
		source += fmt.Sprintf("#include %q\n", file)
	}
	source, err = expand(source)
	return source, options, err
}

// NeedsFloat64 reports whether a kernel needs a device with 64-bit floats.
func NeedsFloat64(kernel string) bool { return strings.Contains(kernel, "f64") }

// expand replaces #include lines by the files: OpenCL takes a single text.
func expand(source string) (string, error) {
	var text strings.Builder
	for line := range strings.Lines(source) {
		name, ok := strings.CutPrefix(line, `#include "`)
		if !ok {
			text.WriteString(line)
			continue
		}
		file, err := sources.ReadFile(path.Clean(strings.TrimSuffix(name, "\"\n")))
		if err != nil {
			return "", err
		}
		expanded, err := expand(strings.TrimRight(string(file), "\n") + "\n")
		if err != nil {
			return "", err
		}
		text.WriteString(expanded)
	}
	return text.String(), nil
}
