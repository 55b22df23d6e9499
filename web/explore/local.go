package explore

import (
	"context"

	"github.com/boxsum/boxsum/internal/denoise"
	"github.com/boxsum/boxsum/internal/enhance"
	"github.com/boxsum/boxsum/internal/rank"
	"github.com/boxsum/boxsum/internal/raster"
)

// searchReach is how far non-local means looks for similar surroundings, and patchReach how far these extend.
const searchReach, patchReach = denoise.DefaultSearch / 2, denoise.DefaultPatch / 2

// byLevels applies a filter that needs pixels of 8 or 16 bits.
func (f *filtering) byLevels(ctx context.Context, img raster.Array) (raster.Array, error) {
	if img.Type != raster.U8 && img.Type != raster.U16 {
		return img, refuse("the filter needs pixels of 8 or 16 bits, got %v", img.Type)
	}
	to, err := raster.NewPixelArray(img.Type, raster.PlaneExtent(img.Width, img.Height, img.Channels, 0))
	if err != nil {
		return to, err
	}
	switch f.Method {
	case "clahe":
		if !(f.Clip >= 1 && f.Clip <= 1e6) {
			return img, refuse("the limit of contrast is %v, want at least 1", f.Clip)
		}
		j := enhance.Job{Src: img, Dst: to, Clip: f.Clip, Color: img.Channels == 3}
		j.Options.Context = ctx
		return to, run(&j)
	case "denoise":
		if !(f.Strength > 0 && f.Strength <= 255) {
			return img, refuse("strength is %v, want more than 0 and at most 255", f.Strength)
		}
		j := denoise.Job{Frames: []raster.Array{img}, Dst: to, Patch: denoise.DefaultPatch, Search: denoise.DefaultSearch, Strength: f.levels(f.Strength)}
		j.Options.Context = ctx
		return to, run(&j)
	}
	j := rank.Job{Kind: rank.Equalize, Src: img, Dst: to, Width: f.window.Width, Height: f.window.Height}
	if f.Method == "percentile" {
		if !(f.Percent >= 0 && f.Percent <= 100) {
			return img, refuse("the percentile is %v, want 0 to 100", f.Percent)
		}
		j.Kind, j.Fraction = rank.Percentile, f.Percent/100
	}
	if img.Type == raster.U16 {
		j.Levels = max(int(f.high)+1, 4) // of the whole image
	}
	j.Options.Context = ctx
	return to, run(&j)
}

// run checks a job and runs it.
func run(j interface {
	Check() error
	Run() error
}) error {
	if err := j.Check(); err != nil {
		return err
	}
	return j.Run()
}

// levels converts a number from 0 to 255 to the range of the image.
func (f *filtering) levels(v float64) float64 { return v * (f.high - f.low) / 255 }
