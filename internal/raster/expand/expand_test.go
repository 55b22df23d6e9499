package main

import (
	"bufio"
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestExpandedFilesAreCurrent expands every go:generate line of the module and
// compares.
func TestExpandedFilesAreCurrent(t *testing.T) {
	const root, command = "../../..", "//go:generate go run github.com/boxsum/boxsum/internal/raster/expand "
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() && strings.HasPrefix(d.Name(), ".") && len(d.Name()) > 2 {
			return fs.SkipDir
		}
		if !strings.HasSuffix(path, ".go") || strings.Contains(filepath.ToSlash(path), "internal/raster/") {
			return nil
		}
		source, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for lines := bufio.NewScanner(bytes.NewReader(source)); lines.Scan(); {
			if line, ok := strings.CutPrefix(lines.Text(), command); ok {
				current(t, filepath.Dir(path), fields(t, line))
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func current(t *testing.T, dir string, args []string) {
	if i := slices.Index(args, "-template") + 1; i > 0 {
		args[i] = filepath.Join(dir, args[i])
	}
	file, want, err := expand(args)
	if err != nil {
		t.Errorf("%q in %s: %v", args, dir, err)
		return
	}
	if got, err := os.ReadFile(filepath.Join(dir, file)); err != nil || !bytes.Equal(got, want) {
		t.Errorf("%s in %s is stale (%v): run make generate", file, dir, err)
	}
}

// fields splits a line as go generate does: by blanks, but not in quoted strings.
func fields(t *testing.T, line string) (args []string) {
	for line = strings.TrimSpace(line); line != ""; line = strings.TrimSpace(line) {
		if line[0] != '"' {
			word, rest, _ := strings.Cut(line, " ")
			args, line = append(args, word), rest
			continue
		}
		quoted, err := strconv.QuotedPrefix(line)
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		word, err := strconv.Unquote(quoted)
		if err != nil {
			t.Fatal(err)
		}
		args, line = append(args, word), line[len(quoted):]
	}
	return args
}

func TestExpand(t *testing.T) {
	for kind, want := range map[string]string{"volume": "A = {\n\"u1\": \"u8\",\n\"u1\": \"f8\",\n\"u2\"", "rotated": "A = {\n}"} {
		_, text, err := expand([]string{"-out", "x.py", "-list", "squares", "-kind", kind, "-before", "A = {", "-line", `"{{.Pixel.NumPy}}": "{{.Sum.NumPy}}",`, "-after", "}"})
		if err != nil || !strings.Contains(string(text), want) {
			t.Errorf("%s: %v: %s", kind, err, text)
		}
	}
	for _, bad := range [][]string{{"-list", "none"}, {"-kind", "none"}, {"-line", "{{.None}}"}, {"-line", "{{"}, {"-none"}, {"-out", "x.go", "-before", "pack age"}} {
		if _, _, err := expand(bad); err == nil {
			t.Errorf("%q has no error", bad)
		}
	}
}

func TestTypes(t *testing.T) {
	for list, want := range map[string]map[int]string{
		"uint8 float32":                  {0: "", 1: "uint8", 2: "", 8: "float32", 9: ""},
		"float64 × uint8 float32":        {0: "", 19: "", 91: "float64, uint8", 98: "float64, float32", 99: ""},
		"uint8 × uint8; float32 × uint8": {11: "uint8, uint8", 12: "", 81: "float32, uint8"},
	} {
		got, err := types(list)
		for i, w := range want {
			if err != nil || got[i] != w {
				t.Errorf("%s: %d is %q instead of %q (%v)", list, i, got[i], w, err)
			}
		}
	}
	if _, err := types("uint9"); err == nil {
		t.Error("uint9 is a type")
	}
}
