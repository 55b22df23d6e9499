package method

import (
	"math"

	"github.com/boxsum/boxsum/gpu/internal/devmem"
	"github.com/boxsum/boxsum/gpu/internal/driver"
	"github.com/boxsum/boxsum/gpu/internal/kernels"
	"github.com/boxsum/boxsum/internal/raster"
)

// portableTasks is the number of tasks into which the portable kernels cut a row of a tile, see
// gpu/internal/kernels/band.h. A work-group has at least as many work-items, and a tile at most as
// many channels.
const portableTasks = driver.SmallestGroup

// tiling describes how the portable kernels cut an image.
type tiling struct {
	group int // work-group size; each work-item has a column of the tile
	rows  int // of a tile

	// carryBytes bounds the memory for the carries of a batch; larger batches take several
	// launches.
	carryBytes int64
}

// Portable plans tables with the portable kernels: totals of tiles, carries between them, and a
// second read of the pixels that writes the table.
func (Plane) Portable(job Job) (Plan, error) {
	t := portableTypes(job)
	group, err := job.group(t.MaxGroup(), t.Kernel("totals"), t.Kernel("finish"))
	if err != nil {
		return Plan{}, err
	}
	return planePlan(job, tiling{group, tileRows(job, group), 128 << 20})
}

// planePlan plans tables with tiles of a given size.
func planePlan(job Job, t tiling) (Plan, error) {
	if job.Height > mostRows {
		return Plan{}, raster.Invalid("image has %d rows, want at most %d (integrate it in bands)", job.Height, mostRows)
	}
	cut := newCut(job, t)
	return Plan{cut.most(job, t.carryBytes), cut.launch}, nil
}

// launch queues the launches for images that are processed together.
func (c portableCut) launch(job Job) error {
	carries, err := c.totals(job)
	if err != nil {
		return err
	}
	for i := range c.layers {
		if err := c.carryOn(job, i, carries); err != nil {
			return err
		}
	}
	args := []driver.Arg{arg(&c.portableJob), arg(&job.In.Memory), arg(&carries), arg(&job.Out.Memory)}
	if job.Square != 0 {
		args = append(args, arg(&job.Squares.Memory))
	}
	return job.launch(portableTypes(job).Kernel("finish"), c.tiles()*int64(job.Count), c.group, args...)
}

func portableTypes(job Job) kernels.Types {
	t := kernels.Types{Pixel: job.Pixel.Short(), Sum: accumulator(job.Sum)}
	if job.Square != 0 {
		t.Square = accumulator(job.Square)
	}
	return t
}

// accumulator returns the name of a sum type in kernels, where i64 and u64 are the same.
func accumulator(e raster.Type) string {
	return e.Bits().Short()
}

// enoughTiles is the number of tiles that keeps a large device busy. It does not depend on the
// device or the number of images, so that the bits of float sums do not either.
const enoughTiles = 256

// tileRows returns the height of tiles. High tiles have fewer carries, which are read and written
// four times.
func tileRows(job Job, group int) int {
	const most = 64
	s := shapeOf(job, tiling{group: group, rows: most})
	rows := most
	for rows > group/portableTasks && int(s.ChannelGroups)*int(s.TilesAcross)*devmem.CeilDiv(job.Height, rows) < enoughTiles {
		rows /= 2
	}
	return rows
}

// shapeOf returns the job of the portable kernels with its sizes filled in.
func shapeOf(job Job, t tiling) portableJob {
	laneGroups := devmem.CeilDiv(job.Channels, portableTasks)
	lanes := devmem.CeilDiv(job.Channels, laneGroups)
	pixels := t.group / portableTasks * (portableTasks / lanes)
	return portableJob{
		Width: int32(job.Width), Height: int32(job.Height), Channels: int32(job.Channels),
		TileChannels: int32(lanes), ChannelGroups: int32(laneGroups), TileChannelsInverse: int32(devmem.CeilDiv(1<<16, lanes)),
		TilePixels: int32(pixels), TileRows: int32(t.rows),
		TilesAcross: int32(max(devmem.CeilDiv(job.Width, pixels), 1)), TilesDown: int32(max(devmem.CeilDiv(job.Height, t.rows), 1)),
	}
}

// mostRows leaves room for the kernels to count past the last row in 32 bits: they step by tiles,
// and by whole work-groups times SPAN along the carries.
const mostRows = math.MaxInt32 - 1<<16

// A portableCut describes how images are cut into tiles, and the carries between these: a row of
// column totals for each row of tiles, and a column of row totals for each column of tiles, unless
// there is only one.
type portableCut struct {
	portableJob
	group         int
	layers        []raster.Type // sums, and squares if wanted
	columns, rows int64         // carries of one layer of an image
}

func newCut(job Job, t tiling) portableCut {
	c := portableCut{portableJob: shapeOf(job, t), group: t.group, layers: []raster.Type{job.Sum}}
	if job.Square != 0 {
		c.layers = append(c.layers, job.Square)
	}
	if c.TilesDown > 1 {
		c.columns = int64(c.TilesDown) * int64(job.Width) * int64(job.Channels)
	}
	if c.TilesAcross > 1 {
		c.rows = int64(c.TilesAcross) * int64(job.Height) * int64(job.Channels)
	}
	return c
}

// tiles returns the number of tiles in an image.
func (c *portableCut) tiles() int64 {
	return int64(c.ChannelGroups) * int64(c.TilesAcross) * int64(c.TilesDown)
}

// carryBytes returns the size of the carries of an image.
func (c *portableCut) carryBytes() (bytes int64) {
	for _, e := range c.layers {
		bytes += devmem.RoundUp(c.columns*int64(e.Bytes()), 256) + devmem.RoundUp(c.rows*int64(e.Bytes()), 256)
	}
	return bytes
}

// most returns the number of images to process together if their carries may take the given number
// of bytes.
func (c *portableCut) most(job Job, bytes int64) int {
	images := min(int64(job.Count), math.MaxInt32/c.tiles())
	if each := c.carryBytes(); each > 0 {
		images = min(images, max(bytes/each, 1))
	}
	return int(images)
}

// totals queues the totals of tiles, and fills in where the carries are: columns and rows of the
// sums, then those of the squares, each for all images. A table of one tile needs none.
func (c *portableCut) totals(job Job) (carries driver.Memory, err error) {
	c.InStart, c.InStride, c.InDistance = job.In.Offset, job.In.Stride, job.In.Distance
	c.OutStart, c.OutStride, c.OutDistance = job.Out.Offset, job.Out.Stride, job.Out.Distance
	c.SquaresStart, c.SquaresStride, c.SquaresDistance = job.Squares.Offset, job.Squares.Stride, job.Squares.Distance
	c.Offset, c.Carry = float32(job.Offset), flag(job.Carry)
	each := c.carryBytes()
	if each == 0 {
		return job.In.Memory, nil
	}
	if carries, _, err = job.Device.Workspace(job.Stream, "portable carries", each*int64(job.Count)); err != nil {
		return 0, err
	}
	var at int64
	starts := [2][2]*int64{{&c.ColumnsStart, &c.RowsStart}, {&c.SquareColumnsStart, &c.SquareRowsStart}}
	for i, e := range c.layers {
		for k, values := range [2]int64{c.columns, c.rows} {
			*starts[i][k] = at
			at += devmem.RoundUp(values*int64(e.Bytes()), 256) * int64(job.Count)
		}
	}
	return carries, job.launch(portableTypes(job).Kernel("totals"), c.tiles()*int64(job.Count), c.group, arg(&c.portableJob), arg(&job.In.Memory), arg(&carries))
}

// carryOn propagates the totals of one layer.
func (c *portableCut) carryOn(job Job, layer int, carries driver.Memory) error {
	if c.columns+c.rows == 0 {
		return nil
	}
	columns, rows := c.ColumnsStart, c.RowsStart
	if layer == 1 {
		columns, rows = c.SquareColumnsStart, c.SquareRowsStart
	}
	sum := accumulator(c.layers[layer])
	carry, climb := kernels.SumKernel("carry", sum), kernels.SumKernel("climb", sum)
	group, err := job.group(kernels.Types{Sum: sum}.MaxGroup(), carry, climb)
	if err != nil {
		return err
	}
	part := func(start, values int64, steps int32) portableCarry {
		length := values / int64(steps)
		across := devmem.CeilDiv(length, int64(min(group, 32)))
		return portableCarry{Start: start, Length: length, Steps: steps, GroupsAcross: uint32(across), Groups: uint32(across * int64(job.Count))}
	}
	down, right := part(columns, c.columns, c.TilesDown), part(rows, c.rows, c.TilesAcross)
	if err := job.launch(carry, int64(down.Groups)+int64(right.Groups), group, arg(&down), arg(&right), arg(&carries)); err != nil {
		return err
	}
	if c.rows == 0 {
		return nil
	}
	lines := portableClimb{Start: rows, Height: c.Height, Channels: c.Channels, TilesAcross: c.TilesAcross}
	return job.launch(climb, int64(c.TilesAcross-1)*int64(c.Channels)*int64(job.Count), group, arg(&lines), arg(&carries))
}
