package gpu

import (
	"fmt"
	"math"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/gpu/internal/kernels"
)

// What the portable kernels have in common, see gpu/internal/kernels/band.h: a row of a
// tile is cut into this many tasks, so that a work-group has at least as many
// work-items, and a tile at most as many channels.
const (
	portableTasks = 16
	smallestGroup = portableTasks
)

// tiling is how the portable kernels cut an image.
type tiling struct {
	group int // work-items of a work-group, each with a column of the tile
	rows  int // of a tile

	// carryBytes is how much memory for carries a batch may ask for; a larger
	// one goes in several launches.
	carryBytes int64
}

// portableIntegrate makes tables with the portable kernels: totals of tiles,
// carries between them, and a second read that writes the table.
func (d *Device) portableIntegrate(job integrateJob) error {
	t := portableTypes(job)
	group, err := d.portableGroup(t.MaxGroup(), t.Kernel("totals"), t.Kernel("finish"))
	if err != nil {
		return err
	}
	return d.portableTiles(job, tiling{group, tileRows(job, group), 128 << 20})
}

func portableTypes(job integrateJob) kernels.Types {
	t := kernels.Types{Pixel: job.pixel.String(), Sum: accumulator(job.sum)}
	if job.square != none {
		t.Square = accumulator(job.square)
	}
	return t
}

// accumulator is what kernels call a type of sum; to them i64 and u64 are one.
func accumulator(e element) string {
	if e == i64 {
		e = u64
	}
	return e.String()
}

// portableGroup is how large the work-groups of some kernels may be. CUDA's are
// compiled for the most.
func (d *Device) portableGroup(most int, names ...string) (int, error) {
	if limited, ok := d.backend.(interface {
		largestGroup(names []string, most int) (int, error)
	}); ok {
		return limited.largestGroup(names, most)
	}
	return most, nil
}

// enoughTiles keeps a large device busy. It does not depend on the device or
// the number of images, and so neither do the bits of floats.
const enoughTiles = 256

// tileRows is how high tiles are: high ones have fewer carries, which are read
// and written four times.
func tileRows(job integrateJob, group int) int {
	const most = 64
	s := shapeOf(job, tiling{group: group, rows: most})
	rows := most
	for rows > group/portableTasks && int(s.laneGroups)*int(s.tilesAcross)*ceilDiv(job.height, rows) < enoughTiles {
		rows /= 2
	}
	return rows
}

func ceilDiv(a, b int) int { return (a + b - 1) / b }

// A portableJob is the Job of gpu/internal/kernels/job.h, byte for byte.
type portableJob struct {
	inStart, inStride, inDistance                                int64
	outStart, outStride, outDistance                             int64
	squaresStart, squaresStride, squaresDistance                 int64
	columnsStart, rowsStart, squareColumnsStart, squareRowsStart int64
	width, height, channels                                      int32
	lanes, laneGroups                                            int32
	tilePixels, tileRows, tilesAcross, tilesDown                 int32
	carry                                                        int32
	offset                                                       float32
	lanesInverse                                                 int32
}

// shapeOf fills in the sizes.
func shapeOf(job integrateJob, cut tiling) portableJob {
	laneGroups := ceilDiv(job.channels, portableTasks)
	lanes := ceilDiv(job.channels, laneGroups)
	pixels := cut.group / portableTasks * (portableTasks / lanes)
	return portableJob{
		width: int32(job.width), height: int32(job.height), channels: int32(job.channels),
		lanes: int32(lanes), laneGroups: int32(laneGroups), lanesInverse: int32(ceilDiv(1<<16, lanes)),
		tilePixels: int32(pixels), tileRows: int32(cut.rows),
		tilesAcross: int32(max(ceilDiv(job.width, pixels), 1)), tilesDown: int32(max(ceilDiv(job.height, cut.rows), 1)),
	}
}

// The Carry, Climb and Boxes of gpu/internal/kernels/job.h.
type (
	portableCarry struct {
		start, length int64
		steps, _      int32
		groups        uint32
		groupsAcross  uint32
	}
	portableClimb struct {
		start                            int64
		height, channels, tilesAcross, _ int32
	}
	portableBoxes struct{ start, stride, channels, count int64 }
)

// mostRows leaves the kernels room to count past the last row in 32 bits: they
// step by tiles, and by whole work-groups times SPAN along the carries.
const mostRows = math.MaxInt32 - 1<<16

// portableTiles makes tables with tiles of a given size.
func (d *Device) portableTiles(job integrateJob, cut tiling) error {
	if job.height > mostRows {
		return fmt.Errorf("gpu: %w: %d rows are too many for one table: cut it into bands", boxsum.ErrInvalid, job.height)
	}
	s := shapeOf(job, cut)
	layers := layersOf(job, s)
	var perImage int64 // bytes of carries
	for _, l := range layers {
		perImage += l.bytes()
	}
	tiles := int64(s.laneGroups) * int64(s.tilesAcross) * int64(s.tilesDown)
	images := min(int64(job.count), math.MaxInt32/tiles)
	if perImage > 0 {
		images = min(images, max(cut.carryBytes/perImage, 1))
	}
	if images < 1 {
		return fmt.Errorf("gpu: %w: %d×%d pixels with %d channels are too many for one launch", boxsum.ErrInvalid, job.width, job.height, job.channels)
	}
	for first := 0; first < job.count; first += int(images) {
		part := job
		part.count = min(int(images), job.count-first)
		part.in.plane, part.out.plane, part.squares.plane = job.in.image(first), job.out.image(first), job.squares.image(first)
		if err := d.portableBatch(part, s, cut.group, layers, perImage); err != nil {
			return err
		}
	}
	return nil
}

// A portableLayer is one of the tables of a job, and the carries that it needs: a row
// of columns' totals for each row of tiles but a single one, and a column of
// rows' totals for each column of tiles but a single one.
type portableLayer struct {
	sum           string
	size          int64 // bytes of a value
	columns, rows int64 // carries of an image
}

func (l portableLayer) bytes() int64 {
	return roundUp(l.columns*l.size, 256) + roundUp(l.rows*l.size, 256)
}

func layersOf(job integrateJob, s portableJob) []portableLayer {
	var columns, rows int64
	if s.tilesDown > 1 {
		columns = int64(s.tilesDown) * int64(job.width) * int64(job.channels)
	}
	if s.tilesAcross > 1 {
		rows = int64(s.tilesAcross) * int64(job.height) * int64(job.channels)
	}
	layers := []portableLayer{{accumulator(job.sum), int64(job.sum.bytes()), columns, rows}}
	if job.square != none {
		layers = append(layers, portableLayer{accumulator(job.square), int64(job.square.bytes()), columns, rows})
	}
	return layers
}

func (d *Device) portableBatch(job integrateJob, s portableJob, group int, layers []portableLayer, perImage int64) error {
	t := portableTypes(job)
	s.inStart, s.inStride, s.inDistance = job.in.offset, job.in.stride, job.in.distance
	s.outStart, s.outStride, s.outDistance = job.out.offset, job.out.stride, job.out.distance
	s.squaresStart, s.squaresStride, s.squaresDistance = job.squares.offset, job.squares.stride, job.squares.distance
	s.offset = float32(job.offset)
	if job.carry {
		s.carry = 1
	}

	// Columns and rows of the sums, then those of the squares, each for all
	// images; a table of one tile needs none.
	carries := job.in.memory
	if perImage > 0 {
		var err error
		if carries, _, err = d.workspace(job.stream, "portable carries", perImage*int64(job.count)); err != nil {
			return err
		}
	}
	var at int64
	next := func(values, size int64) int64 {
		start := at
		at += roundUp(values*size, 256) * int64(job.count)
		return start
	}
	s.columnsStart, s.rowsStart = next(layers[0].columns, layers[0].size), next(layers[0].rows, layers[0].size)
	if len(layers) > 1 {
		s.squareColumnsStart, s.squareRowsStart = next(layers[1].columns, layers[1].size), next(layers[1].rows, layers[1].size)
	}

	run := func(kernel string, groups int64, group int, args ...arg) error {
		return d.backend.launch(job.stream, kernel, [3]int{int(groups), 1, 1}, [3]int{group, 1, 1}, 0, args...)
	}
	tiles := int64(s.laneGroups) * int64(s.tilesAcross) * int64(s.tilesDown) * int64(job.count)
	if perImage > 0 {
		if err := run(t.Kernel("totals"), tiles, group, value(&s), value(&job.in.memory), value(&carries)); err != nil {
			return err
		}
	}
	for i, l := range layers {
		columns, rows := s.columnsStart, s.rowsStart
		if i == 1 {
			columns, rows = s.squareColumnsStart, s.squareRowsStart
		}
		if err := d.portableCarry(job, s, l, columns, rows, carries, run); err != nil {
			return err
		}
	}
	args := []arg{value(&s), value(&job.in.memory), value(&carries), value(&job.out.memory)}
	if job.square != none {
		args = append(args, value(&job.squares.memory))
	}
	return run(t.Kernel("finish"), tiles, group, args...)
}

// portableCarry carries the totals of one layer on.
func (d *Device) portableCarry(job integrateJob, s portableJob, l portableLayer, columns, rows int64, carries memory,
	run func(kernel string, groups int64, group int, args ...arg) error) error {
	if l.columns+l.rows == 0 {
		return nil
	}
	carry, climb := kernels.SumKernel("carry", l.sum), kernels.SumKernel("climb", l.sum)
	group, err := d.portableGroup(kernels.Types{Sum: l.sum}.MaxGroup(), carry, climb)
	if err != nil {
		return err
	}
	part := func(start, values int64, steps int32) portableCarry {
		length := values / int64(steps)
		across := (length + int64(min(group, 32)) - 1) / int64(min(group, 32))
		return portableCarry{start: start, length: length, steps: steps, groupsAcross: uint32(across), groups: uint32(across * int64(job.count))}
	}
	down, right := part(columns, l.columns, s.tilesDown), part(rows, l.rows, s.tilesAcross)
	if err := run(carry, int64(down.groups)+int64(right.groups), group, value(&down), value(&right), value(&carries)); err != nil {
		return err
	}
	if l.rows == 0 {
		return nil
	}
	lines := portableClimb{start: rows, height: s.height, channels: s.channels, tilesAcross: s.tilesAcross}
	return run(climb, int64(s.tilesAcross-1)*int64(s.channels)*int64(job.count), group, value(&lines), value(&carries))
}

// portableSumBoxes answers boxes from one table.
func (d *Device) portableSumBoxes(job queryJob) error {
	if job.count == 0 {
		return nil
	}
	sum := accumulator(job.sum)
	kernel := kernels.SumKernel("boxes", sum)
	group, err := d.portableGroup(kernels.Types{Sum: sum}.MaxGroup(), kernel)
	if err != nil {
		return err
	}
	b := portableBoxes{job.table.offset, job.table.stride, int64(job.channels), int64(job.count)}
	groups := ceilDiv(job.count*job.channels, group)
	if groups > math.MaxInt32 {
		return fmt.Errorf("gpu: %w: %d boxes at a time", boxsum.ErrInvalid, job.count)
	}
	return d.backend.launch(job.stream, kernel, [3]int{groups, 1, 1}, [3]int{group, 1, 1}, 0,
		value(&b), value(&job.table.memory), value(&job.boxes), value(&job.out))
}
