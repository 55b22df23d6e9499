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
	Whole  bool         // the gaps between rows may be overwritten
}

// A Job describes a table to compute and, if Squares has a type, the table of squares. It
// is plain data: its creator calls Check before allocating the tables, and then Run.
type Job struct {
	Kind          Kind
	Src           raster.Array
	Sums, Squares Table
	Options       Options

	// Offset is subtracted from every pixel. If Offset is zero and Plain is not set,
	// squares of float pixels that all lie far from zero are computed with the center of
	// the pixels as the offset.
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
		j.Squares.setKnown(&j.Src, true, true)
	}
	j.Sums.setKnown(&j.Src, false, j.squared())
	return nil
}

// Accept checks the memory of a table for the given image or volume, which has been
// checked, and sets the defaults of its extent.
func (t *Table) Accept(src *raster.Array) error {
	if err := t.Extent.Accept(&src.Extent, t.Len()); err != nil {
		return err
	}
	return raster.Overlap(src.Data, t.Data)
}

// setKnown sets Known, the properties of the pixels. It examines all pixels if the sum type
// could overflow after only a few of the largest possible value, as with 64-bit pixels
// and squares of 32-bit pixels. It examines other 32-bit pixels only if look is set.
func (t *Table) setKnown(src *raster.Array, squares, look bool) {
	t.Known = stats.Typical(src.Type, squares)
	if (look || src.Type.Bytes() == 8) && t.Known.MaxCount(t.Type, squares) <= 4 && len(src.Data) > 0 {
		t.Known = stats.Bounded(stats.Largest(src), squares)
	}
}

// A tableLayer makes a table of one kind.
type tableLayer interface {
	Layer
	// find selects the kernel for the types, and aim sets the memory that the layer reads
	// and writes.
	find(pixel, sum raster.Type, level kernel.Level, squares bool)
	aim(src *raster.Array, dst *Table)
	// cut plans the work of all tables of the job together.
	cut(p *Plan, w *Work, depth int)
}

// tables holds the layers of a running job. They are reused by the next job of its kind.
type tables struct {
	work   Work
	src    raster.Array
	dst    [2]Table
	makers [2]tableLayer // the layers of sums and of squares
	layers [2]Layer      // the same layers as arguments of the engine
}

// runs keeps idle tables, by kind.
var runs [3]Runs[tables]

// create makes the layers of a kind of table.
func (t *tables) create(kind Kind) {
	for i := range t.makers {
		switch kind {
		case Tilted:
			t.makers[i] = new(tilted)
		case Volume:
			t.makers[i] = new(solid)
		default:
			t.makers[i] = new(upright)
		}
		t.layers[i] = t.makers[i]
	}
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
	run := runs[j.Kind].Take()
	t := &run.Layer
	if t.makers[0] == nil {
		t.create(j.Kind)
	}
	t.src, t.dst[0] = j.Src, j.Sums
	count, bytes := 1, j.Sums.Type.Bytes()
	if j.squared() {
		t.dst[1] = j.Squares
		count, bytes = 2, bytes+j.Squares.Type.Bytes()
	}
	for i, l := range t.makers[:count] {
		l.find(j.Src.Type, t.dst[i].Type, j.set.Level, i == 1)
		l.aim(&t.src, &t.dst[i])
	}
	t.work = workOf(&j.Src.Extent, j.Src.Type.Bytes(), bytes, j.set.workers)
	t.work.Batch = j.set.batch
	if large := t.work.Rows*t.work.N > twoPassWorkers<<16; large { // for smaller tables, the check takes longer than it saves
		t.work.Exact = isExact(t.layers[:count])
	}
	t.makers[0].cut(&run.plan, &t.work, j.Src.Depth)
	return run.Fill(&j.set, &run.plan, t.layers[:count]...)
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

// NoPair returns the error for a pair of types that no table supports.
func NoPair(pixel, sum raster.Type) error {
	return raster.Unsupported("%s", raster.SumPairs.Missing(pixel, sum))
}

// NoSquares returns the error for types that have no table of sums together with squares.
func NoSquares(pixel, sum, squares raster.Type) error {
	if !raster.SumPairs.Has(pixel, sum) {
		return NoPair(pixel, sum)
	}
	every := raster.SquarePairs.For(raster.Tilted | raster.Volume) // the pairs that all kinds of tables support
	return raster.Unsupported("squares of %v cannot be summed in %v: squares of %s", pixel, squares, every.Choices(pixel))
}
