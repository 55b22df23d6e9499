package store

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/boxsum/boxsum/internal/grid"
)

// made is a bucket with the objects of a Zarr array that are made from something else when they are read: the tiles of a TIFF file, parts of an
// .npy file, a mosaic.
type made struct {
	what    string // in errors
	json    []byte
	counts  []int // of chunks along each axis
	chunk   func(ctx context.Context, place []int) ([]byte, error)
	list    func(ctx context.Context, visit func(Object) error) error // for fingerprints
	parts   []*Array                                                  // that it is made from
	names   []string                                                  // where these are
	closing func() error                                              // or nil
	whole   int64                                                     // bytes that are decoded for any chunk, or 0 for those of the chunk
}

// newMade is the array that a bucket makes, as specified. Chunks have the byte order of this machine unless the specification says otherwise.
func newMade(ctx context.Context, spec *Spec, m *made) (*Array, error) {
	meta, err := spec.metadata()
	if err != nil {
		return nil, err
	}
	m.json = meta.json()
	a, err := ArrayAt(ctx, m, "")
	if err != nil {
		return nil, err
	}
	a.owned, m.counts = true, a.counts
	return a, nil
}

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
			return nil, fmt.Errorf("store: %w", &fs.PathError{Op: "read", Path: key, Err: fs.ErrNotExist})
		}
	}
	offset, length, err := section(key, int64(len(data)), offset, length)
	if err != nil {
		return nil, err
	}
	return data[offset : offset+length], ctx.Err()
}

// place is that of a chunk, by its key.
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

func (m *made) Put(context.Context, string, []byte) error { return errReadOnly(m.what) }
func (m *made) Delete(context.Context, string) error      { return errReadOnly(m.what) }

func (m *made) List(ctx context.Context, _ string, visit func(Object) error) error {
	return m.list(ctx, visit)
}

func (m *made) Close() error {
	if m.closing == nil {
		return nil
	}
	return m.closing()
}

// keepUpTo has the array keep this many bytes of chunks, together with those of the arrays that it is made from.
func (a *Array) keepUpTo(limit int64) {
	c := newCache(limit)
	if n := decoders(limit, a.largest()); n > 0 {
		c.decoding = make(chan struct{}, n)
	}
	a.keepIn(c)
}

// decoders is how many chunks of up to this size may be decoded at once beside what is kept, or 0 for any number.
func decoders(limit, largest int64) int64 {
	if largest <= limit/8 {
		return 0
	}
	return max(1, limit/2/largest)
}

func (a *Array) keepIn(c *cache) {
	a.cache, a.decoding = c, nil
	if m, ok := a.bucket.(*made); ok && m.parts != nil {
		for _, part := range m.parts {
			part.keepIn(c)
		}
	} else if a.unitBytes() > c.limit/8 {
		a.decoding = c.decoding
	}
}

// Tiles is where the tiles of a mosaic are, and those of mosaics in it, without passwords. Other arrays have none.
func (a *Array) Tiles() []string {
	m, ok := a.bucket.(*made)
	if !ok {
		return nil
	}
	all := slices.Clone(m.names)
	for _, part := range m.parts {
		all = append(all, part.Tiles()...)
	}
	return all
}

// unitBytes is how many bytes are decoded to read any.
func (a *Array) unitBytes() int64 {
	if m, ok := a.bucket.(*made); ok && m.whole > 0 {
		return m.whole
	}
	return int64(product(a.unit)) * int64(a.m.typ.Size())
}

// largest is how many bytes are decoded at once, at most, of this array and those that it is made from.
func (a *Array) largest() int64 {
	n := a.unitBytes()
	if m, ok := a.bucket.(*made); ok {
		for _, part := range m.parts {
			n = max(n, part.largest())
		}
	}
	return n
}

// share is how an array is read in so many bytes: what it keeps, which is a chunk at least, what large chunks take beside while they are decoded, and
// what small ones take for each worker whose blocks have this many bytes.
func (a *Array) share(memory, block int64) (keep, beside, each int64) {
	largest := a.largest()
	keep = max(memory/4, largest+overhead)
	if n := decoders(keep, largest); n > 0 {
		return keep, 2 * largest * n, 0
	}
	return keep, 0, 3 * max(0, largest-block)
}

// A file is read where it is asked for, and open only for that long: a mosaic has more of them than a process may have open.
type file string

func (f file) ReadAt(b []byte, at int64) (int, error) {
	open, err := os.Open(string(f))
	if err != nil {
		return 0, err
	}
	defer open.Close()
	return open.ReadAt(b, at)
}

// list tells of a file as fingerprints want it.
func (f file) list(_ context.Context, visit func(Object) error) error {
	info, err := os.Stat(string(f))
	if err != nil {
		return fmt.Errorf("store: %w", err)
	}
	return visit(Object{Key: "zarr.json", Size: info.Size(), Version: strconv.FormatInt(info.ModTime().UnixNano(), 36)})
}

// size refuses what is no file.
func (f file) size() (int64, error) {
	info, err := os.Stat(string(f))
	if err != nil {
		return 0, fmt.Errorf("store: %w", err)
	}
	if !info.Mode().IsRegular() {
		return 0, grid.Invalid("%s is no file", string(f))
	}
	return info.Size(), nil
}
