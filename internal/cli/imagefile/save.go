package imagefile

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/boxsum/boxsum/imgio"
	"github.com/boxsum/boxsum/internal/cli/console"
	"github.com/boxsum/boxsum/store/sources"
	"github.com/boxsum/boxsum/zarr"
)

// CheckApart returns an error if the output would replace the input or become a slice of the
// volume.
func CheckApart(in, out string, volume bool) error {
	if in == console.Standard || out == console.Standard || out == "" || strings.Contains(in, "://") {
		return nil
	}
	if IsStore(in) { // the store may be inside a zip file
		if replaces(out, in) {
			return fmt.Errorf("%s is an input: write to another file", in)
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
		return CheckTiles(a, in, out)
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
		return fmt.Errorf("%s is the input folder: write to another one", folder)
	}
	return nil
}

// CheckTiles returns an error if the output would replace an array that is read, or a part
// of it.
func CheckTiles(a *zarr.Array, in, out string) error {
	for _, location := range append(sources.Tiles(a), in) {
		if replaces(out, location) {
			return fmt.Errorf("%s is an input: write to another file", zarr.Redacted(location))
		}
	}
	return nil
}

// replaces reports whether a location is the output or inside it.
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

// CheckFolder returns an error if the folder of an output does not exist, so that it is reported
// before the work starts.
func CheckFolder(path string) error {
	if path == "" || path == console.Standard {
		return nil
	}
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return fmt.Errorf("%s is a folder: name a file in it", path)
	}
	dir := filepath.Dir(path)
	switch info, err := os.Stat(dir); {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s: folder %s does not exist", path, dir)
	case err != nil:
		return err
	case !info.IsDir():
		return fmt.Errorf("%s: %s is not a folder", path, dir)
	}
	return nil
}

// Save writes about size bytes to a path, completely or not at all.
func Save(sh *console.Shell, path string, size int64, to func(io.Writer) error) error {
	sh.Progress.Begin("writing", size)
	write := func(w io.Writer) error { return to(&meteredWriter{sh.Ctx, w, sh.Progress}) }
	save := func() (done struct{}, err error) {
		if path == console.Standard {
			return done, write(sh.Stdout)
		}
		return done, imgio.WriteFile(path, write)
	}
	ctx := context.Background()
	if path == console.Standard || IsDevice(path) {
		ctx = sh.Ctx // a reader may stall, and nothing needs to be cleaned up
	}
	_, err := console.Await(ctx, save)
	return err
}

// IsDevice reports whether a path is a pipe or a device rather than a file.
func IsDevice(path string) bool {
	info, err := os.Stat(path)
	return err == nil && !info.IsDir() && !info.Mode().IsRegular()
}

// A meteredWriter counts the bytes written and stops on Ctrl-C.
type meteredWriter struct {
	ctx      context.Context
	w        io.Writer
	progress *console.Progress
}

func (m *meteredWriter) Write(b []byte) (int, error) {
	if err := m.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := m.w.Write(b)
	m.progress.Add(int64(n))
	return n, err
}

// InputName returns the name of an input for a message.
func InputName(path string) string {
	if path == console.Standard {
		return "standard input"
	}
	return path
}

// NameOf returns the name of an output for a message.
func NameOf(path string) string {
	if path == console.Standard {
		return "standard output"
	}
	return path
}
