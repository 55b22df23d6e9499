package gpu

import (
	"errors"
	"fmt"
	"unsafe"

	"github.com/boxsum/boxsum"
)

// IntegrateHost makes the table of an image in host memory on a device. The image
// goes there in bands of rows, each carrying on from the last row of the one
// above, so that neither image nor table must fit the device; a band is copied
// in while another is summed and a third copied out.
//
// The pairs of types are those of [boxsum.Integrate].
func IntegrateHost[S boxsum.Sum, P boxsum.Pixel](d *Device, src boxsum.Image[P], opt *Options) (*boxsum.Table[S], error) {
	src, err := checkedImage(src)
	if err != nil {
		return nil, err
	}
	if err := pairError(elementOf[P](), elementOf[S](), none); err != nil {
		return nil, err
	}
	t, err := boxsum.NewTable[S](src.Width, src.Height, src.Channels)
	if err != nil {
		return nil, err
	}
	if err := IntegrateHostInto(d, t, src, opt); err != nil {
		return nil, err
	}
	return t, nil
}

// IntegrateHostInto is [IntegrateHost] into a table that is already there, which
// must have the image's size.
func IntegrateHostInto[S boxsum.Sum, P boxsum.Pixel](d *Device, dst *boxsum.Table[S], src boxsum.Image[P], opt *Options) error {
	src, err := checkedImage(src)
	if err != nil {
		return err
	}
	if err := accepts(dst, src.Width, src.Height, src.Channels); err != nil {
		return err
	}
	w, err := hostWork(src, elementOf[S](), none, opt)
	if err != nil {
		return err
	}
	w.sums = hostRows(dst.Sums, dst.Stride)
	dst.Offset = float32(w.job.offset)
	return w.run(d)
}

// IntegrateSquaresHost is [IntegrateHost] for the table of an image and that of
// its squares. The types go together as in [boxsum.IntegrateSquares].
func IntegrateSquaresHost[S boxsum.Sum, Q boxsum.Square, P boxsum.Pixel](d *Device, src boxsum.Image[P], opt *Options) (*boxsum.SquaredTable[S, Q], error) {
	src, err := checkedImage(src)
	if err != nil {
		return nil, err
	}
	if err := pairError(elementOf[P](), elementOf[S](), elementOf[Q]()); err != nil {
		return nil, err
	}
	t, err := boxsum.NewSquaredTable[S, Q](src.Width, src.Height, src.Channels)
	if err != nil {
		return nil, err
	}
	if err := IntegrateSquaresHostInto(d, t, src, opt); err != nil {
		return nil, err
	}
	return t, nil
}

// IntegrateSquaresHostInto is [IntegrateSquaresHost] into tables that are already
// there.
func IntegrateSquaresHostInto[S boxsum.Sum, Q boxsum.Square, P boxsum.Pixel](d *Device, dst *boxsum.SquaredTable[S, Q], src boxsum.Image[P], opt *Options) error {
	src, err := checkedImage(src)
	if err != nil {
		return err
	}
	if dst == nil {
		return fmt.Errorf("gpu: %w: no table to write to", boxsum.ErrSize)
	}
	if err := accepts(dst.Sum, src.Width, src.Height, src.Channels); err != nil {
		return err
	}
	if err := accepts(dst.Squares, src.Width, src.Height, src.Channels); err != nil {
		return err
	}
	w, err := hostWork(src, elementOf[S](), elementOf[Q](), opt)
	if err != nil {
		return err
	}
	w.sums = hostRows(dst.Sum.Sums, dst.Sum.Stride)
	w.squares = hostRows(dst.Squares.Sums, dst.Squares.Stride)
	dst.Sum.Offset, dst.Squares.Offset = float32(w.job.offset), 0
	return w.run(d)
}

// A bandWork is an image on the host that becomes a table on the host.
type bandWork struct {
	job     integrateJob // of the whole image, without places
	kernels Kernels
	rows    int // of a band, 0 for what suits
	pixels  host
	sums    host
	squares host
}

// hostWork checks the types and options for an image that was checked.
func hostWork[P boxsum.Pixel](src boxsum.Image[P], sum, square element, opt *Options) (*bandWork, error) {
	pixel := elementOf[P]()
	if err := pairError(pixel, sum, square); err != nil {
		return nil, err
	}
	o, err := opt.check(sum)
	if err != nil {
		return nil, err
	}
	return &bandWork{
		job: integrateJob{
			pixel: pixel, sum: sum, square: square,
			channels: src.Channels, width: src.Width, height: src.Height, count: 1,
			offset: float64(o.Offset),
		},
		kernels: o.Kernels,
		rows:    o.BandRows,
		pixels:  hostRows(src.Pix, src.Stride),
	}, nil
}

// bandBytes is about what the sums of a band take: enough for the device to be
// busy, little enough for the copies of a usual image to overlap.
const bandBytes = 4 << 20

// run makes the table in bands, and in smaller ones for as long as the device
// has too little memory.
func (w *bandWork) run(d *Device) error {
	if err := d.enter(); err != nil {
		return err
	}
	defer d.leave()
	if w.job.width == 0 || w.job.height == 0 {
		w.clear()
		return nil
	}
	rows := w.rows
	if rows == 0 {
		sum := int64(w.job.sum.bytes() + w.job.square.bytes())
		rows = int(max(1, bandBytes/(int64(w.job.width+1)*int64(w.job.channels)*sum)))
	}
	rows = min(rows, w.job.height)
	for {
		err := w.inBands(d, rows)
		if errors.Is(err, ErrMemory) && d.dropSlots() {
			continue
		}
		if !errors.Is(err, ErrMemory) || rows == 1 {
			return err
		}
		rows = (rows + 1) / 2
	}
}

// clear makes the table of an image without pixels.
func (w *bandWork) clear() {
	row := int64(w.job.width+1) * int64(w.job.channels)
	for y := range int64(w.job.height + 1) {
		clear(unsafe.Slice((*byte)(w.sums.row(y)), row*int64(w.job.sum.bytes())))
		if w.job.square != none {
			clear(unsafe.Slice((*byte)(w.squares.row(y)), row*int64(w.job.square.bytes())))
		}
	}
}

// inBands makes the table in bands of so many rows.
func (w *bandWork) inBands(d *Device, rows int) (err error) {
	bands := (w.job.height + rows - 1) / rows
	count := min(bands, laneCount)
	l := d.takeLanes()
	defer func() { err = firstError(err, d.keepLanes(l, err == nil)) }()
	if err := l.fit(d, w.job, rows, count); err != nil {
		return err
	}
	var above *lane
	for n := range bands {
		lane := l.lanes[n%count]
		if err := lane.finish(w); err != nil {
			return err
		}
		if err := lane.start(d, w, above, n*rows, min(rows, w.job.height-n*rows)); err != nil {
			return err
		}
		above = lane
	}
	for _, lane := range l.lanes {
		if err := lane.finish(w); err != nil {
			return err
		}
	}
	return nil
}
