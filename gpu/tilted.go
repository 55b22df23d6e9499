package gpu

import (
	"fmt"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/gpu/internal/kernels"
	"github.com/boxsum/boxsum/tilted"
)

// A TiltedTable is tilted tables on a device, one for each of Count images of the
// same size, in the layout of OpenCV: entry (x, y) is the sum of the cone of
// pixels above (x−1, y−1), that is of all (x', y') with
//
//	|x' − (x−1)| ≤ (y−1) − y'
//
// Row 0 is zero. Column 0 is not: cones whose tip is left of the image reach
// into it.
type TiltedTable[S boxsum.Sum] struct{ array }

// NewTiltedTable takes device memory for the tilted tables of count images of
// this size; zero channels stand for one. What they hold is undefined until
// [IntegrateTiltedInto].
func NewTiltedTable[S boxsum.Sum](d *Device, width, height, channels, count int) (*TiltedTable[S], error) {
	t, err := NewTable[S](d, width, height, channels, count)
	if err != nil {
		return nil, err
	}
	return &TiltedTable[S]{t.array}, nil
}

// IntegrateTilted makes the tilted tables of images, on their device:
//
//	tables, err := gpu.IntegrateTilted[uint32](images, nil)
//
// The pairs of pixel and sum types are those of [boxsum.Integrate]. Tilted tables
// take no offset, and there is one way to make them: [Fast] is an error.
func IntegrateTilted[S boxsum.Sum, P boxsum.Pixel](src *Image[P], opt *Options) (*TiltedTable[S], error) {
	return newTilted[S](src, opt, false)
}

// IntegrateTiltedSquares makes the tilted tables of the squares of the pixels,
// with the types of [boxsum.IntegrateSquares].
func IntegrateTiltedSquares[Q boxsum.Square, P boxsum.Pixel](src *Image[P], opt *Options) (*TiltedTable[Q], error) {
	return newTilted[Q](src, opt, true)
}

func newTilted[S boxsum.Sum, P boxsum.Pixel](src *Image[P], opt *Options, squares bool) (*TiltedTable[S], error) {
	if src == nil || src.device == nil {
		return nil, errNoImage
	}
	if err := tiltedPairError(elementOf[P](), elementOf[S](), squares); err != nil {
		return nil, err
	}
	t, err := NewTiltedTable[S](src.device, src.width, src.height, src.channels, src.count)
	if err != nil {
		return nil, err
	}
	if err := integrateTilted(&t.array, &src.array, opt, squares); err != nil {
		return nil, firstError(err, t.Close())
	}
	return t, nil
}

// IntegrateTiltedInto makes the tilted tables of images in dst, which must be on
// the same device and for as many images of the same size. It returns when the
// work is queued.
func IntegrateTiltedInto[S boxsum.Sum, P boxsum.Pixel](dst *TiltedTable[S], src *Image[P], opt *Options) error {
	return tiltedInto(dst, src, opt, false)
}

// IntegrateTiltedSquaresInto is [IntegrateTiltedInto] for the squares of the
// pixels.
func IntegrateTiltedSquaresInto[Q boxsum.Square, P boxsum.Pixel](dst *TiltedTable[Q], src *Image[P], opt *Options) error {
	return tiltedInto(dst, src, opt, true)
}

func tiltedInto[S boxsum.Sum, P boxsum.Pixel](dst *TiltedTable[S], src *Image[P], opt *Options, squares bool) error {
	if src == nil || src.device == nil {
		return errNoImage
	}
	if dst == nil || dst.device == nil {
		return errNoTable
	}
	if err := tiltedPairError(elementOf[P](), elementOf[S](), squares); err != nil {
		return err
	}
	return integrateTilted(&dst.array, &src.array, opt, squares)
}

// tiltedPairError says that there is no such tilted table.
func tiltedPairError(pixel, sum element, squares bool) error {
	if squares {
		return pairError(pixel, sumsOf[pixel][0], sum)
	}
	return pairError(pixel, sum, none)
}

// tiltedOptions says what is wrong with the options of a tilted table.
func tiltedOptions(opt *Options, sum element) error {
	o, err := opt.check(sum)
	if err != nil {
		return err
	}
	if o.Offset != 0 {
		return errTurnedOffset
	}
	if o.Kernels == Fast {
		return fmt.Errorf("gpu: %w: tilted tables have no one-pass kernels: let the package choose", boxsum.ErrTypes)
	}
	return nil
}

var errTurnedOffset = fmt.Errorf("gpu: %w: tilted and rotated tables take no offset: sum in float64 instead", boxsum.ErrTypes)

// integrateTilted checks a job and queues it.
func integrateTilted(dst, src *array, opt *Options, squares bool) error {
	if err := tiltedOptions(opt, dst.element); err != nil {
		return err
	}
	if err := dst.takes(src); err != nil {
		return err
	}
	d := src.device
	return d.use(func() error {
		if err := firstError(dst.open(), src.open()); err != nil {
			return err
		}
		if !dst.apart(src) {
			return errOverlap
		}
		return d.tiltedIntegrate(integrateJob{
			stream: d.stream, pixel: src.element, sum: dst.element, channels: src.channels,
			width: src.width, height: src.height, count: src.count, in: src.at, out: dst.at, gaps: dst.ownGaps(),
		}, squares)
	})
}

// takes says whether a table can take the sums of images.
func (a *array) takes(src *array) error {
	if a.device != src.device {
		return fmt.Errorf("gpu: %w: a table on %s cannot take images on %s: both must be on one open device",
			boxsum.ErrInvalid, a.device.Info().Name, src.device.Info().Name)
	}
	if a.width != src.width || a.height != src.height || a.channels != src.channels || a.count != src.count {
		return fmt.Errorf("gpu: %w: %s cannot take the sums of %s", boxsum.ErrInvalid, a, src)
	}
	return nil
}

// SumBoxes writes the sums of all channels over every box from table i: channel c
// of boxes[b] is dst[b*Channels+c]. A box with a corner outside of the table is
// an error, and nothing is written.
func (t *TiltedTable[S]) SumBoxes(i int, dst []S, boxes []tilted.Box) error {
	if t == nil || t.device == nil {
		return errNoTable
	}
	if err := t.index(i); err != nil {
		return err
	}
	bounds := tilted.Table[S]{Width: t.width, Height: t.height}
	for n, box := range boxes {
		if !bounds.Contains(box) {
			return fmt.Errorf("gpu: %w: box %d, %+v, has a corner outside of %s", boxsum.ErrInvalid, n, box, &t.array)
		}
	}
	d := t.device
	return sumPlaced(&t.array, dst, len(boxes), func(n int) [4]int32 {
		box := boxes[n]
		return [4]int32{int32(box.X), int32(box.Y), int32(box.W), int32(box.H)}
	}, func(boxesAt, sumsAt memory, count int) error {
		sum := accumulator(t.element)
		kernel := kernels.DiagonalKernel("boxes", sum)
		group, err := d.portableGroup(kernels.Types{Sum: sum}.MaxGroup(), kernel)
		if err != nil {
			return err
		}
		at := t.at.image(i)
		job := portableBoxes{at.offset, at.stride, int64(t.channels), int64(count)}
		return d.backend.launch(d.stream, kernel, [3]int{ceilDiv(count*t.channels, group), 1, 1}, [3]int{group, 1, 1}, 0,
			value(&job), value(&at.memory), value(&boxesAt), value(&sumsAt))
	})
}

// Download copies table i to the host.
func (t *TiltedTable[S]) Download(i int) (*tilted.Table[S], error) {
	if t == nil || t.device == nil {
		return nil, errNoTable
	}
	if err := t.index(i); err != nil {
		return nil, err
	}
	dst, err := tilted.NewTable[S](t.width, t.height, t.channels)
	if err != nil {
		return nil, err
	}
	if err := t.DownloadInto(i, dst); err != nil {
		return nil, err
	}
	return dst, nil
}

// DownloadInto copies table i into dst, which must have its size.
func (t *TiltedTable[S]) DownloadInto(i int, dst *tilted.Table[S]) error {
	if t == nil || t.device == nil {
		return errNoTable
	}
	if err := t.index(i); err != nil {
		return err
	}
	at, err := acceptsTilted(dst, t.width, t.height, t.channels)
	if err != nil {
		return err
	}
	return t.device.use(func() error {
		if err := t.open(); err != nil {
			return err
		}
		return t.copyOut(i, at)
	})
}

// acceptsTilted is accepts for a tilted table, and says where that lies.
func acceptsTilted[S boxsum.Sum](t *tilted.Table[S], width, height, channels int) (host, error) {
	if t == nil {
		return host{}, fmt.Errorf("gpu: %w: no table to write to", boxsum.ErrInvalid)
	}
	like := boxsum.Table[S]{Sums: t.Sums, Stride: t.Stride, Width: t.Width, Height: t.Height, Channels: t.Channels}
	if err := accepts(&like, width, height, channels); err != nil {
		return host{}, err
	}
	t.Stride, t.Channels = like.Stride, like.Channels
	return hostRows(t.Sums, t.Stride), nil
}

// IntegrateTiltedHost makes the tilted table of an image on a device, from host
// memory to host memory. Both must fit the device.
func IntegrateTiltedHost[S boxsum.Sum, P boxsum.Pixel](d *Device, src boxsum.Image[P], opt *Options) (*tilted.Table[S], error) {
	if err := tiltedPairError(elementOf[P](), elementOf[S](), false); err != nil {
		return nil, err
	}
	if err := tiltedOptions(opt, elementOf[S]()); err != nil {
		return nil, err
	}
	src, err := checkedImage(src)
	if err != nil {
		return nil, err
	}
	if err := d.enter(); err != nil {
		return nil, err
	}
	defer d.leave()
	dst, err := tilted.NewTable[S](src.Width, src.Height, src.Channels)
	if err != nil {
		return nil, err
	}
	if err := IntegrateTiltedHostInto(d, dst, src, opt); err != nil {
		return nil, err
	}
	return dst, nil
}

// IntegrateTiltedHostInto is [IntegrateTiltedHost] into a table that there is, which
// may not lie in the memory of the image.
func IntegrateTiltedHostInto[S boxsum.Sum, P boxsum.Pixel](d *Device, dst *tilted.Table[S], src boxsum.Image[P], opt *Options) (err error) {
	if src, err = checkedImage(src); err != nil {
		return err
	}
	table, err := acceptsTilted(dst, src.Width, src.Height, src.Channels)
	if err != nil {
		return err
	}
	w, err := hostWork(src, elementOf[S](), none, nil)
	if err != nil {
		return err
	}
	if w.sums = table; w.apart() != nil {
		return errOverlap
	}
	im, err := Upload(d, src)
	if err != nil {
		return err
	}
	defer func() { err = firstError(err, im.Close()) }()
	t, err := IntegrateTilted[S](im, opt)
	if err != nil {
		return err
	}
	defer func() { err = firstError(err, t.Close()) }()
	return t.DownloadInto(0, dst)
}

// Close frees the memory on the device, after the work that uses it. Closing
// again, or after the device was closed, does nothing.
func (t *TiltedTable[S]) Close() error {
	if t == nil {
		return nil
	}
	return t.close()
}
