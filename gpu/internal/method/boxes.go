package method

import (
	"errors"
	"runtime"
	"unsafe"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/gpu/internal/devmem"
	"github.com/boxsum/boxsum/gpu/internal/driver"
	"github.com/boxsum/boxsum/gpu/internal/kernels"
	"github.com/boxsum/boxsum/internal/raster"
)

// QueryBytes limits the memory for the boxes of one launch, and that for their sums.
const QueryBytes = 16 << 20

// The names of the workspaces for boxes and for their sums.
const boxesSpace, sumsSpace = "boxes", "sums of boxes"

// An Answer queues the kernel that sums boxes of a table. A box is a group of int32 coordinates
// inside the table, all zero if the box is empty after clipping. Channel c of the sum of box i
// is value i*channels+c of sums.
type Answer func(boxes, sums driver.Memory, count int) error

// SumBoxes sums boxes of a table in as many launches as needed. place returns the coordinates of a
// box as the kernel expects them.
func SumBoxes[S boxsum.Sum, Box any](t *devmem.Array, dst []S, count int, place func(n int) Box, answer Answer) error {
	if err := CheckRoom(t, len(dst), count); err != nil {
		return err
	}
	return t.Device.Use(func() error {
		if err := t.CheckOpen(); err != nil {
			return err
		}
		return QueryAll(t.Device, dst, t.Channels, count, place, answer)
	})
}

// CheckRoom returns an error if dst is too short for the sums of boxes.
func CheckRoom(t *devmem.Array, sums, count int) error {
	if sums/t.Channels < count {
		return raster.Invalid("destination has length %[4]d, want %[2]d×%[3]d for each of %[1]d boxes", count, t.Channels, t.Channels, sums)
	}
	return nil
}

// QueryAll calls answer for all places, each of which yields a number of values, in as many launches
// as needed, and in smaller ones if memory is short. Callers must hold the device's queue.
func QueryAll[T, Place any](d *devmem.Device, dst []T, values, count int, place func(n int) Place, answer Answer) error {
	var one Place
	perLaunch := max(1, QueryBytes/max(int(unsafe.Sizeof(one)), values*int(unsafe.Sizeof(*new(T)))))
	for first := 0; first < count; {
		placed := make([]Place, min(perLaunch, count-first))
		for n := range placed {
			placed[n] = place(first + n)
		}
		err := query(d, dst[first*values:][:len(placed)*values], placed, answer)
		if errors.Is(err, boxsum.ErrMemory) && len(placed) > 1 {
			perLaunch = (len(placed) + 1) / 2
			if err := driver.FirstError(d.DropSpace(d.Stream, boxesSpace), d.DropSpace(d.Stream, sumsSpace)); err != nil {
				return err
			}
			continue
		}
		if err != nil {
			return err
		}
		first += len(placed)
	}
	return nil
}

// query sends boxes to the device and waits for their sums.
func query[S, Box any](d *devmem.Device, dst []S, boxes []Box, answer Answer) error {
	in, out := int64(len(boxes))*int64(unsafe.Sizeof(boxes[0])), int64(len(dst))*int64(unsafe.Sizeof(dst[0]))
	boxesAt, _, err := d.Workspace(d.Stream, boxesSpace, in)
	if err != nil {
		return err
	}
	sumsAt, _, err := d.Workspace(d.Stream, sumsSpace, out)
	if err != nil {
		return err
	}
	var pin runtime.Pinner
	defer pin.Unpin()
	pin.Pin(&boxes[0])
	pin.Pin(&dst[0])
	b := d.Backend
	err = b.CopyIn(d.Stream, driver.Plane{Memory: boxesAt, Stride: in}, unsafe.Pointer(&boxes[0]), in, driver.Rows{Bytes: in, Count: 1})
	if err == nil {
		err = answer(boxesAt, sumsAt, len(boxes))
	}
	if err == nil {
		err = b.CopyOut(d.Stream, unsafe.Pointer(&dst[0]), out, driver.Plane{Memory: sumsAt, Stride: out}, driver.Rows{Bytes: out, Count: 1})
	}
	// Wait even after an error: nothing may use this memory once it is unpinned.
	return driver.FirstError(err, b.Wait(d.Stream))
}

// PlaneBoxes returns an Answer for boxes x0 y0 x1 y1 of table i, which computes
//
//	T(x1,y1) - T(x0,y1) - T(x1,y0) + T(x0,y0)
//
// in this order. Offsets are added back on the host.
func PlaneBoxes(t *devmem.Array, i int) Answer { return gridBoxes(t, i, kernels.SumKernel) }

// TiltedBoxes returns an Answer for boxes x y w h of tilted table i.
func TiltedBoxes(t *devmem.Array, i int) Answer { return gridBoxes(t, i, kernels.DiagonalKernel) }

func gridBoxes(t *devmem.Array, i int, kernel func(name, sum string) string) Answer {
	return func(boxes, sums driver.Memory, count int) error {
		at := t.At.Image(i)
		job := portableBoxes{Start: at.Offset, Stride: at.Stride, Channels: int64(t.Channels), Count: int64(count)}
		return answer(t, kernel("boxes", accumulator(t.Element)), count, arg(&job), arg(&at.Memory), arg(&boxes), arg(&sums))
	}
}

// VolumeBoxes returns an Answer for boxes x0 y0 z0 x1 y1 z1 of the table of a volume.
func VolumeBoxes(t *devmem.Array) Answer {
	return func(boxes, sums driver.Memory, count int) error {
		at := t.At
		job := volumeBlocks{Start: at.Offset, Stride: at.Stride, Slice: at.Distance, Channels: int64(t.Channels), Count: int64(count)}
		return answer(t, kernels.VolumeBoxes(accumulator(t.Element)), count, arg(&job), arg(&at.Memory), arg(&boxes), arg(&sums))
	}
}

// answer queues a kernel with a work-item for each channel of each box.
func answer(t *devmem.Array, kernel string, count int, args ...driver.Arg) error {
	b := t.Device.Backend
	group, err := b.LargestGroup([]string{kernel}, kernels.Types{Sum: accumulator(t.Element)}.MaxGroup())
	if err != nil {
		return err
	}
	return b.Launch(t.Device.Stream, kernel, devmem.CeilDiv(count*t.Channels, group), group, args...)
}
