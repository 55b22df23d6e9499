package explore

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/boxsum/boxsum/imgio"
	"github.com/boxsum/boxsum/store/sources"
	"github.com/boxsum/boxsum/zarr"
)

// OpenFile opens the named file: an image, an array, a volume, a store, a mosaic, a report or a
// folder of slices.
func OpenFile(ctx context.Context, name string) (Document, error) {
	base := filepath.Base(filepath.Clean(name))
	if strings.Contains(name, "://") {
		shown := zarr.Redacted(name) // the page shows no passwords
		return sourced(OpenStore(ctx, path.Base(shown), name))(shown)
	}
	if sources.IsMosaic(name) {
		return sourced(OpenStore(ctx, base, name))(name)
	}
	info, err := os.Stat(name)
	if err != nil {
		var of *fs.PathError
		if errors.As(err, &of) {
			err = of.Err
		}
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if info.IsDir() {
		if _, err := os.Stat(filepath.Join(name, "results.json")); err == nil {
			return openReport(base, name)
		}
		for _, meta := range []string{"zarr.json", ".zarray", ".zgroup"} {
			if _, err := os.Stat(filepath.Join(name, meta)); err == nil {
				return sourced(openFolder(ctx, base, name))(name)
			}
		}
		if err := checkLinks(name); err != nil {
			return nil, err
		}
		s, err := imgio.OpenStack(name, imgio.ToGray)
		if err != nil {
			return nil, err
		}
		return blockOf(ctx, base, s)
	}
	if strings.HasSuffix(name, ".zip") {
		return sourced(OpenStore(ctx, base, name))(name)
	}
	if strings.HasSuffix(name, ".json") {
		data, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		return newReport(base, data, nil)
	}
	if d, err := openVolume(ctx, base, name); d != nil || err != nil {
		return d, err
	}
	p, err := imgio.Open(name, imgio.ToGray)
	if err != nil {
		return nil, err
	}
	d, err := pictureOf(ctx, base, p, func() (*imgio.Picture, error) { return imgio.Open(name, imgio.Keep) })
	return sourced(d, err)(name)
}

// openFolder opens a store in a folder. It does not follow links out of the folder.
func openFolder(ctx context.Context, base, name string) (Document, error) {
	id := strings.ToLower(rand.Text())
	given.Store(id, func() (zarr.Bucket, error) {
		root, err := os.OpenRoot(name)
		return &rooted{zarr.Folder(name), root}, err
	})
	defer given.Delete(id)
	d, err := OpenStore(ctx, base, "given://"+id)
	if err != nil && strings.Contains(err.Error(), id) {
		err = refuse("%s", strings.ReplaceAll(err.Error(), "given://"+id, name))
	}
	return d, err
}

// A rooted bucket is a folder whose links cannot lead out of it.
type rooted struct {
	zarr.Bucket
	root *os.Root
}

func (b *rooted) Get(ctx context.Context, key string, offset, length int64, buf []byte) ([]byte, error) {
	if _, err := b.root.Stat(filepath.FromSlash(key)); err != nil {
		return nil, fmt.Errorf("%s: %w", key, err)
	}
	return b.Bucket.Get(ctx, key, offset, length, buf)
}

func (b *rooted) Close() error { return errors.Join(b.Bucket.Close(), b.root.Close()) }

// checkLinks returns an error if a link leads out of a folder.
func checkLinks(folder string) error {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return err
	}
	defer root.Close()
	entries, err := os.ReadDir(folder)
	for _, e := range entries {
		if _, bad := root.Stat(e.Name()); bad != nil && e.Type()&fs.ModeSymlink != 0 {
			return refuse("link %s leads out of its folder (replace it with a copy)", e.Name())
		}
	}
	return err
}

// sourced sets the name of a document in code to the one that the user gave.
func sourced(d Document, err error) func(name string) (Document, error) {
	return func(name string) (Document, error) {
		switch d := d.(type) {
		case *picture:
			d.source = name
		case *stored:
			d.source = name
		}
		return d, err
	}
}

// openVolume opens a file as a volume. It returns nil if the file is an image.
func openVolume(ctx context.Context, base, name string) (Document, error) {
	switch strings.ToLower(filepath.Ext(name)) {
	case ".npy":
		a, c, err := imgio.OpenNPY(name)
		if err != nil {
			return nil, nil // opening it as an image reports the error
		}
		defer c.Close()
		if !isVolume(a.Shape) {
			return nil, nil
		}
	case ".tif", ".tiff":
	default:
		return nil, nil
	}
	s, err := imgio.OpenStack(name, imgio.ToGray)
	if err != nil {
		return nil, nil
	}
	if s.Depth < 2 {
		return nil, s.Close()
	}
	return blockOf(ctx, base, s)
}

func sides(n int) string { return fmt.Sprintf("%d×%d", n, n) }

// naturally compares names such that numbers are ordered by value: slice2 comes before slice10.
func naturally(a, b string) int {
	for a != "" && b != "" {
		x, y := digits(a), digits(b)
		if x > 0 && y > 0 {
			m, n := strings.TrimLeft(a[:x], "0"), strings.TrimLeft(b[:y], "0")
			if len(m) != len(n) {
				return len(m) - len(n)
			}
			if c := strings.Compare(m, n); c != 0 {
				return c
			}
			a, b = a[x:], b[y:]
			continue
		}
		if a[0] != b[0] {
			return int(a[0]) - int(b[0])
		}
		a, b = a[1:], b[1:]
	}
	return len(a) - len(b)
}

func digits(s string) int {
	n := 0
	for n < len(s) && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	return n
}
