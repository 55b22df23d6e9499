package windows

import (
	"cmp"
	"encoding/json"
	"fmt"
	"image"
	"io"
	"math"
	"runtime"
	"strconv"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/imgio"
	"github.com/boxsum/boxsum/internal/cli/console"
	"github.com/boxsum/boxsum/internal/cli/display"
	"github.com/boxsum/boxsum/internal/cli/imagefile"
	"github.com/boxsum/boxsum/internal/filters"
	"github.com/boxsum/boxsum/internal/matching"
	"github.com/boxsum/boxsum/internal/pixels"
	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/match"
)

// Match implements the match command.
type Match struct {
	Files    []string `arg:"" name:"IMAGE" help:"Images to search, followed by the template, the small image to look for (PNG, JPEG, GIF, BMP, TIFF, WebP, PNM, .npy)."`
	Out      string   `short:"o" placeholder:"OUT" help:"Output file for the scores of all positions of one image: .npy or .tiff as float32, or .png to look at, the best in white."`
	Method   string   `short:"m" enum:"zncc,ncc,ssd" default:"zncc" help:"Score: zncc (independent of brightness and contrast), ncc (independent of exposure) or ssd (the sum of squared differences)."`
	Top      int      `short:"n" default:"5" placeholder:"N" help:"Maximum number of positions to print (default ${default})."`
	Apart    int      `default:"-1" placeholder:"PIXELS" help:"Minimum distance between positions, horizontally or vertically (default: half the size of the template)."`
	Least    *float64 `placeholder:"SCORE" help:"Omit positions with a worse score."`
	Subpixel bool     `help:"Print positions with subpixel accuracy."`
	Mask     string   `placeholder:"FILE" help:"Image of the template's size; pixels where it is black are ignored."`

	imagefile.Flags `set:"color=auto"`
	place           `set:"gpuhas=A GPU supports gray 8-bit images, without --mask."`
	JSON            bool `name:"json" help:"Print JSON instead of lines."`
}

// A matchWork is a template with its options.
type matchWork struct {
	template raster.Array
	job      matching.Job // without images
	top      int
	apart    int
}

// A matchPlace is a position of the template in an image.
type matchPlace struct {
	File  string      `json:"file,omitempty"` // set if there are several inputs
	X     json.Number `json:"x"`
	Y     json.Number `json:"y"`
	Score json.Number `json:"score"`
}

// Run finds the template in the images and prints the best positions.
func (c *Match) Run(sh *console.Shell) error {
	if len(c.Files) > 2 {
		if err := imagefile.CheckLast(c.Files, c.Out); err != nil {
			return err
		}
	}
	work, err := c.work(sh)
	if err != nil {
		return err
	}
	images := c.Files[:len(c.Files)-1]
	format := ""
	if c.Out != "" {
		if len(images) > 1 {
			return console.Usage("-o writes the scores of one image: leave it out, or name one image")
		}
		if format, err = imagefile.FormatOf(c.Out, "npy"); err != nil {
			return err
		}
		if err := imagefile.CheckApart(c.Files[1], c.Out, false); err != nil {
			return err
		}
	}
	all, failed := []matchPlace{}, 0
	for _, in := range images {
		places, err := c.one(sh, work, in, format)
		switch {
		case sh.Ctx.Err() != nil:
			return sh.Ctx.Err()
		case err != nil && len(images) == 1:
			return err
		case err != nil:
			failed++
			sh.Progress.Close()
			sh.Failed(in, err)
			continue
		}
		for _, p := range places {
			if len(images) > 1 {
				p.File = in
			}
			if all = append(all, p); c.JSON {
				continue
			}
			line := fmt.Sprintf("%s,%s %s\n", p.X, p.Y, p.Score)
			if p.File != "" {
				line = console.Escape(in) + ": " + line
			}
			if _, err := io.WriteString(sh.ReportsTo(c.Out), line); err != nil {
				return err
			}
		}
	}
	if c.JSON {
		if err := display.JSON(sh.ReportsTo(c.Out), all); err != nil {
			return err
		}
	}
	if failed > 0 {
		return fmt.Errorf("%d of %d images failed", failed, len(images))
	}
	return nil
}

// work reads the template and checks the flags.
func (c *Match) work(sh *console.Shell) (*matchWork, error) {
	switch {
	case len(c.Files) < 2:
		return nil, console.Usage("name an image and a template, such as boxsum match photo.png logo.png")
	case c.Top < 0:
		return nil, console.Usage("--top %d: want 0 or more", c.Top)
	case c.Apart < -1:
		return nil, console.Usage("--apart %d: want 0 or more pixels", c.Apart)
	case c.Least != nil && math.IsNaN(*c.Least):
		return nil, console.Usage("--least NaN: want a number")
	}
	if err := c.check(); err != nil {
		return nil, err
	}
	if c.onGPU() && c.Mask != "" {
		return nil, console.Usage("--mask is for the CPU: leave it out with --on %s", c.On)
	}
	m, err := matching.ParseMethod(c.Method)
	if err != nil {
		return nil, console.Usage("--method: %w", err)
	}
	w := &matchWork{job: matching.Job{Method: m}, top: c.Top, apart: c.Apart}
	on, err := c.choose()
	if err != nil {
		return nil, err
	}
	opt := &w.job.Options
	opt.On, opt.Workers, opt.Context, opt.Level = on.device, cmp.Or(on.workers, runtime.GOMAXPROCS(0)), sh.Ctx, on.level.String()
	// Both stay open until the process ends, because the work may still read them after Ctrl-C.
	last := c.Files[len(c.Files)-1]
	template, err := imagefile.OpenOrDemo(sh, last, "", &c.Flags, false)
	if err != nil {
		return nil, err
	}
	w.template = template.Image
	if c.Mask != "" {
		mask, err := imagefile.OpenOrDemo(sh, c.Mask, "", &imagefile.Flags{Color: "gray", AsStored: c.AsStored, Large: c.Large}, false)
		if err != nil {
			return nil, err
		}
		if w.job.Mask, err = matchMask(mask.Image); err != nil {
			return nil, fmt.Errorf("%s: %w", c.Mask, err)
		}
	}
	return w, nil
}

// matchMask returns an image that is 1 where the mask is not black.
func matchMask(img raster.Array) (raster.Array, error) {
	if img.Type == raster.U8 {
		return img, nil
	}
	if !imagefile.IsImage(img.Type) {
		return img, fmt.Errorf("pixels of %v are not supported in a mask, want integers of at most 32 bits or floats", img.Type)
	}
	return imagefile.Converted(img, func(v float64) uint8 {
		if v != 0 {
			return 1
		}
		return 0
	})
}

// one finds the template in an image.
func (c *Match) one(sh *console.Shell, work *matchWork, in, format string) ([]matchPlace, error) {
	src, err := openImage(sh, in, c.Out, &c.Flags, false)
	if err != nil {
		return nil, err
	}
	defer src.Close()
	sh.Progress.Begin("matching", 0)
	work.job.Options.Progress = sh.Progress.Share("matching")
	scores, peaks, err := work.apply(src.Image)
	tellFailed(sh, work.job.Options.On)
	if err != nil {
		return nil, err
	}
	var places []matchPlace
	for _, p := range peaks {
		if c.Least != nil && match.Method(work.job.Method).Better(float32(*c.Least), p.Score) {
			continue
		}
		place := matchPlace{X: json.Number(strconv.Itoa(p.X)), Y: json.Number(strconv.Itoa(p.Y)), Score: json.Number(strconv.FormatFloat(float64(p.Score), 'g', -1, 32))}
		if c.Subpixel {
			place.X, place.Y = json.Number(strconv.FormatFloat(p.SubX, 'f', 3, 64)), json.Number(strconv.FormatFloat(p.SubY, 'f', 3, 64))
		}
		places = append(places, place)
	}
	if c.Out == "" {
		return places, nil
	}
	return places, imagefile.Save(sh, c.Out, 0, func(w io.Writer) error {
		if format == "npy" || format == "tiff" {
			return imgio.Encode(w, format, scores)
		}
		shown, err := shownScores(scores, match.Method(work.job.Method))
		if err != nil {
			return err
		}
		return imgio.Encode(w, format, shown)
	})
}

// apply computes the scores of an image. If the types of image and template differ,
// both are converted to float64.
func (w *matchWork) apply(img raster.Array) (boxsum.Image[float32], []match.Peak, error) {
	var scores boxsum.Image[float32]
	j := w.job
	j.Src, j.Template = img, w.template
	if j.Src.Type != j.Template.Type || !filters.TakesPixels(j.Src.Type) {
		var err error
		if j.Src, err = asDoubles(img); err != nil {
			return scores, nil, err
		}
		if j.Template, err = asDoubles(w.template); err != nil {
			return scores, nil, err
		}
	}
	made, err := j.Make()
	if err != nil {
		return scores, nil, err
	}
	scores = boxsum.Image[float32]{Pix: raster.Elems[float32](made.Data), Stride: made.Stride, Width: made.Width, Height: made.Height, Channels: 1}
	apart := image.Pt(w.apart, w.apart)
	if w.apart < 0 {
		apart = image.Pt(max(1, j.Template.Width/2), max(1, j.Template.Height/2))
	}
	peaks, err := match.Peaks(scores, match.Method(j.Method), w.top, apart)
	return scores, peaks, err
}

// asDoubles converts an image to float64.
func asDoubles(img raster.Array) (raster.Array, error) {
	switch {
	case img.Type == raster.F64:
		return img, nil
	case !imagefile.IsImage(img.Type):
		return img, fmt.Errorf("pixels of %v cannot be matched, want integers of at most 32 bits or floats", img.Type)
	}
	return imagefile.Converted(img, imagefile.Same)
}

// shownScores converts scores to a picture: -1 is black and 1 is white. For SSD, 0 is white.
func shownScores(scores boxsum.Image[float32], m match.Method) (any, error) {
	most := float32(0)
	for y := 0; y < scores.Height && m == match.SSD; y++ {
		for _, v := range scores.Row(y) {
			if v > most && !math.IsInf(float64(v), 1) {
				most = v
			}
		}
	}
	return imagefile.Encodable(imagefile.Converted(pixels.Of(scores), func(score float64) uint8 {
		v := float32(score)
		part := (v + 1) / 2
		if m == match.SSD {
			part = 1 - v/max(most, 1e-30)
		}
		if !(part > 0) {
			return 0
		}
		return uint8(min(part, 1)*255 + 0.5)
	}))
}
