package gpu

import (
	"errors"
	"fmt"
	"image"
	"math"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/histogram"
)

// A Histogram is integral histograms on a device, one for each of Count images of
// the same size. Each holds what a [histogram.Table] of counts does: entry (x, y) is
// the histogram of the pixels in [0,x)×[0,y), bins innermost.
type Histogram struct {
	table    Table[uint32] // with a channel for every bin of every channel
	channels int           // of the images
	bins     histogram.Bins
	limits   limits
}

// NewHistogram takes device memory for the integral histograms of count images of
// this size and of pixels of type P; zero channels stand for one. What they hold is
// undefined until [IntegrateHistogramInto].
func NewHistogram[P boxsum.Pixel](d *Device, width, height, channels, count int, bins histogram.Bins) (*Histogram, error) {
	if channels == 0 {
		channels = 1
	}
	if _, err := histogram.Bytes[uint32](width, height, channels, bins.N); err != nil {
		return nil, fmt.Errorf("gpu: %w", err)
	}
	bins, err := histogram.Over[P](bins)
	if err != nil {
		return nil, fmt.Errorf("gpu: %w", err)
	}
	if channels > math.MaxInt32/bins.N {
		return nil, fmt.Errorf("gpu: %w: %d bins in %d channels are too many", boxsum.ErrInvalid, bins.N, channels)
	}
	t, err := NewTable[uint32](d, width, height, channels*bins.N, count)
	if err != nil {
		return nil, err
	}
	h := &Histogram{table: *t, channels: channels, bins: bins}
	if h.limits, err = d.newLimits(limitsOf[P](bins)); err != nil {
		return nil, firstError(err, t.Close())
	}
	return h, nil
}

// Width is that of the images, in pixels.
func (h *Histogram) Width() int { return orNone(h).table.width }

// Height is that of the images, in pixels.
func (h *Histogram) Height() int { return orNone(h).table.height }

// Channels is how many values a pixel has.
func (h *Histogram) Channels() int { return orNone(h).channels }

// Count is how many integral histograms there are.
func (h *Histogram) Count() int { return orNone(h).table.count }

// Bins is how values are counted, with the range that zeros stood for.
func (h *Histogram) Bins() histogram.Bins { return orNone(h).bins }

var errNoHistogram = fmt.Errorf("gpu: %w: no histogram: make one with NewHistogram or IntegrateHistogram", boxsum.ErrInvalid)

// IntegrateHistogram makes the integral histograms of images, on their device:
//
//	h, err := gpu.IntegrateHistogram(images, histogram.Bins{N: 32}, nil)
//
// There is no offset.
func IntegrateHistogram[P boxsum.Pixel](src *Image[P], bins histogram.Bins, opt *Options) (*Histogram, error) {
	if src == nil || src.device == nil {
		return nil, errNoImage
	}
	if _, err := histogramOptions(opt); err != nil {
		return nil, err
	}
	h, err := NewHistogram[P](src.device, src.width, src.height, src.channels, src.count, bins)
	if err != nil {
		return nil, err
	}
	if err := IntegrateHistogramInto(h, src, opt); err != nil {
		return nil, firstError(err, h.Close())
	}
	return h, nil
}

// IntegrateHistogramInto makes the integral histograms of images in dst, which must
// be on the same device and for as many images of the same size and type. It returns
// when the work is queued.
func IntegrateHistogramInto[P boxsum.Pixel](dst *Histogram, src *Image[P], opt *Options) error {
	if src == nil || src.device == nil {
		return errNoImage
	}
	if dst == nil || dst.table.device == nil {
		return errNoHistogram
	}
	way, err := histogramOptions(opt)
	if err != nil {
		return err
	}
	if dst.limits.element != src.element {
		return fmt.Errorf("gpu: %w: histograms of %s cannot take images of %s", boxsum.ErrTypes, elements[dst.limits.element].long, elements[src.element].long)
	}
	images := array{ // without where it lies, which Close may change until the device is in use
		device: dst.table.device, element: dst.table.element,
		width: dst.table.width, height: dst.table.height, channels: dst.channels, count: dst.table.count, border: 1,
	}
	if err := images.takes(&src.array); err != nil {
		return err
	}
	d := src.device
	return d.use(func() error {
		if err := firstError(dst.table.open(), src.open()); err != nil {
			return err
		}
		return d.histogramIntegrate(histogramJob{
			integrateJob: integrateJob{
				stream: d.stream, pixel: src.element, sum: u32, channels: src.channels,
				width: src.width, height: src.height, count: src.count, in: src.at, out: dst.table.at, gaps: dst.table.ownGaps(),
			},
			bins: dst.bins.N, limits: dst.limits,
		}, way)
	})
}

// histogramOptions says which kernels to use, or what is wrong with the options of a
// histogram.
func histogramOptions(opt *Options) (Kernels, error) {
	o, err := opt.check(f32)
	if err == nil && o.Offset != 0 {
		err = fmt.Errorf("gpu: %w: histograms take no offset: move the range instead", boxsum.ErrTypes)
	}
	return o.Kernels, err
}

// Histograms writes the histograms of all channels over every box, clipped to the
// image, from number i: bin b of channel c of boxes[k] is
// dst[(k*Channels+c)*Bins.N+b].
func (h *Histogram) Histograms(i int, dst []uint32, boxes []image.Rectangle) error {
	if h == nil || h.table.device == nil {
		return errNoHistogram
	}
	return h.table.SumBoxes(i, dst, boxes)
}

// Download copies number i to the host.
func (h *Histogram) Download(i int) (*histogram.Table[uint32], error) {
	if h == nil || h.table.device == nil {
		return nil, errNoHistogram
	}
	if err := h.table.index(i); err != nil {
		return nil, err
	}
	dst, err := histogram.NewTable[uint32](h.table.width, h.table.height, h.channels, h.bins)
	if err != nil {
		return nil, err
	}
	if err := h.DownloadInto(i, dst); err != nil {
		return nil, err
	}
	return dst, nil
}

// DownloadInto copies number i into dst, which must have its size and bins.
func (h *Histogram) DownloadInto(i int, dst *histogram.Table[uint32]) error {
	if h == nil || h.table.device == nil {
		return errNoHistogram
	}
	if err := h.table.index(i); err != nil {
		return err
	}
	if dst == nil {
		return fmt.Errorf("gpu: %w: no table to write to", boxsum.ErrInvalid)
	}
	if dst.Width != h.table.width || dst.Height != h.table.height || dst.Channels != h.channels || dst.Bins != h.bins {
		return fmt.Errorf("gpu: %w: a histogram for %d×%d with %d channels and %+v cannot take one of %d×%d with %d and %+v", boxsum.ErrInvalid,
			dst.Width, dst.Height, dst.Channels, dst.Bins, h.table.width, h.table.height, h.channels, h.bins)
	}
	row := (h.table.width + 1) * h.table.channels
	if err := fits("histogram", len(dst.Counts), row, row, h.table.height+1); err != nil {
		return err
	}
	return h.table.device.use(func() error {
		if err := h.table.open(); err != nil {
			return err
		}
		return h.table.copyOut(i, hostRows(dst.Counts, row))
	})
}

// Close frees the memory on the device, after the work that uses it. Closing
// again, or after the device was closed, does nothing.
func (h *Histogram) Close() error {
	if h == nil || h.table.device == nil {
		return nil
	}
	d := h.table.device
	err := d.use(func() error { // both at once: nobody finds a table without limits
		m := h.limits.at
		if h.limits.at = 0; m == 0 {
			return nil
		}
		return firstError(h.table.free(), d.give(m))
	})
	if errors.Is(err, ErrClosed) {
		return nil
	}
	return err
}
