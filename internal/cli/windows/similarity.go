package windows

import (
	"fmt"
	"math"

	"github.com/boxsum/boxsum/internal/cli/console"
	"github.com/boxsum/boxsum/internal/cli/display"
	"github.com/boxsum/boxsum/internal/cli/imagefile"
	"github.com/boxsum/boxsum/internal/pixels"
	"github.com/boxsum/boxsum/internal/quality"
	"github.com/boxsum/boxsum/internal/raster"
)

// A similarity holds the scores of a comparison of gray or color images. Scores that are not finite are null.
type similarity struct {
	SSIM   *float64 `json:"ssim,omitempty"`
	MSSSIM *float64 `json:"ms_ssim,omitempty"`
	LNCC   *float64 `json:"lncc,omitempty"`
	PSNR   *float64 `json:"psnr"`
	MSE    *float64 `json:"mse"`
	Out    string   `json:"out,omitempty"`
}

// checkSimilarity returns an error for flags that cannot be combined.
func (c *Compare) checkSimilarity() error {
	switch {
	case c.Out != "" && c.SSIM == c.LNCC:
		return console.Usage("-o writes the map of --ssim or of --lncc: give one of them")
	case c.Sigma != 0 && !c.SSIM:
		return console.Usage("--sigma is for --ssim: add it, or leave out --sigma")
	case c.Sigma != 0 && c.Window != 0:
		return console.Usage("--sigma chooses its own window: leave out --window")
	case c.Window != 0 && !c.SSIM && !c.LNCC:
		return console.Usage("--window is for --ssim and --lncc: add one of them, or leave out --window")
	case c.onGPU() && (!c.SSIM || c.MSSSIM || c.LNCC || c.Sigma != 0 || c.Mask != "" || c.NaN == "skip"):
		return console.Usage("a GPU supports only --ssim, without --sigma, --mask and --nan skip: leave out --on %s", c.On)
	case c.Mask == console.Standard:
		return console.Usage("--mask cannot be standard input: name a file")
	}
	return imagefile.CheckFolder(c.Out)
}

// similarity compares gray or color images and prints the scores.
func (c *Compare) similarity(sh *console.Shell) error {
	if err := c.checkSimilarity(); err != nil {
		return err
	}
	format, err := imagefile.FormatOf(c.Out, "npy")
	if c.Out != "" && err != nil {
		return err
	}
	truth, err := openImage(sh, c.Truth, c.Out, &c.Flags, false)
	if err != nil {
		return err
	}
	defer truth.Close()
	other, err := openImage(sh, c.Image, c.Out, &c.Flags, false)
	if err != nil {
		return err
	}
	defer other.Close()
	j := quality.Job{A: truth.Image, B: other.Image, Range: c.Range, Sigma: c.Sigma, SkipNaN: c.NaN == "skip", K1: quality.DefaultK1, K2: quality.DefaultK2}
	on, err := c.choose()
	if err != nil {
		return err
	}
	j.Options.Workers, j.Options.Level = on.workers, on.level.String()
	j.Options.Context, j.Options.Progress = sh.Ctx, sh.Progress.Share("comparing")
	if c.Mask != "" {
		mask, err := imagefile.ReadMask(sh, c.Mask, &c.Flags)
		if err != nil {
			return err
		}
		j.Mask = pixels.Of(mask)
	}
	var s similarity
	score := func(of func() (float64, error), to **float64) {
		if err != nil {
			return
		}
		var v float64
		if v, err = of(); err == nil {
			*to = &v
		}
	}
	var made raster.Array
	windows := func(kind quality.Kind) func() (float64, error) {
		return func() (float64, error) {
			j := j
			j.Kind, j.Size, j.Options.On = kind, c.Window, on.device
			if err := j.Check(); err != nil {
				return 0, err
			}
			if c.Out != "" {
				if made, err = raster.NewPixelArray(raster.F32, raster.PlaneExtent(j.A.Width, j.A.Height, j.A.Channels, 0)); err != nil {
					return 0, err
				}
				j.Map = made
			}
			return j.Run()
		}
	}
	if c.SSIM {
		score(windows(quality.SSIM), &s.SSIM)
	}
	if c.MSSSIM {
		score(func() (float64, error) {
			j := j
			j.Sigma = 0
			return quality.MultiScale(j)
		}, &s.MSSSIM)
	}
	if c.LNCC {
		score(windows(quality.LNCC), &s.LNCC)
	}
	score(func() (float64, error) { return quality.SquaredError(j) }, &s.MSE)
	if c.Range > 0 || !j.A.Type.Float() {
		score(func() (float64, error) { return quality.PSNR(j) }, &s.PSNR)
	}
	tellFailed(sh, on.device)
	if err != nil {
		return err
	}
	if c.Out != "" {
		s.Out = c.Out
		if err := c.saveMap(sh, format, truth, made); err != nil {
			return err
		}
	}
	return c.printSimilarity(sh, &s)
}

// saveMap writes a map of similarities: floats, or a picture that is white where they are 1.
func (c *Compare) saveMap(sh *console.Shell, format string, src *imagefile.Source, m raster.Array) error {
	return imagefile.SavePages(sh, c.Out, format, src, func() (any, error) {
		if format == "npy" || format == "tiff" {
			return pixels.Image(m)
		}
		return imagefile.Encodable(imagefile.Converted(m, func(v float64) uint8 { return uint8(math.Round(min(max(v, 0), 1) * 255)) }))
	})
}

// printSimilarity prints the scores.
func (c *Compare) printSimilarity(sh *console.Shell, s *similarity) error {
	w := sh.ReportsTo(c.Out)
	if c.JSON {
		for _, v := range []**float64{&s.SSIM, &s.MSSSIM, &s.LNCC, &s.PSNR, &s.MSE} {
			if *v != nil && (math.IsNaN(**v) || math.IsInf(**v, 0)) {
				*v = nil
			}
		}
		return display.JSON(w, s)
	}
	for _, line := range []struct {
		name, format string
		value        *float64
	}{{"SSIM", "%.6f", s.SSIM}, {"MS-SSIM", "%.6f", s.MSSSIM}, {"LNCC", "%.6f", s.LNCC}, {"PSNR", "%.2f dB", s.PSNR}, {"MSE", "%.6g", s.MSE}} {
		if line.value == nil {
			continue
		}
		if _, err := fmt.Fprintf(w, "%-8s "+line.format+"\n", line.name, *line.value); err != nil {
			return err
		}
	}
	return nil
}
