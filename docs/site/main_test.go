package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The site of this repository is whole: every link leads somewhere, and the search knows every page.
func TestSite(t *testing.T) {
	folder := t.TempDir()
	if err := write("../..", folder); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"index.html", "docs/cookbook.html", "examples/index.html", "reference/boxsum.html", "reference/boxsum-filter.html", "reference/python.html", "docs/boxsum.png"} {
		if _, err := os.Stat(filepath.Join(folder, filepath.FromSlash(name))); err != nil {
			t.Error(err)
		}
	}
	text, err := os.ReadFile(filepath.Join(folder, "index.js"))
	if err != nil {
		t.Fatal(err)
	}
	var all []section
	if err := json.Unmarshal([]byte(strings.TrimSuffix(strings.TrimPrefix(string(text), "window.sections="), ";\n")), &all); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"boxsum.box_filter", "boxsum.local_mean", "boxsum.StoredTable.box_sum", "boxsum.torch.box_filter", "boxsum.detect.Cascade.detect"} {
		if !slices.ContainsFunc(all, func(s section) bool { return s.Page == "reference/python.html" && s.Title == name }) {
			t.Errorf("the reference has no %s", name)
		}
	}
	pages, err := filepath.Glob(filepath.Join(folder, "*", "*.html"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range append(pages, filepath.Join(folder, "index.html")) { // a heading may be called as a part of the page is
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		seen := map[string]bool{}
		for _, id := range regexp.MustCompile(` id="([^"]*)"`).FindAllStringSubmatch(string(text), -1) {
			if seen[id[1]] {
				t.Errorf("%s has %q twice", filepath.Base(name), id[1])
			}
			seen[id[1]] = true
		}
	}
	for _, want := range []string{"docs/cookbook.html", "reference/boxsum.html", "reference/python.html", "docs/migrate.html"} {
		found := false
		for _, s := range all {
			found = found || s.Page == want
		}
		if !found {
			t.Errorf("the search does not know %s", want)
		}
	}
}

func TestDocstring(t *testing.T) {
	got := docMarkdown(`Sums ` + "``a * b`` of *boxes*, see :func:`integral`." + `

    Parameters
    ----------
    a : array_like
        An image.
        Of bytes.

        ====== ====
        ` + "``x``" + `  one
        ` + "``yy``" + ` two,
               more
        ====== ====
    b, c : int, optional
        Numbers.

    Examples
    --------
    >>> f(1)
    2

    Like this::

        table[-1]
    `)
	for _, want := range []string{"Sums `a * b` of \\*boxes\\*, see `integral`.\n", "**Parameters**\n\n- `a`: array\\_like. An image. Of bytes. \n  - `x`: one\n  - `yy`: two, more\n\n \n- `b, c`: int, optional. Numbers.\n",
		"**Examples**\n\n\n```python\n>>> f(1)\n2\n```\n", "Like this:\n\n```python\n    table[-1]\n```\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in\n%s", want, got)
		}
	}
}

func TestWrongLinks(t *testing.T) {
	pages := func(source string) []*page {
		p, err := render("docs/a.md", "docs/a.html", []byte(source))
		if err != nil {
			t.Fatal(err)
		}
		return []*page{p}
	}
	for source, wrong := range map[string]bool{
		"# A\n[x](#a)":                   false,
		"# A b, c!\n[x](#a-b-c)":         false,
		"# A\n[x](../README.md)":         true, // has no page here
		"# A\n[x](#b)":                   true,
		"# A\n[x](none.md)":              true,
		"# A\n![x](none.png)":            true,
		"# A\n[x](http://example.com)":   true,
		"# A\n[x](https://example.com/)": false,
	} {
		if err := check("../..", pages(source)); (err != nil) != wrong {
			t.Errorf("%q: %v", source, err)
		}
	}
}

func TestTarget(t *testing.T) {
	for link, want := range map[string]string{
		"gpu.md#volumes":        "../docs/gpu.html#volumes",
		"../README.md":          "../index.html",
		"../examples/README.md": "../examples/index.html",
		"boxsum.png":            "../docs/boxsum.png",
		"../examples/f/main.go": "https://github.com/boxsum/boxsum/blob/main/examples/f/main.go",
		"https://go.dev/":       "https://go.dev/",
		"#here":                 "#here",
	} {
		if got := target("docs/a.md", "docs/a.html", link); got != want {
			t.Errorf("%s leads to %s, not %s", link, got, want)
		}
	}
}
