package measure

import (
	"errors"

	"github.com/boxsum/boxsum/histogram"
	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/launch"
	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/papers"
	"github.com/boxsum/boxsum/rotated"
)

// A kind of table can be measured on the CPU, and possibly on a device and in a pipeline.
type kind struct {
	cpu      func(size Size, channels int) (*Work, error)
	device   func(DeviceSetup) (*DeviceWork, error)    // nil if unsupported
	pipeline func(DeviceSetup, int) (*Pipeline, error) // nil if unsupported
}

// uprightKind, tiltedKind, rotatedKind and volumeKind return the kinds for a pair of types.

func uprightKind(p raster.Pair) kind {
	return kind{
		cpu:    onImage(p, Own{Sum: p.Sum}.onCPU),
		device: func(job DeviceSetup) (*DeviceWork, error) { return onImages(p, job, Own{Sum: p.Sum}.onCPU) },
		pipeline: func(job DeviceSetup, tables int) (*Pipeline, error) {
			if err := onDevices(p); err != nil {
				return nil, err
			}
			images, err := randomBatch(p, job)
			if err != nil {
				return nil, err
			}
			return newPipeline(job, p.Sum, tables, images)
		},
	}
}

func tiltedKind(p raster.Pair) kind {
	return besideUprightKind(p, Own{Sum: p.Sum, Kind: papers.Tilted})
}

func rotatedKind(p raster.Pair, rot rotated.Rotation) kind {
	return besideUprightKind(p, Own{Sum: p.Sum, Kind: papers.Rotated, Rotation: rot})
}

// besideUprightKind returns a kind that is compared with the upright table of the same images.
func besideUprightKind(p raster.Pair, own Own) kind {
	return kind{
		cpu:    onImage(p, own.besideUpright),
		device: func(job DeviceSetup) (*DeviceWork, error) { return onImages(p, job, own.besideUpright) },
	}
}

func volumeKind(p raster.Pair) kind {
	cpu := func(size Size, channels int) (*Work, error) {
		img, err := randomVolume(p, size, channels)
		if err != nil {
			return nil, err
		}
		return tableWork(engine.Volume, p.Sum, 0, voxelsOf(img, size))
	}
	return kind{cpu, func(job DeviceSetup) (*DeviceWork, error) {
		if err := onDevices(p); err != nil {
			return nil, err
		}
		if job.Batch > 1 {
			return nil, errors.New("volumes are measured one at a time: leave out --batch")
		}
		w, err := cpu(job.Size, job.Channels)
		if err != nil {
			return nil, err
		}
		return job.work(w)
	}, nil}
}

// usualPair is the pair of types for squares and histograms.
var usualPair = raster.SumPairs[0]

var squaresKind = kind{
	cpu:    onImage(usualPair, squaredWork),
	device: func(job DeviceSetup) (*DeviceWork, error) { return onImages(usualPair, job, squaredWork) },
}

func squaredWork(images ...raster.Array) (*Work, error) {
	return tableWork(engine.Upright, raster.U32, raster.U64, images...)
}

func histogramKind(bins histogram.Bins) kind {
	return kind{
		cpu: onImage(usualPair, func(images ...raster.Array) (*Work, error) {
			w, _, err := histogramWork(bins, images...)
			return w, err
		}),
		device: func(job DeviceSetup) (*DeviceWork, error) {
			if err := onDevices(usualPair); err != nil {
				return nil, err
			}
			images, err := randomBatch(usualPair, job)
			if err != nil {
				return nil, err
			}
			return deviceHistogram(job, bins, images)
		},
	}
}

// onDevices returns an error if programs built like this one cannot use devices, or if devices do not
// support a pair of types.
func onDevices(p raster.Pair) error {
	if !launch.GPU || !raster.SumPairs.For(raster.OnDevice).Has(p.Pixel, p.Sum) {
		return errors.ErrUnsupported
	}
	return nil
}

// onImage and onImages draw the pixels of a work such that sums are exact.
func onImage(p raster.Pair, f func(images ...raster.Array) (*Work, error)) func(Size, int) (*Work, error) {
	return func(size Size, channels int) (*Work, error) {
		img, err := randomImage(p.Pixel, exactBits(p.Sum), size, channels)
		if err != nil {
			return nil, err
		}
		return f(img)
	}
}

func onImages(p raster.Pair, job DeviceSetup, f func(images ...raster.Array) (*Work, error)) (*DeviceWork, error) {
	if err := onDevices(p); err != nil {
		return nil, err
	}
	images, err := randomBatch(p, job)
	if err != nil {
		return nil, err
	}
	w, err := f(images...)
	if err != nil {
		return nil, err
	}
	return job.work(w)
}

// randomVolume returns a random image of all slices, stacked vertically.
func randomVolume(p raster.Pair, size Size, channels int) (raster.Array, error) {
	return randomImage(p.Pixel, exactBits(p.Sum), Size{Width: size.Width, Height: size.Height * size.Depth}, channels)
}
