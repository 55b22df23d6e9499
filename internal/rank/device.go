package rank

import (
	"github.com/boxsum/boxsum/internal/device"
	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/internal/window"
)

// checkDevice returns an error if devices do not support the job.
func (j *Job) checkDevice() error {
	if _, _, ok := j.Kind.onDevice(j.Fraction); !ok {
		return raster.Invalid("statistic is %v, want mean, percentile, minimum, maximum or equalize on a device (use the CPU)", j.Kind)
	}
	if j.Mask.Type != 0 || j.Footprint != nil {
		return raster.Invalid("masks and footprints are not supported on a device (use the CPU)")
	}
	return nil
}

// onDevice returns the statistic of a device for a kind, with the fraction of percentiles.
func (k Kind) onDevice(fraction float64) (s device.Statistic, of float64, ok bool) {
	switch k {
	case Mean:
		return device.MeanStatistic, 0, true
	case Equalize:
		return device.EqualizeStatistic, 0, true
	case Percentile:
		return device.PercentileStatistic, fraction, true
	case Minimum:
		return device.PercentileStatistic, 0, true
	case Maximum:
		return device.PercentileStatistic, 1, true
	}
	return 0, 0, false
}

// onDevice returns the job for a device.
func (j *Job) onDevice() device.Rank {
	d := device.Rank{Src: j.Src, Dst: j.Dst, Window: j.shape.OnDevice(), Options: j.set.OnDevice()}
	d.Statistic, d.Fraction, _ = j.Kind.onDevice(j.Fraction)
	if j.same { // rows around those of a band are read later
		window.CopyTo(nil, &d.Src)
	}
	return d
}

// OnDevice checks the window and the numbers of a job for an image of bytes whose memory is elsewhere, and returns the job
// for a device.
func (j *Job) OnDevice() (d device.Rank, err error) {
	if j.Kind >= kinds {
		return d, raster.Invalid("unknown statistic")
	}
	if err := j.setShape(); err != nil {
		return d, err
	}
	if j.Kind == Percentile && !(j.Fraction >= 0 && j.Fraction <= 1) {
		return d, raster.Invalid("percentile is %v, want a fraction from 0 to 1", j.Fraction)
	}
	if err := j.checkDevice(); err != nil {
		return d, err
	}
	return j.onDevice(), nil
}
