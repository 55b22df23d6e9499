package typed

import (
	"image"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/haar"
	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/rotated"
)

// Features evaluates Haar-like features on one channel of a table, like a [haar.Plane].
// Its values are int64 or float64, as requested; int64 requires a table of integers.
type Features struct {
	Value           func(f haar.Feature, at image.Point) (any, error)
	Corrected       func(f haar.Feature, at image.Point) (float64, error)
	Areas           func(f haar.Feature, at image.Point) (plus, minus int64, err error)
	Values          func(dst []byte, set *haar.Set, at []image.Point, opt *haar.Options) error
	CorrectedValues func(dst []float64, set *haar.Set, at []image.Point, opt *haar.Options) error
}

// Values returns the type of the values that are exact for a type of sums.
func Values(sum raster.Type) raster.Type {
	if sum.Float() {
		return raster.F64
	}
	return raster.I64
}

func featuresOf[V haar.Number, S boxsum.Sum](p *haar.Plane[V, S], err error) (*Features, error) {
	if err != nil {
		return nil, err
	}
	return &Features{
		Value:     func(f haar.Feature, at image.Point) (any, error) { return p.Value(f, at) },
		Corrected: p.Corrected,
		Areas:     p.Areas,
		Values: func(dst []byte, set *haar.Set, at []image.Point, opt *haar.Options) error {
			return p.Values(raster.Elems[V](dst), set, at, opt)
		},
		CorrectedValues: p.CorrectedValues,
	}, nil
}

func uprightFeatures[S boxsum.Sum](t *boxsum.Table[S], channel int, values raster.Type) (*Features, error) {
	if values == raster.I64 {
		return featuresOf(haar.Upright[int64](t, channel))
	}
	return featuresOf(haar.Upright[float64](t, channel))
}

func rotatedFeatures[S boxsum.Sum](t *rotated.Table[S], channel int, values raster.Type) (*Features, error) {
	if values == raster.I64 {
		return featuresOf(haar.Rotated[int64](t, channel))
	}
	return featuresOf(haar.Rotated[float64](t, channel))
}
