package gpu

import (
	"errors"
	"fmt"
	"runtime"
	"sync"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/detect"
	"github.com/boxsum/boxsum/gpu/internal/driver"
	"github.com/boxsum/boxsum/gpu/internal/method"
	"github.com/boxsum/boxsum/internal/cascade"
	"github.com/boxsum/boxsum/internal/launch"
)

// Detect returns the objects that a cascade finds in every image of a batch, on their
// device. The results, including scores, are those of [detect.Cascade.Detect]. Images have
// one channel, or three or four that start with red, green and blue. Layers, tables and all
// stages are computed on the device; windows that pass are grouped on the host. OpenCL
// devices must support float64.
//
//	found, err := gpu.Detect(frames, face, &detect.Options{Min: image.Pt(40, 40)}) // found[i] is of frame i
//
// Angles, Mirror and NearMisses are errors here; Workers, Level and Progress are ignored.
// These options are for package detect.
func Detect(images *Image[uint8], c *detect.Cascade, opt *detect.Options) ([][]detect.Result, error) {
	return detectFrom(0, images, c, opt)
}

// detectFrom is like Detect for images numbered from first.
func detectFrom(first int, images *Image[uint8], c *detect.Cascade, opt *detect.Options) ([][]detect.Result, error) {
	a := images.inner()
	if a.Device == nil {
		return nil, errNoImage
	}
	if n := a.Channels; n != 1 && n != 3 && n != 4 {
		return nil, fmt.Errorf("gpu: %w: an image with %d channels: use 1, or 3 or 4 that start with red, green and blue", boxsum.ErrInvalid, n)
	}
	s, err := cascade.Plan(c, opt, a.Width, a.Height)
	if err != nil {
		return nil, fmt.Errorf("gpu: %w", err)
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
	// Grouping takes time in proportion to the windows, so images are grouped in parallel.
	found, errs := make([][]detect.Result, len(windows)), make([]error, len(windows))
	var group sync.WaitGroup
	room := make(chan struct{}, runtime.GOMAXPROCS(0))
	for i, w := range windows {
		if len(w) == 0 {
			continue
		}
		room <- struct{}{}
		group.Go(func() {
			defer func() { <-room }()
			var all any
			if all, errs[i] = s.Results(w); errs[i] == nil {
				found[i] = all.([]detect.Result)
			}
		})
	}
	group.Wait()
	for i, err := range errs {
		if err != nil {
			return nil, fmt.Errorf("gpu: image %d: %w", first+i, err)
		}
	}
	return found, nil
}

// DetectHost is like [Detect] for images on the host, all of the same size. If d is several
// devices, they share the images.
func DetectHost(d *Device, images []boxsum.Image[uint8], c *detect.Cascade, opt *detect.Options) ([][]detect.Result, error) {
	if !launch.GPU {
		return nil, driver.NoDevice(nil)
	}
	members := d.Members()
	if len(members) == 0 {
		return detectHost(0, d, images, c, opt)
	}
	if err := alike(images); err != nil {
		return nil, err
	}
	found, errs := make([][]detect.Result, len(images)), make([]error, len(members))
	var group sync.WaitGroup
	for i, member := range members {
		from, to := i*len(images)/len(members), (i+1)*len(images)/len(members)
		if from == to {
			continue
		}
		group.Go(func() {
			var some [][]detect.Result
			if some, errs[i] = detectHost(from, member, images[from:to], c, opt); errs[i] == nil {
				copy(found[from:to], some)
			}
		})
	}
	group.Wait()
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return found, nil
}

func detectHost(first int, d *Device, images []boxsum.Image[uint8], c *detect.Cascade, opt *detect.Options) ([][]detect.Result, error) {
	src, err := Upload(d, images...)
	if err != nil {
		return nil, err
	}
	found, err := detectFrom(first, src, c, opt)
	return found, driver.FirstError(err, src.Close())
}
