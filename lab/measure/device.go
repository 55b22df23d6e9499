package measure

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/gpu"
	"github.com/boxsum/boxsum/histogram"
	"github.com/boxsum/boxsum/internal/launch"
	"github.com/boxsum/boxsum/internal/pixels"
	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/rotated"
	"github.com/boxsum/boxsum/volume"
)

// A DeviceJob specifies the work to prepare on a device.
type DeviceJob struct {
	Device *gpu.Device
	Opt    *gpu.Options
	Size   Size

	Channels, Batch int
}

// onDevice returns the options for work from host memory to host memory.
func (job *DeviceJob) onDevice() *boxsum.Options {
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

// work returns the work whose pixels and tables are on the device. If there was an error it frees
// them and returns the error.
func (job DeviceJob) work(host *Work, src, dst io.Closer, err error, queue func() error, download func(int) error, roundTrip func() error) (*DeviceWork, error) {
	w := &DeviceWork{Host: host, device: job.Device, queue: queue, roundTrip: roundTrip, download: download, owned: []io.Closer{src, dst}}
	if err != nil {
		return nil, errors.Join(err, w.Close())
	}
	return w, nil
}

// deviceKinds makes the tables of one pair of types on devices, of images of any type. It is nil in
// programs built without GPU support and for types that devices do not support.
type deviceKinds struct {
	pair deviceCalls
	sums deviceTables
}

func (k *deviceKinds) upright(job DeviceJob, images ...any) (*DeviceWork, error) {
	if k == nil {
		return nil, errors.ErrUnsupported
	}
	return k.sums.upright(&k.pair, job, images)
}

func (k *deviceKinds) tilted(job DeviceJob, images ...any) (*DeviceWork, error) {
	if k == nil {
		return nil, errors.ErrUnsupported
	}
	return k.sums.tilted(&k.pair, job, images)
}

func (k *deviceKinds) rotated(job DeviceJob, rot rotated.Rotation, images ...any) (*DeviceWork, error) {
	if k == nil {
		return nil, errors.ErrUnsupported
	}
	return k.sums.rotated(&k.pair, job, rot, images)
}

func (k *deviceKinds) volume(job DeviceJob) (*DeviceWork, error) {
	if k == nil {
		return nil, errors.ErrUnsupported
	}
	return k.sums.volume(&k.pair, job)
}

func (k *deviceKinds) pipeline(job DeviceJob, tables int, images ...any) (*Pipeline, error) {
	if k == nil {
		return nil, errors.ErrUnsupported
	}
	return k.sums.pipeline(&k.pair, job, tables, images)
}

// onDevices returns the tables that devices make for a pair of types. The API of package gpu is
// generic.
func onDevices(pair raster.Pair) *deviceKinds {
	if !launch.GPU {
		return nil
	}
	switch pair.String() {
	case "u8:u32":
		return deviceKindsOf[uint8, uint32]()
	case "u8:u64":
		return deviceKindsOf[uint8, uint64]()
	case "u8:f32":
		return deviceKindsOf[uint8, float32]()
	case "u8:f64":
		return deviceKindsOf[uint8, float64]()
	case "u8:i64":
		return deviceKindsOf[uint8, int64]()
	case "u16:u64":
		return deviceKindsOf[uint16, uint64]()
	case "u16:f64":
		return deviceKindsOf[uint16, float64]()
	case "u16:u32":
		return deviceKindsOf[uint16, uint32]()
	case "u32:u64":
		return deviceKindsOf[uint32, uint64]()
	case "u32:u32":
		return deviceKindsOf[uint32, uint32]()
	case "i16:i64":
		return deviceKindsOf[int16, int64]()
	case "i16:f64":
		return deviceKindsOf[int16, float64]()
	case "i32:i64":
		return deviceKindsOf[int32, int64]()
	case "f32:f64":
		return deviceKindsOf[float32, float64]()
	case "f32:f32":
		return deviceKindsOf[float32, float32]()
	case "f64:f64":
		return deviceKindsOf[float64, float64]()
	}
	return nil
}

// deviceCalls holds the functions of package gpu for a pair of types. Images and tables are the
// values of that package with those types, such as a *gpu.Image and a *gpu.Table.
type deviceCalls struct {
	pixel                            raster.Type
	upload                           func(d *gpu.Device, images []any) (io.Closer, error)
	uploadVolume                     func(d *gpu.Device, voxels *raster.Array) (io.Closer, error)
	upright, tilted, rotated, volume func(dst, src io.Closer, opt *gpu.Options) error
	lock                             func(d *gpu.Device, images []any) (locked []any, frees []func() error, err error)
	pipeline                         func(ctx context.Context, d *gpu.Device, in iter.Seq2[any, any], given bool, opt *gpu.PipelineOptions) iter.Seq2[any, error]
}

func deviceKindsOf[P boxsum.Pixel, S boxsum.Sum]() *deviceKinds {
	return &deviceKinds{
		deviceCalls{
			pixel:        raster.TypeOf[P](),
			upload:       upload[P],
			uploadVolume: uploadVolume[P],
			upright: func(dst, src io.Closer, opt *gpu.Options) error {
				return gpu.IntegrateInto(dst.(*gpu.Table[S]), src.(*gpu.Image[P]), opt)
			},
			tilted: func(dst, src io.Closer, opt *gpu.Options) error {
				return gpu.IntegrateTiltedInto(dst.(*gpu.TiltedTable[S]), src.(*gpu.Image[P]), opt)
			},
			rotated: func(dst, src io.Closer, opt *gpu.Options) error {
				return gpu.IntegrateRotatedInto(dst.(*gpu.RotatedTable[S]), src.(*gpu.Image[P]), opt)
			},
			volume: func(dst, src io.Closer, opt *gpu.Options) error {
				return gpu.IntegrateVolumeInto(dst.(*gpu.VolumeTable[S]), src.(*gpu.Volume[P]), opt)
			},
			lock:     lockedImages[P],
			pipeline: pipelined[S, P],
		},
		deviceTables{deviceUpright[S], deviceTilted[S], deviceRotated[S], deviceVolume[S], newPipeline[S]},
	}
}

// deviceTables holds the functions that prepare work for one type of sums and any type of pixels.
type deviceTables struct {
	upright, tilted func(pair *deviceCalls, job DeviceJob, images []any) (*DeviceWork, error)
	rotated         func(pair *deviceCalls, job DeviceJob, rot rotated.Rotation, images []any) (*DeviceWork, error)
	volume          func(pair *deviceCalls, job DeviceJob) (*DeviceWork, error)
	pipeline        func(pair *deviceCalls, job DeviceJob, tables int, images []any) (*Pipeline, error)
}

func upload[P boxsum.Pixel](d *gpu.Device, images []any) (io.Closer, error) {
	return gpu.Upload(d, imagesAs[P](images)...)
}

func uploadVolume[P boxsum.Pixel](d *gpu.Device, voxels *raster.Array) (io.Closer, error) {
	return gpu.UploadVolume(d, volume.Volume[P]{
		Pix: raster.Elems[P](voxels.Data), Stride: voxels.Stride, SliceStride: voxels.SliceStride,
		Width: voxels.Width, Height: voxels.Height, Depth: voxels.Depth, Channels: voxels.Channels,
	})
}

// imagesAs returns images as images of type P.
func imagesAs[P boxsum.Pixel](images []any) (all []boxsum.Image[P]) {
	for _, img := range images {
		all = append(all, img.(boxsum.Image[P]))
	}
	return all
}

func deviceUpright[S boxsum.Sum](pair *deviceCalls, job DeviceJob, images []any) (*DeviceWork, error) {
	w, host, noHost := uprightWork[S](images...)
	first := pixels.Of(images[0])
	src, noSrc := pair.upload(job.Device, images)
	dst, noDst := gpu.NewTable[S](job.Device, first.Width, first.Height, first.Channels, len(images))
	return job.work(w, src, dst, cmp.Or(noHost, noSrc, noDst),
		func() error { return pair.upright(dst, src, job.Opt) },
		func(i int) error { return dst.DownloadInto(i, host) },
		func() error { return w.Run(*job.onDevice()) })
}

func deviceTilted[S boxsum.Sum](pair *deviceCalls, job DeviceJob, images []any) (*DeviceWork, error) {
	w, host, noHost := tiltedWork[S](images...)
	first := pixels.Of(images[0])
	src, noSrc := pair.upload(job.Device, images)
	dst, noDst := gpu.NewTiltedTable[S](job.Device, first.Width, first.Height, first.Channels, len(images))
	return job.work(w, src, dst, cmp.Or(noHost, noSrc, noDst),
		func() error { return pair.tilted(dst, src, job.Opt) },
		func(i int) error { return dst.DownloadInto(i, host) },
		func() error { return w.Run(Options{On: job.Device, Level: job.onDevice().Level}) })
}

func deviceRotated[S boxsum.Sum](pair *deviceCalls, job DeviceJob, rot rotated.Rotation, images []any) (*DeviceWork, error) {
	w, host, noHost := rotatedWork[S](rot, images...)
	first := pixels.Of(images[0])
	src, noSrc := pair.upload(job.Device, images)
	dst, noDst := gpu.NewRotatedTable[S](job.Device, first.Width, first.Height, first.Channels, len(images), rot)
	return job.work(w, src, dst, cmp.Or(noHost, noSrc, noDst),
		func() error { return pair.rotated(dst, src, job.Opt) },
		func(i int) error { return dst.DownloadInto(i, host) },
		func() error { return w.Run(Options{On: job.Device, Level: job.onDevice().Level}) })
}

// besideUprightOn adds the upright table of the same images to the work of another kind of table.
func besideUprightOn(all *deviceKinds, of func(DeviceJob, ...any) (*DeviceWork, error)) func(DeviceJob, ...any) (*DeviceWork, error) {
	return func(job DeviceJob, images ...any) (*DeviceWork, error) {
		w, err := of(job, images...)
		if err != nil {
			return nil, err
		}
		upright, err := all.upright(job, images...)
		if err != nil {
			return nil, errors.Join(err, w.Close())
		}
		w.Upright = upright
		w.owned = append(w.owned, upright)
		return w, nil
	}
}

func deviceSquared(job DeviceJob, images ...any) (*DeviceWork, error) {
	if !launch.GPU {
		return nil, errors.ErrUnsupported
	}
	d, all := job.Device, imagesAs[uint8](images)
	w, host, noHost := squaredWork(images...)
	src, noSrc := gpu.Upload(d, all...)
	dst, noDst := gpu.NewSquaredTable[uint32, uint64](d, all[0].Width, all[0].Height, all[0].Channels, len(all))
	plain := new(gpu.Options) // time only the table, without examining pixels for an offset
	if job.Opt != nil {
		*plain = *job.Opt
	}
	plain.Plain = true
	return job.work(w, src, dst, cmp.Or(noHost, noSrc, noDst),
		func() error { return gpu.IntegrateSquaresInto(dst, src, plain) },
		func(i int) error {
			return errors.Join(dst.Sum.DownloadInto(i, host.Sum), dst.Squares.DownloadInto(i, host.Squares))
		},
		func() error { return boxsum.IntegrateSquaresInto(host, all[0], job.onDevice()) })
}

func deviceHistogram(job DeviceJob, bins histogram.Bins, images ...any) (*DeviceWork, error) {
	if !launch.GPU {
		return nil, errors.ErrUnsupported
	}
	d, all := job.Device, imagesAs[uint8](images)
	w, host, noHost := histogramWork(bins, images...)
	src, noSrc := gpu.Upload(d, all...)
	dst, noDst := gpu.NewHistogram[uint8](d, all[0].Width, all[0].Height, all[0].Channels, len(all), bins)
	return job.work(w, src, dst, cmp.Or(noHost, noSrc, noDst),
		func() error { return gpu.IntegrateHistogramInto(dst, src, job.Opt) },
		func(i int) error { return dst.DownloadInto(i, host) },
		func() error {
			return histogram.IntegrateInto(host, all[0], &histogram.Options{On: d, Level: job.onDevice().Level})
		})
}

func deviceVolume[S boxsum.Sum](pair *deviceCalls, job DeviceJob) (*DeviceWork, error) {
	if job.Batch > 1 {
		return nil, errors.New("volumes are measured one at a time: leave out --batch")
	}
	img, err := randomVolume(raster.Pair{Pixel: pair.pixel, Sum: raster.TypeOf[S]()}, job.Size, job.Channels)
	if err != nil {
		return nil, err
	}
	w, host, noHost := volumeWork[S](img, job.Size)
	voxels := voxelsOf(img, job.Size)
	src, noSrc := pair.uploadVolume(job.Device, &voxels)
	dst, noDst := gpu.NewVolumeTable[S](job.Device, voxels.Width, voxels.Height, voxels.Depth, voxels.Channels)
	return job.work(w, src, dst, cmp.Or(noHost, noSrc, noDst),
		func() error { return pair.volume(dst, src, job.Opt) },
		func(int) error { return dst.DownloadInto(host) },
		func() error { return w.Run(*job.onDevice()) })
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
func randomBatch(p raster.Pair, job DeviceJob) ([]any, error) {
	first, err := randomImage(p.Pixel, exactBits(p.Sum), job.Size, job.Channels)
	if err != nil {
		return nil, err
	}
	images := []any{first}
	for i := 1; i < job.Batch; i++ {
		next, err := raster.NewPixelArray(p.Pixel, raster.PlaneExtent(job.Size.Width, job.Size.Height, job.Channels, 0))
		if err != nil {
			return nil, err
		}
		from, to := pixels.Of(first).Data, next.Data
		n := i * 7 * p.Pixel.Bytes() % len(from)
		copy(to[copy(to, from[n:]):], from[:n])
		img, err := pixels.Image(next)
		if err != nil {
			return nil, err
		}
		images = append(images, img)
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

// Contestant returns a contestant that times the kernels with events of the device or, with host,
// the way from host to host by the clock.
func (w *DeviceWork) Contestant(host bool) *Contestant {
	c := &Contestant{Run: OnEvents(w.device, w.queue), Check: func() error { return w.check(host) }, Close: w.Close, Queue: w.queue}
	if host {
		c.Run = OnClock(w.roundTrip)
	}
	return c
}

// DeviceCopy copies bytes/2 bytes on a device, which reads half of the bytes and writes half, and
// DeviceFill writes bytes.
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
