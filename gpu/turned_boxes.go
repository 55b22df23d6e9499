package gpu

import (
	"fmt"

	"github.com/boxsum/boxsum"
)

// sumPlaced answers count boxes of a table in as many launches as it takes: place
// is what a kernel takes for each box, and launch queues the kernel for so many.
func sumPlaced[S boxsum.Sum](t *array, dst []S, count int, place func(n int) [4]int32, launch func(boxes, sums memory, count int) error) error {
	if len(dst)/t.channels < count {
		return fmt.Errorf("gpu: %w: %d boxes of %d channels need %d sums each, there is room for %d",
			boxsum.ErrInvalid, count, t.channels, t.channels, len(dst))
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
			err := ask(t.device, dst[first*t.channels:][:len(placed)*t.channels], placed, func(boxesAt, sumsAt memory) error {
				return launch(boxesAt, sumsAt, len(placed))
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
}
