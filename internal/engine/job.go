package engine

import (
	"github.com/boxsum/boxsum/internal/grid"
	"github.com/boxsum/boxsum/internal/kernel"
	"github.com/boxsum/boxsum/internal/pairs"
)

// A Source is the pixels of an image or of a volume.
type Source[P any] struct {
	Pix []P
	grid.Extent
}

// A Raw is a source as bytes: what makes tables is not compiled for each type of
// pixels, for only kernels need know it.
type Raw struct {
	Pix []byte
	grid.Extent
	Type  pairs.Type
	bound uint64 // see Pixels; 0 if nobody has looked
}

// RawOf is pixels of an extent, as bytes.
func RawOf[P kernel.Pixel](pix []P, e grid.Extent) Raw {
	return Raw{Pix: kernel.Bytes(pix), Extent: e, Type: pairs.TypeOf[P]()}
}

// Len is how many elements there are.
func (r *Raw) Len() int { return len(r.Pix) / r.Type.Bytes() }

// From is the memory from an element on.
func (r *Raw) From(element int) []byte { return r.Pix[element*r.Type.Bytes():] }

// A Target is the memory of a table, which [grid.Extent.Accept] has found good.
type Target[S any] struct {
	Sums []S
	grid.Extent
	Offset float32
	Whole  bool // what lies between rows belongs to the table too
}

// A TableLayer makes a table of sums of type S, or of squares.
type TableLayer[L, S any] interface {
	*L
	planner
	// Find gets the kernel of a type of pixels and a level. It reports whether there
	// is one.
	Find(pixel pairs.Type, level kernel.Level, squares bool) bool
	// Aim points the layer at pixels and a table.
	Aim(src *Raw, dst *Target[S])
}

type planner interface {
	Layer
	// Plan is how to cut the work, which is that of all tables together.
	Plan(p *Plan, w *Work, depth int)
}

// A Job makes a table of sums, by layers A, and where asked to that of squares
// beside it, by layers B. It comes from [Take]: Start, then Fill or Drop.
type Job[S, Q, A, B any, PA TableLayer[A, S], PB TableLayer[B, Q]] struct {
	job
	Sum     Target[S]
	Squares Target[Q]
	sums    A
	squares B
}

// job is what of a Job does not depend on types.
type job struct {
	Src Raw
	Set Settings

	engine Engine
	work   Work
	plan   Plan
	both   bool // sums and squares
}

// Shift is what to take away from every pixel: an offset that was given, or else,
// for the squares of floats, their center. It comes after Start.
func (j *Job[S, Q, A, B, PA, PB]) Shift(offset float32, plain bool) error {
	if err := CheckOffset[S](j.Src.Type, offset); err != nil {
		return err
	}
	j.Sum.Offset, j.Squares.Offset = j.offsets(offset, plain)
	return nil
}

func (j *job) offsets(given float32, plain bool) (sums, squares float32) {
	if !j.both || !j.Src.Type.Float() {
		return given, 0
	}
	if given == 0 && !plain {
		given = j.Src.center(nil)
	}
	return given, given
}

// Start checks options, types and the pixels of Src.
func (j *Job[S, Q, A, B, PA, PB]) Start(opt *Options, squares bool) (err error) {
	j.both = squares
	if err = opt.check(&j.Set); err != nil {
		return err
	}
	if !PA(&j.sums).Find(j.Src.Type, j.Set.Level, false) {
		return NoPair[S](j.Src.Type)
	}
	if squares && !PB(&j.squares).Find(j.Src.Type, j.Set.Level, true) {
		return NoSquares[S, Q](j.Src.Type)
	}
	return j.Src.Pixels(j.Src.Len())
}

// Image points a source at an image.
func (s *Source[P]) Image(pix []P, width, height, channels, stride int) {
	s.Pix = pix
	s.SetPlane(width, height, channels, stride)
}

// Table points a target at the table of an image, for the offset that it has.
func (t *Target[S]) Table(sums []S, width, height, channels, stride int) {
	t.Sums, t.Whole = sums, false
	t.SetPlane(width, height, channels, stride)
}

// Accept takes the memory of a table for sums or squares: it fills in the defaults
// of its extent, and reports what is wrong.
func Accept[S any](dst *Target[S], src *Raw) error {
	if err := dst.Accept(&src.Extent, len(dst.Sums)); err != nil {
		return err
	}
	return grid.Overlap(src.Pix, dst.Sums)
}

// Fill makes one table or both, in the memory of Sum and Squares. Afterwards the
// job may be another's.
func (j *Job[S, Q, A, B, PA, PB]) Fill() (err error) {
	sums, squares := PA(&j.sums), PB(&j.squares)
	bytes := grid.SizeOf[S]()
	if j.both {
		if err = grid.Overlap(j.Sum.Sums, j.Squares.Sums); err != nil {
			return err
		}
		bytes += grid.SizeOf[Q]()
		squares.Aim(&j.Src, &j.Squares)
	}
	sums.Aim(&j.Src, &j.Sum)
	scratch, err := j.fill(bytes, sums, squares)
	j.Src.Pix, j.Sum.Sums, j.Squares.Sums, j.Set = nil, nil, nil, Settings{}
	leave(j, scratch)
	return err
}

// fill makes sums of this many bytes together.
func (j *job) fill(bytes int, sums planner, squares Layer) (scratch int, err error) {
	e := &j.Src.Extent
	j.work = workOf(e, j.Src.Type.Bytes(), bytes, j.Set.workers)
	j.work.Batch = j.Set.batch
	if large := j.work.Rows*j.work.N > apartWorkers<<16; large { // for others it makes no difference
		j.work.Exact = isExact(sums) && (!j.both || isExact(squares))
	}
	sums.Plan(&j.plan, &j.work, e.Depth)
	if j.both {
		return j.engine.Fill(&j.Set, &j.plan, sums, squares)
	}
	return j.engine.Fill(&j.Set, &j.plan, sums)
}

// isExact reports whether the sums of a layer add up in any order.
func isExact(l Layer) bool {
	a, ok := l.(apart)
	return ok && a.exact()
}

// NoPair is the error about a pair of types that makes no table.
func NoPair[S any](pixel pairs.Type) error {
	return grid.Types("%s", pairs.Sums.Missing(pixel, pairs.Of[S]()))
}

// NoSquares is the same about sums and squares.
func NoSquares[S, Q any](pixel pairs.Type) error {
	if !pairs.Sums.Has(pixel, pairs.Of[S]()) {
		return NoPair[S](pixel)
	}
	every := pairs.Squares.For(pairs.Tilted | pairs.Volume) // those that all kinds of tables have
	return grid.Types("no squares of %v in %T: squares of %s", pixel, *new(Q), every.Choices(pixel))
}
