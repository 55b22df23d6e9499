package store

import (
	"context"
	"image"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/volume"
	"github.com/boxsum/boxsum/zarr"
)

// element returns an element of an array of the table, through the cache.
func (t *Table) element(ctx context.Context, a *zarr.Array, y, x, c int) (number, error) {
	var place [3]int
	at := append(place[:0], y, x)
	if t.about.Channels > 1 {
		at = append(at, c)
	}
	var bytes [8]byte
	err := a.AtBytes(ctx, bytes[:a.Type().Size()], at...)
	return decode(a.Type(), bytes[:]), err
}

// at returns the sum of the pixels in [0,x)×[0,y). At block boundaries it reads the lines,
// which are much smaller than blocks.
func (t *Table) at(ctx context.Context, l *layer, x, y, c int) (number, error) {
	if x == 0 || y == 0 {
		return 0, nil
	}
	block := t.Block
	if y%block == 0 && y < t.Height {
		return t.element(ctx, l.top, y/block, x-1, c)
	}
	if x%block == 0 && x < t.Width {
		left, err := t.element(ctx, l.left, x/block, y-1, c)
		if err != nil {
			return 0, err
		}
		top, err := t.element(ctx, l.top, (y-1)/block, x-1, c)
		return l.plus(left, top), err
	}
	x, y = x-1, y-1
	s, err := t.element(ctx, l.main, y, x, c)
	if err != nil || !t.Compact {
		return s, err
	}
	left, err := t.element(ctx, l.left, x/block, y, c)
	if err != nil {
		return 0, err
	}
	top, err := t.element(ctx, l.top, y/block, x, c)
	return l.plus(l.plus(s, left), top), err
}

// corners returns the corners of a box, in the order in which [layer.box] takes their sums.
func corners(b image.Rectangle) [4]image.Point {
	return [4]image.Point{b.Max, {X: b.Min.X, Y: b.Max.Y}, {X: b.Max.X, Y: b.Min.Y}, b.Min}
}

// box returns the sum of a box from the sums at its corners.
func (l *layer) box(a, b, c, d number) number { return l.plus(l.minus(l.minus(a, b), c), d) }

// sum returns the sum of a box, which must lie in the image.
func (t *Table) sum(ctx context.Context, l *layer, b image.Rectangle, c int) (number, error) {
	var s [4]number
	for i, p := range corners(b) {
		var err error
		if s[i], err = t.at(ctx, l, p.X, p.Y, c); err != nil {
			return 0, err
		}
	}
	return l.box(s[0], s[1], s[2], s[3]), nil
}

// SumBoxes writes the sums of all channels over each box, clipped to the image, to dst: the
// sum of channel c over boxes[i] is dst[i*channels+c]. The length of dst must be at least
// the number of boxes times the number of channels. S must be the type of the table's sums:
// uint64 for unsigned pixels, int64 for signed ones, and float64 for floats.
func SumBoxes[S uint64 | int64 | float64](ctx context.Context, t *Table, dst []S, boxes []image.Rectangle) error {
	if err := t.checkSums(zarr.TypeOf[S]()); err != nil {
		return err
	}
	return t.sumBoxes(ctx, raster.Elems[number](raster.Bytes(dst)), boxes)
}

// SumBoxesBytes is like [SumBoxes] but writes sums of any type, which [Table.Types]
// returns, as bytes in this machine's byte order. dst must start at a multiple of 8 bytes,
// and each sum takes 8 bytes.
func (t *Table) SumBoxesBytes(ctx context.Context, dst []byte, boxes []image.Rectangle) error {
	return t.sumBoxes(ctx, raster.Elems[number](dst), boxes)
}

// checkSums returns an error unless the table has sums of this type.
func (t *Table) checkSums(s zarr.Type) error {
	if want := t.layers[0].sum; s != want {
		return raster.Unsupported("sums have type %v, want %v like those of the table", s, want)
	}
	return nil
}

func (t *Table) sumBoxes(ctx context.Context, dst []number, boxes []image.Rectangle) error {
	channels := t.about.Channels
	if err := raster.CheckRoom(len(dst), len(boxes), channels); err != nil {
		return err
	}
	most := t.atOnce()
	for from := 0; from < len(boxes); from += most {
		if err := t.sums(ctx, t.layers[0], dst[from*channels:], boxes[from:min(from+most, len(boxes))]); err != nil {
			return err
		}
	}
	return nil
}

// SumVolumeBoxes writes the sum over each box of a volume, clipped to the volume, to dst:
// the sum over boxes[i] is dst[i]. The length of dst must be at least len(boxes). S is as
// for [SumBoxes].
func SumVolumeBoxes[S uint64 | int64 | float64](ctx context.Context, t *Table, dst []S, boxes []volume.Box) error {
	if err := t.checkSums(zarr.TypeOf[S]()); err != nil {
		return err
	}
	return t.sumVolumeBoxes(ctx, raster.Elems[number](raster.Bytes(dst)), boxes)
}

// SumVolumeBoxesBytes is like [SumVolumeBoxes] but writes sums of any type, which
// [Table.Types] returns, as bytes in this machine's byte order. dst must start at a
// multiple of 8 bytes, and each sum takes 8 bytes.
func (t *Table) SumVolumeBoxesBytes(ctx context.Context, dst []byte, boxes []volume.Box) error {
	return t.sumVolumeBoxes(ctx, raster.Elems[number](dst), boxes)
}

func (t *Table) sumVolumeBoxes(ctx context.Context, dst []number, boxes []volume.Box) error {
	return t.eachOfVolume(ctx, len(dst), boxes, func(i int, r region) (err error) {
		dst[i], err = t.sumRegion(ctx, t.layers[0], r)
		return err
	}, func(i int) { dst[i] = 0 })
}

// cornerBits is the number of bits that identify a corner among the boxes answered at once.
const cornerBits = 24

// atOnce returns the number of boxes to answer at once, which take a quarter of the cache.
func (t *Table) atOnce() int {
	return int(min(max(1024, t.cacheBytes/4/int64(32*(1+t.about.Channels))), 1<<(cornerBits-2)))
}

// sums stores the sums of boxes in a layer. It reads their corners page by page, so that
// each page is decoded only once.
func (t *Table) sums(ctx context.Context, l *layer, dst []number, boxes []image.Rectangle) error {
	channels := t.about.Channels
	corner := func(n int) image.Point { return corners(boxes[n/4].Intersect(t.Bounds()))[n%4] }
	order := make([]uint64, 0, 4*len(boxes)) // the page of a corner, and its number
	for n := range 4 * len(boxes) {
		if p := corner(n); p.X > 0 && p.Y > 0 && !boxes[n/4].Intersect(t.Bounds()).Empty() {
			order = append(order, uint64(t.page(l, p.X-1, p.Y-1))<<cornerBits|uint64(n))
		}
	}
	slices.Sort(order)
	values := make([]number, 4*len(boxes)*channels)
	err := t.run(ctx, len(order), func(k int) (err error) {
		n := int(order[k] & (1<<cornerBits - 1))
		p := corner(n)
		for c := range channels {
			if values[n*channels+c], err = t.at(ctx, l, p.X, p.Y, c); err != nil {
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
			dst[i*channels+c] = l.box(v[c], v[channels+c], v[2*channels+c], v[3*channels+c])
		}
	}
	return nil
}

// pageBytes is the approximate number of bytes of a chunk decoded to read one entry.
const pageBytes = 1 << 20

// page returns the number of the page that contains an entry of a layer. A page is decoded
// at once.
func (t *Table) page(l *layer, x, y int) int {
	height, width := l.chunk[0], l.chunk[1]
	bytes := t.about.Channels * l.kept.Size()
	pages := raster.CeilDiv(height*width*bytes, pageBytes)
	return (y/height*raster.CeilDiv(t.Width, width)+x/width)*pages + (y%height*width+x%width)*bytes/pageBytes
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

// eachOfVolume is like each for boxes of a volume.
func (t *Table) eachOfVolume(ctx context.Context, have int, boxes []volume.Box, answer func(i int, r region) error, empty func(i int)) error {
	if t.about.Depth == 0 {
		return bad("boxes have six coordinates, want four for the table of an image (use the functions for images)")
	}
	rects := make([]image.Rectangle, len(boxes))
	for i, b := range boxes {
		if b = b.Intersect(t.VolumeBounds()); !b.Empty() {
			rects[i] = image.Rect(b.X0, b.Y0, b.X1, b.Y1)
		}
	}
	return t.each(ctx, have, 1, rects, func(i int, rect image.Rectangle) error {
		b := boxes[i].Intersect(t.VolumeBounds())
		return answer(i, region{Rectangle: rect, depth: b.Z1 - b.Z0, last: b.Z1 - 1, before: b.Z0 - 1})
	}, empty)
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
