package sources

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/zarr"
)

// A made array is computed on reading: from the tiles of a TIFF file, parts of an .npy
// file, or a mosaic. made is a bucket with the objects that the array would have.
type made struct {
	what      string // names the array in errors
	json      []byte
	counts    []int // number of chunks along each axis
	chunk     func(ctx context.Context, place []int) ([]byte, error)
	list      func(ctx context.Context, visit func(zarr.Object) error) error // for fingerprints
	parts     []*zarr.Array                                                  // source arrays
	names     []string                                                       // locations of the parts
	closing   func() error                                                   // may be nil
	footprint int64                                                          // bytes decoded for any chunk; 0 for the chunk's own size
}

// newMade returns the array that a bucket computes. Chunks have this machine's byte order
// unless spec says otherwise.
func newMade(ctx context.Context, spec *zarr.Spec, m *made) (*zarr.Array, error) {
	a, err := zarr.Create(ctx, m, "", spec)
	if err != nil {
		return nil, err
	}
	shape := a.Shape()
	for d, n := range a.Object() {
		m.counts = append(m.counts, raster.CeilDiv(shape[d], n))
	}
	return a, nil
}

func (m *made) Parts() []*zarr.Array { return m.parts }
func (m *made) Footprint() int64     { return m.footprint }

func (m *made) Get(ctx context.Context, key string, offset, length int64, _ []byte) ([]byte, error) {
	data := m.json
	if key != "zarr.json" {
		place, ok := m.place(key)
		if ok {
			var err error
			if data, err = m.chunk(ctx, place); err != nil {
				return nil, err
			}
		}
		if !ok || data == nil {
			return nil, &fs.PathError{Op: "read", Path: key, Err: fs.ErrNotExist}
		}
	}
	all := int64(len(data))
	if offset < 0 {
		offset, length = all+offset, -1
	}
	if length < 0 {
		length = all - offset
	}
	if offset < 0 || length < 0 || length > all-offset {
		return nil, fmt.Errorf("%s has %d bytes: %w", key, all, io.ErrUnexpectedEOF)
	}
	return data[offset : offset+length], ctx.Err()
}

// place returns the position of a chunk by its key.
func (m *made) place(key string) ([]int, bool) {
	parts := strings.Split(key, "/")
	if len(parts) != len(m.counts)+1 || parts[0] != "c" {
		return nil, false
	}
	place := make([]int, len(m.counts))
	for d := range place {
		n, err := strconv.Atoi(parts[d+1])
		if err != nil || n < 0 || n >= m.counts[d] {
			return nil, false
		}
		place[d] = n
	}
	return place, true
}

// Put stores the metadata, once. It accepts nothing else.
func (m *made) Put(_ context.Context, key string, data []byte) error {
	if key != "zarr.json" || m.json != nil {
		return m.readOnly()
	}
	m.json = data
	return nil
}

func (m *made) Delete(context.Context, string) error { return m.readOnly() }

func (m *made) readOnly() error {
	return fmt.Errorf("%s is open for reading only: %w", m.what, errors.ErrUnsupported)
}

func (m *made) List(ctx context.Context, _ string, visit func(zarr.Object) error) error {
	return m.list(ctx, visit)
}

func (m *made) Close() error {
	if m.closing == nil {
		return nil
	}
	return m.closing()
}

// Tiles returns the locations of the tiles of a mosaic, including those of nested mosaics,
// without passwords. It returns nil for other arrays.
func Tiles(a *zarr.Array) []string {
	m, ok := a.Bucket().(*made)
	if !ok {
		return nil
	}
	all := slices.Clone(m.names)
	for _, part := range m.parts {
		all = append(all, Tiles(part)...)
	}
	return all
}

// A file is opened for each read and closed again, because a mosaic may have more files
// than a process may have open.
type file string

func (f file) ReadAt(b []byte, at int64) (int, error) {
	open, err := os.Open(string(f))
	if err != nil {
		return 0, err
	}
	defer open.Close()
	return open.ReadAt(b, at)
}

// list describes a file for fingerprints.
func (f file) list(_ context.Context, visit func(zarr.Object) error) error {
	info, err := os.Stat(string(f))
	if err != nil {
		return err
	}
	return visit(zarr.Object{Key: "zarr.json", Size: info.Size(), Version: strconv.FormatInt(info.ModTime().UnixNano(), 36)})
}

// size returns the size of a file, or an error if it is not a file.
func (f file) size() (int64, error) {
	info, err := os.Stat(string(f))
	if err != nil {
		return 0, err
	}
	if !info.Mode().IsRegular() {
		return 0, raster.Invalid("%s is not a regular file", string(f))
	}
	return info.Size(), nil
}

// cutOff returns the error for a file that ends too early.
func cutOff(err error) error {
	if err == nil || errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// repeat fills dst with copies of element.
func repeat(dst, element []byte) {
	for n := copy(dst, element); n > 0 && n < len(dst); n *= 2 {
		copy(dst[n:], dst[:n])
	}
}
