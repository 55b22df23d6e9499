package cmdline

import (
	"fmt"
	"go/doc/comment"
	"io"
	"os"
	"strconv"
	"strings"
)

// WriteHelp writes the help of a verb, or of the program, as wide as the terminal up to 100 columns.
func (l *Line) WriteHelp(to io.Writer, verb *Verb) error {
	width := 80
	if columns, err := strconv.Atoi(os.Getenv("COLUMNS")); err == nil && columns > 0 {
		width = min(columns, 100)
	}
	w := &page{width: width}
	if verb == nil {
		w.print("Usage: " + l.Name + " <command> [flags]")
		w.paragraph(l.Help)
	} else {
		w.print("Usage: " + l.Name + " " + verb.Usage())
		w.paragraph(verb.Help)
		w.paragraph(verb.Detail)
		if len(verb.Args) > 0 {
			w.print("")
			w.print("Arguments:")
			var rows [][2]string
			for _, v := range verb.Args {
				rows = append(rows, [2]string{v.String(), v.Help})
			}
			w.columns(rows)
		}
	}
	w.print("")
	w.print("Flags:")
	rows := flagRows(l.Flags)
	if verb != nil && len(verb.Flags) > 0 {
		rows = append(append(rows, [2]string{}), flagRows(verb.Flags)...)
	}
	w.columns(rows)
	if verb == nil {
		w.print("")
		w.print("Commands:")
		var rows [][2]string
		for _, v := range l.Verbs {
			if !v.Hidden {
				rows = append(rows, [2]string{v.Name, v.Help})
			}
		}
		w.columns(rows)
		w.print("")
		w.print(fmt.Sprintf("Run %q for more information on a command.", l.Name+" <command> --help"))
	}
	_, err := io.WriteString(to, w.text.String())
	return err
}

// Usage is a verb with what it takes, in a line.
func (v *Verb) Usage() string {
	words := []string{v.Name}
	for _, f := range v.Flags {
		if f.Required {
			words = append(words, "--"+f.Name+"="+f.Form())
		}
	}
	for _, a := range v.Args {
		words = append(words, a.String())
	}
	return strings.Join(append(words, "[flags]"), " ")
}

func flagRows(flags []*Value) (rows [][2]string) {
	for _, f := range flags {
		name := "    --"
		if f.Short != 0 {
			name = "-" + string(f.Short) + ", --"
		}
		if f.negatable {
			name += "[no-]"
		}
		if name += f.Name; !f.IsBool() {
			name += "=" + f.Form()
		}
		rows = append(rows, [2]string{name, f.Help})
	}
	return rows
}

// A page is help as it is written.
type page struct {
	text  strings.Builder
	width int
}

func (p *page) print(line string) { p.text.WriteString(strings.TrimRight(line, " ") + "\n") }

// paragraph writes text with the form of doc comments, after a blank line.
func (p *page) paragraph(text string) {
	if text == "" {
		return
	}
	p.print("")
	for line := range strings.SplitSeq(strings.TrimSpace(wrapped(text, p.width, "    ")), "\n") {
		p.print(line)
	}
}

// columns writes names, and what they are beside them, or below those that are long.
func (p *page) columns(rows [][2]string) {
	const indent, gap = "  ", 4
	width := p.width - len(indent)
	most, left := max(375*width/1000, 30), 0
	for _, row := range rows {
		if n := len(row[0]); n < most {
			left = max(left, n)
		}
	}
	for _, row := range rows {
		lines := strings.Split(strings.TrimRight(wrapped(row[1], width-left-gap, indent), "\n"), "\n")
		name := fmt.Sprintf("%s%-*s", indent, left, row[0])
		if len(row[0]) < most {
			name += strings.Repeat(" ", gap) + lines[0]
			lines = lines[1:]
		}
		p.print(name)
		for _, line := range lines {
			p.print(indent + strings.Repeat(" ", left+gap) + line)
		}
	}
}

// wrapped is text with the form of doc comments in lines of a width.
func wrapped(text string, width int, code string) string {
	printer := comment.Printer{TextWidth: width, TextCodePrefix: code}
	return string(printer.Text(new(comment.Parser).Parse(text)))
}
