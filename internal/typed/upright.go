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
	// Features returns an evaluator of features on a channel; see [Features].
	Features(channel int, values raster.Type) (Features, error)
}

// NewUpright returns the table of an image. Squares may be nil, and so may count, which
// holds the number of valid pixels. All share the memory of the arguments.
func NewUpright(sums, squares, count *engine.Table) (Upright, error) {
	switch sums.Type {
	case raster.U32:
		return newUpright[uint32](sums, squares, count)
	case raster.U64:
		return newUpright[uint64](sums, squares, count)
	case raster.I64:
		return newUpright[int64](sums, squares, count)
	case raster.F32:
		return newUpright[float32](sums, squares, count)
	case raster.F64:
		return newUpright[float64](sums, squares, count)
	}
	return nil, unsupported("sums", sums.Type)
}

// upright implements [Upright] for one type of sums.
type upright[S boxsum.Sum] struct {
	table[S, image.Rectangle]
	of *boxsum.Table[S]
}

func (t *upright[S]) Area(box image.Rectangle, channel int) int { return t.of.Area(box, channel) }

func (t *upright[S]) Features(channel int, values raster.Type) (Features, error) {
	return uprightFeatures(t.of, channel, values)
}

func newUpright[S boxsum.Sum](sums, squares, count *engine.Table) (Upright, error) {
	t := plane[S](sums)
	statistics, err := uprightStatistics(t, squares, count)
	if err != nil {
		return nil, err
	}
	return &upright[S]{table[S, image.Rectangle]{statistics, t, t.Channels}, t}, nil
}

func uprightStatistics[S boxsum.Sum](t *boxsum.Table[S], squares, count *engine.Table) (Statistics[image.Rectangle], error) {
	switch {
	case squares == nil:
		return squaredUpright[S, uint64](t, nil, count)
	case squares.Type == raster.U64:
		return squaredUpright(t, plane[uint64](squares), count)
	case squares.Type == raster.F64:
		return squaredUpright(t, plane[float64](squares), count)
	}
	return nil, unsupported("squares", squares.Type)
}

func squaredUpright[S boxsum.Sum, Q boxsum.Square](t *boxsum.Table[S], squares *boxsum.Table[Q], count *engine.Table) (Statistics[image.Rectangle], error) {
	switch {
	case count != nil:
		return boxsum.ValidTableOf(t, squares, plane[uint32](count))
	case squares != nil:
		return boxsum.SquaredTableOf(t, squares)
	}
	return &boxsum.SquaredTable[S, Q]{Sum: t}, nil
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
	switch sums.Type {
	case raster.U32:
		return newVolume[uint32](sums, squares)
	case raster.U64:
		return newVolume[uint64](sums, squares)
	case raster.I64:
		return newVolume[int64](sums, squares)
	case raster.F32:
		return newVolume[float32](sums, squares)
	case raster.F64:
		return newVolume[float64](sums, squares)
	}
	return nil, unsupported("sums", sums.Type)
}

func newVolume[S boxsum.Sum](sums, squares *engine.Table) (Volume, error) {
	t := solid[S](sums)
	statistics, err := volumeStatistics(t, squares)
	if err != nil {
		return nil, err
	}
	return &table[S, volume.Box]{statistics, t, t.Channels}, nil
}

func volumeStatistics[S boxsum.Sum](t *volume.Table[S], squares *engine.Table) (Statistics[volume.Box], error) {
	switch {
	case squares == nil:
		return &volume.SquaredTable[S, uint64]{Sum: t}, nil
	case squares.Type == raster.U64:
		return volume.SquaredTableOf(t, solid[uint64](squares))
	case squares.Type == raster.F64:
		return volume.SquaredTableOf(t, solid[float64](squares))
	}
	return nil, unsupported("squares", squares.Type)
}

// solid returns the table of a volume with its type.
func solid[S boxsum.Sum](t *engine.Table) *volume.Table[S] {
	return &volume.Table[S]{
		Sums: raster.Elems[S](t.Data), Stride: t.Stride, SliceStride: t.SliceStride,
		Width: t.Width, Height: t.Height, Depth: t.Depth, Channels: t.Channels,
		Offset: t.Offset, Bound: t.Known.Bound, Signed: t.Known.Signed,
	}
}
