package measure

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/gpu"
	"github.com/boxsum/boxsum/histogram"
	"github.com/boxsum/boxsum/volume"
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
	Pixels    []byte       // of the first image, on the host
	Queue     func() error // queues the kernels
	RoundTrip func() error // from host memory to host memory, the first image; nil for none

	device   *gpu.Device
	batch    int
	download func(i int) error // a table of the device to that of the host
	compare  func(i int) error // the table of the host with the reference
	spoil    func()            // the table of the host
	owned    []io.Closer
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
	if err := w.Check(); err != nil {
		return nil, errors.Join(err, w.Close())
	}
	return w, nil
}

// deviceWork is a work of images, which go to the device first.
func deviceWork[P boxsum.Pixel](job DeviceJob, images []boxsum.Image[P]) (*DeviceWork, *gpu.Image[P], error) {
	src, err := gpu.Upload(job.Device, images...)
	if err != nil {
		return nil, nil, err
	}
	return &DeviceWork{Pixels: bytesOf(images[0].Pix), device: job.Device, batch: len(images), owned: []io.Closer{src}}, src, nil
}

// own keeps the memory of a work until it is closed, which an error does at once.
func own[T io.Closer](w *DeviceWork, memory T, err error) (T, error) {
	if err != nil {
		return memory, errors.Join(err, w.Close())
	}
	w.owned = append(w.owned, memory)
	return memory, nil
}

// DeviceUpright is the upright tables of images.
func DeviceUpright[S boxsum.Sum, P boxsum.Pixel](job DeviceJob, images ...boxsum.Image[P]) (*DeviceWork, error) {
	w, src, err := deviceWork(job, images)
	if err != nil {
		return nil, err
	}
	img := images[0]
	dst, err := gpu.NewTable[S](job.Device, img.Width, img.Height, img.Channels, len(images))
	if dst, err = own(w, dst, err); err != nil {
		return nil, err
	}
	host, err := boxsum.NewTable[S](img.Width, img.Height, img.Channels)
	w.Queue = func() error { return gpu.IntegrateInto(dst, src, job.Opt) }
	w.RoundTrip = func() error { return gpu.IntegrateHostInto(job.Device, host, img, job.Opt) }
	w.download = func(i int) error { return dst.DownloadInto(i, host) }
	w.compare = func(i int) error { return verify(host, images[i], false) }
	w.spoil = func() { clear(host.Sums) }
	return w.orClosed(err)
}

// DeviceTilted is the 45° table of an image.
func DeviceTilted[S boxsum.Sum, P boxsum.Pixel](job DeviceJob, img boxsum.Image[P]) (*DeviceWork, error) {
	w, src, err := deviceWork(job, []boxsum.Image[P]{img})
	if err != nil {
		return nil, err
	}
	dst, err := gpu.NewTiltedTable[S](job.Device, img.Width, img.Height, img.Channels, 1)
	if dst, err = own(w, dst, err); err != nil {
		return nil, err
	}
	var view boxsum.View[S]
	w.Queue = func() error { return gpu.IntegrateTiltedInto(dst, src, job.Opt) }
	w.download = func(i int) error {
		host, err := dst.Download(i)
		if err == nil {
			view = host.View()
		}
		return err
	}
	w.compare = func(int) error { return verifyTilted(view, img) }
	w.spoil = func() {}
	return w, nil
}

func deviceSquared[S boxsum.Sum, Q boxsum.Square, P boxsum.Pixel](job DeviceJob, images ...boxsum.Image[P]) (*DeviceWork, error) {
	w, src, err := deviceWork(job, images)
	if err != nil {
		return nil, err
	}
	img := images[0]
	dst, err := gpu.NewSquaredTable[S, Q](job.Device, img.Width, img.Height, img.Channels, len(images))
	if dst, err = own(w, dst, err); err != nil {
		return nil, err
	}
	host, err := boxsum.NewSquaredTable[S, Q](img.Width, img.Height, img.Channels)
	w.Queue = func() error { return gpu.IntegrateSquaresInto(dst, src, job.Opt) }
	w.RoundTrip = func() error { return gpu.IntegrateSquaresHostInto(job.Device, host, img, job.Opt) }
	w.download = func(i int) error {
		return errors.Join(dst.Sum.DownloadInto(i, host.Sum), dst.Squares.DownloadInto(i, host.Squares))
	}
	w.compare = func(i int) error {
		return errors.Join(verify(host.Sum, images[i], false), verify(host.Squares, images[i], true))
	}
	w.spoil = func() { clear(host.Sum.Sums); clear(host.Squares.Sums) }
	return w.orClosed(err)
}

func deviceHistogram(job DeviceJob, bins histogram.Bins, images []boxsum.Image[uint8]) (*DeviceWork, error) {
	w, src, err := deviceWork(job, images)
	if err != nil {
		return nil, err
	}
	img := images[0]
	dst, err := gpu.NewHistogram[uint8](job.Device, img.Width, img.Height, img.Channels, len(images), bins)
	if dst, err = own(w, dst, err); err != nil {
		return nil, err
	}
	host, err := histogram.NewTable[uint32](img.Width, img.Height, img.Channels, dst.Bins())
	w.Queue = func() error { return gpu.IntegrateHistogramInto(dst, src, job.Opt) }
	w.RoundTrip = func() error { return gpu.IntegrateHistogramHostInto(job.Device, host, img, job.Opt) }
	w.download = func(i int) error { return dst.DownloadInto(i, host) }
	w.compare = func(i int) error { return verifyHistogram(host, images[i]) }
	w.spoil = func() { clear(host.Counts) }
	return w.orClosed(err)
}

func deviceVolume[P boxsum.Pixel, S boxsum.Sum](job DeviceJob) (*DeviceWork, error) {
	if job.Batch > 1 {
		return nil, errors.New("volumes go one at a time: leave out --batch")
	}
	src, err := randomVolume[P, S](job.Size, job.Channels)
	if err != nil {
		return nil, err
	}
	w := &DeviceWork{Pixels: bytesOf(src.Pix), device: job.Device, batch: 1}
	vol, err := gpu.UploadVolume(job.Device, src)
	if vol, err = own(w, vol, err); err != nil {
		return nil, err
	}
	dst, err := gpu.NewVolumeTable[S](job.Device, src.Width, src.Height, src.Depth, src.Channels)
	if dst, err = own(w, dst, err); err != nil {
		return nil, err
	}
	host, err := volume.NewTable[S](src.Width, src.Height, src.Depth, src.Channels)
	w.Queue = func() error { return gpu.IntegrateVolumeInto(dst, vol, job.Opt) }
	w.RoundTrip = func() error { return gpu.IntegrateVolumeHostInto(job.Device, host, src, job.Opt) }
	w.download = func(int) error { return dst.DownloadInto(host) }
	w.compare = func(int) error { return verifyVolume(host, src) }
	w.spoil = func() { clear(host.Sums) }
	return w.orClosed(err)
}

// orClosed is the work, or the error that closes it.
func (w *DeviceWork) orClosed(err error) (*DeviceWork, error) {
	if err != nil {
		return nil, errors.Join(err, w.Close())
	}
	return w, nil
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
func randomBatch[P boxsum.Pixel, S boxsum.Sum](job DeviceJob) ([]boxsum.Image[P], error) {
	first, err := randomImage[P, S](job.Size, job.Channels)
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

// Check compares what went from host to host with the reference, and then all
// tables of the device.
func (w *DeviceWork) Check() error {
	if w.RoundTrip != nil {
		if err := w.CheckRoundTrip(); err != nil {
			return fmt.Errorf("host to host: %w", err)
		}
	}
	return w.CheckResident()
}

// CheckRoundTrip compares what went from host to host with the reference.
func (w *DeviceWork) CheckRoundTrip() error { return w.checkOne(0, w.RoundTrip) }

// CheckResident compares all tables of the device with the reference.
func (w *DeviceWork) CheckResident() error {
	if err := w.Queue(); err != nil {
		return err
	}
	for i := range w.batch {
		if err := w.checkOne(i, func() error { return w.download(i) }); err != nil {
			return fmt.Errorf("image %d of %d: %w", i, w.batch, err)
		}
	}
	return nil
}

// checkOne compares what fetch leaves on the host. What lay there cannot pass
// for it.
func (w *DeviceWork) checkOne(i int, fetch func() error) error {
	w.spoil()
	if err := fetch(); err != nil {
		return err
	}
	return w.compare(i)
}

// Contestant is the kernels between events of the device, and with host the way
// from host to host by the clock on the wall.
func (w *DeviceWork) Contestant(host bool) *Contestant {
	if host {
		return &Contestant{Run: OnClock(w.RoundTrip), Check: w.CheckRoundTrip, Close: w.Close}
	}
	return &Contestant{Run: OnEvents(w.device, w.Queue), Check: w.CheckResident, Close: w.Close}
}

// DeviceCopy moves bytes on a device, half of them read and half of them written, and
// DeviceFill writes them.
func DeviceCopy(d *gpu.Device, bytes int64) (*Contestant, error) {
	c, err := d.NewCopy(max(1, bytes/2))
	if err != nil {
		return nil, err
	}
	return &Contestant{Run: OnEvents(d, c.Run), Close: c.Close}, nil
}

// DeviceFill is a contestant that writes bytes.
func DeviceFill(d *gpu.Device, bytes int64) (*Contestant, error) {
	c, err := d.NewFill(bytes)
	if err != nil {
		return nil, err
	}
	return &Contestant{Run: OnEvents(d, c.Run), Close: c.Close}, nil
}
