package gpu

import (
	"github.com/boxsum/boxsum/detect"
	"github.com/boxsum/boxsum/gpu/internal/devmem"
	"github.com/boxsum/boxsum/gpu/internal/method"
	"github.com/boxsum/boxsum/hog"
	"github.com/boxsum/boxsum/internal/device"
	"github.com/boxsum/boxsum/internal/raster"
)

// Detect returns the objects that a cascade finds in every image of a batch, on their device:
//
//	found, err := gpu.Detect(frames, face, &detect.Options{Min: image.Pt(40, 40)}) // found[i] is for frame i
//
// The results, including scores, are those of [detect.Cascade.Detect]. Images must have one
// channel, or three or four that start with red, green and blue. All stages of the cascade run
// on the device, and the host groups the windows that pass. OpenCL devices must support
// float64.
//
// Detect ignores On, Workers and Progress of opt. It does not support Angles, Mirror and
// NearMisses, and returns an error if they are set. For images in host memory, use
// [detect.Cascade.DetectBatch] with the option On.
func Detect(images *Image[uint8], c *detect.Cascade, opt *detect.Options) ([][]detect.Result, error) {
	a, err := searchable(images)
	if err != nil {
		return nil, err
	}
	var own detect.Options
	if opt != nil {
		own = *opt
	}
	own.On, own.Workers, own.Progress = newResidentImages(a), 0, nil
	return c.DetectBatch(nil, &own)
}

// DetectHOG returns the objects that a detector with histograms of oriented gradients finds in
// every image of a batch, on their device. The results, including scores, are those of
// [hog.Descriptor.Detect]. Images must have one channel, or three or four that start with red,
// green and blue. The device scales and searches the images, and the host groups the windows
// that are found. OpenCL devices must support float64.
//
// DetectHOG ignores On, Workers and Progress of opt. For images in host memory, use
// [hog.Descriptor.DetectBatch] with the option On.
func DetectHOG(images *Image[uint8], d *hog.Descriptor, opt *hog.Options) ([][]hog.Result, error) {
	a, err := searchable(images)
	if err != nil {
		return nil, err
	}
	var own hog.Options
	if opt != nil {
		own = *opt
	}
	own.On, own.Workers, own.Progress = newResidentImages(a), 0, nil
	return d.DetectBatch(nil, &own)
}

// searchable returns images in which objects can be detected.
func searchable(images *Image[uint8]) (*devmem.Array, error) {
	a := images.inner()
	if a.Device == nil {
		return nil, errNoImage
	}
	if n := a.Channels; n != 1 && n != 3 && n != 4 {
		return nil, raster.Invalid("image has %d channels, want 1 (gray), 3 (RGB) or 4 (RGBA)", n)
	}
	return a, nil
}

// residentImages is the device of images that are in its memory, and detects objects in them.
type residentImages struct {
	device.Handle
	*devmem.Device
}

func newResidentImages(a *devmem.Array) *residentImages {
	return &residentImages{device.NewHandle(residentRunner{images: a}), a.Device}
}

// A residentRunner detects objects in images that are on its device.
type residentRunner struct {
	runner
	images *devmem.Array
}

// Resident implements [device.Runner].
func (r residentRunner) Resident() device.Resident {
	return device.Resident{Width: r.images.Width, Height: r.images.Height, Channels: r.images.Channels, Count: r.images.Count}
}

// Detect implements [device.Runner].
func (r residentRunner) Detect(job *device.Detect) error {
	return using(r.images, func() (err error) {
		on := method.Of(r.images, nil, r.images, 0)
		on.Context = job.Options.Context
		job.Found, err = method.Detect(on, job.Search)
		return err
	})
}

// DetectHOG implements [device.Runner].
func (r residentRunner) DetectHOG(job *device.DetectHOG) error {
	return using(r.images, func() (err error) {
		on := method.Of(r.images, nil, r.images, 0)
		on.Context = job.Options.Context
		job.Found, err = method.HOG(on, job.Search)
		return err
	})
}
