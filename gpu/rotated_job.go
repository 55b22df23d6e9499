package gpu

import (
	"errors"
	"fmt"
	"math"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/gpu/internal/kernels"
)

// latticeBytes is about how much memory the pixels of lattices take at a time,
// unless one image needs more.
const latticeBytes = 1 << 30

// latticeIntegrate makes rotated tables: job is of the images, but its tables are
// of their lattices. shapeAt holds what the shape packed, and spotsOf lists tiles.
func (d *Device) latticeIntegrate(job integrateJob, l latticeJob, shapeAt memory, spotsOf func(tileSize) (spots, error), way Kernels) error {
	value := int64(job.pixel.bytes())
	stride := roundUp(int64(l.columns)*int64(job.channels)*value, imageRow)
	one, ok := product(stride, int64(l.rows))
	if !ok {
		return fmt.Errorf("gpu: %w: a lattice of %d×%d cells is more than memory can hold", boxsum.ErrInvalid, l.columns, l.rows)
	}
	images := int(min(int64(job.count), max(latticeBytes/(one<<l.split), 1)))
	for first := 0; first < job.count; first += images {
		part := job
		part.count = min(images, job.count-first)
		part.in.plane, part.out.plane = job.in.image(first), job.out.image(first<<l.split)
		bytes := one * int64(part.count<<l.split)
		space, _, err := d.workspace(job.stream, "lattice", bytes)
		if errors.Is(err, ErrMemory) {
			return fmt.Errorf("%w: rotated tables need the pixels of their lattice beside them, %d bytes", err, bytes)
		}
		if err != nil {
			return err
		}
		images, cells := part, batch{plane{memory: space, stride: stride}, one}
		part.in, part.width, part.height, part.count = cells, int(l.columns), int(l.rows), part.count<<l.split
		size, err := d.fastTiles(part, way)
		if err = orPortable(way, err, func() error { return nil }); err != nil {
			return err
		}
		only, err := spotsOf(size)
		if err != nil {
			return err
		}
		part.spots, part.spotCount = only.at, only.count
		l.everywhere = flag(only.count == 0)
		if err := d.layLattice(images, l, shapeAt, cells); err != nil {
			return err
		}
		if err := d.run(part, way); err != nil {
			return err
		}
	}
	return nil
}

// layLattice puts the pixels of images into the cells of their lattices.
func (d *Device) layLattice(job integrateJob, l latticeJob, shapeAt memory, cells batch) error {
	bytes := job.pixel.bytes()
	laneGroups := ceilDiv(job.channels, kernels.LatticeValues)
	lanes := ceilDiv(job.channels, laneGroups)
	name, most, tileCells, rows := "lay", kernels.LatticeGroup, kernels.LatticeValues/lanes, kernels.LatticeRows/bytes
	if job.channels == 1 && grayIn(job) {
		name, most, tileCells, rows = "gray", kernels.GrayGroup, kernels.GrayCells, kernels.GrayRows/bytes
	}
	kernel := kernels.LatticeKernel(name, bytes)
	group, err := d.portableGroup(most, kernel)
	if err != nil {
		return err
	}
	l.channels, l.lanes, l.laneGroups, l.lanesInverse = int32(job.channels), int32(lanes), int32(laneGroups), int32(ceilDiv(1<<16, lanes))
	l.tileCells, l.tilesAcross = int32(tileCells), int32(ceilDiv(int(l.columns), tileCells))
	l.tilesDown = int32(ceilDiv(int(l.rows)<<l.split, rows))
	l.wide = flag(tileCells*job.channels == kernels.LatticeValues)
	l.inStart, l.inStride, l.inDistance = job.in.offset, job.in.stride, job.in.distance
	l.outStart, l.outStride, l.outDistance = cells.offset, cells.stride, cells.distance
	groups := int64(laneGroups) * int64(l.tilesAcross) * int64(l.tilesDown)
	if groups > math.MaxInt32/int64(job.count) {
		return fmt.Errorf("gpu: %w: %d×%d pixels with %d channels are too many for one launch", boxsum.ErrInvalid, job.width, job.height, job.channels)
	}
	return d.backend.launch(job.stream, kernel, [3]int{int(groups) * job.count, 1, 1}, [3]int{group, 1, 1}, 0,
		value(&l), value(&job.in.memory), value(&shapeAt), value(&cells.memory))
}

// grayIn says whether the pixels of images can be read eight at a time, or as many
// as are 16 bytes, from multiples of that on, beyond the last too.
func grayIn(job integrateJob) bool {
	bytes := int64(job.pixel.bytes())
	read := min(8*bytes, 16)
	return job.in.offset%read == 0 && job.in.stride%read == 0 && (job.count == 1 || job.in.distance%read == 0) &&
		job.in.stride >= roundUp(int64(job.width)*bytes, read)
}

// A latticeBoxes is the LatticeBoxes of gpu/internal/kernels/lattice.h, byte for byte.
type latticeBoxes struct {
	start, stride            int64
	channels, count          int64
	columns, rows            int32
	acrossAt, downAt         int32
	piecesAcross, piecesDown int32
}

// latticeBoxes answers boxes of table i, of which l is the job.
func (d *Device) latticeBoxes(t *array, i int, g *region, l latticeJob, shapeAt, boxesAt, sumsAt memory, count int) error {
	if shapeAt == 0 {
		return fmt.Errorf("gpu: rotated table %w", ErrClosed)
	}
	sum := accumulator(t.element)
	edges, boxes := kernels.LatticeSums("edges", sum), kernels.LatticeSums("boxes", sum)
	group, err := d.portableGroup(kernels.Types{Sum: sum}.MaxGroup(), edges, boxes)
	if err != nil {
		return err
	}
	at := t.at.image(i)
	job := latticeBoxes{
		start: at.offset, stride: at.stride, channels: int64(t.channels), count: int64(count), columns: int32(g.columns), rows: int32(g.rows),
		acrossAt: l.acrossAt, downAt: l.acrossAt + int32(len(g.across)), piecesAcross: int32(len(g.down) / 2), piecesDown: int32(len(g.across) / 2),
	}
	edgesAt, _, err := d.workspace(d.stream, "edges of lattices", int64(t.channels*(len(g.down)/2+len(g.across)/2+2)*t.element.bytes()))
	if err != nil {
		return err
	}
	err = d.backend.launch(d.stream, edges, [3]int{t.channels, 1, 1}, [3]int{group, 1, 1}, 0,
		value(&job), value(&at.memory), value(&shapeAt), value(&edgesAt))
	if err != nil {
		return err
	}
	return d.backend.launch(d.stream, boxes, [3]int{ceilDiv(count*t.channels, group), 1, 1}, [3]int{group, 1, 1}, 0,
		value(&job), value(&at.memory), value(&shapeAt), value(&edgesAt), value(&boxesAt), value(&sumsAt))
}

// quadsIn says whether the pixels of images can be read four at a time, from
// multiples of four on, beyond the last too.
func quadsIn(job integrateJob) bool {
	quad := int64(4 * job.pixel.bytes())
	of := min(quad, 16)
	return job.in.offset%of == 0 && job.in.stride%of == 0 && (job.count == 1 || job.in.distance%of == 0) &&
		job.in.stride >= roundUp(int64(job.width), 4)*int64(job.pixel.bytes())
}
