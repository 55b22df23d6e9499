package cli

import (
	"context"
	"image"
	"math"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/exact"
)

// newStreamed answers from the rows of a table as they come, of which it keeps none: for
// tables that do not fit in memory.
func newStreamed[P boxsum.Pixel, S boxsum.Sum, Q boxsum.Square](ctx context.Context, img any, boxes []box, report func(done float64)) (oracle, error) {
	src := img.(boxsum.Image[P])
	stream, err := boxsum.NewSquaredStream[S, Q, P](src.Width, src.Channels, nil)
	if err != nil {
		return nil, err
	}
	e := extent{Width: src.Width, Height: src.Height, Channels: src.Channels}
	d := &streamed[S, Q]{extent: e}
	if err := d.read(ctx, boxes, func(y int) ([]S, []Q, error) { return stream.Push(src.Row(y)) }, report); err != nil {
		return nil, err
	}
	return &tableJob{tableSet: tableSet{extent: e}, all: population{pixels: rowsOf(src)}, tables: d}, nil
}

// streamed is what rows of tables said of boxes. There are no tables of it.
type streamed[S boxsum.Sum, Q boxsum.Square] struct {
	tables
	extent
	found map[image.Rectangle][]bandSums[S, Q] // by clipped box, for each channel
}

// bandSums are those of a box: what the row of the table under it has more than the row
// over it.
type bandSums[S boxsum.Sum, Q boxsum.Square] struct {
	sum     S
	squares Q
	corner  Q // of the squares, at the last pixel
}

// read goes through the rows of the tables, which come after those of zeros.
func (d *streamed[S, Q]) read(ctx context.Context, boxes []box, next func(y int) ([]S, []Q, error), report func(done float64)) error {
	d.found = map[image.Rectangle][]bandSums[S, Q]{}
	over, under := map[int][]image.Rectangle{}, map[int][]image.Rectangle{}
	for _, b := range boxes {
		if r := d.clip(b).rectangle(); !r.Empty() && d.found[r] == nil {
			d.found[r] = make([]bandSums[S, Q], d.Channels)
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

// add takes the row of the tables over a box, or under it.
func (d *streamed[S, Q]) add(r image.Rectangle, sums []S, squares []Q, under bool) {
	for c, of := range d.found[r] {
		x0, x1 := r.Min.X*d.Channels+c, r.Max.X*d.Channels+c
		if !under {
			of.sum, of.squares = of.sum-(sums[x1]-sums[x0]), of.squares-(squares[x1]-squares[x0])
		} else {
			of.sum, of.squares, of.corner = of.sum+(sums[x1]-sums[x0]), of.squares+(squares[x1]-squares[x0]), squares[x1]
		}
		d.found[r][c] = of
	}
}

// of is the sums of a box, which are zero where it is empty.
func (d *streamed[S, Q]) of(b box, channel int) (sums bandSums[S, Q]) {
	if all := d.found[b.rectangle()]; all != nil {
		sums = all[channel]
	}
	return sums
}

func (d *streamed[S, Q]) sum(b box, channel int) any { return d.of(b, channel).sum }

func (d *streamed[S, Q]) mean(b box, channel int) float64 {
	return exact.Mean(int(b.pixels()), d.of(b, channel).sum)
}

func (d *streamed[S, Q]) std(b box, channel int) float64 {
	of := d.of(b, channel)
	return math.Sqrt(exact.Variance(int(b.pixels()), of.sum, of.squares, nil, nil))
}

func (d *streamed[S, Q]) square(b box, channel int) float64 { return rounding(d.of(b, channel).corner) }
