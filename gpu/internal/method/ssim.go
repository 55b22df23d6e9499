package method

import (
	"math"
	"runtime"
	"unsafe"

	"github.com/boxsum/boxsum/gpu/internal/devmem"
	"github.com/boxsum/boxsum/gpu/internal/driver"
	"github.com/boxsum/boxsum/gpu/internal/kernels"
	"github.com/boxsum/boxsum/internal/quality"
	"github.com/boxsum/boxsum/internal/raster"
)

// An SSIM compares the images of a job with others of the same size, for the windows of some rows. All locations are
// those of row 0 of the whole images. The map, if there is one, goes to the tables of the job.
type SSIM struct {
	Other          devmem.Batch
	Height         int // of the whole images
	From, To       int // rows, the first of which is a multiple of quality.BlockRows
	Size           int // of a window
	C1, C2, Factor float64

	across, down int           // blocks of scores
	space        driver.Memory // of their sums
}

const ssimSums = "scores" // name of the workspace

// blocks returns the number of sums of an image.
func (s *SSIM) blocks(job Job) int64 { return int64(s.across) * int64(s.down) * int64(job.Channels) }

// Queue computes the map and the sums of blocks.
func (s *SSIM) Queue(job Job) error {
	narrow := job.Pixel == raster.U8 && s.Size*s.Size <= kernels.SSIMNarrow
	name := kernels.SSIMKernel(job.Pixel.Short(), narrow)
	group, err := job.group(kernels.SSIMGroup, name)
	if err != nil {
		return err
	}
	radius := s.Size / 2
	skip := devmem.CeilDiv(radius, kernels.SSIMColumns)
	if group <= 2*skip {
		return raster.Invalid("window is %d pixels wide, want at most %d on this device", s.Size, (group-1)/2*2*kernels.SSIMColumns+1)
	}
	s.across, s.down = devmem.CeilDiv(job.Width, kernels.SSIMColumns), devmem.CeilDiv(s.To-s.From, quality.BlockRows)
	strips := devmem.CeilDiv(s.across, group-2*skip)
	sums := devmem.RoundUp(8*s.blocks(job)*int64(job.Count), 256)
	if s.space, _, err = job.Device.Workspace(job.Stream, ssimSums, 2*sums); err != nil {
		return err
	}
	// Work-groups at the left and right edge take longer, so low bands keep more of a device busy.
	const rows = quality.BlockRows
	c := kernelSSIM{
		AStart: job.In.Offset, AStride: job.In.Stride, ADistance: job.In.Distance,
		BStart: s.Other.Offset, BStride: s.Other.Stride, BDistance: s.Other.Distance,
		C1: s.C1, C2: s.C2, Factor: s.Factor, Width: int32(job.Width), Height: int32(s.Height), Channels: int32(job.Channels), Images: int32(job.Count),
		From: int32(s.From), To: int32(s.To), Radius: int32(radius), Pixels: int32(s.Size * s.Size),
		Strips: int32(strips), StripItems: int32(devmem.CeilDiv(s.across, strips)), Skip: int32(skip),
		Bands: int32(devmem.CeilDiv(s.To-s.From, rows)), BandRows: int32(rows),
		Aligned: flag(job.Channels == 1 && alignedRows(job.In, 8, job.Count) && alignedRows(s.Other, 8, job.Count)),
	}
	out := s.space
	if job.Sum != 0 {
		out = job.Out.Memory
		c.MapStart, c.MapStride, c.MapDistance, c.MapBytes = job.Out.Offset, job.Out.Stride, job.Out.Distance, int32(job.Sum.Bytes())
		c.MapAligned = flag(job.Channels == 1 && alignedRows(job.Out, 16, job.Count))
	}
	groups := int64(strips) * int64(c.Bands) * int64(job.Channels) * int64(job.Count)
	if groups > math.MaxInt32 {
		return raster.Invalid("%d images of %d×%d pixels with %d channels take %d work-groups, want at most %d", job.Count, job.Width, s.Height, job.Channels, groups, math.MaxInt32)
	}
	return job.launch(name, groups, group, arg(&c), arg(&job.In.Memory), arg(&s.Other.Memory), arg(&out), arg(&s.space))
}

// alignedRows reports whether all rows start at a multiple of unit bytes, on any device.
func alignedRows(b devmem.Batch, unit int64, count int) bool {
	return b.Offset%unit == 0 && aligned(b, unit, count)
}

// Sums waits and copies the sums of blocks of the first image to the host: those of a channel after the other.
func (s *SSIM) Sums(job Job, dst []float64) error { return s.download(job, 0, dst) }

// Totals waits and copies the sums of all scores of each image and channel to dst.
func (s *SSIM) Totals(job Job, dst []float64) error {
	group, err := job.group(kernels.SSIMGroup, kernels.SSIMTotal)
	if err != nil {
		return err
	}
	c := kernelSSIMTotal{Lists: int64(len(dst)), Count: int32(s.across * s.down)}
	c.OutStart = devmem.RoundUp(8*s.blocks(job)*int64(job.Count), 256)
	for c.Count > 1 {
		c.Sums = int32(devmem.CeilDiv(int(c.Count), quality.BlockSums))
		if err := job.launch(kernels.SSIMTotal, devmem.CeilDiv(c.Lists*int64(c.Sums), int64(group)), group, arg(&c), arg(&s.space)); err != nil {
			return err
		}
		c.Count, c.InStart, c.OutStart = c.Sums, c.OutStart, c.InStart
	}
	return s.download(job, c.InStart, dst)
}

// download waits and copies numbers from the workspace.
func (s *SSIM) download(job Job, from int64, dst []float64) error {
	var pin runtime.Pinner
	defer pin.Unpin()
	pin.Pin(&dst[0])
	n, b := int64(8*len(dst)), job.Device.Backend
	if err := b.CopyOut(job.Stream, unsafe.Pointer(&dst[0]), n, driver.Plane{Memory: s.space, Offset: from, Stride: n}, driver.Rows{Bytes: n, Count: 1}); err != nil {
		return err
	}
	return b.Wait(job.Stream)
}
