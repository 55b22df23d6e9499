package gpu

import (
	"errors"
	"fmt"
	"math"
	"unsafe"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/gpu/internal/cuda"
	"github.com/boxsum/boxsum/gpu/internal/kernels"
)

// A histogramPassJob is the BoxsumHistogram of gpu/internal/kernels/histogrampass.h, byte for
// byte.
type histogramPassJob struct {
	in, out, limits, table         int64
	plane, left, written           int64
	inStride, inDistance           int64
	outStride, outDistance         int64
	width, height, channels, count int32
	bins, limitCount               int32
	lanes, groups                  int32 // bins of a group; groups of a channel
	slots                          int32
	tiles, strips                  int32 // across
	carry, quadsIn                 int32
	company, batches               int32 // blocks that wait for each other; batches of all companies
	_                              int32
}

// notHistogramPass says what keeps a job from the two-launch kernels, or nothing.
func (d *Device) notHistogramPass(job histogramJob) string {
	b, ok := d.backend.(*cudaBackend)
	switch {
	case !ok:
		return "need CUDA"
	case b.major < 8:
		return fmt.Sprintf("need compute capability 8.0, not %d.%d", b.major, b.minor)
	case job.width > math.MaxUint16:
		return "count the pixels of a row in 16 bits"
	}
	return ""
}

// suitsHistogramPass says whether the two-launch kernels are faster for a job than the
// portable ones, as found on an H200: small images have too few strips of columns to keep
// the device busy, and with few bins the work for each count is more than its store.
func (d *Device) suitsHistogramPass(job histogramJob) bool {
	const few = 16 // bins of a group
	c := job.passCut()
	return c.lanes > few && int64(c.strips)*int64(c.groups)*int64(c.channels)*int64(job.count) >= int64(d.about.Units)/2
}

// passCut is how the images of a job are cut for the two-launch kernels.
func (job histogramJob) passCut() histogramPassJob {
	const most = 32 // lanes
	groups := ceilDiv(job.bins, most)
	lanes := ceilDiv(job.bins, groups)
	slots := 2
	for slots < lanes {
		slots *= 2
	}
	return histogramPassJob{
		width: int32(job.width), height: int32(job.height), channels: int32(job.channels),
		bins: int32(job.bins), limitCount: int32(job.limits.count), lanes: int32(lanes), groups: int32(groups), slots: int32(slots),
		tiles: int32(ceilDiv(job.width, kernels.HistogramPassTile)), strips: int32(ceilDiv(job.width, kernels.HistogramPassStrip)),
		carry: flag(job.carry), quadsIn: flag(job.channels == 1 && quadsIn(job.integrateJob)),
	}
}

// histogramPass makes integral histograms in two launches, of as many images at a time
// as memory and the numbers of blocks allow.
func (d *Device) histogramPass(job histogramJob) error {
	c := job.passCut()
	b := d.backend.(*cudaBackend)
	count, write := kernels.HistogramPassKernels(job.pixel.String(), 32/int(c.slots))
	threads := kernels.HistogramPassWriters(32 / int(c.slots))
	company, err := b.resident(write, threads)
	if err != nil {
		return err
	}
	parts, rows := int64(c.channels)*int64(c.groups), int64(c.height)
	plane := int64(c.channels) * rows * int64(c.tiles) * kernels.HistogramPassTile * 2
	if job.pixel == u8 {
		plane = 0 // it is the image
	}
	left := rows * int64(c.tiles) * parts * int64(c.slots) * 2
	batches := ceilDiv(job.height, kernels.HistogramPassBatch)
	images := int(min(int64(job.count), max(histogramBytes/(plane+left), 1), math.MaxInt32/max(rows*int64(c.channels), int64(c.strips)*parts, (int64(c.strips)*parts/int64(company)+1)*int64(batches))))
	if images < 1 {
		return fmt.Errorf("gpu: %w: %d×%d pixels with %d channels and %d bins are too many for one launch", boxsum.ErrInvalid, job.width, job.height, job.channels, job.bins)
	}
	for first := 0; first < job.count; {
		part := job
		part.count = min(images, job.count-first)
		part.in.plane, part.out.plane = job.in.image(first), job.out.image(first)
		blocks := int(c.strips) * int(parts) * part.count
		c.count, c.company, c.batches = int32(part.count), int32(company), int32(ceilDiv(blocks, company)*batches)
		planes, lefts := roundUp(plane*int64(part.count), 256), roundUp(left*int64(part.count), 256)
		space, _, err := d.workspace(job.stream, "histogram rows", planes+lefts+4*int64(c.batches))
		if errors.Is(err, ErrMemory) && images > 1 {
			images = (images + 1) / 2
			continue
		}
		if err != nil {
			return err
		}
		c.plane, c.left, c.written = int64(space), int64(space)+planes, int64(space)+planes+lefts
		c.in, c.out, c.limits, c.table = int64(part.in.address()), int64(part.out.address()), int64(part.limits.at), int64(part.limits.at)+limitsTable
		c.inStride, c.inDistance = part.in.stride, part.in.distance
		c.outStride, c.outDistance = part.out.stride, part.out.distance
		if err := b.pass(job.stream, count, job.height*job.channels*part.count, kernels.HistogramPassThreads, &c, false); err != nil {
			return err
		}
		if err := b.pass(job.stream, write, blocks, threads, &c, b.major >= 9); err != nil {
			return err
		}
		first += part.count
	}
	return nil
}

// pass queues a launch, which may begin early.
func (b *cudaBackend) pass(s stream, kernel string, blocks, threads int, job *histogramPassJob, early bool) error {
	f, err := b.function(kernels.Module(kernel), kernel)
	if err != nil {
		return err
	}
	return b.run(kernel, &cuda.Launch{
		Function: f, Grid: [3]int{blocks, 1, 1}, Block: [3]int{threads, 1, 1}, Stream: cuda.Stream(s),
		Params: []unsafe.Pointer{unsafe.Pointer(job)}, Early: early,
	})
}

// resident is how many blocks of a kernel the device runs at once.
func (b *cudaBackend) resident(kernel string, threads int) (int, error) {
	f, err := b.function(kernels.Module(kernel), kernel)
	if err != nil {
		return 0, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if n := b.residents[kernel]; n > 0 {
		return n, nil
	}
	use, err := b.use(f, threads, 0)
	if err != nil {
		return 0, err
	}
	n := use.blocks * b.about.Units
	if n == 0 {
		return 0, fmt.Errorf("gpu: cuda: %s does not fit on %s", kernel, b.about.Name)
	}
	if b.residents == nil {
		b.residents = map[string]int{}
	}
	b.residents[kernel] = n
	return n, nil
}
