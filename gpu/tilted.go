package gpu

import (
	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/gpu/internal/method"
	"github.com/boxsum/boxsum/tilted"
)

// A TiltedTable holds tilted tables on a device, one for each of Count images of
// the same size, in OpenCV's layout: entry (x, y) is the sum of the triangle of
// pixels above it, whose tip is the pixel (x−1, y−1). It contains all pixels (x',
// y') with
//
//	|x' − (x−1)| ≤ (y−1) − y'
//
// Row 0 is zero. Column 0 is not, because triangles whose tips are left of the
// image reach into it.
type TiltedTable[S boxsum.Sum] struct{ holder }

// noTiltedOffset is the reason why tilted and rotated tables have no offset.
const noTiltedOffset = "an offset is not supported for tilted and rotated tables (use float64 sums)"

// SumBoxes writes the sums of all channels of table i over each box, clipped to the
// image, to dst: the sum of channel c over boxes[b] is dst[b*Channels+c]. The length
// of dst must be at least len(boxes)*Channels. If a box extends beyond the image,
// SumBoxes copies the table to the host; see [tilted.Table.Contains].
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

// DownloadInto copies table i into dst, which must have the size and the number of
// channels of the images.
func (t *TiltedTable[S]) DownloadInto(i int, dst *tilted.Table[S]) error {
	return t.fetch(i, dst, false)
}

// fetch calls DownloadInto, because tilted tables have no offset.
func (t *TiltedTable[S]) fetch(i int, dst *tilted.Table[S], _ bool) error {
	a := t.inner()
	return download(a, i, tiltedSide(dst), func(copyOut func() error) error {
		if err := copyOut(); err != nil {
			return err
		}
		dst.Bound, dst.Signed = learned(a, tiltedValues(dst)).Bound, false
		return nil
	})
}
