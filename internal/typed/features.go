package typed

import (
	"image"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/haar"
	"github.com/boxsum/boxsum/internal/raster"
)

// Features evaluates Haar-like features on one channel of a table, like a [haar.Plane].
// Its values are int64 or float64, as requested; int64 requires a table of integers.
type Features interface {
	Value(f haar.Feature, at image.Point) (any, error)
	Corrected(f haar.Feature, at image.Point) (float64, error)
	Areas(f haar.Feature, at image.Point) (plus, minus int64, err error)
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

type features[V haar.Number, S boxsum.Sum] struct{ *haar.Plane[V, S] }

func (p features[V, S]) Value(f haar.Feature, at image.Point) (any, error) {
	return p.Plane.Value(f, at)
}

func (p features[V, S]) Values(dst []byte, set *haar.Set, at []image.Point, opt *haar.Options) error {
	return p.Plane.Values(raster.Elems[V](dst), set, at, opt)
}

func (t *upright[S]) Features(channel int, values raster.Type) (Features, error) {
	if values == raster.I64 {
		p, err := haar.Upright[int64](&t.of, channel)
		return features[int64, S]{p}, err
	}
	p, err := haar.Upright[float64](&t.of, channel)
	return features[float64, S]{p}, err
}

func (t *turned[S]) Features(channel int, values raster.Type) (Features, error) {
	if values == raster.I64 {
		p, err := haar.Rotated[int64](t.of, channel)
		return features[int64, S]{p}, err
	}
	p, err := haar.Rotated[float64](t.of, channel)
	return features[float64, S]{p}, err
}
