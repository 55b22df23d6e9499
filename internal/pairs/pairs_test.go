package pairs_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/boxsum/boxsum/internal/pairs"
)

func TestTypes(t *testing.T) {
	for _, typ := range pairs.All() {
		short := typ.String()[:1] + strconv.Itoa(8*typ.Bytes())
		if typ.Short() != short || typ.Float() != (short[0] == 'f') || typ.Signed() != (short[0] != 'u') || typ.Bits().Bytes() != typ.Bytes() {
			t.Errorf("%v is %s, float %v, signed %v", typ, typ.Short(), typ.Float(), typ.Signed())
		}
		for _, name := range []string{typ.String(), typ.Short()} {
			if got, ok := pairs.Parse(name); !ok || got != typ {
				t.Errorf("Parse(%q) is %v, %v", name, got, ok)
			}
		}
	}
	if got := pairs.Of[int16](); got != pairs.I16 {
		t.Errorf("Of[int16] is %v", got)
	}
	if got := pairs.Of[string](); got != 0 {
		t.Errorf("Of[string] is %v", got)
	}
	if got := pairs.F64.NumPy() + pairs.U8.NumPy(); got != "f8u1" {
		t.Errorf("NumPy's names are %s", got)
	}
}

func TestChoices(t *testing.T) {
	list := pairs.List{
		{Pixel: pairs.U8, Sum: pairs.U32, Kinds: pairs.Upright | pairs.Volume}, {Pixel: pairs.U8, Sum: pairs.U64, Kinds: pairs.Upright},
		{Pixel: pairs.U8, Sum: pairs.F64, Kinds: pairs.Upright}, {Pixel: pairs.I16, Sum: pairs.I64, Kinds: pairs.Upright},
	}
	for _, c := range []struct{ got, want string }{
		{list.Choices(pairs.U8), "uint8 pixels sum to uint32, uint64 or float64"},
		{list.Choices(pairs.I16), "int16 pixels sum to int64"},
		{list.Choices(pairs.F32), "pixels are uint8 or int16"},
		{list.Missing(pairs.U8, pairs.I64), "no table of int64 from uint8 pixels: uint8 pixels sum to uint32, uint64 or float64"},
		{list.For(pairs.Volume).Choices(pairs.U8), "uint8 pixels sum to uint32"},
	} {
		if c.got != c.want {
			t.Errorf("%q instead of %q", c.got, c.want)
		}
	}
	if list.Usual(pairs.U8) != pairs.U32 || list.Usual(pairs.F32) != 0 || !list.Has(pairs.U8, pairs.F64) || list.Has(pairs.I16, pairs.F64) {
		t.Error("the usual sums are others")
	}
}

// The table in the documentation of the root package is the list.
func TestDocumented(t *testing.T) {
	doc, err := os.ReadFile("../../doc.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, pixel := range pairs.Pixels() {
		var sums []string
		for _, sum := range pairs.Sums.Of(pixel) {
			sums = append(sums, sum.String())
		}
		line := fmt.Sprintf("//\t%-9v %s\n", pixel, strings.Join(sums, ", "))
		if !strings.Contains(string(doc), line) {
			t.Errorf("doc.go has no line %q", line)
		}
	}
}

// TestExpandedFilesAreCurrent expands every go:generate line of the module and
// compares.
func TestExpandedFilesAreCurrent(t *testing.T) {
	const root, command = "../..", "//go:generate go run github.com/boxsum/boxsum/internal/pairs/expand "
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() && strings.HasPrefix(d.Name(), ".") && len(d.Name()) > 2 {
			return fs.SkipDir
		}
		if !strings.HasSuffix(path, ".go") || strings.Contains(filepath.ToSlash(path), "internal/pairs/") {
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
	file, want, err := pairs.Expand(args)
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
		_, text, err := pairs.Expand([]string{"-out", "x.py", "-list", "squares", "-kind", kind, "-before", "A = {", "-line", `"{{.Pixel.NumPy}}": "{{.Sum.NumPy}}",`, "-after", "}"})
		if err != nil || !strings.Contains(string(text), want) {
			t.Errorf("%s: %v: %s", kind, err, text)
		}
	}
	for _, bad := range [][]string{{"-list", "none"}, {"-kind", "none"}, {"-line", "{{.None}}"}, {"-line", "{{"}, {"-none"}, {"-out", "x.go", "-before", "pack age"}} {
		if _, _, err := pairs.Expand(bad); err == nil {
			t.Errorf("%q has no error", bad)
		}
	}
}
