package store

import (
	"context"
	"errors"
	"image"
	"math"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/histogram"
	"github.com/boxsum/boxsum/internal/exact"
	"github.com/boxsum/boxsum/internal/grid"
	"github.com/boxsum/boxsum/volume"
)

// Volumes and histograms are tables of images with many channels, which are made when a block is read: a
// volume has one for each slice, the sum of the slices up to it, and a histogram one for each bin, which is 1 for the
// pixels in it.

// spreads is how many entries a block of such a table has, about.
const spreads = 4 << 20

// columnSummer makes the tables of a block of a volume.
type columnSummer[P boxsum.Pixel | int64 | uint64, S, Q uint64 | int64 | float64] struct {
	depth int
	of    func(dst []P, pix []byte) []P // the elements as pixels
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
	if s.t.Table, err = fresh(s.t.Table, width, height, s.depth); err != nil {
		return err
	}
	s.wide = s.of(s.wide[:0], pix)
	n := width * height
	s.sums = sized(s.sums, n*s.depth)
	columns(s.sums, s.wide, n, s.depth, func(v P) S { return S(v) })
	if err := s.table(s.t.Table, s.sums, width, height, s.depth); err != nil || !s.squares {
		return err
	}
	if s.squaredTables.Table, err = fresh(s.squaredTables.Table, width, height, s.depth); err != nil {
		return err
	}
	s.squaredSums = sized(s.squaredSums, n*s.depth)
	columns(s.squaredSums, s.wide, n, s.depth, func(v P) Q { return Q(v) * Q(v) })
	return s.squareTable(s.squaredTables.Table, s.squaredSums, width, height, s.depth)
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

// columns sums slices of n pixels, each with those before it, and puts what is of one pixel side by side.
func columns[P any, S uint64 | int64 | float64](dst []S, src []P, n, depth int, of func(P) S) {
	const some = 64 // pixels at once, whose columns stay in the cache
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

// newColumnSummer is for volumes of this depth.
func newColumnSummer(pixel Type, depth int, squares bool) (summer, error) {
	switch pixelsOf(pixel) {
	case Uint8:
		return columnsOf[uint8, uint64, uint64](pixel, depth, squares, table64, table64), nil
	case Uint16:
		return columnsOf[uint16, uint64, uint64](pixel, depth, squares, table64, table64), nil
	case Uint32:
		return columnsOf[uint32, uint64, uint64](pixel, depth, squares, table64, table64), nil
	case Int16:
		return columnsOf[int16, int64, uint64](pixel, depth, squares, table64, table64), nil
	case Int32:
		return columnsOf[int32, int64, uint64](pixel, depth, squares, table64, table64), nil
	case Float32:
		return columnsOf[float32, float64, float64](pixel, depth, squares, tableFloat, tableFloat), nil
	case Float64:
		return columnsOf[float64, float64, float64](pixel, depth, squares, tableFloat, tableFloat), nil
	}
	if squares {
		return nil, grid.Types("pixels of %v have no table of squares", pixel)
	}
	direct := func(_ []uint64, pix []byte) []uint64 { return elementsOf[uint64](pix) }
	if pixel == Int64 {
		return &columnSummer[int64, int64, uint64]{depth: depth, of: func(_ []int64, pix []byte) []int64 { return elementsOf[int64](pix) }, table: table64[int64]}, nil
	}
	return &columnSummer[uint64, uint64, uint64]{depth: depth, of: direct, table: table64[uint64]}, nil
}

func columnsOf[P boxsum.Pixel, S, Q uint64 | int64 | float64](pixel Type, depth int, squares bool, table func(*boxsum.Table[S], []S, int, int, int) error, squareTable func(*boxsum.Table[Q], []Q, int, int, int) error) summer {
	c := &common{pixel, depth}
	return &columnSummer[P, S, Q]{depth: depth, table: table, squares: squares, squareTable: squareTable, of: func(dst []P, pix []byte) []P { return pixels(c, pix, &dst) }}
}

func table64[S uint64 | int64](dst *boxsum.Table[S], pix []S, width, height, channels int) error {
	return boxsum.Integrate64Into(dst, boxsum.Image64[S]{Pix: pix, Width: width, Height: height, Channels: channels}, plain)
}

func tableFloat(dst *boxsum.Table[float64], pix []float64, width, height, channels int) error {
	return boxsum.IntegrateInto(dst, boxsum.Image[float64]{Pix: pix, Width: width, Height: height, Channels: channels}, plain)
}

// binSummer makes the integral histogram of a block.
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

// newBinSummer is for histograms. It fills in what the pixels decide of the bins.
func newBinSummer(pixel Type, bins *histogram.Bins) (summer, error) {
	switch pixelsOf(pixel) {
	case Uint8:
		return binsOf[uint8](pixel, bins)
	case Uint16:
		return binsOf[uint16](pixel, bins)
	case Uint32:
		return binsOf[uint32](pixel, bins)
	case Int16:
		return binsOf[int16](pixel, bins)
	case Int32:
		return binsOf[int32](pixel, bins)
	case Float32:
		return binsOf[float32](pixel, bins)
	case Float64:
		return binsOf[float64](pixel, bins)
	}
	return nil, grid.Types("pixels of %v have no histograms", pixel)
}

func binsOf[P boxsum.Pixel](pixel Type, bins *histogram.Bins) (summer, error) {
	over, err := histogram.Over[P](*bins)
	if err != nil {
		return nil, err
	}
	*bins = over
	return &binSummer[P]{plainSummer: plainSummer[uint8, uint32, uint64]{common: common{Uint8, over.N}}, pixel: common{pixel, 1}, bins: over}, nil
}

// Bins are those of a table of histograms, whose boxes [SumBoxes] counts: a channel is a bin. N is 0 if it is another table.
func (t *Table) Bins() histogram.Bins {
	return histogram.Bins{N: t.about.Bins, Low: t.Low, High: t.High, Clamp: t.Clamp}
}

// Depth is how many slices the volume has, and 0 if the table is that of an image.
func (t *Table) Depth() int { return t.about.Depth }

// VolumeBounds is the box of all voxels.
func (t *Table) VolumeBounds() volume.Box {
	return volume.NewBox(0, 0, 0, t.Width, t.Height, t.about.Depth)
}

// A solid is a box as statistics see it.
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

// solid is the sum of a box in the volume.
func (r *reader[S]) solid(ctx context.Context, b solid) (S, error) {
	rect := image.Rect(b.X0, b.Y0, b.X1, b.Y1)
	far, err := r.sum(ctx, rect, b.Z1-1)
	if err != nil || b.Z0 == 0 {
		return far, err
	}
	near, err := r.sum(ctx, rect, b.Z0-1)
	return far - near, err
}

// eachSolid answers boxes of a volume.
func (t *Table) eachSolid(ctx context.Context, have int, boxes []volume.Box, answer func(i int, box solid) error, empty func(i int)) error {
	if t.about.Depth == 0 {
		return bad("the table is that of an image, and boxes of a volume were asked for")
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

// SumVolumeBoxes is [SumBoxes] for boxes of a volume.
func SumVolumeBoxes[S uint64 | int64 | float64](ctx context.Context, t *Table, dst []S, boxes []volume.Box) error {
	if want := t.layers[0].sum; TypeOf[S]() != want {
		return grid.Types("the table has sums of %v, and not of %v", want, TypeOf[S]())
	}
	r := &reader[S]{t, t.layers[0]}
	return t.eachSolid(ctx, len(dst), boxes, func(i int, box solid) (err error) {
		dst[i], err = r.solid(ctx, box)
		return err
	}, func(i int) { dst[i] = 0 })
}

// MeanVolumeBoxes is [Table.MeanBoxes] for boxes of a volume.
func (t *Table) MeanVolumeBoxes(ctx context.Context, dst []float64, boxes []volume.Box) error {
	switch t.layers[0].sum {
	case Uint64:
		return solidMeans[uint64](ctx, t, dst, boxes)
	case Int64:
		return solidMeans[int64](ctx, t, dst, boxes)
	}
	return solidMeans[float64](ctx, t, dst, boxes)
}

func solidMeans[S boxsum.Sum](ctx context.Context, t *Table, dst []float64, boxes []volume.Box) error {
	return t.eachSolid(ctx, len(dst), boxes, func(i int, box solid) (failed error) {
		of := solidTable[S](ctx, t, 0, &failed)
		dst[i] = exact.MeanOf(&of, box)
		return failed
	}, func(i int) { dst[i] = 0 })
}

func solidTable[S boxsum.Sum](ctx context.Context, t *Table, layer int, failed *error) exact.Table[S, solid] {
	r := &reader[S]{t, t.layers[layer]}
	return exact.Table[S, solid]{Pixels: known[S](t, layer == 1), Sum: func(b solid) S {
		s, err := r.solid(ctx, b)
		if err != nil && *failed == nil {
			*failed = err
		}
		return s
	}}
}

// VarianceVolumeBoxes is [Table.VarianceBoxes] for boxes of a volume.
func (t *Table) VarianceVolumeBoxes(ctx context.Context, dst []float64, boxes []volume.Box) error {
	if !t.Squares {
		return bad("the table has no squares, which deviations need: make it with them")
	}
	switch t.layers[0].sum {
	case Float64:
		return solidVariances[float64, float64](ctx, t, dst, boxes)
	case Int64:
		return solidVariances[int64, uint64](ctx, t, dst, boxes)
	}
	return solidVariances[uint64, uint64](ctx, t, dst, boxes)
}

// StdDevVolumeBoxes is [Table.VarianceVolumeBoxes] for standard deviations.
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
	return t.eachSolid(ctx, len(dst), boxes, func(i int, box solid) (failed error) {
		sums, squares := solidTable[S](ctx, t, 0, &failed), solidTable[Q](ctx, t, 1, &failed)
		first, entries := &reader[S]{t, t.layers[0]}, &reader[Q]{t, t.layers[1]}
		dst[i] = exact.VarianceOf(&sums, &squares, box, func(p solid) exact.Rounding {
			largest, err := entries.at(ctx, p.X1, p.Y1, p.Z1-1)
			if err != nil {
				failed = err
			}
			steps := 2*t.Block + 8 + p.X1/t.Block + 2*(p.Y1/t.Block) + 3 + p.Z1
			return exact.Rounding{Entries: 8, Squares: float64(largest), Pixels: p.X1 * p.Y1 * p.Z1, Steps: steps}
		}, func(p solid) bool {
			for corner := range 8 {
				x, y, z := p.X0, p.Y0, p.Z0
				if corner&1 != 0 {
					x = p.X1
				}
				if corner&2 != 0 {
					y = p.Y1
				}
				if corner&4 != 0 {
					z = p.Z1
				}
				if z == 0 {
					continue
				}
				s, err1 := first.at(ctx, x, y, z-1)
				q, err2 := entries.at(ctx, x, y, z-1)
				if err := errors.Join(err1, err2); err != nil {
					failed = err
					return false
				}
				if !exact.IsWhole(s, q) {
					return false
				}
			}
			return true
		})
		return failed
	}, func(i int) { dst[i] = 0 })
}
