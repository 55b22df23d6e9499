package boxsum_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// errorCall matches the functions that make errors from a text.
var errorCall = regexp.MustCompile(`^(errors\.New|fmt\.Errorf|raster\.(Invalid|Unsupported|Overlapping|OutOfMemory)|bad)$`)

// TestErrorsNameNoPackage checks that no error of a package begins with its name: programs print errors as they
// are, and add their own name.
func TestErrorsNameNoPackage(t *testing.T) {
	skipped := []string{"internal/kernel/_gen", "docs", "examples", "scripts", ".venv", "node_modules"}
	err := filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		name = filepath.ToSlash(name)
		switch {
		case err != nil:
			return err
		case d.IsDir() && slices.Contains(skipped, name), d.IsDir() && strings.HasPrefix(d.Name(), ".") && name != ".":
			return filepath.SkipDir
		case d.IsDir(), path.Ext(name) != ".go", strings.HasSuffix(name, "_test.go"):
			return nil
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, name, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || len(call.Args) == 0 {
				return true
			}
			text, ok := call.Args[0].(*ast.BasicLit)
			if !ok || !errorCall.MatchString(nameOf(call.Fun)) {
				return true
			}
			for _, pkg := range []string{file.Name.Name, "boxsum"} {
				if strings.HasPrefix(text.Value[1:], pkg+": ") {
					t.Errorf("%s: the error %s begins with the name of its package", set.Position(n.Pos()), text.Value)
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// nameOf returns the name of a function as it is called, such as errors.New.
func nameOf(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return nameOf(e.X) + "." + e.Sel.Name
	}
	return ""
}
