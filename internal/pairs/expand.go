package pairs

import (
	"bytes"
	"flag"
	"fmt"
	"go/format"
	"io"
	"os"
	"path/filepath"
	"strings"
	"text/template"
)

// Expand writes a file with one piece of text for every pair of a list: Go cannot
// loop over types, so that a table of generic functions has to be written out. Its
// arguments are those of the command expand:
//
//	-out FILE      where to write; a Go file is formatted
//	-list NAME     sums (the default), squares, types, pixels or accumulators
//	-kind NAME     the part of sums or squares that tilted, rotated, volume or device tables have
//	-before TEXT   what comes before, -line TEXT for each, and -after TEXT after
//	-template FILE a text in the place of these, for a package: -with NAME
//
// Texts are templates of package text/template over a Pair or a Type, and the others
// over the NAME; \n is a new line. Besides fields and methods they know {{square .Pixel}},
// the usual type of squares, and {{rows `...`}}, see rows.
func Expand(args []string) (file string, text []byte, err error) {
	flags := flag.NewFlagSet("expand", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	out := flags.String("out", "", "")
	list := flags.String("list", "sums", "")
	kind := flags.String("kind", "upright", "")
	before, line, after := flags.String("before", "", ""), flags.String("line", "", ""), flags.String("after", "", "")
	whole, with := flags.String("template", "", ""), flags.String("with", "", "")
	if err := flags.Parse(args); err != nil {
		return "", nil, err
	}
	items, err := items(*list, *kind)
	if err != nil {
		return "", nil, err
	}
	comment := "//"
	if strings.HasSuffix(*out, ".py") {
		comment = "#"
	}
	source := "the list of package pairs"
	if *whole != "" {
		content, err := os.ReadFile(*whole)
		if err != nil {
			return "", nil, err
		}
		*before, items, source = string(content), nil, filepath.Base(*whole)
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s Code generated from %s. DO NOT EDIT.\n\n", comment, source)
	for _, part := range []struct {
		text  string
		items []any
	}{{*before, []any{*with}}, {*line, items}, {*after, []any{*with}}} {
		t, err := template.New("").Funcs(template.FuncMap{"square": Squares.Usual, "rows": rows}).Parse(strings.ReplaceAll(part.text, `\n`, "\n") + "\n")
		if err != nil {
			return "", nil, err
		}
		for _, item := range part.items {
			if err := t.Execute(&b, item); err != nil {
				return "", nil, err
			}
		}
	}
	if !strings.HasSuffix(*out, ".go") {
		return *out, b.Bytes(), nil
	}
	text, err = format.Source(b.Bytes())
	return *out, text, err
}

// rows is the lines of a text whose cells are divided by |, each as a map by the cells of
// the first line.
func rows(text string) (all []map[string]string) {
	var keys []string
	for line := range strings.Lines(strings.TrimSpace(text)) {
		cells := strings.Split(line, "|")
		row := map[string]string{}
		for i, cell := range cells {
			if cells[i] = strings.TrimSpace(cell); keys != nil {
				row[keys[i]] = cells[i]
			}
		}
		if keys == nil {
			keys = cells
		} else {
			all = append(all, row)
		}
	}
	return all
}

// items is what a list is of.
func items(list, kind string) (all []any, err error) {
	kinds := map[string]Kinds{"upright": Upright, "tilted": Tilted, "rotated": Rotated, "volume": Volume, "device": OnDevice}
	of, ok := kinds[kind]
	if !ok {
		return nil, fmt.Errorf("unknown kind of tables %q", kind)
	}
	types := map[string]func() []Type{"types": All, "pixels": Pixels, "accumulators": Accumulators}
	pairs := map[string]List{"sums": Sums, "squares": Squares}
	switch {
	case types[list] != nil:
		for _, t := range types[list]() {
			all = append(all, t)
		}
	case pairs[list] != nil:
		for _, p := range pairs[list].For(of) {
			all = append(all, p)
		}
	default:
		return nil, fmt.Errorf("unknown list %q", list)
	}
	return all, nil
}

// WriteExpanded is Expand to the file itself.
func WriteExpanded(args []string) error {
	file, text, err := Expand(args)
	if err != nil {
		return err
	}
	return os.WriteFile(file, text, 0o644)
}
