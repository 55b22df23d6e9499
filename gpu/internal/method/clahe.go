package method

import (
	"math"

	"github.com/boxsum/boxsum/gpu/internal/devmem"
	"github.com/boxsum/boxsum/gpu/internal/driver"
	"github.com/boxsum/boxsum/gpu/internal/kernels"
	"github.com/boxsum/boxsum/internal/raster"
)

// A CLAHE equalizes the contrast of images; see package enhance. Its numbers have been checked.
type CLAHE struct {
	Across, Down          int // tiles
	TileWidth, TileHeight int
	Shift                 int // low bits that are ignored
	Limit                 int // of a bin
}

const (
	claheGroups = 7  // work-groups that count at once on a multiprocessor of an H200
	claheLeast  = 16 // rows of a tile for which another work-group counts
)

// Queue counts the levels of tiles, makes the tables, and maps the pixels.
func (e *CLAHE) Queue(job Job) error {
	count, convert := kernels.CLAHEKernels(job.Pixel.Short())
	group, err := job.group(kernels.CLAHEGroup, count, kernels.CLAHETables, convert)
	if err != nil {
		return err
	}
	if group < kernels.CLAHECounters {
		return raster.Unsupported("work-groups of this device have %d work-items, want at least %d for CLAHE", group, kernels.CLAHECounters)
	}
	tiles := int64(e.Across) * int64(e.Down) * int64(job.Channels) * int64(job.Count)
	levels := 1 << (8*job.Pixel.Bytes() - e.Shift)
	const cell = kernels.CLAHEPixels
	c := kernelCLAHE{
		InStride: job.In.Stride, InStart: job.In.Offset, InDistance: job.In.Distance,
		OutStride: job.Out.Stride, OutStart: job.Out.Offset, OutDistance: job.Out.Distance,
		Width: int32(job.Width), Height: int32(job.Height), Channels: int32(job.Channels), Images: int32(job.Count),
		Across: int32(e.Across), Down: int32(e.Down), TileWidth: int32(e.TileWidth), TileHeight: int32(e.TileHeight),
		Levels: int32(levels), Shift: int32(e.Shift), Limit: int32(e.Limit),
		Scale: float32(levels-1) / float32(e.TileWidth*e.TileHeight), InverseWidth: 1 / float32(e.TileWidth), InverseHeight: 1 / float32(e.TileHeight),
		Strips: int32(devmem.CeilDiv(min(e.TileWidth, job.Width)+2*cell, group*cell)), Bands: int32(devmem.CeilDiv(min(e.TileHeight, job.Height)+2, kernels.CLAHERows)),
		InAligned: flag(job.Channels == 1 && alignedRows(job.In, 16, job.Count)), OutAligned: flag(job.Channels == 1 && alignedRows(job.Out, 16, job.Count)),
	}
	parts := claheGroups * int64(max(1, job.Device.Info().Units)) / tiles
	parts = max(1, min(parts, int64(devmem.CeilDiv(e.TileHeight, claheLeast))))
	c.PartRows = int32(devmem.CeilDiv(e.TileHeight, int(parts)))
	c.Parts = int32(devmem.CeilDiv(e.TileHeight, int(c.PartRows)))
	if pieces := int64(e.TileWidth/16+2) * int64(c.PartRows); pieces > math.MaxInt32 { // which are counted in 32 bits
		return raster.Invalid("tiles have %d×%d pixels, too many for the 32-bit counters of the device (use more tiles)", e.TileWidth, e.TileHeight)
	}
	c.Histograms = 1
	if job.Pixel == raster.U8 {
		c.Histograms = c.Parts * int32(group/kernels.CLAHECounters)
	}
	maps := tiles / int64(e.Across) / int64(e.Down) * int64(e.Across+1) * int64(e.Down+1) * int64(c.Strips) * int64(c.Bands)
	if groups := max(tiles*int64(c.Parts), maps); groups > math.MaxInt32 {
		return raster.Invalid("%d×%d tiles take %d work-groups, want at most %d (use fewer tiles)", e.Across, e.Down, groups, math.MaxInt32)
	}
	counts, ok := devmem.Product(tiles, 4*int64(c.Histograms)*int64(levels))
	if !ok {
		return raster.Invalid("histograms of %d×%d tiles take more than %d bytes (use fewer tiles)", e.Across, e.Down, int64(math.MaxInt64))
	}
	c.TablesStart = devmem.RoundUp(counts, 256)
	space, _, err := job.Device.Workspace(job.Stream, "tiles", c.TablesStart+2*tiles*int64(levels))
	if err != nil {
		return err
	}
	if job.Pixel != raster.U8 {
		if err := job.Device.Backend.Fill(job.Stream, driver.Plane{Memory: space, Stride: counts}, 0, counts); err != nil {
			return err
		}
	}
	if err := job.launch(count, tiles*int64(c.Parts), group, arg(&c), arg(&job.In.Memory), arg(&space)); err != nil {
		return err
	}
	if err := job.launch(kernels.CLAHETables, tiles, group, arg(&c), arg(&space)); err != nil {
		return err
	}
	return job.launch(convert, maps, group, arg(&c), arg(&job.In.Memory), arg(&space), arg(&job.Out.Memory))
}
