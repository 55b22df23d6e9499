package gpu

import (
	"errors"
	"fmt"
	"math"
	"sync"
	"unsafe"

	"github.com/boxsum/boxsum"
)

// IntegrateHost makes the table of an image in host memory on a device. The image
// goes there in bands of rows, each carrying on from the last row of the one
// above, so that neither image nor table must fit the device; bands are copied
// in while others are summed and copied out. Pixels of a [NewHostImage] are read
// where they are, and sums go straight into a [NewHostTable].
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
	t, err := newTable[S](src.Width, src.Height, src.Channels)
	if err != nil {
		return nil, err
	}
	if err := integrateHost(d, t, src, opt, true); err != nil {
		return nil, err
	}
	return t, nil
}

// IntegrateHostInto is [IntegrateHost] into a table that is already there, which
// must have the image's size and may not lie in its memory.
func IntegrateHostInto[S boxsum.Sum, P boxsum.Pixel](d *Device, dst *boxsum.Table[S], src boxsum.Image[P], opt *Options) error {
	return integrateHost(d, dst, src, opt, false)
}

func integrateHost[S boxsum.Sum, P boxsum.Pixel](d *Device, dst *boxsum.Table[S], src boxsum.Image[P], opt *Options, fresh bool) error {
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
	w.sums, w.fresh = hostRows(dst.Sums, dst.Stride), fresh
	if err := w.apart(); err != nil {
		return err
	}
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
	sums, err := newTable[S](src.Width, src.Height, src.Channels)
	if err != nil {
		return nil, err
	}
	squares, err := newTable[Q](src.Width, src.Height, src.Channels)
	if err != nil {
		return nil, err
	}
	t := &boxsum.SquaredTable[S, Q]{Sum: sums, Squares: squares}
	if err := integrateSquaresHost(d, t, src, opt, true); err != nil {
		return nil, err
	}
	return t, nil
}

// IntegrateSquaresHostInto is [IntegrateSquaresHost] into tables that are already
// there, each in memory of its own.
func IntegrateSquaresHostInto[S boxsum.Sum, Q boxsum.Square, P boxsum.Pixel](d *Device, dst *boxsum.SquaredTable[S, Q], src boxsum.Image[P], opt *Options) error {
	return integrateSquaresHost(d, dst, src, opt, false)
}

func integrateSquaresHost[S boxsum.Sum, Q boxsum.Square, P boxsum.Pixel](d *Device, dst *boxsum.SquaredTable[S, Q], src boxsum.Image[P], opt *Options, fresh bool) error {
	src, err := checkedImage(src)
	if err != nil {
		return err
	}
	if dst == nil {
		return fmt.Errorf("gpu: %w: no table to write to", boxsum.ErrInvalid)
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
	w.fresh = fresh
	if err := w.apart(); err != nil {
		return err
	}
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
	fresh   bool            // sums and squares are tables of newTable
	blocks  [3]*block       // of page-locked memory in which these three lie, nil for other memory
	stop    <-chan struct{} // closed when nobody wants the table any more, or nil
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

// apart says whether pixels, sums and squares lie in memory of their own.
func (w *bandWork) apart() error {
	var at [3]stretch
	for i, rows := range [...]host{w.pixels, w.sums, w.squares} {
		whole := w.job.part(i)
		at[i] = stretchOf(rows, whole.rows())
	}
	if !at[0].apart(at[1]) || !at[0].apart(at[2]) || !at[1].apart(at[2]) {
		return errOverlap
	}
	return nil
}

// bands is how many rows suit a band, and on how many lanes. To queue a band takes
// about as long as a processor takes for bandCost bytes, and nothing overlaps with
// what is done for the first band before it is queued, and for the last one
// afterwards: so many bands as make the sum of both least.
func (w *bandWork) bands() (rows, lanes int) {
	const (
		bandCost = 1200 << 10
		most     = 8 << 20   // on one lane
		all      = 256 << 20 // on all lanes, if two rows fit
	)
	row, laid := w.rowBytes()
	rows = w.rows
	if rows == 0 {
		rows = int(max(1, min(math.Sqrt(row*float64(w.job.height)*bandCost)/row, most/laid)))
	}
	rows = min(rows, w.job.height)
	return rows, int(max(2, min(all/(laid*float64(rows)), float64(laneCount()))))
}

// rowBytes is what a row of pixels, sums and squares holds, and what it takes on the
// device with the gap after it, which is the most of a short one.
func (w *bandWork) rowBytes() (row, laid float64) {
	for i := range w.blocks {
		whole := w.job.part(i)
		if whole.element == none {
			continue
		}
		row += float64(whole.rowBytes())
		if _, err := whole.lay(); err == nil {
			laid += float64(whole.at.stride)
		}
	}
	return row, laid
}

// wasteful says whether the whole image on the device, and beside it on the host, would
// be mostly gaps, and many.
func (w *bandWork) wasteful() bool {
	const much, many = 16 << 20, 8 // times the bytes of the pixels
	row, laid := w.rowBytes()
	return laid > many*row && (laid-row)*float64(w.job.height) > much
}

// run makes the table in bands, and in smaller and then fewer ones for as long as
// the device has too little memory.
func (w *bandWork) run(d *Device) error {
	if err := d.enter(); err != nil {
		return err
	}
	defer d.leave()
	if w.job.width == 0 || w.job.height == 0 {
		w.clear()
		return nil
	}
	rows, lanes := w.bands()
	for {
		err := w.inBands(d, rows, lanes)
		switch {
		case !errors.Is(err, ErrMemory):
			return err
		case d.dropSlots():
		case rows > 1:
			rows = (rows + 1) / 2
		case lanes > 1:
			lanes /= 2
		default:
			return err
		}
	}
}

// clear makes the table of an image without pixels.
func (w *bandWork) clear() {
	for i := range 2 {
		whole := w.job.part(i + 1)
		if whole.element == none {
			continue
		}
		all := whole.rows()
		for y := range all.count {
			clear(unsafe.Slice((*byte)(w.table(i).row(y)), all.bytes))
		}
		if w.fresh {
			clearGaps(w.table(i), all)
		}
	}
}

// inBands makes the table in bands of so many rows. Each lane has a goroutine,
// which takes every so manyth band all the way.
func (w *bandWork) inBands(d *Device, rows, lanes int) (err error) {
	bands := (w.job.height + rows - 1) / rows
	lanes = min(bands, lanes)
	for i, at := range []host{w.pixels, w.sums, w.squares} {
		whole := w.job.part(i)
		w.blocks[i] = d.blockOf(at, whole.rows())
		if b := w.blocks[i]; b != nil {
			defer func() { err = firstError(err, d.leaveBlock(b)) }()
		}
	}
	l := d.takeLanes()
	defer func() { err = firstError(err, d.keepLanes(l, err == nil)) }() // waits for what is under way after an error
	if err := l.fit(d, w.job, rows, lanes); err != nil {
		return err
	}
	order := newConvoy(lanes)
	var done sync.WaitGroup
	for k := range lanes {
		done.Go(func() {
			for n := k; n < bands; n += lanes {
				if !w.band(d, l.lanes[:lanes], n, rows, order) {
					return
				}
			}
		})
	}
	done.Wait()
	return firstError(order.failed, l.forget())
}

// table is where the sums go, or the squares.
func (w *bandWork) table(i int) host { return [...]host{w.sums, w.squares}[i] }

// band takes a band of rows in, sums it and takes the sums out, and says whether
// the next one may follow.
func (w *bandWork) band(d *Device, lanes []*lane, n, rows int, order *convoy) bool {
	own, first := lanes[n%len(lanes)], n*rows
	count := min(rows, w.job.height-first)
	select {
	case <-w.stop:
		order.fail(errStopped)
		return false
	default:
	}
	own.stage(w, first, count)
	err := order.step(queueing, n, func() error {
		var above *lane
		if n > 0 {
			above = lanes[(n-1)%len(lanes)]
		}
		return own.start(d, w, above, first, count)
	})
	if err == nil {
		err = order.step(waiting, n, own.wait)
	}
	if err == nil {
		own.deliver(w, first, count)
	}
	return err == nil
}
