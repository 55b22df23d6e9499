package store

import (
	"context"
	"errors"
	"fmt"
	"image"
	"io/fs"
	"runtime"
	"slices"
	"strings"

	"github.com/boxsum/boxsum/histogram"
	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/volume"
	"github.com/boxsum/boxsum/zarr"
)

// OpenOptions configures how a table is opened. Nil and the zero value suit most uses.
type OpenOptions struct {
	// Cache is the maximum memory for chunks, in bytes. Half of it holds chunks; the other
	// half is for dropped chunks that the garbage collector has not yet freed. Zero means
	// 256 MiB.
	Cache int64
	// Workers is the maximum number of goroutines per call. Zero means GOMAXPROCS or 16,
	// whichever is larger, because goroutines spend most of their time waiting for the
	// store.
	Workers int
}

// A Table is a finished table in a store. To sum a box, it reads the chunks that contain
// the corners of the box. A Table is safe for concurrent use.
type Table struct {
	about
	pixel      zarr.Type
	bucket     zarr.Bucket
	layers     []*layer
	cache      *zarr.Cache
	cacheBytes int64
	workers    int
	owned      bool
}

// Open opens the table that [Integrate] has written at a path or URL. It returns an error
// that wraps [ErrIncomplete] if the table is not finished. Close the table after use.
func Open(ctx context.Context, location string, opt *OpenOptions) (*Table, error) {
	b, err := zarr.OpenBucket(ctx, location, false)
	if err != nil {
		return nil, err
	}
	t, err := OpenTable(ctx, b, opt)
	if err != nil {
		b.Close()
		return nil, fmt.Errorf("%s: %w", zarr.Redacted(location), err)
	}
	t.owned = true
	return t, nil
}

// OpenTable is like [Open] but opens the table in a bucket. Closing the table does not
// close the bucket.
func OpenTable(ctx context.Context, b zarr.Bucket, opt *OpenOptions) (*Table, error) {
	t := &Table{bucket: b, workers: max(runtime.GOMAXPROCS(0), 16)}
	limit := int64(256 << 20)
	if opt != nil && opt.Workers > 0 {
		t.workers = opt.Workers
	}
	if opt != nil && opt.Cache > 0 {
		limit = opt.Cache
	}
	t.cacheBytes = (limit + 1) / 2
	t.cache = zarr.NewCache(t.cacheBytes)
	g, err := zarr.OpenGroup(ctx, complete{b}, "")
	if errors.Is(err, zarr.ErrFormat) {
		return nil, bad("not a table: %v", err)
	}
	if err != nil {
		return nil, err
	}
	if ok, err := g.Attribute("boxsum", &t.about); err != nil || !ok || t.Kind != tableKind {
		return nil, bad("this is a Zarr group, not a table")
	}
	if t.pixel, err = zarr.ParseType(t.Pixel); err != nil {
		return nil, err
	}
	if err := t.about.check(); err != nil {
		return nil, err
	}
	sum, square := sumsOf(t.pixel)
	if err := t.openLayer(ctx, g, "sum", sum); err != nil {
		return nil, err
	}
	if t.Squares {
		if err := t.openLayer(ctx, g, "squares", square); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// check returns an error unless this describes a finished table that this package can read.
func (a *about) check() error {
	switch {
	case a.Version != tableVersion:
		return bad("the table has version %d, want %d", a.Version, tableVersion)
	case !a.Complete:
		return fmt.Errorf("%w (run the same job again to resume)", ErrIncomplete)
	case a.Width < 1 || a.Height < 1 || a.Channels < 1 || a.Block < 1:
		return bad("table is %d×%d with %d channels in blocks of %d, want 1 or more of each", a.Width, a.Height, a.Channels, a.Block)
	case a.Depth != 0 && a.Depth != a.Channels || a.Bins != 0 && a.Bins != a.Channels:
		return bad("number of channels of the table is %d, want that of its slices, %d, or bins, %d", a.Channels, a.Depth, a.Bins)
	}
	return nil
}

// openLayer opens the arrays of the sums or of the squares, which must fit the table.
func (t *Table) openLayer(ctx context.Context, g *zarr.Group, name string, sum zarr.Type) (err error) {
	l := &layer{index: len(t.layers), sum: sum, bytes: sum.Size() * t.about.Channels}
	main := name
	if t.Compact {
		main += "_local"
	}
	if l.main, err = t.openPart(ctx, g, main, sum, t.Height, t.Width); err != nil {
		return err
	}
	if l.left, err = t.openPart(ctx, g, name+"_left", sum, raster.CeilDiv(t.Width, t.Block), t.Height); err != nil {
		return err
	}
	if l.top, err = t.openPart(ctx, g, name+"_top", sum, raster.CeilDiv(t.Height, t.Block), t.Width); err != nil {
		return err
	}
	l.kept, l.chunk = l.main.Type(), l.main.Chunk()
	if block := l.main.Object(); block[0] != t.Block || block[1] != t.Block {
		return bad("blocks of the table have shape %v, want %d", block, t.Block)
	}
	t.layers = append(t.layers, l)
	return nil
}

// openPart opens an array of the table, which must have this shape and, unless it holds
// compact blocks, this type.
func (t *Table) openPart(ctx context.Context, g *zarr.Group, name string, sum zarr.Type, shape ...int) (*zarr.Array, error) {
	if t.about.Channels > 1 {
		shape = append(shape, t.about.Channels)
	}
	a, err := g.Array(ctx, name)
	if err != nil {
		return nil, err
	}
	narrow := strings.HasSuffix(name, "_local") && (a.Type() == zarr.Uint32 || a.Type() == zarr.Int32)
	if !slices.Equal(a.Shape(), shape) || a.Type() != sum && !narrow {
		return nil, bad("array %s of the table has elements of %v and shape %v, want %v and %v", name, a.Type(), a.Shape(), sum, shape)
	}
	a.SetCache(t.cache)
	return a, nil
}

// complete is the bucket of a finished table, in which no chunk may be missing.
type complete struct{ zarr.Bucket }

func (c complete) Get(ctx context.Context, key string, offset, length int64, buf []byte) ([]byte, error) {
	data, err := c.Bucket.Get(ctx, key, offset, length, buf)
	if errors.Is(err, fs.ErrNotExist) && strings.Contains(key, "/c/") {
		err = fmt.Errorf("%s: %w", key, errMissing)
	}
	return data, err
}

// Close closes the bucket of the table if [Open] opened it. The table must not be used
// afterwards.
func (t *Table) Close() error {
	if t.owned {
		return t.bucket.Close()
	}
	return nil
}

// Options returns options that produce the same table, for a job that repairs it.
func (t *Table) Options() *Options {
	a := &t.about
	return &Options{Block: a.Block, Chunk: a.Chunk, Compression: a.Compression, Level: a.Level, Squares: a.Squares, Compact: a.Compact, Volume: a.Depth > 0, Bins: t.Bins()}
}

// Of reports whether the table was computed from a in its current state. It compares the
// metadata of a and the names, sizes and versions of its objects with those recorded by
// [Integrate], so it returns false for a copy of the array, whose objects have other
// versions.
func (t *Table) Of(ctx context.Context, a *zarr.Array) (bool, error) {
	j, err := plan(ctx, a, t.bucket, t.Options())
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return false, err
	}
	return err == nil && j.fingerprint == t.Fingerprint, nil // arrays of another shape or type cannot have this job
}

// Bounds returns the rectangle of all pixels.
func (t *Table) Bounds() image.Rectangle { return image.Rect(0, 0, t.Width, t.Height) }

// Channels returns the number of channels.
func (t *Table) Channels() int { return t.about.Channels }

// Types returns the types of the pixels, the sums and, if there are any, the squares.
func (t *Table) Types() (pixel, sum, square zarr.Type) {
	if sum = t.layers[0].sum; t.Squares {
		square = t.layers[1].sum
	}
	return t.pixel, sum, square
}

// Bins returns the bins of a table of histograms, in which each bin is a channel and
// [SumBoxes] counts pixels. N is 0 for other tables.
func (t *Table) Bins() histogram.Bins {
	return histogram.Bins{N: t.about.Bins, Low: t.Low, High: t.High, Clamp: t.Clamp}
}

// Depth returns the number of slices of the volume, or 0 for the table of an image.
func (t *Table) Depth() int { return t.about.Depth }

// VolumeBounds returns the box of all voxels.
func (t *Table) VolumeBounds() volume.Box {
	return volume.NewBox(0, 0, 0, t.Width, t.Height, t.about.Depth)
}
