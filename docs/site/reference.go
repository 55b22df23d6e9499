package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/doc"
	"go/doc/comment"
	"go/format"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// packages are those with a reference.
var packages = []string{"", "filter", "threshold", "match", "detect", "histogram", "moments", "rotated", "tilted", "haar", "volume", "store", "gpu", "gpu/interop", "imgio", "papers"}

// reference makes a page of each package's doc comments, and one of Python's docstrings.
func reference(top string) (pages []*page, err error) {
	for _, name := range packages {
		p, err := goPage(top, name)
		if err != nil {
			return nil, fmt.Errorf("package %s: %w", name, err)
		}
		pages = append(pages, p)
	}
	p, err := pythonPage(top)
	if err != nil {
		return nil, err
	}
	return append(pages, p), nil
}

func goPage(top, name string) (*page, error) {
	files := token.NewFileSet()
	found, err := filepath.Glob(filepath.Join(top, filepath.FromSlash(name), "*.go"))
	if err != nil {
		return nil, err
	}
	var parsed []*ast.File
	for _, path := range found {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(files, path, nil, parser.ParseComments)
		if err != nil {
			return nil, err
		}
		parsed = append(parsed, f)
	}
	path := "github.com/boxsum/boxsum"
	if name != "" {
		path += "/" + name
	}
	d, err := doc.NewFromFiles(files, parsed, path)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	show := func(text string) {
		printer := d.Printer()
		printer.HeadingLevel = 3
		printer.HeadingID = func(*comment.Heading) string { return "" }
		b.Write(printer.Markdown(d.Parser().Parse(text)))
		b.WriteString("\n")
	}
	declare := func(node any) {
		b.WriteString("```go\n")
		format.Node(&b, files, node)
		b.WriteString("\n```\n\n")
	}
	function := func(level string, f *doc.Func) {
		f.Decl.Body, f.Decl.Doc = nil, nil
		fmt.Fprintf(&b, "%s %s\n\n", level, f.Name)
		declare(f.Decl)
		show(f.Doc)
	}
	values := func(all []*doc.Value) {
		for _, v := range all {
			v.Decl.Doc = nil
			declare(v.Decl)
			show(v.Doc)
		}
	}
	fmt.Fprintf(&b, "# Package %s\n\n```go\nimport %q\n```\n\n", d.Name, path)
	show(d.Doc)
	values(d.Consts)
	values(d.Vars)
	for _, f := range d.Funcs {
		function("##", f)
	}
	for _, t := range d.Types {
		fmt.Fprintf(&b, "## %s\n\n", t.Name)
		t.Decl.Doc = nil
		declare(t.Decl)
		show(t.Doc)
		values(t.Consts)
		values(t.Vars)
		for _, f := range slices.Concat(t.Funcs, t.Methods) {
			function("###", f)
		}
	}
	at := "reference/" + strings.ReplaceAll(strings.TrimPrefix(path, "github.com/boxsum/"), "/", "-")
	// Comments link to each other as pkg.go.dev does; the words are enough here.
	source := regexp.MustCompile(`\[([^\]]*)\]\((/[^)]*|#[^)]*)\)`).ReplaceAll(b.Bytes(), []byte("$1"))
	return render(at+".md", at+".html", source)
}

var (
	listed    = regexp.MustCompile(`(?s)__all__ = \[(.*?)\]`)
	quoted    = regexp.MustCompile(`"(\w+)"`)
	docstring = regexp.MustCompile(`(?ms)^(?:def|class) (\w+)(.*?:)\n    """(.*?)"""`)
)

// pythonPage has the docstrings of what boxsum.__all__ lists.
func pythonPage(top string) (*page, error) {
	folder := filepath.Join(top, "python", "src", "boxsum")
	first, err := os.ReadFile(filepath.Join(folder, "__init__.py"))
	if err != nil {
		return nil, err
	}
	public := map[string]bool{}
	for _, name := range quoted.FindAllStringSubmatch(listed.FindString(string(first)), -1) {
		public[name[1]] = true
	}
	modules, err := filepath.Glob(filepath.Join(folder, "*.py"))
	if err != nil {
		return nil, err
	}
	texts := map[string]string{}
	for _, module := range modules {
		source, err := os.ReadFile(module)
		if err != nil {
			return nil, err
		}
		for _, found := range docstring.FindAllStringSubmatch(string(source), -1) {
			if name := found[1]; public[name] {
				texts[name] = fmt.Sprintf("## boxsum.%s\n\n```python\n%s%s\n```\n\n```text\n%s\n```\n\n", name, name, strings.TrimSuffix(found[2], ":"), strings.ReplaceAll(strings.TrimSpace(found[3]), "\n    ", "\n"))
			}
		}
	}
	names := make([]string, 0, len(texts))
	for name := range texts {
		names = append(names, name)
	}
	slices.Sort(names)
	var b bytes.Buffer
	b.WriteString("# Python: reference\n\n")
	for _, name := range names {
		b.WriteString(texts[name])
	}
	return render("reference/python.md", "reference/python.html", b.Bytes())
}
