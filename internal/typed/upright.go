package typed

import (
	"image"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/volume"
)

// An Upright is the table of an image.
type Upright interface {
	Table[image.Rectangle]
	// Area returns the number of pixels of a box, or that of its valid pixels if the table
	// counts them.
	Area(box image.Rectangle, channel int) int
	// Features returns an evaluator of features on a channel, see [Features].
	Features(channel int, values raster.Type) (Features, error)
}

// NewUpright returns the table of an image. Squares may be nil, and so may count, which
// holds the number of valid pixels. All share the memory of the arguments.
func NewUpright(sums, squares, count *engine.Table) (Upright, error) {
	f, err := of(sums.Type)
	if err != nil {
		return nil, err
	}
	return f.upright(sums, squares, count)
}

type upright[S boxsum.Sum] struct {
	table[S, image.Rectangle]
	of    boxsum.Table[S]
	valid interface {
		Area(box image.Rectangle, channel int) int
	} // nil if all pixels are valid
}

func (t *upright[S]) Area(box image.Rectangle, channel int) int {
	if t.valid != nil {
		return t.valid.Area(box, channel)
	}
	box = box.Intersect(t.of.Bounds())
	return box.Dx() * box.Dy()
}

func newUpright[S boxsum.Sum](sums, squares, count *engine.Table) (Upright, error) {
	if squares == nil || squares.Type == raster.U64 {
		return newUprightSquares[S, uint64](sums, squares, count)
	}
	if squares.Type != raster.F64 {
		return nil, unsupported("squares", squares.Type)
	}
	return newUprightSquares[S, float64](sums, squares, count)
}

func newUprightSquares[S boxsum.Sum, Q boxsum.Square](sums, squares, count *engine.Table) (Upright, error) {
	t := &struct {
		upright[S]
		both boxsum.SquaredTable[S, Q]
	}{}
	t.of = plane[S](sums)
	sum := &t.of
	t.sums, t.channels = sum, sum.Channels
	if squares != nil {
		squares := plane[Q](squares)
		t.both.Squares = &squares
	}
	switch {
	case count != nil:
		count := plane[uint32](count)
		valid, err := boxsum.ValidTableOf(sum, t.both.Squares, &count)
		if err != nil {
			return nil, err
		}
		t.statistics, t.valid = valid, valid
	case squares != nil:
		both, err := boxsum.SquaredTableOf(sum, t.both.Squares)
		if err != nil {
			return nil, err
		}
		t.statistics = both
	default:
		t.both.Sum, t.statistics = sum, &t.both
	}
	return &t.upright, nil
}

// plane returns the table of an image with its type.
func plane[S boxsum.Sum](t *engine.Table) boxsum.Table[S] {
	return boxsum.Table[S]{
		Sums: raster.Elems[S](t.Data), Stride: t.Stride, Width: t.Width, Height: t.Height, Channels: t.Channels,
		Offset: t.Offset, Bound: t.Known.Bound, Signed: t.Known.Signed,
	}
}

// A Volume is the table of a volume.
type Volume interface{ Table[volume.Box] }

// NewVolume returns the table of a volume. Squares may be nil. Both share the memory of
// the arguments.
func NewVolume(sums, squares *engine.Table) (Volume, error) {
	f, err := of(sums.Type)
	if err != nil {
		return nil, err
	}
	return f.volume(sums, squares)
}

func newVolume[S boxsum.Sum](sums, squares *engine.Table) (Volume, error) {
	if squares == nil || squares.Type == raster.U64 {
		return newVolumeSquares[S, uint64](sums, squares)
	}
	if squares.Type != raster.F64 {
		return nil, unsupported("squares", squares.Type)
	}
	return newVolumeSquares[S, float64](sums, squares)
}

func newVolumeSquares[S boxsum.Sum, Q boxsum.Square](sums, squares *engine.Table) (Volume, error) {
	sum := solid[S](sums)
	both := &volume.SquaredTable[S, Q]{Sum: sum}
	if squares != nil {
		var err error
		if both, err = volume.SquaredTableOf(sum, solid[Q](squares)); err != nil {
			return nil, err
		}
	}
	return &table[S, volume.Box]{both, sum, sum.Channels}, nil
}

// solid returns the table of a volume with its type.
func solid[S boxsum.Sum](t *engine.Table) *volume.Table[S] {
	return &volume.Table[S]{
		Sums: raster.Elems[S](t.Data), Stride: t.Stride, SliceStride: t.SliceStride,
		Width: t.Width, Height: t.Height, Depth: t.Depth, Channels: t.Channels,
		Offset: t.Offset, Bound: t.Known.Bound, Signed: t.Known.Signed,
	}
}
