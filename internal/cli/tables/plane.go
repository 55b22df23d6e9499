package tables

import (
	"image"
	"iter"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/gpu"
	"github.com/boxsum/boxsum/internal/cli/imagefile"
	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/pixels"
	"github.com/boxsum/boxsum/internal/raster"
	fromsums "github.com/boxsum/boxsum/internal/stats"
	"github.com/boxsum/boxsum/internal/typed"
)

// newPlane allocates the tables of an image, or plans to stream them.
func newPlane(p pair, img raster.Array, want tableChoice) (*tableJob, error) {
	j := planPlane(p, img, want)
	return j, j.take(0, want)
}

// planPlane returns the job of an image without allocating its tables.
func planPlane(p pair, src raster.Array, want tableChoice) *tableJob {
	t := &planeTables{memory: memory{types: p}}
	j := &tableJob{tableSet: newTableSet(p, imagefile.ExtentOf(src), want), all: population{pixelReader: rowsOf(src)}, tables: t}
	j.fill = func(d *gpu.Device, opt *boxsum.Options) error { return t.fill(src, want.valid, d, opt) }
	add := func(name string, sum raster.Type, table func() *engine.Table, kind engine.Kind) {
		squares := raster.Type(0)
		if name == "squares" {
			squares = sum
		}
		j.layers = append(j.layers, outputTable{
			name: name, sum: sum, shape: j.Shape(),
			entries: func() iter.Seq[raster.Array] { return singlePart(entriesOf(table())) },
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
	add("sum", p.sum, func() *engine.Table { return t.sums }, engine.Upright)
	if want.squares {
		add("squares", p.square, func() *engine.Table { return t.squares }, engine.Upright)
	}
	if want.tilted {
		add("tilted", p.sum, func() *engine.Table { return t.tilted }, engine.Tilted)
	}
	if want.valid != nil {
		j.name += "+counts"
		j.counts = t.count
		add("counts", raster.U32, func() *engine.Table { return t.counts }, engine.Upright)
	}
	return j
}

// memory holds the tables of an image or a volume. Tables that were not requested, or are streamed,
// are nil.
type memory struct {
	types         pair
	sums, squares *engine.Table
}

// allocate allocates the tables.
func (m *memory) allocate(e raster.Extent, squares bool) (err error) {
	if m.sums, err = newTable(m.types.sum, e); err == nil && squares {
		m.squares, err = newTable(m.types.square, e)
	}
	return err
}

func newTable(sum raster.Type, e raster.Extent) (*engine.Table, error) {
	t, err := raster.NewTable(sum, e)
	return &engine.Table{Array: t}, err
}

// fill makes the tables.
func (m *memory) fill(kind engine.Kind, src raster.Array, opt *boxsum.Options) error {
	job := newJob(kind, src, m.sums, m.squares, opt)
	if err := job.Check(); err != nil {
		return err
	}
	if err := job.Run(); err != nil {
		return err
	}
	m.keep(&job)
	return nil
}

// keep copies what a job learned about the pixels to the tables.
func (m *memory) keep(job *engine.Job) {
	if *m.sums = job.Sums; m.squares != nil {
		*m.squares = job.Squares
	}
}

// newJob returns the job that makes the tables. squares may be nil.
func newJob(kind engine.Kind, src raster.Array, sums, squares *engine.Table, opt *boxsum.Options) engine.Job {
	job := engine.Job{Kind: kind, Src: src, Sums: *sums}
	if squares != nil {
		job.Squares = *squares
	}
	if opt != nil {
		job.Options = engineOptions(opt)
		job.Offset, job.Plain = opt.Offset, opt.Plain
	}
	return job
}

// planeTables holds the tables of an image.
type planeTables struct {
	memory
	tilted, counts *engine.Table
	boxes          typed.Upright // answers queries once the tables are made
}

// fill makes the tables of an image.
func (t *planeTables) fill(src raster.Array, valid *boxsum.Valid, d *gpu.Device, opt *boxsum.Options) error {
	if t.tilted != nil {
		first := onDevice(d, opt)
		if d == nil {
			first, opt = part(opt, 0, 0.5), part(opt, 0.5, 1)
		}
		tilted := memory{sums: t.tilted}
		if err := tilted.fill(engine.Tilted, src, first); err != nil {
			return err
		}
	}
	var err error
	if valid != nil {
		err = t.fillValid(src, valid, onDevice(d, opt))
	} else {
		err = t.memory.fill(engine.Upright, src, onDevice(d, opt))
	}
	if err != nil {
		return err
	}
	return t.combine()
}

// fillValid makes the tables of the valid pixels of an image.
func (t *planeTables) fillValid(src raster.Array, valid *boxsum.Valid, opt *boxsum.Options) error {
	job := engine.ValidJob{Job: newJob(engine.Upright, src, t.sums, t.squares, opt), Count: *t.counts, Mask: pixels.Of(valid.Mask), NaN: valid.SkipNaN}
	if err := job.Check(); err != nil {
		return err
	}
	if err := job.Run(); err != nil {
		return err
	}
	t.keep(&job.Job)
	*t.counts = job.Count
	return nil
}

func (t *planeTables) allocate(e imagefile.Extent, want tableChoice) (err error) {
	plane := raster.PlaneExtent(e.Width, e.Height, e.Channels, 0)
	if err = t.memory.allocate(plane, want.squares); err == nil && want.tilted {
		t.tilted, err = newTable(t.types.sum, plane)
	}
	if err == nil && want.valid != nil {
		t.counts, err = newTable(raster.U32, plane)
	}
	return err
}

// combine joins the tables for queries.
func (t *planeTables) combine() (err error) {
	t.boxes, err = typed.NewUpright(t.sums, t.squares, t.counts)
	return err
}

// newRows starts a stream of the rows of an image's table, and of the table of squares unless
// squares is not a type.
func newRows(src *raster.Array, kind engine.Kind, sum, squares raster.Type, opt *boxsum.Options) (*engine.Rows, error) {
	job := streamJob(kind, sum, squares, opt)
	job.Src = raster.Array{Type: src.Type, Extent: raster.PlaneExtent(src.Width, 0, src.Channels, 0)}
	return engine.NewRows(&job)
}

// streamJob returns the job of a stream without its source.
func streamJob(kind engine.Kind, sum, squares raster.Type, opt *boxsum.Options) engine.Job {
	job := newJob(kind, raster.Array{}, &engine.Table{Array: raster.Array{Type: sum}}, &engine.Table{Array: raster.Array{Type: squares}}, opt)
	job.Options.On, job.Options.Progress = nil, nil
	return job
}

// engineOptions converts options to those of the engine.
func engineOptions(opt *boxsum.Options) engine.Options {
	return engine.Options{On: opt.On, BandRows: opt.BandRows, Workers: opt.Workers, Level: opt.Level.String(), Context: opt.Context, Progress: opt.Progress}
}

// entriesOf returns all entries of the table of an image.
func entriesOf(t *engine.Table) raster.Array {
	entries := t.Array
	entries.SetPlane(t.Width+1, t.Height+1, t.Channels, t.Stride)
	return entries
}

func (t *planeTables) clear() {
	for _, table := range []*engine.Table{t.sums, t.squares, t.tilted} {
		if table != nil {
			clearPages(table.Data)
		}
	}
}

func (t *planeTables) sum(b box, channel int) fromsums.Sum {
	return t.boxes.Sum(b.rectangle(), channel)
}

func (t *planeTables) mean(b box, channel int) float64 { return t.boxes.Mean(b.rectangle(), channel) }

func (t *planeTables) std(b box, channel int) float64 { return t.boxes.StdDev(b.rectangle(), channel) }

func (t *planeTables) square(b box, channel int) float64 {
	return t.squareAt(0, b[3], b[2], channel)
}

// squareAt returns an entry of the table of squares of floats, and 0 for integers, which do not
// round.
func (m *memory) squareAt(z, y, x, channel int) float64 {
	if m.squares == nil || m.squares.Type != raster.F64 {
		return 0
	}
	return raster.Elems[float64](m.squares.From(z*m.squares.SliceStride + y*m.squares.Stride + x*m.squares.Channels + channel))[0]
}

func (t *planeTables) count(b box, channel int) int { return t.boxes.Area(b.rectangle(), channel) }

func (t *planeTables) picture() image.Image { return sumForms[t.sums.Type].draw(entriesOf(t.sums)) }
