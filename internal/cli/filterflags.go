package cli

import (
	"cmp"
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/filter"
	"github.com/boxsum/boxsum/imgio"
)

// filterFlags are those of all commands that make images from windows.
type filterFlags struct {
	Border  string  `enum:"reflect101,reflect,replicate,constant,wrap,clip" default:"reflect101" help:"What windows find outside of the image: reflect101 (dcb|abcd|cba), reflect (cba|abcd|dcb), replicate (aaa|abcd|ddd), constant (see --value), wrap (bcd|abcd|abc), or clip: nothing, so that a mean is that of the pixels which are there."`
	Value   float64 `placeholder:"V" help:"What is outside of the image with --border constant (0)."`
	Workers int     `placeholder:"N" help:"Goroutines to use at most; all processors unless told."`
	Level   string  `enum:"auto,portable,avx2,avx512,neon" default:"auto" help:"Instructions to use: auto (the best there are), portable, avx2 or avx512, or neon on arm64."`
	JSON    bool    `name:"json" help:"Print JSON instead of the line."`
}

// options are those of package filter.
func (f *filterFlags) options() (*filter.Options, error) {
	if f.Workers < 0 {
		return nil, usage("--workers %d is negative: give a positive number, or leave it out to use all processors", f.Workers)
	}
	border, err := filter.ParseBorder(f.Border)
	if err != nil {
		return nil, usage("--border: %w", err)
	}
	if f.Value != 0 && border != filter.Constant {
		return nil, usage("--value is for --border constant, and not for %v", border)
	}
	level, err := boxsum.ParseLevel(f.Level)
	if err != nil {
		return nil, err
	}
	return &filter.Options{Border: border, Value: f.Value, Workers: cmp.Or(f.Workers, runtime.GOMAXPROCS(0)), Level: level}, nil
}

// A windowFlag is WIDTHxHEIGHT, or one number for both.
type windowFlag struct {
	filter.Window
	given bool
}

func parseWindow(text string) (w windowFlag, err error) {
	across, down, two := strings.Cut(strings.TrimSpace(text), "x")
	if !two {
		down = across
	}
	sides := [2]int{}
	for i, side := range []string{across, down} {
		n, err := strconv.Atoi(side)
		if err != nil || n < 1 {
			return w, fmt.Errorf("window %.60q is not a size in pixels, from 1 on, such as 31 or 31x15", text)
		}
		sides[i] = n
	}
	return windowFlag{filter.Window{Width: sides[0], Height: sides[1]}, true}, nil
}

func (w windowFlag) String() string { return fmt.Sprintf("%d×%d", w.Width, w.Height) }

// jpegFormat is written where it is asked for by name: what was read from it has lost enough.
const jpegFormat = "jpeg"

// imageFormat is the format of an output path for an image. Standard output and devices
// take the given one. JPEG is among more where a picture is for the eye: it changes numbers.
func imageFormat(path, otherwise string, more ...string) (string, error) {
	switch format, ok := imgio.FormatOf(path); {
	case path == "":
		return "", usage("no output: name a file with -o")
	case ok && format == jpegFormat && !slices.Contains(more, ".jpg"):
		return "", usage("%s: JPEG would change what was made: write it as .png", path)
	case ok && path != standard:
		return format, checkFolder(path)
	case path == standard || isDevice(path):
		return otherwise, nil
	}
	for _, extension := range more {
		if strings.HasSuffix(strings.ToLower(path), extension) {
			return extension[1:], checkFolder(path)
		}
	}
	names := append([]string{".png", ".tiff", ".pgm", ".ppm", ".npy"}, more...)
	return "", usage("%s: unknown extension: images are written as %s", path, strings.Join(names, ", "))
}

// kept reports whether results are written in a format because their image came in it: JPEG and GIF change pixels.
func kept(format string) bool { return slices.Contains([]string{"png", "tiff", "pnm", "npy"}, format) }

// formatLike is the format of an image's file where results are kept in it, and else PNG.
func formatLike(src *source) string {
	if kept(src.format) {
		return src.format
	}
	return "png"
}

// extensionLike is the same for the name of a file that is yet to be read.
func extensionLike(in string) string {
	if format, ok := imgio.FormatOf(in); ok && kept(format) {
		return in[strings.LastIndexByte(in, '.'):]
	}
	return ".png"
}

// A filterReport is what blur and local say that they did.
type filterReport struct {
	extent
	In           string    `json:"in,omitempty"` // where there are several
	Pixels       string    `json:"pixels"`       // as in u8
	Filters      []string  `json:"filters"`
	Window       []int     `json:"window,omitempty"`
	Sigma        []float64 `json:"sigma,omitempty"`
	Border       string    `json:"border"`
	Workers      int       `json:"workers,omitempty"`
	RowByRow     bool      `json:"row_by_row,omitempty"` // with the time of writing the file
	Milliseconds float64   `json:"ms"`
	Out          string    `json:"out,omitempty"`
}

// String is the report in one line.
func (r filterReport) String() string {
	s := fmt.Sprintf("%v %s, %s", r.extent, r.Pixels, strings.Join(r.Filters, ", "))
	switch {
	case r.Sigma != nil && r.Sigma[0] == r.Sigma[1]:
		s += " σ " + rounded(r.Sigma[0])
	case r.Sigma != nil:
		s += fmt.Sprintf(" σ %s×%s", rounded(r.Sigma[0]), rounded(r.Sigma[1]))
	default:
		s += fmt.Sprintf(" %d×%d", r.Window[0], r.Window[1])
	}
	s += fmt.Sprintf(", %s, %s", r.Border, count(r.Workers, "worker"))
	if r.RowByRow {
		s += ", row by row"
	}
	return s + fmt.Sprintf(", %s → %s", timeText(r.Milliseconds), nameOf(r.Out))
}

// printFilter reports on standard output, unless the image went there.
func (f *filterFlags) print(sh *shell, r filterReport) error {
	w := sh.reports(r.Out)
	if f.JSON {
		return printJSON(w, r)
	}
	_, err := fmt.Fprintln(w, r)
	return err
}
