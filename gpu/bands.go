package gpu

import (
	"errors"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/gpu/internal/devmem"
	"github.com/boxsum/boxsum/gpu/internal/driver"
	"github.com/boxsum/boxsum/internal/device"
	"github.com/boxsum/boxsum/internal/raster"
)

// A banded is work on an image in host memory whose rows of results depend on nearby rows
// of pixels only. It is done in bands of rows, by several devices at once and with little
// memory.
type banded struct {
	src          *raster.Array
	results      []*raster.Array // all have one height
	above, below int             // the number of rows of pixels that a row of results needs before and after its own
	whole        bool            // rows of results depend on all rows of pixels
	options      *device.Options
	// compute queues the computation of the results of a band. The first and the last rows
	// of its pixels are the edges of an image.
	compute func(src *devmem.Array, results []*devmem.Array) error
}

// shareRows is the number of rows below which a band is not worth another device.
const shareRows = 64

// run computes all rows, on all devices of d at once.
func (b *banded) run(d *Device) error {
	height, bands := b.results[0].Height, 1
	if !b.whole {
		bands = height / max(shareRows, b.above+b.below)
	}
	return d.share(height, bands, b.options, b.rows)
}

// rows computes rows on one device, in halves where it has too little memory.
func (b *banded) rows(d *Device, from, to int) error {
	if ctx := b.options.Context; ctx != nil && ctx.Err() != nil {
		return ctx.Err()
	}
	err := b.band(d, from, to)
	if !errors.Is(err, boxsum.ErrMemory) || b.whole || to-from < max(2, b.above+b.below) {
		return err
	}
	middle := from + (to-from)/2
	if err := b.rows(d, from, middle); err != nil {
		return err
	}
	return b.rows(d, middle, to)
}

// band computes rows on one device, which must have room for them.
func (b *banded) band(d *Device, from, to int) (err error) {
	first, end := max(0, from-b.above), min(b.src.Height, to+b.below)
	if b.whole {
		first, end = 0, b.src.Height
	}
	pixels := *b.src
	pixels.Data, pixels.Height = b.src.From(first*b.src.Stride), end-first
	src, err := uploadImage(d.mem(), &pixels)
	if err != nil {
		return err
	}
	defer func() { err = driver.FirstError(err, src.Close()) }()
	results := make([]*devmem.Array, len(b.results))
	for i, r := range b.results {
		a := arrayOf(r)
		a.Height -= b.src.Height - pixels.Height
		if a, err = src.Device.Make(a); err != nil {
			return err
		}
		defer func() { err = driver.FirstError(err, a.Close()) }()
		results[i] = &a
	}
	return using(src, func() error {
		if err := b.compute(src, results); err != nil {
			return err
		}
		for i, r := range b.results {
			part := *results[i]
			part.At.Offset += int64(from-first) * part.At.Stride
			part.Height = to - from
			if err := part.CopyOut(0, rowsOf(r).From(from)); err != nil {
				return err
			}
		}
		return nil
	})
}
