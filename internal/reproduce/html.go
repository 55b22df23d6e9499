package reproduce

import (
	"bytes"
	_ "embed"
	"html/template"
	"io"
	"strings"

	"github.com/boxsum/boxsum/internal/plot"
)

//go:embed report.html
var page string

var pageTemplate = template.Must(template.New("report").Funcs(template.FuncMap{
	"kind":   blockKind,
	"svg":    inlineSVG,
	"anchor": func(name string) string { return strings.ReplaceAll(name, "/", "-") },
	"verdict": func(v verdict) string {
		return map[verdict]string{holds: "yes", partly: "part", fails: "no", unknown: "open", noGPU: "open"}[v]
	},
}).Parse(page))

// html writes the report as one page that needs nothing else.
func (d *document) html(w io.Writer) error {
	return pageTemplate.Execute(w, struct {
		*document
		Method string
	}{d, d.method()})
}

func blockKind(b block) string {
	switch b.(type) {
	case text:
		return "text"
	case *table:
		return "table"
	case *picture:
		return "picture"
	}
	return "finding"
}

// inlineSVG is a plot to stand in the page. Its texts were escaped when it was
// drawn.
func inlineSVG(p *picture) (template.HTML, error) {
	var b bytes.Buffer
	err := plot.SVG(&b, p.Figure)
	return template.HTML(b.String()), err
}
