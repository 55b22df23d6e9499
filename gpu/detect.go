package gpu

import (
	"github.com/boxsum/boxsum/detect"
	"github.com/boxsum/boxsum/gpu/internal/method"
	"github.com/boxsum/boxsum/internal/cascade"
	"github.com/boxsum/boxsum/internal/raster"
)

// Detect returns the objects that a cascade finds in every image of a batch, on their
// device. The results, including scores, are those of [detect.Cascade.Detect]. Images have
// one channel, or three or four that start with red, green and blue. Layers, tables and all
// stages are computed on the device; windows that pass are grouped on the host. OpenCL
// devices must support float64.
//
//	found, err := gpu.Detect(frames, face, &detect.Options{Min: image.Pt(40, 40)}) // found[i] is of frame i
//
// Angles, Mirror and NearMisses are errors here; On, Workers and Progress are ignored. For
// images in host memory, use [detect.Cascade.DetectBatch] and the option On.
func Detect(images *Image[uint8], c *detect.Cascade, opt *detect.Options) ([][]detect.Result, error) {
	a := images.inner()
	if a.Device == nil {
		return nil, errNoImage
	}
	if n := a.Channels; n != 1 && n != 3 && n != 4 {
		return nil, raster.Invalid("image has %d channels, want 1, or 3 or 4 that start with red, green and blue", n)
	}
	s, err := cascade.Plan(c, opt, a.Width, a.Height)
	if err != nil {
		return nil, err
	}
	var windows [][]cascade.Found
	if err := using(a, func() (err error) {
		job := method.Of(a, nil, a, 0)
		if opt != nil {
			job.Context = opt.Context
		}
		windows, err = method.Detect(job, s)
		return err
	}); err != nil {
		return nil, err
	}
	found, err := s.Results(windows)
	if err != nil {
		return nil, err
	}
	return found.([][]detect.Result), nil
}
