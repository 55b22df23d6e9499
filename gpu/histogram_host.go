package gpu

import (
	"errors"
	"fmt"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/histogram"
)

// IntegrateHistogramHost makes the integral histogram of an image in host memory on a
// device. The image goes there in bands of rows, each carrying on from the last row of
// the one above, so that the histogram need not fit the device.
func IntegrateHistogramHost[P boxsum.Pixel](d *Device, src boxsum.Image[P], bins histogram.Bins, opt *Options) (*histogram.Table[uint32], error) {
	src, err := checkedImage(src)
	if err != nil {
		return nil, err
	}
	if _, err := histogramOptions(opt); err != nil {
		return nil, err
	}
	if bins, err = histogram.Over[P](bins); err != nil {
		return nil, fmt.Errorf("gpu: %w", err)
	}
	if err := d.enter(); err != nil {
		return nil, err
	}
	defer d.leave()
	dst, err := histogram.NewTable[uint32](src.Width, src.Height, src.Channels, bins)
	if err != nil {
		return nil, err
	}
	if err := IntegrateHistogramHostInto(d, dst, src, opt); err != nil {
		return nil, err
	}
	return dst, nil
}

// IntegrateHistogramHostInto is [IntegrateHistogramHost] into a table that is already
// there, which must have the image's size.
func IntegrateHistogramHostInto[P boxsum.Pixel](d *Device, dst *histogram.Table[uint32], src boxsum.Image[P], opt *Options) error {
	way, err := histogramOptions(opt)
	if err != nil {
		return err
	}
	if src, err = checkedImage(src); err != nil {
		return err
	}
	if dst == nil {
		return fmt.Errorf("gpu: %w: no table to write to", boxsum.ErrInvalid)
	}
	if dst.Width != src.Width || dst.Height != src.Height || dst.Channels != src.Channels {
		return fmt.Errorf("gpu: %w: a histogram for %d×%d with %d channels cannot take an image of %d×%d with %d",
			boxsum.ErrInvalid, dst.Width, dst.Height, dst.Channels, src.Width, src.Height, src.Channels)
	}
	if dst.Bins, err = histogram.Over[P](dst.Bins); err != nil {
		return fmt.Errorf("gpu: %w", err)
	}
	row := (src.Width + 1) * src.Channels * dst.Bins.N
	if err := fits("histogram", len(dst.Counts), row, row, src.Height+1); err != nil {
		return err
	}
	pixels := stretchOfSlices(src.Pix, src.Width*src.Channels, src.Height, src.Stride, 1, 0)
	if !pixels.apart(stretchOfSlices(dst.Counts, row, src.Height+1, row, 1, 0)) {
		return errOverlap
	}
	rows := max(src.Height, 1)
	if opt != nil && opt.BandRows > 0 {
		rows = min(rows, opt.BandRows)
	}
	for {
		err := histogramInBands(d, dst, src, rows, way)
		if !errors.Is(err, ErrMemory) || rows == 1 {
			return err
		}
		rows = (rows + 1) / 2
	}
}

// histogramInBands makes the table in bands of so many rows.
func histogramInBands[P boxsum.Pixel](d *Device, dst *histogram.Table[uint32], src boxsum.Image[P], rows int, way Kernels) (err error) {
	im, err := NewImage[P](d, src.Width, rows, src.Channels, 1)
	if err != nil {
		return err
	}
	defer func() { err = firstError(err, im.Close()) }()
	h, err := NewHistogram[P](d, src.Width, rows, src.Channels, 1, dst.Bins)
	if err != nil {
		return err
	}
	defer func() { err = firstError(err, h.Close()) }()
	row := (src.Width + 1) * src.Channels * dst.Bins.N
	band := func(first, count int) error {
		pixels, counts := im.array, h.table.array
		pixels.height, counts.height = count, count
		if count > 0 && src.Width > 0 {
			if err := pixels.copyIn(0, hostRows(src.Pix[first*src.Stride:], src.Stride)); err != nil {
				return err
			}
		}
		skip := 0
		if first > 0 { // where the band above ended, which it has delivered
			skip = 1
			last := counts.at.plane
			last.offset += int64(rows) * last.stride
			if err := d.backend.copyWithin(d.stream, counts.at.plane, last, onlyRow(&counts)); err != nil {
				return err
			}
		}
		err := d.histogramIntegrate(histogramJob{
			integrateJob: integrateJob{
				stream: d.stream, pixel: im.element, sum: u32, channels: src.Channels,
				width: src.Width, height: count, count: 1, in: im.at, out: h.table.at, carry: first > 0,
			},
			bins: dst.Bins.N, limits: h.limits,
		}, way)
		if err != nil {
			return err
		}
		counts.height -= skip
		counts.at.offset += int64(skip) * counts.at.stride
		return counts.copyOut(0, hostRows(dst.Counts[(first+skip)*row:], row))
	}
	for first := 0; first == 0 || first < src.Height; first += rows {
		count := min(rows, src.Height-first)
		if err := d.use(func() error { return band(first, count) }); err != nil {
			return err
		}
	}
	return nil
}

// onlyRow is one row of an array.
func onlyRow(a *array) rows { return rows{a.rowBytes(), 1} }
