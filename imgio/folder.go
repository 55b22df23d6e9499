package imgio

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// pictureNames lists the extensions of the files that are read as a folder's
// slices.
var pictureNames = []string{
	".png", ".jpg", ".jpeg", ".gif", ".bmp", ".tif", ".tiff", ".webp",
	".pnm", ".pbm", ".pgm", ".ppm", ".pam", ".npy",
}

func folderStack(folder string, opt Options) (*Stack, error) {
	opt.Page = 0
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		hidden := strings.HasPrefix(e.Name(), ".")
		if hidden || !slices.Contains(pictureNames, strings.ToLower(filepath.Ext(e.Name()))) {
			continue
		}
		file, err := isFile(filepath.Join(folder, e.Name()))
		if err != nil {
			return nil, err
		}
		if file {
			names = append(names, e.Name())
		}
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("no pictures in folder %s, want files that end in one of %s", folder, strings.Join(pictureNames, " "))
	}
	slices.SortFunc(names, compareNatural)
	s := &Stack{Depth: len(names), Format: "folder"}
	s.read = func(z int) (any, string, error) {
		path := filepath.Join(folder, names[z])
		img, err := openSlice(path, opt)
		return img, path, err
	}
	return s.begin()
}

// isFile reports whether a path is a file rather than a folder. Anything else,
// such as a pipe, is an error, since reading it may block forever.
func isFile(path string) (bool, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return false, err
	case info.Mode()&os.ModeNamedPipe != 0:
		return false, fmt.Errorf("%s is a pipe, want only pictures in the folder (remove it)", path)
	case !info.IsDir() && !info.Mode().IsRegular():
		return false, fmt.Errorf("%s is not a file, want only pictures in the folder (remove it)", path)
	}
	return !info.IsDir(), nil
}

// openSlice reads a file that is one slice.
func openSlice(path string, opt Options) (any, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	if format, _ := sniff(data[:min(len(data), sniffBytes)]); format == "tiff" {
		if file, err := openTIFF(data); err == nil && len(file.pages) > 1 {
			return nil, fmt.Errorf("%s has %d pages, want 1 in a folder of slices (or use the file itself as the volume)", path, len(file.pages))
		}
	}
	p, err := DecodeWith(bytes.NewReader(data), opt)
	if err != nil {
		return nil, inFile(path, err)
	}
	return p.Image, nil
}

// compareNatural compares names so that runs of digits are ordered by value: 2
// comes before 10.
func compareNatural(a, b string) int {
	whole := cmp.Compare(a, b)
	for a != "" && b != "" {
		x, y := digits(a), digits(b)
		if x == 0 || y == 0 {
			if a[0] != b[0] {
				return cmp.Compare(a[0], b[0])
			}
			a, b = a[1:], b[1:]
			continue
		}
		n, m := strings.TrimLeft(a[:x], "0"), strings.TrimLeft(b[:y], "0")
		if c := cmp.Or(cmp.Compare(len(n), len(m)), cmp.Compare(n, m)); c != 0 {
			return c
		}
		a, b = a[x:], b[y:]
	}
	return cmp.Or(cmp.Compare(len(a), len(b)), whole)
}

// digits returns the number of digits at the start of s.
func digits(s string) int {
	return len(s) - len(strings.TrimLeft(s, "0123456789"))
}
