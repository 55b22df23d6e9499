package gpu

import (
	"fmt"
	"math"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/gpu/internal/kernels"
)

// What the kernels of tilted tables have in common, see gpu/internal/kernels/tilted.h.
const (
	tiltedStrip = 32 // rows of a strip
	tiltedLead  = 31 // values before each row of carries
	tiltedLanes = 4  // channels of a tile at most
)

// A tiltedCut is how an image is cut into tiles.
type tiltedCut struct {
	quads bool // four pixels to a work-item
	group int
	width int // values of a tile, those included that only feed its neighbours
	lanes int // channels of a tile
	bytes int64
}

// tiltedIntegrate makes tilted tables; job.squares is not used. The square of
// every pixel is summed where squares is set.
func (d *Device) tiltedIntegrate(job integrateJob, squares bool) error {
	if job.width == 0 || job.height == 0 {
		return d.clear(job)
	}
	cut, err := d.tiltedCut(job, squares)
	if err != nil {
		return err
	}
	return d.tiltedTiles(job, squares, cut)
}

func (d *Device) tiltedCut(job integrateJob, squares bool) (tiltedCut, error) {
	cut := tiltedCut{quads: !squares && tiltedQuads(job), bytes: 256 << 20}
	t := portableTypes(job)
	most := t.MaxGroup()
	if cut.quads {
		most = kernels.QuadsGroup
	}
	var err error
	cut.group, err = d.portableGroup(most, kernels.TiltedKernel("totals", t, cut.quads), kernels.TiltedKernel("finish", t, cut.quads))
	switch {
	case cut.quads && job.sum.bytes() == 8:
		cut.width = 256
	case cut.quads:
		cut.width = 512
	default:
		cut.width = max(256, 2*cut.group)
	}
	// Half of a tile at least is for its own pixels.
	lanes := min(tiltedLanes, cut.width/(4*tiltedStrip))
	cut.lanes = ceilDiv(job.channels, ceilDiv(job.channels, lanes))
	return cut, err
}

// tiltedQuads says whether pixels and sums lie so that four can be moved at once.
func tiltedQuads(job integrateJob) bool {
	const most = 16 // bytes of an aligned access
	pixels, sums := int64(4*job.pixel.bytes()), int64(4*job.sum.bytes())
	multiple := func(b batch, first, of int64) bool {
		of = min(of, most)
		return (b.offset+first)%of == 0 && b.stride%of == 0 && (job.count == 1 || b.distance%of == 0)
	}
	return job.channels == 1 && multiple(job.in, 0, pixels) && multiple(job.out, int64(job.sum.bytes()), sums)
}

// A tiltedJob is the Tilted of gpu/internal/kernels/tilted.h, byte for byte.
type tiltedJob struct {
	inStart, inStride, inDistance        int64
	outStart, outStride, outDistance     int64
	fallingStart, risingStart, sumsStart int64
	carryStride                          int64
	width, height, channels              int32
	lanes, laneGroups, lanesInverse      int32
	tilePixels, tilesAcross, strips      int32
	squares                              int32
}

// A tiltedDiagonals is the Diagonals of gpu/internal/kernels/tilted.h.
type tiltedDiagonals struct {
	fallingStart, risingStart, sumsStart, carryStride int64
	lines                                             int64
	values, step, strips, channels                    int32
	linesAcross, windowsAcross, sumsAcross            uint32
	_                                                 int32
}

// tiltedTiles makes tables in tiles of a given size, as many images at a time as
// the memory for carries and the numbers of work-groups allow.
func (d *Device) tiltedTiles(job integrateJob, squares bool, cut tiltedCut) error {
	laneGroups := ceilDiv(job.channels, cut.lanes)
	pixels := cut.width/cut.lanes - 2*tiltedStrip
	s := tiltedJob{
		carryStride: roundUp(tiltedLead+int64(job.width+1)*int64(job.channels), tableLine/4),
		width:       int32(job.width), height: int32(job.height), channels: int32(job.channels),
		lanes: int32(cut.lanes), laneGroups: int32(laneGroups), lanesInverse: int32(ceilDiv(1<<16, cut.lanes)),
		tilePixels: int32(pixels), tilesAcross: int32(ceilDiv(job.width, pixels)), strips: int32(ceilDiv(job.height, tiltedStrip)),
		squares: flag(squares),
	}
	const margin = 1 << 12 // tiles that stick out are counted in 32 bits too
	carries := int64(0)
	if s.strips > 1 {
		carries = int64(s.strips) * s.carryStride * int64(job.sum.bytes())
	}
	groups := int64(job.channels) * int64(job.width/8+2) * int64(s.strips) // at least, of every launch
	groups = max(groups, 2*(s.carryStride+int64(s.strips)*tiltedStrip*int64(job.channels)))
	images := min(int64(job.count), math.MaxInt32/groups)
	if carries > 0 {
		images = min(images, max(cut.bytes/(3*carries), 1))
	}
	if images < 1 || job.width*job.channels > math.MaxInt32-margin*job.channels || job.height > math.MaxInt32-margin {
		return fmt.Errorf("gpu: %w: %d×%d pixels with %d channels are too many for one launch", boxsum.ErrInvalid, job.width, job.height, job.channels)
	}
	for first := 0; first < job.count; first += int(images) {
		part := job
		part.count = min(int(images), job.count-first)
		part.in.plane, part.out.plane = job.in.image(first), job.out.image(first)
		if err := d.tiltedBatch(part, s, cut, carries*int64(part.count)); err != nil {
			return err
		}
	}
	return nil
}

func ceilDiv64(a, b int64) int64 { return (a + b - 1) / b }

// tiltedBatch queues the launches for images that go together. Each of the three
// kinds of carries takes so many bytes.
func (d *Device) tiltedBatch(job integrateJob, s tiltedJob, cut tiltedCut, carryBytes int64) error {
	t := portableTypes(job)
	s.inStart, s.inStride, s.inDistance = job.in.offset, job.in.stride, job.in.distance
	s.outStart, s.outStride, s.outDistance = job.out.offset, job.out.stride, job.out.distance
	run := func(kernel string, groups int64, group int, args ...arg) error {
		return d.backend.launch(job.stream, kernel, [3]int{int(groups), 1, 1}, [3]int{group, 1, 1}, 0, args...)
	}
	tiles := int64(s.laneGroups) * int64(s.tilesAcross) * int64(job.count) // of a strip
	carries := job.in.memory                                               // not used where there is one strip
	if s.strips > 1 {
		var err error
		if carries, _, err = d.workspace(job.stream, "tilted carries", 3*carryBytes); err != nil {
			return err
		}
		s.risingStart, s.sumsStart = carryBytes, 2*carryBytes
		err = run(kernels.TiltedKernel("totals", t, cut.quads), tiles*int64(s.strips-1), cut.group, value(&s), value(&job.in.memory), value(&carries))
		if err != nil {
			return err
		}
		if err := d.tiltedCarry(job, s, t.Sum, carries, run); err != nil {
			return err
		}
	}
	return run(kernels.TiltedKernel("finish", t, cut.quads), tiles*int64(s.strips), cut.group, value(&s), value(&job.in.memory), value(&carries), value(&job.out.memory))
}

// tiltedCarry hands the totals of the strips on.
func (d *Device) tiltedCarry(job integrateJob, s tiltedJob, sum string, carries memory,
	run func(kernel string, groups int64, group int, args ...arg) error) error {
	most := kernels.Types{Sum: sum}.MaxGroup()
	lines, windows, carry := kernels.DiagonalKernel("lines", sum), kernels.DiagonalKernel("windows", sum), kernels.SumKernel("carry", sum)
	group, err := d.portableGroup(most, lines, windows)
	if err != nil {
		return err
	}
	across := func(values int64) int64 { return ceilDiv64(values, int64(min(group, 32))) }
	p := tiltedDiagonals{
		fallingStart: s.fallingStart, risingStart: s.risingStart, sumsStart: s.sumsStart, carryStride: s.carryStride,
		values: (s.width + 1) * s.channels, step: tiltedStrip * s.channels, strips: s.strips, channels: s.channels,
	}
	if s.strips > 2 {
		p.lines = int64(p.values) + int64(s.strips-2)*int64(p.step)
		p.linesAcross = uint32(across(p.lines))
		if err := run(lines, 2*int64(p.linesAcross)*int64(job.count), group, value(&p), value(&carries)); err != nil {
			return err
		}
		if d.about.Kind == CUDA {
			p.sumsAcross = uint32(ceilDiv(job.width, 32) + 1)
			return run(kernels.DiagonalKernel("sums", sum), int64(p.sumsAcross)*int64(p.channels)*int64(job.count), kernels.SumsGroup, value(&p), value(&carries))
		}
		p.windowsAcross = uint32(ceilDiv((job.width+3)/4+1, group))
		groups := int64(p.windowsAcross) * int64(p.channels) * int64(s.strips-2) * int64(job.count)
		if err := run(windows, groups, group, value(&p), value(&carries)); err != nil {
			return err
		}
	}
	if group, err = d.portableGroup(most, carry, kernels.SumKernel("climb", sum)); err != nil {
		return err
	}
	down := portableCarry{start: s.sumsStart, length: s.carryStride, steps: s.strips, groupsAcross: uint32(across(s.carryStride))}
	down.groups = down.groupsAcross * uint32(job.count)
	var none portableCarry
	return run(carry, int64(down.groups), group, value(&down), value(&none), value(&carries))
}
