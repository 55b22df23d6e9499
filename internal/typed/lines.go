package typed

import (
	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/internal/stats"
	"github.com/boxsum/boxsum/rotated"
	"github.com/boxsum/boxsum/tilted"
)

// A Tilted is the 45° table of an image.
type Tilted interface{ Table[tilted.Box] }

// NewTilted returns the 45° table of an image. Squares may be nil. Both share the memory of
// the arguments.
func NewTilted(sums, squares *engine.Table) (Tilted, error) {
	switch sums.Type {
	case raster.U32:
		return newTilted[uint32](sums, squares)
	case raster.U64:
		return newTilted[uint64](sums, squares)
	case raster.I64:
		return newTilted[int64](sums, squares)
	case raster.F32:
		return newTilted[float32](sums, squares)
	case raster.F64:
		return newTilted[float64](sums, squares)
	}
	return nil, unsupported("sums", sums.Type)
}

func newTilted[S boxsum.Sum](sums, squares *engine.Table) (Tilted, error) {
	t := leaning[S](sums)
	statistics, err := tiltedStatistics(t, squares)
	if err != nil {
		return nil, err
	}
	return &table[S, tilted.Box]{statistics, t, t.Channels}, nil
}

func tiltedStatistics[S boxsum.Sum](t *tilted.Table[S], squares *engine.Table) (Statistics[tilted.Box], error) {
	switch {
	case squares == nil:
		return &tilted.SquaredTable[S, uint64]{Sum: t}, nil
	case squares.Type == raster.U64:
		return &tilted.SquaredTable[S, uint64]{Sum: t, Squares: leaning[uint64](squares)}, nil
	case squares.Type == raster.F64:
		return &tilted.SquaredTable[S, float64]{Sum: t, Squares: leaning[float64](squares)}, nil
	}
	return nil, unsupported("squares", squares.Type)
}

// leaning returns the 45° table of an image with its type.
func leaning[S boxsum.Sum](t *engine.Table) *tilted.Table[S] {
	return &tilted.Table[S]{
		Sums: raster.Elems[S](t.Data), Stride: t.Stride, Width: t.Width, Height: t.Height, Channels: t.Channels,
		Bound: t.Known.Bound, Signed: t.Known.Signed,
	}
}

// A Rotated is the table of an image along the lines of a rotation.
type Rotated interface {
	Table[rotated.Box]
	// Lattice returns the lattice of the table.
	Lattice() *rotated.Lattice
	// Corner returns the entry of a corner; see [rotated.Table.Corner].
	Corner(c, r, channel int) stats.Sum
	// Features returns an evaluator of features on a channel; see [Features].
	Features(channel int, values raster.Type) (Features, error)
}

// IntegrateRotated returns the table of an image along a rotation. Unless squares is 0, it
// also makes the table of the squares, for standard deviations; see
// [rotated.IntegrateSquares].
func IntegrateRotated(src raster.Array, sum, squares raster.Type, rot rotated.Rotation, opt engine.Options) (Rotated, error) {
	switch sum {
	case raster.U32:
		return integrateRotated[uint32](src, squares, rot, opt)
	case raster.U64:
		return integrateRotated[uint64](src, squares, rot, opt)
	case raster.I64:
		return integrateRotated[int64](src, squares, rot, opt)
	case raster.F32:
		return integrateRotated[float32](src, squares, rot, opt)
	case raster.F64:
		return integrateRotated[float64](src, squares, rot, opt)
	}
	return nil, unsupported("sums", sum)
}

// turned implements [Rotated] for one type of sums.
type turned[S boxsum.Sum] struct {
	table[S, rotated.Box]
	of *rotated.Table[S]
}

func (t *turned[S]) Lattice() *rotated.Lattice { return t.of.Lattice }

func (t *turned[S]) Corner(c, r, channel int) stats.Sum {
	return stats.SumOf(t.of.Corner(c, r, channel))
}

func (t *turned[S]) Features(channel int, values raster.Type) (Features, error) {
	return rotatedFeatures(t.of, channel, values)
}

func integrateRotated[S boxsum.Sum](src raster.Array, squares raster.Type, rot rotated.Rotation, opt engine.Options) (Rotated, error) {
	first, second := opt, opt
	if progress := opt.Progress; squares != 0 && progress != nil {
		first.Progress = func(done float64) { progress(done / 2) }
		second.Progress = func(done float64) { progress(0.5 + done/2) }
	}
	t, err := rotatedOf[S](src, rot, first)
	if err != nil {
		return nil, err
	}
	statistics, err := rotatedStatistics(t, src, squares, rot, second)
	if err != nil {
		return nil, err
	}
	return &turned[S]{table[S, rotated.Box]{statistics, t, t.Channels}, t}, nil
}

// rotatedStatistics makes the table of squares.
func rotatedStatistics[S boxsum.Sum](t *rotated.Table[S], src raster.Array, squares raster.Type, rot rotated.Rotation, opt engine.Options) (Statistics[rotated.Box], error) {
	if squares == 0 {
		return &rotated.SquaredTable[S, uint64]{Sum: t}, nil
	}
	squared, err := raster.SquaredPixels(&src, squares)
	if err != nil {
		return nil, err
	}
	if squares == raster.U64 {
		q, err := rotatedOf[uint64](squared, rot, opt)
		return &rotated.SquaredTable[S, uint64]{Sum: t, Squares: q}, err
	}
	q, err := rotatedOf[float64](squared, rot, opt)
	return &rotated.SquaredTable[S, float64]{Sum: t, Squares: q}, err
}

func rotatedOf[S boxsum.Sum](src raster.Array, rot rotated.Rotation, opt engine.Options) (*rotated.Table[S], error) {
	t, err := rotated.NewTable[S](src.Width, src.Height, src.Channels, rot)
	if err != nil {
		return nil, err
	}
	return t, engine.IntegrateInto(t, src, opt)
}
