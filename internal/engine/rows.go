package engine

import (
	"github.com/boxsum/boxsum/internal/kernel"
	"github.com/boxsum/boxsum/internal/raster"
)

// Rows makes a table row by row, and the squares too if the job asks for them. Streams
// of images use it.
type Rows struct {
	tables []rowTable
	n      int // elements of a row of pixels
	pixel  int // bytes of an element
	y      int
	set    Settings
}

// A rowTable is one table of a stream. It holds the row made last.
type rowTable struct {
	layer rowLayer
	src   raster.Array
	dst   Table
	row   []byte
}

// A rowLayer is a layer that can continue from one row to the next.
type rowLayer interface {
	tableLayer
	// pushRow computes row y of the table in the second row of its memory.
	pushRow(row []byte, y int)
}

// NewRows returns Rows for the tables of a job, which must be upright or tilted. The
// source of the job gives the type, width and channels of the rows; its height is 0.
func NewRows(j *Job) (*Rows, error) {
	if err := j.Check(); err != nil {
		return nil, err
	}
	if err := j.set.ProcessorOnly("streams"); err != nil {
		return nil, err
	}
	r := &Rows{n: j.Src.Width * j.Src.Channels, pixel: j.Src.Type.Bytes(), set: j.set}
	if err := r.add(j, &j.Sums, false); err != nil {
		return nil, err
	}
	if j.squared() {
		if err := r.add(j, &j.Squares, true); err != nil {
			return nil, err
		}
	}
	for i := range r.tables {
		t := &r.tables[i]
		t.layer.find(t.src.Type, t.dst.Type, r.set.Level, i == 1)
		t.layer.aim(&t.src, &t.dst)
		if err := t.layer.Prepare(&Plan{Grid: Grid{Rows: 1, N: r.n, BandRows: 1}, Workers: 1}); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// add allocates the memory of a table of two rows, of which the first stays zero.
func (r *Rows) add(j *Job, dst *Table, squares bool) error {
	t := rowTable{layer: new(upright), src: raster.Array{Type: j.Src.Type}, dst: *dst}
	if j.Kind == Tilted {
		t.layer = new(tilted)
	}
	var err error
	if t.dst.Array, err = raster.NewTable(dst.Type, raster.PlaneExtent(j.Src.Width, 1, j.Src.Channels, 0)); err != nil {
		return err
	}
	size := dst.Type.Bytes()
	t.row = t.dst.From(t.dst.Stride)[:(r.n+t.dst.Channels)*size]
	r.tables = append(r.tables, t)
	return nil
}

// Push adds the next row of pixels and returns the next row of the table and of the table
// of squares. The returned rows are valid until the next Push.
func (r *Rows) Push(row []byte) (sums, squares []byte, err error) {
	if r == nil {
		return nil, nil, errNoStream()
	}
	if n := len(row) / r.pixel; n != r.n {
		return nil, nil, raster.Invalid("row has %d values, want %d", n, r.n)
	}
	if err := r.set.Stopped(); err != nil {
		return nil, nil, err
	}
	for i := range r.tables {
		r.tables[i].layer.pushRow(row, r.y)
	}
	r.y++
	if len(r.tables) > 1 {
		squares = r.tables[1].row
	}
	return r.tables[0].row, squares, nil
}

func errNoStream() error { return raster.Invalid("uninitialized stream (use its constructor)") }

// Slices makes the table of a volume slice by slice, and the squares too if the job
// asks for them. Streams of volumes use it.
type Slices struct {
	engine Engine
	set    Settings
	plan   Plan
	extent raster.Extent // of one slice, as a volume
	tables []sliceTable
	layers []Layer
}

// A sliceTable is one table of a stream. It holds the slice made last.
type sliceTable struct {
	solid
	src raster.Array
	dst Table
}

// Prepare implements [Layer]. It clears nothing, because the table continues from the
// previous slice.
func (t *sliceTable) Prepare(*Plan) error { return nil }

// Release implements [Layer]. The stream keeps its memory.
func (t *sliceTable) Release() int { return 0 }

// NewSlices returns Slices for the tables of a job. The source of the job gives the type,
// size and channels of the slices; its depth is 0.
func NewSlices(j *Job) (*Slices, error) {
	if err := j.Check(); err != nil {
		return nil, err
	}
	if err := j.set.ProcessorOnly("streams"); err != nil {
		return nil, err
	}
	s := &Slices{set: j.set.Quiet(), extent: j.Src.Extent}
	s.extent.Depth = 1
	bytes := j.Sums.Type.Bytes()
	dst := []*Table{&j.Sums}
	if j.squared() {
		bytes += j.Squares.Type.Bytes()
		dst = append(dst, &j.Squares)
	}
	s.plan = workOf(&s.extent, j.Src.Type.Bytes(), bytes, j.set.Workers()).Plan()
	s.plan.Writes, s.plan.Slices = kernel.Ahead, 1
	s.tables = make([]sliceTable, len(dst))
	for i := range s.tables {
		t := &s.tables[i]
		if err := t.init(s, j.Src.Type, dst[i], i == 1); err != nil {
			return nil, err
		}
		s.layers = append(s.layers, t)
	}
	return s, nil
}

func (t *sliceTable) init(s *Slices, pixel raster.Type, dst *Table, squares bool) error {
	e := s.extent
	over, err := raster.Make[byte](kernel.OverLen(e.Height, e.Width*e.Channels) * dst.Type.Bytes())
	if err != nil {
		return raster.OutOfMemory("a stream of slices of %d×%d: %w", e.Width, e.Height, err)
	}
	t.solid.over, t.dst = over, *dst
	if t.dst.Array, err = raster.NewTable(dst.Type, raster.PlaneExtent(e.Width, e.Height, e.Channels, 0)); err != nil {
		return err
	}
	t.dst.SliceStride = 0 // all slices of the table use the same memory
	t.find(pixel, dst.Type, s.set.Level, squares)
	t.aim(&t.src, &t.dst)
	return t.solid.Prepare(&s.plan)
}

// Offset returns the value subtracted from every voxel.
func (s *Slices) Offset() float32 {
	if s == nil {
		return 0
	}
	return s.tables[0].dst.Offset
}

// Push adds the next slice of voxels and returns the next slice of the table and of the
// table of squares. The returned slices are valid until the next Push.
func (s *Slices) Push(slice raster.Array) (sums, squares raster.Array, err error) {
	if s == nil {
		return sums, squares, errNoStream()
	}
	if err = slice.Pixels(slice.Len()); err != nil {
		return sums, squares, err
	}
	for i := range s.tables {
		t := &s.tables[i]
		if err = t.dst.Same(&slice.Extent); err == nil {
			err = raster.Overlap(slice.Data, t.dst.Data)
		}
		if err != nil {
			return sums, squares, err
		}
		t.src = slice
		t.aim(&t.src, &t.dst)
	}
	err = s.engine.Fill(&s.set, &s.plan, s.layers...)
	for i := range s.tables {
		s.tables[i].src = raster.Array{}
	}
	if err != nil {
		return sums, squares, err
	}
	if len(s.tables) > 1 {
		squares = s.tables[1].dst.Array
	}
	return s.tables[0].dst.Array, squares, nil
}
