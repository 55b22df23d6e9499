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

// expand writes one piece of text for every type or pair of types in a list: Go cannot
// loop over types, so tables of instantiated generic functions have to be written out.
// Its arguments are those of the command expand:
//
//	-out FILE      output file; a Go file is formatted
//	-list NAME     sums (the default), squares, types, pixels or accumulators
//	-kind NAME     only pairs of upright (the default), tilted, rotated, volume or device tables
//	-before TEXT   text before the list; -line TEXT for each item; -after TEXT after it
//	-template FILE template to use in place of these; -with NAME is its data
//
// Texts are templates of package text/template. The data of -line is a raster.Pair or a
// raster.Type, that of the others the NAME of -with; \n is a new line. The functions are
// {{square .Pixel}}, the usual type of squares; {{pixels}}, the pixel types that all kinds
// of tables support; {{sums .Pixel}} and {{accumulators}}, lists of types;
// {{upper .Short}}; and {{rows `...`}} and {{types `...`}}, see rows and types.
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

// rows parses a text whose cells are separated by | and returns a map for each line,
// keyed by the cells of the first line.
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

// items returns the types or pairs of a list.
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

// types parses a list of sets of types, such as "float32 float64 × uint8; uint8 × uint8",
// and returns the type arguments of a function, indexed by the numbers of its types.
// Combinations that are not listed are empty.
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

// product returns every combination of a type from each set, indexed by their numbers.
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

// write writes the output of expand to its file.
func write(args []string) error {
	file, text, err := expand(args)
	if err != nil {
		return err
	}
	return os.WriteFile(file, text, 0o644)
}
