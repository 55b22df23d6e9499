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

// NewTilted returns the 45° table of an image. Squares may be nil. Both share the memory of
// the arguments.
func NewTilted(sums, squares *engine.Table) (Tilted, error) {
	f, err := of(sums.Type)
	if err != nil {
		return nil, err
	}
	return f.tilted(sums, squares)
}

func newTilted[S boxsum.Sum](sums, squares *engine.Table) (Tilted, error) {
	if squares == nil || squares.Type == raster.U64 {
		return newTiltedSquares[S, uint64](sums, squares)
	}
	if squares.Type != raster.F64 {
		return nil, unsupported("squares", squares.Type)
	}
	return newTiltedSquares[S, float64](sums, squares)
}

func newTiltedSquares[S boxsum.Sum, Q boxsum.Square](sums, squares *engine.Table) (Tilted, error) {
	both := &tilted.SquaredTable[S, Q]{Sum: leaning[S](sums)}
	if squares != nil {
		both.Squares = leaning[Q](squares)
	}
	t := both.Sum
	all := tableOf(t.Channels, t.SumChannel, t.SumBoxes, oneByOne(t.Channels, both.Mean, both.Variance, both.StdDev))
	return &all, nil
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
	// Corner returns the entry of a corner, see [rotated.Table.Corner].
	Corner(c, r, channel int) any
	// Features returns an evaluator of features on a channel, see [Features].
	Features(channel int, values raster.Type) (*Features, error)
}

// IntegrateRotated returns the table of an image along a rotation. Unless squares is 0, it
// also makes the table of the squares, for standard deviations; see
// [rotated.IntegrateSquares].
func IntegrateRotated(src raster.Array, sum, squares raster.Type, rot rotated.Rotation, opt *rotated.Options) (Rotated, error) {
	f, err := of(sum)
	if err != nil {
		return nil, err
	}
	first, second := opt, opt
	if squares != 0 && opt != nil && opt.Progress != nil {
		a, b, progress := *opt, *opt, opt.Progress
		a.Progress = func(done float64) { progress(done / 2) }
		b.Progress = func(done float64) { progress(0.5 + done/2) }
		first, second = &a, &b
	}
	t, ofSquares, err := f.rotated(squares, src.Width, src.Height, src.Channels, rot)
	if err != nil {
		return nil, err
	}
	if err := t.integrate(src, first); err != nil || squares == 0 {
		return t, err
	}
	squared, err := raster.SquaredPixels(&src, squares)
	if err != nil {
		return nil, err
	}
	return t, ofSquares(squared, second)
}

// integrate makes the table of an image.
type integrate func(src raster.Array, opt *rotated.Options) error

type turned struct {
	table[rotated.Box]
	lattice   *rotated.Lattice
	corner    func(c, r, channel int) any
	features  func(channel int, values raster.Type) (*Features, error)
	integrate integrate
}

func (t *turned) Lattice() *rotated.Lattice { return t.lattice }

func (t *turned) Corner(c, r, channel int) any { return t.corner(c, r, channel) }

func (t *turned) Features(channel int, values raster.Type) (*Features, error) {
	return t.features(channel, values)
}

// newRotated allocates a table and, unless squares is 0, that of the squares, which the
// second result makes.
func newRotated[S boxsum.Sum](squares raster.Type, width, height, channels int, rot rotated.Rotation) (*turned, integrate, error) {
	t, err := rotated.NewTable[S](width, height, channels, rot)
	if err != nil {
		return nil, nil, err
	}
	switch squares {
	case 0:
		return turnedOf(&rotated.SquaredTable[S, uint64]{Sum: t}), nil, nil
	case raster.U64:
		return newRotatedSquares[S, uint64](t, rot)
	case raster.F64:
		return newRotatedSquares[S, float64](t, rot)
	}
	return nil, nil, unsupported("squares", squares)
}

func newRotatedSquares[S boxsum.Sum, Q boxsum.Square](t *rotated.Table[S], rot rotated.Rotation) (*turned, integrate, error) {
	q, err := rotated.NewTable[Q](t.Width, t.Height, t.Channels, rot)
	if err != nil {
		return nil, nil, err
	}
	return turnedOf(&rotated.SquaredTable[S, Q]{Sum: t, Squares: q}), integrateInto(q), nil
}

func turnedOf[S boxsum.Sum, Q boxsum.Square](both *rotated.SquaredTable[S, Q]) *turned {
	t := both.Sum
	return &turned{
		table:     tableOf(t.Channels, t.SumChannel, t.SumBoxes, oneByOne(t.Channels, both.Mean, both.Variance, both.StdDev)),
		lattice:   t.Lattice,
		corner:    func(c, r, channel int) any { return t.Corner(c, r, channel) },
		features:  func(channel int, values raster.Type) (*Features, error) { return rotatedFeatures(t, channel, values) },
		integrate: integrateInto(t),
	}
}

func integrateInto[S boxsum.Sum](dst *rotated.Table[S]) integrate {
	return func(src raster.Array, opt *rotated.Options) error { return IntegrateRotatedInto(dst, src, opt) }
}

// IntegrateRotatedInto makes the table of an image, which must have the size of the table.
// It switches on the type of the pixels because the functions of package rotated are generic.
func IntegrateRotatedInto[S boxsum.Sum](dst *rotated.Table[S], src raster.Array, opt *rotated.Options) error {
	switch src.Type {
	case raster.U8:
		return rotated.IntegrateInto(dst, pixels[uint8](&src), opt)
	case raster.U16:
		return rotated.IntegrateInto(dst, pixels[uint16](&src), opt)
	case raster.U32:
		return rotated.IntegrateInto(dst, pixels[uint32](&src), opt)
	case raster.I16:
		return rotated.IntegrateInto(dst, pixels[int16](&src), opt)
	case raster.I32:
		return rotated.IntegrateInto(dst, pixels[int32](&src), opt)
	case raster.F32:
		return rotated.IntegrateInto(dst, pixels[float32](&src), opt)
	case raster.F64:
		return rotated.IntegrateInto(dst, pixels[float64](&src), opt)
	}
	return engine.NoPair(src.Type, raster.TypeOf[S]())
}

func pixels[P boxsum.Pixel](a *raster.Array) boxsum.Image[P] {
	return boxsum.Image[P]{Pix: raster.Elems[P](a.Data), Stride: a.Stride, Width: a.Width, Height: a.Height, Channels: a.Channels}
}
