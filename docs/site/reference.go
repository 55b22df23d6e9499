package main

import (
	"bytes"
	"cmp"
	"fmt"
	"go/ast"
	"go/doc"
	"go/doc/comment"
	"go/format"
	"go/parser"
	"go/token"
	"maps"
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
		b.Write(documents.ReplaceAll(printer.Markdown(d.Parser().Parse(text)), []byte("[$0](../$0)")))
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
	docstring = regexp.MustCompile(`(?ms)^(?:def|class) (\w+)([^\n]*(?:\n[ )][^\n]*)*?:)\n    """(.*?)"""`) // no empty line is in a signature
	method    = regexp.MustCompile(`(?ms)^    def ([a-z]\w*)(\([^\n]*(?:\n    [^\n]+)*?:)\n        """(.*?)"""`)
)

// pythonPage has the docstrings of what __all__ lists in boxsum and in those of its modules that are imported by name.
func pythonPage(top string) (*page, error) {
	folder := filepath.Join(top, "python", "src", "boxsum")
	public := func(file string) (map[string]bool, error) {
		source, err := os.ReadFile(filepath.Join(folder, file))
		names := map[string]bool{}
		for _, name := range quoted.FindAllStringSubmatch(listed.FindString(string(source)), -1) {
			names[name[1]] = true
		}
		return names, err
	}
	main, err := public("__init__.py")
	if err != nil {
		return nil, err
	}
	files, err := filepath.Glob(filepath.Join(folder, "*.py"))
	if err != nil {
		return nil, err
	}
	texts := map[string]string{}
	for _, path := range files {
		source, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		file, names, prefix := filepath.Base(path), main, "boxsum."
		if file == "detect.py" || file == "torch.py" || file == "jax.py" {
			if names, err = public(file); err != nil {
				return nil, err
			}
			prefix += strings.TrimSuffix(file, ".py") + "."
		}
		all := docstring.FindAllStringSubmatchIndex(string(source), -1)
		for i, at := range all {
			part := func(n int) string { return string(source[at[2*n]:at[2*n+1]]) }
			name := part(1)
			if !names[name] {
				continue
			}
			var b strings.Builder
			fmt.Fprintf(&b, "## %s%s\n\n```python\n%s%s\n```\n\n%s", prefix, name, name, strings.TrimSuffix(part(2), ":"), docMarkdown(part(3)))
			if strings.HasPrefix(part(0), "class") {
				end := len(source)
				if next := regexp.MustCompile(`(?m)^[a-zA-Z@_]`).FindIndex(source[at[1]:]); next != nil {
					end = at[1] + next[0]
				}
				if i+1 < len(all) {
					end = min(end, all[i+1][0])
				}
				for _, m := range method.FindAllStringSubmatch(string(source[at[1]:end]), -1) {
					fmt.Fprintf(&b, "### %s%s.%s\n\n```python\n%s%s\n```\n\n%s", prefix, name, m[1], m[1], strings.TrimSuffix(m[2], ":"), docMarkdown(m[3]))
				}
			}
			texts[prefix+name] = b.String()
		}
	}
	var b bytes.Buffer
	b.WriteString("# Python: reference\n\n")
	order := slices.SortedFunc(maps.Keys(texts), func(a, b string) int { // modules after what is in boxsum itself
		return cmp.Or(cmp.Compare(strings.Count(a, "."), strings.Count(b, ".")), strings.Compare(strings.ToLower(a), strings.ToLower(b)))
	})
	for _, name := range order {
		b.WriteString(texts[name])
	}
	return render("reference/python.md", "reference/python.html", b.Bytes())
}

var (
	role    = regexp.MustCompile(":[a-z]+:`~?([^`]*)`")
	literal = regexp.MustCompile("``([^`]*)``")
)

// documents are what comments name of this folder: links in the reference.
var documents = regexp.MustCompile(`\bdocs/[a-z]+\.md\b`)

// prose is a line of a docstring as Markdown: what is between backquotes is code, and no other sign is one of Markdown.
func prose(line string) string {
	line = literal.ReplaceAllString(role.ReplaceAllString(line, "`$1`"), "`$1`")
	parts := strings.Split(line, "`")
	for i := 0; i < len(parts); i += 2 {
		parts[i] = strings.NewReplacer("*", `\*`, "<", "&lt;", "[", `\[`, "_", `\_`).Replace(parts[i])
	}
	return strings.Join(parts, "`")
}

// docMarkdown is a docstring, in the style of NumPy, as Markdown.
func docMarkdown(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	least := 1000 // how far the lines after the first are indented
	for _, line := range lines[1:] {
		if rest := strings.TrimLeft(line, " "); rest != "" {
			least = min(least, len(line)-len(rest))
		}
	}
	for i, line := range lines[1:] {
		lines[i+1] = strings.TrimRight(line[min(least, len(line)):], " ")
	}
	var b strings.Builder
	indented := func(line string) bool { return strings.HasPrefix(line, " ") }
	code := func(i int, end func(string) bool) int {
		b.WriteString("\n```python\n")
		from := i
		for i < len(lines) && !end(lines[i]) {
			i++
		}
		b.WriteString(strings.TrimRight(strings.Join(lines[from:i], "\n"), "\n") + "\n```\n\n")
		return i
	}
	items := false // names, with what they are indented below
	for i := 0; i < len(lines); {
		line := lines[i]
		switch {
		case i+1 < len(lines) && line != "" && strings.Trim(lines[i+1], "-") == "" && lines[i+1] != "":
			fmt.Fprintf(&b, "\n**%s**\n\n", line)
			items = slices.Contains([]string{"Parameters", "Returns", "Attributes", "Raises", "Yields"}, line)
			i += 2
		case strings.HasPrefix(line, ">>>"):
			i = code(i, func(line string) bool { return line == "" })
		case strings.HasSuffix(line, "::"):
			if rest := strings.TrimSuffix(line, ":"); rest != ":" {
				b.WriteString(prose(rest) + "\n")
			}
			for i++; i < len(lines) && lines[i] == ""; i++ {
			}
			i = code(i, func(line string) bool { return line != "" && !indented(line) })
		case items && line != "" && !indented(line):
			name, kind, typed := strings.Cut(line, " : ")
			fmt.Fprintf(&b, "- `%s`", name)
			if typed {
				b.WriteString(": " + prose(kind))
			}
			b.WriteString(".")
			second := 0 // where the second column of a table begins
			for i++; i < len(lines) && (indented(lines[i]) || lines[i] == "" && i+1 < len(lines) && indented(lines[i+1])); i++ {
				switch line := strings.TrimRight(lines[i], " "); {
				case strings.Trim(line, "= ") == "" && strings.Contains(strings.TrimSpace(line), " "):
					if second > 0 {
						second = 0
						b.WriteString("\n\n ")
					} else {
						second = strings.LastIndex(line, " =") + 1
					}
				case second > 0 && len(line) > second && strings.TrimSpace(line[:second]) != "":
					fmt.Fprintf(&b, "\n  - %s: %s", prose(strings.TrimSpace(line[:second])), prose(line[second:]))
				default:
					b.WriteString(" " + prose(strings.TrimSpace(line)))
				}
			}
			b.WriteString("\n")
		default:
			b.WriteString(prose(strings.TrimLeft(line, " ")) + "\n")
			i++
		}
	}
	return b.String() + "\n"
}
