package measure

import (
	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/histogram"
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
		upright: kind{onImage[S](Own[S, P]{}.onCPU), onImages[S](deviceUpright[S, P]), newPipeline[P, S]},
		tilted:  kind{cpu: onImage[S](Own[S, P]{Kind: papers.Tilted}.besideUpright), device: onImages[S](besideUprightOn[S](deviceTilted[S, P]))},
		volume: kind{
			cpu: func(size Size, channels int) (*Work, error) {
				src, err := randomVolume[P, S](size, channels)
				if err != nil {
					return nil, err
				}
				return only(volumeWork[S](src))
			},
			device: deviceVolume[P, S],
		},
		rotated: func(rot rotated.Rotation) kind {
			return kind{
				cpu: onImage[S](Own[S, P]{Kind: papers.Rotated, Rotation: rot}.besideUpright),
				device: onImages[S](besideUprightOn[S](func(job DeviceJob, images ...boxsum.Image[P]) (*DeviceWork, error) {
					return deviceRotated[S](job, rot, images...)
				})),
			}
		},
	}
}

var squaresKind = kind{
	cpu:    onImage[uint32](func(img boxsum.Image[uint8]) (*Work, error) { return only(squaredWork[uint32, uint64](img)) }),
	device: onImages[uint32](deviceSquared[uint32, uint64, uint8]),
}

func histogramKind(bins histogram.Bins) kind {
	return kind{
		cpu: onImage[uint32](func(img boxsum.Image[uint8]) (*Work, error) { return only(histogramWork(bins, img)) }),
		device: onImages[uint32](func(job DeviceJob, images ...boxsum.Image[uint8]) (*DeviceWork, error) {
			return deviceHistogram(job, bins, images)
		}),
	}
}

// onImage and onImages draw the pixels of a work, whose sums are exact in S.
func onImage[S boxsum.Sum, P boxsum.Pixel](f func(boxsum.Image[P]) (*Work, error)) func(Size, int) (*Work, error) {
	return func(size Size, channels int) (*Work, error) {
		img, err := randomImage[P, S](size, channels)
		if err != nil {
			return nil, err
		}
		return f(img)
	}
}

func onImages[S boxsum.Sum, P boxsum.Pixel](f func(DeviceJob, ...boxsum.Image[P]) (*DeviceWork, error)) func(DeviceJob) (*DeviceWork, error) {
	return func(job DeviceJob) (*DeviceWork, error) {
		images, err := randomBatch[P, S](job)
		if err != nil {
			return nil, err
		}
		return f(job, images...)
	}
}

// randomVolume is a random image of all slices one under another.
func randomVolume[P boxsum.Pixel, S boxsum.Sum](size Size, channels int) (volume.Volume[P], error) {
	img, err := randomImage[P, S](Size{Width: size.Width, Height: size.Height * size.Depth}, channels)
	return volume.Volume[P]{Pix: img.Pix, Stride: img.Stride, Width: size.Width, Height: size.Height, Depth: size.Depth, Channels: channels}, err
}
