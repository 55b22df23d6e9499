package tables

import (
	"context"
	"image"
	"math"

	"github.com/boxsum/boxsum/internal/cli/imagefile"
	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/raster"
	fromsums "github.com/boxsum/boxsum/internal/stats"
)

// newStreamed answers from the rows of a table as they are made, for tables that do not fit in
// memory.
func newStreamed(ctx context.Context, p pair, src raster.Array, boxes []box, report func(done float64)) (oracle, error) {
	rows, err := newRows(&src, engine.Upright, p.sum, p.square, nil)
	if err != nil {
		return nil, err
	}
	d := &streamed{Extent: imagefile.ExtentOf(src), types: p}
	if err := d.read(ctx, boxes, func(y int) (sums, squares []byte, err error) { return rows.Push(src.Row(y)) }, report); err != nil {
		return nil, err
	}
	return &tableJob{tableSet: tableSet{Extent: d.Extent}, all: population{pixelReader: rowsOf(src)}, tables: d}, nil
}

// streamed accumulates the sums of boxes from the rows of tables, of which it keeps none.
type streamed struct {
	tables
	imagefile.Extent
	types pair
	found map[image.Rectangle][]bandSums // by clipped box, for each channel
	empty bandSums
}

// bandSums holds the sums of a box: the difference between the table's rows at its bottom and its
// top.
type bandSums struct {
	sum, squares fromsums.Sum
	corner       float64 // entry of float squares at the last corner
}

// read reads the rows of the tables after the row of zeros.
func (d *streamed) read(ctx context.Context, boxes []box, next func(y int) (sums, squares []byte, err error), report func(done float64)) error {
	d.found = map[image.Rectangle][]bandSums{}
	over, under := map[int][]image.Rectangle{}, map[int][]image.Rectangle{}
	for _, b := range boxes {
		if r := clip(d.Extent, b).rectangle(); !r.Empty() && d.found[r] == nil {
			d.found[r] = make([]bandSums, d.Channels)
			over[r.Min.Y], under[r.Max.Y] = append(over[r.Min.Y], r), append(under[r.Max.Y], r)
		}
	}
	for y := range d.Height {
		if err := ctx.Err(); err != nil {
			return err
		}
		sums, squares, err := next(y) // row y+1 of the tables
		if err != nil {
			return err
		}
		if y == 0 {
			d.empty = bandSums{sum: advance(fromsums.Sum{}, d.types.sum, sums, 0, 0, true), squares: advance(fromsums.Sum{}, d.types.square, squares, 0, 0, true)}
		}
		for _, r := range over[y+1] {
			d.add(r, sums, squares, false)
		}
		for _, r := range under[y+1] {
			d.add(r, sums, squares, true)
		}
		if report != nil {
			report(float64(y+1) / float64(d.Height))
		}
	}
	return nil
}

// add subtracts the tables' row at the top of a box, or adds the row at its bottom.
func (d *streamed) add(r image.Rectangle, sums, squares []byte, under bool) {
	for c := range d.found[r] {
		of, x0, x1 := &d.found[r][c], r.Min.X*d.Channels+c, r.Max.X*d.Channels+c
		of.sum, of.squares = advance(of.sum, d.types.sum, sums, x0, x1, under), advance(of.squares, d.types.square, squares, x0, x1, under)
		if d.types.square == raster.F64 && under {
			of.corner = raster.Elems[float64](squares)[x1]
		}
	}
}

// advance adds the difference of two entries of a row to a sum, or subtracts it. The zero Sum counts
// as 0.
func advance(sum fromsums.Sum, t raster.Type, row []byte, x0, x1 int, plus bool) fromsums.Sum {
	return sumForms[t].advance(sum, row, x0, x1, plus)
}

// sumsOf returns the sums of a box, which are 0 if it is empty.
func (d *streamed) sumsOf(b box, channel int) bandSums {
	if all := d.found[b.rectangle()]; all != nil {
		return all[channel]
	}
	return d.empty
}

func (d *streamed) sum(b box, channel int) fromsums.Sum { return d.sumsOf(b, channel).sum }

func (d *streamed) mean(b box, channel int) float64 {
	mean, _ := meanAndVariance(int(b.pixels()), d.sumsOf(b, channel))
	return mean
}

func (d *streamed) std(b box, channel int) float64 {
	_, variance := meanAndVariance(int(b.pixels()), d.sumsOf(b, channel))
	return math.Sqrt(variance)
}

func (d *streamed) square(b box, channel int) float64 { return d.sumsOf(b, channel).corner }

// meanAndVariance returns the mean and the variance of n pixels.
func meanAndVariance(n int, of bandSums) (mean, variance float64) {
	return fromsums.Mean(n, of.sum), fromsums.Variance(n, of.sum, of.squares, nil, nil)
}
