package reproduce

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"path"
	"strings"
	plain "text/template"

	"github.com/boxsum/boxsum/lab/plot"
)

// The report as one self-contained page, and as Markdown, whose plots are separate files.
var (
	//go:embed report.html
	page string
	//go:embed report.markdown
	markdown string

	pageTemplate     = template.Must(template.New("report").Funcs(blockFuncs).Parse(page))
	markdownTemplate = plain.Must(plain.New("report").Funcs(blockFuncs).Parse(markdown))

	blockFuncs = template.FuncMap{
		"kind":   blockKind,
		"svg":    inlineSVG,
		"anchor": func(name string) string { return strings.ReplaceAll(name, "/", "-") },
		"verdict": func(v verdict) string {
			return map[verdict]string{holds: "yes", partly: "part", fails: "no", unknown: "open", noGPU: "open"}[v]
		},
		// Escape characters that have a meaning in Markdown.
		"md": strings.NewReplacer("|", `\|`, "*", `\*`, "_", `\_`, "<", "&lt;", "`", "\\`", "[", `\[`, "]", `\]`, "\n", " ").Replace,
	}
)

func (d *document) html(w io.Writer) error { return pageTemplate.Execute(w, d) }

func (d *document) markdown(w io.Writer) error {
	var b strings.Builder
	if err := markdownTemplate.Execute(&b, d); err != nil {
		return err
	}
	_, err := io.WriteString(w, strings.TrimRight(b.String(), "\n")+"\n")
	return err
}

// Marks returns the Markdown markup of each kind of cell.
func (d *document) Marks() map[string]string {
	return map[string]string{"boxsum": "**", "published": "*"}
}

// blockKind returns the name of a block's type.
func blockKind(b block) string { return strings.TrimLeft(path.Ext(fmt.Sprintf("%T", b)), ".") }

// inlineSVG returns a plot for inclusion in the page. Its texts were escaped when it was drawn.
func inlineSVG(p *picture) (template.HTML, error) {
	var b bytes.Buffer
	err := plot.SVG(&b, p.Figure)
	return template.HTML(b.String()), err
}
