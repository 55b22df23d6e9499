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
	Features(channel int, values raster.Type) (*Features, error)
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

type upright struct {
	table[image.Rectangle]
	area     func(box image.Rectangle, channel int) int
	features func(channel int, values raster.Type) (*Features, error)
}

func (t *upright) Area(box image.Rectangle, channel int) int { return t.area(box, channel) }

func (t *upright) Features(channel int, values raster.Type) (*Features, error) {
	return t.features(channel, values)
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
	t := plane[S](sums)
	both := &boxsum.SquaredTable[S, Q]{Sum: t}
	if squares != nil {
		both.Squares = plane[Q](squares)
	}
	area := func(box image.Rectangle, _ int) int {
		box = box.Intersect(t.Bounds())
		return box.Dx() * box.Dy()
	}
	var squared statistics[image.Rectangle]
	if count != nil {
		valid, err := boxsum.ValidTableOf(t, both.Squares, plane[uint32](count))
		if err != nil {
			return nil, err
		}
		area = valid.Area
		squared = statistics[image.Rectangle]{valid.Mean, valid.StdDev, valid.MeanBoxes, valid.VarianceBoxes, valid.StdDevBoxes}
	} else {
		if squares != nil {
			var err error
			if both, err = boxsum.SquaredTableOf(t, both.Squares); err != nil {
				return nil, err
			}
		}
		squared = statistics[image.Rectangle]{both.Mean, both.StdDev, both.MeanBoxes, both.VarianceBoxes, both.StdDevBoxes}
	}
	return &upright{
		tableOf(t.Channels, t.SumChannel, t.SumBoxes, squared),
		area,
		func(channel int, values raster.Type) (*Features, error) { return uprightFeatures(t, channel, values) },
	}, nil
}

// plane returns the table of an image with its type.
func plane[S boxsum.Sum](t *engine.Table) *boxsum.Table[S] {
	return &boxsum.Table[S]{
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
	squared := statistics[volume.Box]{both.Mean, both.StdDev, both.MeanBoxes, both.VarianceBoxes, both.StdDevBoxes}
	t := tableOf(sum.Channels, sum.SumChannel, sum.SumBoxes, squared)
	return &t, nil
}

// solid returns the table of a volume with its type.
func solid[S boxsum.Sum](t *engine.Table) *volume.Table[S] {
	return &volume.Table[S]{
		Sums: raster.Elems[S](t.Data), Stride: t.Stride, SliceStride: t.SliceStride,
		Width: t.Width, Height: t.Height, Depth: t.Depth, Channels: t.Channels,
		Offset: t.Offset, Bound: t.Known.Bound, Signed: t.Known.Signed,
	}
}
