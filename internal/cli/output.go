package cli

import (
	"context"
	"errors"
	"fmt"
	"image/png"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/boxsum/boxsum/imgio"
	"github.com/boxsum/boxsum/store/sources"
	"github.com/boxsum/boxsum/zarr"
)

// A format is a kind of file that tables can be written as.
type format struct {
	extension string
	tables    int                // how many one file holds, at most
	rows      bool               // whether it can be written row by row
	size      func(output) int64 // about, in bytes; 0 where nobody can tell
	write     func(output, io.Writer) error
}

var formats = []format{
	{".npy", 1, true, output.written, output.writeNPY},
	{".npz", 3, true, output.written, output.writeNPZ},
	{".png", 1, false, func(output) int64 { return 0 }, func(o output, w io.Writer) error { return png.Encode(w, o.picture()) }},
}

// formatOf chooses the format of an output path for tables of a kind; standard output is
// the first. A device or a pipe, which may have any name, takes all tables. No path has none.
func formatOf(path, tables string, squares, tilted bool) (format, error) {
	extension := strings.ToLower(filepath.Ext(path))
	switch path {
	case "":
		return format{}, nil
	case standard:
		extension = formats[0].extension
	}
	if isDevice(path) && !slices.ContainsFunc(formats, func(f format) bool { return f.extension == extension }) {
		if extension = ".npy"; squares || tilted {
			extension = ".npz"
		}
	}
	var known []string
	for _, f := range formats {
		if f.extension == extension {
			switch {
			case squares && f.tables < 2:
				return f, usage("%s holds one table: write --squares to a .npz file", nameOf(path))
			case tilted && f.tables < 2:
				return f, usage("%s holds one table: write --tilted to a .npz file", nameOf(path))
			}
			return f, checkFolder(path)
		}
		known = append(known, f.extension)
	}
	return format{}, usage("%s: unknown extension %q: %s are written as %s", path, filepath.Ext(path), tables, strings.Join(known, ", "))
}

// checkApart refuses an output that would replace the input, or be a slice of the volume next time.
func checkApart(in, out string, volume bool) error {
	if in == standard || out == standard || out == "" || strings.Contains(in, "://") {
		return nil
	}
	if isStore(in) { // which may be in a zip file
		if replaces(out, in) {
			return fmt.Errorf("%s is read, and would be replaced: write to another place", in)
		}
		return nil
	}
	if sources.IsMosaic(in) {
		if _, err := os.Stat(out); err != nil {
			return nil // it replaces nothing
		}
		a, err := sources.Open(context.Background(), in)
		if err != nil {
			return err
		}
		defer a.Close()
		return checkTiles(a, in, out)
	}
	from, err := os.Stat(in)
	if err != nil {
		return err
	}
	same := func(path string) bool {
		info, err := os.Stat(path)
		return err == nil && os.SameFile(from, info)
	}
	switch folder := filepath.Dir(out); {
	case same(out):
		return fmt.Errorf("%s is the input: write to another file", out)
	case volume && from.IsDir() && same(folder):
		return fmt.Errorf("%s is the folder of the slices: write to another one", folder)
	}
	return nil
}

// checkTiles refuses an output that would replace an array that is read, or a part of it.
func checkTiles(a *zarr.Array, in, out string) error {
	for _, location := range append(sources.Tiles(a), in) {
		if replaces(out, location) {
			return fmt.Errorf("%s is read, and would be replaced: write to another place", zarr.Redacted(location))
		}
	}
	return nil
}

// replaces reports whether a location is that of an output, or in it.
func replaces(out, location string) bool {
	out, location = strings.TrimPrefix(zarr.Redacted(out), "file://"), strings.TrimPrefix(zarr.Redacted(location), "file://")
	if strings.Contains(out, "://") || strings.Contains(location, "://") {
		return strings.HasPrefix(strings.TrimRight(location, "/")+"/", strings.TrimRight(out, "/")+"/")
	}
	to, err := os.Stat(out)
	if err != nil {
		return false
	}
	path, err := filepath.Abs(location)
	for err == nil {
		if info, err := os.Stat(path); err == nil && os.SameFile(info, to) {
			return true
		}
		if filepath.Dir(path) == path {
			break
		}
		path = filepath.Dir(path)
	}
	return false
}

// checkFolder finds out before the work, and not after it, that an output has
// nowhere to go.
func checkFolder(path string) error {
	if path == "" || path == standard {
		return nil
	}
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return fmt.Errorf("%s is a folder: name a file in it", path)
	}
	dir := filepath.Dir(path)
	switch info, err := os.Stat(dir); {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s: no such file or folder: make %s first", path, dir)
	case err != nil:
		return err
	case !info.IsDir():
		return fmt.Errorf("%s: %s is not a folder", path, dir)
	}
	return nil
}

// save writes tables to a path, if there is one, whole or not at all.
func (sh *shell) save(path string, f format, tables output) error {
	if path == "" {
		return nil
	}
	return sh.saveAs(path, f.size(tables), func(w io.Writer) error { return f.write(tables, w) })
}

// saveAs writes about this many bytes to a path, whole or not at all.
func (sh *shell) saveAs(path string, size int64, to func(io.Writer) error) error {
	sh.progress.begin("writing", size)
	write := func(w io.Writer) error { return to(&meteredWriter{sh.ctx, w, sh.progress}) }
	save := func() (done struct{}, err error) {
		if path == standard {
			return done, write(sh.stdout)
		}
		return done, imgio.WriteFile(path, write)
	}
	ctx := context.Background()
	if path == standard || isDevice(path) {
		ctx = sh.ctx // whoever reads it may stall, and nothing is left to clean up
	}
	_, err := await(ctx, save)
	return err
}

// isDevice reports whether a path is a pipe or something else that is no file.
func isDevice(path string) bool {
	info, err := os.Stat(path)
	return err == nil && !info.IsDir() && !info.Mode().IsRegular()
}

// reports is where to say what was done: standard output, unless that is where the output went, or
// nowhere with --quiet.
func (sh *shell) reports(out string) io.Writer {
	switch {
	case out != "" && sh.quiet:
		return io.Discard
	case out == standard:
		sh.progress.close()
		return sh.stderr
	}
	return sh.results()
}

// A meteredWriter counts what it writes and stops on Ctrl-C.
type meteredWriter struct {
	ctx      context.Context
	w        io.Writer
	progress *progress
}

func (m *meteredWriter) Write(b []byte) (int, error) {
	if err := m.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := m.w.Write(b)
	m.progress.add(int64(n))
	return n, err
}

// nameOf is what to call an output path in a sentence.
func nameOf(path string) string {
	if path == standard {
		return "standard output"
	}
	return path
}
