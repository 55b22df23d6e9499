package gpu

import (
	"fmt"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/gpu/internal/kernels"
	"github.com/boxsum/boxsum/volume"
)

// blockBytes is what a box of a volume takes on the device: six int32.
const blockBytes = 24

// SumBoxes writes the sums of all channels over every box, clipped to the volume:
// channel c of boxes[b] is dst[b*Channels+c].
func (t *VolumeTable[S]) SumBoxes(dst []S, boxes []volume.Box) error {
	if t == nil || t.slices.device == nil {
		return errNoVolumeTable
	}
	channels := t.slices.channels
	if len(dst)/channels < len(boxes) {
		return fmt.Errorf("gpu: %w: %d boxes of %d channels need %d sums each, there is room for %d",
			boxsum.ErrInvalid, len(boxes), channels, channels, len(dst))
	}
	perLaunch := max(1, queryBytes/max(blockBytes, channels*t.slices.element.bytes()))
	return t.slices.device.use(func() error {
		if err := t.open(); err != nil {
			return err
		}
		for len(boxes) > 0 {
			n := min(len(boxes), perLaunch)
			if err := t.sumBoxes(dst[:n*channels], boxes[:n]); err != nil {
				return err
			}
			dst, boxes = dst[n*channels:], boxes[n:]
		}
		return nil
	})
}

// A volumeBlocks is the Blocks of gpu/internal/kernels/volume.h.
type volumeBlocks struct{ start, stride, slice, channels, count int64 }

// sumBoxes answers as many boxes as fit one launch.
func (t *VolumeTable[S]) sumBoxes(dst []S, boxes []volume.Box) error {
	d, at := t.slices.device, t.slices.at
	bounds := volume.NewBox(0, 0, 0, t.slices.width, t.slices.height, t.depth)
	clipped := make([][6]int32, len(boxes))
	voxels := make([]int, len(boxes))
	for n, box := range boxes {
		box = box.Intersect(bounds)
		clipped[n] = [6]int32{int32(box.X0), int32(box.Y0), int32(box.Z0), int32(box.X1), int32(box.Y1), int32(box.Z1)}
		voxels[n] = box.Voxels()
	}
	sum := accumulator(t.slices.element)
	kernel := kernels.VolumeBoxes(sum)
	group, err := d.portableGroup(kernels.Types{Sum: sum}.MaxGroup(), kernel)
	if err != nil {
		return err
	}
	err = ask(d, dst, clipped, func(boxesAt, sumsAt memory) error {
		job := volumeBlocks{at.offset, at.stride, at.distance, int64(t.slices.channels), int64(len(boxes))}
		return d.backend.launch(d.stream, kernel, [3]int{ceilDiv(len(dst), group), 1, 1}, [3]int{group, 1, 1}, 0,
			value(&job), value(&at.memory), value(&boxesAt), value(&sumsAt))
	})
	if err != nil || t.offset == 0 {
		return err
	}
	for n := range clipped {
		for c := range t.slices.channels {
			dst[n*t.slices.channels+c] += S(float64(t.offset) * float64(voxels[n]))
		}
	}
	return nil
}
