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

// A Target is the memory of a table, which [grid.Extent.Accept] has found good.
type Target[S any] struct {
	Sums []S
	grid.Extent
	Offset float32
	Whole  bool // what lies between rows belongs to the table too
}

// A TableLayer makes a table of sums of type S, or of squares, from pixels of
// type P.
type TableLayer[L, P, S any] interface {
	*L
	Layer
	// Find gets the kernel of a level. It reports whether there is one.
	Find(level kernel.Level, squares bool) bool
	// Plan is how to cut the work, which is that of all tables together.
	Plan(w Work, e grid.Extent) Plan
	// Aim points the layer at pixels and a table.
	Aim(src Source[P], dst Target[S])
}

// A Job makes a table of sums, by layers A, and where asked to that of squares
// beside it, by layers B: Start, then Fill.
type Job[P, S, Q, A, B any, PA TableLayer[A, P, S], PB TableLayer[B, P, Q]] struct {
	Src     Source[P]
	Set     Settings
	squares bool
	run     *Run[A, B]
}

// Start checks options, types and pixels.
func (j *Job[P, S, Q, A, B, PA, PB]) Start(opt Options, src Source[P], squares bool) (err error) {
	if j.Set, err = opt.Check(); err != nil {
		return err
	}
	run := Take[A, B]()
	if !PA(&run.First).Find(j.Set.Level, false) {
		return NoPair[P, S]()
	}
	if squares && !PB(&run.Second).Find(j.Set.Level, true) {
		every := pairs.Squares.For(pairs.Tilted | pairs.Volume) // those that all kinds of tables have
		return grid.Types("no squares of %T in %T: squares of %s", *new(P), *new(Q), every.Choices(pairs.Of[P]()))
	}
	j.run, j.squares, j.Src = run, squares, src
	j.Src.Extent, err = src.Extent.Pixels(len(src.Pix))
	return err
}

// Fill makes one table or both.
func (j *Job[P, S, Q, A, B, PA, PB]) Fill(sum Target[S], squares Target[Q]) error {
	r, e := j.run, j.Src.Extent
	work := Work{
		Rows: e.Height, N: e.Width * e.Channels, Channels: e.Channels,
		PixelBytes: grid.SizeOf[P](), SumBytes: grid.SizeOf[S](), Workers: j.Set.Workers,
	}
	first, second := PA(&r.First), PB(&r.Second)
	first.Aim(j.Src, sum)
	if !j.squares {
		return r.Fill(j.Set, first.Plan(work, e), first)
	}
	if err := grid.Overlap(sum.Sums, squares.Sums); err != nil {
		return err
	}
	work.SumBytes += grid.SizeOf[Q]()
	second.Aim(j.Src, squares)
	return r.Fill(j.Set, first.Plan(work, e), first, second)
}

// NoPair is the error about a pair of types that makes no table.
func NoPair[P, S any]() error {
	return grid.Types("%s", pairs.Sums.Missing(pairs.Of[P](), pairs.Of[S]()))
}
