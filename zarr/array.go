package zarr

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/boxsum/boxsum/internal/raster"
)

// An Array is a Zarr array. It is safe for concurrent reads, and for concurrent writes to
// different objects.
type Array struct {
	bucket   Bucket
	path     string // in the bucket; ends with a slash unless empty
	owned    bool   // Close closes the bucket
	m        *metadata
	counts   []int         // number of objects along each axis
	unit     []int         // shape of a chunk, which may be part of a shard
	units    []int         // number of chunks along each axis
	codecs   *chain        // of a chunk
	shard    *shard        // nil unless the chunks of shards can be read alone
	cache    *Cache        // shard indexes and chunks
	keep     bool          // the cache is the caller's: partially read chunks stay in it
	decoding chan struct{} // limits the chunks being decoded at once; may be nil
}

// defaultCache is the size of an array's own cache.
const defaultCache = 16 << 20

// New returns the array with the given specification at a path in a bucket, or at its root
// if path is "". It does not write the array's metadata, which [Array.Metadata] returns.
// Use [Create] to do both.
func New(b Bucket, path string, spec *Spec) (*Array, error) {
	m, err := spec.metadata()
	if err != nil {
		return nil, err
	}
	return newArray(b, path, m), nil
}

// Create writes the metadata of a new array at a path in a bucket, or at its root if path
// is "". Elements have the fill value until they are written. The chunks of an array that
// was at the same path remain until they are overwritten.
func Create(ctx context.Context, b Bucket, path string, spec *Spec) (*Array, error) {
	a, err := New(b, path, spec)
	if err != nil {
		return nil, err
	}
	return raster.OrNil(a, a.writeMetadata(ctx))
}

// CreateFilled creates an array and calls fill to write it. It writes the metadata last, so
// an incomplete array cannot be opened. If there is already an array or a group, or if a
// zip file would be replaced, CreateFilled returns [fs.ErrExist].
func CreateFilled(ctx context.Context, b Bucket, path string, spec *Spec, fill func(*Array) error) (*Array, error) {
	a, err := New(b, path, spec)
	if err != nil {
		return nil, err
	}
	if file, there := replaced(b); there {
		return nil, fmt.Errorf("creating %s: %w (remove it, or choose another path)", file, fs.ErrExist)
	}
	for _, name := range []string{"zarr.json", ".zarray", ".zgroup"} {
		if _, err := b.Get(ctx, a.path+name, 0, -1, nil); err == nil {
			return nil, fmt.Errorf("creating %s: %w (remove the array or group, or choose another path)", a.path+name, fs.ErrExist)
		} else if !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	if err = fill(a); err == nil {
		err = a.writeMetadata(ctx)
	}
	return raster.OrNil(a, err)
}

// Open opens the array at a path or URL, which may be any location that [OpenBucket]
// supports. If the location is a group, Open opens its only array or, for an OME-Zarr
// image, the finest level. Use a longer path, such as image.zarr/1, to open other arrays of
// a group.
func Open(ctx context.Context, location string) (*Array, error) {
	b, err := OpenBucket(ctx, location, false)
	if err != nil {
		return nil, err
	}
	a, err := arrayIn(ctx, b)
	if err != nil {
		b.Close()
		return nil, fmt.Errorf("%s: %w", Redacted(location), err)
	}
	a.owned = true
	return a, nil
}

// arrayIn opens the array at the root of a bucket, or the default array of the group there.
func arrayIn(ctx context.Context, b Bucket) (*Array, error) {
	a, g, err := node(ctx, b, "")
	if err != nil || a != nil {
		return a, err
	}
	levels, _, err := g.Levels()
	if err != nil {
		return nil, err
	}
	if len(levels) > 0 {
		return g.Array(ctx, levels[0].Path)
	}
	names, err := g.Arrays(ctx)
	switch {
	case err != nil:
		return nil, err
	case len(names) == 1:
		return g.Array(ctx, names[0])
	case len(names) == 0:
		return nil, bad("the group has no array")
	}
	return nil, bad("the group has several arrays (add one to the path): %s", strings.Join(names[:min(len(names), 10)], ", "))
}

// OpenArray opens the array at a path in a bucket, or at its root if path is "".
func OpenArray(ctx context.Context, b Bucket, path string) (*Array, error) {
	a, _, err := node(ctx, b, path)
	if err == nil && a == nil {
		err = bad("%s is a group, not an array", place(path))
	}
	return raster.OrNil(a, err)
}

// place returns the name of a path in errors.
func place(path string) string {
	if path == "" {
		return "the root"
	}
	return path
}

func newArray(b Bucket, path string, m *metadata) *Array {
	a := &Array{bucket: b, path: path, m: m, unit: m.object, codecs: m.codecs, cache: NewCache(defaultCache)}
	if _, ok := b.(Computed); ok {
		a.owned = true
	}
	if a.path != "" {
		a.path += "/"
	}
	if s := m.codecs.shard; s != nil && len(m.codecs.orders) == 0 && len(m.codecs.packs) == 0 {
		a.shard, a.unit, a.codecs = s, s.chunk, s.codecs
	}
	for i, n := range m.shape {
		a.counts = append(a.counts, raster.CeilDiv(n, m.object[i]))
		a.units = append(a.units, raster.CeilDiv(n, a.unit[i]))
	}
	return a
}

func (a *Array) writeMetadata(ctx context.Context) error {
	return a.bucket.Put(ctx, a.path+"zarr.json", a.Metadata())
}

// Close closes the array's bucket if [Open] opened it or if it is [Computed]. Other buckets
// stay open.
func (a *Array) Close() error {
	if a.owned {
		return a.bucket.Close()
	}
	return nil
}

// Bucket returns the bucket that holds the array.
func (a *Array) Bucket() Bucket { return a.bucket }

// Path returns the path of the array in its bucket, or "" if the array is at the root.
func (a *Array) Path() string { return strings.TrimSuffix(a.path, "/") }

// Type returns the type of the elements.
func (a *Array) Type() Type { return a.m.typ }

// Shape returns the number of elements along each axis.
func (a *Array) Shape() []int { return slices.Clone(a.m.shape) }

// Chunk returns the shape of a chunk, the unit in which elements are decoded. Chunks at the
// edges of the array may extend beyond it.
func (a *Array) Chunk() []int { return slices.Clone(a.unit) }

// Object returns the shape of the elements in one object of the bucket: a shard, or a chunk
// if there are no shards.
func (a *Array) Object() []int { return slices.Clone(a.m.object) }

// Key returns the key in the bucket of the object at the given position in the grid of
// objects.
func (a *Array) Key(place []int) string { return a.path + a.m.key(place) }

// List calls visit for each object of the array, including its metadata, with its key in
// the bucket.
func (a *Array) List(ctx context.Context, visit func(Object) error) error {
	return a.bucket.List(ctx, a.path, visit)
}

// Names returns the names of the axes, or nil if they have none.
func (a *Array) Names() []string { return slices.Clone(a.m.names) }

// Fill returns the fill value as the bytes of an element, in this machine's byte order.
func (a *Array) Fill() []byte { return slices.Clone(a.m.fill) }

// Version returns the version of the Zarr format, 3 or 2.
func (a *Array) Version() int { return a.m.version }

// Codecs returns the names of the codecs that encode a chunk, in the order in which they
// are applied.
func (a *Array) Codecs() (names []string) {
	if a.shard != nil {
		names = append(names, "sharding_indexed")
	}
	for _, n := range a.codecs.describe() {
		names = append(names, n.Name)
	}
	return names
}

// Metadata returns the array's metadata as a zarr.json document of version 3.
func (a *Array) Metadata() []byte { return a.m.json() }

// Attribute unmarshals the named attribute into v, as [json.Unmarshal] does. It reports
// whether the attribute exists.
func (a *Array) Attribute(name string, v any) (bool, error) {
	return attribute(a.m.attributes, name, v)
}

func attribute(all map[string]json.RawMessage, name string, v any) (bool, error) {
	data, ok := all[name]
	if !ok {
		return false, nil
	}
	if err := json.Unmarshal(data, v); err != nil {
		return true, bad("attribute %q: %v", name, err)
	}
	return true, nil
}

// about adds the name of an object to an error.
func (a *Array) about(key string, err error) error {
	if err == nil || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return fmt.Errorf("%s%s: %w", a.path, key, err)
}
