package gpu

import (
	"errors"
	"fmt"
	"math"
	"unsafe"

	"github.com/boxsum/boxsum/gpu/internal/cuda"
	"github.com/boxsum/boxsum/gpu/internal/kernels"
)

// volumeKernels is what a device knows of its one-pass kernels of volumes.
type volumeKernels struct {
	slabs   int // set by tests
	kernels map[string]*volumeKernel
}

// A volumeKernel is a kernel that was loaded.
type volumeKernel struct {
	volumeShape
	name     string
	function cuda.Function
	planes   cuda.Function // adds up slabs along z
	resident int           // blocks that the device runs at once
}

// A volumeShape is what a module says of a kernel in the variable shape_ and its
// name.
type volumeShape struct {
	width, height int32 // of a tile
	threads       int32
	shared        int32 // bytes
	words         int32 // of 16 bytes, which a tile tells others of a slice
	jobBytes      int32
}

// A volumePassJob is the BoxsumVolume of gpu/internal/kernels/volumejob.h, byte for byte.
type volumePassJob struct {
	in, out, edges, tickets uint64
	planes                  uint64
	inStride, inSlice       int64
	outStride, outSlice     int64
	offset                  float64
	width, height, depth    int32
	tilesX, tilesY          int32
	epoch, base             uint32
	carry                   int32
	columnBytes, slabDepth  int32
}

// notVolumePass says what keeps a job from the one-pass kernels, or nothing.
func (d *Device) notVolumePass(job volumeJob) string {
	b, ok := d.backend.(*cudaBackend)
	const margin = 1024 // a tile that sticks out is counted in 32 bits too
	switch {
	case !ok:
		return "need CUDA"
	case b.major < 8:
		return fmt.Sprintf("need compute capability 8.0, not %d.%d", b.major, b.minor)
	case job.channels > 1:
		return "take one channel"
	case !job.in.aligned(0, job.count) || job.in.stride < roundUp(int64(job.width), 4)*int64(job.pixel.bytes()) ||
		!job.out.aligned(job.sum.bytes(), job.count+1):
		return "want rows on multiples of 16 bytes"
	case job.width > math.MaxInt32-margin || job.height > math.MaxInt32-margin:
		return "count columns and rows in 31 bits"
	}
	return ""
}

// volumeEdgeBytes is how much memory tiles may take to tell each other of slices,
// unless one slice needs more. More slices go in several launches.
const volumeEdgeBytes = 512 << 20

// volumePass makes the table in one pass.
func (d *Device) volumePass(job volumeJob) error {
	b := d.backend.(*cudaBackend)
	k, err := b.volumeKernel(kernels.VolumePassKernel(job.pixel.String(), accumulator(job.sum), job.squared))
	if err != nil {
		return err
	}
	tiles := k.tiles(job)
	if tiles > math.MaxInt32/2 {
		return d.volumePortable(job)
	}
	slices := int(min(int64(job.count), max(volumeEdgeBytes/(tiles*int64(k.words)*16), 1)))
	for first := 0; first < job.count; {
		part := job.part(first, min(slices, job.count-first))
		err := d.volumeLaunch(b, k, part, b.volumes.slabsOf(k, tiles, part.count))
		if errors.Is(err, ErrMemory) && slices > 1 {
			slices = (slices + 1) / 2
			continue
		}
		if err != nil {
			return err
		}
		first += part.count
	}
	return nil
}

// tiles is how many tiles a slice has.
func (s *volumeShape) tiles(job volumeJob) int64 {
	return int64(ceilDiv(job.width, int(s.width))) * int64(ceilDiv(job.height, int(s.height)))
}

// slabsOf is how many slabs of slices are worked on side by side: more than one
// where the tiles of a slice leave much of the device idle. That costs a read more.
func (v *volumeKernels) slabsOf(k *volumeKernel, tiles int64, depth int) int {
	const leastDepth = 8 // of a slab
	slabs := int64(v.slabs)
	if slabs == 0 {
		slabs = max(int64(k.resident)/tiles, 1)
	}
	return int(max(min(slabs, int64(depth/leastDepth), math.MaxInt32/tiles), 1))
}

// volumeLaunch queues the launches for slices that go together.
func (d *Device) volumeLaunch(b *cudaBackend, k *volumeKernel, job volumeJob, slabs int) error {
	across, down := ceilDiv(job.width, int(k.width)), ceilDiv(job.height, int(k.height))
	slabDepth := ceilDiv(job.count, slabs)
	slabs = ceilDiv(job.count, slabDepth)
	blocks := across * down * slabs

	const use, header = "volume edges", 256 // tickets, then edges
	space, s, err := d.workspace(job.stream, use, header+int64(blocks)*int64(slabDepth+1)*int64(k.words)*16)
	if err != nil {
		return err
	}
	var planes memory
	if slabs > 1 {
		plane := int64(blocks/slabs) * int64(k.width) * int64(k.height) * int64(job.sum.bytes())
		if planes, _, err = d.workspace(job.stream, "volume planes", plane*int64(slabs-1)); err != nil {
			return err
		}
	}
	if s.epoch == math.MaxUint32 { // what the first launches told would seem to be new
		if err := d.clearSpace(job.stream, use); err != nil {
			return err
		}
	}
	s.epoch++
	v := &volumePassJob{
		in: job.in.address(), out: job.out.address(), edges: uint64(space) + header, tickets: uint64(space), planes: uint64(planes),
		inStride: job.in.stride, inSlice: job.in.distance,
		outStride: job.out.stride, outSlice: job.out.distance,
		offset: job.offset,
		width:  int32(job.width), height: int32(job.height), depth: int32(job.count),
		tilesX: int32(across), tilesY: int32(down),
		epoch: s.epoch, base: s.base,
		carry: flag(job.carry), columnBytes: job.columnBytes(), slabDepth: int32(slabDepth),
	}
	params := []unsafe.Pointer{unsafe.Pointer(v)}
	if slabs > 1 {
		const rows = 8 // of a block
		err := b.run(k.name+" planes", &cuda.Launch{
			Function: k.planes, Grid: [3]int{across * down * int(k.height) / rows * (slabs - 1), 1, 1}, Block: [3]int{32 * rows, 1, 1},
			Stream: cuda.Stream(job.stream), Params: params,
		})
		if err != nil {
			return err
		}
	}
	err = b.run(k.name, &cuda.Launch{
		Function: k.function, Grid: [3]int{blocks, 1, 1}, Block: [3]int{int(k.threads), 1, 1}, Shared: int(k.shared),
		Stream: cuda.Stream(job.stream), Params: params,
	})
	if err == nil {
		s.base += uint32(blocks)
	}
	return err
}

// columnBytes is how many bytes may be zeros up to the end of an entry (0, y, z): a whole
// sector, where the gap after the row before has room for one. To write less of it costs
// a read: on an H200 a table takes a tenth longer.
func (job volumeJob) columnBytes() int32 {
	const sector = 32
	value := int64(job.sum.bytes())
	if gap := job.out.stride - int64(job.width+1)*value; !job.gaps || gap < sector-value || (job.out.address()+uint64(value))%sector != 0 || job.out.stride%sector != 0 || job.out.distance%sector != 0 {
		return int32(value)
	}
	return sector
}

// volumeKernel is a kernel by its name.
func (b *cudaBackend) volumeKernel(name string) (*volumeKernel, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if k, ok := b.volumes.kernels[name]; ok {
		return k, nil
	}
	k := &volumeKernel{name: name}
	l, err := b.find(kernels.Module(name), name)
	if err != nil {
		return nil, err
	}
	k.function = l.function
	planes, err := b.find(kernels.Module(name), kernels.VolumePassPlanes(name))
	if err != nil {
		return nil, err
	}
	k.planes = planes.function
	err = b.do("ask for the shape of "+name, func() error {
		raw := (*[unsafe.Sizeof(k.volumeShape)]byte)(unsafe.Pointer(&k.volumeShape))
		return l.module.Global("shape_"+name, raw[:])
	})
	if err != nil {
		return nil, err
	}
	if int(k.jobBytes) != int(unsafe.Sizeof(volumePassJob{})) {
		return nil, fmt.Errorf("gpu: cuda: %s takes %d bytes: run make kernels", name, k.jobBytes)
	}
	if err := b.setShared(l.function, int(k.shared)); err != nil {
		return nil, err
	}
	use, err := b.use(l.function, int(k.threads), int(k.shared))
	if err != nil {
		return nil, err
	}
	units, err := b.attribute(cuda.Multiprocessors)
	if err != nil {
		return nil, err
	}
	if k.resident = use.blocks * units; k.resident == 0 {
		return nil, fmt.Errorf("gpu: cuda: %s does not fit on %s", name, b.about.Name)
	}
	if b.volumes.kernels == nil {
		b.volumes.kernels = map[string]*volumeKernel{}
	}
	b.volumes.kernels[name] = k
	return k, nil
}
