package store

import (
	"context"
	"errors"
	"image"
	"math"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/histogram"
	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/internal/stats"
	"github.com/boxsum/boxsum/volume"
	"github.com/boxsum/boxsum/zarr"
)

// Volumes and histograms are stored as tables of images with many channels, which are
// computed when a block is read: a volume has one channel per slice, the sum of the slices
// up to it, and a histogram has one per bin, which is 1 for the pixels in it.

// spreads is the approximate number of entries in a block of such a table.
const spreads = 4 << 20

// columnSummer computes the tables of a block of a volume.
type columnSummer[P boxsum.Pixel | int64 | uint64, S, Q uint64 | int64 | float64] struct {
	depth int
	of    func(dst []P, pix []byte) []P // converts elements to pixels
	wide  []P
	table func(dst *boxsum.Table[S], pix []S, width, height, channels int) error
	sums  []S
	t     tableOf[S, S]

	squares       bool
	squareTable   func(dst *boxsum.Table[Q], pix []Q, width, height, channels int) error
	squaredSums   []Q
	squaredTables tableOf[Q, Q]
}

func (s *columnSummer[P, S, Q]) make(pix []byte, width, height int) (err error) {
	if s.t.table, err = fresh(s.t.table, width, height, s.depth); err != nil {
		return err
	}
	s.wide = s.of(s.wide[:0], pix)
	n := width * height
	s.sums = sized(s.sums, n*s.depth)
	columns(s.sums, s.wide, n, s.depth, func(v P) S { return S(v) })
	if err := s.table(s.t.table, s.sums, width, height, s.depth); err != nil || !s.squares {
		return err
	}
	if s.squaredTables.table, err = fresh(s.squaredTables.table, width, height, s.depth); err != nil {
		return err
	}
	s.squaredSums = sized(s.squaredSums, n*s.depth)
	columns(s.squaredSums, s.wide, n, s.depth, func(v P) Q { return Q(v) * Q(v) })
	return s.squareTable(s.squaredTables.table, s.squaredSums, width, height, s.depth)
}

func (s *columnSummer[P, S, Q]) layers() []layerTable {
	if s.squares {
		return []layerTable{&s.t, &s.squaredTables}
	}
	return []layerTable{&s.t}
}

func sized[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}

// columns stores the running sums over depth slices of n pixels, with the sums of each
// pixel adjacent.
func columns[P any, S uint64 | int64 | float64](dst []S, src []P, n, depth int, of func(P) S) {
	const some = 64 // pixels at a time, whose columns fit in the cache
	for from := 0; from < n; from += some {
		to := min(from+some, n)
		for z := range depth {
			for i, v := range src[z*n+from : z*n+to] {
				at := (from+i)*depth + z
				if dst[at] = of(v); z > 0 {
					dst[at] = dst[at-1] + dst[at]
				}
			}
		}
	}
}

// newColumnSummer returns a summer for volumes of the given depth.
func newColumnSummer(pixel zarr.Type, depth int, squares bool) (summer, error) {
	switch pixelsOf(pixel) {
	case zarr.Uint8:
		return columnsOf[uint8, uint64, uint64](pixel, depth, squares, table64, table64), nil
	case zarr.Uint16:
		return columnsOf[uint16, uint64, uint64](pixel, depth, squares, table64, table64), nil
	case zarr.Uint32:
		return columnsOf[uint32, uint64, uint64](pixel, depth, squares, table64, table64), nil
	case zarr.Int16:
		return columnsOf[int16, int64, uint64](pixel, depth, squares, table64, table64), nil
	case zarr.Int32:
		return columnsOf[int32, int64, uint64](pixel, depth, squares, table64, table64), nil
	case zarr.Float32:
		return columnsOf[float32, float64, float64](pixel, depth, squares, tableFloat, tableFloat), nil
	case zarr.Float64:
		return columnsOf[float64, float64, float64](pixel, depth, squares, tableFloat, tableFloat), nil
	}
	if squares {
		return nil, raster.Unsupported("pixels of %v have no table of squares", pixel)
	}
	direct := func(_ []uint64, pix []byte) []uint64 { return raster.Elems[uint64](pix) }
	if pixel == zarr.Int64 {
		return &columnSummer[int64, int64, uint64]{depth: depth, of: func(_ []int64, pix []byte) []int64 { return raster.Elems[int64](pix) }, table: table64[int64]}, nil
	}
	return &columnSummer[uint64, uint64, uint64]{depth: depth, of: direct, table: table64[uint64]}, nil
}

func columnsOf[P boxsum.Pixel, S, Q uint64 | int64 | float64](pixel zarr.Type, depth int, squares bool, table func(*boxsum.Table[S], []S, int, int, int) error, squareTable func(*boxsum.Table[Q], []Q, int, int, int) error) summer {
	c := &common{pixel, depth}
	return &columnSummer[P, S, Q]{depth: depth, table: table, squares: squares, squareTable: squareTable, of: func(dst []P, pix []byte) []P { return pixels(c, pix, &dst) }}
}

func table64[S uint64 | int64](dst *boxsum.Table[S], pix []S, width, height, channels int) error {
	return boxsum.IntegrateInto(dst, boxsum.Image[S]{Pix: pix, Width: width, Height: height, Channels: channels}, plain)
}

func tableFloat(dst *boxsum.Table[float64], pix []float64, width, height, channels int) error {
	return boxsum.IntegrateInto(dst, boxsum.Image[float64]{Pix: pix, Width: width, Height: height, Channels: channels}, plain)
}

// binSummer computes the integral histogram of a block.
type binSummer[P boxsum.Pixel] struct {
	plainSummer[uint8, uint32, uint64]
	pixel common
	bins  histogram.Bins
	wide  []P
	ones  []byte
}

func (s *binSummer[P]) make(pix []byte, width, height int) error {
	values := pixels(&s.pixel, pix, &s.wide)
	s.ones = sized(s.ones, len(values)*s.bins.N)
	clear(s.ones)
	for i, v := range values {
		if bin := s.bins.Index(float64(v)); bin >= 0 {
			s.ones[i*s.bins.N+bin] = 1
		}
	}
	return s.plainSummer.make(s.ones, width, height)
}

// newBinSummer returns a summer for histograms. It completes bins according to the pixel
// type.
func newBinSummer(pixel zarr.Type, bins *histogram.Bins) (summer, error) {
	switch pixelsOf(pixel) {
	case zarr.Uint8:
		return binsOf[uint8](pixel, bins)
	case zarr.Uint16:
		return binsOf[uint16](pixel, bins)
	case zarr.Uint32:
		return binsOf[uint32](pixel, bins)
	case zarr.Int16:
		return binsOf[int16](pixel, bins)
	case zarr.Int32:
		return binsOf[int32](pixel, bins)
	case zarr.Float32:
		return binsOf[float32](pixel, bins)
	case zarr.Float64:
		return binsOf[float64](pixel, bins)
	}
	return nil, raster.Unsupported("pixels of %v have no histograms", pixel)
}

func binsOf[P boxsum.Pixel](pixel zarr.Type, bins *histogram.Bins) (summer, error) {
	over, err := histogram.Over[P](*bins)
	if err != nil {
		return nil, err
	}
	*bins = over
	return &binSummer[P]{plainSummer: plainSummer[uint8, uint32, uint64]{common: common{zarr.Uint8, over.N}}, pixel: common{pixel, 1}, bins: over}, nil
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

// A solid is a box in the form that package stats expects.
type solid volume.Box

func (s solid) Pixels() int { return (s.X1 - s.X0) * (s.Y1 - s.Y0) * (s.Z1 - s.Z0) }

func (s solid) Halves() (one, other solid, ok bool) {
	one, other = s, s
	switch w, h, d := s.X1-s.X0, s.Y1-s.Y0, s.Z1-s.Z0; {
	case w >= h && w >= d:
		one.X1 = s.X0 + w/2
		other.X0 = one.X1
	case h >= d:
		one.Y1 = s.Y0 + h/2
		other.Y0 = one.Y1
	default:
		one.Z1 = s.Z0 + d/2
		other.Z0 = one.Z1
	}
	return one, other, s.Pixels() > 1
}

// solid returns the sum of a box in the volume.
func (r *reader[S]) solid(ctx context.Context, b solid) (S, error) {
	rect := image.Rect(b.X0, b.Y0, b.X1, b.Y1)
	far, err := r.sum(ctx, rect, b.Z1-1)
	if err != nil || b.Z0 == 0 {
		return far, err
	}
	near, err := r.sum(ctx, rect, b.Z0-1)
	return far - near, err
}

// eachSolid calls answer for boxes of a volume.
func (t *Table) eachSolid(ctx context.Context, have int, boxes []volume.Box, answer func(i int, box solid) error, empty func(i int)) error {
	if t.about.Depth == 0 {
		return bad("the table is of an image, but the boxes are of a volume")
	}
	rects := make([]image.Rectangle, len(boxes))
	for i, b := range boxes {
		if b = b.Intersect(t.VolumeBounds()); !b.Empty() {
			rects[i] = image.Rect(b.X0, b.Y0, b.X1, b.Y1)
		}
	}
	return t.each(ctx, have, 1, rects, func(i int, _ image.Rectangle) error {
		return answer(i, solid(boxes[i].Intersect(t.VolumeBounds())))
	}, empty)
}

// SumVolumeBoxes is like [SumBoxes] for boxes of a volume.
func SumVolumeBoxes[S uint64 | int64 | float64](ctx context.Context, t *Table, dst []S, boxes []volume.Box) error {
	if want := t.layers[0].sum; zarr.TypeOf[S]() != want {
		return raster.Unsupported("the table has sums of %v, not %v", want, zarr.TypeOf[S]())
	}
	r := &reader[S]{t, t.layers[0]}
	return t.eachSolid(ctx, len(dst), boxes, func(i int, box solid) (err error) {
		dst[i], err = r.solid(ctx, box)
		return err
	}, func(i int) { dst[i] = 0 })
}

// MeanVolumeBoxes is like [Table.MeanBoxes] for boxes of a volume.
func (t *Table) MeanVolumeBoxes(ctx context.Context, dst []float64, boxes []volume.Box) error {
	switch t.layers[0].sum {
	case zarr.Uint64:
		return solidMeans[uint64](ctx, t, dst, boxes)
	case zarr.Int64:
		return solidMeans[int64](ctx, t, dst, boxes)
	}
	return solidMeans[float64](ctx, t, dst, boxes)
}

func solidMeans[S boxsum.Sum](ctx context.Context, t *Table, dst []float64, boxes []volume.Box) error {
	return t.eachSolid(ctx, len(dst), boxes, func(i int, box solid) error {
		sum, err := solidTotal(ctx, &reader[S]{t, t.layers[0]}, box, t.known(false).MaxCount(raster.TypeOf[S](), false))
		dst[i] = stats.Mean(box.Pixels(), sum)
		return err
	}, func(i int) { dst[i] = 0 })
}

// solidTotal returns the sum of a box, added up from parts of at most the given number of
// voxels.
func solidTotal[S boxsum.Sum](ctx context.Context, r *reader[S], box solid, most int) (stats.Sum, error) {
	if box.Pixels() <= most {
		s, err := r.solid(ctx, box)
		return stats.SumOf(s), err
	}
	one, other, ok := box.Halves()
	if !ok {
		return stats.Sum{}, nil
	}
	a, err := solidTotal(ctx, r, one, most)
	if err != nil {
		return stats.Sum{}, err
	}
	b, err := solidTotal(ctx, r, other, most)
	return a.Plus(b), err
}

// VarianceVolumeBoxes is like [Table.VarianceBoxes] for boxes of a volume.
func (t *Table) VarianceVolumeBoxes(ctx context.Context, dst []float64, boxes []volume.Box) error {
	if !t.Squares {
		return bad("the table has no squares, which deviations need (make it with squares)")
	}
	switch t.layers[0].sum {
	case zarr.Float64:
		return solidVariances[float64, float64](ctx, t, dst, boxes)
	case zarr.Int64:
		return solidVariances[int64, uint64](ctx, t, dst, boxes)
	}
	return solidVariances[uint64, uint64](ctx, t, dst, boxes)
}

// StdDevVolumeBoxes is like [Table.VarianceVolumeBoxes] for standard deviations.
func (t *Table) StdDevVolumeBoxes(ctx context.Context, dst []float64, boxes []volume.Box) error {
	if err := t.VarianceVolumeBoxes(ctx, dst, boxes); err != nil {
		return err
	}
	for i, v := range dst[:len(boxes)] {
		dst[i] = math.Sqrt(v)
	}
	return nil
}

func solidVariances[S boxsum.Sum, Q boxsum.Square](ctx context.Context, t *Table, dst []float64, boxes []volume.Box) error {
	first, entries := &reader[S]{t, t.layers[0]}, &reader[Q]{t, t.layers[1]}
	most, mostSquares := stats.MaxCounts(raster.TypeOf[S](), t.known(false), raster.TypeOf[Q](), t.known(true))
	return t.eachSolid(ctx, len(dst), boxes, func(i int, box solid) error {
		sum, err := solidTotal(ctx, first, box, most)
		if err != nil {
			return err
		}
		squares, err := solidTotal(ctx, entries, box, mostSquares)
		if err != nil {
			return err
		}
		if !raster.TypeOf[S]().Float() && !raster.TypeOf[Q]().Float() {
			dst[i] = stats.Variance(box.Pixels(), sum, squares, nil, nil)
			return nil
		}
		largest, err := entries.at(ctx, box.X1, box.Y1, box.Z1-1)
		if err != nil {
			return err
		}
		steps := 2*t.Block + 8 + box.X1/t.Block + 2*(box.Y1/t.Block) + 3 + box.Z1
		r := stats.Rounding{Entries: 8, Squares: float64(largest), Pixels: box.X1 * box.Y1 * box.Z1, Steps: steps}
		dst[i] = stats.Variance(box.Pixels(), sum, squares, &r, func() bool {
			for corner := range 8 {
				x, y, z := box.X0, box.Y0, box.Z0
				if corner&1 != 0 {
					x = box.X1
				}
				if corner&2 != 0 {
					y = box.Y1
				}
				if corner&4 != 0 {
					z = box.Z1
				}
				if z == 0 {
					continue
				}
				s, err1 := first.at(ctx, x, y, z-1)
				q, err2 := entries.at(ctx, x, y, z-1)
				if err = errors.Join(err1, err2); err != nil || !stats.IsWhole(float64(s), float64(q), raster.TypeOf[S]()) {
					return false
				}
			}
			return true
		})
		return err
	}, func(i int) { dst[i] = 0 })
}
