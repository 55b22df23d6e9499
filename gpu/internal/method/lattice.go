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
	"github.com/boxsum/boxsum/internal/device"
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
		return Plan{}, raster.Invalid("lattice has %d×%d cells, whose size in bytes exceeds the address space", l.job.Columns, l.job.Rows)
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
		job, edgesAt, err := l.edges(t, i)
		if err != nil {
			return err
		}
		job.Count = int64(count)
		return answer(t, kernels.LatticeSums("boxes", accumulator(t.Element)), count,
			arg(&job), arg(&t.At.Memory), arg(&l.at), arg(&edgesAt), arg(&boxesAt), arg(&sumsAt))
	}
}

// edges queues the kernel that sums the rows and columns at the edges of table i, and returns the job for kernels that
// read the table, and where the sums are.
func (l *Lattice) edges(t *devmem.Array, i int) (latticeBoxes, driver.Memory, error) {
	if err := l.Open(); err != nil { // it may have been closed meanwhile
		return latticeBoxes{}, 0, err
	}
	d, g, at := t.Device, &l.Shape.region, t.At.Image(i)
	job := latticeBoxes{
		Start: at.Offset, Stride: at.Stride, Channels: int64(t.Channels), Columns: int32(g.columns), Rows: int32(g.rows),
		AcrossAt: l.job.AcrossAt, DownAt: l.job.AcrossAt + int32(len(g.across)), PiecesAcross: int32(len(g.down) / 2), PiecesDown: int32(len(g.across) / 2),
	}
	kernel := kernels.LatticeSums("edges", accumulator(t.Element))
	group, err := d.Backend.LargestGroup([]string{kernel}, kernels.Types{Sum: accumulator(t.Element)}.MaxGroup())
	if err != nil {
		return job, 0, err
	}
	edgesAt, _, err := d.Workspace(d.Stream, "edges of lattices", int64(t.Channels*(len(g.down)/2+len(g.across)/2+2)*t.Element.Bytes()))
	if err != nil {
		return job, 0, err
	}
	return job, edgesAt, d.Backend.Launch(d.Stream, kernel, t.Channels, group, arg(&job), arg(&t.At.Memory), arg(&l.at), arg(&edgesAt))
}

// Lines computes the entries of table i of an image line by line, as a table on the host has them, and copies them there.
// Callers must hold the device's queue.
func (l *Lattice) Lines(t *devmem.Array, i int, dst *device.RotatedTable) error {
	d, s := t.Device, l.Shape
	if s.Width == 0 || s.Height == 0 {
		return nil
	}
	columns, rows, bytes := s.columns, s.rows, t.Channels*t.Element.Bytes()
	corners, err := newLines(d, "entries of lattices", s.Width*bytes, s.Height, &dst.Corners)
	if err != nil {
		return err
	}
	empty := corners // not used
	if dst.Empty.Type != 0 {
		if empty, err = newLines(d, "empty cells of lattices", dst.Empty.Width*bytes, dst.Empty.Height, &dst.Empty); err != nil {
			return err
		}
	}
	ends, err := newLines(d, "ends of lattices", (rows+columns)*bytes, 1, nil)
	if err != nil {
		return err
	}
	job := latticeLines{
		CornersStride: corners.at.Stride, Width: int32(s.Width), Height: int32(s.Height), Rows: int32(rows), Columns: int32(columns),
		DownsAt: l.job.DownsAt, OverAt: l.job.OverAt, Runs: l.job.Runs, Mirrored: l.job.Mirrored, Split: int32(s.Split),
	}
	if dst.Empty.Type != 0 {
		job.EmptyStride = empty.at.Stride
	}
	kernel := kernels.LatticeSums("lines", accumulator(t.Element))
	group, err := d.Backend.LargestGroup([]string{kernel}, kernels.Types{Sum: accumulator(t.Element)}.MaxGroup())
	if err != nil {
		return err
	}
	groups := int64(s.Height)*int64(devmem.CeilDiv(s.Width*t.Channels, group)) + int64(devmem.CeilDiv((rows+columns)*t.Channels, group))
	if groups > math.MaxInt32 {
		return raster.Invalid("an image of %d×%d pixels with %d channels takes %d work-groups, want at most %d", s.Width, s.Height, t.Channels, groups, math.MaxInt32)
	}
	for part := range 1 << s.Split {
		boxes, edgesAt, err := l.edges(t, i<<s.Split+part)
		if err != nil {
			return err
		}
		job.OddColumns, job.OddRows, job.Accumulate = int32(s.oddColumns(part)), int32(part), int32(part)
		err = d.Backend.Launch(d.Stream, kernel, int(groups), group, arg(&boxes), arg(&job),
			arg(&t.At.Memory), arg(&l.at), arg(&edgesAt), arg(&corners.at.Memory), arg(&empty.at.Memory), arg(&ends.at.Memory))
		if err != nil {
			return err
		}
	}
	if err := corners.copyOut(d, dst.Corners.Data); err != nil {
		return err
	}
	if dst.Empty.Type != 0 {
		if err := empty.copyOut(d, dst.Empty.Data); err != nil {
			return err
		}
	}
	host := make([]byte, (rows+columns)*bytes)
	if err := ends.copyOut(d, host); err != nil {
		return err
	}
	copy(dst.Rows, host)
	copy(dst.Columns, host[rows*bytes:])
	return nil
}

// Lines of entries on a device, and what is copied to the host.
type latticeRows struct {
	at     driver.Plane
	rows   driver.Rows
	stride int64 // of the host
}

// newLines returns a workspace for lines of so many bytes, which are copied to an array if that is not nil.
func newLines(d *devmem.Device, name string, bytes, count int, host *raster.Array) (latticeRows, error) {
	l := latticeRows{rows: driver.Rows{Bytes: int64(bytes), Count: int64(count)}, stride: int64(bytes)}
	if host != nil {
		l.stride = int64(host.Stride) * int64(host.Type.Bytes())
	}
	l.at.Stride = devmem.RoundUp(int64(bytes), devmem.ImageRow)
	var err error
	l.at.Memory, _, err = d.Workspace(d.Stream, name, l.at.Stride*int64(count))
	return l, err
}

// copyOut copies the lines to the host.
func (l *latticeRows) copyOut(d *devmem.Device, dst []byte) error {
	return d.CopyOut(devmem.Host{At: unsafe.Pointer(&dst[0]), Stride: l.stride}, l.at, l.rows)
}
