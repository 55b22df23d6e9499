package typed

import (
	"image"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/haar"
	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/internal/stats"
	"github.com/boxsum/boxsum/rotated"
)

// Features evaluates Haar-like features on one channel of a table, like a [haar.Plane].
// Its values are int64 or float64, as requested; int64 requires a table of integers.
type Features interface {
	Value(f haar.Feature, at image.Point) (stats.Sum, error)
	Corrected(f haar.Feature, at image.Point) (float64, error)
	Areas(f haar.Feature, at image.Point) (plus, minus int64, err error)
	// Values writes values to dst, the memory of numbers of their type.
	Values(dst []byte, set *haar.Set, at []image.Point, opt *haar.Options) error
	CorrectedValues(dst []float64, set *haar.Set, at []image.Point, opt *haar.Options) error
}

// Values returns the type of the values that are exact for a type of sums.
func Values(sum raster.Type) raster.Type {
	if sum.Float() {
		return raster.F64
	}
	return raster.I64
}

// features implements [Features] for one type of values. It does not embed the plane: that would
// compile a copy of each of its methods.
type features[V haar.Number, S boxsum.Sum] struct{ plane *haar.Plane[V, S] }

func featuresOf[V haar.Number, S boxsum.Sum](p *haar.Plane[V, S], err error) (Features, error) {
	if err != nil {
		return nil, err
	}
	return &features[V, S]{p}, nil
}

func (p *features[V, S]) Value(f haar.Feature, at image.Point) (stats.Sum, error) {
	value, err := p.plane.Value(f, at)
	return stats.SumOf(value), err
}

func (p *features[V, S]) Corrected(f haar.Feature, at image.Point) (float64, error) {
	return p.plane.Corrected(f, at)
}

func (p *features[V, S]) Areas(f haar.Feature, at image.Point) (plus, minus int64, err error) {
	return p.plane.Areas(f, at)
}

func (p *features[V, S]) Values(dst []byte, set *haar.Set, at []image.Point, opt *haar.Options) error {
	return p.plane.Values(raster.Elems[V](dst), set, at, opt)
}

func (p *features[V, S]) CorrectedValues(dst []float64, set *haar.Set, at []image.Point, opt *haar.Options) error {
	return p.plane.CorrectedValues(dst, set, at, opt)
}

func uprightFeatures[S boxsum.Sum](t *boxsum.Table[S], channel int, values raster.Type) (Features, error) {
	if values == raster.I64 {
		return featuresOf(haar.Upright[int64](t, channel))
	}
	return featuresOf(haar.Upright[float64](t, channel))
}

func rotatedFeatures[S boxsum.Sum](t *rotated.Table[S], channel int, values raster.Type) (Features, error) {
	if values == raster.I64 {
		return featuresOf(haar.Rotated[int64](t, channel))
	}
	return featuresOf(haar.Rotated[float64](t, channel))
}
