package gpu

import (
	"fmt"
	"runtime"
	"unsafe"

	"github.com/boxsum/boxsum"
)

// sumPlaced answers count boxes of a table in as many launches as it takes: place
// is what a kernel takes for each box, and launch queues the kernel for so many.
func sumPlaced[S boxsum.Sum](t *array, dst []S, count int, place func(n int) [4]int32, launch func(boxes, sums memory, count int) error) error {
	if len(dst)/t.channels < count {
		return fmt.Errorf("gpu: %w: %d boxes of %d channels need %d sums each, there is room for %d",
			boxsum.ErrSize, count, t.channels, t.channels, len(dst))
	}
	perLaunch := max(1, queryBytes/max(boxBytes, t.channels*t.element.bytes()))
	return t.device.use(func() error {
		if err := t.open(); err != nil {
			return err
		}
		for first := 0; first < count; first += perLaunch {
			placed := make([][4]int32, min(perLaunch, count-first))
			for n := range placed {
				placed[n] = place(first + n)
			}
			if err := sumLaunch(t, dst[first*t.channels:][:len(placed)*t.channels], placed, launch); err != nil {
				return err
			}
		}
		return nil
	})
}

// sumLaunch answers as many boxes as fit one launch.
func sumLaunch[S boxsum.Sum](t *array, dst []S, placed [][4]int32, launch func(boxes, sums memory, count int) error) error {
	d := t.device
	in, out := int64(len(placed))*boxBytes, int64(len(dst))*int64(t.element.bytes())
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
	pin.Pin(&placed[0])
	pin.Pin(&dst[0])
	b := d.backend
	err = b.copyIn(d.stream, plane{memory: boxesAt, stride: in}, unsafe.Pointer(&placed[0]), in, rows{in, 1})
	if err == nil {
		err = launch(boxesAt, sumsAt, len(placed))
	}
	if err == nil {
		err = b.copyOut(d.stream, unsafe.Pointer(&dst[0]), out, plane{memory: sumsAt, stride: out}, rows{out, 1})
	}
	// Also after an error: nothing may use this memory once it is unpinned.
	return firstError(err, b.wait(d.stream))
}
