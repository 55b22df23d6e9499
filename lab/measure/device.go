package measure

import (
	"errors"
	"fmt"
	"io"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/gpu"
	"github.com/boxsum/boxsum/histogram"
	"github.com/boxsum/boxsum/internal/device"
	"github.com/boxsum/boxsum/internal/launch"
	"github.com/boxsum/boxsum/internal/raster"
)

// A DeviceSetup specifies the work to prepare on a device.
type DeviceSetup struct {
	Device *gpu.Device
	Opt    *gpu.Options
	Size   Size

	Channels, Batch int
}

// onDevice returns the options for work from host memory to host memory.
func (job *DeviceSetup) onDevice() *boxsum.Options {
	o := &boxsum.Options{On: job.Device}
	if job.Opt != nil {
		o.Offset, o.Plain = job.Opt.Offset, job.Opt.Plain
		if job.Opt.Kernels == gpu.Portable {
			o.Level = boxsum.Levels()[0]
		}
	}
	return o
}

// A DeviceWork holds pixels and their tables, both on a device and on the host.
type DeviceWork struct {
	Host *Work // its tables are downloaded and compared

	// Upright is the work of the upright tables of the same pixels, for comparison, or nil.
	Upright *DeviceWork

	device    *gpu.Device
	queue     func() error      // queues the kernels
	roundTrip func() error      // the first image from host memory to host memory; nil if unsupported
	download  func(i int) error // copies a table of the device to that of the host
	owned     []io.Closer
}

// Prepare prepares the work of a case with random pixels and verifies it. The caller must close it.
func (job DeviceSetup) Prepare(c Case) (*DeviceWork, error) {
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

// work copies the images of a work to the device, and those of its upright table too.
func (job DeviceSetup) work(host *Work) (*DeviceWork, error) {
	d, err := device.Open(job.Device)
	if err != nil {
		return nil, err
	}
	stage, err := host.stage(d.Stager(), job.Opt)
	if err != nil {
		return nil, err
	}
	w := &DeviceWork{
		Host: host, device: job.Device, queue: stage.Queue, download: stage.Download, owned: []io.Closer{stage},
		roundTrip: func() error { return host.Run(*job.onDevice()) },
	}
	if host.Upright == nil {
		return w, nil
	}
	if w.Upright, err = job.work(host.Upright); err != nil {
		return nil, errors.Join(err, w.Close())
	}
	w.owned = append(w.owned, w.Upright)
	return w, nil
}

// deviceHistogram uses the functions of package gpu, because images of bytes are the only ones.
func deviceHistogram(job DeviceSetup, bins histogram.Bins, images []raster.Array) (*DeviceWork, error) {
	w, host, err := histogramWork(bins, images...)
	if err != nil {
		return nil, err
	}
	var all []boxsum.Image[uint8]
	for i := range images {
		all = append(all, bytesImage(&images[i]))
	}
	d := job.Device
	src, err := gpu.Upload(d, all...)
	if err != nil {
		return nil, err
	}
	dst, err := gpu.NewHistogram[uint8](d, all[0].Width, all[0].Height, all[0].Channels, len(all), bins)
	if err != nil {
		return nil, errors.Join(err, src.Close())
	}
	return &DeviceWork{
		Host: w, device: d, owned: []io.Closer{src, dst},
		queue:    func() error { return gpu.IntegrateHistogramInto(dst, src, job.Opt) },
		download: func(i int) error { return dst.DownloadInto(i, host) },
		roundTrip: func() error {
			return histogram.IntegrateInto(host, all[0], &histogram.Options{On: d, Level: job.onDevice().Level})
		},
	}, nil
}

// Close frees the memory on the device.
func (w *DeviceWork) Close() (err error) {
	for _, memory := range w.owned {
		err = errors.Join(err, memory.Close())
	}
	return err
}

// randomBatch returns a random image, followed by images with its values shifted, so that each has a
// different table.
func randomBatch(p raster.Pair, job DeviceSetup) ([]raster.Array, error) {
	first, err := randomImage(p.Pixel, exactBits(p.Sum), job.Size, job.Channels)
	if err != nil {
		return nil, err
	}
	images := []raster.Array{first}
	for i := 1; i < job.Batch; i++ {
		next, err := raster.NewPixelArray(p.Pixel, raster.PlaneExtent(job.Size.Width, job.Size.Height, job.Channels, 0))
		if err != nil {
			return nil, err
		}
		from, to := first.Data, next.Data
		n := i * 7 * p.Pixel.Bytes() % len(from)
		copy(to[copy(to, from[n:]):], from[:n])
		images = append(images, next)
	}
	return images, nil
}

// check compares all tables of the device, or the result of the transfer from host to host, with the
// reference.
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

// Contestant returns a contestant that times the kernels with events of the device or, if host is
// set, all work from host memory to host memory with the clock.
func (w *DeviceWork) Contestant(host bool) *Contestant {
	c := &Contestant{Run: OnEvents(w.device, w.queue), Check: func() error { return w.check(host) }, Close: w.Close, Queue: w.queue}
	if host {
		c.Run = OnClock(w.roundTrip)
	}
	return c
}

// DeviceCopy returns a contestant that copies bytes/2 bytes on a device, which reads half of the
// bytes and writes half.
func DeviceCopy(d *gpu.Device, bytes int64) (*Contestant, error) {
	c, err := launch.NewCopy(d, max(1, bytes/2))
	return deviceLimit(d, c, err)
}

// DeviceFill returns a contestant that writes the given number of bytes on a device.
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
