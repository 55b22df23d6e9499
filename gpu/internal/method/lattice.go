package method

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"strings"
	"unsafe"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/gpu/internal/devmem"
	"github.com/boxsum/boxsum/gpu/internal/driver"
	"github.com/boxsum/boxsum/gpu/internal/kernels"
	"github.com/boxsum/boxsum/internal/raster"
)

// A Lattice computes tables along the lines of a rotation: it places the pixels into images with
// holes, of which it computes upright tables. The tables of its jobs are those of the lattices, two
// for each image if that is split.
type Lattice struct {
	images
	Shape *LatticeShape
	job   latticeJob
	at    driver.Memory // of the packed shape; 0 once closed
	lists map[tileSize]tileList
}

// A tileSize holds the columns and rows of the tiles of a one-pass kernel, and whether it processes
// them row by row. A tileList lists the tiles in a region.
type (
	tileSize struct {
		columns, rows int
		byRows        bool
	}
	tileList struct {
		at    driver.Memory
		count int
	}
)

// NewLattice copies a shape to the device. Callers must hold the device's queue.
func NewLattice(d *devmem.Device, shape *LatticeShape) (*Lattice, error) {
	packed, job := shape.pack()
	if len(packed)/4 > math.MaxInt32 {
		return nil, raster.Invalid("lattice of the image of %d×%d pixels takes %d numbers, want at most %d", shape.Width, shape.Height, len(packed)/4, math.MaxInt32)
	}
	at, err := d.Upload(packed)
	return &Lattice{Shape: shape, job: job, at: at, lists: map[tileSize]tileList{}}, err
}

// Open returns an error if the lattice was closed.
func (l *Lattice) Open() error {
	if l.at == 0 {
		return fmt.Errorf("rotated table %w", boxsum.ErrClosed)
	}
	return nil
}

// Free frees the memory on the device, once. Callers must be inside Device.Use.
func (l *Lattice) Free(d *devmem.Device) error {
	if l.at == 0 {
		return nil
	}
	err := driver.FirstError(d.Backend.Wait(d.Stream), d.FreeBuffer(l.at),
		driver.EachError(maps.Values(l.lists), func(list tileList) error { return d.FreeBuffer(list.at) }))
	l.at, l.lists = 0, nil
	return err
}

// Empty returns the job that clears the tables of lattices without cells.
func (l *Lattice) Empty(job Job) Job {
	job.Width, job.Height, job.Count = 0, 0, job.Count<<l.job.Split
	return job
}

// Part returns the job of some images.
func (l *Lattice) Part(job Job, first, count int) Job {
	part := l.images.Part(job, first, count)
	part.Out.Plane = job.Out.Image(first << l.job.Split)
	return part
}

// Obstacle returns the obstacle of a plane of the lattice's size.
func (l *Lattice) Obstacle(job Job) string { return Plane{}.Obstacle(l.cells(job, devmem.Batch{})) }

// cells returns the job of the lattices of some images.
func (l *Lattice) cells(job Job, at devmem.Batch) Job {
	job.In, job.Width, job.Height, job.Count = at, int(l.job.Columns), int(l.job.Rows), job.Count<<l.job.Split
	return job
}

// OnePass plans tables with the one-pass kernels of planes, for the tiles that have pixels.
func (l *Lattice) OnePass(job Job) (Plan, error) { return l.plan(job, OnePass) }

// Portable plans tables with the portable kernels of planes.
func (l *Lattice) Portable(job Job) (Plan, error) { return l.plan(job, Portable) }

// latticeBytes is the approximate memory of the lattices of a launch, unless one image needs more.
const latticeBytes = 1 << 30

func (l *Lattice) plan(job Job, way Way) (Plan, error) {
	stride := devmem.RoundUp(int64(l.job.Columns)*int64(job.Channels)*int64(job.Pixel.Bytes()), devmem.ImageRow)
	one, ok := devmem.Product(stride, int64(l.job.Rows))
	if !ok {
		return Plan{}, raster.Invalid("a lattice of %d×%d cells does not fit in memory", l.job.Columns, l.job.Rows)
	}
	return Plan{
		Most: int(min(int64(job.Count), max(latticeBytes/(one<<l.job.Split), 1))),
		Launch: func(part Job) error {
			bytes := one * int64(part.Count<<l.job.Split)
			space, _, err := job.Device.Workspace(job.Stream, "lattice", bytes)
			if errors.Is(err, boxsum.ErrMemory) {
				return fmt.Errorf("%w: rotated tables also need %d bytes for the pixels of their lattice", err, bytes)
			}
			if err != nil {
				return err
			}
			cells := l.cells(part, devmem.Batch{Plane: driver.Plane{Memory: space, Stride: stride}, Distance: one})
			if way == OnePass {
				if cells.tiles, cells.tileCount, err = l.tiles(cells); err != nil {
					return err
				}
			}
			if err := l.PlacePixels(part, cells.In, cells.tileCount == 0); err != nil {
				return err
			}
			return Run(Plane{}, cells, way)
		},
	}, nil
}

// tiles returns the list of the tiles that a one-pass kernel computes, or no list for all tiles.
func (l *Lattice) tiles(job Job) (driver.Memory, int, error) {
	k, err := choosePass(job)
	if err != nil {
		return 0, 0, err
	}
	across, down := k.tiles(job)
	size := tileSize{int(k.Width) / job.Channels, int(k.Height), k.Strip > 0}
	if k.Shared == 0 || int64(across)*int64(down) > mostTiles || PieceColumns%size.columns != 0 || PieceRows%size.rows != 0 {
		return 0, 0, nil
	}
	list, ok := l.lists[size]
	if !ok {
		tiles := l.Shape.region.tiles(size)
		if len(tiles) == 0 {
			return 0, 0, nil
		}
		packed := unsafe.Slice((*byte)(unsafe.Pointer(&tiles[0])), len(tiles)*int(unsafe.Sizeof(tiles[0])))
		at, err := job.Device.Upload(packed)
		if errors.Is(err, boxsum.ErrMemory) {
			return 0, 0, nil // without a list, all tiles are computed, which takes longer
		}
		if err != nil {
			return 0, 0, err
		}
		list = tileList{at, len(tiles)}
		l.lists[size] = list
	}
	return list.at, list.count, nil
}

// PlacePixels places the pixels of images into the cells of their lattices: it writes everything or only
// the region with pixels.
func (l *Lattice) PlacePixels(job Job, cells devmem.Batch, everywhere bool) error {
	bytes := job.Pixel.Bytes()
	laneGroups := devmem.CeilDiv(job.Channels, kernels.LatticeValues)
	lanes := devmem.CeilDiv(job.Channels, laneGroups)
	name, most, tileCells, rows := "lay", kernels.LatticeGroup, kernels.LatticeValues/lanes, kernels.LatticeRows/bytes
	if job.Channels == 1 && readable(job, min(8*bytes, 16), min(8*bytes, 16)) && !leavesCellsEmpty(job.Device.Info()) {
		name, most, tileCells, rows = "gray", kernels.GrayGroup, kernels.GrayCells, kernels.GrayRows/bytes
	}
	kernel := kernels.LatticeKernel(name, bytes)
	group, err := job.group(most, kernel)
	if err != nil {
		return err
	}
	j := l.job
	j.Everywhere = flag(everywhere)
	j.Channels, j.TileChannels, j.ChannelGroups, j.TileChannelsInverse = int32(job.Channels), int32(lanes), int32(laneGroups), int32(devmem.CeilDiv(1<<16, lanes))
	j.TileCells, j.TilesAcross = int32(tileCells), int32(devmem.CeilDiv(int(j.Columns), tileCells))
	j.TilesDown = int32(devmem.CeilDiv(int(j.Rows)<<j.Split, rows))
	j.Wide = flag(tileCells*job.Channels == kernels.LatticeValues)
	j.InStart, j.InStride, j.InDistance = job.In.Offset, job.In.Stride, job.In.Distance
	j.OutStart, j.OutStride, j.OutDistance = cells.Offset, cells.Stride, cells.Distance
	groups := int64(laneGroups) * int64(j.TilesAcross) * int64(j.TilesDown)
	if groups > math.MaxInt32/int64(job.Count) {
		return raster.Invalid("%d images of %d×%d pixels with %d channels take %d work-groups each, want at most %d in all", job.Count, job.Width, job.Height, job.Channels, groups, math.MaxInt32)
	}
	return job.launch(kernel, groups*int64(job.Count), group, arg(&j), arg(&job.In.Memory), arg(&l.at), arg(&cells.Memory))
}

// leavesCellsEmpty reports whether the kernel for gray images leaves cells empty on a device. PoCL 5.0,
// which Ubuntu 24.04 has, compiles it to code that places only a few of the pixels, even without optimization;
// 3.1 and 6.0 do not. 4.0, which was not tested, is treated like 5.0.
func leavesCellsEmpty(device driver.Info) bool {
	return device.CPU && (strings.HasPrefix(device.Driver, "4.") || strings.HasPrefix(device.Driver, "5."))
}

// readable reports whether the pixels of images are aligned to a multiple of bytes, and can be read
// in pieces beyond the end of a row.
func readable(job Job, multiple, piece int) bool {
	of := int64(multiple)
	return job.In.Offset%of == 0 && job.In.Stride%of == 0 && (job.Count == 1 || job.In.Distance%of == 0) &&
		job.In.Stride >= devmem.RoundUp(int64(job.Width)*int64(job.Pixel.Bytes()), int64(piece))
}

// Boxes returns an Answer for boxes of table i of the lattices.
func (l *Lattice) Boxes(t *devmem.Array, i int) Answer {
	return func(boxesAt, sumsAt driver.Memory, count int) error {
		if err := l.Open(); err != nil { // it may have been closed meanwhile
			return err
		}
		d, g, sum, at := t.Device, &l.Shape.region, accumulator(t.Element), t.At.Image(i)
		edges, boxes := kernels.LatticeSums("edges", sum), kernels.LatticeSums("boxes", sum)
		group, err := d.Backend.LargestGroup([]string{edges, boxes}, kernels.Types{Sum: sum}.MaxGroup())
		if err != nil {
			return err
		}
		job := latticeBoxes{
			Start: at.Offset, Stride: at.Stride, Channels: int64(t.Channels), Count: int64(count), Columns: int32(g.columns), Rows: int32(g.rows),
			AcrossAt: l.job.AcrossAt, DownAt: l.job.AcrossAt + int32(len(g.across)), PiecesAcross: int32(len(g.down) / 2), PiecesDown: int32(len(g.across) / 2),
		}
		edgesAt, _, err := d.Workspace(d.Stream, "edges of lattices", int64(t.Channels*(len(g.down)/2+len(g.across)/2+2)*t.Element.Bytes()))
		if err != nil {
			return err
		}
		if err := d.Backend.Launch(d.Stream, edges, t.Channels, group, arg(&job), arg(&at.Memory), arg(&l.at), arg(&edgesAt)); err != nil {
			return err
		}
		return d.Backend.Launch(d.Stream, boxes, devmem.CeilDiv(count*t.Channels, group), group,
			arg(&job), arg(&at.Memory), arg(&l.at), arg(&edgesAt), arg(&boxesAt), arg(&sumsAt))
	}
}
