package windows

import (
	"fmt"
	"image"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/boxsum/boxsum/internal/boxlets"
	"github.com/boxsum/boxsum/internal/cli/console"
	"github.com/boxsum/boxsum/internal/cli/imagefile"
	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/internal/window"
)

// Boxes implements the boxes command.
type Boxes struct {
	Ins             []string `arg:"" optional:"" name:"IN" help:"Image (PNG, JPEG, GIF, BMP, TIFF, WebP, PNM) or .npy array; - is standard input. Several are processed in turn; one that fails does not stop the others."`
	Demo            bool     `help:"Filter a picture of 1920×1080 that boxsum draws, instead of IN."`
	Out             string   `short:"o" placeholder:"OUT" help:"Output file: .npy, or a picture, .png, .pgm, .ppm or .tiff, which holds floats; - is .npy on standard output. For several images, a folder such as maps/."`
	Box             []string `sep:"none" placeholder:"X0,Y0,X1,Y1,W" help:"A box around every pixel, and the weight of its sum; may be repeated."`
	DoB             int      `name:"dob" placeholder:"N" help:"Difference of boxes of scale N, as in CenSurE: greatest in dark squares of 2N+1 pixels a side."`
	Hessian         float64  `placeholder:"SIGMA" help:"Determinant of the Hessian, as in SURF and scikit-image: greatest in blobs whose radius is about SIGMA."`
	Targets         float64  `placeholder:"RATE" help:"Mark pixels that stand out from the noise around them with this rate of false alarms (CA-CFAR)."`
	Guard           int      `default:"2" placeholder:"N" help:"Distance in pixels up to which --targets ignores the surroundings of a pixel (default ${default})."`
	Train           int      `default:"8" placeholder:"N" help:"Width in pixels of the ring around them, whose mean is taken for that of the noise (default ${default})."`
	Amplitudes      bool     `help:"For --targets: pixels are amplitudes, not powers."`
	Despeckle       string   `placeholder:"METHOD" help:"Remove speckle from intensities: lee, kuan, frost or gamma-map."`
	Window          int      `default:"7" placeholder:"N" help:"Side of the windows of --despeckle, an odd number of pixels (default ${default})."`
	Looks           float64  `default:"1" placeholder:"N" help:"For --despeckle: number of looks averaged in the image, which is the squared ratio of mean to standard deviation in a flat area (default ${default})."`
	Damping         float64  `default:"2" placeholder:"N" help:"How fast the weights of --despeckle frost decrease (default ${default})."`
	Border          string   `enum:"reflect101,reflect,replicate,wrap,clip" default:"reflect101" help:"Pixels outside the image for --box and --dob: reflect101, reflect, replicate, wrap, or clip, which adds nothing (default ${default})."`
	Workers         int      `placeholder:"N" help:"Maximum number of threads (default: one per processor)."`
	JSON            bool     `name:"json" help:"Print JSON instead of the line."`
	imagefile.Flags `set:"color=auto"`
}

// A boxesReport describes what boxes did.
type boxesReport struct {
	inputReport
	Filter string `json:"filter"`
	Found  *int   `json:"found,omitempty"` // targets
	outputReport
}

// String returns the report as one line.
func (r *boxesReport) String() string {
	found := ""
	if r.Found != nil {
		found = fmt.Sprintf(", %d found", *r.Found)
	}
	return fmt.Sprintf("%v, %s%s, %v", r.inputReport, r.Filter, found, r.outputReport)
}

// job returns the filter that the flags name, without an image, and its name.
func (c *Boxes) job() (j *boxlets.Job, name string, err error) {
	asked := 0
	for _, given := range []bool{len(c.Box) > 0, c.DoB != 0, c.Hessian != 0, c.Targets != 0, c.Despeckle != ""} {
		if given {
			asked++
		}
	}
	if asked != 1 {
		return nil, "", console.Usage("give one of --box, --dob, --hessian, --targets and --despeckle")
	}
	j = new(boxlets.Job)
	j.Border, err = window.ParseBorder(c.Border)
	switch {
	case err != nil:
	case c.DoB != 0:
		name = "difference of boxes"
		j.Boxes, err = boxlets.DifferenceOfBoxes(c.DoB)
	case c.Hessian != 0:
		name = "Hessian"
		j.Kind, j.Sigma = boxlets.Hessian, c.Hessian
	case c.Targets != 0:
		name = "targets"
		j.Kind, j.FalseAlarms, j.Guard, j.Train, j.Amplitudes = boxlets.Targets, c.Targets, c.Guard, c.Train, c.Amplitudes
	case c.Despeckle != "":
		name = c.Despeckle
		j.Kind, j.Size, j.Looks, j.Damping = boxlets.Speckle, c.Window, c.Looks, c.Damping
		j.Method, err = boxlets.ParseMethod(c.Despeckle)
	default:
		name = fmt.Sprintf("%d boxes", len(c.Box))
		for _, text := range c.Box {
			var b boxlets.Box
			if b, err = parseBox(text); err != nil {
				break
			}
			j.Boxes = append(j.Boxes, b)
		}
	}
	return j, name, err
}

// parseBox parses a box and its weight.
func parseBox(text string) (b boxlets.Box, err error) {
	fields := strings.Split(text, ",")
	if len(fields) != 5 {
		return b, console.Usage("--box %q: want X0,Y0,X1,Y1,WEIGHT, such as -8,-8,0,9,-1", text)
	}
	var corners [4]int
	for i := range corners {
		if corners[i], err = strconv.Atoi(fields[i]); err != nil {
			return b, console.Usage("--box %q: %q is not a whole number", text, fields[i])
		}
	}
	b.Rectangle = image.Rectangle{Min: image.Pt(corners[0], corners[1]), Max: image.Pt(corners[2], corners[3])}
	if b.Weight, err = strconv.ParseFloat(fields[4], 64); err != nil {
		return b, console.Usage("--box %q: %q is not a number", text, fields[4])
	}
	return b, nil
}

// Run filters the images and reports.
func (c *Boxes) Run(sh *console.Shell) error {
	images := batch{c.Ins, c.Demo, c.Out, c.JSON, "maps", func(string) string { return ".npy" }}
	if err := imagefile.CheckLast(c.Ins, c.Out); err != nil {
		return err
	}
	_, name, err := c.job()
	if err != nil {
		return err
	}
	if err := images.check(); err != nil {
		return err
	}
	return images.run(sh, func(in, out string) (report, error) { return c.one(sh, name, in, out) })
}

// one filters one image.
func (c *Boxes) one(sh *console.Shell, name, in, out string) (report, error) {
	format, err := imagefile.FormatOf(out, "npy")
	if err != nil {
		return nil, err
	}
	src, err := openPages(sh, in, out, c.Flags, c.Demo)
	if err != nil {
		return nil, err
	}
	defer src.Close()
	r := &boxesReport{inputReport: newInputReport(src), Filter: name, outputReport: outputReport{Out: out}}
	return r, imagefile.SavePages(sh, out, format, src, func() (any, error) {
		start := time.Now()
		img, err := c.filtered(sh, src.Image)
		r.took(start)
		if err != nil {
			return nil, err
		}
		if c.Targets != 0 {
			r.countTargets(img)
		}
		if format != "npy" && (c.Targets != 0 || format != "tiff") {
			img, err = c.drawn(img, src.Image.Type)
		}
		return imagefile.Encodable(img, err)
	})
}

// filtered returns the result for an image.
func (c *Boxes) filtered(sh *console.Shell, img raster.Array) (raster.Array, error) {
	if !boxlets.TakesPixels(img.Type) {
		return img, fmt.Errorf("pixels of %v cannot be filtered, want uint8, uint16, float32 or float64", img.Type)
	}
	j, _, err := c.job()
	if err != nil {
		return img, err
	}
	j.Src = img
	j.Options.Workers, j.Options.Context, j.Options.Progress = c.Workers, sh.Ctx, sh.Progress.Share("filtering")
	if err := j.Check(); err != nil {
		return img, err
	}
	result := raster.F32
	switch {
	case c.Targets != 0:
		result = raster.U8
	case img.Type == raster.F64:
		result = raster.F64
	}
	if j.Dst, err = raster.NewPixelArray(result, raster.PlaneExtent(img.Width, img.Height, img.Channels, 0)); err != nil {
		return img, err
	}
	return j.Dst, j.Run()
}

// countTargets adds the targets of an image to those of its other pages.
func (r *boxesReport) countTargets(img raster.Array) {
	if r.Found == nil {
		r.Found = new(int)
	}
	for y := range img.Height {
		for _, v := range img.Row(y) {
			*r.Found += int(v)
		}
	}
}

// drawn returns a picture of a result for an image with pixels of a type: targets are white, intensities are rounded, and other results
// are gray where they are 0.
func (c *Boxes) drawn(img raster.Array, pixel raster.Type) (raster.Array, error) {
	switch {
	case c.Targets != 0:
		whiten(img)
		return img, nil
	case c.Despeckle != "" && pixel == raster.U16:
		return scaled[uint16](img, func(v float64) float64 { return v }, 65535)
	case c.Despeckle != "" && pixel == raster.U8:
		return scaled[uint8](img, func(v float64) float64 { return v }, 255)
	case c.Despeckle != "":
		return img, fmt.Errorf("intensities of %v cannot be shown as gray levels: write them as .tiff or .npy", pixel)
	}
	most := 0.0
	_, err := imagefile.Converted(img, func(v float64) uint8 {
		most = max(most, math.Abs(v))
		return 0
	})
	if err != nil || most == 0 {
		most = 1
	}
	return imagefile.Converted(img, func(v float64) uint8 { return uint8(math.Floor(127.5 + 127.5*v/most + 0.5)) })
}
