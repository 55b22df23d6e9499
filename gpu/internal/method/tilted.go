package method

import (
	"math"

	"github.com/boxsum/boxsum/gpu/internal/devmem"
	"github.com/boxsum/boxsum/gpu/internal/driver"
	"github.com/boxsum/boxsum/gpu/internal/kernels"
)

// Sizes that the kernels of tilted tables share; see gpu/internal/kernels/tilted.h.
const (
	tiltedStrip = 32 // rows in a strip
	tiltedLead  = 31 // values before each row of carries
	tiltedLanes = 4  // greatest number of channels in a tile
)

// A tiltedCut describes how an image is cut into tiles.
type tiltedCut struct {
	quads int // if not 0, each work-item has four pixels: width of tiles; see [kernels.TiltedKernel]
	group int
	width int // values of a tile, including those that only serve its neighbors
	lanes int // channels of a tile
	bytes int64
}

// Tilted computes tilted tables of pixels or of their squares.
type Tilted struct {
	images
	Squared bool
}

// Squares returns the method for the tables of squares.
func (Tilted) Squares() Method { return Tilted{Squared: true} }

// Obstacle always returns a reason, because there are only portable kernels.
func (Tilted) Obstacle(Job) string { return "do not support tilted tables" }

// OnePass calls Portable. Run does not use it.
func (m Tilted) OnePass(job Job) (Plan, error) { return m.Portable(job) }

// Portable plans tables in tiles, strip after strip.
func (m Tilted) Portable(job Job) (Plan, error) {
	cut, err := newTiltedCut(job, m.Squared)
	if err != nil {
		return Plan{}, err
	}
	return tiltedPlan(job, m.Squared, cut)
}

func newTiltedCut(job Job, squares bool) (tiltedCut, error) {
	t := portableTypes(job)
	cut, most := tiltedCut{bytes: 256 << 20}, t.MaxGroup()
	if !squares && tiltedAligned(job) {
		cut.quads, most = tiltedQuads(job, t), kernels.QuadsGroup
	}
	var err error
	cut.group, err = job.group(most, kernels.TiltedKernel("totals", t, cut.quads), kernels.TiltedKernel("finish", t, cut.quads))
	cut.width = max(256, 2*cut.group)
	if cut.quads > 0 {
		cut.width = 4 * kernels.QuadsGroup * cut.quads
	}
	// At least half of a tile is for its own pixels.
	lanes := min(tiltedLanes, cut.width/(4*tiltedStrip))
	cut.lanes = devmem.CeilDiv(job.Channels, devmem.CeilDiv(job.Channels, lanes))
	return cut, err
}

// tiltedQuads returns the width of tiles in quads. The wider tiles are, the less is read twice. On
// CUDA, where a work-group is a warp, they are narrow if there would be too few to keep the device
// busy.
func tiltedQuads(job Job, t kernels.Types) int {
	few, many, openCL := kernels.TiltedQuads(t)
	if job.Device.About.Kind != driver.CUDA {
		return openCL
	}
	if b := job.Device.Backend.CUDA(); b != nil && b.Tuning.Quads > 0 {
		return min(b.Tuning.Quads, many)
	}
	const enough, own = 10, 8*kernels.QuadsGroup - 2*tiltedStrip // warps per multiprocessor; width of a tile
	warps := int64(devmem.CeilDiv(job.Width, own)) * int64(devmem.CeilDiv(job.Height, tiltedStrip)) * int64(job.Count)
	if warps < enough*int64(job.Device.About.Units) {
		return few
	}
	return many
}

// tiltedAligned reports whether pixels and sums are aligned so that four can be moved at once.
func tiltedAligned(job Job) bool {
	const most = 16 // bytes of an aligned access
	pixels, sums := int64(4*job.Pixel.Bytes()), int64(4*job.Sum.Bytes())
	multiple := func(b devmem.Batch, first, of int64) bool {
		of = min(of, most)
		return (b.Offset+first)%of == 0 && b.Stride%of == 0 && (job.Count == 1 || b.Distance%of == 0)
	}
	return job.Channels == 1 && multiple(job.In, 0, pixels) && multiple(job.Out, int64(job.Sum.Bytes()), sums)
}

// tiltedPlan plans tables in tiles of a given size, with as many images at a time as the memory for
// carries and the numbers of work-groups allow.
func tiltedPlan(job Job, squares bool, cut tiltedCut) (Plan, error) {
	laneGroups := devmem.CeilDiv(job.Channels, cut.lanes)
	pixels := cut.width/cut.lanes - 2*tiltedStrip
	s := tiltedJob{
		CarryStride: devmem.RoundUp(tiltedLead+int64(job.Width+1)*int64(job.Channels), devmem.TableLine/4),
		Width:       int32(job.Width), Height: int32(job.Height), Channels: int32(job.Channels),
		TileChannels: int32(cut.lanes), ChannelGroups: int32(laneGroups), TileChannelsInverse: int32(devmem.CeilDiv(1<<16, cut.lanes)),
		TilePixels: int32(pixels), TilesAcross: int32(devmem.CeilDiv(job.Width, pixels)), Strips: int32(devmem.CeilDiv(job.Height, tiltedStrip)),
		Squares: flag(squares),
	}
	const margin = 1 << 12 // tiles that extend beyond the image are counted in 32 bits too
	carries := int64(0)
	if s.Strips > 1 {
		carries = int64(s.Strips) * s.CarryStride * int64(job.Sum.Bytes())
	}
	groups := int64(job.Channels) * int64(job.Width/8+2) * int64(s.Strips) // lower bound for every launch
	groups = max(groups, 2*(s.CarryStride+int64(s.Strips)*tiltedStrip*int64(job.Channels)))
	images := min(int64(job.Count), math.MaxInt32/groups)
	if carries > 0 {
		images = min(images, max(cut.bytes/(3*carries), 1))
	}
	if job.Width*job.Channels > math.MaxInt32-margin*job.Channels || job.Height > math.MaxInt32-margin {
		images = 0
	}
	return Plan{int(images), func(part Job) error { return tiltedBatch(part, s, cut, carries*int64(part.Count)) }}, nil
}

// tiltedBatch queues the launches for images that are processed together. Each of the three kinds
// of carries takes carryBytes bytes.
func tiltedBatch(job Job, s tiltedJob, cut tiltedCut, carryBytes int64) error {
	t := portableTypes(job)
	s.InStart, s.InStride, s.InDistance = job.In.Offset, job.In.Stride, job.In.Distance
	s.OutStart, s.OutStride, s.OutDistance = job.Out.Offset, job.Out.Stride, job.Out.Distance
	tiles := int64(s.ChannelGroups) * int64(s.TilesAcross) * int64(job.Count) // of a strip
	carries := job.In.Memory                                                  // unused if there is only one strip
	if s.Strips > 1 {
		var err error
		if carries, _, err = job.Device.Workspace(job.Stream, "tilted carries", 3*carryBytes); err != nil {
			return err
		}
		s.RisingStart, s.SumsStart = carryBytes, 2*carryBytes
		err = job.launch(kernels.TiltedKernel("totals", t, cut.quads), tiles*int64(s.Strips-1), cut.group, arg(&s), arg(&job.In.Memory), arg(&carries))
		if err != nil {
			return err
		}
		if err := tiltedCarry(job, s, t.Sum, carries); err != nil {
			return err
		}
	}
	return job.launch(kernels.TiltedKernel("finish", t, cut.quads), tiles*int64(s.Strips), cut.group, arg(&s), arg(&job.In.Memory), arg(&carries), arg(&job.Out.Memory))
}

// tiltedCarry propagates the totals of the strips.
func tiltedCarry(job Job, s tiltedJob, sum string, carries driver.Memory) error {
	most := kernels.Types{Sum: sum}.MaxGroup()
	lines, windows, carry := kernels.DiagonalKernel("lines", sum), kernels.DiagonalKernel("windows", sum), kernels.SumKernel("carry", sum)
	group, err := job.group(most, lines, windows)
	if err != nil {
		return err
	}
	across := func(values int64) int64 { return devmem.CeilDiv(values, int64(min(group, 32))) }
	p := tiltedDiagonals{
		FallingStart: s.FallingStart, RisingStart: s.RisingStart, SumsStart: s.SumsStart, CarryStride: s.CarryStride,
		Values: (s.Width + 1) * s.Channels, Step: tiltedStrip * s.Channels, Strips: s.Strips, Channels: s.Channels,
	}
	if s.Strips > 2 {
		p.Lines = int64(p.Values) + int64(s.Strips-2)*int64(p.Step)
		p.LinesAcross = uint32(across(p.Lines))
		if err := job.launch(lines, 2*int64(p.LinesAcross)*int64(job.Count), group, arg(&p), arg(&carries)); err != nil {
			return err
		}
		if job.Device.About.Kind == driver.CUDA {
			p.SumsAcross = uint32(devmem.CeilDiv(job.Width, 32) + 1)
			return job.launch(kernels.DiagonalKernel("sums", sum), int64(p.SumsAcross)*int64(p.Channels)*int64(job.Count), kernels.SumsGroup, arg(&p), arg(&carries))
		}
		p.WindowsAcross = uint32(devmem.CeilDiv((job.Width+3)/4+1, group))
		groups := int64(p.WindowsAcross) * int64(p.Channels) * int64(s.Strips-2) * int64(job.Count)
		if err := job.launch(windows, groups, group, arg(&p), arg(&carries)); err != nil {
			return err
		}
	}
	if group, err = job.group(most, carry, kernels.SumKernel("climb", sum)); err != nil {
		return err
	}
	down := portableCarry{Start: s.SumsStart, Length: s.CarryStride, Steps: s.Strips, GroupsAcross: uint32(across(s.CarryStride))}
	down.Groups = down.GroupsAcross * uint32(job.Count)
	var none portableCarry
	return job.launch(carry, int64(down.Groups), group, arg(&down), arg(&none), arg(&carries))
}
