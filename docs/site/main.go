// Command site makes the documentation a folder of pages that any web server, or none, shows: a page for
// each document, the reference from Go's doc comments and Python's docstrings, and a search that
// works offline. Links that lead nowhere are errors.
//
//	go run . ../.. ../../site
package main

import (
	"bytes"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/text"
)

//go:embed page.html style.css search.js
var assets embed.FS

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: site REPOSITORY FOLDER")
		os.Exit(2)
	}
	if err := write(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "site:", err)
		os.Exit(1)
	}
}

// order is how the documents are listed; those that are not named here come last, by name.
var order = []struct{ group, files string }{
	{"Begin", "README.md docs/tutorial.md docs/cookbook.md docs/types.md docs/migrate.md examples/README.md"},
	{"Guides", "docs/python.md docs/filters.md docs/threshold.md docs/match.md docs/detect.md docs/store.md docs/view.md docs/gpu.md"},
	{"Tables", "docs/histogram.md docs/moments.md docs/rotated.md docs/tilted.md docs/haar.md docs/volume.md"},
	{"How it works", "ARCHITECTURE.md docs/performance.md docs/papers.md"},
	{"Reference", ""},
	{"Project", "docs/api.md docs/versions.md CHANGELOG.md SECURITY.md CONTRIBUTING.md"},
}

// A page is a document as HTML.
type page struct {
	File, Path, Title string // the document, where its page is, and what it is called
	Body              template.HTML
	anchors           map[string]bool
	links             []string
	sections          []section
}

// A section is what the search finds.
type section struct {
	Page  string `json:"p"`
	At    string `json:"a"`
	Title string `json:"t"`
	Text  string `json:"x"`
}

type group struct {
	Name  string
	Pages []*page
}

func write(top, folder string) error {
	pages, groups, err := collect(top)
	if err != nil {
		return err
	}
	if err := check(top, pages); err != nil {
		return err
	}
	layout, err := template.ParseFS(assets, "page.html")
	if err != nil {
		return err
	}
	var index []section
	for _, p := range pages {
		var out bytes.Buffer
		up := strings.Repeat("../", strings.Count(p.Path, "/"))
		if err := layout.Execute(&out, map[string]any{"Page": p, "Groups": groups, "Up": up}); err != nil {
			return err
		}
		if err := put(folder, p.Path, out.Bytes()); err != nil {
			return err
		}
		index = append(index, p.sections...)
	}
	list, err := json.Marshal(index)
	if err != nil {
		return err
	}
	// A script and not a JSON file, which browsers do not fetch from a disk.
	if err := put(folder, "index.js", append(append([]byte("window.sections="), list...), ';', '\n')); err != nil {
		return err
	}
	for _, name := range []string{"style.css", "search.js"} {
		data, err := assets.ReadFile(name)
		if err != nil {
			return err
		}
		if err := put(folder, name, data); err != nil {
			return err
		}
	}
	return files(top, folder, pages)
}

func put(folder, name string, data []byte) error {
	to := filepath.Join(folder, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	return os.WriteFile(to, data, 0o644)
}

// collect reads all documents.
func collect(top string) (pages []*page, groups []group, err error) {
	rest := map[string]bool{}
	for _, pattern := range []string{"docs/*.md", "docs/reports/*/*.md"} {
		found, err := filepath.Glob(filepath.Join(top, filepath.FromSlash(pattern)))
		if err != nil {
			return nil, nil, err
		}
		for _, name := range found {
			inside, err := filepath.Rel(top, name)
			if err != nil {
				return nil, nil, err
			}
			rest[filepath.ToSlash(inside)] = true
		}
	}
	for _, o := range order {
		g := group{Name: o.group}
		for _, name := range strings.Fields(o.files) {
			delete(rest, name)
			p, err := document(top, name)
			if err != nil {
				return nil, nil, err
			}
			g.Pages = append(g.Pages, p)
		}
		if o.group == "Reference" {
			if g.Pages, err = reference(top); err != nil {
				return nil, nil, err
			}
		}
		groups, pages = append(groups, g), append(pages, g.Pages...)
	}
	more := group{Name: "More"}
	for _, name := range slices.Sorted(maps.Keys(rest)) {
		p, err := document(top, name)
		if err != nil {
			return nil, nil, err
		}
		more.Pages = append(more.Pages, p)
	}
	if len(more.Pages) > 0 {
		groups, pages = append(groups, more), append(pages, more.Pages...)
	}
	return pages, groups, nil
}

// pagePath is where a document's page is: README.md is the first page of its folder.
func pagePath(name string) string {
	folder, file := path.Split(name)
	if file == "README.md" {
		return folder + "index.html"
	}
	return strings.TrimSuffix(name, ".md") + ".html"
}

func document(top, name string) (*page, error) {
	source, err := os.ReadFile(filepath.Join(top, filepath.FromSlash(name)))
	if err != nil {
		return nil, err
	}
	return render(name, pagePath(name), source)
}

var markdown = goldmark.New(goldmark.WithExtensions(extension.GFM), goldmark.WithParserOptions(parser.WithAutoHeadingID()), goldmark.WithRendererOptions(html.WithUnsafe()))

// render makes a page of a document: links to documents become links to pages.
func render(file, at string, source []byte) (*page, error) {
	p := &page{File: file, Path: at, anchors: map[string]bool{}}
	ids := parser.NewContext(parser.WithIDs(&headings{used: map[string]bool{}}))
	tree := markdown.Parser().Parse(text.NewReader(source), parser.WithContext(ids))
	now := section{Page: at}
	keep := func() {
		if now.Text = strings.Join(strings.Fields(now.Text), " "); now.Title != "" {
			p.sections = append(p.sections, now)
		}
	}
	err := ast.Walk(tree, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Heading:
			keep()
			title := plain(n, source)
			if p.Title == "" {
				p.Title = title
			}
			id, _ := n.AttributeString("id")
			name, _ := id.([]byte)
			p.anchors[string(name)] = true
			now = section{Page: at, At: string(name), Title: title}
		case *ast.Link:
			p.links = append(p.links, string(n.Destination))
			n.Destination = []byte(target(file, at, string(n.Destination)))
		case *ast.Image:
			p.links = append(p.links, string(n.Destination))
			n.Destination = []byte(target(file, at, string(n.Destination)))
		case *ast.Text:
			now.Text += string(n.Value(source)) + " "
		case *ast.CodeBlock, *ast.FencedCodeBlock:
			lines := n.Lines()
			for i := range lines.Len() {
				one := lines.At(i)
				now.Text += string(one.Value(source)) + " "
			}
		}
		return ast.WalkContinue, nil
	})
	if err != nil {
		return nil, err
	}
	keep()
	var body bytes.Buffer
	if err := markdown.Renderer().Render(&body, source, tree); err != nil {
		return nil, err
	}
	p.Body = template.HTML(body.String())
	return p, nil
}

func plain(n ast.Node, source []byte) string {
	var b strings.Builder
	ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if t, ok := n.(*ast.Text); ok && entering {
			b.Write(t.Value(source))
		}
		return ast.WalkContinue, nil
	})
	return b.String()
}

// headings names headings as forges do, so that links work in both places.
type headings struct{ used map[string]bool }

var dropped = regexp.MustCompile(`[^\p{L}\p{N}\- _]`)

func (h *headings) Generate(value []byte, _ ast.NodeKind) []byte {
	name := strings.ReplaceAll(dropped.ReplaceAllString(strings.ToLower(strings.TrimSpace(string(value))), ""), " ", "-")
	id := name
	for i := 1; h.used[id]; i++ {
		id = fmt.Sprintf("%s-%d", name, i)
	}
	h.used[id] = true
	return []byte(id)
}

func (h *headings) Put(value []byte) { h.used[string(value)] = true }

// target is where a link of a document leads from its page.
func target(file, at, link string) string {
	if link == "" || strings.Contains(link, ":") || strings.HasPrefix(link, "#") {
		return link
	}
	name, anchor, has := strings.Cut(link, "#")
	inside := path.Join(path.Dir(file), name)
	if strings.HasSuffix(inside, ".md") {
		inside = pagePath(inside)
	} else if isSource(inside) {
		return "https://github.com/boxsum/boxsum/blob/main/" + inside
	}
	up := strings.Repeat("../", strings.Count(at, "/"))
	if has {
		anchor = "#" + anchor
	}
	return up + inside + anchor
}

// isSource reports whether a file is shown by the forge and not by the site.
func isSource(name string) bool {
	switch path.Ext(name) {
	case ".png", ".svg", ".html", ".txt", ".csv", ".json", ".css":
		return false
	}
	return true
}

// check follows all links inside of the project.
func check(top string, pages []*page) error {
	at := map[string]*page{}
	for _, p := range pages {
		at[p.File] = p
	}
	var wrong []error
	for _, p := range pages {
		for _, link := range p.links {
			if link == "" || strings.Contains(link, ":") {
				if strings.HasPrefix(link, "http:") {
					wrong = append(wrong, fmt.Errorf("%s: %s is not https", p.File, link))
				}
				continue
			}
			name, anchor, _ := strings.Cut(link, "#")
			file := p.File
			if name != "" {
				file = path.Join(path.Dir(p.File), name)
				if _, err := os.Stat(filepath.Join(top, filepath.FromSlash(file))); err != nil && at[file] == nil {
					wrong = append(wrong, fmt.Errorf("%s: %s is not there", p.File, link))
					continue
				}
			}
			if other := at[file]; anchor != "" && other != nil && !other.anchors[anchor] {
				wrong = append(wrong, fmt.Errorf("%s: %s has no heading %q", p.File, file, anchor))
			}
			if strings.HasSuffix(file, ".md") && at[file] == nil {
				wrong = append(wrong, fmt.Errorf("%s: %s has no page", p.File, link))
			}
		}
	}
	return errors.Join(wrong...)
}

// files copies what pages show: pictures, and files that they link to.
func files(top, folder string, pages []*page) error {
	for _, p := range pages {
		for _, link := range p.links {
			name, _, _ := strings.Cut(link, "#")
			if name == "" || strings.Contains(name, ":") || strings.HasSuffix(name, ".md") || isSource(name) {
				continue
			}
			inside := path.Join(path.Dir(p.File), name)
			data, err := os.ReadFile(filepath.Join(top, filepath.FromSlash(inside)))
			if errors.Is(err, fs.ErrNotExist) {
				return fmt.Errorf("%s: %w", p.File, err)
			}
			if err != nil {
				return err
			}
			if err := put(folder, inside, data); err != nil {
				return err
			}
		}
	}
	return nil
}
