package windows

import (
	"cmp"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/cli/console"
	"github.com/boxsum/boxsum/internal/cli/display"
	"github.com/boxsum/boxsum/internal/cli/imagefile"
	"github.com/boxsum/boxsum/internal/filters"
	"github.com/boxsum/boxsum/internal/pixels"
	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/internal/window"
)

// filterFlags are shared by the commands that filter images.
type filterFlags struct {
	Border string  `enum:"reflect101,reflect,replicate,constant,wrap,clip" default:"reflect101" help:"Pixels outside the image: reflect101 (dcb|abcd|cba), reflect (cba|abcd|dcb), replicate (aaa|abcd|ddd), constant (see --value), wrap (bcd|abcd|abc), or clip: none, so that a mean is that of the pixels inside."`
	Value  float64 `placeholder:"V" help:"Value of the pixels outside with --border constant (default 0)."`
	NaN    string  `name:"nan" enum:"keep,skip" default:"keep" help:"How to treat NaN: with keep, every window that contains NaN gives NaN; skip leaves such pixels out. For boxes, means and deviations."`
	Mask   string  `placeholder:"FILE" help:"Leave out pixels where this image or .npy array of the same size is zero; one channel applies to all. For boxes, means and deviations."`
	place
	JSON bool `name:"json" help:"Print JSON instead of the line."`
}

// options returns the options for filters.
func (f *filterFlags) options() (opt filters.Options, err error) {
	if err := f.check(); err != nil {
		return opt, err
	}
	border, err := window.ParseBorder(f.Border)
	if err != nil {
		return opt, console.Usage("--border: %w", err)
	}
	if f.Value != 0 && border != window.Constant {
		return opt, console.Usage("--value is for --border constant, and not for %v", border)
	}
	level, err := boxsum.ParseLevel(f.Level)
	if err != nil {
		return opt, err
	}
	opt.Border, opt.Value = border, f.Value
	opt.Workers, opt.Level = cmp.Or(f.Workers, runtime.GOMAXPROCS(0)), level.String()
	return opt, nil
}

// checkValid returns an error if --nan skip or --mask cannot be combined with a filter, which
// flag selects.
func (f *filterFlags) checkValid(kind filters.Kind, flag string) error {
	switch {
	case !f.valid():
		return nil
	case kind > filters.Normalized:
		return console.Usage("--nan skip and --mask are for boxes, means and deviations: leave out %s", flag)
	case f.onGPU():
		return console.Usage("--nan skip and --mask are for the CPU: leave out --on %s", f.On)
	case f.Mask == console.Standard:
		return console.Usage("--mask cannot be standard input: name a file")
	}
	return nil
}

// valid reports whether some pixels may be invalid.
func (f *filterFlags) valid() bool { return f.NaN == "skip" || f.Mask != "" }

// setValid sets which pixels are valid. It reads the mask.
func (f *filterFlags) setValid(sh *console.Shell, how *imagefile.Flags, opt *filters.Options) error {
	opt.SkipNaN = f.NaN == "skip"
	if f.Mask == "" {
		return nil
	}
	mask, err := imagefile.ReadMask(sh, f.Mask, how)
	opt.Mask = pixels.Of(mask)
	return err
}

// tellNaN notes that NaN in an image spreads over the windows that contain it.
func (f *filterFlags) tellNaN(sh *console.Shell, in string, src raster.Array, kind filters.Kind) {
	if f.valid() || kind > filters.Normalized || !src.Type.Float() {
		return
	}
	var row []float64
	for y := range src.Height {
		if sh.Ctx.Err() != nil { // the file may be mapped, and larger than memory
			return
		}
		row = src.Floats(row[:0], y, 0, src.Width*src.Channels, 1)
		if slices.ContainsFunc(row, math.IsNaN) {
			sh.Say(imagefile.InputName(in) + " contains NaN, and so does the result where a window contains one (use --nan skip to leave such pixels out)")
			return
		}
	}
}

// openOn opens the selected device.
func (f *filterFlags) openOn(opt *filters.Options) error {
	d, err := f.open()
	if d != nil {
		opt.On = d
	}
	return err
}

// A filterReport describes what blur or local did.
type filterReport struct {
	inputReport
	Filters []string  `json:"filters"`
	Window  []int     `json:"window,omitempty"`
	Sigma   []float64 `json:"sigma,omitempty"`
	Passes  int       `json:"passes,omitempty"` // boxes of a Gaussian
	Border  string    `json:"border"`
	placeReport
	RowByRow bool `json:"row_by_row,omitempty"` // the time includes writing the file
	outputReport
}

// String returns the report as one line.
func (r *filterReport) String() string {
	s := fmt.Sprintf("%v, %s", r.inputReport, strings.Join(r.Filters, ", "))
	switch {
	case r.Sigma != nil && r.Sigma[0] == r.Sigma[1]:
		s += " σ " + display.Rounded(r.Sigma[0])
	case r.Sigma != nil:
		s += fmt.Sprintf(" σ %s×%s", display.Rounded(r.Sigma[0]), display.Rounded(r.Sigma[1]))
	default:
		s += fmt.Sprintf(" %d×%d", r.Window[0], r.Window[1])
	}
	switch {
	case r.Passes == 1:
		s += " by 1 box"
	case r.Passes > 1:
		s += fmt.Sprintf(" by %d boxes", r.Passes)
	}
	if r.Passes > 0 && r.Sigma[0] == r.Sigma[1] {
		if boxes := sigmaOfBoxes(r.Sigma[0], r.Passes); math.Abs(boxes-r.Sigma[0]) > 0.05*r.Sigma[0] {
			s += fmt.Sprintf(" (σ %s)", display.Rounded(boxes))
		}
	}
	s += fmt.Sprintf(", %s, %v", r.Border, r.placeReport)
	if r.RowByRow {
		s += ", row by row"
	}
	return fmt.Sprintf("%s, %v", s, r.outputReport)
}
