package gpu

import (
	"cmp"
	"errors"
	"unsafe"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/gpu/internal/devmem"
	"github.com/boxsum/boxsum/gpu/internal/driver"
	"github.com/boxsum/boxsum/gpu/internal/inside"
	"github.com/boxsum/boxsum/gpu/internal/method"
	"github.com/boxsum/boxsum/gpu/internal/transfer"
	"github.com/boxsum/boxsum/internal/bins"
	"github.com/boxsum/boxsum/internal/cascade"
	"github.com/boxsum/boxsum/internal/device"
	"github.com/boxsum/boxsum/internal/oriented"
	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/internal/window"
	"github.com/boxsum/boxsum/match"
	"github.com/boxsum/boxsum/rotated"
)

func init() {
	inside.Wrap = func(m *devmem.Device) any { return wrap(m) }
	inside.Integrate = integrate
}

// integrate queues tables of one kind.
func integrate(kind device.Kind, src, sums, squares *devmem.Array) error {
	t := tablesOfKind(kind)
	t.sums, t.squares = sums, squares
	return t.integrate(src, nil)
}

// tablesOfKind describes how tables of a kind are computed.
func tablesOfKind(kind device.Kind) tables {
	switch kind {
	case device.Volume:
		return tables{method: method.Volume{}}
	case device.Tilted:
		return tables{method: method.Tilted{}, noOffset: noTiltedOffset}
	}
	return tables{method: method.Plane{}}
}

// A runner performs work that other packages request, from host memory to host
// memory.
type runner struct{ device *Device }

// Resident returns the zero value: the images of jobs are in host memory.
func (r runner) Resident() device.Resident { return device.Resident{} }

// Tables computes the table of an image or a volume, and that of its squares.
func (r runner) Tables(job *device.Tables) error {
	if err := method.PairError(job.Src.Type, job.Sums.Type, job.Squares.Type); err != nil {
		return err
	}
	if err := countable(&job.Src); err != nil {
		return err
	}
	switch job.Kind {
	case device.Upright:
		return r.device.shared().Run(work(method.Plane{}, job))
	case device.Volume:
		return r.device.shared().Run(volumeWork(job))
	case device.Tilted:
		return r.device.onOne(func(d *Device) error { return tilt(d.inner, job) })
	}
	return raster.Invalid("kind of table is %d, want upright, tilted or volume", job.Kind)
}

// countable returns an error if an array has too many rows, columns or slices for
// the kernels.
func countable(a *raster.Array) error {
	on := arrayOf(a)
	on.Count = max(a.Depth, 1)
	_, err := on.Layout()
	return err
}

// arrayOf returns the array that an image will have on a device.
func arrayOf(a *raster.Array) devmem.Array {
	return devmem.Array{Element: a.Type, Width: a.Width, Height: a.Height, Channels: a.Channels, Count: 1}
}

// rowsOf returns the location of the rows of an array.
func rowsOf(a *raster.Array) devmem.Host {
	return devmem.Host{At: unsafe.Pointer(unsafe.SliceData(a.Data)), Stride: int64(a.Stride) * int64(a.Type.Bytes())}
}

// work returns a job that goes to devices in bands of rows.
func work(m method.Method, job *device.Tables) *transfer.Work {
	src := &job.Src
	w := &transfer.Work{
		Method: m, Way: wayOf(&job.Options), Units: src.Height,
		Piece: job.Options.BandRows, Context: job.Options.Context, Progress: job.Options.Progress,
		Job: method.Job{
			Pixel: src.Type, Sum: job.Sums.Type, Square: job.Squares.Type,
			Channels: src.Channels, Width: src.Width, Height: src.Height, Count: 1, Offset: float64(job.Offset),
		},
	}
	for i, a := range []*raster.Array{src, &job.Sums, &job.Squares} {
		if a.Type != 0 {
			w.Sides[i] = transfer.Rows(rowsOf(a))
		}
	}
	return w
}

// volumeWork returns a job that goes to devices in slabs of slices.
func volumeWork(job *device.Tables) *transfer.Work {
	w := work(method.Volume{}, job)
	w.Volume, w.Units = true, job.Src.Depth
	for i, a := range []*raster.Array{&job.Src, &job.Sums, &job.Squares} {
		w.Sides[i].Unit = int64(a.SliceStride) * int64(a.Type.Bytes())
	}
	return w
}

// wayOf returns the kernels to use for a job.
func wayOf(o *device.Options) method.Way {
	if o.Portable {
		return method.Portable
	}
	return method.Auto
}

// optionsOf returns the options for images on the device.
func optionsOf(o *device.Options) *Options {
	opt := &Options{Context: o.Context}
	if o.Portable {
		opt.Kernels = Portable
	}
	return opt
}

// reportDone reports that all work is done.
func reportDone(o *device.Options) {
	if o.Progress != nil {
		o.Progress(1)
	}
}

// uploadImage copies an image to a device.
func uploadImage(d *devmem.Device, src *raster.Array) (*devmem.Array, error) {
	return uploadImages(d, []raster.Array{*src})
}

// uploadImages copies images of one size and type to a device.
func uploadImages(d *devmem.Device, images []raster.Array) (*devmem.Array, error) {
	a := arrayOf(&images[0])
	a.Count = len(images)
	a, err := d.Make(a)
	if err != nil {
		return nil, err
	}
	if err := using(&a, func() (err error) {
		for i := 0; i < len(images) && err == nil; i++ {
			err = a.CopyIn(i, rowsOf(&images[i]))
		}
		return err
	}); err != nil {
		return nil, driver.FirstError(err, a.Close())
	}
	return &a, nil
}

// tilt computes tilted tables on one device, which must have room for them and the
// image.
func tilt(d *devmem.Device, job *device.Tables) (err error) {
	src, err := uploadImage(d, &job.Src)
	if err != nil {
		return err
	}
	defer func() { err = driver.FirstError(err, src.Close()) }()
	sums, squares := tables{method: method.Tilted{}, noOffset: noTiltedOffset}, tables{method: method.Tilted{Squared: true}, noOffset: noTiltedOffset, squared: true}
	if job.Squares.Type == 0 {
		err = sums.bring(src, &job.Options, &job.Sums, nil)
	} else {
		err = sums.bring(src, &job.Options, &job.Sums, &job.Squares)
		if errors.Is(err, boxsum.ErrMemory) { // compute one after the other, because these tables cannot be divided into bands
			err = sums.bring(src, &job.Options, &job.Sums, nil)
			if err == nil {
				err = squares.bring(src, &job.Options, &job.Squares, nil)
			}
		}
	}
	if err == nil {
		reportDone(&job.Options)
	}
	return err
}

// bring computes tables of an image on a device and copies them to the host.
// squares may be nil.
func (t tables) bring(src *devmem.Array, opt *device.Options, sums, squares *raster.Array) (err error) {
	take := func(a *raster.Array) (*devmem.Array, error) {
		on := arrayOf(a)
		on.Border = 1
		on, err := src.Device.Make(on)
		return &on, err
	}
	if t.sums, err = take(sums); err != nil {
		return err
	}
	defer func() { err = driver.FirstError(err, t.sums.Close()) }()
	if squares != nil {
		if t.squares, err = take(squares); err != nil {
			return err
		}
		defer func() { err = driver.FirstError(err, t.squares.Close()) }()
	}
	if err := t.integrate(src, optionsOf(opt)); err != nil {
		return err
	}
	return using(src, func() error {
		if err := t.sums.CopyOut(0, rowsOf(sums)); err != nil || squares == nil {
			return err
		}
		return t.squares.CopyOut(0, rowsOf(squares))
	})
}

// Histogram computes an integral histogram.
func (r runner) Histogram(job *device.Histogram) error {
	if err := countable(&job.Src); err != nil {
		return err
	}
	counts := raster.Array{Data: job.Counts, Type: raster.U32, Extent: job.Src.Extent}
	counts.Stride = (job.Src.Width + 1) * job.Src.Channels * job.Range.N
	w := work(nil, &device.Tables{Src: job.Src, Sums: counts, Options: job.Options})
	w.Job.Bins = job.Range.N
	w.Prepare = func(m *devmem.Device) (method.Method, func() error, error) {
		var limits method.Limits
		err := m.Use(func() (err error) {
			limits, err = method.NewLimits(m, job.Src.Type, job.Range.N, job.Range.Clamp, bins.Range(job.Range))
			return err
		})
		return method.Histogram{Limits: &limits}, func() error { return m.FreeBuffer(limits.At) }, err
	}
	return r.device.shared().Run(w)
}

// Rotated computes a table along the lines of a rotation, on one device, which must
// have room for it and the image.
func (r runner) Rotated(job *device.Rotated) error {
	if err := method.PairError(job.Src.Type, job.Sum, 0); err != nil {
		return err
	}
	return r.device.onOne(func(d *Device) (err error) {
		src, err := uploadImage(d.inner, &job.Src)
		if err != nil {
			return err
		}
		defer func() { err = driver.FirstError(err, src.Close()) }()
		t, err := rotatedTablesOf(src, job)
		if err != nil {
			return err
		}
		defer func() { err = driver.FirstError(err, t.free()) }()
		if err := t.tables().integrate(src, optionsOf(&job.Options)); err != nil {
			return err
		}
		if err := t.download(0, &job.Dst); err != nil {
			return err
		}
		reportDone(&job.Options)
		return nil
	})
}

// rotatedTablesOf allocates the tables of images for a job.
func rotatedTablesOf(src *devmem.Array, job *device.Rotated) (*rotatedTables, error) {
	t := new(rotatedTables)
	images := devmem.Array{Element: job.Sum, Width: src.Width, Height: src.Height, Channels: src.Channels, Count: src.Count, Border: 1}
	return t, t.make(src.Device, images, rotated.Rotation{A: job.A, B: job.B})
}

// Filter computes means and standard deviations of windows.
func (r runner) Filter(job *device.Filter) error {
	pixel, mean, dev := job.Src.Type, job.Mean.Type, job.Dev.Type
	m := method.Filter{Kind: method.StatsFilter, Shape: window.OfDevice(job.Window), NoMean: mean == 0}
	switch {
	case pixel != raster.U8 && pixel != raster.U16:
		return raster.Unsupported("pixels are %v, want uint8 or uint16 for filters on a device", pixel)
	case mean == pixel && dev == 0:
		m.Kind = method.BoxFilter
	case mean != 0 && mean != raster.F32 || dev != 0 && dev != raster.F32:
		return raster.Unsupported("means and deviations have type %v, want float32 on a device", cmp.Or(mean, dev))
	}
	var results []*raster.Array
	for _, a := range []*raster.Array{&job.Mean, &job.Dev} {
		if a.Type != 0 {
			results = append(results, a)
		}
	}
	b, err := windowed(&m, &job.Src, results, &job.Options)
	if err != nil {
		return err
	}
	b.deviations = dev != 0
	return r.device.share(job.Src.Height, b.parts(), &job.Options, b.rows)
}

// Threshold binarizes an image by the windows around its pixels.
func (r runner) Threshold(job *device.Threshold) error {
	if p := job.Src.Type; p != raster.U8 && p != raster.U16 {
		return raster.Unsupported("pixels are %v, want uint8 or uint16 for thresholds on a device", p)
	}
	m := method.Filter{Kind: method.SauvolaFilter, Shape: window.OfDevice(job.Window), K: job.K, InverseR: job.InverseR}
	b, err := windowed(&m, &job.Src, []*raster.Array{&job.Dst}, &job.Options)
	if err != nil {
		return err
	}
	return r.device.share(job.Src.Height, b.parts(), &job.Options, b.rows)
}

// Match scores all positions of a template.
func (r runner) Match(job *device.Match) error {
	src, template := &job.Src, &job.Template
	if src.Type != raster.U8 || src.Channels != 1 {
		return raster.Unsupported("image has pixels of %v with %d channels, want uint8 with 1 channel on a device", src.Type, src.Channels)
	}
	t, err := matchOf(boxsum.Image[uint8]{Pix: template.Data, Width: template.Width, Height: template.Height, Stride: template.Stride, Channels: 1}, match.Method(job.Method))
	if err != nil {
		return err
	}
	b := banded{
		method: t, way: method.Portable, src: src, results: []*raster.Array{&job.Scores}, below: template.Height - 1, options: &job.Options,
	}
	return r.device.share(job.Scores.Height, b.parts(), &job.Options, b.rows)
}

// Detect finds the windows that pass a cascade.
func (r runner) Detect(job *device.Detect) error {
	job.Found = make([][]cascade.Found, len(job.Images))
	return r.eachImage(job.Images, &job.Options, func(images method.Job, from, to int) error {
		found, err := method.Detect(images, job.Search)
		copy(job.Found[from:to], found)
		return err
	})
}

// DetectHOG finds the windows whose histograms of oriented gradients have a sufficient score.
func (r runner) DetectHOG(job *device.DetectHOG) error {
	job.Found = make([][]oriented.Found, len(job.Images))
	return r.eachImage(job.Images, &job.Options, func(images method.Job, from, to int) error {
		found, err := method.HOG(images, job.Search)
		copy(job.Found[from:to], found)
		return err
	})
}

// eachImage calls search for images of one size, as many at a time as a device has room for.
func (r runner) eachImage(images []raster.Array, opt *device.Options, search func(images method.Job, from, to int) error) error {
	return r.device.share(len(images), len(images), opt, func(d *Device, from, to int) error {
		return searchImages(d, images, opt, from, to, search)
	})
}

// searchImages searches some of the images on one device, in halves where it has too little memory.
func searchImages(d *Device, images []raster.Array, opt *device.Options, from, to int, search func(images method.Job, from, to int) error) error {
	if ctx := opt.Context; ctx != nil && ctx.Err() != nil {
		return ctx.Err()
	}
	err := searchAtOnce(d, images[from:to], opt, func(there method.Job) error { return search(there, from, to) })
	if errors.Is(err, boxsum.ErrMemory) && to-from > 1 {
		middle := from + (to-from)/2
		if err := searchImages(d, images, opt, from, middle, search); err != nil {
			return err
		}
		return searchImages(d, images, opt, middle, to, search)
	}
	return err
}

// searchAtOnce searches images on one device, which must have room for them.
func searchAtOnce(d *Device, images []raster.Array, opt *device.Options, search func(method.Job) error) (err error) {
	src, err := uploadImages(d.mem(), images)
	if err != nil {
		return err
	}
	defer func() { err = driver.FirstError(err, src.Close()) }()
	return using(src, func() error {
		there := method.Of(src, nil, src, 0)
		there.Context = opt.Context
		return search(there)
	})
}

// windowed returns the work of computing images from the windows around the pixels of another.
func windowed(m *method.Filter, src *raster.Array, results []*raster.Array, opt *device.Options) (*banded, error) {
	if err := m.Fits(src.Type, max(src.Width, 1), max(src.Height, 1)); err != nil {
		return nil, err
	}
	// At the edges of the image, the part of a window on one side is mirrored to the other.
	reach := m.Shape.Height() - 1
	return &banded{
		method: m, way: wayOf(opt), src: src, results: results, above: reach, below: reach, whole: m.Shape.Border == window.Wrap, options: opt,
	}, nil
}
