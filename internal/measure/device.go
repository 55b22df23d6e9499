package measure

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/gpu"
	"github.com/boxsum/boxsum/histogram"
	"github.com/boxsum/boxsum/internal/launch"
	"github.com/boxsum/boxsum/rotated"
)

// A DeviceJob says which work to prepare on a device.
type DeviceJob struct {
	Device *gpu.Device
	Opt    *gpu.Options
	Size   Size

	Channels, Batch int
}

// A DeviceWork is pixels and the tables that they go into, both on a device and on
// the host.
type DeviceWork struct {
	Host *Work // its tables are what is downloaded and compared

	// Upright is the upright tables of the same pixels, to compare with, or nil.
	Upright *DeviceWork

	device    *gpu.Device
	queue     func() error      // queues the kernels
	roundTrip func() error      // from host memory to host memory, the first image; nil for none
	download  func(i int) error // a table of the device to that of the host
	owned     []io.Closer
}

// Prepare makes the work of a case, of random pixels, and verifies it. Close it
// afterwards.
func (job DeviceJob) Prepare(c Case) (*DeviceWork, error) {
	kind, err := c.kind()
	if err != nil {
		return nil, err
	}
	job.Channels = c.Channels
	w, err := kind.device(job)
	if err != nil {
		return nil, err
	}
	if w.roundTrip != nil {
		if err = w.check(true); err != nil {
			err = fmt.Errorf("host to host: %w", err)
		}
	}
	if err == nil {
		err = w.check(false)
	}
	if err == nil && w.Upright != nil {
		err = w.Upright.check(false)
	}
	if err != nil {
		return nil, errors.Join(err, w.Close())
	}
	return w, nil
}

// work is the work whose pixels and tables are on the device, or where anything went wrong
// the error, and nothing is left there.
func (job DeviceJob) work(host *Work, src, dst io.Closer, err error, queue func() error, download func(int) error, roundTrip func() error) (*DeviceWork, error) {
	w := &DeviceWork{Host: host, device: job.Device, queue: queue, roundTrip: roundTrip, download: download, owned: []io.Closer{src, dst}}
	if err != nil {
		return nil, errors.Join(err, w.Close())
	}
	return w, nil
}

func deviceUpright[S boxsum.Sum, P boxsum.Pixel](job DeviceJob, images ...boxsum.Image[P]) (*DeviceWork, error) {
	if !launch.GPU {
		return nil, errors.ErrUnsupported
	}
	d, img := job.Device, images[0]
	w, host, noHost := uprightWork[S](images...)
	src, noSrc := gpu.Upload(d, images...)
	dst, noDst := gpu.NewTable[S](d, img.Width, img.Height, img.Channels, len(images))
	return job.work(w, src, dst, cmp.Or(noHost, noSrc, noDst),
		func() error { return gpu.IntegrateInto(dst, src, job.Opt) },
		func(i int) error { return dst.DownloadInto(i, host) },
		func() error { return gpu.IntegrateHostInto(d, host, img, job.Opt) })
}

func deviceTilted[S boxsum.Sum, P boxsum.Pixel](job DeviceJob, images ...boxsum.Image[P]) (*DeviceWork, error) {
	if !launch.GPU {
		return nil, errors.ErrUnsupported
	}
	d, img := job.Device, images[0]
	w, host, noHost := tiltedWork[S](images...)
	src, noSrc := gpu.Upload(d, images...)
	dst, noDst := gpu.NewTiltedTable[S](d, img.Width, img.Height, img.Channels, len(images))
	return job.work(w, src, dst, cmp.Or(noHost, noSrc, noDst),
		func() error { return gpu.IntegrateTiltedInto(dst, src, job.Opt) },
		func(i int) error { return dst.DownloadInto(i, host) },
		func() error { return gpu.IntegrateTiltedHostInto(d, host, img, job.Opt) })
}

func deviceRotated[S boxsum.Sum, P boxsum.Pixel](job DeviceJob, rot rotated.Rotation, images ...boxsum.Image[P]) (*DeviceWork, error) {
	if !launch.GPU {
		return nil, errors.ErrUnsupported
	}
	d, img := job.Device, images[0]
	w, host, noHost := rotatedWork[S](rot, images...)
	src, noSrc := gpu.Upload(d, images...)
	dst, noDst := gpu.NewRotatedTable[S](d, img.Width, img.Height, img.Channels, len(images), rot)
	return job.work(w, src, dst, cmp.Or(noHost, noSrc, noDst),
		func() error { return gpu.IntegrateRotatedInto(dst, src, job.Opt) },
		func(i int) error { return dst.DownloadInto(i, host) },
		func() error { return gpu.IntegrateRotatedHostInto(d, host, img, job.Opt) })
}

// besideUprightOn is the work of another kind of table with the upright one of the same images.
func besideUprightOn[S boxsum.Sum, P boxsum.Pixel](of func(DeviceJob, ...boxsum.Image[P]) (*DeviceWork, error)) func(DeviceJob, ...boxsum.Image[P]) (*DeviceWork, error) {
	return func(job DeviceJob, images ...boxsum.Image[P]) (*DeviceWork, error) {
		w, err := of(job, images...)
		if err != nil {
			return nil, err
		}
		upright, err := deviceUpright[S](job, images...)
		if err != nil {
			return nil, errors.Join(err, w.Close())
		}
		w.Upright = upright
		w.owned = append(w.owned, upright)
		return w, nil
	}
}

func deviceSquared[S boxsum.Sum, Q boxsum.Square, P boxsum.Pixel](job DeviceJob, images ...boxsum.Image[P]) (*DeviceWork, error) {
	if !launch.GPU {
		return nil, errors.ErrUnsupported
	}
	d, img := job.Device, images[0]
	w, host, noHost := squaredWork[S, Q](images...)
	src, noSrc := gpu.Upload(d, images...)
	dst, noDst := gpu.NewSquaredTable[S, Q](d, img.Width, img.Height, img.Channels, len(images))
	plain := new(gpu.Options) // what is timed is the table, and not the look at some pixels before
	if job.Opt != nil {
		*plain = *job.Opt
	}
	plain.Plain = true
	return job.work(w, src, dst, cmp.Or(noHost, noSrc, noDst),
		func() error { return gpu.IntegrateSquaresInto(dst, src, plain) },
		func(i int) error {
			return errors.Join(dst.Sum.DownloadInto(i, host.Sum), dst.Squares.DownloadInto(i, host.Squares))
		},
		func() error { return gpu.IntegrateSquaresHostInto(d, host, img, job.Opt) })
}

func deviceHistogram(job DeviceJob, bins histogram.Bins, images []boxsum.Image[uint8]) (*DeviceWork, error) {
	if !launch.GPU {
		return nil, errors.ErrUnsupported
	}
	d, img := job.Device, images[0]
	w, host, noHost := histogramWork(bins, images...)
	src, noSrc := gpu.Upload(d, images...)
	dst, noDst := gpu.NewHistogram[uint8](d, img.Width, img.Height, img.Channels, len(images), bins)
	return job.work(w, src, dst, cmp.Or(noHost, noSrc, noDst),
		func() error { return gpu.IntegrateHistogramInto(dst, src, job.Opt) },
		func(i int) error { return dst.DownloadInto(i, host) },
		func() error { return gpu.IntegrateHistogramHostInto(d, host, img, job.Opt) })
}

func deviceVolume[P boxsum.Pixel, S boxsum.Sum](job DeviceJob) (*DeviceWork, error) {
	if !launch.GPU {
		return nil, errors.ErrUnsupported
	}
	if job.Batch > 1 {
		return nil, errors.New("volumes go one at a time: leave out --batch")
	}
	pixels, err := randomVolume[P](exactBits[S](), job.Size, job.Channels)
	if err != nil {
		return nil, err
	}
	w, host, noHost := volumeWork[S](pixels)
	src, noSrc := gpu.UploadVolume(job.Device, pixels)
	dst, noDst := gpu.NewVolumeTable[S](job.Device, pixels.Width, pixels.Height, pixels.Depth, pixels.Channels)
	return job.work(w, src, dst, cmp.Or(noHost, noSrc, noDst),
		func() error { return gpu.IntegrateVolumeInto(dst, src, job.Opt) },
		func(int) error { return dst.DownloadInto(host) },
		func() error { return gpu.IntegrateVolumeHostInto(job.Device, host, pixels, job.Opt) })
}

// Close gives the memory of the device back.
func (w *DeviceWork) Close() (err error) {
	for _, memory := range w.owned {
		err = errors.Join(err, memory.Close())
	}
	return err
}

// randomBatch is a random image, and others that are it moved on by some values, so
// that each has a table of its own.
func randomBatch[P boxsum.Pixel](sumBits int, job DeviceJob) ([]boxsum.Image[P], error) {
	first, err := randomImage[P](sumBits, job.Size, job.Channels)
	if err != nil {
		return nil, err
	}
	images := []boxsum.Image[P]{first}
	for i := 1; i < job.Batch; i++ {
		next, from := first, i*7%len(first.Pix)
		next.Pix = slices.Concat(first.Pix[from:], first.Pix[:from])
		images = append(images, next)
	}
	return images, nil
}

// check compares all tables of the device with the reference, or what went from host
// to host.
func (w *DeviceWork) check(host bool) error {
	if host {
		return w.Host.check(0, w.roundTrip)
	}
	if err := w.queue(); err != nil {
		return err
	}
	for i := range w.Host.images {
		if err := w.Host.check(i, func() error { return w.download(i) }); err != nil {
			return fmt.Errorf("image %d of %d: %w", i, w.Host.images, err)
		}
	}
	return nil
}

// Contestant is the kernels between events of the device, and with host the way
// from host to host by the clock on the wall.
func (w *DeviceWork) Contestant(host bool) *Contestant {
	c := &Contestant{Run: OnEvents(w.device, w.queue), Check: func() error { return w.check(host) }, Close: w.Close, Queue: w.queue}
	if host {
		c.Run = OnClock(w.roundTrip)
	}
	return c
}

// DeviceCopy moves bytes on a device, half of them read and half of them written, and
// DeviceFill writes them.
func DeviceCopy(d *gpu.Device, bytes int64) (*Contestant, error) {
	c, err := launch.NewCopy(d, max(1, bytes/2))
	return deviceLimit(d, c, err)
}

func DeviceFill(d *gpu.Device, bytes int64) (*Contestant, error) {
	c, err := launch.NewFill(d, bytes)
	return deviceLimit(d, c, err)
}

func deviceLimit(d *gpu.Device, limit launch.Limit, err error) (*Contestant, error) {
	if err != nil {
		return nil, err
	}
	return &Contestant{Run: OnEvents(d, limit.Run), Close: limit.Close}, nil
}
