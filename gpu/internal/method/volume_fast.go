package method

import (
	"math"
	"unsafe"

	"github.com/boxsum/boxsum/gpu/internal/devmem"
	"github.com/boxsum/boxsum/gpu/internal/driver"
	"github.com/boxsum/boxsum/gpu/internal/kernels"
)

// volumeEdgeBytes bounds the memory in which tiles publish the edges of slices, unless one slice
// needs more. More slices take several launches.
const volumeEdgeBytes = 512 << 20

// OnePass plans the table in one pass.
func (m Volume) OnePass(job Job) (Plan, error) {
	b := job.Device.Backend.CUDA()
	loaded, err := b.VolumeKernel(kernels.VolumePassKernel(job.Pixel.Short(), accumulator(job.Sum), m.Squared))
	if err != nil {
		return Plan{}, err
	}
	k := volumePass{loaded, b}
	across, down := k.tiles(job)
	tiles := int64(across) * int64(down)
	if tiles > math.MaxInt32/2 {
		return Plan{}, errTooManyTiles
	}
	return Plan{
		Most:   int(min(int64(job.Count), max(volumeEdgeBytes/(tiles*int64(k.Words)*16), 1))),
		Launch: k.launch,
	}, nil
}

// A volumePass is a one-pass kernel on its device.
type volumePass struct {
	driver.VolumeKernel
	backend *driver.CUDABackend
}

// tiles returns the number of tiles of a slice across and down.
func (k *volumePass) tiles(job Job) (across, down int) {
	return devmem.CeilDiv(job.Width, int(k.Width)), devmem.CeilDiv(job.Height, int(k.Height))
}

// slabs returns the number of slabs of slices that are processed concurrently: more than one if
// the tiles of a slice leave much of the device idle. That takes an additional read of the pixels.
func (k *volumePass) slabs(tiles int64, depth int) int {
	const leastDepth = 8 // of a slab
	slabs := int64(k.backend.Tuning.Slabs)
	if slabs == 0 {
		slabs = max(int64(k.Resident)/tiles, 1)
	}
	return int(max(min(slabs, int64(depth/leastDepth), math.MaxInt32/tiles), 1))
}

// launch queues the launches for slices that are processed together.
func (k volumePass) launch(job Job) error {
	b, d := k.backend, job.Device
	across, down := k.tiles(job)
	slabDepth := devmem.CeilDiv(job.Count, k.slabs(int64(across)*int64(down), job.Count))
	slabs := devmem.CeilDiv(job.Count, slabDepth)
	blocks := across * down * slabs

	const use, header = "volume edges", 256 // tickets, then edges
	space, s, err := d.Workspace(job.Stream, use, header+int64(blocks)*int64(slabDepth+1)*int64(k.Words)*16)
	if err != nil {
		return err
	}
	var planes driver.Memory
	if slabs > 1 {
		plane := int64(blocks/slabs) * int64(k.Width) * int64(k.Height) * int64(job.Sum.Bytes())
		if planes, _, err = d.Workspace(job.Stream, "volume planes", plane*int64(slabs-1)); err != nil {
			return err
		}
	}
	if s.Epoch == math.MaxUint32 { // edges of the first launches would seem to be current
		if err := d.ClearSpace(job.Stream, use); err != nil {
			return err
		}
	}
	s.Epoch++
	v := &volumePassJob{
		In: job.In.Address(), Out: job.Out.Address(), Edges: uint64(space) + header, Tickets: uint64(space), Planes: uint64(planes),
		InStride: job.In.Stride, InSlice: job.In.Distance,
		OutStride: job.Out.Stride, OutSlice: job.Out.Distance,
		Offset: job.Offset,
		Width:  int32(job.Width), Height: int32(job.Height), Depth: int32(job.Count),
		TilesX: int32(across), TilesY: int32(down),
		Epoch: s.Epoch, Base: s.Base,
		Carry: flag(job.Carry), ColumnBytes: columnBytes(job), SlabDepth: int32(slabDepth),
	}
	if slabs > 1 {
		const rows = 8 // of a block
		err := b.Run(k.Planes, driver.Run{
			Stream: job.Stream, Blocks: across * down * int(k.Height) / rows * (slabs - 1), Threads: 32 * rows, Job: unsafe.Pointer(v),
		})
		if err != nil {
			return err
		}
	}
	err = b.Run(k.Kernel, driver.Run{Stream: job.Stream, Blocks: blocks, Threads: int(k.Threads), Shared: int(k.Shared), Job: unsafe.Pointer(v)})
	if err == nil {
		s.Base += uint32(blocks)
	}
	return err
}

// columnBytes returns the number of bytes, up to the end of entry (0, y, z), that may be
// overwritten with zeros: a whole sector if the gap after the previous row has room for it. Writing
// less than a sector costs a read: on an H200 a table takes a tenth longer.
func columnBytes(job Job) int32 {
	const sector = 32
	value := int64(job.Sum.Bytes())
	if gap := job.Out.Stride - int64(job.Width+1)*value; !job.Gaps || gap < sector-value || (job.Out.Address()+uint64(value))%sector != 0 || job.Out.Stride%sector != 0 || job.Out.Distance%sector != 0 {
		return int32(value)
	}
	return sector
}
