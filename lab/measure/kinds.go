package measure

import (
	"errors"

	"github.com/boxsum/boxsum/histogram"
	"github.com/boxsum/boxsum/internal/launch"
	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/papers"
	"github.com/boxsum/boxsum/rotated"
)

// A kind of table can be measured on the CPU, and possibly on a device and in a pipeline.
type kind struct {
	cpu      func(size Size, channels int) (*Work, error)
	device   func(DeviceJob) (*DeviceWork, error)    // nil if unsupported
	pipeline func(DeviceJob, int) (*Pipeline, error) // nil if unsupported
}

// uprightKind, tiltedKind, rotatedKind and volumeKind return the kinds for a pair of types.

func uprightKind(p raster.Pair) kind {
	of := onDevices(p)
	return kind{
		cpu:    onImage(p, Own{Sum: p.Sum}.onCPU),
		device: func(job DeviceJob) (*DeviceWork, error) { return onImages(p, job, of.upright) },
		pipeline: func(job DeviceJob, tables int) (*Pipeline, error) {
			if !launch.GPU {
				return nil, errors.ErrUnsupported
			}
			images, err := randomBatch(p, job)
			if err != nil {
				return nil, err
			}
			return of.pipeline(job, tables, images...)
		},
	}
}

func tiltedKind(p raster.Pair) kind {
	of := onDevices(p)
	return kind{
		cpu:    onImage(p, Own{Sum: p.Sum, Kind: papers.Tilted}.besideUpright),
		device: func(job DeviceJob) (*DeviceWork, error) { return onImages(p, job, besideUprightOn(of, of.tilted)) },
	}
}

func rotatedKind(p raster.Pair, rot rotated.Rotation) kind {
	of := onDevices(p)
	along := func(job DeviceJob, images ...any) (*DeviceWork, error) { return of.rotated(job, rot, images...) }
	return kind{
		cpu:    onImage(p, Own{Sum: p.Sum, Kind: papers.Rotated, Rotation: rot}.besideUpright),
		device: func(job DeviceJob) (*DeviceWork, error) { return onImages(p, job, besideUprightOn(of, along)) },
	}
}

func volumeKind(p raster.Pair) kind {
	return kind{
		cpu: func(size Size, channels int) (*Work, error) {
			img, err := randomVolume(p, size, channels)
			if err != nil {
				return nil, err
			}
			return onSums[p.Sum].volume(img, size)
		},
		device: onDevices(p).volume,
	}
}

// usualPair is the pair of types for squares and histograms.
var usualPair = raster.SumPairs[0]

var squaresKind = kind{
	cpu:    onImage(usualPair, func(img any) (*Work, error) { return only(squaredWork(img)) }),
	device: func(job DeviceJob) (*DeviceWork, error) { return onImages(usualPair, job, deviceSquared) },
}

func histogramKind(bins histogram.Bins) kind {
	count := func(job DeviceJob, images ...any) (*DeviceWork, error) { return deviceHistogram(job, bins, images...) }
	return kind{
		cpu:    onImage(usualPair, func(img any) (*Work, error) { return only(histogramWork(bins, img)) }),
		device: func(job DeviceJob) (*DeviceWork, error) { return onImages(usualPair, job, count) },
	}
}

// onImage and onImages draw the pixels of a work such that sums are exact.
func onImage(p raster.Pair, f func(img any) (*Work, error)) func(Size, int) (*Work, error) {
	return func(size Size, channels int) (*Work, error) {
		img, err := randomImage(p.Pixel, exactBits(p.Sum), size, channels)
		if err != nil {
			return nil, err
		}
		return f(img)
	}
}

func onImages(p raster.Pair, job DeviceJob, f func(DeviceJob, ...any) (*DeviceWork, error)) (*DeviceWork, error) {
	if !launch.GPU {
		return nil, errors.ErrUnsupported
	}
	images, err := randomBatch(p, job)
	if err != nil {
		return nil, err
	}
	return f(job, images...)
}

// randomVolume returns a random image of all slices, stacked vertically.
func randomVolume(p raster.Pair, size Size, channels int) (any, error) {
	return randomImage(p.Pixel, exactBits(p.Sum), Size{Width: size.Width, Height: size.Height * size.Depth}, channels)
}
