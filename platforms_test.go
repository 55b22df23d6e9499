package boxsum_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestPlatforms type-checks every package, with its tests, for platforms on which no
// test runs: it finds constants that do not fit a 32-bit int, and calls that a system
// lacks. Compiling them all would take minutes for each platform; type-checking takes
// seconds.
func TestPlatforms(t *testing.T) {
	if testing.Short() {
		t.Skip("type-checks the whole project once for each platform")
	}
	for _, platform := range []string{"linux/386", "linux/arm64", "linux/ppc64le", "linux/riscv64", "linux/s390x", "darwin/arm64", "windows/amd64"} {
		t.Run(platform, func(t *testing.T) {
			t.Parallel()
			system, arch, _ := strings.Cut(platform, "/")
			list := exec.Command("go", "list", "-deps", "-test", "-json=ImportPath,ImportMap,Dir,GoFiles", "./...")
			list.Env = append(os.Environ(), "GOOS="+system, "GOARCH="+arch, "CGO_ENABLED=0")
			list.Stderr = os.Stderr
			out, err := list.Output()
			if err != nil {
				t.Fatal(err)
			}
			known := map[string]*types.Package{"unsafe": types.Unsafe}
			files := token.NewFileSet()
			for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
				var p struct {
					ImportPath, Dir string
					GoFiles         []string
					ImportMap       map[string]string
				}
				if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
					break
				} else if err != nil {
					t.Fatal(err)
				}
				if p.ImportPath == "unsafe" || strings.HasSuffix(p.ImportPath, ".test") { // a test's generated main has no source in the tree
					continue
				}
				ours := strings.HasPrefix(p.ImportPath, "github.com/boxsum/boxsum")
				if ours {
					os.ReadDir(p.Dir) // makes the test cache depend on the folder, so that a new file invalidates the result
				}
				var syntax []*ast.File
				for _, name := range p.GoFiles {
					file, err := parser.ParseFile(files, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
					if err != nil {
						t.Fatal(err)
					}
					syntax = append(syntax, file)
				}
				path, _, _ := strings.Cut(p.ImportPath, " ")
				config := types.Config{
					Sizes:            types.SizesFor("gc", arch),
					IgnoreFuncBodies: !ours,
					FakeImportC:      true,
					Importer: importerOf(func(name string) (*types.Package, error) {
						if to, ok := p.ImportMap[name]; ok {
							name = to
						}
						if p := known[name]; p != nil {
							return p, nil
						}
						return nil, errors.New("not listed: " + name)
					}),
					Error: func(err error) {
						if ours {
							t.Error(err)
						}
					}, // without an Error function, the first error would stop the check
				}
				checked, _ := config.Check(path, files, syntax, nil)
				known[p.ImportPath] = checked
			}
		})
	}
}

type importerOf func(string) (*types.Package, error)

func (f importerOf) Import(path string) (*types.Package, error) { return f(path) }
