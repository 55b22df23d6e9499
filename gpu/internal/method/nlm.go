package method

import (
	"math"

	"github.com/boxsum/boxsum/gpu/internal/devmem"
	"github.com/boxsum/boxsum/gpu/internal/driver"
	"github.com/boxsum/boxsum/gpu/internal/kernels"
	"github.com/boxsum/boxsum/internal/raster"
)

// An NLM denoises images by non-local means; see package denoise. Its numbers have been checked.
type NLM struct {
	images
	Frames, Index int // of an image: the frames in which patches are sought, and the one that is denoised
	Patch, Search int // how far they reach from their middle
	Absolute      bool
	Table         []uint32 // weights by distances, in units of 2^Shift, the last for all greater ones
	Shift         uint
}

// Margin returns how many pixels beyond a pixel its patch and the search reach.
func (m *NLM) Margin() int { return m.Patch + m.Search }

// Fits returns an error if devices do not support the size of patches.
func (m *NLM) Fits() error {
	if m.Patch > kernels.NLMPatch {
		return raster.Invalid("patch is %d, want at most %d on a device", 2*m.Patch+1, 2*kernels.NLMPatch+1)
	}
	return nil
}

// OnePass calls Portable: there is one kernel for each type.
func (m *NLM) OnePass(job Job) (Plan, error) { return m.Portable(job) }

// Portable plans two launches: frames are extended, and patches are weighed. An image consists of Frames images of the job's
// memory.
func (m *NLM) Portable(job Job) (Plan, error) {
	name, rows := kernels.NLMKernel(job.Pixel.Short(), job.Channels)
	group, err := job.group(kernels.NLMGroup, name, kernels.NLMExtend)
	if err != nil {
		return Plan{}, err
	}
	if group <= 2*m.Patch {
		return Plan{}, raster.Invalid("patch is %d, want at most %d on this device", 2*m.Patch+1, (group-1)/2*2+1)
	}
	margin, pixel := m.Margin(), job.Channels*job.Pixel.Bytes()
	width, height := int64(job.Width+2*margin), int64(job.Height+2*margin)
	c := kernelNLM{
		InStride: job.In.Stride, InDistance: job.In.Distance, OutStride: job.Out.Stride, OutDistance: job.Out.Distance,
		Stride: devmem.RoundUp(width*int64(pixel), 16), Width: int32(job.Width), Height: int32(job.Height), Channels: int32(job.Channels),
		PixelBytes: int32(pixel), Margin: int32(margin), Frames: int32(m.Frames), Index: int32(m.Index), Patch: int32(m.Patch), Search: int32(m.Search),
		Absolute: flag(m.Absolute), Shift: int32(m.Shift), Last: int32(len(m.Table) - 1),
		Strips: int32(devmem.CeilDiv(job.Width, group-2*m.Patch)), Bands: int32(devmem.CeilDiv(job.Height, rows)),
	}
	c.Distance = c.Stride * height
	groups := int64(c.Strips) * int64(c.Bands)
	extended := width * height * int64(m.Frames)
	launch := func(part Job) error {
		c := c
		c.InStart, c.OutStart, c.Images = part.In.Offset, part.Out.Offset, int32(part.Count)
		space, _, err := job.Device.Workspace(job.Stream, "frames", c.Distance*int64(m.Frames)*int64(part.Count))
		if err != nil {
			return err
		}
		var table driver.Memory
		if err := job.send(upload{&table, "weights", raw(m.Table)}); err != nil {
			return err
		}
		if err := job.launch(kernels.NLMExtend, devmem.CeilDiv(extended*int64(part.Count), int64(group)), group, arg(&c), arg(&part.In.Memory), arg(&space)); err != nil {
			return err
		}
		return job.launch(name, groups*int64(part.Count), group, arg(&c), arg(&space), arg(&table), arg(&part.Out.Memory))
	}
	return Plan{int(min(int64(job.Count), math.MaxInt32/max(groups, extended/int64(group)+1))), launch}, nil
}
