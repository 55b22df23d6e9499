package gpu

import (
	"errors"
	"fmt"
	"math"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/gpu/kernels"
)

// latticeBytes is about how much memory the pixels of lattices take at a time,
// unless one image needs more.
const latticeBytes = 1 << 30

// latticeIntegrate makes rotated tables: job is of the images, but its tables are
// of their lattices. shapeAt holds what the shape packed.
func (d *Device) latticeIntegrate(job integrateJob, l latticeJob, shapeAt memory, way Kernels) error {
	value := int64(job.pixel.bytes())
	stride := roundUp(int64(l.columns)*int64(job.channels)*value, imageRow)
	one, ok := product(stride, int64(l.rows))
	if !ok {
		return fmt.Errorf("gpu: %w: a lattice of %d×%d cells is more than memory can hold", boxsum.ErrSize, l.columns, l.rows)
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
		cells := batch{plane{memory: space, stride: stride}, one}
		if err := d.layLattice(part, l, shapeAt, cells); err != nil {
			return err
		}
		part.in, part.width, part.height, part.count = cells, int(l.columns), int(l.rows), part.count<<l.split
		if err := d.run(part, way); err != nil {
			return err
		}
	}
	return nil
}

// layLattice puts the pixels of images into the cells of their lattices.
func (d *Device) layLattice(job integrateJob, l latticeJob, shapeAt memory, cells batch) error {
	bytes := job.pixel.bytes()
	kernel := kernels.LatticeKernel(bytes)
	group, err := d.portableGroup(kernels.LatticeGroup, kernel)
	if err != nil {
		return err
	}
	laneGroups := ceilDiv(job.channels, kernels.LatticeValues)
	lanes := ceilDiv(job.channels, laneGroups)
	tileCells := kernels.LatticeValues / lanes
	l.channels, l.lanes, l.laneGroups, l.lanesInverse = int32(job.channels), int32(lanes), int32(laneGroups), int32(ceilDiv(1<<16, lanes))
	l.tileCells, l.tilesAcross = int32(tileCells), int32(ceilDiv(int(l.columns), tileCells))
	l.tilesDown = int32(ceilDiv(int(l.rows)<<l.split, kernels.LatticeRows/bytes))
	l.quads = flag(job.channels == 1 && quadsIn(job))
	l.wide = flag(tileCells*job.channels == kernels.LatticeValues)
	l.inStart, l.inStride, l.inDistance = job.in.offset, job.in.stride, job.in.distance
	l.outStart, l.outStride, l.outDistance = cells.offset, cells.stride, cells.distance
	groups := int64(laneGroups) * int64(l.tilesAcross) * int64(l.tilesDown)
	if groups > math.MaxInt32/int64(job.count) {
		return fmt.Errorf("gpu: %w: %d×%d pixels with %d channels are too many for one launch", boxsum.ErrSize, job.width, job.height, job.channels)
	}
	return d.backend.launch(job.stream, kernel, [3]int{int(groups) * job.count, 1, 1}, [3]int{group, 1, 1}, 0,
		value(&l), value(&job.in.memory), value(&shapeAt), value(&cells.memory))
}

// quadsIn says whether the pixels of images can be read four at a time, from
// multiples of four on, beyond the last too.
func quadsIn(job integrateJob) bool {
	quad := int64(4 * job.pixel.bytes())
	of := min(quad, 16)
	return job.in.offset%of == 0 && job.in.stride%of == 0 && (job.count == 1 || job.in.distance%of == 0) &&
		job.in.stride >= roundUp(int64(job.width), 4)*int64(job.pixel.bytes())
}
