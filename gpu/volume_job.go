package gpu

import (
	"errors"
	"fmt"
	"math"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/gpu/internal/kernels"
)

// A volumeJob is slices of a volume: images whose tables lie one further on, after
// the table's slice before the first of them. Its carry says that this slice is an
// input; otherwise the kernels write zeros there.
type volumeJob struct {
	integrateJob
	squared bool // sum is of the squares
}

// part is some of the slices of a job.
func (job volumeJob) part(first, count int) volumeJob {
	job.in.plane, job.out.plane = job.in.image(first), job.out.image(first)
	job.carry = job.carry || first > 0
	job.count = count
	return job
}

// volumeIntegrate queues a job by the kernels that suit it.
func (d *Device) volumeIntegrate(job volumeJob, way Kernels) error {
	if job.width == 0 || job.height == 0 || job.count == 0 {
		all := job.integrateJob
		all.count++
		if all.carry {
			all.out.plane = all.out.image(1)
			all.count--
		}
		all.carry = false
		return d.clear(all)
	}
	if way != Portable {
		obstacle := d.notVolumePass(job)
		if obstacle == "" {
			return orPortable(way, d.volumePass(job), func() error { return d.volumePortable(job) })
		}
		if way == Fast {
			return fmt.Errorf("gpu: %w: one-pass kernels of volumes %s: let the package choose", boxsum.ErrTypes, obstacle)
		}
	}
	return d.volumePortable(job)
}

// volumeCarryBytes is about how much memory the carries of slices that go together
// take.
const volumeCarryBytes = 256 << 20

// volumePortable makes the table with the portable kernels: totals of tiles and
// their carries for a number of slices, and a second read that goes through them.
func (d *Device) volumePortable(job volumeJob) error {
	plane := job.integrateJob
	if job.squared {
		plane.sum, plane.square = sumsOf[job.pixel][0], job.sum
	}
	t := portableTypes(plane)
	sum := accumulator(job.sum)
	finish := kernels.VolumeKernel(job.pixel.String(), sum, job.squared)
	group, err := d.portableGroup(t.MaxGroup(), t.Kernel("totals"))
	if err != nil {
		return err
	}
	most := kernels.Types{Sum: sum}.MaxGroup()
	finishGroup, err := d.portableGroup(most, finish)
	if err != nil {
		return err
	}
	// Both cut the slices alike: into tiles of one band of the smaller group.
	group = min(group, finishGroup)
	s := shapeOf(plane, tiling{group: group, rows: group / portableTasks})
	layers := layersOf(plane, s)
	var perSlice int64
	for _, l := range layers {
		perSlice += l.bytes()
	}
	tiles := int64(s.laneGroups) * int64(s.tilesAcross) * int64(s.tilesDown)
	slices := min(int64(job.count), math.MaxInt32/tiles)
	if perSlice > 0 {
		slices = min(slices, max(volumeCarryBytes/perSlice, 1))
	}
	if slices < 1 || job.height > mostRows {
		return fmt.Errorf("gpu: %w: slices of %d×%d with %d channels are too many for one launch", boxsum.ErrInvalid, job.width, job.height, job.channels)
	}
	for first := 0; first < job.count; {
		part := job.part(first, min(int(slices), job.count-first))
		err := d.volumeSlab(part, plane, s, group, layers, perSlice, finish)
		if errors.Is(err, ErrMemory) && slices > 1 { // what was queued already is done again
			slices = (slices + 1) / 2
			continue
		}
		if err != nil {
			return err
		}
		first += part.count
	}
	return nil
}

// volumeSlab queues the launches for slices that go together.
func (d *Device) volumeSlab(job volumeJob, plane integrateJob, s portableJob, group int, layers []portableLayer, perSlice int64, finish string) error {
	plane.in, plane.count = job.in, job.count
	s.inStart, s.inStride, s.inDistance = job.in.offset, job.in.stride, job.in.distance
	s.outStart, s.outStride, s.outDistance = job.out.offset, job.out.stride, job.out.distance
	s.offset, s.carry = float32(job.offset), flag(job.carry)
	carries := job.in.memory // not used where a slice is one tile
	run := func(kernel string, groups int64, group int, args ...arg) error {
		return d.backend.launch(job.stream, kernel, [3]int{int(groups), 1, 1}, [3]int{group, 1, 1}, 0, args...)
	}
	tiles := int64(s.laneGroups) * int64(s.tilesAcross) * int64(s.tilesDown)
	if perSlice > 0 {
		var err error
		if carries, _, err = d.workspace(job.stream, "portable carries", perSlice*int64(job.count)); err != nil {
			return err
		}
		var at int64
		next := func(values, size int64) int64 {
			start := at
			at += roundUp(values*size, 256) * int64(job.count)
			return start
		}
		s.columnsStart, s.rowsStart = next(layers[0].columns, layers[0].size), next(layers[0].rows, layers[0].size)
		if job.squared {
			s.squareColumnsStart, s.squareRowsStart = next(layers[1].columns, layers[1].size), next(layers[1].rows, layers[1].size)
		}
		if err := run(portableTypes(plane).Kernel("totals"), tiles*int64(job.count), group, value(&s), value(&job.in.memory), value(&carries)); err != nil {
			return err
		}
		if job.squared {
			s.columnsStart, s.rowsStart = s.squareColumnsStart, s.squareRowsStart
		}
		if err := d.portableCarry(plane, s, layers[len(layers)-1], s.columnsStart, s.rowsStart, carries, run); err != nil {
			return err
		}
	}
	slices := struct{ depth, _ int32 }{depth: int32(job.count)}
	return run(finish, tiles, group, value(&s), value(&slices), value(&job.in.memory), value(&carries), value(&job.out.memory))
}
