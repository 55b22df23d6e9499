package measure

import (
	"errors"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/histogram"
	"github.com/boxsum/boxsum/internal/launch"
	"github.com/boxsum/boxsum/papers"
	"github.com/boxsum/boxsum/rotated"
	"github.com/boxsum/boxsum/volume"
)

//go:generate go run github.com/boxsum/boxsum/internal/pairs/expand -out pairkinds.go -before "package measure\nvar kinds = map[string]pairKinds{" -line "\"{{.}}\": kindsOf[{{.Pixel}}, {{.Sum}}]()," -after "}"

// A kind of table can be measured on the CPU, and maybe on a device and in a
// pipeline through one.
type kind struct {
	cpu      func(size Size, channels int) (*Work, error)
	device   func(DeviceJob) (*DeviceWork, error)    // nil for none
	pipeline func(DeviceJob, int) (*Pipeline, error) // nil for none
}

// pairKinds is the kinds of a pair of types.
type pairKinds struct {
	upright, tilted, volume kind
	rotated                 func(rotated.Rotation) kind
}

func kindsOf[P boxsum.Pixel, S boxsum.Sum]() pairKinds {
	return pairKinds{
		upright: kind{onImage(exactBits[S](), Own[S, P]{}.onCPU), onImages(exactBits[S](), deviceUpright[S, P]), newPipeline[P, S]},
		tilted:  kind{cpu: onImage(exactBits[S](), Own[S, P]{Kind: papers.Tilted}.besideUpright), device: onImages(exactBits[S](), besideUprightOn[S](deviceTilted[S, P]))},
		volume: kind{
			cpu: func(size Size, channels int) (*Work, error) {
				src, err := randomVolume[P](exactBits[S](), size, channels)
				if err != nil {
					return nil, err
				}
				return only(volumeWork[S](src))
			},
			device: deviceVolume[P, S],
		},
		rotated: func(rot rotated.Rotation) kind {
			return kind{
				cpu: onImage(exactBits[S](), Own[S, P]{Kind: papers.Rotated, Rotation: rot}.besideUpright),
				device: onImages(exactBits[S](), besideUprightOn[S](func(job DeviceJob, images ...boxsum.Image[P]) (*DeviceWork, error) {
					return deviceRotated[S](job, rot, images...)
				})),
			}
		},
	}
}

var squaresKind = kind{
	cpu:    onImage(exactBits[uint32](), func(img boxsum.Image[uint8]) (*Work, error) { return only(squaredWork[uint32, uint64](img)) }),
	device: onImages(exactBits[uint32](), deviceSquared[uint32, uint64, uint8]),
}

func histogramKind(bins histogram.Bins) kind {
	return kind{
		cpu: onImage(exactBits[uint32](), func(img boxsum.Image[uint8]) (*Work, error) { return only(histogramWork(bins, img)) }),
		device: onImages(exactBits[uint32](), func(job DeviceJob, images ...boxsum.Image[uint8]) (*DeviceWork, error) {
			return deviceHistogram(job, bins, images)
		}),
	}
}

// onImage and onImages draw the pixels of a work, whose sums are exact in so many bits.
func onImage[P boxsum.Pixel](sumBits int, f func(boxsum.Image[P]) (*Work, error)) func(Size, int) (*Work, error) {
	return func(size Size, channels int) (*Work, error) {
		img, err := randomImage[P](sumBits, size, channels)
		if err != nil {
			return nil, err
		}
		return f(img)
	}
}

func onImages[P boxsum.Pixel](sumBits int, f func(DeviceJob, ...boxsum.Image[P]) (*DeviceWork, error)) func(DeviceJob) (*DeviceWork, error) {
	if !launch.GPU {
		return func(DeviceJob) (*DeviceWork, error) { return nil, errors.ErrUnsupported }
	}
	return func(job DeviceJob) (*DeviceWork, error) {
		images, err := randomBatch[P](sumBits, job)
		if err != nil {
			return nil, err
		}
		return f(job, images...)
	}
}

// randomVolume is a random image of all slices one under another.
func randomVolume[P boxsum.Pixel](sumBits int, size Size, channels int) (volume.Volume[P], error) {
	img, err := randomImage[P](sumBits, Size{Width: size.Width, Height: size.Height * size.Depth}, channels)
	return volume.Volume[P]{Pix: img.Pix, Stride: img.Stride, Width: size.Width, Height: size.Height, Depth: size.Depth, Channels: channels}, err
}
