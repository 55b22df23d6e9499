package gpu

import (
	"errors"
	"fmt"
	"math"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/gpu/internal/kernels"
)

// A histogramJob is one call of the kernels of integral histograms. Its channels are
// those of the images; its tables have so many bins for each.
type histogramJob struct {
	integrateJob
	bins   int
	limits limits
}

// A histogramCut is the Histogram of gpu/internal/kernels/histogram.h, byte for byte.
type histogramCut struct {
	inStart, inStride, inDistance           int64
	outStart, outStride, outDistance        int64
	planesStart, rowsStart, columnsStart    int64
	totalsStart, leftStart, aboveStart      int64
	width, height, channels, bins           int32
	limits, quads, allQuads, groupQuads     int32
	tilesAcross, bands, bundles, quadGroups int32
	count, carry, quadsIn, wide             int32
}

const (
	// histogramRows is how many rows go together at most: columns' counts are
	// of 16 bits.
	histogramRows = 1<<16 - kernels.HistogramBand*kernels.HistogramBands // a multiple of bands
	// histogramBytes is about how much memory images that go together take
	// besides their tables.
	histogramBytes = 1 << 30
)

// histogramIntegrate makes integral histograms one way or the other.
func (d *Device) histogramIntegrate(job histogramJob, way Kernels) error {
	if job.width == 0 || job.height == 0 {
		tables := job.integrateJob
		tables.channels *= job.bins
		return d.clear(tables)
	}
	if way != Portable {
		obstacle := d.notHistogramPass(job)
		if obstacle == "" && (way == Fast || d.suitsHistogramPass(job)) {
			return orPortable(way, d.histogramPass(job), func() error { return d.histogramPortable(job) })
		}
		if way == Fast {
			return fmt.Errorf("gpu: %w: the fast kernels of histograms %s: let the package choose", boxsum.ErrTypes, obstacle)
		}
	}
	return d.histogramPortable(job)
}

// histogramPortable makes integral histograms with the portable kernels, images that
// are too high in bands.
func (d *Device) histogramPortable(job histogramJob) error {
	for first := 0; first < job.height; first += histogramRows {
		band := job
		band.height = min(histogramRows, job.height-first)
		band.in.offset += int64(first) * job.in.stride
		band.out.offset += int64(first) * job.out.stride
		band.carry = job.carry || first > 0
		if err := d.histogramBand(band); err != nil {
			return err
		}
	}
	return nil
}

// histogramBand makes integral histograms of as many images at a time as memory and
// the numbers of work-groups allow.
func (d *Device) histogramBand(job histogramJob) error {
	c := job.cut()
	one := c.lay(1)
	groups := max(int64(c.tilesAcross)*int64(c.bands)*int64(c.channels), int64(c.quadGroups)*int64(c.bundles)*int64(c.bands),
		(int64(c.bands)*kernels.HistogramBand+int64(c.tilesAcross)*(kernels.HistogramTile+1))*int64(c.allQuads))
	images := int(min(int64(job.count), max(histogramBytes/one, 1), math.MaxInt32/groups))
	if images < 1 {
		return fmt.Errorf("gpu: %w: %d×%d pixels with %d channels and %d bins are too many for one launch", boxsum.ErrInvalid, job.width, job.height, job.channels, job.bins)
	}
	for first := 0; first < job.count; {
		part := job
		part.count = min(images, job.count-first)
		part.in.plane, part.out.plane = job.in.image(first), job.out.image(first)
		err := d.histogramLaunch(part, c)
		if errors.Is(err, ErrMemory) && images > 1 {
			images = (images + 1) / 2
			continue
		}
		if err != nil {
			return err
		}
		first += part.count
	}
	return nil
}

// cut is how the images of a job are cut.
func (job histogramJob) cut() histogramCut {
	quads := ceilDiv(job.bins, 4)
	groupQuads := 1
	for groupQuads < min(quads*job.channels, kernels.HistogramQuads) {
		groupQuads *= 2
	}
	across := ceilDiv(job.width, kernels.HistogramTile*kernels.HistogramAcross) * kernels.HistogramAcross
	return histogramCut{
		width: int32(job.width), height: int32(job.height), channels: int32(job.channels), bins: int32(job.bins),
		limits: int32(job.limits.count), quads: int32(quads), allQuads: int32(quads * job.channels), groupQuads: int32(groupQuads),
		tilesAcross: int32(across), bands: int32(ceilDiv(job.height, kernels.HistogramBand*kernels.HistogramBands) * kernels.HistogramBands),
		bundles: int32(ceilDiv(across*groupQuads, kernels.HistogramQuads)), quadGroups: int32(ceilDiv(quads*job.channels, groupQuads)),
		carry: flag(job.carry), quadsIn: flag(job.channels == 1 && quadsIn(job.integrateJob)),
		wide: flag(job.bins%4 == 0 && job.out.aligned(0, job.count)),
	}
}

// lay says where things lie in the workspace, and how much that is.
func (c *histogramCut) lay(count int) int64 {
	rows, columns := int64(c.bands)*kernels.HistogramBand, int64(c.tilesAcross)*kernels.HistogramTile
	across, bands, quads := int64(c.tilesAcross), int64(c.bands), int64(c.allQuads)
	var at int64
	next := func(start *int64, bytes int64) {
		*start = at
		at += roundUp(bytes*int64(count), 256)
	}
	next(&c.planesStart, rows*columns*int64(c.channels)*2)
	next(&c.rowsStart, rows*across*quads*4)
	next(&c.columnsStart, bands*columns*quads*4)
	next(&c.totalsStart, bands*across*quads*16)
	next(&c.leftStart, rows*across*quads*16)
	next(&c.aboveStart, bands*columns*quads*8)
	c.count = int32(count)
	return at
}

// histogramLaunch queues the launches for images that go together.
func (d *Device) histogramLaunch(job histogramJob, c histogramCut) error {
	space, _, err := d.workspace(job.stream, "histogram counts", c.lay(job.count))
	if err != nil {
		return err
	}
	c.inStart, c.inStride, c.inDistance = job.in.offset, job.in.stride, job.in.distance
	c.outStart, c.outStride, c.outDistance = job.out.offset, job.out.stride, job.out.distance
	for _, l := range []struct {
		kernel        string
		group, groups int
		args          []arg
	}{
		{kernels.HistogramTotals(job.pixel.String()), kernels.HistogramGroup, c.tiles(), []arg{value(&c), value(&job.in.memory), value(&job.limits.at), value(&space)}},
		{kernels.HistogramCarry, kernels.HistogramGroup, c.carries(), []arg{value(&c), value(&space)}},
		{kernels.HistogramFinish, kernels.HistogramTeam, c.teams(), []arg{value(&c), value(&space), value(&job.out.memory)}},
	} {
		if group, err := d.portableGroup(l.group, l.kernel); err != nil {
			return err
		} else if group != l.group {
			return fmt.Errorf("gpu: %w: %s has work-groups of at most %d work-items; histograms need %d", ErrNoDevice, d.about.Name, group, l.group)
		}
		if err := d.backend.launch(job.stream, l.kernel, [3]int{l.groups, 1, 1}, [3]int{l.group, 1, 1}, 0, l.args...); err != nil {
			return err
		}
	}
	return nil
}

// tiles, carries and teams are the work-groups that the kernels of a cut take, less
// than 2^31 of each.
func (c *histogramCut) tiles() int {
	return int(c.tilesAcross/kernels.HistogramAcross) * int(c.bands/kernels.HistogramBands) * int(c.channels) * int(c.count)
}

func (c *histogramCut) carries() int {
	items := (int64(c.bands)*kernels.HistogramBand + int64(c.tilesAcross)*(kernels.HistogramTile+1)) * int64(c.allQuads) * int64(c.count)
	return int(ceilDiv64(items, kernels.HistogramGroup))
}

func (c *histogramCut) teams() int {
	return int(c.quadGroups) * int(c.bundles) * int(c.bands) * int(c.count)
}
