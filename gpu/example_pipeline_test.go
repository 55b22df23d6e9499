package gpu_test

import (
	"context"
	"fmt"
	"image"
	"iter"
	"sync"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/gpu"
)

// A camera writes frames to page-locked memory, and a box of each is summed. As many frames as
// there are in flight are used in rotation.
func ExamplePipeline() {
	capture := func(boxsum.Image[uint8]) bool { return false } // writes a frame, if there is another

	watch := func(ctx context.Context, d *gpu.Device) error {
		var ring [4]boxsum.Image[uint8]
		for i := range ring {
			frame, release, err := gpu.NewHostImage[uint8](d, 3840, 2160, 1)
			if err != nil {
				return err
			}
			defer release()
			ring[i] = frame
		}
		frames := func(yield func(boxsum.Image[uint8]) bool) {
			for i := 0; capture(ring[i]); i = (i + 1) % len(ring) {
				if !yield(ring[i]) {
					return
				}
			}
		}
		opt := &gpu.PipelineOptions{InFlight: len(ring), Reuse: true}
		for table, err := range gpu.Pipeline[uint32](ctx, d, frames, opt) {
			if err != nil {
				return err
			}
			fmt.Println(table.Sum(image.Rect(100, 100, 200, 200)))
		}
		return nil
	}
	_ = watch
}

// Tables go to others, who give them back when they are done. There are a few more than may be in
// flight, so that the others can take their time.
func ExamplePipelineInto() {
	work := func(ctx context.Context, d *gpu.Device, frames iter.Seq[boxsum.Image[uint8]], use func(*boxsum.Table[uint32])) error {
		const inFlight = 4
		idle := make(chan *boxsum.Table[uint32], inFlight+3)
		for range cap(idle) {
			table, release, err := gpu.NewHostTable[uint32](d, 3840, 2160, 1)
			if err != nil {
				return err
			}
			defer release()
			idle <- table
		}
		var users sync.WaitGroup
		defer users.Wait()
		pairs := func(yield func(*boxsum.Table[uint32], boxsum.Image[uint8]) bool) {
			for frame := range frames {
				if !yield(<-idle, frame) {
					return
				}
			}
		}
		for table, err := range gpu.PipelineInto(ctx, d, pairs, &gpu.PipelineOptions{InFlight: inFlight}) {
			if err != nil {
				return err
			}
			users.Go(func() {
				use(table)
				idle <- table
			})
		}
		return nil
	}
	_ = work
}
