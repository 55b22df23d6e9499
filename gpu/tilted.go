package gpu

import (
	"errors"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/gpu/internal/devmem"
	"github.com/boxsum/boxsum/gpu/internal/driver"
	"github.com/boxsum/boxsum/gpu/internal/method"
	"github.com/boxsum/boxsum/gpu/internal/transfer"
	"github.com/boxsum/boxsum/internal/pairs"
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
type TiltedTable[S boxsum.Sum] struct{ array devmem.Array }

// noTiltedOffset is why tilted and rotated tables have no offset.
const noTiltedOffset = "tilted and rotated tables take no offset: sum in float64 instead"

// workTilted checks an image, types and options, and is what there is to do.
func workTilted[P boxsum.Pixel](src *boxsum.Image[P], sum, square pairs.Type, opt *Options) (*transfer.Work, error) {
	return imageWork(method.Tilted{}, src, sum, square, opt, noTiltedOffset)
}

// noTiltedSquares stands for the squares that most tables do not have.
var noTiltedSquares *tilted.Table[uint64]

// runTilted makes tables of the host on the device, which must hold them and the image;
// squares may be nil.
func runTilted[S boxsum.Sum, Q boxsum.Square, P boxsum.Pixel](d *Device, w *transfer.Work, sums *tilted.Table[S], squares *tilted.Table[Q], src boxsum.Image[P], opt *Options) (err error) {
	if err := takeSides(w, tiltedSide(sums), tiltedSide(squares)); err != nil {
		return err
	}
	defer func() {
		if err == nil { // rather than what was learned from the tables
			sums.Know(w.Pixels[0])
			squares.Know(w.Pixels[1])
		}
	}()
	if squares == nil {
		return whole(d, src, opt, func(im *Image[P]) (*TiltedTable[S], error) { return IntegrateTilted[S](im, opt) },
			func(t *TiltedTable[S]) error { return t.DownloadInto(0, sums) })
	}
	err = whole(d, src, opt, func(im *Image[P]) (*SquaredTiltedTable[S, Q], error) { return IntegrateTiltedSquares[S, Q](im, opt) },
		func(t *SquaredTiltedTable[S, Q]) error {
			return driver.FirstError(t.Sum.DownloadInto(0, sums), t.Squares.DownloadInto(0, squares))
		})
	if !errors.Is(err, boxsum.ErrMemory) {
		return err
	}
	// One after the other: there are no smaller parts.
	err = whole(d, src, nil, func(im *Image[P]) (*TiltedTable[S], error) { return IntegrateTilted[S](im, opt) },
		func(t *TiltedTable[S]) error { return t.DownloadInto(0, sums) })
	if err != nil {
		return err
	}
	return whole(d, src, opt, func(im *Image[P]) (*TiltedTable[Q], error) {
		return filled(nil, func() (*TiltedTable[Q], error) { return wrapped[TiltedTable[Q]](tablesOf[Q](im.inner())) },
			func(t *TiltedTable[Q]) error {
				only := tables{method: method.Tilted{Squared: true}, sums: t.inner(), noOffset: noTiltedOffset, squared: true}
				return only.integrate(im.inner(), opt)
			})
	}, func(t *TiltedTable[Q]) error { return t.DownloadInto(0, squares) })
}

// SumBoxes writes the sums of all channels over every box, clipped to the image, from
// table i: channel c of boxes[b] is dst[b*Channels+c]. Where a box sticks out of the image,
// the table comes to the host for it, see [tilted.Table.Contains].
func (t *TiltedTable[S]) SumBoxes(i int, dst []S, boxes []tilted.Box) error {
	a := t.inner()
	if err := numbered(a, i); err != nil {
		return err
	}
	bounds := &tilted.Table[S]{Width: a.Width, Height: a.Height}
	outside := false
	err := method.SumBoxes(a, dst, len(boxes), func(n int) [4]int32 {
		box := boxes[n]
		if !bounds.Contains(box) {
			outside = outside || box.W > 0 && box.H > 0
			return [4]int32{}
		}
		return [4]int32{int32(box.X), int32(box.Y), int32(box.W), int32(box.H)}
	}, method.TiltedBoxes(a, i))
	if err != nil || !outside {
		return err
	}
	table, err := t.Download(i)
	if err != nil {
		return err
	}
	for n, box := range boxes {
		if !table.Contains(box) {
			table.SumChannels(dst[n*a.Channels:][:0], box)
		}
	}
	return nil
}

// DownloadInto copies table i into dst, which must have its size.
func (t *TiltedTable[S]) DownloadInto(i int, dst *tilted.Table[S]) error {
	return t.fetch(i, dst, false)
}

// fetch is DownloadInto: no table lacks an offset.
func (t *TiltedTable[S]) fetch(i int, dst *tilted.Table[S], _ bool) error {
	a := t.inner()
	return download(a, i, tiltedSide(dst), func(copyOut func() error) error {
		if err := copyOut(); err != nil {
			return err
		}
		dst.Know(learned(a, tiltedValues(dst)))
		return nil
	})
}
