package engine

import (
	"github.com/boxsum/boxsum/internal/device"
	"github.com/boxsum/boxsum/internal/kernel"
	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/internal/stats"
)

// A Kind is a kind of table that a [Job] makes.
type Kind = device.Kind

// The kinds of tables.
const (
	Upright = device.Upright
	Tilted  = device.Tilted
	Volume  = device.Volume
)

// A Table is the memory of a table. Its extent is that of the image or volume; the table
// itself has one more row and column and, for a volume, one more slice.
type Table struct {
	raster.Array
	Offset float32      // subtracted from every pixel before it is summed
	Known  stats.Pixels // properties of the pixels, set by the job
	Whole  bool         // the gaps between rows belong to the table, too
}

// A Job makes a table and, if Squares has a type, the table of squares. It is plain
// data: its maker calls Check before allocating the tables, and then Run.
type Job struct {
	Kind          Kind
	Src           raster.Array
	Sums, Squares Table
	Options       Options

	// Offset is subtracted from every pixel. If it is zero, Plain is not set and
	// squares are made of floats that lie far from zero, their center is subtracted.
	Offset float32
	Plain  bool

	set Settings
}

// Check returns an error if the options, the types or the pixels are invalid, in this
// order. It sets the defaults of the extent and the offsets of the tables.
func (j *Job) Check() error {
	if err := j.Options.check(&j.set); err != nil {
		return err
	}
	pixel, sum := j.Src.Type, j.Sums.Type
	if !hasKernel(j.Kind, pixel, sum, false) {
		return NoPair(pixel, sum)
	}
	if j.squared() && !hasKernel(j.Kind, pixel, j.Squares.Type, true) {
		return NoSquares(pixel, sum, j.Squares.Type)
	}
	if err := j.Src.Pixels(j.Src.Len()); err != nil {
		return err
	}
	if err := CheckOffset(pixel, sum, j.Offset); err != nil {
		return err
	}
	j.Sums.Offset = j.Offset
	if j.squared() && pixel.Float() {
		if j.Offset == 0 && !j.Plain {
			j.Sums.Offset = center(&j.Src, nil)
		}
		j.Squares.Offset = j.Sums.Offset
	}
	return nil
}

// squared reports whether the job also makes squares.
func (j *Job) squared() bool { return j.Squares.Type != 0 }

// hasKernel reports whether there is a kernel for a kind of table and a pair of types.
func hasKernel(kind Kind, pixel, sum raster.Type, squares bool) bool {
	switch kind {
	case Tilted:
		return kernel.Tilted(pixel, sum, kernel.Portable, squares) != nil
	case Volume:
		return kernel.Volume(pixel, sum, kernel.Portable, squares) != nil
	}
	return kernel.Plane(pixel, sum, kernel.Portable, squares) != nil
}

// acceptTables checks the memory of the tables. It sets the defaults of their extents and
// the properties of their pixels.
func (j *Job) acceptTables() error {
	if err := j.Sums.Accept(&j.Src); err != nil {
		return err
	}
	if j.squared() {
		if err := j.Squares.Accept(&j.Src); err != nil {
			return err
		}
		if err := raster.Overlap(j.Sums.Data, j.Squares.Data); err != nil {
			return err
		}
		j.Squares.know(&j.Src, true, true)
	}
	j.Sums.know(&j.Src, false, j.squared())
	return nil
}

// Accept checks the memory of a table against the checked image or volume that it is
// made of, and sets the defaults of its extent.
func (t *Table) Accept(src *raster.Array) error {
	if err := t.Extent.Accept(&src.Extent, t.Len()); err != nil {
		return err
	}
	return raster.Overlap(src.Data, t.Data)
}

// know sets Known, the properties of the pixels. If the sum type holds the sum of only a
// few pixels of the largest possible value, as for 64-bit pixels or the squares of 32-bit
// pixels, it examines all pixels; for 32-bit pixels only if look is set.
func (t *Table) know(src *raster.Array, squares, look bool) {
	t.Known = stats.Typical(src.Type, squares)
	if (look || src.Type.Bytes() == 8) && t.Known.MaxCount(t.Type, squares) <= 4 && len(src.Data) > 0 {
		t.Known = stats.Bounded(stats.Largest(src), squares)
	}
}

// A tableLayer makes a table of one kind.
type tableLayer interface {
	Layer
	// find selects the kernel for the types, and aim points the layer at their memory.
	find(pixel, sum raster.Type, level kernel.Level, squares bool)
	aim(src *raster.Array, dst *Table)
	// cut divides the work of all tables of the job together.
	cut(p *Plan, w *Work, depth int)
}

// A run holds the state of a running job. It is kept for the next job of its kind.
type run struct {
	engine Engine
	set    Settings
	plan   Plan
	work   Work
	src    raster.Array
	tables [2]Table
	makers [2]tableLayer
	layers [2]Layer // the makers, in the form that the engine needs
}

func newRun(sums, squares tableLayer) *run {
	return &run{makers: [2]tableLayer{sums, squares}, layers: [2]Layer{sums, squares}}
}

var runs = [...]Pool[run]{
	Upright: {New: func() *run { return newRun(new(upright), new(upright)) }},
	Tilted:  {New: func() *run { return newRun(new(tilted), new(tilted)) }},
	Volume:  {New: func() *run { return newRun(new(solid), new(solid)) }},
}

// Run makes the tables of a checked job, after checking their memory. It sets the
// defaults of their extents and the properties of their pixels.
func (j *Job) Run() error {
	if err := j.acceptTables(); err != nil {
		return err
	}
	if j.set.on != nil {
		return j.set.on.Tables(&device.Tables{
			Kind: j.Kind, Src: j.Src, Sums: j.Sums.Array, Squares: j.Squares.Array, Offset: j.Sums.Offset, Options: j.set.OnDevice(),
		})
	}
	r := runs[j.Kind].Take()
	r.src = j.Src
	r.set = j.set
	r.tables[0] = j.Sums
	count, bytes := 1, j.Sums.Type.Bytes()
	if j.squared() {
		r.tables[1] = j.Squares
		count, bytes = 2, bytes+j.Squares.Type.Bytes()
	}
	for i := range count {
		r.makers[i].find(r.src.Type, r.tables[i].Type, r.set.Level, i == 1)
		r.makers[i].aim(&r.src, &r.tables[i])
	}
	r.work = workOf(&r.src.Extent, r.src.Type.Bytes(), bytes, r.set.workers)
	r.work.Batch = r.set.batch
	if large := r.work.Rows*r.work.N > apartWorkers<<16; large { // smaller tables would not gain
		r.work.Exact = isExact(r.layers[:count])
	}
	r.makers[0].cut(&r.plan, &r.work, r.src.Depth)
	scratch, err := r.engine.Fill(&r.set, &r.plan, r.layers[:count]...)
	r.src.Data, r.tables[0].Data, r.tables[1].Data, r.set = nil, nil, nil, Settings{} // drop references to the caller's memory
	runs[j.Kind].Leave(r, scratch)
	return err
}

// isExact reports whether the sums of all layers add up in any order.
func isExact(layers []Layer) bool {
	for _, l := range layers {
		if !l.exact() {
			return false
		}
	}
	return true
}

// NoPair returns the error for a pair of types without tables.
func NoPair(pixel, sum raster.Type) error {
	return raster.Unsupported("%s", raster.SumPairs.Missing(pixel, sum))
}

// NoSquares returns the error for types without a table of sums and one of squares.
func NoSquares(pixel, sum, squares raster.Type) error {
	if !raster.SumPairs.Has(pixel, sum) {
		return NoPair(pixel, sum)
	}
	every := raster.SquarePairs.For(raster.Tilted | raster.Volume) // the pairs that all kinds of tables have
	return raster.Unsupported("squares of %v cannot be summed in %v: squares of %s", pixel, squares, every.Choices(pixel))
}
