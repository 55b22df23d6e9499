package store

import (
	"context"
	"errors"
	"fmt"
	"image"
	"io/fs"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/internal/stats"
	"github.com/boxsum/boxsum/zarr"
)

// OpenOptions controls how a table is opened. Nil means the defaults.
type OpenOptions struct {
	// Cache is the maximum memory for chunks. Half of it holds chunks; the garbage
	// collector may need as much again before it frees dropped ones. Zero means 256 MiB.
	Cache int64
	// Workers is the maximum number of goroutines per call. Zero means GOMAXPROCS or 16,
	// whichever is larger, because they wait for the store.
	Workers int
}

// A Table is a finished table in a store. It reads the chunks that contain the corners of
// boxes. It is safe for concurrent use.
type Table struct {
	about
	bucket     zarr.Bucket
	layers     []*layer
	cache      *zarr.Cache
	cacheBytes int64
	workers    int
	owned      bool
}

// Open opens the table at a path or URL, as written by [Integrate].
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

// OpenTable opens the table in a bucket.
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
		return nil, bad("this is a group, not a table")
	}
	a := &t.about
	pixel, err := zarr.ParseType(a.Pixel)
	switch {
	case err != nil:
		return nil, err
	case a.Version != tableVersion:
		return nil, bad("the table has version %d, want %d", a.Version, tableVersion)
	case !a.Complete:
		return nil, fmt.Errorf("%w (run the same again to resume)", ErrIncomplete)
	case a.Width < 1 || a.Height < 1 || a.Channels < 1 || a.Block < 1:
		return nil, bad("invalid table of %d×%d with %d channels in blocks of %d", a.Width, a.Height, a.Channels, a.Block)
	}
	if a.Depth != 0 && a.Depth != a.Channels || a.Bins != 0 && a.Bins != a.Channels {
		return nil, bad("the table has %d channels, which contradicts its %d slices and %d bins", a.Channels, a.Depth, a.Bins)
	}
	sum, square := sumsOf(pixel)
	for k, name := range []string{"sum", "squares"} {
		if k == 1 && !a.Squares {
			break
		}
		l := &layer{sum: []zarr.Type{sum, square}[k]}
		l.bytes = l.sum.Size() * a.Channels
		main := name
		if a.Compact {
			main += "_local"
		}
		shape := []int{a.Height, a.Width}
		left, top := []int{raster.CeilDiv(a.Width, a.Block), a.Height}, []int{raster.CeilDiv(a.Height, a.Block), a.Width}
		if a.Channels > 1 {
			shape, left, top = append(shape, a.Channels), append(left, a.Channels), append(top, a.Channels)
		}
		for _, part := range []struct {
			to    **zarr.Array
			name  string
			shape []int
		}{{&l.main, main, shape}, {&l.left, name + "_left", left}, {&l.top, name + "_top", top}} {
			if *part.to, err = g.Array(ctx, part.name); err != nil {
				return nil, err
			}
			m := *part.to
			if !slices.Equal(m.Shape(), part.shape) || m.Type() != l.sum && !(m == l.main && a.Compact && (m.Type() == zarr.Uint32 || m.Type() == zarr.Int32)) {
				return nil, bad("array %s of the table has elements of %v and shape %v, want %v and %v", part.name, m.Type(), m.Shape(), l.sum, part.shape)
			}
			m.SetCache(t.cache)
		}
		l.kept, l.chunk = l.main.Type(), l.main.Chunk()
		if block := l.main.Object(); block[0] != a.Block || block[1] != a.Block {
			return nil, bad("blocks of the table have shape %v, and should have %d", block, a.Block)
		}
		t.layers = append(t.layers, l)
	}
	return t, nil
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

// Close releases the table.
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

// Of reports whether the table was computed from this array in its current state: its
// metadata and the names, sizes and versions of its objects match those that [Integrate]
// saw. A copy of the array has different versions.
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
	pixel, _ = zarr.ParseType(t.Pixel)
	if sum = t.layers[0].sum; t.Squares {
		square = t.layers[1].sum
	}
	return pixel, sum, square
}

// A reader reads entries of one layer as sums of type S.
type reader[S boxsum.Sum] struct {
	t *Table
	l *layer
}

// element returns an element of an array of the table, through the cache.
func element[S boxsum.Sum](ctx context.Context, a *zarr.Array, y, x, c, channels int) (S, error) {
	var place [3]int
	at := append(place[:0], y, x)
	if channels > 1 {
		at = append(at, c)
	}
	switch a.Type() {
	case zarr.Uint32:
		v, err := zarr.At[uint32](ctx, a, at...)
		return S(v), err
	case zarr.Int32:
		v, err := zarr.At[int32](ctx, a, at...)
		return S(v), err
	}
	return zarr.At[S](ctx, a, at...)
}

// at returns the sum of the pixels in [0,x)×[0,y). At block boundaries it reads the lines,
// which are much smaller than blocks.
func (r *reader[S]) at(ctx context.Context, x, y, c int) (S, error) {
	if x == 0 || y == 0 {
		return 0, nil
	}
	block := r.t.Block
	if y%block == 0 && y < r.t.Height {
		return element[S](ctx, r.l.top, y/block, x-1, c, r.t.about.Channels)
	}
	if x%block == 0 && x < r.t.Width {
		left, err := element[S](ctx, r.l.left, x/block, y-1, c, r.t.about.Channels)
		if err != nil {
			return 0, err
		}
		top, err := element[S](ctx, r.l.top, (y-1)/block, x-1, c, r.t.about.Channels)
		return left + top, err
	}
	x, y = x-1, y-1
	s, err := element[S](ctx, r.l.main, y, x, c, r.t.about.Channels)
	if err != nil || !r.t.Compact {
		return s, err
	}
	left, err := element[S](ctx, r.l.left, x/r.t.Block, y, c, r.t.about.Channels)
	if err != nil {
		return 0, err
	}
	top, err := element[S](ctx, r.l.top, y/r.t.Block, x, c, r.t.about.Channels)
	return (s + left) + top, err
}

// sum returns the sum of a box, which must lie in the image.
func (r *reader[S]) sum(ctx context.Context, b image.Rectangle, c int) (sum S, err error) {
	var corners [4]S
	for i, p := range [4]image.Point{b.Max, {X: b.Min.X, Y: b.Max.Y}, {X: b.Max.X, Y: b.Min.Y}, b.Min} {
		if corners[i], err = r.at(ctx, p.X, p.Y, c); err != nil {
			return 0, err
		}
	}
	return corners[0] - corners[1] - corners[2] + corners[3], nil
}

// SumBoxes stores the sums of all channels over each box, clipped to the image, in dst:
// channel c of boxes[i] is dst[i*channels+c]. S must be the type of the table's sums:
// uint64 for unsigned pixels, int64 for signed ones, float64 for floats.
func SumBoxes[S uint64 | int64 | float64](ctx context.Context, t *Table, dst []S, boxes []image.Rectangle) error {
	if want := t.layers[0].sum; zarr.TypeOf[S]() != want {
		return raster.Unsupported("the table has sums of %v, not %v", want, zarr.TypeOf[S]())
	}
	channels := t.about.Channels
	if err := raster.CheckRoom(len(dst), len(boxes), channels); err != nil {
		return err
	}
	r := &reader[S]{t, t.layers[0]}
	most := t.atOnce()
	for from := 0; from < len(boxes); from += most {
		if err := r.sums(ctx, dst[from*channels:], boxes[from:min(from+most, len(boxes))]); err != nil {
			return err
		}
	}
	return nil
}

// cornerBits is the number of bits that identify a corner among the boxes answered at once.
const cornerBits = 24

// atOnce returns the number of boxes to answer at once, which take a quarter of the cache.
func (t *Table) atOnce() int {
	return int(min(max(1024, t.cacheBytes/4/int64(32*(1+t.about.Channels))), 1<<(cornerBits-2)))
}

// boxSums returns the sums of boxes in a layer.
func boxSums[S boxsum.Sum](ctx context.Context, t *Table, layer int, boxes []image.Rectangle) ([]S, error) {
	sums := make([]S, len(boxes)*t.about.Channels)
	return sums, (&reader[S]{t, t.layers[layer]}).sums(ctx, sums, boxes)
}

// sums reads the corners of boxes page by page, so that each page is decoded only once.
func (r *reader[S]) sums(ctx context.Context, dst []S, boxes []image.Rectangle) error {
	channels := r.t.about.Channels
	corner := func(n int) image.Point {
		b := boxes[n/4].Intersect(r.t.Bounds())
		return [4]image.Point{b.Max, {X: b.Min.X, Y: b.Max.Y}, {X: b.Max.X, Y: b.Min.Y}, b.Min}[n%4]
	}
	order := make([]uint64, 0, 4*len(boxes)) // the page of a corner, and its number
	for n := range 4 * len(boxes) {
		if p := corner(n); p.X > 0 && p.Y > 0 && !boxes[n/4].Intersect(r.t.Bounds()).Empty() {
			order = append(order, uint64(r.page(p.X-1, p.Y-1))<<cornerBits|uint64(n))
		}
	}
	slices.Sort(order)
	values := make([]S, 4*len(boxes)*channels)
	err := r.t.run(ctx, len(order), func(k int) (err error) {
		n := int(order[k] & (1<<cornerBits - 1))
		p := corner(n)
		for c := range channels {
			if values[n*channels+c], err = r.at(ctx, p.X, p.Y, c); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for i := range boxes {
		v := values[4*i*channels:]
		for c := range channels {
			dst[i*channels+c] = v[c] - v[channels+c] - v[2*channels+c] + v[3*channels+c]
		}
	}
	return nil
}

// pageBytes is the approximate number of bytes of a chunk decoded to read one entry.
const pageBytes = 1 << 20

// page returns the number of the page that contains an entry. A page is decoded at once.
func (r *reader[S]) page(x, y int) int {
	height, width := r.l.chunk[0], r.l.chunk[1]
	bytes := r.t.about.Channels * r.l.kept.Size()
	pages := raster.CeilDiv(height*width*bytes, pageBytes)
	return (y/height*raster.CeilDiv(r.t.Width, width)+x/width)*pages + (y%height*width+x%width)*bytes/pageBytes
}

// each calls answer for all boxes, nearby ones in succession, from several goroutines.
func (t *Table) each(ctx context.Context, have, per int, boxes []image.Rectangle, answer func(i int, box image.Rectangle) error, empty func(i int)) error {
	if err := raster.CheckRoom(have, len(boxes), per); err != nil {
		return err
	}
	order := make([]int, 0, len(boxes))
	for i, b := range boxes {
		if b.Intersect(t.Bounds()).Empty() {
			empty(i)
		} else {
			order = append(order, i)
		}
	}
	unit := t.layers[0].chunk
	cell := func(i int) int {
		p := boxes[i].Intersect(t.Bounds()).Max
		return (p.Y-1)/unit[0]*(t.Width/unit[1]+1) + (p.X-1)/unit[1]
	}
	slices.SortFunc(order, func(a, b int) int { return cell(a) - cell(b) })
	return t.run(ctx, len(order), func(k int) error { return answer(order[k], boxes[order[k]].Intersect(t.Bounds())) })
}

// run calls part for n parts, from several goroutines.
func (t *Table) run(ctx context.Context, n int, part func(k int) error) error {
	const some = 64
	var next atomic.Int64
	var group sync.WaitGroup
	var first atomic.Pointer[error]
	work := func() {
		for first.Load() == nil {
			from := int(next.Add(some)) - some
			if from >= n {
				return
			}
			for k := from; k < min(from+some, n); k++ {
				err := ctx.Err()
				if err == nil {
					err = part(k)
				}
				if err != nil {
					first.CompareAndSwap(nil, &err)
					return
				}
			}
		}
	}
	workers := min(t.workers, raster.CeilDiv(n, some))
	for range workers - 1 {
		group.Go(work)
	}
	if workers > 0 {
		work()
	}
	group.Wait()
	if err := first.Load(); err != nil {
		return *err
	}
	return nil
}

// rectangle is a box in the form that package stats expects.
type rectangle image.Rectangle

func (r rectangle) Pixels() int {
	return (r.Max.X - r.Min.X) * (r.Max.Y - r.Min.Y)
}

func (r rectangle) Halves() (one, other rectangle, ok bool) {
	one, other = r, r
	if width, height := r.Max.X-r.Min.X, r.Max.Y-r.Min.Y; width > height {
		one.Max.X = r.Min.X + width/2
		other.Min.X = one.Max.X
	} else {
		one.Max.Y = r.Min.Y + height/2
		other.Min.Y = one.Max.Y
	}
	return one, other, r.Pixels() > 1
}

// known returns what is known about the pixels. For 64-bit pixels, only the sum of a single
// pixel is certain to fit.
func (t *Table) known(squares bool) stats.Pixels {
	pixel, _ := zarr.ParseType(t.Pixel)
	if pixel == zarr.Int64 || pixel == zarr.Uint64 {
		return stats.Pixels{Bound: math.MaxUint64}
	}
	return stats.Bounded(boundOf(pixel), squares)
}

// MeanBoxes stores the means of all channels over each box in dst, in the order of
// [SumBoxes]. The mean of an empty box is 0. Integer means are correct for boxes of any
// size.
func (t *Table) MeanBoxes(ctx context.Context, dst []float64, boxes []image.Rectangle) error {
	switch t.layers[0].sum {
	case zarr.Uint64:
		return means[uint64](ctx, t, dst, boxes)
	case zarr.Int64:
		return means[int64](ctx, t, dst, boxes)
	}
	return means[float64](ctx, t, dst, boxes)
}

func means[S boxsum.Sum](ctx context.Context, t *Table, dst []float64, boxes []image.Rectangle) error {
	return t.statistics(ctx, dst, boxes, func(boxes []image.Rectangle) (statistic, error) {
		sums, err := boxSums[S](ctx, t, 0, boxes)
		return func(box rectangle, c, at int) (float64, error) {
			sum, err := total(ctx, &reader[S]{t, t.layers[0]}, box, c, sums[at], t.known(false).MaxCount(raster.TypeOf[S](), false))
			return stats.Mean(box.Pixels(), sum), err
		}, err
	})
}

// total returns the sum of a channel of a box, added up from parts of at most most pixels.
// sum is the sum of the whole box.
func total[S boxsum.Sum](ctx context.Context, r *reader[S], box rectangle, c int, sum S, most int) (stats.Sum, error) {
	if box.Pixels() <= most {
		return stats.SumOf(sum), nil
	}
	one, other, ok := box.Halves()
	if !ok {
		return stats.Sum{}, nil
	}
	var both [2]stats.Sum
	for i, half := range [...]rectangle{one, other} {
		var s S
		var err error
		if half.Pixels() <= most {
			s, err = r.sum(ctx, image.Rectangle(half), c)
		}
		if err == nil {
			both[i], err = total(ctx, r, half, c, s, most)
		}
		if err != nil {
			return stats.Sum{}, err
		}
	}
	return both[0].Plus(both[1]), nil
}

// A statistic returns a statistic of a channel of a box whose sums are at the given index.
type statistic = func(box rectangle, c, at int) (float64, error)

// statistics answers boxes in batches. For each batch, it calls prepare for the statistic
// to use.
func (t *Table) statistics(ctx context.Context, dst []float64, boxes []image.Rectangle, prepare func(boxes []image.Rectangle) (statistic, error)) error {
	channels, most := t.about.Channels, t.atOnce()
	if err := raster.CheckRoom(len(dst), len(boxes), channels); err != nil {
		return err
	}
	for from := 0; from < len(boxes); from += most {
		some, dst := boxes[from:min(from+most, len(boxes))], dst[from*channels:]
		of, err := prepare(some)
		if err != nil {
			return err
		}
		if err := t.each(ctx, len(dst), channels, some, func(i int, box image.Rectangle) (err error) {
			for c := range channels {
				if dst[i*channels+c], err = of(rectangle(box), c, i*channels+c); err != nil {
					return err
				}
			}
			return nil
		}, func(i int) { clear(dst[i*channels:][:channels]) }); err != nil {
			return err
		}
	}
	return nil
}

// VarianceBoxes stores the variances of all channels over each box in dst, in the order of
// [SumBoxes]. The table needs squares. Variances of integers are exact except for the final
// rounding. Variances of floats are NaN where the rounding error may exceed a fiftieth of
// the variance.
func (t *Table) VarianceBoxes(ctx context.Context, dst []float64, boxes []image.Rectangle) error {
	if !t.Squares {
		return bad("the table has no squares, which deviations need (make it with squares)")
	}
	switch {
	case t.layers[0].sum == zarr.Float64:
		return variances[float64, float64](ctx, t, dst, boxes)
	case t.layers[0].sum == zarr.Int64:
		return variances[int64, uint64](ctx, t, dst, boxes)
	}
	return variances[uint64, uint64](ctx, t, dst, boxes)
}

// StdDevBoxes is like [Table.VarianceBoxes] for standard deviations.
func (t *Table) StdDevBoxes(ctx context.Context, dst []float64, boxes []image.Rectangle) error {
	if err := t.VarianceBoxes(ctx, dst, boxes); err != nil {
		return err
	}
	for i, v := range dst[:len(boxes)*t.about.Channels] {
		dst[i] = math.Sqrt(v)
	}
	return nil
}

func variances[S boxsum.Sum, Q boxsum.Square](ctx context.Context, t *Table, dst []float64, boxes []image.Rectangle) error {
	return t.statistics(ctx, dst, boxes, func(boxes []image.Rectangle) (statistic, error) {
		sums, err := boxSums[S](ctx, t, 0, boxes)
		if err != nil {
			return nil, err
		}
		squares, err := boxSums[Q](ctx, t, 1, boxes)
		return func(box rectangle, c, at int) (float64, error) {
			return variance(ctx, t, box, c, sums[at], squares[at])
		}, err
	})
}

// variance returns the variance of a channel of a box, given its sums.
func variance[S boxsum.Sum, Q boxsum.Square](ctx context.Context, t *Table, box rectangle, c int, sum S, square Q) (float64, error) {
	entries, first := &reader[Q]{t, t.layers[1]}, &reader[S]{t, t.layers[0]}
	n := box.Pixels()
	most, mostSquares := stats.MaxCounts(raster.TypeOf[S](), t.known(false), raster.TypeOf[Q](), t.known(true))
	sums, err := total(ctx, first, box, c, sum, most)
	if err != nil {
		return 0, err
	}
	squares, err := total(ctx, entries, box, c, square, mostSquares)
	if err != nil {
		return 0, err
	}
	if !raster.TypeOf[S]().Float() && !raster.TypeOf[Q]().Float() {
		return stats.Variance(n, sums, squares, nil, nil), nil
	}
	largest, err := entries.at(ctx, box.Max.X, box.Max.Y, c)
	if err != nil {
		return 0, err
	}
	// Rows and columns of a block, then the blocks to its left, then those above.
	steps := 2*t.Block + 8 + box.Max.X/t.Block + 2*(box.Max.Y/t.Block) + 3
	r := stats.Rounding{Entries: 4, Squares: float64(largest), Pixels: box.Max.X * box.Max.Y, Steps: steps}
	v := stats.Variance(n, sums, squares, &r, func() bool {
		for _, x := range [...]int{box.Min.X, box.Max.X} {
			for _, y := range [...]int{box.Min.Y, box.Max.Y} {
				s, err1 := first.at(ctx, x, y, c)
				q, err2 := entries.at(ctx, x, y, c)
				if err = errors.Join(err1, err2); err != nil || !stats.IsWhole(float64(s), float64(q), raster.TypeOf[S]()) {
					return false
				}
			}
		}
		return true
	})
	return v, err
}
