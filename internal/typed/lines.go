package typed

import (
	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/rotated"
	"github.com/boxsum/boxsum/tilted"
)

// A Tilted is the 45° table of an image.
type Tilted interface{ Table[tilted.Box] }

// NewTilted returns the 45° table of an image, which shares the memory of sums.
func NewTilted(sums *engine.Table) (Tilted, error) {
	f, err := of(sums.Type)
	if err != nil {
		return nil, err
	}
	return f.tilted(sums)
}

func newTilted[S boxsum.Sum](sums *engine.Table) (Tilted, error) {
	t := &tilted.Table[S]{
		Sums: raster.Elems[S](sums.Data), Stride: sums.Stride, Width: sums.Width, Height: sums.Height, Channels: sums.Channels,
		Bound: sums.Known.Bound, Signed: sums.Known.Signed,
	}
	both := &tilted.SquaredTable[S, uint64]{Sum: t}
	return &table[S, tilted.Box]{oneByOne[tilted.Box]{both, t.Channels}, t, t.Channels}, nil
}

// A Rotated is the table of an image along the lines of a rotation.
type Rotated interface {
	Table[rotated.Box]
	// Lattice returns the lattice of the table.
	Lattice() *rotated.Lattice
	// Corner returns the entry of a corner, see [rotated.Table.Corner].
	Corner(c, r, channel int) any
	// Features returns an evaluator of features on a channel, see [Features].
	Features(channel int, values raster.Type) (Features, error)
	// Integrate makes the table of an image, which must have the size of the table.
	Integrate(src raster.Array, opt *rotated.Options) error

	// join sets the table of the squares.
	join(squares Rotated) error
}

// NewRotated allocates a table along a rotation for images of the given size.
func NewRotated(sum raster.Type, width, height, channels int, rot rotated.Rotation) (Rotated, error) {
	f, err := of(sum)
	if err != nil {
		return nil, err
	}
	return f.rotated(width, height, channels, rot)
}

// IntegrateRotated returns the table of an image along a rotation. Unless squares is 0, it
// also makes the table of the squares, for standard deviations; see
// [rotated.IntegrateSquares].
func IntegrateRotated(src raster.Array, sum, squares raster.Type, rot rotated.Rotation, opt *rotated.Options) (Rotated, error) {
	first, second := opt, opt
	if squares != 0 && opt != nil && opt.Progress != nil {
		a, b, progress := *opt, *opt, opt.Progress
		a.Progress = func(done float64) { progress(done / 2) }
		b.Progress = func(done float64) { progress(0.5 + done/2) }
		first, second = &a, &b
	}
	t, err := integrateRotated(src, sum, rot, first)
	if err != nil || squares == 0 {
		return t, err
	}
	squared, err := raster.SquaredPixels(&src, squares)
	if err != nil {
		return nil, err
	}
	q, err := integrateRotated(squared, squares, rot, second)
	if err != nil {
		return nil, err
	}
	return t, t.join(q)
}

func integrateRotated(src raster.Array, sum raster.Type, rot rotated.Rotation, opt *rotated.Options) (Rotated, error) {
	t, err := NewRotated(sum, src.Width, src.Height, src.Channels, rot)
	if err != nil {
		return nil, err
	}
	return t, t.Integrate(src, opt)
}

type turned[S boxsum.Sum] struct {
	table[S, rotated.Box]
	of *rotated.Table[S]
}

func newRotated[S boxsum.Sum](width, height, channels int, rot rotated.Rotation) (Rotated, error) {
	t, err := rotated.NewTable[S](width, height, channels, rot)
	if err != nil {
		return nil, err
	}
	both := &rotated.SquaredTable[S, uint64]{Sum: t}
	return &turned[S]{table[S, rotated.Box]{oneByOne[rotated.Box]{both, t.Channels}, t, t.Channels}, t}, nil
}

func (t *turned[S]) join(squares Rotated) error {
	switch q := squares.(type) {
	case *turned[uint64]:
		t.statistics = oneByOne[rotated.Box]{&rotated.SquaredTable[S, uint64]{Sum: t.of, Squares: q.of}, t.channels}
	case *turned[float64]:
		t.statistics = oneByOne[rotated.Box]{&rotated.SquaredTable[S, float64]{Sum: t.of, Squares: q.of}, t.channels}
	default:
		return raster.Unsupported("%T has no squares", squares)
	}
	return nil
}

func (t *turned[S]) Lattice() *rotated.Lattice { return t.of.Lattice }

func (t *turned[S]) Corner(c, r, channel int) any { return t.of.Corner(c, r, channel) }

// Integrate switches on the type of the pixels because the functions of package rotated
// are generic.
func (t *turned[S]) Integrate(src raster.Array, opt *rotated.Options) error {
	switch src.Type {
	case raster.U8:
		return rotated.IntegrateInto(t.of, pixels[uint8](&src), opt)
	case raster.U16:
		return rotated.IntegrateInto(t.of, pixels[uint16](&src), opt)
	case raster.U32:
		return rotated.IntegrateInto(t.of, pixels[uint32](&src), opt)
	case raster.I16:
		return rotated.IntegrateInto(t.of, pixels[int16](&src), opt)
	case raster.I32:
		return rotated.IntegrateInto(t.of, pixels[int32](&src), opt)
	case raster.F32:
		return rotated.IntegrateInto(t.of, pixels[float32](&src), opt)
	case raster.F64:
		return rotated.IntegrateInto(t.of, pixels[float64](&src), opt)
	}
	return engine.NoPair(src.Type, raster.TypeOf[S]())
}

// RotatedOf returns a table with its type, which must be S.
func RotatedOf[S boxsum.Sum](t Rotated) *rotated.Table[S] { return t.(*turned[S]).of }

func pixels[P boxsum.Pixel](a *raster.Array) boxsum.Image[P] {
	return boxsum.Image[P]{Pix: raster.Elems[P](a.Data), Stride: a.Stride, Width: a.Width, Height: a.Height, Channels: a.Channels}
}
