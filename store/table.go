package store

import (
	"context"
	"errors"
	"fmt"
	"image"
	"math"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/exact"
	"github.com/boxsum/boxsum/internal/grid"
)

// OpenOptions says how to open a table; nil stands for the usual.
type OpenOptions struct {
	// Cache is how much memory chunks that were read may take, at most: half of it has those that are kept, and the collector of garbage may have
	// as much before it takes back those that went. Zero stands for 256 MiB.
	Cache int64
	// Workers is how many goroutines may answer one call. Zero stands for GOMAXPROCS, or 16 if that is less, as
	// they wait for the store.
	Workers int
}

// A Table is a finished table in a store. Boxes are answered from the chunks that hold their corners. Several
// goroutines may ask at once.
type Table struct {
	about
	bucket  Bucket
	layers  []*layer
	cache   *cache
	workers int
	owned   bool
}

// Open opens the table at a path or URL that [Integrate] has made.
func Open(ctx context.Context, location string, opt *OpenOptions) (*Table, error) {
	b, err := OpenBucket(ctx, location, false)
	if err != nil {
		return nil, err
	}
	t, err := OpenTable(ctx, b, opt)
	if err != nil {
		b.Close()
		return nil, fmt.Errorf("store: %s: %w", Redacted(location), err)
	}
	t.owned = true
	return t, nil
}

// OpenTable opens the table in a bucket.
func OpenTable(ctx context.Context, b Bucket, opt *OpenOptions) (*Table, error) {
	t := &Table{bucket: b, workers: max(runtime.GOMAXPROCS(0), 16)}
	limit := int64(256 << 20)
	if opt != nil && opt.Workers > 0 {
		t.workers = opt.Workers
	}
	if opt != nil && opt.Cache > 0 {
		limit = opt.Cache
	}
	t.cache = newCache((limit + 1) / 2)
	_, g, err := node(ctx, b, "")
	if err != nil {
		return nil, err
	}
	if g == nil {
		return nil, bad("this is an array, and not a table: make one with Integrate")
	}
	if ok, err := g.Attribute("boxsum", &t.about); err != nil || !ok || t.Kind != tableKind {
		return nil, bad("this is a group, and not a table: make one with Integrate")
	}
	a := &t.about
	pixel, err := ParseType(a.Pixel)
	switch {
	case err != nil:
		return nil, err
	case a.Version != tableVersion:
		return nil, bad("the table has version %d, and this program knows %d", a.Version, tableVersion)
	case !a.Complete:
		return nil, fmt.Errorf("store: %w: run the same again, and it goes on", ErrIncomplete)
	case a.Width < 1 || a.Height < 1 || a.Channels < 1 || a.Block < 1:
		return nil, bad("a table of %d×%d with %d channels in blocks of %d", a.Width, a.Height, a.Channels, a.Block)
	}
	if a.Depth != 0 && a.Depth != a.Channels || a.Bins != 0 && a.Bins != a.Channels {
		return nil, bad("a table of %d channels says that it has %d slices and %d bins", a.Channels, a.Depth, a.Bins)
	}
	sum, square := sumsOf(pixel)
	for k, name := range []string{"sum", "squares"} {
		if k == 1 && !a.Squares {
			break
		}
		l := &layer{sum: []Type{sum, square}[k]}
		l.bytes = l.sum.Size() * a.Channels
		main := name
		if a.Compact {
			main += "_local"
		}
		shape := []int{a.Height, a.Width}
		left, top := []int{ceil(a.Width, a.Block), a.Height}, []int{ceil(a.Height, a.Block), a.Width}
		if a.Channels > 1 {
			shape, left, top = append(shape, a.Channels), append(left, a.Channels), append(top, a.Channels)
		}
		for _, part := range []struct {
			to    **Array
			name  string
			shape []int
		}{{&l.main, main, shape}, {&l.left, name + "_left", left}, {&l.top, name + "_top", top}} {
			if *part.to, err = g.Array(ctx, part.name); err != nil {
				return nil, err
			}
			m := *part.to
			if !slices.Equal(m.m.shape, part.shape) || m.m.typ != l.sum && !(m == l.main && a.Compact && (m.m.typ == Uint32 || m.m.typ == Int32)) {
				return nil, bad("array %s of the table has elements of %v and shape %v, and should have %v and %v", part.name, m.m.typ, m.m.shape, l.sum, part.shape)
			}
			m.cache, m.whole = t.cache, true
		}
		l.kept = l.main.m.typ
		if l.main.m.object[0] != a.Block || l.main.m.object[1] != a.Block {
			return nil, bad("blocks of the table have shape %v, and should have %d", l.main.m.object, a.Block)
		}
		t.layers = append(t.layers, l)
	}
	return t, nil
}

// Close ends the use of the table.
func (t *Table) Close() error {
	if t.owned {
		return t.bucket.Close()
	}
	return nil
}

// Options are those that make the same table, for a job that repairs it.
func (t *Table) Options() *Options {
	a := &t.about
	return &Options{Block: a.Block, Chunk: a.Chunk, Compression: a.Compression, Level: a.Level, Squares: a.Squares, Compact: a.Compact, Volume: a.Depth > 0, Bins: t.Bins()}
}

// Of reports whether the table was made of this array as it is now: its metadata and the names, sizes and versions of its
// objects are those that [Integrate] saw. A copy of the array has other versions.
func (t *Table) Of(ctx context.Context, a *Array) (bool, error) {
	j, err := planJob(ctx, a, t.bucket, t.Options())
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return false, err
	}
	return err == nil && j.fingerprint == t.Fingerprint, nil // an array of another form makes no such job
}

// Bounds is the rectangle of all pixels.
func (t *Table) Bounds() image.Rectangle { return image.Rect(0, 0, t.Width, t.Height) }

// Channels is how many values a pixel has.
func (t *Table) Channels() int { return t.about.Channels }

// Types are those of the pixels, the sums and, if there are any, the squares.
func (t *Table) Types() (pixel, sum, square Type) {
	pixel, _ = ParseType(t.Pixel)
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

// element is one of an array, through the cache.
func element[S boxsum.Sum](ctx context.Context, a *Array, at ...int) (s S, err error) {
	at = at[:len(a.m.shape)]
	var place, in [3]int
	for d, p := range at {
		place[d], in[d] = p/a.unit[d], p%a.unit[d]
	}
	n := len(at)
	i, unit, size := ravel(in[:n], a.unit), ravel(place[:n], a.units), product(a.unit)*a.m.typ.Size()
	key, from, length := cacheKey{a, unit, wholeChunk}, 0, size
	if size > bloscBlock && a.codecs.paged() { // one entry of a large chunk takes a page of it
		key.page = i * a.m.typ.Size() / bloscBlock
		from, length = key.page*bloscBlock, min(bloscBlock, size-key.page*bloscBlock)
	}
	data, err := a.cache.get(key, func() ([]byte, error) {
		chunk := aligned(length)
		where := slices.Clone(place[:n])
		if length < size {
			packed, err := a.cache.get(cacheKey{a, unit, packedChunk}, func() ([]byte, error) { return a.packed(ctx, where) })
			if err != nil {
				return nil, err
			}
			return chunk, a.decodePage(chunk, packed, where, from)
		}
		if err := a.decodeUnit(ctx, chunk, where); err != nil {
			return nil, err
		}
		return chunk, nil
	})
	if err != nil {
		return 0, err
	}
	i -= from / a.m.typ.Size()
	switch a.m.typ {
	case Uint32:
		return S(elementsOf[uint32](data)[i]), nil
	case Int32:
		return S(elementsOf[int32](data)[i]), nil
	}
	return elementsOf[S](data)[i], nil
}

// at is the sum of the pixels in [0,x)×[0,y). Between blocks the lines have it, which are far smaller than blocks.
func (r *reader[S]) at(ctx context.Context, x, y, c int) (S, error) {
	if x == 0 || y == 0 {
		return 0, nil
	}
	block := r.t.Block
	if y%block == 0 && y < r.t.Height {
		return element[S](ctx, r.l.top, y/block, x-1, c)
	}
	if x%block == 0 && x < r.t.Width {
		left, err := element[S](ctx, r.l.left, x/block, y-1, c)
		if err != nil {
			return 0, err
		}
		top, err := element[S](ctx, r.l.top, (y-1)/block, x-1, c)
		return left + top, err
	}
	x, y = x-1, y-1
	s, err := element[S](ctx, r.l.main, y, x, c)
	if err != nil || !r.t.Compact {
		return s, err
	}
	left, err := element[S](ctx, r.l.left, x/r.t.Block, y, c)
	if err != nil {
		return 0, err
	}
	top, err := element[S](ctx, r.l.top, y/r.t.Block, x, c)
	return (s + left) + top, err
}

// sum is that of a box in the image.
func (r *reader[S]) sum(ctx context.Context, b image.Rectangle, c int) (sum S, err error) {
	var corners [4]S
	for i, p := range [4]image.Point{b.Max, {X: b.Min.X, Y: b.Max.Y}, {X: b.Max.X, Y: b.Min.Y}, b.Min} {
		if corners[i], err = r.at(ctx, p.X, p.Y, c); err != nil {
			return 0, err
		}
	}
	return corners[0] - corners[1] - corners[2] + corners[3], nil
}

// SumBoxes writes the sums of all channels over every box, clipped to the image: channel c of boxes[i] is
// dst[i*channels+c]. S is the type of the table's sums: uint64 for unsigned pixels, int64 for signed ones, float64 for
// floats.
func SumBoxes[S uint64 | int64 | float64](ctx context.Context, t *Table, dst []S, boxes []image.Rectangle) error {
	if want := t.layers[0].sum; TypeOf[S]() != want {
		return grid.Types("the table has sums of %v, and not of %v", want, TypeOf[S]())
	}
	channels := t.about.Channels
	if err := grid.Room(len(dst), len(boxes), channels); err != nil {
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

// cornerBits number the corners of boxes that are answered at once.
const cornerBits = 24

// atOnce is how many boxes are answered at once: they take a quarter of what is kept of chunks.
func (t *Table) atOnce() int {
	return int(min(max(1024, t.cache.limit/4/int64(32*(1+t.about.Channels))), 1<<(cornerBits-2)))
}

// boxSums is the sums of boxes in a layer.
func boxSums[S boxsum.Sum](ctx context.Context, t *Table, layer int, boxes []image.Rectangle) ([]S, error) {
	sums := make([]S, len(boxes)*t.about.Channels)
	return sums, (&reader[S]{t, t.layers[layer]}).sums(ctx, sums, boxes)
}

// sums reads the corners of boxes page by page, so that each page is unpacked once however many boxes there are.
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

// page is a number for what is unpacked at once to read an entry.
func (r *reader[S]) page(x, y int) int {
	a := r.l.main
	height, width := a.unit[0], a.unit[1]
	bytes := r.t.about.Channels * a.m.typ.Size()
	pages := ceil(height*width*bytes, bloscBlock)
	return (y/height*a.units[1]+x/width)*pages + (y%height*width+x%width)*bytes/bloscBlock
}

// each answers boxes: those near to each other one after the other, by several goroutines.
func (t *Table) each(ctx context.Context, have, per int, boxes []image.Rectangle, answer func(i int, box image.Rectangle) error, empty func(i int)) error {
	if err := grid.Room(have, len(boxes), per); err != nil {
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
	unit := t.layers[0].main.unit
	cell := func(i int) int {
		p := boxes[i].Intersect(t.Bounds()).Max
		return (p.Y-1)/unit[0]*(t.Width/unit[1]+1) + (p.X-1)/unit[1]
	}
	slices.SortFunc(order, func(a, b int) int { return cell(a) - cell(b) })
	return t.run(ctx, len(order), func(k int) error { return answer(order[k], boxes[order[k]].Intersect(t.Bounds())) })
}

// run does a work with n parts, by several goroutines.
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
	workers := min(t.workers, ceil(n, some))
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

// rectangle is a box as statistics see it.
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

// known is what the table knows of its pixels.
func known[S boxsum.Sum](t *Table, squares bool) exact.Pixels {
	pixel, _ := ParseType(t.Pixel)
	if pixel == Int64 || pixel == Uint64 {
		return exact.Pixels{Most: 1}
	}
	return exact.Pixels{Most: exact.MostOf[S](boundOf(pixel), squares)}
}

// MeanBoxes writes the means of all channels over every box, as [SumBoxes] does sums. That of an empty box is 0. Integers are
// right for boxes of any size.
func (t *Table) MeanBoxes(ctx context.Context, dst []float64, boxes []image.Rectangle) error {
	switch t.layers[0].sum {
	case Uint64:
		return means[uint64](ctx, t, dst, boxes)
	case Int64:
		return means[int64](ctx, t, dst, boxes)
	}
	return means[float64](ctx, t, dst, boxes)
}

func means[S boxsum.Sum](ctx context.Context, t *Table, dst []float64, boxes []image.Rectangle) error {
	return t.statistics(ctx, dst, boxes, func(boxes []image.Rectangle) (statistic, error) {
		sums, err := boxSums[S](ctx, t, 0, boxes)
		return func(box rectangle, c, at int) (float64, error) {
			var failed error
			of := tableFor(ctx, t, 0, c, box, sums[at], &failed)
			mean := exact.MeanOf(&of, box)
			return mean, failed
		}, err
	})
}

// tableFor is one channel of a layer, as statistics see it. The sum of one box is known.
func tableFor[S boxsum.Sum](ctx context.Context, t *Table, layer, c int, box rectangle, sum S, failed *error) exact.Table[S, rectangle] {
	r := &reader[S]{t, t.layers[layer]}
	return exact.Table[S, rectangle]{Pixels: known[S](t, layer == 1), Sum: func(b rectangle) S {
		if b == box {
			return sum
		}
		s, err := r.sum(ctx, image.Rectangle(b), c)
		if err != nil && *failed == nil {
			*failed = err
		}
		return s
	}}
}

// A statistic is that of a channel of a box whose sums are at this place.
type statistic = func(box rectangle, c, at int) (float64, error)

// statistics answers boxes some at a time, with what prepare makes of these.
func (t *Table) statistics(ctx context.Context, dst []float64, boxes []image.Rectangle, prepare func(boxes []image.Rectangle) (statistic, error)) error {
	channels, most := t.about.Channels, t.atOnce()
	if err := grid.Room(len(dst), len(boxes), channels); err != nil {
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

// VarianceBoxes writes the variances of all channels over every box. The table needs squares. Those of integers are exact but for
// the last roundings; those of floats are NaN where rounding may be more than a fiftieth of it.
func (t *Table) VarianceBoxes(ctx context.Context, dst []float64, boxes []image.Rectangle) error {
	if !t.Squares {
		return bad("the table has no squares, which deviations need: make it with them")
	}
	switch {
	case t.layers[0].sum == Float64:
		return variances[float64, float64](ctx, t, dst, boxes)
	case t.layers[0].sum == Int64:
		return variances[int64, uint64](ctx, t, dst, boxes)
	}
	return variances[uint64, uint64](ctx, t, dst, boxes)
}

// StdDevBoxes is [Table.VarianceBoxes] for standard deviations.
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

// variance is that of a channel of a box, whose sums are known.
func variance[S boxsum.Sum, Q boxsum.Square](ctx context.Context, t *Table, box rectangle, c int, sum S, square Q) (float64, error) {
	var failed error
	sums, squares := tableFor(ctx, t, 0, c, box, sum, &failed), tableFor(ctx, t, 1, c, box, square, &failed)
	entries := &reader[Q]{t, t.layers[1]}
	first := &reader[S]{t, t.layers[0]}
	v := exact.VarianceOf(&sums, &squares, box, func(p rectangle) exact.Rounding {
		largest, err := entries.at(ctx, p.Max.X, p.Max.Y, c)
		if err != nil {
			failed = err
		}
		// Rows and columns of a block, then the blocks left of it, then those above.
		steps := 2*t.Block + 8 + p.Max.X/t.Block + 2*(p.Max.Y/t.Block) + 3
		return exact.Rounding{Entries: 4, Squares: float64(largest), Pixels: p.Max.X * p.Max.Y, Steps: steps}
	}, func(p rectangle) bool {
		for _, x := range [...]int{p.Min.X, p.Max.X} {
			for _, y := range [...]int{p.Min.Y, p.Max.Y} {
				s, err1 := first.at(ctx, x, y, c)
				q, err2 := entries.at(ctx, x, y, c)
				if err := errors.Join(err1, err2); err != nil {
					failed = err
					return false
				}
				if !exact.IsWhole(s, q) {
					return false
				}
			}
		}
		return true
	})
	return v, failed
}
