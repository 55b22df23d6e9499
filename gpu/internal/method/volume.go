package method

import (
	"cmp"
	"math"

	"github.com/boxsum/boxsum/gpu/internal/devmem"
	"github.com/boxsum/boxsum/gpu/internal/kernels"
	"github.com/boxsum/boxsum/gpu/internal/kernels/jobs"
	"github.com/boxsum/boxsum/internal/raster"
)

// Volume computes tables of volumes. The images of its jobs are slices. Their tables are stored one
// slice further on, after the slice of the table that precedes the first of them, to which Carry
// refers.
type Volume struct {
	images
	Squared bool // the sums are of squares
}

// Squares returns the method for the table of squares.
func (Volume) Squares() Method { return Volume{Squared: true} }

// Part returns the job of some slices.
func (Volume) Part(job Job, first, count int) Job {
	part := images{}.Part(job, first, count)
	part.Carry = job.Carry || first > 0
	return part
}

// Empty returns all slices of the table, except one that is an input.
func (Volume) Empty(job Job) Job {
	job.Count++
	if job.Carry {
		job.Out.Plane = job.Out.Image(1)
		job.Count--
	}
	job.Carry = false
	return job
}

// Obstacle returns why a job cannot use the one-pass kernels, or "".
func (m Volume) Obstacle(job Job) string {
	const margin = 1024 // a tile that extends beyond the slice is counted in 32 bits too
	sum, square := job.Sum, raster.Type(0)
	if m.Squared {
		sum, square = square, sum
	}
	switch obstacle := cmp.Or(cudaObstacle(job.Device), typesObstacle(job.Pixel, sum, square)); {
	case obstacle != "":
		return obstacle
	case job.Channels > 1:
		return "support volumes of one channel only"
	case !job.In.Aligned(0, job.Count) || job.In.Stride < devmem.RoundUp(int64(job.Width), 4)*int64(job.Pixel.Bytes()) ||
		!job.Out.Aligned(job.Sum.Bytes(), job.Count+1):
		return "need rows of volumes aligned to 16 bytes"
	case job.Width > math.MaxInt32-margin || job.Height > math.MaxInt32-margin:
		return "support fewer than 2^31 columns and rows"
	}
	return ""
}

// volumeCarryBytes is the approximate memory for the carries of slices that are processed together.
const volumeCarryBytes = 256 << 20

// Portable plans the table with the portable kernels: totals of tiles and their carries for a
// number of slices, and a second read of these slices.
func (m Volume) Portable(job Job) (Plan, error) {
	plane := m.plane(job)
	t := portableTypes(plane)
	sum := accumulator(job.Sum)
	finish := kernels.VolumeKernel(job.Pixel.Short(), sum, m.Squared)
	group, err := job.group(t.MaxGroup(), t.Kernel("totals"))
	if err != nil {
		return Plan{}, err
	}
	finishGroup, err := job.group(kernels.Types{Sum: sum}.MaxGroup(), finish)
	if err != nil {
		return Plan{}, err
	}
	// Both kernels cut the slices in the same way: into tiles of one band of the smaller
	// work-group.
	group = min(group, finishGroup)
	cut := newCut(plane, tiling{group: group, rows: group / portableTasks})
	most := cut.most(job, volumeCarryBytes)
	if job.Height > mostRows {
		most = 0
	}
	return Plan{most, volumeSlab{m, cut, finish}.launch}, nil
}

// A volumeSlab is the portable kernels for slices that are processed together.
type volumeSlab struct {
	Volume
	cut    portableCut
	finish string // the name of the kernel that writes the table
}

// plane returns the job for the kernels that slices share with images.
func (m Volume) plane(job Job) Job {
	if m.Squared {
		job.Sum, job.Square = Sums.Default(job.Pixel), job.Sum
	}
	return job
}

// launch queues the launches.
func (s volumeSlab) launch(job Job) error {
	c, plane := s.cut, s.plane(job)
	carries, err := c.totals(plane)
	if err != nil {
		return err
	}
	if err := c.carryOn(plane, len(c.layers)-1, carries); err != nil {
		return err
	}
	if s.Squared {
		c.ColumnsStart, c.RowsStart = c.SquareColumnsStart, c.SquareRowsStart
	}
	slices := jobs.Slices{Depth: int32(job.Count)}
	return job.launch(s.finish, c.tiles(), c.group, arg(&c.portableJob), arg(&slices), arg(&job.In.Memory), arg(&carries), arg(&job.Out.Memory))
}
