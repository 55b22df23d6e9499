package method

import (
	"math"

	"github.com/boxsum/boxsum/gpu/internal/devmem"
	"github.com/boxsum/boxsum/gpu/internal/driver"
	"github.com/boxsum/boxsum/gpu/internal/kernels"
	"github.com/boxsum/boxsum/internal/device"
	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/internal/window"
)

// A Rank computes a statistic of the windows around pixels, which end at the edges of the images; see package rank.
type Rank struct {
	images
	Statistic device.Statistic
	Shape     window.Shape
	Fraction  float64
}

const (
	rankGroups           = 6 // work-groups that run at once on a multiprocessor of an H200
	rankLeast, rankMost  = 32, 512
	rankHistogramWindows = 8 // the least rows of a band, in heights of windows, so that counting the first rows takes little of the time
)

// reach returns the window without the parts that lie outside the image for every pixel.
func (r *Rank) reach(width, height int) window.Shape {
	s := r.Shape
	s.Left, s.Right = min(s.Left, width-1), min(s.Right, width-1)
	s.Up, s.Down = min(s.Up, height-1), min(s.Down, height-1)
	return s
}

// Fits returns an error if devices do not support the statistic of images of a type and size.
func (r *Rank) Fits(pixel raster.Type, width, height int) error {
	s := r.reach(width, height)
	w, h := s.Width(), s.Height()
	if r.Statistic == device.MeanStatistic {
		most := int(math.MaxUint32 / (uint32(1)<<(8*pixel.Bytes()) - 1))
		if w > kernels.RankWidth || h > most/w {
			return raster.Invalid("window is %d×%d, too large for a device: want a width of at most %d and an area of at most %d pixels", w, h, kernels.RankWidth, most)
		}
		return nil
	}
	if pixel != raster.U8 {
		return raster.Unsupported("image has pixels of %v, want uint8 for percentiles and histograms on a device", pixel)
	}
	if h > math.MaxUint16/w {
		return raster.Invalid("window is %d×%d, too large for a device: want an area of at most %d pixels", w, h, math.MaxUint16)
	}
	return nil
}

// OnePass calls Portable: there is one kernel for each statistic.
func (r *Rank) OnePass(job Job) (Plan, error) { return r.Portable(job) }

// Portable plans a filter in one launch.
func (r *Rank) Portable(job Job) (Plan, error) {
	name, most := kernels.RankMean(job.Pixel.Short()), kernels.RankGroup
	switch r.Statistic {
	case device.PercentileStatistic:
		name, most = kernels.RankPercentile, kernels.RankHistogramGroup
	case device.EqualizeStatistic:
		name, most = kernels.RankEqualize, kernels.RankHistogramGroup
	}
	group, err := job.group(most, name)
	if err != nil {
		return Plan{}, err
	}
	s := r.reach(job.Width, job.Height)
	c := kernelRank{
		InStride: job.In.Stride, InDistance: job.In.Distance, OutStride: job.Out.Stride, OutDistance: job.Out.Distance,
		Width: int32(job.Width), Height: int32(job.Height), Channels: int32(job.Channels),
		Left: int32(s.Left), Right: int32(s.Right), Up: int32(s.Up), Down: int32(s.Down),
		InAligned: flag(job.Channels == 1 && alignedRows(job.In, 8, job.Count)), OutAligned: flag(job.Channels == 1 && alignedRows(job.Out, 8, job.Count)),
		Area: int32(s.Width() * s.Height()), Inverse: 1 / float32(s.Width()*s.Height()),
	}
	strips, channels, least := devmem.CeilDiv(job.Width*job.Channels, group), 1, max(rankLeast, rankHistogramWindows*s.Height())
	if r.Statistic == device.MeanStatistic {
		const each = kernels.RankColumns
		left, right := devmem.CeilDiv(s.Left, each), devmem.CeilDiv(s.Right, each)
		if left+right >= group {
			return Plan{}, raster.Invalid("window is %d pixels wide and reaches over %d groups of %d columns, want at most %d on this device", s.Width(), left+right, each, group-1)
		}
		items := devmem.CeilDiv(job.Width, each)
		strips, channels, least = devmem.CeilDiv(items, group-left-right), job.Channels, max(rankLeast, s.Height())
		c.StripItems, c.Skip = int32(devmem.CeilDiv(items, strips)), int32(left)
	}
	c.Strips = int32(strips)
	rows := devmem.CeilDiv(job.Height*strips*channels*job.Count, rankGroups*max(1, job.Device.Info().Units))
	rows = max(least, min(rankMost, rows))
	c.BandRows, c.Bands = int32(rows), int32(devmem.CeilDiv(job.Height, rows))
	one := int64(strips) * int64(c.Bands) * int64(channels)
	launch := func(part Job) error {
		c := c
		c.InStart, c.OutStart, c.Images = part.In.Offset, part.Out.Offset, int32(part.Count)
		args := []driver.Arg{arg(&c), arg(&part.In.Memory), arg(&part.Out.Memory)}
		if r.Statistic == device.PercentileStatistic {
			args = append(args, arg(&r.Fraction))
		}
		return job.launch(name, one*int64(part.Count), group, args...)
	}
	return Plan{int(min(int64(job.Count), math.MaxInt32/one)), launch}, nil
}
