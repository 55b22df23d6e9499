package method

import (
	"math"
	"unsafe"

	"github.com/boxsum/boxsum/gpu/internal/devmem"
	"github.com/boxsum/boxsum/gpu/internal/driver"
	"github.com/boxsum/boxsum/gpu/internal/kernels"
	"github.com/boxsum/boxsum/internal/raster"
)

// Obstacle returns why a job cannot use the two-launch kernels, or "".
func (Histogram) Obstacle(job Job) string {
	if obstacle := cudaObstacle(job.Device); obstacle != "" {
		return obstacle
	}
	if job.Width > math.MaxUint16 {
		return "of histograms support rows of at most 65535 pixels"
	}
	return ""
}

// Suits reports whether the two-launch kernels are faster for a job than the portable ones, as
// measured on an H200: small images have too few strips of columns to keep the device busy, and
// with few bins the work for each count exceeds its store.
func (m Histogram) Suits(job Job) bool {
	const few = 16 // bins of a group
	c := m.passCut(job)
	return c.GroupBins > few && stripBlocks(&c, job) >= int64(job.Device.About.Units)/2
}

// stripBlocks returns the number of blocks that write the histograms of a job.
func stripBlocks(c *histogramPassJob, job Job) int64 {
	return int64(c.Strips) * int64(c.Groups) * int64(c.Channels) * int64(job.Count)
}

// widenStrips gives strips twice as many columns if more than one would share a multiprocessor, and
// reports whether it did. An H200 then takes 1.38 times as long as a fill for 32 bins at 4096²,
// and 1.60 times with the narrow ones.
func widenStrips(c *histogramPassJob, job Job) bool {
	if c.Slots < 32 || stripBlocks(c, job) <= int64(job.Device.About.Units) {
		return false
	}
	c.Strips = int32(devmem.CeilDiv(job.Width, kernels.HistogramPassWide))
	return true
}

// passCut returns the partition that the two-launch kernels use for the images of a job.
func (m Histogram) passCut(job Job) histogramPassJob {
	const most = 32 // lanes
	groups := devmem.CeilDiv(job.Bins, most)
	lanes := devmem.CeilDiv(job.Bins, groups)
	slots := 2
	for slots < lanes {
		slots *= 2
	}
	return histogramPassJob{
		Width: int32(job.Width), Height: int32(job.Height), Channels: int32(job.Channels),
		Bins: int32(job.Bins), LimitCount: int32(m.Limits.count), GroupBins: int32(lanes), Groups: int32(groups), Slots: int32(slots),
		Tiles: int32(devmem.CeilDiv(job.Width, kernels.HistogramPassTile)), Strips: int32(devmem.CeilDiv(job.Width, kernels.HistogramPassStrip)),
		Carry: flag(job.Carry), QuadsIn: flag(job.Channels == 1 && quadsIn(job)),
	}
}

// OnePass plans integral histograms in two launches.
func (m Histogram) OnePass(job Job) (Plan, error) {
	c := m.passCut(job)
	b := job.Device.Backend.CUDA()
	wide := widenStrips(&c, job)
	countName, writeName := kernels.HistogramPassKernels(job.Pixel.Short(), 32/int(c.Slots), wide)
	count, err := b.Kernel(kernels.Module(countName), countName)
	if err != nil {
		return Plan{}, err
	}
	write, err := b.Kernel(kernels.Module(writeName), writeName)
	if err != nil {
		return Plan{}, err
	}
	threads := kernels.HistogramPassWriters(32/int(c.Slots), wide)
	if err := b.FindOccupancy(write, threads); err != nil {
		return Plan{}, err
	}
	company := write.Resident
	parts, rows := int64(c.Channels)*int64(c.Groups), int64(c.Height)
	plane := int64(c.Channels) * rows * int64(c.Tiles) * kernels.HistogramPassTile * 2
	if job.Pixel == raster.U8 {
		plane = 0 // the image itself serves as the plane
	}
	left := rows * int64(c.Tiles) * parts * int64(c.Slots) * 2
	batches := devmem.CeilDiv(job.Height, kernels.HistogramPassBatch)
	launch := func(part Job) error {
		c := c
		blocks := int(c.Strips) * int(parts) * part.Count
		c.Count, c.Cohort, c.Batches = int32(part.Count), int32(company), int32(devmem.CeilDiv(blocks, company)*batches)
		planes, lefts := devmem.RoundUp(plane*int64(part.Count), 256), devmem.RoundUp(left*int64(part.Count), 256)
		space, _, err := job.Device.Workspace(job.Stream, "histogram rows", planes+lefts+4*int64(c.Batches))
		if err != nil {
			return err
		}
		c.Plane, c.Left, c.Written = uint64(space), uint64(int64(space)+planes), uint64(int64(space)+planes+lefts)
		c.In, c.Out, c.Limits, c.Table = part.In.Address(), part.Out.Address(), uint64(m.Limits.At), uint64(m.Limits.At)+limitsTable
		c.InStride, c.InDistance = part.In.Stride, part.In.Distance
		c.OutStride, c.OutDistance = part.Out.Stride, part.Out.Distance
		run := driver.Run{Stream: job.Stream, Blocks: job.Height * job.Channels * part.Count, Threads: kernels.HistogramPassThreads, Job: unsafe.Pointer(&c)}
		if err := b.Run(count, run); err != nil {
			return err
		}
		run.Blocks, run.Threads, run.Early = blocks, threads, b.Major >= 9 && write.Machine && !job.Device.InGraph()
		return b.Run(write, run)
	}
	most := math.MaxInt32 / max(rows*int64(c.Channels), int64(c.Strips)*parts, (int64(c.Strips)*parts/int64(company)+1)*int64(batches))
	return Plan{int(min(int64(job.Count), max(histogramBytes/(plane+left), 1), most)), launch}, nil
}
