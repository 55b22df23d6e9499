// Package features evaluates the features of package haar on tables whose types are known only at run
// time.
package features

import (
	"image"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/haar"
	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/rotated"
)

// An Evaluator is a [haar.Plane] with any type of sums.
type Evaluator[V haar.Number] interface {
	Value(f haar.Feature, at image.Point) (V, error)
	Corrected(f haar.Feature, at image.Point) (float64, error)
	Areas(f haar.Feature, at image.Point) (plus, minus int64, err error)
	Values(dst []V, set *haar.Set, at []image.Point, opt *haar.Options) error
	CorrectedValues(dst []float64, set *haar.Set, at []image.Point, opt *haar.Options) error
}

// A Plane is one channel of a table. Integers is nil if the sums are floats.
type Plane struct {
	Integers Evaluator[int64]
	Floats   Evaluator[float64]
}

// Upright returns the plane of a channel along the rows and columns of its image. The extent of the table
// is that of its image, and offset was subtracted from every pixel.
func Upright(table raster.Array, offset float32, channel int) (Plane, error) {
	if table.Type >= raster.NumTypes || uprights[table.Type] == nil {
		return Plane{}, raster.Unsupported("no table has sums of this type")
	}
	return uprights[table.Type](&table, offset, channel)
}

var uprights = [raster.NumTypes]func(table *raster.Array, offset float32, channel int) (Plane, error){
	raster.U32: upright[uint32],
	raster.U64: upright[uint64],
	raster.I64: upright[int64],
	raster.F32: upright[float32],
	raster.F64: upright[float64],
}

func upright[S boxsum.Sum](a *raster.Array, offset float32, channel int) (p Plane, err error) {
	t := &boxsum.Table[S]{Sums: raster.Elems[S](a.Data), Stride: a.Stride, Width: a.Width, Height: a.Height, Channels: a.Channels, Offset: offset}
	floats, err := haar.Upright[float64](t, channel)
	if err != nil {
		return p, err
	}
	if p.Floats = floats; !a.Type.Float() {
		p.Integers, err = haar.Upright[int64](t, channel)
	}
	return p, err
}

// Rotated returns the plane of a channel along the lines of a rotation.
func Rotated[S boxsum.Sum](t *rotated.Table[S], channel int) (p Plane, err error) {
	floats, err := haar.Rotated[float64](t, channel)
	if err != nil {
		return p, err
	}
	if p.Floats = floats; !raster.TypeOf[S]().Float() {
		p.Integers, err = haar.Rotated[int64](t, channel)
	}
	return p, err
}
