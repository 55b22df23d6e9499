package main

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

	"github.com/boxsum/boxsum/internal/raster"
)

// expand writes a file with one piece of text for every pair of a list: Go cannot
// loop over types, so that a table of generic functions has to be written out. Its
// arguments are those of the command expand:
//
//	-out FILE      where to write; a Go file is formatted
//	-list NAME     sums (the default), squares, types, pixels or accumulators
//	-kind NAME     the part of sums or squares that tilted, rotated, volume or device tables have
//	-before TEXT   what comes before, -line TEXT for each, and -after TEXT after
//	-template FILE a text in the place of these, for a package: -with NAME
//
// Texts are templates of package text/template over a raster.Pair or a raster.Type, and the others
// over the NAME; \n is a new line. Besides fields and methods they know {{square .Pixel}},
// the usual type of squares, {{pixels}} (those of all kinds of tables), {{sums .Pixel}} and {{accumulators}}, lists of types, {{upper .Short}},
// {{rows `...`}} and {{types `...`}}, see rows and types.
func expand(args []string) (file string, text []byte, err error) {
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
		t, err := template.New("").Funcs(functions).Parse(strings.ReplaceAll(part.text, `\n`, "\n") + "\n")
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

var functions = template.FuncMap{
	"square": raster.SquarePairs.Usual, "pixels": raster.SumPairs.For(raster.OnDevice).Pixels, "sums": raster.SumPairs.Of, "accumulators": raster.SumTypes,
	"upper": strings.ToUpper, "rows": rows, "types": types,
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
	kinds := map[string]raster.Kinds{"upright": raster.Upright, "tilted": raster.Tilted, "rotated": raster.Rotated, "volume": raster.Volume, "device": raster.OnDevice}
	of, ok := kinds[kind]
	if !ok {
		return nil, fmt.Errorf("unknown kind of tables %q", kind)
	}
	single := map[string]func() []raster.Type{"types": raster.AllTypes, "pixels": raster.SumPairs.For(raster.OnDevice).Pixels, "accumulators": raster.SumTypes}
	double := map[string]raster.PairList{"sums": raster.SumPairs, "squares": raster.SquarePairs}
	switch {
	case single[list] != nil:
		for _, t := range single[list]() {
			all = append(all, t)
		}
	case double[list] != nil:
		for _, p := range double[list].For(of) {
			all = append(all, p)
		}
	default:
		return nil, fmt.Errorf("unknown list %q", list)
	}
	return all, nil
}

// types is the type arguments of a function for every place of a list, nothing where it has
// none: of one or two sets of types, "float32 float64 × uint8; uint8 × uint8", by
// their numbers.
func types(list string) (all []string, err error) {
	for part := range strings.SplitSeq(list, ";") {
		some, err := product(strings.Split(part, "×"))
		if err != nil {
			return nil, err
		}
		for i, args := range some {
			if i == len(all) {
				all = append(all, args)
			} else if args != "" {
				all[i] = args
			}
		}
	}
	return all, nil
}

// product is every type of the first set with every one of the others, by their numbers.
func product(sets []string) ([]string, error) {
	all := make([]string, raster.F64+1)
	for _, name := range strings.Fields(sets[0]) {
		t, ok := raster.ParseType(name)
		if !ok {
			return nil, fmt.Errorf("unknown type %q", name)
		}
		all[t] = name
	}
	if len(sets) == 1 {
		return all, nil
	}
	others, err := product(sets[1:])
	if err != nil {
		return nil, err
	}
	var both []string
	for _, first := range all {
		for _, rest := range others {
			if first == "" || rest == "" {
				both = append(both, "")
			} else {
				both = append(both, first+", "+rest)
			}
		}
	}
	return both, nil
}

// write is expand to the file itself.
func write(args []string) error {
	file, text, err := expand(args)
	if err != nil {
		return err
	}
	return os.WriteFile(file, text, 0o644)
}
