package bench

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/gpu"
	"github.com/boxsum/boxsum/internal/launch"
)

// A deviceJob says which work to prepare on a device.
type deviceJob struct {
	device *gpu.Device
	opt    *gpu.Options
	size   Size

	channels, batch int
}

// A deviceWork is one case at one size on a device: random pixels and the
// tables that they go into, both there and on the host.
type deviceWork struct {
	deviceJob
	pixels    []byte            // of the first image, on the host
	integrate func() error      // queues the kernels
	roundTrip func() error      // from host memory to host memory, the first image
	download  func(i int) error // a table of the device to that of the host
	compare   func(i int) error // the table of the host with the reference
	spoil     func()            // the table of the host
	close     func() error
}

func newDeviceSums[P boxsum.Pixel, S boxsum.Sum, A accumulator](job deviceJob) (*deviceWork, error) {
	images, src, err := upload[P, S](job)
	if err != nil {
		return nil, err
	}
	d, size := job.device, job.size
	dst, err := gpu.NewTable[S](d, size.Width, size.Height, job.channels, job.batch)
	if err != nil {
		return nil, errors.Join(err, src.Close())
	}
	host, err := boxsum.NewTable[S](size.Width, size.Height, job.channels)
	if err != nil {
		return nil, errors.Join(err, src.Close(), dst.Close())
	}
	return &deviceWork{
		deviceJob: job,
		pixels:    bytesOf(images[0].Pix),
		integrate: func() error { return gpu.IntegrateInto(dst, src, job.opt) },
		roundTrip: func() error { return gpu.IntegrateHostInto(d, host, images[0], job.opt) },
		download:  func(i int) error { return dst.DownloadInto(i, host) },
		compare:   func(i int) error { return verify[A](host, images[i], false) },
		spoil:     func() { clear(host.Sums) },
		close:     func() error { return errors.Join(src.Close(), dst.Close()) },
	}, nil
}

func newDeviceSquares[P boxsum.Pixel, S boxsum.Sum, Q boxsum.Square, A accumulator](job deviceJob) (*deviceWork, error) {
	images, src, err := upload[P, S](job)
	if err != nil {
		return nil, err
	}
	d, size := job.device, job.size
	dst, err := gpu.NewSquaredTable[S, Q](d, size.Width, size.Height, job.channels, job.batch)
	if err != nil {
		return nil, errors.Join(err, src.Close())
	}
	host, err := boxsum.NewSquaredTable[S, Q](size.Width, size.Height, job.channels)
	if err != nil {
		return nil, errors.Join(err, src.Close(), dst.Close())
	}
	return &deviceWork{
		deviceJob: job,
		pixels:    bytesOf(images[0].Pix),
		integrate: func() error { return gpu.IntegrateSquaresInto(dst, src, job.opt) },
		roundTrip: func() error { return gpu.IntegrateSquaresHostInto(d, host, images[0], job.opt) },
		download: func(i int) error {
			return errors.Join(dst.Sum.DownloadInto(i, host.Sum), dst.Squares.DownloadInto(i, host.Squares))
		},
		compare: func(i int) error {
			return errors.Join(verify[A](host.Sum, images[i], false), verify[A](host.Squares, images[i], true))
		},
		spoil: func() { clear(host.Sum.Sums); clear(host.Squares.Sums) },
		close: func() error { return errors.Join(src.Close(), dst.Close()) },
	}, nil
}

// upload draws the images of a job and takes them to its device.
func upload[P boxsum.Pixel, S boxsum.Sum](job deviceJob) ([]boxsum.Image[P], *gpu.Image[P], error) {
	images, err := randomBatch[P, S](job)
	if err != nil {
		return nil, nil, err
	}
	src, err := gpu.Upload(job.device, images...)
	return images, src, err
}

// randomBatch is a random image, and others that are it turned on by so many
// values, so that each has a table of its own.
func randomBatch[P boxsum.Pixel, S boxsum.Sum](job deviceJob) ([]boxsum.Image[P], error) {
	first, err := randomImage[P, S](job.size, job.channels)
	if err != nil {
		return nil, err
	}
	images := []boxsum.Image[P]{first}
	for i := 1; i < job.batch; i++ {
		next, from := first, i*7%len(first.Pix)
		next.Pix = slices.Concat(first.Pix[from:], first.Pix[:from])
		images = append(images, next)
	}
	return images, nil
}

// check compares what went from host to host with the reference, and then all
// tables of the device.
func (w *deviceWork) check() error {
	if err := w.checkOne(0, w.roundTrip); err != nil {
		return fmt.Errorf("host to host: %w", err)
	}
	if err := w.integrate(); err != nil {
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
func (w *deviceWork) checkOne(i int, fetch func() error) error {
	w.spoil()
	if err := fetch(); err != nil {
		return err
	}
	return w.compare(i)
}

// A limit is what memory alone would take on a device.
type limit interface {
	Run() error
	Close() error
}

// field is who takes turns: the kernels and a copy of as many bytes, or beside
// integral histograms a fill of theirs, between events of the device, and where alone
// is false the way from host to host, by the clock on the wall. Close the limit
// afterwards.
func (w *deviceWork) field(c Case, alone bool) ([]contestant, limit, error) {
	read, written := c.bytes(w.size)
	result := func(name string, images int) Result {
		r := newResult(name, c, w.size, 0, int64(images)*(read+written), true)
		r.On = w.device.Info().Kind.String()
		if images > 1 {
			r.Batch = images
		}
		return r
	}
	beside := result(LimitDevice, w.batch)
	beside.Verified = false
	var memory limit
	var err error
	if _, ok := c.bins(); ok {
		beside.Algorithm, beside.Bytes = LimitDeviceFill, int64(w.batch)*written
		memory, err = launch.NewFill(w.device, beside.Bytes)
	} else {
		memory, err = launch.NewCopy(w.device, beside.Bytes/2)
	}
	if err != nil {
		return nil, nil, err
	}
	field := []contestant{
		{result(Boxsum, w.batch), deviceTimed(w.device, w.integrate)},
		{beside, deviceTimed(w.device, memory.Run)},
	}
	if !alone {
		field = append(field, contestant{result(EndToEnd, 1), timed(w.roundTrip)})
	}
	return field, memory, nil
}

// deviceTimed is a contestant's turn that queues work on a device, timed by the
// device itself. It does not wait for the runs before: they keep the device busy
// while the host queues the one that counts.
func deviceTimed(d *gpu.Device, queue func() error) func(warm int) (time.Duration, error) {
	return func(warm int) (time.Duration, error) {
		for range warm {
			if err := queue(); err != nil {
				return 0, err
			}
		}
		times, err := d.Time(1, queue)
		if err != nil {
			return 0, err
		}
		return times[0], nil
	}
}
