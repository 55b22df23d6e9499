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
	"sync"
	"testing"
)

// TestPlatforms type-checks every package, with its tests, for platforms on which no
// test runs: it finds constants that do not fit a 32-bit int, and calls that a system
// lacks. Compiling them all would take minutes for each platform; type-checking takes
// seconds.
func TestPlatforms(t *testing.T) {
	if testing.Short() {
		t.Skip("type-checks the whole project once for each platform, which takes long: leave out -short")
	}
	parsed := parsedFiles{all: token.NewFileSet(), files: map[string]func() (*ast.File, error){}}
	for _, platform := range []string{"linux/386", "linux/arm64", "linux/ppc64le", "linux/riscv64", "linux/s390x", "darwin/arm64", "windows/amd64"} {
		t.Run(platform, func(t *testing.T) {
			t.Parallel()
			typeCheck(t, &parsed, ".", platform)
		})
	}
}

// TestModules type-checks the modules for object stores and Apache Beam, whose own tests
// run in a job of their own, because their dependencies take minutes to compile. It finds
// a change of this module that breaks them.
func TestModules(t *testing.T) {
	if os.Getenv("CI") != "true" {
		t.Skip("downloads the SDKs of object stores and Apache Beam: set CI=true to run it")
	}
	parsed := parsedFiles{all: token.NewFileSet(), files: map[string]func() (*ast.File, error){}}
	for _, module := range []string{"cloud", "beam"} {
		t.Run(module, func(t *testing.T) {
			t.Parallel()
			typeCheck(t, &parsed, module, "linux/amd64")
		})
	}
}

// typeCheck type-checks the packages of the module in a folder, with their tests, for a platform.
func typeCheck(t *testing.T, parsed *parsedFiles, folder, platform string) {
	system, arch, _ := strings.Cut(platform, "/")
	root, err := filepath.Abs(folder)
	if err != nil {
		t.Fatal(err)
	}
	list := exec.Command("go", "list", "-deps", "-test", "-json=ImportPath,ImportMap,Dir,GoFiles", "./...")
	list.Dir = folder
	list.Env = append(os.Environ(), "GOOS="+system, "GOARCH="+arch, "CGO_ENABLED=0")
	list.Stderr = os.Stderr
	out, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	type listed struct {
		ImportPath, Dir string
		GoFiles         []string
		ImportMap       map[string]string
	}
	var packages []listed
	tested := map[string]bool{} // packages that come a second time, with the tests inside of them
	for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		packages = append(packages, p)
		if path, test, _ := strings.Cut(p.ImportPath, " "); test == "["+path+".test]" {
			tested[path] = true
		}
	}
	known := map[string]*types.Package{"unsafe": types.Unsafe}
	for _, p := range packages {
		if p.ImportPath == "unsafe" || strings.HasSuffix(p.ImportPath, ".test") { // a test's generated main has no source in the tree
			continue
		}
		ours := p.Dir == root || strings.HasPrefix(p.Dir, root+string(filepath.Separator))
		if ours {
			os.ReadDir(p.Dir) // makes the test cache depend on the folder, so that a new file invalidates the result
		}
		var syntax []*ast.File
		for _, name := range p.GoFiles {
			file, err := parsed.file(filepath.Join(p.Dir, name), ours)
			if err != nil {
				t.Fatal(err)
			}
			syntax = append(syntax, file)
		}
		// Each function is checked once: packages come again for the tests of others.
		path, test, _ := strings.Cut(p.ImportPath, " ")
		bodies := ours && (test == "" && !tested[path] || test == "["+strings.TrimSuffix(path, "_test")+".test]")
		config := types.Config{
			Sizes:            types.SizesFor("gc", arch),
			IgnoreFuncBodies: !bodies,
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
		checked, _ := config.Check(path, parsed.all, syntax, nil)
		known[p.ImportPath] = checked
	}
}

// parsedFiles holds the files that were parsed, which are mostly the same for all platforms.
type parsedFiles struct {
	all   *token.FileSet
	mu    sync.Mutex
	files map[string]func() (*ast.File, error)
}

// file parses a file. Those of other modules lose what their types do not depend on: the bodies of
// functions, and the elements of literals, such as tables of characters.
func (p *parsedFiles) file(path string, ours bool) (*ast.File, error) {
	p.mu.Lock()
	parse, ok := p.files[path]
	if !ok {
		parse = sync.OnceValues(func() (*ast.File, error) {
			file, err := parser.ParseFile(p.all, path, nil, parser.SkipObjectResolution)
			if err == nil && !ours {
				ast.Inspect(file, prune)
			}
			return file, err
		})
		p.files[path] = parse
	}
	p.mu.Unlock()
	return parse()
}

func prune(node ast.Node) bool {
	switch node := node.(type) {
	case *ast.BlockStmt:
		node.List = nil
	case *ast.CompositeLit:
		if array, ok := node.Type.(*ast.ArrayType); ok {
			if _, counted := array.Len.(*ast.Ellipsis); counted { // its type has the number of elements
				return true
			}
		}
		node.Elts = nil
	}
	return true
}

type importerOf func(string) (*types.Package, error)

func (f importerOf) Import(path string) (*types.Package, error) { return f(path) }
