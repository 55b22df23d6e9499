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

// A format is a kind of file that tables can be written as.
type format struct {
	extension string
	tables    int                // how many one file holds, at most
	rows      bool               // whether it can be written row by row
	size      func(output) int64 // about, in bytes; 0 where nobody can tell
	write     func(output, io.Writer) error
}

// picture is the extension of heat maps.
const picture = ".png"

var formats = []format{
	{".npy", 1, true, output.written, output.writeNPY},
	{".npz", 3, true, output.written, output.writeNPZ},
	{picture, 1, false, func(output) int64 { return 0 }, func(o output, w io.Writer) error { return png.Encode(w, o.picture()) }},
}

// formatOf chooses the format of an output path for tables of a kind; standard output is
// the first. A device or a pipe, which may have any name, takes all tables. No path has none.
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

// save writes tables to a path, if there is one, whole or not at all.
func save(sh *console.Shell, path string, f format, tables output) error {
	if path == "" {
		return nil
	}
	return imagefile.Save(sh, path, f.size(tables), func(w io.Writer) error { return f.write(tables, w) })
}
