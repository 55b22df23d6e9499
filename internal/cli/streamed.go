package cli

import (
	"context"
	"image"
	"math"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/exact"
)

// streamed answers from the rows of a table as they come, of which it keeps none: for
// tables that do not fit in memory.
type streamed[P boxsum.Pixel, S boxsum.Sum, Q boxsum.Square] struct {
	plane *plane[P, S, Q]
	found map[image.Rectangle][]bandSums[S, Q] // by clipped box, for each channel
}

// bandSums are those of a box: what the row of the table under it has more than the row
// over it.
type bandSums[S boxsum.Sum, Q boxsum.Square] struct {
	sum     S
	squares Q
	corner  Q // of the squares, at the last pixel
}

func newStreamed[P boxsum.Pixel, S boxsum.Sum, Q boxsum.Square](ctx context.Context, img any, boxes []box, report func(done float64)) (oracle, error) {
	src := img.(boxsum.Image[P])
	d := &streamed[P, S, Q]{plane: planPlane[P, S, Q](src, tableChoice{squares: true}), found: map[image.Rectangle][]bandSums[S, Q]{}}
	over, under := map[int][]image.Rectangle{}, map[int][]image.Rectangle{}
	for _, b := range boxes {
		if r := d.plane.clip(b); !r.Empty() && d.found[r] == nil {
			d.found[r] = make([]bandSums[S, Q], src.Channels)
			over[r.Min.Y], under[r.Max.Y] = append(over[r.Min.Y], r), append(under[r.Max.Y], r)
		}
	}
	stream, err := boxsum.NewSquaredStream[S, Q, P](src.Width, src.Channels, nil)
	if err != nil {
		return nil, err
	}
	for y := range src.Height {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		sums, squares, err := stream.Push(src.Row(y)) // row y+1 of the tables
		if err != nil {
			return nil, err
		}
		for _, r := range over[y+1] {
			d.add(r, sums, squares, false)
		}
		for _, r := range under[y+1] {
			d.add(r, sums, squares, true)
		}
		if report != nil {
			report(float64(y+1) / float64(src.Height))
		}
	}
	return typedOracle{&d.plane.set, d}, nil
}

func (d *streamed[P, S, Q]) area(b box) int64 { return d.plane.area(b) }

// add takes the row of the tables over a box, or under it.
func (d *streamed[P, S, Q]) add(r image.Rectangle, sums []S, squares []Q, under bool) {
	for c, of := range d.found[r] {
		x0, x1 := r.Min.X*d.plane.set.Channels+c, r.Max.X*d.plane.set.Channels+c
		if !under {
			of.sum, of.squares = of.sum-(sums[x1]-sums[x0]), of.squares-(squares[x1]-squares[x0])
		} else {
			of.sum, of.squares, of.corner = of.sum+(sums[x1]-sums[x0]), of.squares+(squares[x1]-squares[x0]), squares[x1]
		}
		d.found[r][c] = of
	}
}

func (d *streamed[P, S, Q]) stats(b box, channel int) stats {
	clipped, n := d.plane.clip(b), int(d.plane.area(b))
	if n == 0 {
		return stats{sum: S(0)}
	}
	of := d.found[clipped][channel]
	return d.plane.all.describe(sample[P]{
		n: n, sum: of.sum, mean: exact.Mean(n, of.sum), noise: squareNoise(of.corner, n, clipped.Max.X, clipped.Max.Y),
		std: math.Sqrt(exact.Variance(n, of.sum, of.squares, nil, nil)), pixels: boxRows(d.plane.src, clipped, channel),
	})
}
