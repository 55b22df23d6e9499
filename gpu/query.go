package gpu

import (
	"fmt"
	"image"
	"runtime"
	"unsafe"

	"github.com/boxsum/boxsum"
)

// queryBytes is how much memory the boxes of one launch take, and their sums
// too, at most.
const queryBytes = 16 << 20

// SumBoxes writes the sums of all channels over every box, clipped to the image,
// from table i: channel c of boxes[b] is dst[b*Channels+c].
func (t *Table[S]) SumBoxes(i int, dst []S, boxes []image.Rectangle) error {
	if t == nil || t.device == nil {
		return errNoTable
	}
	if err := t.index(i); err != nil {
		return err
	}
	if len(dst)/t.channels < len(boxes) {
		return fmt.Errorf("gpu: %w: %d boxes of %d channels need %d sums each, there is room for %d",
			boxsum.ErrInvalid, len(boxes), t.channels, t.channels, len(dst))
	}
	perLaunch := max(1, queryBytes/max(boxBytes, t.channels*t.element.bytes()))
	return t.device.use(func() error {
		if err := t.open(); err != nil {
			return err
		}
		for len(boxes) > 0 {
			n := min(len(boxes), perLaunch)
			if err := t.sumBoxes(i, dst[:n*t.channels], boxes[:n]); err != nil {
				return err
			}
			dst, boxes = dst[n*t.channels:], boxes[n:]
		}
		return nil
	})
}

// boxBytes is what a box takes on the device: four int32.
const boxBytes = 16

// sumBoxes answers as many boxes as fit one launch.
func (t *Table[S]) sumBoxes(i int, dst []S, boxes []image.Rectangle) error {
	d, bounds := t.device, image.Rect(0, 0, t.width, t.height)
	clipped := make([][4]int32, len(boxes))
	for n, box := range boxes {
		if box = box.Intersect(bounds); !box.Empty() {
			clipped[n] = [4]int32{int32(box.Min.X), int32(box.Min.Y), int32(box.Max.X), int32(box.Max.Y)}
		}
	}
	err := ask(d, dst, clipped, func(boxesAt, sumsAt memory) error {
		return d.portableSumBoxes(queryJob{
			stream: d.stream, sum: t.element, channels: t.channels,
			table: t.at.image(i), boxes: boxesAt, out: sumsAt, count: len(boxes),
		})
	})
	if err != nil || t.offset == 0 {
		return err
	}
	for n, box := range clipped {
		pixels := float64(box[2]-box[0]) * float64(box[3]-box[1])
		for c := range t.channels {
			dst[n*t.channels+c] += S(float64(t.offset) * pixels)
		}
	}
	return nil
}

// ask sends boxes to the device, has launch answer them there, and waits for the
// answers.
func ask[S, Box any](d *Device, dst []S, boxes []Box, launch func(boxesAt, sumsAt memory) error) error {
	in, out := int64(len(boxes))*int64(unsafe.Sizeof(boxes[0])), int64(len(dst))*int64(unsafe.Sizeof(dst[0]))
	boxesAt, _, err := d.workspace(d.stream, "boxes", in)
	if err != nil {
		return err
	}
	sumsAt, _, err := d.workspace(d.stream, "sums of boxes", out)
	if err != nil {
		return err
	}
	var pin runtime.Pinner
	defer pin.Unpin()
	pin.Pin(&boxes[0])
	pin.Pin(&dst[0])
	b := d.backend
	err = b.copyIn(d.stream, plane{memory: boxesAt, stride: in}, unsafe.Pointer(&boxes[0]), in, rows{in, 1})
	if err == nil {
		err = launch(boxesAt, sumsAt)
	}
	if err == nil {
		err = b.copyOut(d.stream, unsafe.Pointer(&dst[0]), out, plane{memory: sumsAt, stride: out}, rows{out, 1})
	}
	// Also after an error: nothing may use this memory once it is unpinned.
	return firstError(err, b.wait(d.stream))
}
