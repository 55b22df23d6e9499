package cli

import (
	"image"
	"iter"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/gpu"
	"github.com/boxsum/boxsum/imgio"
	"github.com/boxsum/boxsum/internal/anytable"
	"github.com/boxsum/boxsum/internal/launch"
	"github.com/boxsum/boxsum/internal/pairs"
	"github.com/boxsum/boxsum/tilted"
)

// newPlane takes memory for the tables of an image, or plans to stream them.
func newPlane(p pair, img any, want tableChoice) (*tableJob, error) {
	j := planPlane(p, img, want)
	return j, j.take(0, want)
}

// planPlane is the job of an image without its tables.
func planPlane(p pair, img any, want tableChoice) *tableJob {
	e := extentOf(img)
	t := &planeTables{types: p}
	j := &tableJob{tableSet: newTableSet(p, e, want), all: population{pixels: rowsOf(img)}, tables: t}
	j.fill = func(d *gpu.Device, opt *boxsum.Options) error { return t.fill(img, want.valid, d, opt) }
	add := func(name string, sum pairs.Type, table func() any, begin func() (any, error)) {
		j.layers = append(j.layers, layer{
			name: name, sum: sum, shape: j.shape(),
			entries: func() iter.Seq[any] { return one(entriesOf(table())) },
			stream: func() (parts, error) {
				stream, err := begin()
				return func(y int) (any, error) {
					sums, squares, err := anytable.Push(stream, img, y)
					if name == "squares" {
						return squares, err
					}
					return sums, err
				}, err
			},
		})
	}
	add("sum", p.sum, func() any { return t.sums }, func() (any, error) { return anytable.NewStream(p.sum, img, j.opt) })
	if want.squares {
		add("squares", p.square, func() any { return t.squares }, func() (any, error) { return anytable.NewSquaredStream(p.sum, img, j.opt) })
	}
	if want.tilted {
		add("tilted", p.sum, func() any { return t.tilted }, func() (any, error) { return anytable.NewTiltedStream(p.sum, img, plainOptions(j.opt)) })
	}
	if want.valid != nil {
		j.name += "+counts"
		j.counts = t.count
		add("counts", pairs.U32, func() any { return t.counts }, nil)
	}
	return j
}

// planeTables are the tables of an image, each nil unless asked for, and all of them if
// they are streamed.
type planeTables struct {
	types         pair
	sums, squares any // *boxsum.Table
	tilted        any // *tilted.Table
	counts        *boxsum.Table[uint32]
	both          statistics // of sums and squares, a *boxsum.SquaredTable, or with counts a *boxsum.ValidTable
}

// statistics are those of boxes of an image.
type statistics interface {
	Mean(b image.Rectangle, channel int) float64
	StdDev(b image.Rectangle, channel int) float64
}

// fill makes the tables of an image.
func (t *planeTables) fill(img any, valid *boxsum.Valid, d *gpu.Device, opt *boxsum.Options) (err error) {
	if t.tilted != nil {
		if launch.GPU && d != nil {
			err = anytable.IntegrateTiltedOn(t.tilted, img, d, nil)
		} else {
			err = anytable.IntegrateTilted(t.tilted, img, plainOptions(part(opt, 0, 0.5)))
			opt = part(opt, 0.5, 1)
		}
	}
	switch {
	case err != nil:
		return err
	case valid != nil:
		return anytable.IntegrateValid(t.both, img, *valid, opt)
	case launch.GPU && d != nil && t.squares != nil:
		return anytable.IntegrateSquaresOn(t.both, img, d, &gpu.Options{Plain: opt.Plain})
	case launch.GPU && d != nil:
		return anytable.IntegrateOn(t.sums, img, d, nil)
	case t.squares != nil:
		return anytable.IntegrateSquares(t.both, img, opt)
	}
	return anytable.Integrate(t.sums, img, opt)
}

func (t *planeTables) allocate(e extent, want tableChoice) (err error) {
	if t.sums, err = anytable.NewTable(t.types.sum, e.Width, e.Height, e.Channels); err == nil && want.squares {
		t.squares, err = anytable.NewTable(t.types.square, e.Width, e.Height, e.Channels)
	}
	if err == nil && want.tilted {
		t.tilted, err = anytable.NewTilted(t.types.sum, e.Width, e.Height, e.Channels)
	}
	if err == nil && want.valid != nil {
		t.counts, err = boxsum.NewTable[uint32](e.Width, e.Height, e.Channels)
	}
	if err == nil {
		t.combine()
	}
	return err
}

// combine puts the tables together that statistics come from.
func (t *planeTables) combine() {
	switch sums := t.sums.(type) {
	case *boxsum.Table[uint32]:
		t.both = combined(sums, t)
	case *boxsum.Table[uint64]:
		t.both = combined(sums, t)
	case *boxsum.Table[int64]:
		t.both = combined(sums, t)
	case *boxsum.Table[float32]:
		t.both = combined(sums, t)
	case *boxsum.Table[float64]:
		t.both = combined(sums, t)
	}
}

func combined[S boxsum.Sum](sums *boxsum.Table[S], t *planeTables) statistics {
	if t.types.square == pairs.F64 {
		squares, _ := t.squares.(*boxsum.Table[float64])
		if t.counts != nil {
			return &boxsum.ValidTable[S, float64]{Sum: sums, Squares: squares, Count: t.counts}
		}
		return &boxsum.SquaredTable[S, float64]{Sum: sums, Squares: squares}
	}
	squares, _ := t.squares.(*boxsum.Table[uint64])
	if t.counts != nil {
		return &boxsum.ValidTable[S, uint64]{Sum: sums, Squares: squares, Count: t.counts}
	}
	return &boxsum.SquaredTable[S, uint64]{Sum: sums, Squares: squares}
}

// entriesOf is a boxsum.View of all entries of a table.
func entriesOf(table any) any {
	switch t := table.(type) {
	case *boxsum.Table[uint32]:
		return t.Exclusive()
	case *boxsum.Table[uint64]:
		return t.Exclusive()
	case *boxsum.Table[int64]:
		return t.Exclusive()
	case *boxsum.Table[float32]:
		return t.Exclusive()
	case *boxsum.Table[float64]:
		return t.Exclusive()
	case *tilted.Table[uint32]:
		return t.View()
	case *tilted.Table[uint64]:
		return t.View()
	case *tilted.Table[int64]:
		return t.View()
	case *tilted.Table[float32]:
		return t.View()
	case *tilted.Table[float64]:
		return t.View()
	}
	return nil
}

// sumsOf is the memory of such a view.
func sumsOf(view any) any {
	switch v := view.(type) {
	case boxsum.View[uint32]:
		return v.Sums
	case boxsum.View[uint64]:
		return v.Sums
	case boxsum.View[int64]:
		return v.Sums
	case boxsum.View[float32]:
		return v.Sums
	case boxsum.View[float64]:
		return v.Sums
	}
	return nil
}

func (t *planeTables) clear(extent) {
	for _, table := range []any{t.sums, t.squares, t.tilted} {
		clearPages(sumsOf(entriesOf(table)))
	}
}

func (t *planeTables) sum(b box, channel int) any {
	switch t := t.sums.(type) {
	case *boxsum.Table[uint32]:
		return t.SumChannel(b.rectangle(), channel)
	case *boxsum.Table[uint64]:
		return t.SumChannel(b.rectangle(), channel)
	case *boxsum.Table[int64]:
		return t.SumChannel(b.rectangle(), channel)
	case *boxsum.Table[float32]:
		return t.SumChannel(b.rectangle(), channel)
	case *boxsum.Table[float64]:
		return t.SumChannel(b.rectangle(), channel)
	}
	return nil
}

func (t *planeTables) mean(b box, channel int) float64 {
	of := t.sums.(interface {
		Mean(b image.Rectangle, channel int) float64 // of valid pixels, where not all are
	})
	return of.Mean(b.rectangle(), channel)
}

func (t *planeTables) std(b box, channel int) float64 { return t.both.StdDev(b.rectangle(), channel) }

func (t *planeTables) square(b box, channel int) float64 {
	if squares, ok := t.squares.(*boxsum.Table[float64]); ok {
		return squares.At(b[2], b[3], channel)
	}
	return 0 // integers do not round
}

func (t *planeTables) count(b box, channel int) int {
	return t.both.(interface {
		Area(b image.Rectangle, channel int) int
	}).Area(b.rectangle(), channel)
}

func (t *planeTables) picture() image.Image {
	switch v := entriesOf(t.sums).(type) {
	case boxsum.View[uint32]:
		return imgio.HeatMap(v)
	case boxsum.View[uint64]:
		return imgio.HeatMap(v)
	case boxsum.View[int64]:
		return imgio.HeatMap(v)
	case boxsum.View[float32]:
		return imgio.HeatMap(v)
	case boxsum.View[float64]:
		return imgio.HeatMap(v)
	}
	return nil
}
