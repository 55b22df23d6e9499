package method

import (
	"cmp"
	"fmt"
	"math"
	"math/bits"
	"unsafe"

	"github.com/boxsum/boxsum/gpu/internal/cuda"
	"github.com/boxsum/boxsum/gpu/internal/devmem"
	"github.com/boxsum/boxsum/gpu/internal/driver"
	"github.com/boxsum/boxsum/gpu/internal/kernels"
	"github.com/boxsum/boxsum/internal/raster"
)

// Plane computes upright tables of images, and of their squares.
type Plane struct{ images }

// Band returns the job of some rows of an image.
func (Plane) Band(job Job, first, rows int) Job { return band(job, first, rows) }

// FastChannels is the largest number of interleaved channels that the one-pass kernels support.
const FastChannels = kernels.PlaneChannels

// Obstacle returns why a job cannot use the one-pass kernels, or "".
func (Plane) Obstacle(job Job) string {
	const margin = 1024 // a tile that extends beyond the image is counted in 32 bits too
	switch obstacle := cmp.Or(cudaObstacle(job.Device), typesObstacle(job.Pixel, job.Sum, job.Square)); {
	case obstacle != "":
		return obstacle
	case job.Channels > FastChannels:
		return fmt.Sprintf("take at most %d channels", FastChannels)
	case job.Width*job.Channels > math.MaxInt32-margin || job.Height > math.MaxInt32-margin:
		return "count the values of a row and the rows in 31 bits"
	}
	return ""
}

// The paths of the one-pass kernels. By default, the fastest one for the job is used.
const (
	TilePath  = kernels.TilePath
	FlatPath  = kernels.FlatPath
	SmallPath = kernels.SmallPath
	TallPath  = kernels.TallPath
)

type fastKey struct {
	path               string
	pixel, sum, square raster.Type
	channels           int
}

// A fastKernel is a loaded kernel.
type fastKernel struct {
	*driver.Kernel
	*fastShape
}

// mostTiles is the greatest number of tiles, and of tickets, of a launch.
const mostTiles = math.MaxInt32 / 2

// OnePass plans tables in one pass.
func (Plane) OnePass(job Job) (Plan, error) {
	b := job.Device.Backend.(*driver.CUDABackend)
	k, err := fastChoice(b, job)
	if err != nil {
		return Plan{}, err
	}
	const mostStatus = 1 << 30 // in bytes, unless one image needs more
	across, down := k.tiles(job)
	tiles := int64(across) * int64(down)
	if tiles > mostTiles {
		return Plan{}, errTooManyTiles
	}
	status := tiles * int64(k.SumWords+k.SquareWords) * 16
	return Plan{
		Most:   int(min(int64(job.Count), mostTiles/tiles, max(mostStatus/status, 1))),
		Launch: func(part Job) error { return fastLaunch(b, k, part, status*int64(part.Count)) },
	}, nil
}

// fastChoice returns the kernel for a job. Small images have one block for each tile. The tiles are
// the lowest for which all blocks run at once, because other blocks would begin later. Every tile
// then reads from all tiles to its left and above, so there must not be many.
func fastChoice(b *driver.CUDABackend, job Job) (fastKernel, error) {
	const mostInLine = 32
	if path := b.Tuning.Path; path != "" {
		if k, err := loadFast(b, path, job); err != nil || k.Kernel != nil {
			return k, err
		}
		return loadFast(b, TilePath, job)
	}
	wide := job.Square != 0 || job.Sum.Bytes() == 8
	var found fastKernel
	for _, path := range []string{FlatPath, SmallPath, TallPath} {
		if path == TallPath && (!wide && job.Pixel.Bytes() == 1 || job.Square == 0 && job.Pixel.Bytes() == 2) {
			continue // TilePath is faster there
		}
		k, err := loadFast(b, path, job)
		if err != nil {
			return k, err
		}
		if k.Kernel == nil {
			continue
		}
		across, down := k.tiles(job)
		room := k.Resident
		if path == TallPath && job.Square != 0 {
			room *= 2 // even in two waves they are faster than a chain of waiting tiles
		}
		if across > mostInLine || down > mostInLine || across*down*job.Count > room {
			continue
		}
		found = k
		// Sums of 8 bytes are fastest with one block per multiprocessor.
		if !wide || across*down*job.Count <= job.Device.About.Units {
			break
		}
	}
	if found.Kernel != nil {
		return found, nil
	}
	return loadFast(b, TilePath, job)
}

// loadFast returns the kernel of a path for a job, or none if it does not exist.
func loadFast(b *driver.CUDABackend, path string, job Job) (k fastKernel, err error) {
	key := fastKey{path, job.Pixel, job.Sum, job.Square, job.Channels}
	if known, ok := b.Known.Load(key); ok { // composing the kernel's name would take longer than launching it
		return known.(fastKernel), nil
	}
	if !kernels.HasPath(path, key.types(), job.Channels) {
		b.Known.Store(key, k)
		return k, nil
	}
	k.Kernel, k.fastShape, err = driver.ShapedKernel[fastShape](b, key.module(), key.String(), unsafe.Sizeof(fastJob{}))
	if err == nil {
		b.Known.Store(key, k)
	}
	return k, err
}

// tiles returns the number of tiles of an image across and down.
func (s *fastShape) tiles(job Job) (across, down int) {
	return devmem.CeilDiv(job.Width*job.Channels, int(s.Width)), devmem.CeilDiv(job.Height, int(s.Height))
}

// lagOf returns the lag for images of the given number of tiles across, so that several tiles of a
// row are in progress.
func (s *fastShape) lagOf(across int) int32 { return min(s.Lag, int32(bits.Len(uint(across/8)))) }

// fastLaunch queues one launch, which needs the given number of bytes of status words.
func fastLaunch(b *driver.CUDABackend, k fastKernel, job Job, status int64) error {
	const use, header = "one-pass tiles", 256 // tickets, then status words
	d := job.Device
	space, s, err := d.Workspace(job.Stream, use, header+status)
	if err != nil {
		return err
	}
	if s.Epoch+4 == 0 { // flags of the first launches would seem to be current
		if err := d.ClearSpace(job.Stream, use); err != nil {
			return err
		}
	}
	s.Epoch += 4

	across, down := k.tiles(job)
	perImage := across * down
	if job.tileCount > 0 {
		perImage = job.tileCount
	}
	tiles := perImage * job.Count
	blocks, tickets := tiles, tiles
	if k.Shared > 0 { // blocks process many tiles, and each draws one ticket too many
		blocks = min(k.Resident, tiles)
		tickets += blocks
	}
	values := job.Width * job.Channels
	// The number of interleaved images of a batch. One after the other was fastest on an H200: 64
	// images of 1080p ran at 3405 GB/s, all interleaved at 3227 GB/s.
	turns := min(max(b.Tuning.Turns, 1), job.Count)
	f := &fastJob{
		In: job.In.Address(), Out: job.Out.Address(), Squares: job.Squares.Address(),
		Status: uint64(space) + header, SquaresStatus: int64(across) * int64(down) * int64(job.Count) * int64(k.SumWords), Tickets: uint64(space),
		InStride: job.In.Stride, InBatch: job.In.Distance,
		OutStride: job.Out.Stride, OutBatch: job.Out.Distance,
		SquaresStride: job.Squares.Stride, SquaresBatch: job.Squares.Distance,
		Offset: job.Offset,
		Width:  int32(values), Height: int32(job.Height), Count: int32(job.Count),
		TilesX: int32(across), TilesY: int32(down), Strip: k.Strip, Lag: k.lagOf(across), Turn: int32(turns),
		Epoch: s.Epoch, Base: s.Base,
		InAligned:      flag(job.In.Aligned(0, job.Count)),
		OutAligned:     flag(job.Out.Aligned(job.Channels*job.Sum.Bytes(), job.Count)),
		SquaresAligned: flag(job.Squares.Aligned(job.Channels*job.Square.Bytes(), job.Count)),
		Carry:          flag(job.Carry),
		TileList:       uint64(job.tiles), TileCount: int32(job.tileCount),
	}
	if k.Shared > 0 && f.InAligned != 0 && b.Major == 9 && k.Kernel.Machine {
		// Chips of compute capability 9.0 copy by a tensor map, if there is one, else value by
		// value.
		if f.InAligned = flag(map3(s, b, f, k, job)); f.InAligned != 0 {
			f.Ahead = k.Ahead
		}
	}
	err = b.Run(k.Kernel, driver.Run{Stream: job.Stream, Blocks: blocks, Threads: int(k.Threads), Shared: int(k.Shared), Job: unsafe.Pointer(f)})
	if err == nil {
		s.Base += uint32(tickets)
	}
	return err
}

// A pixelMap holds the pixels of the last launch and their tensor map.
type pixelMap struct {
	tensor cuda.Tensor
	boxes  cuda.TensorMap
}

// map3 maps the pixels of a job, and reports whether that worked.
func map3(s *devmem.SpaceState, b *driver.CUDABackend, f *fastJob, k fastKernel, job Job) bool {
	// Boxes are at most 256 elements wide, so wider tiles use elements of several values. The last
	// element of a row may contain some bytes that follow the row.
	per := int32(1)
	for k.Width/per > 256 {
		per *= 2
	}
	t := cuda.Tensor{
		At: cuda.Pointer(f.In), Element: job.Pixel.Bytes() * int(per),
		Width: uint64(devmem.CeilDiv(int(f.Width), int(per))), Height: uint64(f.Height), Count: uint64(f.Count),
		Stride: uint64(f.InStride), Distance: uint64(f.InBatch),
		BoxWidth: uint32(k.Width / per), BoxHeight: uint32(k.Height),
	}
	if f.Count == 1 {
		t.Distance = t.Stride * t.Height
	}
	kept, ok := s.Kept.(*pixelMap)
	if !ok || kept.tensor != t {
		boxes, err := b.Encode(&t)
		if err != nil {
			return false
		}
		kept = &pixelMap{t, boxes}
		s.Kept = kept
	}
	f.Map = kept.boxes
	return true
}

// module returns the module of the kernel.
func (k fastKey) module() string {
	switch {
	case k.path != TilePath:
		return "small"
	case k.square != 0:
		return "squares"
	}
	return "sums"
}

// types returns the types of the kernel.
func (k fastKey) types() kernels.Types {
	t := kernels.Types{Pixel: k.pixel.Short(), Sum: accumulator(k.sum)}
	if k.square != 0 {
		t.Square = accumulator(k.square)
	}
	return t
}

// String returns the name of the kernel.
func (k fastKey) String() string { return kernels.PlaneKernel(k.path, k.types(), k.channels) }
