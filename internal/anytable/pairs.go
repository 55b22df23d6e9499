// Code generated from anytable.tmpl. DO NOT EDIT.

package anytable

import (
	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/histogram"
	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/rotated"
	"github.com/boxsum/boxsum/tilted"
	"github.com/boxsum/boxsum/volume"
)

// Integrate makes a *boxsum.Table of a boxsum.Image.
func Integrate(dst, src any, opt *boxsum.Options) error {
	switch src := src.(type) {
	case boxsum.Image[uint8]:
		switch dst := dst.(type) {
		case *boxsum.Table[uint32]:
			return boxsum.IntegrateInto(dst, src, opt)
		case *boxsum.Table[uint64]:
			return boxsum.IntegrateInto(dst, src, opt)
		case *boxsum.Table[float32]:
			return boxsum.IntegrateInto(dst, src, opt)
		case *boxsum.Table[float64]:
			return boxsum.IntegrateInto(dst, src, opt)
		case *boxsum.Table[int64]:
			return boxsum.IntegrateInto(dst, src, opt)
		}
	case boxsum.Image[uint16]:
		switch dst := dst.(type) {
		case *boxsum.Table[uint64]:
			return boxsum.IntegrateInto(dst, src, opt)
		case *boxsum.Table[float64]:
			return boxsum.IntegrateInto(dst, src, opt)
		case *boxsum.Table[uint32]:
			return boxsum.IntegrateInto(dst, src, opt)
		}
	case boxsum.Image[uint32]:
		switch dst := dst.(type) {
		case *boxsum.Table[uint64]:
			return boxsum.IntegrateInto(dst, src, opt)
		case *boxsum.Table[uint32]:
			return boxsum.IntegrateInto(dst, src, opt)
		}
	case boxsum.Image[int16]:
		switch dst := dst.(type) {
		case *boxsum.Table[int64]:
			return boxsum.IntegrateInto(dst, src, opt)
		case *boxsum.Table[float64]:
			return boxsum.IntegrateInto(dst, src, opt)
		}
	case boxsum.Image[int32]:
		switch dst := dst.(type) {
		case *boxsum.Table[int64]:
			return boxsum.IntegrateInto(dst, src, opt)
		}
	case boxsum.Image[float32]:
		switch dst := dst.(type) {
		case *boxsum.Table[float64]:
			return boxsum.IntegrateInto(dst, src, opt)
		case *boxsum.Table[float32]:
			return boxsum.IntegrateInto(dst, src, opt)
		}
	case boxsum.Image[float64]:
		switch dst := dst.(type) {
		case *boxsum.Table[float64]:
			return boxsum.IntegrateInto(dst, src, opt)
		}
	}
	return noPair(dst, src)
}

// IntegrateSquares makes a *boxsum.SquaredTable of a boxsum.Image.
func IntegrateSquares(dst, src any, opt *boxsum.Options) error {
	switch src := src.(type) {
	case boxsum.Image[uint8]:
		switch dst := dst.(type) {
		case *boxsum.SquaredTable[uint32, uint64]:
			return boxsum.IntegrateSquaresInto(dst, src, opt)
		case *boxsum.SquaredTable[uint64, uint64]:
			return boxsum.IntegrateSquaresInto(dst, src, opt)
		case *boxsum.SquaredTable[float32, uint64]:
			return boxsum.IntegrateSquaresInto(dst, src, opt)
		case *boxsum.SquaredTable[float64, uint64]:
			return boxsum.IntegrateSquaresInto(dst, src, opt)
		case *boxsum.SquaredTable[int64, uint64]:
			return boxsum.IntegrateSquaresInto(dst, src, opt)
		}
	case boxsum.Image[uint16]:
		switch dst := dst.(type) {
		case *boxsum.SquaredTable[uint64, uint64]:
			return boxsum.IntegrateSquaresInto(dst, src, opt)
		case *boxsum.SquaredTable[float64, uint64]:
			return boxsum.IntegrateSquaresInto(dst, src, opt)
		case *boxsum.SquaredTable[uint32, uint64]:
			return boxsum.IntegrateSquaresInto(dst, src, opt)
		}
	case boxsum.Image[uint32]:
		switch dst := dst.(type) {
		case *boxsum.SquaredTable[uint64, uint64]:
			return boxsum.IntegrateSquaresInto(dst, src, opt)
		case *boxsum.SquaredTable[uint32, uint64]:
			return boxsum.IntegrateSquaresInto(dst, src, opt)
		}
	case boxsum.Image[int16]:
		switch dst := dst.(type) {
		case *boxsum.SquaredTable[int64, uint64]:
			return boxsum.IntegrateSquaresInto(dst, src, opt)
		case *boxsum.SquaredTable[float64, uint64]:
			return boxsum.IntegrateSquaresInto(dst, src, opt)
		}
	case boxsum.Image[int32]:
		switch dst := dst.(type) {
		case *boxsum.SquaredTable[int64, uint64]:
			return boxsum.IntegrateSquaresInto(dst, src, opt)
		}
	case boxsum.Image[float32]:
		switch dst := dst.(type) {
		case *boxsum.SquaredTable[float64, float64]:
			return boxsum.IntegrateSquaresInto(dst, src, opt)
		case *boxsum.SquaredTable[float32, float64]:
			return boxsum.IntegrateSquaresInto(dst, src, opt)
		}
	case boxsum.Image[float64]:
		switch dst := dst.(type) {
		case *boxsum.SquaredTable[float64, float64]:
			return boxsum.IntegrateSquaresInto(dst, src, opt)
		}
	}
	return noPair(dst, src)
}

// IntegrateValid makes a *boxsum.ValidTable of a boxsum.Image.
func IntegrateValid(dst, src any, valid boxsum.Valid, opt *boxsum.Options) error {
	switch src := src.(type) {
	case boxsum.Image[uint8]:
		switch dst := dst.(type) {
		case *boxsum.ValidTable[uint32, uint64]:
			return boxsum.IntegrateValidInto(dst, src, valid, opt)
		case *boxsum.ValidTable[uint64, uint64]:
			return boxsum.IntegrateValidInto(dst, src, valid, opt)
		case *boxsum.ValidTable[float32, uint64]:
			return boxsum.IntegrateValidInto(dst, src, valid, opt)
		case *boxsum.ValidTable[float64, uint64]:
			return boxsum.IntegrateValidInto(dst, src, valid, opt)
		case *boxsum.ValidTable[int64, uint64]:
			return boxsum.IntegrateValidInto(dst, src, valid, opt)
		}
	case boxsum.Image[uint16]:
		switch dst := dst.(type) {
		case *boxsum.ValidTable[uint64, uint64]:
			return boxsum.IntegrateValidInto(dst, src, valid, opt)
		case *boxsum.ValidTable[float64, uint64]:
			return boxsum.IntegrateValidInto(dst, src, valid, opt)
		case *boxsum.ValidTable[uint32, uint64]:
			return boxsum.IntegrateValidInto(dst, src, valid, opt)
		}
	case boxsum.Image[uint32]:
		switch dst := dst.(type) {
		case *boxsum.ValidTable[uint64, uint64]:
			return boxsum.IntegrateValidInto(dst, src, valid, opt)
		case *boxsum.ValidTable[uint32, uint64]:
			return boxsum.IntegrateValidInto(dst, src, valid, opt)
		}
	case boxsum.Image[int16]:
		switch dst := dst.(type) {
		case *boxsum.ValidTable[int64, uint64]:
			return boxsum.IntegrateValidInto(dst, src, valid, opt)
		case *boxsum.ValidTable[float64, uint64]:
			return boxsum.IntegrateValidInto(dst, src, valid, opt)
		}
	case boxsum.Image[int32]:
		switch dst := dst.(type) {
		case *boxsum.ValidTable[int64, uint64]:
			return boxsum.IntegrateValidInto(dst, src, valid, opt)
		}
	case boxsum.Image[float32]:
		switch dst := dst.(type) {
		case *boxsum.ValidTable[float64, float64]:
			return boxsum.IntegrateValidInto(dst, src, valid, opt)
		case *boxsum.ValidTable[float32, float64]:
			return boxsum.IntegrateValidInto(dst, src, valid, opt)
		}
	case boxsum.Image[float64]:
		switch dst := dst.(type) {
		case *boxsum.ValidTable[float64, float64]:
			return boxsum.IntegrateValidInto(dst, src, valid, opt)
		}
	}
	return noPair(dst, src)
}

// IntegrateTilted makes a *tilted.Table of a boxsum.Image.
func IntegrateTilted(dst, src any, opt *tilted.Options) error {
	switch src := src.(type) {
	case boxsum.Image[uint8]:
		switch dst := dst.(type) {
		case *tilted.Table[uint32]:
			return tilted.IntegrateInto(dst, src, opt)
		case *tilted.Table[uint64]:
			return tilted.IntegrateInto(dst, src, opt)
		case *tilted.Table[float32]:
			return tilted.IntegrateInto(dst, src, opt)
		case *tilted.Table[float64]:
			return tilted.IntegrateInto(dst, src, opt)
		case *tilted.Table[int64]:
			return tilted.IntegrateInto(dst, src, opt)
		}
	case boxsum.Image[uint16]:
		switch dst := dst.(type) {
		case *tilted.Table[uint64]:
			return tilted.IntegrateInto(dst, src, opt)
		case *tilted.Table[float64]:
			return tilted.IntegrateInto(dst, src, opt)
		case *tilted.Table[uint32]:
			return tilted.IntegrateInto(dst, src, opt)
		}
	case boxsum.Image[uint32]:
		switch dst := dst.(type) {
		case *tilted.Table[uint64]:
			return tilted.IntegrateInto(dst, src, opt)
		case *tilted.Table[uint32]:
			return tilted.IntegrateInto(dst, src, opt)
		}
	case boxsum.Image[int16]:
		switch dst := dst.(type) {
		case *tilted.Table[int64]:
			return tilted.IntegrateInto(dst, src, opt)
		case *tilted.Table[float64]:
			return tilted.IntegrateInto(dst, src, opt)
		}
	case boxsum.Image[int32]:
		switch dst := dst.(type) {
		case *tilted.Table[int64]:
			return tilted.IntegrateInto(dst, src, opt)
		}
	case boxsum.Image[float32]:
		switch dst := dst.(type) {
		case *tilted.Table[float64]:
			return tilted.IntegrateInto(dst, src, opt)
		case *tilted.Table[float32]:
			return tilted.IntegrateInto(dst, src, opt)
		}
	case boxsum.Image[float64]:
		switch dst := dst.(type) {
		case *tilted.Table[float64]:
			return tilted.IntegrateInto(dst, src, opt)
		}
	}
	return noPair(dst, src)
}

// IntegrateRotated makes a *rotated.Table of a boxsum.Image.
func IntegrateRotated(dst, src any, opt *rotated.Options) error {
	switch src := src.(type) {
	case boxsum.Image[uint8]:
		switch dst := dst.(type) {
		case *rotated.Table[uint32]:
			return rotated.IntegrateInto(dst, src, opt)
		case *rotated.Table[uint64]:
			return rotated.IntegrateInto(dst, src, opt)
		case *rotated.Table[float32]:
			return rotated.IntegrateInto(dst, src, opt)
		case *rotated.Table[float64]:
			return rotated.IntegrateInto(dst, src, opt)
		case *rotated.Table[int64]:
			return rotated.IntegrateInto(dst, src, opt)
		}
	case boxsum.Image[uint16]:
		switch dst := dst.(type) {
		case *rotated.Table[uint64]:
			return rotated.IntegrateInto(dst, src, opt)
		case *rotated.Table[float64]:
			return rotated.IntegrateInto(dst, src, opt)
		case *rotated.Table[uint32]:
			return rotated.IntegrateInto(dst, src, opt)
		}
	case boxsum.Image[uint32]:
		switch dst := dst.(type) {
		case *rotated.Table[uint64]:
			return rotated.IntegrateInto(dst, src, opt)
		case *rotated.Table[uint32]:
			return rotated.IntegrateInto(dst, src, opt)
		}
	case boxsum.Image[int16]:
		switch dst := dst.(type) {
		case *rotated.Table[int64]:
			return rotated.IntegrateInto(dst, src, opt)
		case *rotated.Table[float64]:
			return rotated.IntegrateInto(dst, src, opt)
		}
	case boxsum.Image[int32]:
		switch dst := dst.(type) {
		case *rotated.Table[int64]:
			return rotated.IntegrateInto(dst, src, opt)
		}
	case boxsum.Image[float32]:
		switch dst := dst.(type) {
		case *rotated.Table[float64]:
			return rotated.IntegrateInto(dst, src, opt)
		case *rotated.Table[float32]:
			return rotated.IntegrateInto(dst, src, opt)
		}
	case boxsum.Image[float64]:
		switch dst := dst.(type) {
		case *rotated.Table[float64]:
			return rotated.IntegrateInto(dst, src, opt)
		}
	}
	return noPair(dst, src)
}

// IntegrateVolume makes a *volume.Table of a volume.Volume.
func IntegrateVolume(dst, src any, opt *volume.Options) error {
	switch src := src.(type) {
	case volume.Volume[uint8]:
		switch dst := dst.(type) {
		case *volume.Table[uint32]:
			return volume.IntegrateInto(dst, src, opt)
		case *volume.Table[uint64]:
			return volume.IntegrateInto(dst, src, opt)
		case *volume.Table[float32]:
			return volume.IntegrateInto(dst, src, opt)
		case *volume.Table[float64]:
			return volume.IntegrateInto(dst, src, opt)
		case *volume.Table[int64]:
			return volume.IntegrateInto(dst, src, opt)
		}
	case volume.Volume[uint16]:
		switch dst := dst.(type) {
		case *volume.Table[uint64]:
			return volume.IntegrateInto(dst, src, opt)
		case *volume.Table[float64]:
			return volume.IntegrateInto(dst, src, opt)
		case *volume.Table[uint32]:
			return volume.IntegrateInto(dst, src, opt)
		}
	case volume.Volume[uint32]:
		switch dst := dst.(type) {
		case *volume.Table[uint64]:
			return volume.IntegrateInto(dst, src, opt)
		case *volume.Table[uint32]:
			return volume.IntegrateInto(dst, src, opt)
		}
	case volume.Volume[int16]:
		switch dst := dst.(type) {
		case *volume.Table[int64]:
			return volume.IntegrateInto(dst, src, opt)
		case *volume.Table[float64]:
			return volume.IntegrateInto(dst, src, opt)
		}
	case volume.Volume[int32]:
		switch dst := dst.(type) {
		case *volume.Table[int64]:
			return volume.IntegrateInto(dst, src, opt)
		}
	case volume.Volume[float32]:
		switch dst := dst.(type) {
		case *volume.Table[float64]:
			return volume.IntegrateInto(dst, src, opt)
		case *volume.Table[float32]:
			return volume.IntegrateInto(dst, src, opt)
		}
	case volume.Volume[float64]:
		switch dst := dst.(type) {
		case *volume.Table[float64]:
			return volume.IntegrateInto(dst, src, opt)
		}
	}
	return noPair(dst, src)
}

// IntegrateVolumeSquares makes a *volume.SquaredTable of a volume.Volume.
func IntegrateVolumeSquares(dst, src any, opt *volume.Options) error {
	switch src := src.(type) {
	case volume.Volume[uint8]:
		switch dst := dst.(type) {
		case *volume.SquaredTable[uint32, uint64]:
			return volume.IntegrateSquaresInto(dst, src, opt)
		case *volume.SquaredTable[uint64, uint64]:
			return volume.IntegrateSquaresInto(dst, src, opt)
		case *volume.SquaredTable[float32, uint64]:
			return volume.IntegrateSquaresInto(dst, src, opt)
		case *volume.SquaredTable[float64, uint64]:
			return volume.IntegrateSquaresInto(dst, src, opt)
		case *volume.SquaredTable[int64, uint64]:
			return volume.IntegrateSquaresInto(dst, src, opt)
		}
	case volume.Volume[uint16]:
		switch dst := dst.(type) {
		case *volume.SquaredTable[uint64, uint64]:
			return volume.IntegrateSquaresInto(dst, src, opt)
		case *volume.SquaredTable[float64, uint64]:
			return volume.IntegrateSquaresInto(dst, src, opt)
		case *volume.SquaredTable[uint32, uint64]:
			return volume.IntegrateSquaresInto(dst, src, opt)
		}
	case volume.Volume[uint32]:
		switch dst := dst.(type) {
		case *volume.SquaredTable[uint64, uint64]:
			return volume.IntegrateSquaresInto(dst, src, opt)
		case *volume.SquaredTable[uint32, uint64]:
			return volume.IntegrateSquaresInto(dst, src, opt)
		}
	case volume.Volume[int16]:
		switch dst := dst.(type) {
		case *volume.SquaredTable[int64, uint64]:
			return volume.IntegrateSquaresInto(dst, src, opt)
		case *volume.SquaredTable[float64, uint64]:
			return volume.IntegrateSquaresInto(dst, src, opt)
		}
	case volume.Volume[int32]:
		switch dst := dst.(type) {
		case *volume.SquaredTable[int64, uint64]:
			return volume.IntegrateSquaresInto(dst, src, opt)
		}
	case volume.Volume[float32]:
		switch dst := dst.(type) {
		case *volume.SquaredTable[float64, float64]:
			return volume.IntegrateSquaresInto(dst, src, opt)
		case *volume.SquaredTable[float32, float64]:
			return volume.IntegrateSquaresInto(dst, src, opt)
		}
	case volume.Volume[float64]:
		switch dst := dst.(type) {
		case *volume.SquaredTable[float64, float64]:
			return volume.IntegrateSquaresInto(dst, src, opt)
		}
	}
	return noPair(dst, src)
}

// NewTable allocates a *boxsum.Table.
func NewTable(sum raster.Type, width, height, channels int) (any, error) {
	switch sum {
	case raster.U32:
		return boxsum.NewTable[uint32](width, height, channels)
	case raster.U64:
		return boxsum.NewTable[uint64](width, height, channels)
	case raster.I64:
		return boxsum.NewTable[int64](width, height, channels)
	case raster.F32:
		return boxsum.NewTable[float32](width, height, channels)
	case raster.F64:
		return boxsum.NewTable[float64](width, height, channels)
	}
	return nil, noPair(sum, 0)
}

// NewTilted allocates a *tilted.Table.
func NewTilted(sum raster.Type, width, height, channels int) (any, error) {
	switch sum {
	case raster.U32:
		return tilted.NewTable[uint32](width, height, channels)
	case raster.U64:
		return tilted.NewTable[uint64](width, height, channels)
	case raster.I64:
		return tilted.NewTable[int64](width, height, channels)
	case raster.F32:
		return tilted.NewTable[float32](width, height, channels)
	case raster.F64:
		return tilted.NewTable[float64](width, height, channels)
	}
	return nil, noPair(sum, 0)
}

// NewVolume allocates a *volume.Table.
func NewVolume(sum raster.Type, width, height, depth, channels int) (any, error) {
	switch sum {
	case raster.U32:
		return volume.NewTable[uint32](width, height, depth, channels)
	case raster.U64:
		return volume.NewTable[uint64](width, height, depth, channels)
	case raster.I64:
		return volume.NewTable[int64](width, height, depth, channels)
	case raster.F32:
		return volume.NewTable[float32](width, height, depth, channels)
	case raster.F64:
		return volume.NewTable[float64](width, height, depth, channels)
	}
	return nil, noPair(sum, 0)
}

// NewRotated allocates a *rotated.Table.
func NewRotated(sum raster.Type, width, height, channels int, rot rotated.Rotation) (any, error) {
	switch sum {
	case raster.U32:
		return rotated.NewTable[uint32](width, height, channels, rot)
	case raster.U64:
		return rotated.NewTable[uint64](width, height, channels, rot)
	case raster.I64:
		return rotated.NewTable[int64](width, height, channels, rot)
	case raster.F32:
		return rotated.NewTable[float32](width, height, channels, rot)
	case raster.F64:
		return rotated.NewTable[float64](width, height, channels, rot)
	}
	return nil, noPair(sum, 0)
}

// Volume is a [boxsum.Image] of all slices, one under another, as a [volume.Volume].
func Volume(img any, height, depth int) any {
	switch img := img.(type) {
	case boxsum.Image[uint8]:
		return volumeOf(img, height, depth)
	case boxsum.Image[uint16]:
		return volumeOf(img, height, depth)
	case boxsum.Image[uint32]:
		return volumeOf(img, height, depth)
	case boxsum.Image[int16]:
		return volumeOf(img, height, depth)
	case boxsum.Image[int32]:
		return volumeOf(img, height, depth)
	case boxsum.Image[float32]:
		return volumeOf(img, height, depth)
	case boxsum.Image[float64]:
		return volumeOf(img, height, depth)
	}
	return nil
}

// IntegrateHistogram counts the pixels of a [boxsum.Image].
func IntegrateHistogram(dst *histogram.Table[uint32], src any, opt *histogram.Options) error {
	switch src := src.(type) {
	case boxsum.Image[uint8]:
		return histogram.IntegrateInto(dst, src, opt)
	case boxsum.Image[uint16]:
		return histogram.IntegrateInto(dst, src, opt)
	case boxsum.Image[uint32]:
		return histogram.IntegrateInto(dst, src, opt)
	case boxsum.Image[int16]:
		return histogram.IntegrateInto(dst, src, opt)
	case boxsum.Image[int32]:
		return histogram.IntegrateInto(dst, src, opt)
	case boxsum.Image[float32]:
		return histogram.IntegrateInto(dst, src, opt)
	case boxsum.Image[float64]:
		return histogram.IntegrateInto(dst, src, opt)
	}
	return noPair(dst, src)
}

// IntegrateWeights adds up weights, an image, in a *histogram.Table of sums of 64 bits.
func IntegrateWeights(dst, src, weights any, opt *histogram.Options) error {
	switch src := src.(type) {
	case boxsum.Image[uint8]:
		switch weights := weights.(type) {
		case boxsum.Image[uint8]:
			if dst, ok := dst.(*histogram.Table[uint64]); ok {
				return histogram.IntegrateWeightedInto(dst, src, weights, opt)
			}
		case boxsum.Image[uint16]:
			if dst, ok := dst.(*histogram.Table[uint64]); ok {
				return histogram.IntegrateWeightedInto(dst, src, weights, opt)
			}
		case boxsum.Image[uint32]:
			if dst, ok := dst.(*histogram.Table[uint64]); ok {
				return histogram.IntegrateWeightedInto(dst, src, weights, opt)
			}
		case boxsum.Image[int16]:
			if dst, ok := dst.(*histogram.Table[int64]); ok {
				return histogram.IntegrateWeightedInto(dst, src, weights, opt)
			}
		case boxsum.Image[int32]:
			if dst, ok := dst.(*histogram.Table[int64]); ok {
				return histogram.IntegrateWeightedInto(dst, src, weights, opt)
			}
		case boxsum.Image[float32]:
			if dst, ok := dst.(*histogram.Table[float64]); ok {
				return histogram.IntegrateWeightedInto(dst, src, weights, opt)
			}
		case boxsum.Image[float64]:
			if dst, ok := dst.(*histogram.Table[float64]); ok {
				return histogram.IntegrateWeightedInto(dst, src, weights, opt)
			}
		}
	case boxsum.Image[uint16]:
		switch weights := weights.(type) {
		case boxsum.Image[uint8]:
			if dst, ok := dst.(*histogram.Table[uint64]); ok {
				return histogram.IntegrateWeightedInto(dst, src, weights, opt)
			}
		case boxsum.Image[uint16]:
			if dst, ok := dst.(*histogram.Table[uint64]); ok {
				return histogram.IntegrateWeightedInto(dst, src, weights, opt)
			}
		case boxsum.Image[uint32]:
			if dst, ok := dst.(*histogram.Table[uint64]); ok {
				return histogram.IntegrateWeightedInto(dst, src, weights, opt)
			}
		case boxsum.Image[int16]:
			if dst, ok := dst.(*histogram.Table[int64]); ok {
				return histogram.IntegrateWeightedInto(dst, src, weights, opt)
			}
		case boxsum.Image[int32]:
			if dst, ok := dst.(*histogram.Table[int64]); ok {
				return histogram.IntegrateWeightedInto(dst, src, weights, opt)
			}
		case boxsum.Image[float32]:
			if dst, ok := dst.(*histogram.Table[float64]); ok {
				return histogram.IntegrateWeightedInto(dst, src, weights, opt)
			}
		case boxsum.Image[float64]:
			if dst, ok := dst.(*histogram.Table[float64]); ok {
				return histogram.IntegrateWeightedInto(dst, src, weights, opt)
			}
		}
	case boxsum.Image[uint32]:
		switch weights := weights.(type) {
		case boxsum.Image[uint8]:
			if dst, ok := dst.(*histogram.Table[uint64]); ok {
				return histogram.IntegrateWeightedInto(dst, src, weights, opt)
			}
		case boxsum.Image[uint16]:
			if dst, ok := dst.(*histogram.Table[uint64]); ok {
				return histogram.IntegrateWeightedInto(dst, src, weights, opt)
			}
		case boxsum.Image[uint32]:
			if dst, ok := dst.(*histogram.Table[uint64]); ok {
				return histogram.IntegrateWeightedInto(dst, src, weights, opt)
			}
		case boxsum.Image[int16]:
			if dst, ok := dst.(*histogram.Table[int64]); ok {
				return histogram.IntegrateWeightedInto(dst, src, weights, opt)
			}
		case boxsum.Image[int32]:
			if dst, ok := dst.(*histogram.Table[int64]); ok {
				return histogram.IntegrateWeightedInto(dst, src, weights, opt)
			}
		case boxsum.Image[float32]:
			if dst, ok := dst.(*histogram.Table[float64]); ok {
				return histogram.IntegrateWeightedInto(dst, src, weights, opt)
			}
		case boxsum.Image[float64]:
			if dst, ok := dst.(*histogram.Table[float64]); ok {
				return histogram.IntegrateWeightedInto(dst, src, weights, opt)
			}
		}
	case boxsum.Image[int16]:
		switch weights := weights.(type) {
		case boxsum.Image[uint8]:
			if dst, ok := dst.(*histogram.Table[uint64]); ok {
				return histogram.IntegrateWeightedInto(dst, src, weights, opt)
			}
		case boxsum.Image[uint16]:
			if dst, ok := dst.(*histogram.Table[uint64]); ok {
				return histogram.IntegrateWeightedInto(dst, src, weights, opt)
			}
		case boxsum.Image[uint32]:
			if dst, ok := dst.(*histogram.Table[uint64]); ok {
				return histogram.IntegrateWeightedInto(dst, src, weights, opt)
			}
		case boxsum.Image[int16]:
			if dst, ok := dst.(*histogram.Table[int64]); ok {
				return histogram.IntegrateWeightedInto(dst, src, weights, opt)
			}
		case boxsum.Image[int32]:
			if dst, ok := dst.(*histogram.Table[int64]); ok {
				return histogram.IntegrateWeightedInto(dst, src, weights, opt)
			}
		case boxsum.Image[float32]:
			if dst, ok := dst.(*histogram.Table[float64]); ok {
				return histogram.IntegrateWeightedInto(dst, src, weights, opt)
			}
		case boxsum.Image[float64]:
			if dst, ok := dst.(*histogram.Table[float64]); ok {
				return histogram.IntegrateWeightedInto(dst, src, weights, opt)
			}
		}
	case boxsum.Image[int32]:
		switch weights := weights.(type) {
		case boxsum.Image[uint8]:
			if dst, ok := dst.(*histogram.Table[uint64]); ok {
				return histogram.IntegrateWeightedInto(dst, src, weights, opt)
			}
		case boxsum.Image[uint16]:
			if dst, ok := dst.(*histogram.Table[uint64]); ok {
				return histogram.IntegrateWeightedInto(dst, src, weights, opt)
			}
		case boxsum.Image[uint32]:
			if dst, ok := dst.(*histogram.Table[uint64]); ok {
				return histogram.IntegrateWeightedInto(dst, src, weights, opt)
			}
		case boxsum.Image[int16]:
			if dst, ok := dst.(*histogram.Table[int64]); ok {
				return histogram.IntegrateWeightedInto(dst, src, weights, opt)
			}
		case boxsum.Image[int32]:
			if dst, ok := dst.(*histogram.Table[int64]); ok {
				return histogram.IntegrateWeightedInto(dst, src, weights, opt)
			}
		case boxsum.Image[float32]:
			if dst, ok := dst.(*histogram.Table[float64]); ok {
				return histogram.IntegrateWeightedInto(dst, src, weights, opt)
			}
		case boxsum.Image[float64]:
			if dst, ok := dst.(*histogram.Table[float64]); ok {
				return histogram.IntegrateWeightedInto(dst, src, weights, opt)
			}
		}
	case boxsum.Image[float32]:
		switch weights := weights.(type) {
		case boxsum.Image[uint8]:
			if dst, ok := dst.(*histogram.Table[uint64]); ok {
				return histogram.IntegrateWeightedInto(dst, src, weights, opt)
			}
		case boxsum.Image[uint16]:
			if dst, ok := dst.(*histogram.Table[uint64]); ok {
				return histogram.IntegrateWeightedInto(dst, src, weights, opt)
			}
		case boxsum.Image[uint32]:
			if dst, ok := dst.(*histogram.Table[uint64]); ok {
				return histogram.IntegrateWeightedInto(dst, src, weights, opt)
			}
		case boxsum.Image[int16]:
			if dst, ok := dst.(*histogram.Table[int64]); ok {
				return histogram.IntegrateWeightedInto(dst, src, weights, opt)
			}
		case boxsum.Image[int32]:
			if dst, ok := dst.(*histogram.Table[int64]); ok {
				return histogram.IntegrateWeightedInto(dst, src, weights, opt)
			}
		case boxsum.Image[float32]:
			if dst, ok := dst.(*histogram.Table[float64]); ok {
				return histogram.IntegrateWeightedInto(dst, src, weights, opt)
			}
		case boxsum.Image[float64]:
			if dst, ok := dst.(*histogram.Table[float64]); ok {
				return histogram.IntegrateWeightedInto(dst, src, weights, opt)
			}
		}
	case boxsum.Image[float64]:
		switch weights := weights.(type) {
		case boxsum.Image[uint8]:
			if dst, ok := dst.(*histogram.Table[uint64]); ok {
				return histogram.IntegrateWeightedInto(dst, src, weights, opt)
			}
		case boxsum.Image[uint16]:
			if dst, ok := dst.(*histogram.Table[uint64]); ok {
				return histogram.IntegrateWeightedInto(dst, src, weights, opt)
			}
		case boxsum.Image[uint32]:
			if dst, ok := dst.(*histogram.Table[uint64]); ok {
				return histogram.IntegrateWeightedInto(dst, src, weights, opt)
			}
		case boxsum.Image[int16]:
			if dst, ok := dst.(*histogram.Table[int64]); ok {
				return histogram.IntegrateWeightedInto(dst, src, weights, opt)
			}
		case boxsum.Image[int32]:
			if dst, ok := dst.(*histogram.Table[int64]); ok {
				return histogram.IntegrateWeightedInto(dst, src, weights, opt)
			}
		case boxsum.Image[float32]:
			if dst, ok := dst.(*histogram.Table[float64]); ok {
				return histogram.IntegrateWeightedInto(dst, src, weights, opt)
			}
		case boxsum.Image[float64]:
			if dst, ok := dst.(*histogram.Table[float64]); ok {
				return histogram.IntegrateWeightedInto(dst, src, weights, opt)
			}
		}
	}
	return noPair(dst, src)
}
