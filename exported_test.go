package boxsum_test

import (
	"bytes"
	"flag"
	"go/ast"
	"go/doc"
	"go/parser"
	"go/printer"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write docs/api.txt anew")

// publicPackages returns the folders of the packages that users may import: all but
// internal packages, programs, examples, lab, and the explorer and Python library.
func publicPackages(t *testing.T) (folders []string) {
	t.Helper()
	out, err := exec.Command("go", "list", "-f", "{{.Name}} {{.ImportPath}}", "./...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	private := regexp.MustCompile(`(^|/)internal/|^(lab|web|cmd|python|docs|examples)(/|$)`)
	for line := range strings.Lines(string(out)) {
		name, path, _ := strings.Cut(strings.TrimSpace(line), " ")
		if folder, _ := local(path); name != "main" && !private.MatchString(folder) {
			folders = append(folders, folder)
		}
	}
	return folders
}

// TestPublicPackages tests that the documentation lists every package.
func TestPublicPackages(t *testing.T) {
	const page = "docs/reference/go.md"
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	for _, folder := range publicPackages(t) {
		if name := strings.Replace(folder, ".", "boxsum", 1); !bytes.Contains(text, []byte("`"+name+"`")) {
			t.Errorf("%s does not list package %s", page, name)
		}
	}
}

// TestExported compares the exported names with docs/api.txt, so that a change of a
// name that users rely on shows up in a diff.
func TestExported(t *testing.T) {
	var lines []string
	for _, dir := range publicPackages(t) {
		lines = append(lines, exported(t, dir)...)
	}
	got := strings.Join(lines, "\n") + "\n"
	const path = "docs/api.txt"
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("the exported names changed: if that is meant, go test -run TestExported . -update, and say so in docs/reference/conventions.md (-listed +is)\n%s", diff)
	}
}

// exported returns the exported names of a package, one per line, in order.
func exported(t *testing.T, dir string) (lines []string) {
	t.Helper()
	fset := token.NewFileSet()
	paths, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("%s has no Go files (%v)", dir, err)
	}
	var files []*ast.File
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(fset, path, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, file)
	}
	pkg, err := doc.NewFromFiles(fset, files, module+"/"+dir)
	if err != nil {
		t.Fatal(err)
	}
	add := func(node ast.Node) {
		var text bytes.Buffer
		if err := printer.Fprint(&text, fset, node); err != nil {
			t.Fatal(err)
		}
		fields := strings.Split(text.String(), "\n")
		for i := range fields {
			fields[i] = strings.Join(strings.Fields(fields[i]), " ")
		}
		line := strings.NewReplacer("; ; ", "; ", "{; ", "{ ", "; }", " }").Replace(strings.Join(fields, "; "))
		if !slices.Contains(lines, pkg.Name+": "+line) { // it appears once for each operating system
			lines = append(lines, pkg.Name+": "+line)
		}
	}
	values := func(all []*doc.Value) {
		for _, v := range all {
			for _, spec := range v.Decl.Specs {
				spec := spec.(*ast.ValueSpec)
				for _, name := range spec.Names {
					if name.IsExported() {
						add(&ast.GenDecl{Tok: v.Decl.Tok, Specs: []ast.Spec{&ast.ValueSpec{Names: []*ast.Ident{name}, Type: spec.Type}}})
					}
				}
			}
		}
	}
	funcs := func(all []*doc.Func) {
		for _, f := range all {
			add(&ast.FuncDecl{Recv: f.Decl.Recv, Name: f.Decl.Name, Type: f.Decl.Type})
		}
	}
	values(pkg.Consts)
	values(pkg.Vars)
	funcs(pkg.Funcs)
	for _, typ := range pkg.Types {
		for _, spec := range typ.Decl.Specs {
			add(bare(spec.(*ast.TypeSpec)))
		}
		values(typ.Consts)
		values(typ.Vars)
		funcs(typ.Funcs)
		funcs(typ.Methods)
	}
	slices.Sort(lines)
	return lines
}

// bare returns a type without comments and tags; package doc has already removed
// unexported names.
func bare(spec *ast.TypeSpec) ast.Node {
	ast.Inspect(spec, func(n ast.Node) bool {
		if f, ok := n.(*ast.Field); ok {
			f.Doc, f.Comment, f.Tag = nil, nil, nil
		}
		return true
	})
	spec.Doc, spec.Comment = nil, nil
	return &ast.GenDecl{Tok: token.TYPE, Specs: []ast.Spec{spec}}
}
