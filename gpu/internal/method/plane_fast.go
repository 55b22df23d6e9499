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
)

// Plane computes upright tables of images, and of their squares.
type Plane struct{ images }

// Band returns the job of some rows of an image.
func (Plane) Band(job Job, first, rows int) (Job, bool) {
	return band(job, first, rows), job.tileCount == 0
}

// FastChannels is the largest number of interleaved channels that the one-pass kernels support.
const FastChannels = kernels.PlaneChannels

// Obstacle returns why a job cannot use the one-pass kernels, or "".
func (Plane) Obstacle(job Job) string {
	const margin = 1024 // a tile that extends beyond the image is counted in 32 bits too
	switch obstacle := cmp.Or(cudaObstacle(job.Device), typesObstacle(job.Pixel, job.Sum, job.Square)); {
	case obstacle != "":
		return obstacle
	case job.Channels > FastChannels:
		return fmt.Sprintf("support at most %d channels", FastChannels)
	case job.Width*job.Channels > math.MaxInt32-margin || job.Height > math.MaxInt32-margin:
		return "support fewer than 2^31 rows of fewer than 2^31 values"
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

// mostTiles is the greatest number of tiles, and of tickets, of a launch.
const mostTiles = math.MaxInt32 / 2

// OnePass plans tables in one pass.
func (Plane) OnePass(job Job) (Plan, error) {
	k, err := choosePass(job)
	if err != nil {
		return Plan{}, err
	}
	const mostStatus = 1 << 30 // in bytes, unless one image needs more
	across, down := k.tiles(job)
	tiles := int64(across) * int64(down)
	if tiles > mostTiles {
		return Plan{}, errTooManyTiles
	}
	most := min(int64(job.Count), mostTiles/tiles, max(mostStatus/(tiles*k.status()), 1))
	return Plan{Most: int(most), Launch: k.launch}, nil
}

// A planePass is a one-pass kernel on its device.
type planePass struct {
	driver.PlaneKernel
	backend *driver.CUDABackend
}

// choosePass returns the kernel for a job. Small images have one block for each tile. The tiles are
// the lowest for which all blocks run at once, because other blocks would begin later. Every tile
// then reads from all tiles to its left and above, so there must not be many.
func choosePass(job Job) (planePass, error) {
	const mostInLine = 32
	if path := job.Device.Backend.CUDA().Tuning.Path; path != "" {
		if k, err := passOf(path, job); err != nil || k.Kernel != nil {
			return k, err
		}
		return passOf(TilePath, job)
	}
	wide := job.Square != 0 || job.Sum.Bytes() == 8
	var found planePass
	for _, path := range []string{FlatPath, SmallPath, TallPath} {
		if path == TallPath && (!wide && job.Pixel.Bytes() == 1 || job.Square == 0 && job.Pixel.Bytes() == 2) {
			continue // TilePath is faster in this case
		}
		k, err := passOf(path, job)
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
	return passOf(TilePath, job)
}

// passOf returns the kernel of a path for a job, or none if it does not exist.
func passOf(path string, job Job) (planePass, error) {
	b := job.Device.Backend.CUDA()
	k, err := b.PlaneKernel(driver.PlaneKey{Path: path, Pixel: job.Pixel, Sum: job.Sum, Square: job.Square, Channels: job.Channels})
	return planePass{k, b}, err
}

// tiles returns the number of tiles of an image across and down.
func (k *planePass) tiles(job Job) (across, down int) {
	return devmem.CeilDiv(job.Width*job.Channels, int(k.Width)), devmem.CeilDiv(job.Height, int(k.Height))
}

// status returns the number of bytes that a tile publishes.
func (k *planePass) status() int64 { return int64(k.SumWords+k.SquareWords) * 16 }

// lagOf returns the lag for images of the given number of tiles across, so that several tiles of a
// row are in progress.
func (k *planePass) lagOf(across int) int32 { return min(k.Lag, int32(bits.Len(uint(across/8)))) }

// launch queues one launch.
func (k planePass) launch(job Job) error {
	const use, header = "one-pass tiles", 256 // tickets, then status words
	b, d := k.backend, job.Device
	across, down := k.tiles(job)
	space, s, err := d.Workspace(job.Stream, use, header+int64(across)*int64(down)*int64(job.Count)*k.status())
	if err != nil {
		return err
	}
	if s.Epoch+4 == 0 { // flags of the first launches would seem to be current
		if err := d.ClearSpace(job.Stream, use); err != nil {
			return err
		}
	}
	s.Epoch += 4

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
		if f.InAligned = flag(k.mapPixels(s, f, job)); f.InAligned != 0 {
			f.Ahead = k.Ahead
		}
	}
	err = b.Run(k.Kernel, driver.Run{Stream: job.Stream, Blocks: blocks, Threads: int(k.Threads), Shared: int(k.Shared), Job: unsafe.Pointer(f)})
	if err == nil {
		s.Base += uint32(tickets)
	}
	return err
}

// mapPixels maps the pixels of a job, and reports whether that worked.
func (k *planePass) mapPixels(s *devmem.SpaceState, f *fastJob, job Job) bool {
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
	if s.Mapped != t {
		boxes, err := k.backend.Encode(&t)
		if err != nil {
			return false
		}
		s.Mapped, s.Map = t, boxes
	}
	f.Map = s.Map
	return true
}
