package cli

import (
	"image"
	"iter"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/gpu"
	"github.com/boxsum/boxsum/imgio"
	"github.com/boxsum/boxsum/internal/anytable"
	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/launch"
	"github.com/boxsum/boxsum/internal/pixels"
	"github.com/boxsum/boxsum/internal/raster"
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
	j := &tableJob{tableSet: newTableSet(p, e, want), all: population{pixelReader: rowsOf(img)}, tables: t}
	j.fill = func(d *gpu.Device, opt *boxsum.Options) error { return t.fill(img, want.valid, d, opt) }
	src := pixels.Of(img)
	add := func(name string, sum raster.Type, table func() any, kind engine.Kind) {
		squares := raster.Type(0)
		if name == "squares" {
			squares = sum
		}
		j.layers = append(j.layers, layer{
			name: name, sum: sum, shape: j.shape(),
			entries: func() iter.Seq[raster.Array] { return one(entriesOf(table())) },
			stream: func() (parts, error) {
				rows, err := newRows(&src, kind, p.sum, squares, j.opt)
				return func(y int) (raster.Array, error) {
					sums, others, err := rows.Push(src.Row(y))
					if squares != 0 {
						sums = others
					}
					return oneRow(sum, sums), err
				}, err
			},
		})
	}
	add("sum", p.sum, func() any { return t.sums }, engine.Upright)
	if want.squares {
		add("squares", p.square, func() any { return t.squares }, engine.Upright)
	}
	if want.tilted {
		add("tilted", p.sum, func() any { return t.tilted }, engine.Tilted)
	}
	if want.valid != nil {
		j.name += "+counts"
		j.counts = t.count
		add("counts", raster.U32, func() any { return t.counts }, engine.Upright)
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
			err = anytable.IntegrateTilted(t.tilted, img, plainOptions(onDevice(d, opt)))
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
	case t.squares != nil:
		return anytable.IntegrateSquares(t.both, img, onDevice(d, opt))
	}
	return anytable.Integrate(t.sums, img, onDevice(d, opt))
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
	if t.types.square == raster.F64 {
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

// newRows starts a table of an image for its rows as they come, and that of its squares unless they have
// no type.
func newRows(src *raster.Array, kind engine.Kind, sum, squares raster.Type, opt *boxsum.Options) (*engine.Rows, error) {
	job := streamJob(kind, sum, squares, opt)
	job.Src = raster.Array{Type: src.Type, Extent: raster.PlaneExtent(src.Width, 0, src.Channels, 0)}
	return engine.NewRows(&job)
}

// streamJob returns the job of a stream without its source.
func streamJob(kind engine.Kind, sum, squares raster.Type, opt *boxsum.Options) engine.Job {
	job := engine.Job{Kind: kind, Sums: engine.Table{Array: raster.Array{Type: sum}}, Squares: engine.Table{Array: raster.Array{Type: squares}}}
	if opt != nil {
		job.Options = engine.Options{Workers: opt.Workers, Level: opt.Level.String(), Context: opt.Context}
		job.Offset, job.Plain = opt.Offset, opt.Plain
	}
	return job
}

// entriesOf returns all entries of a table.
func entriesOf(table any) raster.Array {
	switch t := table.(type) {
	case *boxsum.Table[uint32]:
		return viewArray(t.Exclusive())
	case *boxsum.Table[uint64]:
		return viewArray(t.Exclusive())
	case *boxsum.Table[int64]:
		return viewArray(t.Exclusive())
	case *boxsum.Table[float32]:
		return viewArray(t.Exclusive())
	case *boxsum.Table[float64]:
		return viewArray(t.Exclusive())
	case *tilted.Table[uint32]:
		return viewArray(t.View())
	case *tilted.Table[uint64]:
		return viewArray(t.View())
	case *tilted.Table[int64]:
		return viewArray(t.View())
	case *tilted.Table[float32]:
		return viewArray(t.View())
	case *tilted.Table[float64]:
		return viewArray(t.View())
	}
	return raster.Array{}
}

func (t *planeTables) clear(extent) {
	for _, table := range []any{t.sums, t.squares, t.tilted} {
		clearPages(entriesOf(table).Data)
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
	switch t := t.sums.(type) {
	case *boxsum.Table[uint32]:
		return imgio.HeatMap(t.Exclusive())
	case *boxsum.Table[uint64]:
		return imgio.HeatMap(t.Exclusive())
	case *boxsum.Table[int64]:
		return imgio.HeatMap(t.Exclusive())
	case *boxsum.Table[float32]:
		return imgio.HeatMap(t.Exclusive())
	case *boxsum.Table[float64]:
		return imgio.HeatMap(t.Exclusive())
	}
	return nil
}
