// Code generated from anytable.tmpl. DO NOT EDIT.

package anytable

import (
	"errors"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/gpu"
	"github.com/boxsum/boxsum/histogram"
	"github.com/boxsum/boxsum/internal/launch"
	"github.com/boxsum/boxsum/internal/pairs"
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

// IntegrateOn makes a *boxsum.Table of a boxsum.Image on a device.
func IntegrateOn(dst, src any, d *gpu.Device, opt *gpu.Options) error {
	if !launch.GPU {
		return errors.ErrUnsupported
	}
	switch src := src.(type) {
	case boxsum.Image[uint8]:
		switch dst := dst.(type) {
		case *boxsum.Table[uint32]:
			return gpu.IntegrateHostInto(d, dst, src, opt)
		case *boxsum.Table[uint64]:
			return gpu.IntegrateHostInto(d, dst, src, opt)
		case *boxsum.Table[float32]:
			return gpu.IntegrateHostInto(d, dst, src, opt)
		case *boxsum.Table[float64]:
			return gpu.IntegrateHostInto(d, dst, src, opt)
		case *boxsum.Table[int64]:
			return gpu.IntegrateHostInto(d, dst, src, opt)
		}
	case boxsum.Image[uint16]:
		switch dst := dst.(type) {
		case *boxsum.Table[uint64]:
			return gpu.IntegrateHostInto(d, dst, src, opt)
		case *boxsum.Table[float64]:
			return gpu.IntegrateHostInto(d, dst, src, opt)
		case *boxsum.Table[uint32]:
			return gpu.IntegrateHostInto(d, dst, src, opt)
		}
	case boxsum.Image[uint32]:
		switch dst := dst.(type) {
		case *boxsum.Table[uint64]:
			return gpu.IntegrateHostInto(d, dst, src, opt)
		case *boxsum.Table[uint32]:
			return gpu.IntegrateHostInto(d, dst, src, opt)
		}
	case boxsum.Image[int16]:
		switch dst := dst.(type) {
		case *boxsum.Table[int64]:
			return gpu.IntegrateHostInto(d, dst, src, opt)
		case *boxsum.Table[float64]:
			return gpu.IntegrateHostInto(d, dst, src, opt)
		}
	case boxsum.Image[int32]:
		switch dst := dst.(type) {
		case *boxsum.Table[int64]:
			return gpu.IntegrateHostInto(d, dst, src, opt)
		}
	case boxsum.Image[float32]:
		switch dst := dst.(type) {
		case *boxsum.Table[float64]:
			return gpu.IntegrateHostInto(d, dst, src, opt)
		case *boxsum.Table[float32]:
			return gpu.IntegrateHostInto(d, dst, src, opt)
		}
	case boxsum.Image[float64]:
		switch dst := dst.(type) {
		case *boxsum.Table[float64]:
			return gpu.IntegrateHostInto(d, dst, src, opt)
		}
	}
	return noPair(dst, src)
}

// IntegrateSquaresOn makes a *boxsum.SquaredTable of a boxsum.Image on a device.
func IntegrateSquaresOn(dst, src any, d *gpu.Device, opt *gpu.Options) error {
	if !launch.GPU {
		return errors.ErrUnsupported
	}
	switch src := src.(type) {
	case boxsum.Image[uint8]:
		switch dst := dst.(type) {
		case *boxsum.SquaredTable[uint32, uint64]:
			return gpu.IntegrateSquaresHostInto(d, dst, src, opt)
		case *boxsum.SquaredTable[uint64, uint64]:
			return gpu.IntegrateSquaresHostInto(d, dst, src, opt)
		case *boxsum.SquaredTable[float32, uint64]:
			return gpu.IntegrateSquaresHostInto(d, dst, src, opt)
		case *boxsum.SquaredTable[float64, uint64]:
			return gpu.IntegrateSquaresHostInto(d, dst, src, opt)
		case *boxsum.SquaredTable[int64, uint64]:
			return gpu.IntegrateSquaresHostInto(d, dst, src, opt)
		}
	case boxsum.Image[uint16]:
		switch dst := dst.(type) {
		case *boxsum.SquaredTable[uint64, uint64]:
			return gpu.IntegrateSquaresHostInto(d, dst, src, opt)
		case *boxsum.SquaredTable[float64, uint64]:
			return gpu.IntegrateSquaresHostInto(d, dst, src, opt)
		case *boxsum.SquaredTable[uint32, uint64]:
			return gpu.IntegrateSquaresHostInto(d, dst, src, opt)
		}
	case boxsum.Image[uint32]:
		switch dst := dst.(type) {
		case *boxsum.SquaredTable[uint64, uint64]:
			return gpu.IntegrateSquaresHostInto(d, dst, src, opt)
		case *boxsum.SquaredTable[uint32, uint64]:
			return gpu.IntegrateSquaresHostInto(d, dst, src, opt)
		}
	case boxsum.Image[int16]:
		switch dst := dst.(type) {
		case *boxsum.SquaredTable[int64, uint64]:
			return gpu.IntegrateSquaresHostInto(d, dst, src, opt)
		case *boxsum.SquaredTable[float64, uint64]:
			return gpu.IntegrateSquaresHostInto(d, dst, src, opt)
		}
	case boxsum.Image[int32]:
		switch dst := dst.(type) {
		case *boxsum.SquaredTable[int64, uint64]:
			return gpu.IntegrateSquaresHostInto(d, dst, src, opt)
		}
	case boxsum.Image[float32]:
		switch dst := dst.(type) {
		case *boxsum.SquaredTable[float64, float64]:
			return gpu.IntegrateSquaresHostInto(d, dst, src, opt)
		case *boxsum.SquaredTable[float32, float64]:
			return gpu.IntegrateSquaresHostInto(d, dst, src, opt)
		}
	case boxsum.Image[float64]:
		switch dst := dst.(type) {
		case *boxsum.SquaredTable[float64, float64]:
			return gpu.IntegrateSquaresHostInto(d, dst, src, opt)
		}
	}
	return noPair(dst, src)
}

// IntegrateTiltedOn makes a *tilted.Table of a boxsum.Image on a device.
func IntegrateTiltedOn(dst, src any, d *gpu.Device, opt *gpu.Options) error {
	if !launch.GPU {
		return errors.ErrUnsupported
	}
	switch src := src.(type) {
	case boxsum.Image[uint8]:
		switch dst := dst.(type) {
		case *tilted.Table[uint32]:
			return gpu.IntegrateTiltedHostInto(d, dst, src, opt)
		case *tilted.Table[uint64]:
			return gpu.IntegrateTiltedHostInto(d, dst, src, opt)
		case *tilted.Table[float32]:
			return gpu.IntegrateTiltedHostInto(d, dst, src, opt)
		case *tilted.Table[float64]:
			return gpu.IntegrateTiltedHostInto(d, dst, src, opt)
		case *tilted.Table[int64]:
			return gpu.IntegrateTiltedHostInto(d, dst, src, opt)
		}
	case boxsum.Image[uint16]:
		switch dst := dst.(type) {
		case *tilted.Table[uint64]:
			return gpu.IntegrateTiltedHostInto(d, dst, src, opt)
		case *tilted.Table[float64]:
			return gpu.IntegrateTiltedHostInto(d, dst, src, opt)
		case *tilted.Table[uint32]:
			return gpu.IntegrateTiltedHostInto(d, dst, src, opt)
		}
	case boxsum.Image[uint32]:
		switch dst := dst.(type) {
		case *tilted.Table[uint64]:
			return gpu.IntegrateTiltedHostInto(d, dst, src, opt)
		case *tilted.Table[uint32]:
			return gpu.IntegrateTiltedHostInto(d, dst, src, opt)
		}
	case boxsum.Image[int16]:
		switch dst := dst.(type) {
		case *tilted.Table[int64]:
			return gpu.IntegrateTiltedHostInto(d, dst, src, opt)
		case *tilted.Table[float64]:
			return gpu.IntegrateTiltedHostInto(d, dst, src, opt)
		}
	case boxsum.Image[int32]:
		switch dst := dst.(type) {
		case *tilted.Table[int64]:
			return gpu.IntegrateTiltedHostInto(d, dst, src, opt)
		}
	case boxsum.Image[float32]:
		switch dst := dst.(type) {
		case *tilted.Table[float64]:
			return gpu.IntegrateTiltedHostInto(d, dst, src, opt)
		case *tilted.Table[float32]:
			return gpu.IntegrateTiltedHostInto(d, dst, src, opt)
		}
	case boxsum.Image[float64]:
		switch dst := dst.(type) {
		case *tilted.Table[float64]:
			return gpu.IntegrateTiltedHostInto(d, dst, src, opt)
		}
	}
	return noPair(dst, src)
}

// IntegrateRotatedOn makes a *rotated.Table of a boxsum.Image on a device.
func IntegrateRotatedOn(dst, src any, d *gpu.Device, opt *gpu.Options) error {
	if !launch.GPU {
		return errors.ErrUnsupported
	}
	switch src := src.(type) {
	case boxsum.Image[uint8]:
		switch dst := dst.(type) {
		case *rotated.Table[uint32]:
			return gpu.IntegrateRotatedHostInto(d, dst, src, opt)
		case *rotated.Table[uint64]:
			return gpu.IntegrateRotatedHostInto(d, dst, src, opt)
		case *rotated.Table[float32]:
			return gpu.IntegrateRotatedHostInto(d, dst, src, opt)
		case *rotated.Table[float64]:
			return gpu.IntegrateRotatedHostInto(d, dst, src, opt)
		case *rotated.Table[int64]:
			return gpu.IntegrateRotatedHostInto(d, dst, src, opt)
		}
	case boxsum.Image[uint16]:
		switch dst := dst.(type) {
		case *rotated.Table[uint64]:
			return gpu.IntegrateRotatedHostInto(d, dst, src, opt)
		case *rotated.Table[float64]:
			return gpu.IntegrateRotatedHostInto(d, dst, src, opt)
		case *rotated.Table[uint32]:
			return gpu.IntegrateRotatedHostInto(d, dst, src, opt)
		}
	case boxsum.Image[uint32]:
		switch dst := dst.(type) {
		case *rotated.Table[uint64]:
			return gpu.IntegrateRotatedHostInto(d, dst, src, opt)
		case *rotated.Table[uint32]:
			return gpu.IntegrateRotatedHostInto(d, dst, src, opt)
		}
	case boxsum.Image[int16]:
		switch dst := dst.(type) {
		case *rotated.Table[int64]:
			return gpu.IntegrateRotatedHostInto(d, dst, src, opt)
		case *rotated.Table[float64]:
			return gpu.IntegrateRotatedHostInto(d, dst, src, opt)
		}
	case boxsum.Image[int32]:
		switch dst := dst.(type) {
		case *rotated.Table[int64]:
			return gpu.IntegrateRotatedHostInto(d, dst, src, opt)
		}
	case boxsum.Image[float32]:
		switch dst := dst.(type) {
		case *rotated.Table[float64]:
			return gpu.IntegrateRotatedHostInto(d, dst, src, opt)
		case *rotated.Table[float32]:
			return gpu.IntegrateRotatedHostInto(d, dst, src, opt)
		}
	case boxsum.Image[float64]:
		switch dst := dst.(type) {
		case *rotated.Table[float64]:
			return gpu.IntegrateRotatedHostInto(d, dst, src, opt)
		}
	}
	return noPair(dst, src)
}

// IntegrateVolumeOn makes a *volume.Table of a volume.Volume on a device.
func IntegrateVolumeOn(dst, src any, d *gpu.Device, opt *gpu.Options) error {
	if !launch.GPU {
		return errors.ErrUnsupported
	}
	switch src := src.(type) {
	case volume.Volume[uint8]:
		switch dst := dst.(type) {
		case *volume.Table[uint32]:
			return gpu.IntegrateVolumeHostInto(d, dst, src, opt)
		case *volume.Table[uint64]:
			return gpu.IntegrateVolumeHostInto(d, dst, src, opt)
		case *volume.Table[float32]:
			return gpu.IntegrateVolumeHostInto(d, dst, src, opt)
		case *volume.Table[float64]:
			return gpu.IntegrateVolumeHostInto(d, dst, src, opt)
		case *volume.Table[int64]:
			return gpu.IntegrateVolumeHostInto(d, dst, src, opt)
		}
	case volume.Volume[uint16]:
		switch dst := dst.(type) {
		case *volume.Table[uint64]:
			return gpu.IntegrateVolumeHostInto(d, dst, src, opt)
		case *volume.Table[float64]:
			return gpu.IntegrateVolumeHostInto(d, dst, src, opt)
		case *volume.Table[uint32]:
			return gpu.IntegrateVolumeHostInto(d, dst, src, opt)
		}
	case volume.Volume[uint32]:
		switch dst := dst.(type) {
		case *volume.Table[uint64]:
			return gpu.IntegrateVolumeHostInto(d, dst, src, opt)
		case *volume.Table[uint32]:
			return gpu.IntegrateVolumeHostInto(d, dst, src, opt)
		}
	case volume.Volume[int16]:
		switch dst := dst.(type) {
		case *volume.Table[int64]:
			return gpu.IntegrateVolumeHostInto(d, dst, src, opt)
		case *volume.Table[float64]:
			return gpu.IntegrateVolumeHostInto(d, dst, src, opt)
		}
	case volume.Volume[int32]:
		switch dst := dst.(type) {
		case *volume.Table[int64]:
			return gpu.IntegrateVolumeHostInto(d, dst, src, opt)
		}
	case volume.Volume[float32]:
		switch dst := dst.(type) {
		case *volume.Table[float64]:
			return gpu.IntegrateVolumeHostInto(d, dst, src, opt)
		case *volume.Table[float32]:
			return gpu.IntegrateVolumeHostInto(d, dst, src, opt)
		}
	case volume.Volume[float64]:
		switch dst := dst.(type) {
		case *volume.Table[float64]:
			return gpu.IntegrateVolumeHostInto(d, dst, src, opt)
		}
	}
	return noPair(dst, src)
}

// IntegrateVolumeSquaresOn makes a *volume.SquaredTable of a volume.Volume on a device.
func IntegrateVolumeSquaresOn(dst, src any, d *gpu.Device, opt *gpu.Options) error {
	if !launch.GPU {
		return errors.ErrUnsupported
	}
	switch src := src.(type) {
	case volume.Volume[uint8]:
		switch dst := dst.(type) {
		case *volume.SquaredTable[uint32, uint64]:
			return gpu.IntegrateVolumeSquaresHostInto(d, dst, src, opt)
		case *volume.SquaredTable[uint64, uint64]:
			return gpu.IntegrateVolumeSquaresHostInto(d, dst, src, opt)
		case *volume.SquaredTable[float32, uint64]:
			return gpu.IntegrateVolumeSquaresHostInto(d, dst, src, opt)
		case *volume.SquaredTable[float64, uint64]:
			return gpu.IntegrateVolumeSquaresHostInto(d, dst, src, opt)
		case *volume.SquaredTable[int64, uint64]:
			return gpu.IntegrateVolumeSquaresHostInto(d, dst, src, opt)
		}
	case volume.Volume[uint16]:
		switch dst := dst.(type) {
		case *volume.SquaredTable[uint64, uint64]:
			return gpu.IntegrateVolumeSquaresHostInto(d, dst, src, opt)
		case *volume.SquaredTable[float64, uint64]:
			return gpu.IntegrateVolumeSquaresHostInto(d, dst, src, opt)
		case *volume.SquaredTable[uint32, uint64]:
			return gpu.IntegrateVolumeSquaresHostInto(d, dst, src, opt)
		}
	case volume.Volume[uint32]:
		switch dst := dst.(type) {
		case *volume.SquaredTable[uint64, uint64]:
			return gpu.IntegrateVolumeSquaresHostInto(d, dst, src, opt)
		case *volume.SquaredTable[uint32, uint64]:
			return gpu.IntegrateVolumeSquaresHostInto(d, dst, src, opt)
		}
	case volume.Volume[int16]:
		switch dst := dst.(type) {
		case *volume.SquaredTable[int64, uint64]:
			return gpu.IntegrateVolumeSquaresHostInto(d, dst, src, opt)
		case *volume.SquaredTable[float64, uint64]:
			return gpu.IntegrateVolumeSquaresHostInto(d, dst, src, opt)
		}
	case volume.Volume[int32]:
		switch dst := dst.(type) {
		case *volume.SquaredTable[int64, uint64]:
			return gpu.IntegrateVolumeSquaresHostInto(d, dst, src, opt)
		}
	case volume.Volume[float32]:
		switch dst := dst.(type) {
		case *volume.SquaredTable[float64, float64]:
			return gpu.IntegrateVolumeSquaresHostInto(d, dst, src, opt)
		case *volume.SquaredTable[float32, float64]:
			return gpu.IntegrateVolumeSquaresHostInto(d, dst, src, opt)
		}
	case volume.Volume[float64]:
		switch dst := dst.(type) {
		case *volume.SquaredTable[float64, float64]:
			return gpu.IntegrateVolumeSquaresHostInto(d, dst, src, opt)
		}
	}
	return noPair(dst, src)
}

// NewStream is sums of an image, row by row: see [Push].
func NewStream(sum pairs.Type, src any, opt *boxsum.Options) (any, error) {
	switch src := src.(type) {
	case boxsum.Image[uint8]:
		switch sum {
		case pairs.U32:
			return boxsum.NewStream[uint32, uint8](src.Width, src.Channels, opt)
		case pairs.U64:
			return boxsum.NewStream[uint64, uint8](src.Width, src.Channels, opt)
		case pairs.F32:
			return boxsum.NewStream[float32, uint8](src.Width, src.Channels, opt)
		case pairs.F64:
			return boxsum.NewStream[float64, uint8](src.Width, src.Channels, opt)
		case pairs.I64:
			return boxsum.NewStream[int64, uint8](src.Width, src.Channels, opt)
		}
	case boxsum.Image[uint16]:
		switch sum {
		case pairs.U64:
			return boxsum.NewStream[uint64, uint16](src.Width, src.Channels, opt)
		case pairs.F64:
			return boxsum.NewStream[float64, uint16](src.Width, src.Channels, opt)
		case pairs.U32:
			return boxsum.NewStream[uint32, uint16](src.Width, src.Channels, opt)
		}
	case boxsum.Image[uint32]:
		switch sum {
		case pairs.U64:
			return boxsum.NewStream[uint64, uint32](src.Width, src.Channels, opt)
		case pairs.U32:
			return boxsum.NewStream[uint32, uint32](src.Width, src.Channels, opt)
		}
	case boxsum.Image[int16]:
		switch sum {
		case pairs.I64:
			return boxsum.NewStream[int64, int16](src.Width, src.Channels, opt)
		case pairs.F64:
			return boxsum.NewStream[float64, int16](src.Width, src.Channels, opt)
		}
	case boxsum.Image[int32]:
		switch sum {
		case pairs.I64:
			return boxsum.NewStream[int64, int32](src.Width, src.Channels, opt)
		}
	case boxsum.Image[float32]:
		switch sum {
		case pairs.F64:
			return boxsum.NewStream[float64, float32](src.Width, src.Channels, opt)
		case pairs.F32:
			return boxsum.NewStream[float32, float32](src.Width, src.Channels, opt)
		}
	case boxsum.Image[float64]:
		switch sum {
		case pairs.F64:
			return boxsum.NewStream[float64, float64](src.Width, src.Channels, opt)
		}
	}
	return nil, noPair(sum, src)
}

// NewSquaredStream is sums and squares of an image, row by row: see [Push].
func NewSquaredStream(sum pairs.Type, src any, opt *boxsum.Options) (any, error) {
	switch src := src.(type) {
	case boxsum.Image[uint8]:
		switch sum {
		case pairs.U32:
			return boxsum.NewSquaredStream[uint32, uint64, uint8](src.Width, src.Channels, opt)
		case pairs.U64:
			return boxsum.NewSquaredStream[uint64, uint64, uint8](src.Width, src.Channels, opt)
		case pairs.F32:
			return boxsum.NewSquaredStream[float32, uint64, uint8](src.Width, src.Channels, opt)
		case pairs.F64:
			return boxsum.NewSquaredStream[float64, uint64, uint8](src.Width, src.Channels, opt)
		case pairs.I64:
			return boxsum.NewSquaredStream[int64, uint64, uint8](src.Width, src.Channels, opt)
		}
	case boxsum.Image[uint16]:
		switch sum {
		case pairs.U64:
			return boxsum.NewSquaredStream[uint64, uint64, uint16](src.Width, src.Channels, opt)
		case pairs.F64:
			return boxsum.NewSquaredStream[float64, uint64, uint16](src.Width, src.Channels, opt)
		case pairs.U32:
			return boxsum.NewSquaredStream[uint32, uint64, uint16](src.Width, src.Channels, opt)
		}
	case boxsum.Image[uint32]:
		switch sum {
		case pairs.U64:
			return boxsum.NewSquaredStream[uint64, uint64, uint32](src.Width, src.Channels, opt)
		case pairs.U32:
			return boxsum.NewSquaredStream[uint32, uint64, uint32](src.Width, src.Channels, opt)
		}
	case boxsum.Image[int16]:
		switch sum {
		case pairs.I64:
			return boxsum.NewSquaredStream[int64, uint64, int16](src.Width, src.Channels, opt)
		case pairs.F64:
			return boxsum.NewSquaredStream[float64, uint64, int16](src.Width, src.Channels, opt)
		}
	case boxsum.Image[int32]:
		switch sum {
		case pairs.I64:
			return boxsum.NewSquaredStream[int64, uint64, int32](src.Width, src.Channels, opt)
		}
	case boxsum.Image[float32]:
		switch sum {
		case pairs.F64:
			return boxsum.NewSquaredStream[float64, float64, float32](src.Width, src.Channels, opt)
		case pairs.F32:
			return boxsum.NewSquaredStream[float32, float64, float32](src.Width, src.Channels, opt)
		}
	case boxsum.Image[float64]:
		switch sum {
		case pairs.F64:
			return boxsum.NewSquaredStream[float64, float64, float64](src.Width, src.Channels, opt)
		}
	}
	return nil, noPair(sum, src)
}

// NewTiltedStream is sums at 45° of an image, row by row: see [Push].
func NewTiltedStream(sum pairs.Type, src any, opt *tilted.Options) (any, error) {
	switch src := src.(type) {
	case boxsum.Image[uint8]:
		switch sum {
		case pairs.U32:
			return tilted.NewStream[uint32, uint8](src.Width, src.Channels, opt)
		case pairs.U64:
			return tilted.NewStream[uint64, uint8](src.Width, src.Channels, opt)
		case pairs.F32:
			return tilted.NewStream[float32, uint8](src.Width, src.Channels, opt)
		case pairs.F64:
			return tilted.NewStream[float64, uint8](src.Width, src.Channels, opt)
		case pairs.I64:
			return tilted.NewStream[int64, uint8](src.Width, src.Channels, opt)
		}
	case boxsum.Image[uint16]:
		switch sum {
		case pairs.U64:
			return tilted.NewStream[uint64, uint16](src.Width, src.Channels, opt)
		case pairs.F64:
			return tilted.NewStream[float64, uint16](src.Width, src.Channels, opt)
		case pairs.U32:
			return tilted.NewStream[uint32, uint16](src.Width, src.Channels, opt)
		}
	case boxsum.Image[uint32]:
		switch sum {
		case pairs.U64:
			return tilted.NewStream[uint64, uint32](src.Width, src.Channels, opt)
		case pairs.U32:
			return tilted.NewStream[uint32, uint32](src.Width, src.Channels, opt)
		}
	case boxsum.Image[int16]:
		switch sum {
		case pairs.I64:
			return tilted.NewStream[int64, int16](src.Width, src.Channels, opt)
		case pairs.F64:
			return tilted.NewStream[float64, int16](src.Width, src.Channels, opt)
		}
	case boxsum.Image[int32]:
		switch sum {
		case pairs.I64:
			return tilted.NewStream[int64, int32](src.Width, src.Channels, opt)
		}
	case boxsum.Image[float32]:
		switch sum {
		case pairs.F64:
			return tilted.NewStream[float64, float32](src.Width, src.Channels, opt)
		case pairs.F32:
			return tilted.NewStream[float32, float32](src.Width, src.Channels, opt)
		}
	case boxsum.Image[float64]:
		switch sum {
		case pairs.F64:
			return tilted.NewStream[float64, float64](src.Width, src.Channels, opt)
		}
	}
	return nil, noPair(sum, src)
}

// NewVolumeStream is sums of a volume, slice by slice, which are like an image: see [PushSlice].
func NewVolumeStream(sum pairs.Type, src any, opt *volume.Options) (any, error) {
	switch src := src.(type) {
	case boxsum.Image[uint8]:
		switch sum {
		case pairs.U32:
			return volume.NewStream[uint32, uint8](src.Width, src.Height, src.Channels, opt)
		case pairs.U64:
			return volume.NewStream[uint64, uint8](src.Width, src.Height, src.Channels, opt)
		case pairs.F32:
			return volume.NewStream[float32, uint8](src.Width, src.Height, src.Channels, opt)
		case pairs.F64:
			return volume.NewStream[float64, uint8](src.Width, src.Height, src.Channels, opt)
		case pairs.I64:
			return volume.NewStream[int64, uint8](src.Width, src.Height, src.Channels, opt)
		}
	case boxsum.Image[uint16]:
		switch sum {
		case pairs.U64:
			return volume.NewStream[uint64, uint16](src.Width, src.Height, src.Channels, opt)
		case pairs.F64:
			return volume.NewStream[float64, uint16](src.Width, src.Height, src.Channels, opt)
		case pairs.U32:
			return volume.NewStream[uint32, uint16](src.Width, src.Height, src.Channels, opt)
		}
	case boxsum.Image[uint32]:
		switch sum {
		case pairs.U64:
			return volume.NewStream[uint64, uint32](src.Width, src.Height, src.Channels, opt)
		case pairs.U32:
			return volume.NewStream[uint32, uint32](src.Width, src.Height, src.Channels, opt)
		}
	case boxsum.Image[int16]:
		switch sum {
		case pairs.I64:
			return volume.NewStream[int64, int16](src.Width, src.Height, src.Channels, opt)
		case pairs.F64:
			return volume.NewStream[float64, int16](src.Width, src.Height, src.Channels, opt)
		}
	case boxsum.Image[int32]:
		switch sum {
		case pairs.I64:
			return volume.NewStream[int64, int32](src.Width, src.Height, src.Channels, opt)
		}
	case boxsum.Image[float32]:
		switch sum {
		case pairs.F64:
			return volume.NewStream[float64, float32](src.Width, src.Height, src.Channels, opt)
		case pairs.F32:
			return volume.NewStream[float32, float32](src.Width, src.Height, src.Channels, opt)
		}
	case boxsum.Image[float64]:
		switch sum {
		case pairs.F64:
			return volume.NewStream[float64, float64](src.Width, src.Height, src.Channels, opt)
		}
	}
	return nil, noPair(sum, src)
}

// NewSquaredVolumeStream is sums and squares of a volume, slice by slice, which are like an image: see [PushSlice].
func NewSquaredVolumeStream(sum pairs.Type, src any, opt *volume.Options) (any, error) {
	switch src := src.(type) {
	case boxsum.Image[uint8]:
		switch sum {
		case pairs.U32:
			return volume.NewSquaredStream[uint32, uint64, uint8](src.Width, src.Height, src.Channels, opt)
		case pairs.U64:
			return volume.NewSquaredStream[uint64, uint64, uint8](src.Width, src.Height, src.Channels, opt)
		case pairs.F32:
			return volume.NewSquaredStream[float32, uint64, uint8](src.Width, src.Height, src.Channels, opt)
		case pairs.F64:
			return volume.NewSquaredStream[float64, uint64, uint8](src.Width, src.Height, src.Channels, opt)
		case pairs.I64:
			return volume.NewSquaredStream[int64, uint64, uint8](src.Width, src.Height, src.Channels, opt)
		}
	case boxsum.Image[uint16]:
		switch sum {
		case pairs.U64:
			return volume.NewSquaredStream[uint64, uint64, uint16](src.Width, src.Height, src.Channels, opt)
		case pairs.F64:
			return volume.NewSquaredStream[float64, uint64, uint16](src.Width, src.Height, src.Channels, opt)
		case pairs.U32:
			return volume.NewSquaredStream[uint32, uint64, uint16](src.Width, src.Height, src.Channels, opt)
		}
	case boxsum.Image[uint32]:
		switch sum {
		case pairs.U64:
			return volume.NewSquaredStream[uint64, uint64, uint32](src.Width, src.Height, src.Channels, opt)
		case pairs.U32:
			return volume.NewSquaredStream[uint32, uint64, uint32](src.Width, src.Height, src.Channels, opt)
		}
	case boxsum.Image[int16]:
		switch sum {
		case pairs.I64:
			return volume.NewSquaredStream[int64, uint64, int16](src.Width, src.Height, src.Channels, opt)
		case pairs.F64:
			return volume.NewSquaredStream[float64, uint64, int16](src.Width, src.Height, src.Channels, opt)
		}
	case boxsum.Image[int32]:
		switch sum {
		case pairs.I64:
			return volume.NewSquaredStream[int64, uint64, int32](src.Width, src.Height, src.Channels, opt)
		}
	case boxsum.Image[float32]:
		switch sum {
		case pairs.F64:
			return volume.NewSquaredStream[float64, float64, float32](src.Width, src.Height, src.Channels, opt)
		case pairs.F32:
			return volume.NewSquaredStream[float32, float64, float32](src.Width, src.Height, src.Channels, opt)
		}
	case boxsum.Image[float64]:
		switch sum {
		case pairs.F64:
			return volume.NewSquaredStream[float64, float64, float64](src.Width, src.Height, src.Channels, opt)
		}
	}
	return nil, noPair(sum, src)
}

// Push is the next row of a table, and that of its squares where the stream has them, by row y of an image.
func Push(stream, src any, y int) (sums, squares any, err error) {
	switch s := stream.(type) {
	case *boxsum.Stream[uint32, uint8]:
		sums, err = s.Push(src.(boxsum.Image[uint8]).Row(y))
	case *boxsum.SquaredStream[uint32, uint64, uint8]:
		sums, squares, err = s.Push(src.(boxsum.Image[uint8]).Row(y))
	case *tilted.Stream[uint32, uint8]:
		sums, err = s.Push(src.(boxsum.Image[uint8]).Row(y))
	case *boxsum.Stream[uint64, uint8]:
		sums, err = s.Push(src.(boxsum.Image[uint8]).Row(y))
	case *boxsum.SquaredStream[uint64, uint64, uint8]:
		sums, squares, err = s.Push(src.(boxsum.Image[uint8]).Row(y))
	case *tilted.Stream[uint64, uint8]:
		sums, err = s.Push(src.(boxsum.Image[uint8]).Row(y))
	case *boxsum.Stream[float32, uint8]:
		sums, err = s.Push(src.(boxsum.Image[uint8]).Row(y))
	case *boxsum.SquaredStream[float32, uint64, uint8]:
		sums, squares, err = s.Push(src.(boxsum.Image[uint8]).Row(y))
	case *tilted.Stream[float32, uint8]:
		sums, err = s.Push(src.(boxsum.Image[uint8]).Row(y))
	case *boxsum.Stream[float64, uint8]:
		sums, err = s.Push(src.(boxsum.Image[uint8]).Row(y))
	case *boxsum.SquaredStream[float64, uint64, uint8]:
		sums, squares, err = s.Push(src.(boxsum.Image[uint8]).Row(y))
	case *tilted.Stream[float64, uint8]:
		sums, err = s.Push(src.(boxsum.Image[uint8]).Row(y))
	case *boxsum.Stream[int64, uint8]:
		sums, err = s.Push(src.(boxsum.Image[uint8]).Row(y))
	case *boxsum.SquaredStream[int64, uint64, uint8]:
		sums, squares, err = s.Push(src.(boxsum.Image[uint8]).Row(y))
	case *tilted.Stream[int64, uint8]:
		sums, err = s.Push(src.(boxsum.Image[uint8]).Row(y))
	case *boxsum.Stream[uint64, uint16]:
		sums, err = s.Push(src.(boxsum.Image[uint16]).Row(y))
	case *boxsum.SquaredStream[uint64, uint64, uint16]:
		sums, squares, err = s.Push(src.(boxsum.Image[uint16]).Row(y))
	case *tilted.Stream[uint64, uint16]:
		sums, err = s.Push(src.(boxsum.Image[uint16]).Row(y))
	case *boxsum.Stream[float64, uint16]:
		sums, err = s.Push(src.(boxsum.Image[uint16]).Row(y))
	case *boxsum.SquaredStream[float64, uint64, uint16]:
		sums, squares, err = s.Push(src.(boxsum.Image[uint16]).Row(y))
	case *tilted.Stream[float64, uint16]:
		sums, err = s.Push(src.(boxsum.Image[uint16]).Row(y))
	case *boxsum.Stream[uint32, uint16]:
		sums, err = s.Push(src.(boxsum.Image[uint16]).Row(y))
	case *boxsum.SquaredStream[uint32, uint64, uint16]:
		sums, squares, err = s.Push(src.(boxsum.Image[uint16]).Row(y))
	case *tilted.Stream[uint32, uint16]:
		sums, err = s.Push(src.(boxsum.Image[uint16]).Row(y))
	case *boxsum.Stream[uint64, uint32]:
		sums, err = s.Push(src.(boxsum.Image[uint32]).Row(y))
	case *boxsum.SquaredStream[uint64, uint64, uint32]:
		sums, squares, err = s.Push(src.(boxsum.Image[uint32]).Row(y))
	case *tilted.Stream[uint64, uint32]:
		sums, err = s.Push(src.(boxsum.Image[uint32]).Row(y))
	case *boxsum.Stream[uint32, uint32]:
		sums, err = s.Push(src.(boxsum.Image[uint32]).Row(y))
	case *boxsum.SquaredStream[uint32, uint64, uint32]:
		sums, squares, err = s.Push(src.(boxsum.Image[uint32]).Row(y))
	case *tilted.Stream[uint32, uint32]:
		sums, err = s.Push(src.(boxsum.Image[uint32]).Row(y))
	case *boxsum.Stream[int64, int16]:
		sums, err = s.Push(src.(boxsum.Image[int16]).Row(y))
	case *boxsum.SquaredStream[int64, uint64, int16]:
		sums, squares, err = s.Push(src.(boxsum.Image[int16]).Row(y))
	case *tilted.Stream[int64, int16]:
		sums, err = s.Push(src.(boxsum.Image[int16]).Row(y))
	case *boxsum.Stream[float64, int16]:
		sums, err = s.Push(src.(boxsum.Image[int16]).Row(y))
	case *boxsum.SquaredStream[float64, uint64, int16]:
		sums, squares, err = s.Push(src.(boxsum.Image[int16]).Row(y))
	case *tilted.Stream[float64, int16]:
		sums, err = s.Push(src.(boxsum.Image[int16]).Row(y))
	case *boxsum.Stream[int64, int32]:
		sums, err = s.Push(src.(boxsum.Image[int32]).Row(y))
	case *boxsum.SquaredStream[int64, uint64, int32]:
		sums, squares, err = s.Push(src.(boxsum.Image[int32]).Row(y))
	case *tilted.Stream[int64, int32]:
		sums, err = s.Push(src.(boxsum.Image[int32]).Row(y))
	case *boxsum.Stream[float64, float32]:
		sums, err = s.Push(src.(boxsum.Image[float32]).Row(y))
	case *boxsum.SquaredStream[float64, float64, float32]:
		sums, squares, err = s.Push(src.(boxsum.Image[float32]).Row(y))
	case *tilted.Stream[float64, float32]:
		sums, err = s.Push(src.(boxsum.Image[float32]).Row(y))
	case *boxsum.Stream[float32, float32]:
		sums, err = s.Push(src.(boxsum.Image[float32]).Row(y))
	case *boxsum.SquaredStream[float32, float64, float32]:
		sums, squares, err = s.Push(src.(boxsum.Image[float32]).Row(y))
	case *tilted.Stream[float32, float32]:
		sums, err = s.Push(src.(boxsum.Image[float32]).Row(y))
	case *boxsum.Stream[float64, float64]:
		sums, err = s.Push(src.(boxsum.Image[float64]).Row(y))
	case *boxsum.SquaredStream[float64, float64, float64]:
		sums, squares, err = s.Push(src.(boxsum.Image[float64]).Row(y))
	case *tilted.Stream[float64, float64]:
		sums, err = s.Push(src.(boxsum.Image[float64]).Row(y))
	default:
		err = noPair(stream, src)
	}
	return sums, squares, err
}

// PushSlice is the same of a volume, whose slice is an image.
func PushSlice(stream, src any) (sums, squares any, err error) {
	switch s := stream.(type) {
	case *volume.Stream[uint32, uint8]:
		sums, err = s.Push(src.(boxsum.Image[uint8]))
	case *volume.SquaredStream[uint32, uint64, uint8]:
		sums, squares, err = s.Push(src.(boxsum.Image[uint8]))
	case *volume.Stream[uint64, uint8]:
		sums, err = s.Push(src.(boxsum.Image[uint8]))
	case *volume.SquaredStream[uint64, uint64, uint8]:
		sums, squares, err = s.Push(src.(boxsum.Image[uint8]))
	case *volume.Stream[float32, uint8]:
		sums, err = s.Push(src.(boxsum.Image[uint8]))
	case *volume.SquaredStream[float32, uint64, uint8]:
		sums, squares, err = s.Push(src.(boxsum.Image[uint8]))
	case *volume.Stream[float64, uint8]:
		sums, err = s.Push(src.(boxsum.Image[uint8]))
	case *volume.SquaredStream[float64, uint64, uint8]:
		sums, squares, err = s.Push(src.(boxsum.Image[uint8]))
	case *volume.Stream[int64, uint8]:
		sums, err = s.Push(src.(boxsum.Image[uint8]))
	case *volume.SquaredStream[int64, uint64, uint8]:
		sums, squares, err = s.Push(src.(boxsum.Image[uint8]))
	case *volume.Stream[uint64, uint16]:
		sums, err = s.Push(src.(boxsum.Image[uint16]))
	case *volume.SquaredStream[uint64, uint64, uint16]:
		sums, squares, err = s.Push(src.(boxsum.Image[uint16]))
	case *volume.Stream[float64, uint16]:
		sums, err = s.Push(src.(boxsum.Image[uint16]))
	case *volume.SquaredStream[float64, uint64, uint16]:
		sums, squares, err = s.Push(src.(boxsum.Image[uint16]))
	case *volume.Stream[uint32, uint16]:
		sums, err = s.Push(src.(boxsum.Image[uint16]))
	case *volume.SquaredStream[uint32, uint64, uint16]:
		sums, squares, err = s.Push(src.(boxsum.Image[uint16]))
	case *volume.Stream[uint64, uint32]:
		sums, err = s.Push(src.(boxsum.Image[uint32]))
	case *volume.SquaredStream[uint64, uint64, uint32]:
		sums, squares, err = s.Push(src.(boxsum.Image[uint32]))
	case *volume.Stream[uint32, uint32]:
		sums, err = s.Push(src.(boxsum.Image[uint32]))
	case *volume.SquaredStream[uint32, uint64, uint32]:
		sums, squares, err = s.Push(src.(boxsum.Image[uint32]))
	case *volume.Stream[int64, int16]:
		sums, err = s.Push(src.(boxsum.Image[int16]))
	case *volume.SquaredStream[int64, uint64, int16]:
		sums, squares, err = s.Push(src.(boxsum.Image[int16]))
	case *volume.Stream[float64, int16]:
		sums, err = s.Push(src.(boxsum.Image[int16]))
	case *volume.SquaredStream[float64, uint64, int16]:
		sums, squares, err = s.Push(src.(boxsum.Image[int16]))
	case *volume.Stream[int64, int32]:
		sums, err = s.Push(src.(boxsum.Image[int32]))
	case *volume.SquaredStream[int64, uint64, int32]:
		sums, squares, err = s.Push(src.(boxsum.Image[int32]))
	case *volume.Stream[float64, float32]:
		sums, err = s.Push(src.(boxsum.Image[float32]))
	case *volume.SquaredStream[float64, float64, float32]:
		sums, squares, err = s.Push(src.(boxsum.Image[float32]))
	case *volume.Stream[float32, float32]:
		sums, err = s.Push(src.(boxsum.Image[float32]))
	case *volume.SquaredStream[float32, float64, float32]:
		sums, squares, err = s.Push(src.(boxsum.Image[float32]))
	case *volume.Stream[float64, float64]:
		sums, err = s.Push(src.(boxsum.Image[float64]))
	case *volume.SquaredStream[float64, float64, float64]:
		sums, squares, err = s.Push(src.(boxsum.Image[float64]))
	default:
		err = noPair(stream, src)
	}
	return sums, squares, err
}

// NewTable allocates a *boxsum.Table.
func NewTable(sum pairs.Type, width, height, channels int) (any, error) {
	switch sum {
	case pairs.U32:
		return boxsum.NewTable[uint32](width, height, channels)
	case pairs.U64:
		return boxsum.NewTable[uint64](width, height, channels)
	case pairs.I64:
		return boxsum.NewTable[int64](width, height, channels)
	case pairs.F32:
		return boxsum.NewTable[float32](width, height, channels)
	case pairs.F64:
		return boxsum.NewTable[float64](width, height, channels)
	}
	return nil, noPair(sum, 0)
}

// NewTilted allocates a *tilted.Table.
func NewTilted(sum pairs.Type, width, height, channels int) (any, error) {
	switch sum {
	case pairs.U32:
		return tilted.NewTable[uint32](width, height, channels)
	case pairs.U64:
		return tilted.NewTable[uint64](width, height, channels)
	case pairs.I64:
		return tilted.NewTable[int64](width, height, channels)
	case pairs.F32:
		return tilted.NewTable[float32](width, height, channels)
	case pairs.F64:
		return tilted.NewTable[float64](width, height, channels)
	}
	return nil, noPair(sum, 0)
}

// NewVolume allocates a *volume.Table.
func NewVolume(sum pairs.Type, width, height, depth, channels int) (any, error) {
	switch sum {
	case pairs.U32:
		return volume.NewTable[uint32](width, height, depth, channels)
	case pairs.U64:
		return volume.NewTable[uint64](width, height, depth, channels)
	case pairs.I64:
		return volume.NewTable[int64](width, height, depth, channels)
	case pairs.F32:
		return volume.NewTable[float32](width, height, depth, channels)
	case pairs.F64:
		return volume.NewTable[float64](width, height, depth, channels)
	}
	return nil, noPair(sum, 0)
}

// NewRotated allocates a *rotated.Table.
func NewRotated(sum pairs.Type, width, height, channels int, rot rotated.Rotation) (any, error) {
	switch sum {
	case pairs.U32:
		return rotated.NewTable[uint32](width, height, channels, rot)
	case pairs.U64:
		return rotated.NewTable[uint64](width, height, channels, rot)
	case pairs.I64:
		return rotated.NewTable[int64](width, height, channels, rot)
	case pairs.F32:
		return rotated.NewTable[float32](width, height, channels, rot)
	case pairs.F64:
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

// IntegrateHistogramOn counts them on a device.
func IntegrateHistogramOn(dst *histogram.Table[uint32], src any, d *gpu.Device, opt *gpu.Options) error {
	if !launch.GPU {
		return errors.ErrUnsupported
	}
	switch src := src.(type) {
	case boxsum.Image[uint8]:
		return gpu.IntegrateHistogramHostInto(d, dst, src, opt)
	case boxsum.Image[uint16]:
		return gpu.IntegrateHistogramHostInto(d, dst, src, opt)
	case boxsum.Image[uint32]:
		return gpu.IntegrateHistogramHostInto(d, dst, src, opt)
	case boxsum.Image[int16]:
		return gpu.IntegrateHistogramHostInto(d, dst, src, opt)
	case boxsum.Image[int32]:
		return gpu.IntegrateHistogramHostInto(d, dst, src, opt)
	case boxsum.Image[float32]:
		return gpu.IntegrateHistogramHostInto(d, dst, src, opt)
	case boxsum.Image[float64]:
		return gpu.IntegrateHistogramHostInto(d, dst, src, opt)
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
