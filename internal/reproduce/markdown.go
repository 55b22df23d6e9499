package reproduce

import (
	"fmt"
	"io"
	"strings"
)

// markdown writes the report as Markdown. Its plots are files beside it.
func (d *document) markdown(w io.Writer) error {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n\n", args...) }
	line("# %s", md(d.Title))
	if d.Interrupted {
		line("**Interrupted:** this has what was measured until then.")
	}
	for _, f := range d.Facts {
		fmt.Fprintf(&b, "- %s: %s\n", f[0], md(f[1]))
	}
	b.WriteString("\n")
	if d.Note != "" {
		line("**%s**", md(d.Note))
	}
	line("%s", md(d.method()))
	line("In tables, *italics* are what others published, plain figures are their algorithms measured here, and **bold** ones are boxsum.")
	if len(d.Findings) > 0 {
		line("## What the works claim, and what these figures say")
		b.WriteString("| claim | | here |\n|---|---|---|\n")
		for _, f := range d.Findings {
			fmt.Fprintf(&b, "| %s | **%s** | %s |\n", md(f.Claim), f.Verdict, md(f.text()))
		}
		b.WriteString("\n")
	}
	for _, work := range d.Works {
		line("## %s", md(work.Title))
		if work.Citation != "" {
			line("%s", md(work.Citation))
		}
		for _, s := range work.Sections {
			line("### %s", md(s.Title))
			for _, block := range s.Blocks {
				switch block := block.(type) {
				case text:
					line("%s", md(string(block)))
				case *table:
					block.markdown(&b)
				case *picture:
					line("![%s](plots/%s.svg)", md(block.Caption), block.Name)
				case *finding:
					line("> %s: **%s**. %s", md(block.Claim), block.Verdict, md(block.text()))
				}
			}
		}
	}
	_, err := io.WriteString(w, strings.TrimRight(b.String(), "\n")+"\n")
	return err
}

func (t *table) markdown(b *strings.Builder) {
	fmt.Fprintf(b, "%s\n\n", md(t.Caption))
	row := func(cells []string) { fmt.Fprintf(b, "| %s |\n", strings.Join(cells, " | ")) }
	head, rule := make([]string, len(t.Head)), make([]string, len(t.Head))
	for i, h := range t.Head {
		head[i], rule[i] = md(h), "--:"
	}
	for i := range max(t.Left, 1) {
		rule[i] = ":--"
	}
	row(head)
	row(rule)
	for _, r := range t.Rows {
		cells := make([]string, len(r))
		for i, c := range r {
			switch cells[i] = md(c.Text); {
			case c.Text == "":
			case c.Kind == "boxsum":
				cells[i] = "**" + cells[i] + "**"
			case c.Kind == "published":
				cells[i] = "*" + cells[i] + "*"
			}
		}
		row(cells)
	}
	b.WriteString("\n")
}

// md escapes what Markdown would take for itself.
var md = strings.NewReplacer("|", `\|`, "*", `\*`, "_", `\_`, "<", "&lt;", "`", "\\`", "[", `\[`, "]", `\]`, "\n", " ").Replace
