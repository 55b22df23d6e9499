package gpu

import (
	"fmt"
	"math"
	"math/bits"
	"unsafe"

	"github.com/boxsum/boxsum/gpu/internal/cuda"
)

// fastChannels is how many interleaved channels the one-pass kernels take.
const fastChannels = 4

// notFast says what keeps a job from the one-pass kernels, or nothing.
func (d *Device) notFast(job integrateJob) string {
	b, ok := d.backend.(*cudaBackend)
	const margin = 1024 // a tile that sticks out is counted in 32 bits too
	switch {
	case !ok:
		return "need CUDA"
	case b.major < 8:
		return fmt.Sprintf("need compute capability 8.0, not %d.%d", b.major, b.minor)
	case job.channels > fastChannels:
		return fmt.Sprintf("take at most %d channels", fastChannels)
	case job.width*job.channels > math.MaxInt32-margin || job.height > math.MaxInt32-margin:
		return "count the values of a row and the rows in 31 bits"
	}
	return ""
}

// A fastPath is one of the ways to make a table in one pass.
type fastPath string

const (
	anyPath   fastPath = ""      // what suits the job
	tilePath  fastPath = "fast"  // blocks draw tile after tile and look back
	smallPath fastPath = "small" // a tile for each block, and no chain between them
	flatPath  fastPath = "flat"  // the same with tiles of few rows
)

// fastKernels is what a device knows of its one-pass kernels.
type fastKernels struct {
	only    fastPath // set by tests
	turn    int      // the same
	kernels map[fastKey]*fastKernel
}

type fastKey struct {
	path               fastPath
	pixel, sum, square element
	channels           int
}

// A fastKernel is a kernel that was loaded.
type fastKernel struct {
	fastShape
	name     string
	function cuda.Function
	resident int // blocks that the device runs at once
}

// A fastShape is what a module says of a kernel in the variable shape_ and its
// name.
type fastShape struct {
	width, height int32 // of a tile, in values
	threads       int32
	shared        int32 // bytes
	sumWords      int32 // of 16 bytes, which a tile has for others to read
	squareWords   int32
	jobBytes      int32
	strip         int32 // tiles of a row that are worked on together, row by row; 0: along diagonals
	lag           int32 // the logarithm of how many tiles a row is ahead of the next at most, along diagonals
	ahead         int32 // how many tiles later comes the one to ask the memory for; 0: none
}

// A spaceState is what launches leave to the next one with the same workspace,
// which is not cleared in between.
type spaceState struct {
	epoch  uint32 // of the last launch; a multiple of 4 for images
	base   uint32 // tickets drawn so far
	tensor cuda.Tensor
	boxes  cuda.TensorMap // of tensor
}

// A fastJob is the BoxsumJob of gpu/internal/kernels/fast.h, byte for byte.
type fastJob struct {
	boxes                 cuda.TensorMap
	in, out, squares      uint64
	status                uint64
	squaresStatus         int64
	tickets               uint64
	inStride, inBatch     int64
	outStride, outBatch   int64
	squaresStride         int64
	squaresBatch          int64
	offset                float64
	width, height, count  int32
	tilesX, tilesY        int32
	strip, lag, ahead     int32
	turn                  int32
	epoch, base           uint32
	inAligned, outAligned int32
	squaresAligned        int32
	carry                 int32
	spotCount             int32
	spots                 uint64
	_                     [16]byte
}

// mostTiles is how many a launch can have, and as many tickets.
const mostTiles = math.MaxInt32 / 2

// fastIntegrate makes tables in one pass.
func (d *Device) fastIntegrate(job integrateJob) error {
	b := d.backend.(*cudaBackend)
	k, err := b.fastChoice(b.fast.only, job)
	if err != nil {
		return err
	}
	const mostStatus = 1 << 30 // bytes, unless one image needs more
	across, down := k.tiles(job)
	tiles := int64(across) * int64(down)
	if tiles > mostTiles {
		return d.portableIntegrate(job)
	}
	status := tiles * int64(k.sumWords+k.squareWords) * 16
	images := int(min(int64(job.count), mostTiles/tiles, max(mostStatus/status, 1)))
	for first := 0; first < job.count; first += images {
		part := job
		part.count = min(images, job.count-first)
		part.in.plane, part.out.plane, part.squares.plane = job.in.image(first), job.out.image(first), job.squares.image(first)
		if err := d.fastLaunch(b, k, part, status*int64(part.count)); err != nil {
			return err
		}
	}
	return nil
}

// fastTiles is how large the tiles are that blocks draw for a job, and zero where
// it goes another way.
func (d *Device) fastTiles(job integrateJob, way Kernels) (tileSize, error) {
	if way == Portable || d.notFast(job) != "" {
		return tileSize{}, nil
	}
	b := d.backend.(*cudaBackend)
	k, err := b.fastChoice(b.fast.only, job)
	if err != nil {
		return tileSize{}, err
	}
	across, down := k.tiles(job)
	if k.shared == 0 || int64(across)*int64(down) > mostTiles {
		return tileSize{}, nil
	}
	return tileSize{int(k.width) / job.channels, int(k.height), k.strip > 0}, nil
}

// fastChoice is the kernel for a job. Small images need a block for each tile,
// all of them at once; every tile then reads from all tiles left of it and
// above, which must not be many.
func (b *cudaBackend) fastChoice(path fastPath, job integrateJob) (*fastKernel, error) {
	const mostInLine = 32
	if path == anyPath && job.square == none {
		for _, path := range []fastPath{flatPath, smallPath} {
			k, err := b.fastKernel(path, job)
			if err != nil {
				return nil, err
			}
			across, down := k.tiles(job)
			if across <= mostInLine && down <= mostInLine && across*down*job.count <= k.resident {
				return k, nil
			}
		}
	}
	if path == anyPath || job.square != none {
		path = tilePath
	}
	return b.fastKernel(path, job)
}

// tiles is how many tiles an image has across and down.
func (s *fastShape) tiles(job integrateJob) (across, down int) {
	return ceilDiv(job.width*job.channels, int(s.width)), ceilDiv(job.height, int(s.height))
}

// lagOf is the lag for images of so many tiles across, of which a row should have some under way.
func (s *fastShape) lagOf(across int) int32 { return min(s.lag, int32(bits.Len(uint(across/8)))) }

// turns is how many images of a batch take turns. One after the other was
// fastest on an H200: 64 images of 1080p went at 3405 GB/s, all in turn at 3227.
func (f *fastKernels) turns(count int) int { return min(max(f.turn, 1), count) }

// fastLaunch queues one launch, which has so many bytes of status.
func (d *Device) fastLaunch(b *cudaBackend, k *fastKernel, job integrateJob, status int64) error {
	const use, header = "one-pass tiles", 256 // tickets, then status
	space, s, err := d.workspace(job.stream, use, header+status)
	if err != nil {
		return err
	}
	if s.epoch+4 == 0 { // flags of the first launches would seem to be new
		if err := d.clearSpace(job.stream, use); err != nil {
			return err
		}
	}
	s.epoch += 4

	across, down := k.tiles(job)
	perImage := across * down
	if job.spotCount > 0 {
		perImage = job.spotCount
	}
	tiles := perImage * job.count
	blocks, tickets := tiles, tiles
	if k.shared > 0 { // blocks stay for many tiles, and each draws one ticket too many
		blocks = min(k.resident, tiles)
		tickets += blocks
	}
	values := job.width * job.channels
	f := &fastJob{
		in: job.in.address(), out: job.out.address(), squares: job.squares.address(),
		status: uint64(space) + header, squaresStatus: int64(across) * int64(down) * int64(job.count) * int64(k.sumWords), tickets: uint64(space),
		inStride: job.in.stride, inBatch: job.in.distance,
		outStride: job.out.stride, outBatch: job.out.distance,
		squaresStride: job.squares.stride, squaresBatch: job.squares.distance,
		offset: job.offset,
		width:  int32(values), height: int32(job.height), count: int32(job.count),
		tilesX: int32(across), tilesY: int32(down), strip: k.strip, lag: k.lagOf(across), turn: int32(b.fast.turns(job.count)),
		epoch: s.epoch, base: s.base,
		inAligned:      flag(job.in.aligned(0, job.count)),
		outAligned:     flag(job.out.aligned(job.channels*job.sum.bytes(), job.count)),
		squaresAligned: flag(job.squares.aligned(job.channels*job.square.bytes(), job.count)),
		carry:          flag(job.carry),
		spots:          uint64(job.spots), spotCount: int32(job.spotCount),
	}
	if k.shared > 0 && f.inAligned != 0 && b.major == 9 {
		// Chips of 9.0 copy by a map of the pixels; without one, value by value.
		if f.inAligned = flag(s.map3(b, f, k, job)); f.inAligned != 0 {
			f.ahead = k.ahead
		}
	}
	f.boxes = s.boxes
	err = b.run(k.name, &cuda.Launch{
		Function: k.function, Grid: [3]int{blocks, 1, 1}, Block: [3]int{int(k.threads), 1, 1}, Shared: int(k.shared),
		Stream: cuda.Stream(job.stream), Params: []unsafe.Pointer{unsafe.Pointer(f)},
	})
	if err == nil {
		s.base += uint32(tickets)
	}
	return err
}

// map3 has the map of a job's pixels in s.boxes, and says whether that worked.
func (s *spaceState) map3(b *cudaBackend, f *fastJob, k *fastKernel, job integrateJob) bool {
	// Boxes are at most 256 elements wide: wider tiles have elements of several values. The last of a row may hold
	// some bytes that follow it.
	per := int32(1)
	for k.width/per > 256 {
		per *= 2
	}
	t := cuda.Tensor{
		At: cuda.Pointer(f.in), Element: job.pixel.bytes() * int(per),
		Width: uint64(ceilDiv(int(f.width), int(per))), Height: uint64(f.height), Count: uint64(f.count),
		Stride: uint64(f.inStride), Distance: uint64(f.inBatch),
		BoxWidth: uint32(k.width / per), BoxHeight: uint32(k.height),
	}
	if f.count == 1 {
		t.Distance = t.Stride * t.Height
	}
	if t == s.tensor {
		return true
	}
	err := b.do("map the pixels", func() (err error) {
		s.boxes, err = t.Encode()
		return err
	})
	s.tensor = t
	if err != nil {
		s.tensor = cuda.Tensor{}
	}
	return err == nil
}

func flag(set bool) int32 {
	if set {
		return 1
	}
	return 0
}

// address is where the first row of the first image begins.
func (p plane) address() uint64 { return uint64(p.memory) + uint64(p.offset) }

// aligned says whether all rows, less some bytes at their beginning, start on
// multiples of 16 bytes.
func (b batch) aligned(after, count int) bool {
	return (b.address()+uint64(after))%16 == 0 && b.stride%16 == 0 && (count == 1 || b.distance%16 == 0)
}

// fastKernel is the kernel of a path for a job.
func (b *cudaBackend) fastKernel(path fastPath, job integrateJob) (*fastKernel, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	key := fastKey{path, job.pixel, job.sum, job.square, job.channels}
	if k, ok := b.fast.kernels[key]; ok {
		return k, nil
	}
	k := &fastKernel{name: key.String()}
	l, err := b.find(key.module(), k.name)
	if err != nil {
		return nil, err
	}
	k.function = l.function
	err = b.do("ask for the shape of "+k.name, func() error {
		raw := (*[unsafe.Sizeof(k.fastShape)]byte)(unsafe.Pointer(&k.fastShape))
		return l.module.Global("shape_"+k.name, raw[:])
	})
	if err != nil {
		return nil, err
	}
	if int(k.jobBytes) != int(unsafe.Sizeof(fastJob{})) {
		return nil, fmt.Errorf("gpu: cuda: %s takes %d bytes: run make kernels", k.name, k.jobBytes)
	}
	if k.shared > 0 {
		if err := b.setShared(l.function, int(k.shared)); err != nil {
			return nil, err
		}
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
		return nil, fmt.Errorf("gpu: cuda: %s does not fit on %s", k.name, b.about.Name)
	}
	if b.fast.kernels == nil {
		b.fast.kernels = map[fastKey]*fastKernel{}
	}
	b.fast.kernels[key] = k
	return k, nil
}

// module is where the kernel is.
func (k fastKey) module() string {
	switch {
	case k.path != tilePath:
		return "small"
	case k.square != none:
		return "squares"
	}
	return "sums"
}

// String is the kernel's name.
func (k fastKey) String() string {
	name := fmt.Sprintf("%s_%s_%s", k.path, k.pixel, accumulator(k.sum))
	if k.square != none {
		name += "_" + accumulator(k.square)
	}
	return fmt.Sprintf("%s_c%d", name, k.channels)
}
