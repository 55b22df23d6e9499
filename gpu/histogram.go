package gpu

import (
	"image"
	"math"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/gpu/internal/devmem"
	"github.com/boxsum/boxsum/gpu/internal/driver"
	"github.com/boxsum/boxsum/gpu/internal/method"
	"github.com/boxsum/boxsum/histogram"
	"github.com/boxsum/boxsum/internal/raster"
)

// A Histogram holds integral histograms on a device, one for each of Count images
// of the same size. Like a [histogram.Table] of counts, entry (x, y) is the
// histogram of the pixels in [0,x)×[0,y), bins innermost.
type Histogram struct {
	images devmem.Array  // only the sizes of the images
	table  Table[uint32] // one channel for every bin of every channel
	bins   histogram.Bins
	limits method.Limits
}

// NewHistogram allocates device memory for the integral histograms of count images
// of the given size, with pixels of type P. Zero channels means one. The contents
// are undefined until [IntegrateHistogramInto] is called.
func NewHistogram[P boxsum.Pixel](d *Device, width, height, channels, count int, bins histogram.Bins) (*Histogram, error) {
	channels = max(channels, 1)
	if _, err := histogram.Bytes[uint32](width, height, channels, bins.N); err != nil {
		return nil, err
	}
	bins, err := histogram.Over[P](bins)
	if err != nil {
		return nil, err
	}
	if channels > math.MaxInt32/bins.N {
		return nil, raster.Invalid("histogram has %d bins and %d channels, want at most %d bins for all channels together", bins.N, channels, math.MaxInt32)
	}
	return filled(nil, func() (*Histogram, error) {
		t, err := NewTable[uint32](d, width, height, channels*bins.N, count)
		if err != nil {
			return nil, err
		}
		images := devmem.Array{Device: d.mem(), Element: t.inner().Element, Width: width, Height: height, Channels: channels, Count: count, Border: 1}
		return &Histogram{images: images, table: *t, bins: bins}, nil
	}, func(h *Histogram) error {
		return d.mem().Use(func() (err error) {
			h.limits, err = method.NewLimits(d.mem(), raster.TypeOf[P](), bins.N, bins.Clamp, bins)
			return err
		})
	})
}

// noHistogramOffset is the reason why histograms have no offset.
const noHistogramOffset = "an offset is not supported for histograms (shift the range instead)"

// IntegrateHistogram computes the integral histograms of images on their device:
//
//	h, err := gpu.IntegrateHistogram(images, histogram.Bins{N: 32}, nil)
//
// It returns an error if opt has an offset.
func IntegrateHistogram[P boxsum.Pixel](src *Image[P], bins histogram.Bins, opt *Options) (*Histogram, error) {
	_, wrong := opt.check(0, raster.U32, noHistogramOffset)
	return filled(wrong, func() (*Histogram, error) {
		a := src.inner()
		if a.Device == nil {
			return nil, errNoImage
		}
		return NewHistogram[P](&Device{inner: a.Device}, a.Width, a.Height, a.Channels, a.Count, bins)
	}, func(h *Histogram) error { return IntegrateHistogramInto(h, src, opt) })
}

// IntegrateHistogramInto computes the integral histograms of images and stores
// them in dst, which must be on the same device and have the same number, size and
// type of images. It returns when the work is queued.
func IntegrateHistogramInto[P boxsum.Pixel](dst *Histogram, src *Image[P], opt *Options) error {
	if dst == nil || dst.images.Device == nil {
		return errNoTable
	}
	if pixel := raster.TypeNamed[P](); dst.limits.Element != pixel {
		return raster.Unsupported("images have type %s, want %s like those for which the histogram was made", pixel, dst.limits.Element)
	}
	return tables{
		method: method.Histogram{Limits: &dst.limits}, sums: dst.table.inner(), takes: &dst.images,
		bins: dst.bins.N, noOffset: noHistogramOffset,
	}.integrate(src.inner(), opt)
}

// Histograms writes the histograms of all channels of image i over each box, clipped
// to the image, to dst: bin b of channel c of boxes[k] is
// dst[(k*Channels+c)*Bins.N+b]. The length of dst must be at least
// len(boxes)*Channels*Bins.N.
func (h *Histogram) Histograms(i int, dst []uint32, boxes []image.Rectangle) error {
	if h == nil {
		return errNoTable
	}
	return h.table.SumBoxes(i, dst, boxes)
}

// Download copies integral histogram i to a new table in host memory. It returns
// an error that wraps [boxsum.ErrInvalid] if i is out of range.
func (h *Histogram) Download(i int) (*histogram.Table[uint32], error) {
	if h == nil {
		return nil, errNoTable
	}
	return onHost(numbered(h.table.inner(), i), func() (*histogram.Table[uint32], error) {
		return histogram.NewTable[uint32](h.images.Width, h.images.Height, h.images.Channels, h.bins)
	}, func(dst *histogram.Table[uint32]) error { return h.DownloadInto(i, dst) })
}

// DownloadInto copies integral histogram i into dst, which must have the size and
// the bins of h.
func (h *Histogram) DownloadInto(i int, dst *histogram.Table[uint32]) error {
	if h == nil || h.images.Device == nil {
		return errNoTable
	}
	a := h.table.inner()
	if err := a.CheckIndex(i); err != nil {
		return err
	}
	if dst != nil && dst.Bins != h.bins {
		return raster.Invalid("destination has %d bins from %v to %v with clamp %t, want %d from %v to %v with clamp %t",
			dst.Bins.N, dst.Bins.Low, dst.Bins.High, dst.Bins.Clamp, h.bins.N, h.bins.Low, h.bins.High, h.bins.Clamp)
	}
	if err := acceptsCounts(dst, h.images.Width, h.images.Height, h.images.Channels); err != nil {
		return err
	}
	return using(a, func() error { return a.CopyOut(i, devmem.HostRows(dst.Counts, countsRow(dst))) })
}

// Bins returns the bins in which pixels are counted. If [NewHistogram] was given
// no range, it is that of the pixel type.
func (h *Histogram) Bins() histogram.Bins {
	if h == nil {
		return histogram.Bins{}
	}
	return h.bins
}

// Close frees the device memory once all work that uses it is done. Closing it
// again, or after the device, does nothing.
func (h *Histogram) Close() error {
	if h == nil || h.images.Device == nil {
		return nil
	}
	d := h.images.Device
	return devmem.IgnoreClosed(d.Use(func() error { // both at once, so that no call finds a table without limits
		m := h.limits.At
		if h.limits.At = 0; m == 0 {
			return h.table.inner().Free()
		}
		return driver.FirstError(h.table.inner().Free(), d.FreeBuffer(m))
	}))
}
