package kernels

import (
	"embed"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
)

//go:embed *.cl dialect.h job.h band.h layer.h tilted.h lattice.h histogram.h counts.h papers.h filter.h jobs/*.h
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

func include() *regexp.Regexp { return regexp.MustCompile(`(?m)^#include "(.*)"\n`) }

// expand replaces #include lines by the files: OpenCL takes a single text.
func expand(source string) (string, error) {
	line := include()
	for {
		at := line.FindStringSubmatchIndex(source)
		if at == nil {
			return source, nil
		}
		file, err := sources.ReadFile(path.Clean(source[at[2]:at[3]]))
		if err != nil {
			return "", err
		}
		source = source[:at[0]] + strings.TrimRight(string(file), "\n") + "\n" + source[at[1]:]
	}
}
