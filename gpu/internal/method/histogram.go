package method

import (
	"fmt"
	"math"

	"github.com/boxsum/boxsum/gpu/internal/devmem"
	"github.com/boxsum/boxsum/gpu/internal/driver"
	"github.com/boxsum/boxsum/gpu/internal/kernels"
	"github.com/boxsum/boxsum/gpu/internal/kernels/jobs"
)

// Histogram computes integral histograms of values between limits.
type Histogram struct {
	images
	Limits *Limits
}

const (
	// histogramRows bounds the rows of a launch, because column counts have 16 bits.
	histogramRows = 1<<16 - kernels.HistogramBand*kernels.HistogramBands // a multiple of bands
	// histogramBytes is the approximate memory of the images of a launch, besides their tables.
	histogramBytes = 1 << 30
)

// Band returns the job of some rows of an image.
func (Histogram) Band(job Job, first, rows int) (Job, bool) { return band(job, first, rows), true }

// Portable plans integral histograms with the portable kernels. Images that are too high are cut
// into bands.
func (m Histogram) Portable(job Job) (Plan, error) {
	part := func(job Job, first int) Job { return band(job, first, min(histogramRows, job.Height-first)) }
	c := m.cut(part(job, 0))
	groups := max(int64(c.TilesAcross)*int64(c.Bands)*int64(c.Channels), int64(c.QuadGroups)*int64(c.Bundles)*int64(c.Bands),
		(int64(c.Bands)*kernels.HistogramBand+int64(c.TilesAcross)*(kernels.HistogramTile+1))*int64(c.AllQuads))
	return Plan{
		Most: int(min(int64(job.Count), max(histogramBytes/c.layOut(1), 1), math.MaxInt32/groups)),
		Launch: func(images Job) error {
			for first := 0; first < job.Height; first += histogramRows {
				if err := m.launch(part(images, first)); err != nil {
					return err
				}
			}
			return nil
		},
	}, nil
}

// cut returns the partition of the images of a job.
func (m Histogram) cut(job Job) histogramCut {
	quads := devmem.CeilDiv(job.Bins, 4)
	groupQuads := 1
	for groupQuads < min(quads*job.Channels, kernels.HistogramQuads) {
		groupQuads *= 2
	}
	across := devmem.CeilDiv(job.Width, kernels.HistogramTile*kernels.HistogramAcross) * kernels.HistogramAcross
	return histogramCut{jobs.Histogram{
		Width: int32(job.Width), Height: int32(job.Height), Channels: int32(job.Channels), Bins: int32(job.Bins),
		Limits: int32(m.Limits.count), Quads: int32(quads), AllQuads: int32(quads * job.Channels), GroupQuads: int32(groupQuads),
		TilesAcross: int32(across), Bands: int32(devmem.CeilDiv(job.Height, kernels.HistogramBand*kernels.HistogramBands) * kernels.HistogramBands),
		Bundles: int32(devmem.CeilDiv(across*groupQuads, kernels.HistogramQuads)), QuadGroups: int32(devmem.CeilDiv(quads*job.Channels, groupQuads)),
		Carry: flag(job.Carry), QuadsIn: flag(job.Channels == 1 && quadsIn(job)),
		Wide: flag(job.Bins%4 == 0 && job.Out.Aligned(0, job.Count)),
	}}
}

// layOut determines the layout of the workspace and returns its size.
func (c *histogramCut) layOut(count int) int64 {
	rows, columns := int64(c.Bands)*kernels.HistogramBand, int64(c.TilesAcross)*kernels.HistogramTile
	across, bands, quads := int64(c.TilesAcross), int64(c.Bands), int64(c.AllQuads)
	var at int64
	next := func(start *int64, bytes int64) {
		*start = at
		at += devmem.RoundUp(bytes*int64(count), 256)
	}
	next(&c.PlanesStart, rows*columns*int64(c.Channels)*2)
	next(&c.RowsStart, rows*across*quads*4)
	next(&c.ColumnsStart, bands*columns*quads*4)
	next(&c.TotalsStart, bands*across*quads*16)
	next(&c.LeftStart, rows*across*quads*16)
	next(&c.AboveStart, bands*columns*quads*8)
	c.Count = int32(count)
	return at
}

// quadsIn reports whether the pixels of images can be read four at a time.
func quadsIn(job Job) bool {
	quad := 4 * job.Pixel.Bytes()
	return readable(job, min(quad, 16), quad)
}

// launch queues the launches for images that are processed together.
func (m Histogram) launch(job Job) error {
	c := m.cut(job)
	space, _, err := job.Device.Workspace(job.Stream, "histogram counts", c.layOut(job.Count))
	if err != nil {
		return err
	}
	c.InStart, c.InStride, c.InDistance = job.In.Offset, job.In.Stride, job.In.Distance
	c.OutStart, c.OutStride, c.OutDistance = job.Out.Offset, job.Out.Stride, job.Out.Distance
	for _, l := range []struct {
		kernel        string
		group, groups int
		args          []driver.Arg
	}{
		{kernels.HistogramTotals(job.Pixel.Short()), kernels.HistogramGroup, c.tiles(), []driver.Arg{arg(&c), arg(&job.In.Memory), arg(&m.Limits.At), arg(&space)}},
		{kernels.HistogramCarry, kernels.HistogramGroup, c.carries(), []driver.Arg{arg(&c), arg(&space)}},
		{kernels.HistogramFinish, kernels.HistogramTeam, c.teams(), []driver.Arg{arg(&c), arg(&space), arg(&job.Out.Memory)}},
	} {
		if group, err := job.group(l.group, l.kernel); err != nil {
			return err
		} else if group != l.group {
			return fmt.Errorf("%w: %s has work-groups of at most %d work-items, but histograms need %d", driver.ErrNoDevice, job.Device.About.Name, group, l.group)
		}
		if err := job.launch(l.kernel, int64(l.groups), l.group, l.args...); err != nil {
			return err
		}
	}
	return nil
}

// tiles, carries and teams return the numbers of work-groups of the kernels, each of which is below
// 2^31.
func (c *histogramCut) tiles() int {
	return int(c.TilesAcross/kernels.HistogramAcross) * int(c.Bands/kernels.HistogramBands) * int(c.Channels) * int(c.Count)
}

func (c *histogramCut) carries() int {
	items := (int64(c.Bands)*kernels.HistogramBand + int64(c.TilesAcross)*(kernels.HistogramTile+1)) * int64(c.AllQuads) * int64(c.Count)
	return int(devmem.CeilDiv(items, kernels.HistogramGroup))
}

func (c *histogramCut) teams() int {
	return int(c.QuadGroups) * int(c.Bundles) * int(c.Bands) * int(c.Count)
}
