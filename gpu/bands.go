package gpu

import (
	"errors"
	"slices"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/gpu/internal/devmem"
	"github.com/boxsum/boxsum/gpu/internal/driver"
	"github.com/boxsum/boxsum/gpu/internal/method"
	"github.com/boxsum/boxsum/internal/device"
	"github.com/boxsum/boxsum/internal/raster"
)

// A banded is work on an image in host memory in which each row of results depends only on nearby
// rows of pixels. It is divided into bands of rows, so several devices can share it, and each needs
// little memory. On a device, the pixels of a band are an image of their own, whose first and last
// rows are its edges.
type banded struct {
	method       method.Method
	way          method.Way
	src          *raster.Array
	frames       []raster.Array  // if not nil, images of the size of src, which is one of them, that a result needs
	results      []*raster.Array // all of one height
	deviations   bool            // the last result depends on the squares of pixels
	above, below int             // number of rows of pixels that a row of results needs before and after its own
	whole        bool            // rows of results depend on all rows of pixels
	options      *device.Options
}

// shareRows is the number of rows for which another device is worth its overhead.
const shareRows = 64

// parts returns the number of devices among which to divide the work.
func (b *banded) parts() int {
	if b.whole {
		return 1
	}
	return b.results[0].Height / max(shareRows, b.above+b.below)
}

// rows computes rows on one device: all at once or, if the device has too little memory, in
// bands of half the height.
func (b *banded) rows(d *Device, from, to int) error {
	if b.src.Width == 0 {
		return nil
	}
	for rows := to - from; from < to; {
		if ctx := b.options.Context; ctx != nil && ctx.Err() != nil {
			return ctx.Err()
		}
		rows = min(rows, to-from)
		on, err := b.load(d.mem(), from, from+rows)
		if err == nil {
			err = using(on.src, func() error {
				if err := method.Run(b.method, on.job(b), b.way); err != nil {
					return err
				}
				return on.store(b)
			})
		}
		err = driver.FirstError(err, on.close())
		if errors.Is(err, boxsum.ErrMemory) && !b.whole && rows >= max(2, b.above+b.below) {
			rows = (rows + 1) / 2
			continue
		}
		if err != nil {
			return err
		}
		from += rows
	}
	return nil
}

// A band is the memory of some rows on a device.
type band struct {
	src      *devmem.Array
	results  []*devmem.Array
	from, to int // rows of the results
	first    int // the row of pixels that is the first row of src
}

// load copies the pixels for some rows of results to a device, and allocates memory for the
// results. The band must be closed even if load returns an error.
func (b *banded) load(d *devmem.Device, from, to int) (on band, err error) {
	on = band{from: from, to: to, first: max(0, from-b.above)}
	end := min(b.src.Height, to+b.below)
	if b.whole {
		on.first, end = 0, b.src.Height
	}
	images := slices.Clone(b.frames)
	if images == nil {
		images = []raster.Array{*b.src}
	}
	for i := range images {
		a := &images[i]
		a.Data, a.Height = a.From(on.first*a.Stride), end-on.first
	}
	if on.src, err = uploadImages(d, images); err != nil {
		return on, err
	}
	for _, r := range b.results {
		a := arrayOf(r)
		a.Height -= b.src.Height - (end - on.first)
		if a, err = d.Make(a); err != nil {
			return on, err
		}
		on.results = append(on.results, &a)
	}
	return on, nil
}

// job returns the job that computes the results, whose size may differ from that of the pixels.
func (on *band) job(b *banded) method.Job {
	first, second := on.results[0], (*devmem.Array)(nil)
	if b.deviations {
		second = on.results[len(on.results)-1]
	}
	job := method.Of(first, second, on.src, 0)
	job.Count = 1
	job.Width, job.Height, job.Context = first.Width, first.Height, b.options.Context
	return job
}

// store copies the results to the host.
func (on *band) store(b *banded) error {
	for i, r := range b.results {
		part := *on.results[i]
		part.At.Offset += int64(on.from-on.first) * part.At.Stride
		part.Height = on.to - on.from
		if err := part.CopyOut(0, rowsOf(r).From(on.from)); err != nil {
			return err
		}
	}
	return nil
}

// close frees the memory.
func (on *band) close() (err error) {
	for _, a := range on.results {
		err = driver.FirstError(err, a.Close())
	}
	if on.src != nil {
		err = driver.FirstError(err, on.src.Close())
	}
	return err
}
