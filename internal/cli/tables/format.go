package tables

import (
	"image/png"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/boxsum/boxsum/internal/cli/console"
	"github.com/boxsum/boxsum/internal/cli/imagefile"
)

// A format is a file format for tables.
type format struct {
	extension string
	tables    int                // maximum number of tables in a file
	rows      bool               // can be written row by row
	size      func(output) int64 // approximate file size in bytes, or 0 if unknown
	write     func(output, io.Writer) error
}

// picture is the file name extension of heat maps.
const picture = ".png"

var formats = []format{
	{".npy", 1, true, output.written, output.writeNPY},
	{".npz", 3, true, output.written, output.writeNPZ},
	{picture, 1, false, func(output) int64 { return 0 }, func(o output, w io.Writer) error { return png.Encode(w, o.picture()) }},
}

// formatOf returns the format for an output path. Standard output gets the first format. A device
// or a pipe, whose name has no meaning, gets a format that holds all tables. No path gives the zero
// format.
func formatOf(path, tables string, squares, tilted bool) (format, error) {
	extension := strings.ToLower(filepath.Ext(path))
	switch path {
	case "":
		return format{}, nil
	case console.Standard:
		extension = formats[0].extension
	}
	if imagefile.IsDevice(path) && !slices.ContainsFunc(formats, func(f format) bool { return f.extension == extension }) {
		if extension = ".npy"; squares || tilted {
			extension = ".npz"
		}
	}
	var known []string
	for _, f := range formats {
		if f.extension == extension {
			switch {
			case squares && f.tables < 2:
				return f, console.Usage("%s holds one table: write --squares to a .npz file", imagefile.NameOf(path))
			case tilted && f.tables < 2:
				return f, console.Usage("%s holds one table: write --tilted to a .npz file", imagefile.NameOf(path))
			}
			return f, imagefile.CheckFolder(path)
		}
		known = append(known, f.extension)
	}
	return format{}, console.Usage("%s: unknown extension %q: %s are written as %s", path, filepath.Ext(path), tables, strings.Join(known, ", "))
}

// save writes tables to a path, if one is given. The file appears complete or not at all.
func save(sh *console.Shell, path string, f format, tables output) error {
	if path == "" {
		return nil
	}
	return imagefile.Save(sh, path, f.size(tables), func(w io.Writer) error { return f.write(tables, w) })
}
