package quality

import (
	"github.com/boxsum/boxsum/internal/device"
	"github.com/boxsum/boxsum/internal/raster"
)

// checkDevice returns an error if devices do not support the job.
func (j *Job) checkDevice() error {
	switch {
	case j.Kind != SSIM || j.contrasts:
		return raster.Invalid("only SSIM is supported on a device, not LNCC and MS-SSIM (use the CPU)")
	case j.Solid:
		return raster.Invalid("volumes are not supported on a device, only images (use the CPU)")
	case j.A.Type.Float():
		return raster.Unsupported("pixels of %v cannot be compared on a device, want uint8 or uint16 (use the CPU)", j.A.Type)
	case j.counting:
		return raster.Invalid("masks are not supported on a device (use the CPU)")
	case j.Sigma > 0:
		return raster.Invalid("sigma is %v, want 0 on a device, which weighs all pixels of a window alike (use the CPU)", j.Sigma)
	case !j.integers():
		return raster.Invalid("window is %d×%d, want at most %d pixels on a device (use the CPU)", j.Size, j.Size, maxArea)
	}
	return nil
}

// OnDevice checks the numbers of a job whose images have types and sizes, but need no memory, and returns the job for a
// device without its images.
func (j *Job) OnDevice() (d device.SSIM, err error) {
	if err := j.checkNumbers(); err != nil {
		return d, err
	}
	if err := j.checkDevice(); err != nil {
		return d, err
	}
	k, n := j.constants(), j.pixels()
	return device.SSIM{Size: j.Size, C1: float64(k.c1 * float64(n*n)), C2: float64(k.c2 * float64(n*n)), Factor: k.factor}, nil
}

// runOn computes the scores on a device.
func (j *Job) runOn(r device.Runner) error {
	d, err := j.OnDevice()
	if err != nil {
		return err
	}
	d.A, d.B, d.Map, d.Sums, d.Options = j.A, j.B, j.Map, j.tally.scores, j.set.OnDevice()
	return r.SSIM(&d)
}
