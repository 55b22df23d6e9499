package cli

import (
	"image"
	"iter"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/gpu"
	"github.com/boxsum/boxsum/imgio"
	"github.com/boxsum/boxsum/internal/launch"
	"github.com/boxsum/boxsum/tilted"
)

// newPlane takes memory for the tables of an image, or plans to stream them.
func newPlane[P boxsum.Pixel, S boxsum.Sum, Q boxsum.Square](src boxsum.Image[P], want tableChoice) (*tableJob, error) {
	j := planPlane[P, S, Q](src, want)
	return j, j.take(0, want)
}

// planPlane is the job of an image without its tables.
func planPlane[P boxsum.Pixel, S boxsum.Sum, Q boxsum.Square](src boxsum.Image[P], want tableChoice) *tableJob {
	e := extent{Width: src.Width, Height: src.Height, Channels: src.Channels}
	t := new(planeTables[S, Q])
	j := &tableJob{tableSet: newTableSet[P, S, Q](e, want), all: population{pixels: rowsOf(src)}, tables: t}
	j.fill = func(d *gpu.Device, opt *boxsum.Options) error { return fillPlane(t, src, want.valid, d, opt) }
	t.addLayers(j, want, planeStreams[S, Q]{
		sums: func() (parts[S], error) {
			stream, err := boxsum.NewStream[S, P](e.Width, e.Channels, j.opt)
			return pushRows(src, stream.Push), err
		},
		squares: func() (parts[Q], error) {
			stream, err := boxsum.NewSquaredStream[S, Q, P](e.Width, e.Channels, j.opt)
			return pushRows(src, func(row []P) ([]Q, error) {
				_, squares, err := stream.Push(row)
				return squares, err
			}), err
		},
		tilted: func() (parts[S], error) {
			stream, err := tilted.NewStream[S, P](e.Width, e.Channels, plainOptions(j.opt))
			return pushRows(src, stream.Push), err
		},
	})
	return j
}

// fillPlane makes the tables of an image.
func fillPlane[P boxsum.Pixel, S boxsum.Sum, Q boxsum.Square](t *planeTables[S, Q], src boxsum.Image[P], valid *boxsum.Valid, d *gpu.Device, opt *boxsum.Options) (err error) {
	if t.tilted != nil {
		if launch.GPU && d != nil {
			err = gpu.IntegrateTiltedHostInto(d, t.tilted, src, nil)
		} else {
			err = tilted.IntegrateInto(t.tilted, src, plainOptions(part(opt, 0, 0.5)))
			opt = part(opt, 0.5, 1)
		}
	}
	switch {
	case err != nil:
		return err
	case valid != nil:
		return boxsum.IntegrateValidInto(&t.ValidTable, src, *valid, opt)
	case launch.GPU && d != nil && t.Squares != nil:
		return gpu.IntegrateSquaresHostInto(d, t.squared(), src, &gpu.Options{Plain: opt.Plain})
	case launch.GPU && d != nil:
		return gpu.IntegrateHostInto(d, t.Sum, src, nil)
	case t.Squares != nil:
		return boxsum.IntegrateSquaresInto(t.squared(), src, opt)
	}
	return boxsum.IntegrateInto(t.Sum, src, opt)
}

// planeTables are the tables of an image, each nil unless asked for, and all of them if
// they are streamed.
type planeTables[S boxsum.Sum, Q boxsum.Square] struct {
	boxsum.ValidTable[S, Q] // Count is nil where all pixels are valid
	tilted                  *tilted.Table[S]
}

// planeStreams begin such tables row by row.
type planeStreams[S boxsum.Sum, Q boxsum.Square] struct {
	sums, tilted func() (parts[S], error)
	squares      func() (parts[Q], error)
}

// addLayers is how they are written.
//
//go:noinline
func (t *planeTables[S, Q]) addLayers(j *tableJob, want tableChoice, streams planeStreams[S, Q]) {
	addLayer(&j.tableSet, "sum", j.shape(), func() iter.Seq[[]S] { return imgio.ViewRows(t.Sum.Exclusive()) }, streams.sums)
	if want.squares {
		addLayer(&j.tableSet, "squares", j.shape(), func() iter.Seq[[]Q] { return imgio.ViewRows(t.Squares.Exclusive()) }, streams.squares)
	}
	if want.tilted {
		addLayer(&j.tableSet, "tilted", j.shape(), func() iter.Seq[[]S] { return imgio.ViewRows(t.tilted.View()) }, streams.tilted)
	}
	if want.valid != nil {
		j.name += "+counts"
		j.counts = t.count
		addLayer(&j.tableSet, "counts", j.shape(), func() iter.Seq[[]uint32] { return imgio.ViewRows(t.Count.Exclusive()) }, nil)
	}
}

func (t *planeTables[S, Q]) allocate(e extent, want tableChoice) (err error) {
	if t.Sum, err = boxsum.NewTable[S](e.Width, e.Height, e.Channels); err == nil && want.squares {
		t.Squares, err = boxsum.NewTable[Q](e.Width, e.Height, e.Channels)
	}
	if err == nil && want.tilted {
		t.tilted, err = tilted.NewTable[S](e.Width, e.Height, e.Channels)
	}
	if err == nil && want.valid != nil {
		t.Count, err = boxsum.NewTable[uint32](e.Width, e.Height, e.Channels)
	}
	return err
}

func (t *planeTables[S, Q]) clear() {
	clearPages(t.Sum.Sums)
	if t.Squares != nil {
		clearPages(t.Squares.Sums)
	}
	if t.tilted != nil {
		clearPages(t.tilted.Sums)
	}
}

func (t *planeTables[S, Q]) squared() *boxsum.SquaredTable[S, Q] {
	return &boxsum.SquaredTable[S, Q]{Sum: t.Sum, Squares: t.Squares}
}

func (t *planeTables[S, Q]) sum(b box, channel int) any {
	return t.Sum.SumChannel(b.rectangle(), channel)
}

func (t *planeTables[S, Q]) mean(b box, channel int) float64 {
	return t.Sum.Mean(b.rectangle(), channel) // of valid pixels, where not all are
}

func (t *planeTables[S, Q]) std(b box, channel int) float64 {
	if t.Count != nil {
		return t.ValidTable.StdDev(b.rectangle(), channel)
	}
	return t.squared().StdDev(b.rectangle(), channel)
}

func (t *planeTables[S, Q]) square(b box, channel int) float64 {
	return rounding(t.Squares.At(b[2], b[3], channel))
}

func (t *planeTables[S, Q]) count(b box, channel int) int { return t.Area(b.rectangle(), channel) }

func (t *planeTables[S, Q]) picture() image.Image { return imgio.HeatMap(t.Sum.Exclusive()) }

// pushRows is the rows of a table as those of the image are pushed.
//
//go:noinline
func pushRows[T boxsum.Sum, P boxsum.Pixel](src boxsum.Image[P], push func([]P) ([]T, error)) parts[T] {
	return func(y int) (boxsum.View[T], error) {
		row, err := push(src.Row(y))
		return boxsum.View[T]{Sums: row, Stride: len(row), Width: src.Width + 1, Height: 1, Channels: src.Channels}, err
	}
}
