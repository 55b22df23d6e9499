package gpu

import (
	"fmt"
	"math"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/gpu/kernels"
)

// latticeIntegrate makes rotated tables: job is of the images, and its out plane
// begins with the first table. shapeAt holds what shape packed.
func (d *Device) latticeIntegrate(job integrateJob, shape *latticeShape, l latticeJob, shapeAt memory) error {
	t := portableTypes(job)
	totals, finish := kernels.LatticeKernel("totals", t), kernels.LatticeKernel("finish", t)
	group, err := d.portableGroup(t.MaxGroup(), totals, finish)
	if err != nil {
		return err
	}
	cells := job
	cells.width, cells.height = shape.columns, shape.rows
	s := shapeOf(cells, tiling{group: group, rows: latticeBand})
	s.tilesAcross++ // for the sums of whole rows
	s.tilesDown++   // for those of whole columns
	span := group / portableTasks
	line := min(int64(span)*int64(shape.longest), int64(s.tilePixels)) * int64(s.lanes)
	for 1<<l.lineShift < line {
		l.lineShift++
	}
	layer := portableLayer{
		sum: t.Sum, size: int64(job.sum.bytes()),
		columns: int64(s.tilesDown) * int64(shape.columns) * int64(job.channels),
		rows:    int64(s.tilesAcross) * int64(shape.rows) * int64(job.channels),
	}
	const carryBytes = 256 << 20
	tiles := int64(s.laneGroups) * int64(s.tilesAcross) * int64(s.tilesDown)
	images := int(min(int64(job.count), math.MaxInt32/tiles, max(carryBytes/layer.bytes(), 1)))
	if images < 1 || shape.rows > mostRows {
		return fmt.Errorf("gpu: %w: %d×%d pixels with %d channels are too many for one launch", boxsum.ErrSize, job.width, job.height, job.channels)
	}
	run := func(kernel string, groups int64, group int, args ...arg) error {
		return d.backend.launch(job.stream, kernel, [3]int{int(groups), 1, 1}, [3]int{group, 1, 1}, 0, args...)
	}
	for first := 0; first < job.count; first += images {
		part := job
		part.count = min(images, job.count-first)
		part.in.plane, part.out.plane = job.in.image(first), job.out.image(first)
		carries, _, err := d.workspace(job.stream, "lattice carries", layer.bytes()*int64(part.count))
		if err != nil {
			return err
		}
		s.inStart, s.inStride, s.inDistance = part.in.offset, part.in.stride, part.in.distance
		s.outStart, s.outDistance = part.out.offset, part.out.distance
		s.columnsStart, s.rowsStart = 0, roundUp(layer.columns*layer.size, 256)*int64(part.count)
		groups := tiles * int64(part.count)
		err = run(totals, groups, group, value(&s), value(&l), value(&part.in.memory), value(&shapeAt), value(&carries))
		if err == nil {
			err = d.portableCarry(part, s, layer, s.columnsStart, s.rowsStart, carries, run)
		}
		if err == nil {
			err = run(finish, groups, group, value(&s), value(&l), value(&part.in.memory), value(&shapeAt), value(&carries), value(&part.out.memory))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// A latticeCorners is the Corners of gpu/kernels/lattice.h.
type latticeCorners struct {
	start, rowsStart, columnsStart   int64
	startsAt                         int64
	lowAt, highAt                    int32
	channels, columns                int32
	leftTurn, rightTurn, bandRows, _ int32
	count                            int64
}
