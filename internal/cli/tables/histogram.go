package tables

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"io"
	"math"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/histogram"
	"github.com/boxsum/boxsum/internal/cli/console"
	"github.com/boxsum/boxsum/internal/cli/display"
	"github.com/boxsum/boxsum/internal/cli/flags"
	"github.com/boxsum/boxsum/internal/cli/imagefile"
	"github.com/boxsum/boxsum/internal/raster"
)

// Histogram implements the histogram command.
type Histogram struct {
	In      string      `arg:"" optional:"" name:"IN" help:"Image (PNG, JPEG, GIF, BMP, TIFF, WebP, PNM) or .npy array; - is standard input."`
	Demo    bool        `help:"Count a picture of 1920×1080 that boxsum draws, instead of IN."`
	Bins    int         `default:"32" placeholder:"N" help:"Number of bins, 2 to 256 (default ${default})."`
	Range   flags.Range `placeholder:"LOW,HIGH" help:"Values to divide into bins. Default: all values of 8- and 16-bit pixels; for others, from the smallest to the largest pixel."`
	Weights string      `placeholder:"FILE" help:"Gray image or .npy array of IN's size with the weight of each pixel, such as 0 and 1 of a mask. White in a 1-bit picture is 1."`
	Clamp   bool        `help:"Count values out of range in the first or last bin instead of ignoring them."`
	Out     string      `short:"o" placeholder:"OUT" help:"Output file: .npy, .npz (keys histogram and edges), or .png (the image with its boxes and their histograms); - is .npy on standard output."`
	Box     boxList     `placeholder:"X0,Y0,X1,Y1" help:"Box whose histogram to print, which excludes column X1 and row Y1. May be repeated."`
	Boxes   string      `placeholder:"FILE" help:"File with a box per line, its numbers separated by commas, spaces or tabs; - is standard input. # starts a comment. A header may name the columns: x0,y0,x1,y1 or x,y,width,height."`
	imagefile.Flags
	Workers int `placeholder:"N" help:"Maximum number of threads (default: one per processor)."`
	flags.Place
	JSON bool `name:"json" help:"Print JSON."`

	announce func(bytes int64) // reports how much memory will be allocated
}

// Run makes the table, writes it, and prints the requested boxes.
func (c *Histogram) Run(sh *console.Shell) error {
	if c.Workers < 0 {
		return console.Usage("--workers %d: want 1 or more (without --workers, all processors work)", c.Workers)
	}
	switch {
	case c.OnGPU() && c.Workers != 0:
		return console.Usage("--workers is for the CPU: leave it out with --on %s", c.On)
	case c.OnGPU() && c.Weights != "":
		return console.Usage("--weights is for the CPU: leave out --on %s", c.On)
	case c.Weights == console.Standard && c.In == console.Standard:
		return console.Usage("the image and its weights cannot both come from standard input")
	}
	if _, err := histogram.Bytes[uint32](0, 0, 1, c.Bins); err != nil {
		return console.Usage("--bins %d: want %d to %d", c.Bins, histogram.MinBins, histogram.MaxBins)
	}
	out, err := formatOf(c.Out, "histograms", false, false)
	if err != nil {
		return err
	}
	boxes, err := console.Await(sh.Ctx, func() ([]box, error) { return boxesOf(c.Box, c.Boxes, c.In, sh.Stdin, 4) })
	if err != nil {
		return err
	}
	src, err := imagefile.OpenOn(sh, &c.Place, func() (*imagefile.Source, error) { return imagefile.OpenOrDemo(sh, c.In, c.Out, &c.Flags, c.Demo) })
	if err != nil {
		return err
	}
	defer src.Close()
	if src.Element == "int8" && !c.Range.Given {
		c.Range = flags.Range{Low: math.MinInt8, High: math.MaxInt8 + 1, Given: true}
	}
	var weights raster.Array // without a type if every pixel counts as 1
	if c.Weights != "" {
		other, err := imagefile.OpenOrDemo(sh, c.Weights, c.Out, &imagefile.Flags{Color: "gray", AsStored: c.AsStored}, false)
		if err != nil {
			return err
		}
		defer other.File.Close()
		weights = imagefile.AsMask(other)
	}
	opt := &boxsum.Options{Workers: cmp.Or(c.Workers, runtime.GOMAXPROCS(0))}
	c.announce = func(bytes int64) { *opt = *watched(sh, opt, "counting, "+display.Bytes(bytes), src.Device) }
	work, err := newHistogram(c, src.Image, weights, src.Device, opt)
	if err = cmp.Or(err, sh.Ctx.Err()); err != nil {
		return err
	}
	if len(boxes) == 0 && c.Boxes == "" && (c.Out == "" || strings.EqualFold(filepath.Ext(c.Out), ".png")) {
		boxes = []box{{0, 0, work.Width, work.Height}}
	}
	report := histogramReport{
		Extent: work.Extent,
		Bins:   work.bins.N, Range: [2]float64{work.bins.Low, work.bins.High}, Weighted: weights.Type != 0,
		Milliseconds: float64(work.took) / float64(time.Millisecond), Bytes: work.bytes, Out: c.Out,
	}
	report.On, report.Device = flags.PlaceOf(src.Device)
	for _, b := range boxes {
		work.boxes = append(work.boxes, work.ask(b))
	}
	if err := save(sh, c.Out, out, work); err != nil {
		return err
	}
	return c.print(sh, report, work)
}

// A boxHistogram holds the results for one box: for every channel, or for the only one.
type boxHistogram struct {
	Box     box `json:"box"`
	Area    int `json:"area"`
	Counts  any `json:"counts"`
	Median  any `json:"median"` // bounds of the median's bin, or null if no pixel was counted
	Mode    any `json:"mode"`
	Entropy any `json:"entropy"`

	channels []channelHistogram
}

func (w *histogramWork) ask(b box) boxHistogram {
	clipped := b.rectangle().Intersect(image.Rect(0, 0, w.Width, w.Height))
	a := boxHistogram{Box: b, Area: clipped.Dx() * clipped.Dy()}
	var counts, median, mode, entropy []any
	edges := func(bin int) any {
		if bin < 0 {
			return nil
		}
		return [2]float64{w.bins.Edge(bin), w.bins.Edge(bin + 1)}
	}
	for c := range w.Channels {
		h := w.of(clipped, c)
		a.channels = append(a.channels, h)
		counts, median, mode, entropy = append(counts, h.counts), append(median, edges(h.median)), append(mode, edges(h.mode)), append(entropy, h.entropy)
	}
	a.Counts, a.Median, a.Mode, a.Entropy = display.OneOrAll(counts), display.OneOrAll(median), display.OneOrAll(mode), display.OneOrAll(entropy)
	return a
}

// A histogramReport describes the table and the results.
type histogramReport struct {
	imagefile.Extent
	Bins         int        `json:"bins"`
	Range        [2]float64 `json:"range"`
	Weighted     bool       `json:"weighted,omitempty"`
	On           string     `json:"on"`
	Device       string     `json:"device,omitempty"` // name of the GPU
	Milliseconds float64    `json:"ms"`
	Bytes        int64      `json:"bytes"` // size of the table
	Out          string     `json:"out,omitempty"`
}

// print prints the report on standard output, or on standard error if the table was written to
// standard output.
func (c *Histogram) print(sh *console.Shell, r histogramReport, work *histogramWork) error {
	w := bufio.NewWriter(sh.Reports(c.Out))
	if c.JSON {
		return errors.Join(printHistogramJSON(w, r, work.boxes), w.Flush())
	}
	asked := len(c.Box) > 0 || c.Boxes != "" || c.Out == ""
	if asked && len(work.boxes) > 0 {
		if err := display.Columns(w, work.columns()); err != nil {
			return err
		}
	}
	if c.Out != "" {
		fmt.Fprintln(w, r)
	}
	return w.Flush()
}

// printHistogramJSON prints an object, with each box on its own line.
func printHistogramJSON(w io.Writer, r histogramReport, boxes []boxHistogram) error {
	head, err := json.Marshal(r)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "%s,\"boxes\":", head[:len(head)-1])
	if err := display.JSONLines(w, boxes); err != nil {
		return err
	}
	_, err = fmt.Fprintln(w, "}")
	return err
}

// String returns the report as one line.
func (r histogramReport) String() string {
	s := fmt.Sprintf("%v, %d bins from %g to %g", r.Extent, r.Bins, r.Range[0], r.Range[1])
	if r.Weighted {
		s += ", weighted"
	}
	if r.Device != "" {
		s += fmt.Sprintf(", %s on %s", r.On, console.Escape(r.Device))
	}
	return s + fmt.Sprintf(", %s, %s → %s", display.Bytes(r.Bytes), display.Duration(r.Milliseconds), imagefile.NameOf(r.Out))
}

// columns returns a table with a row for every bin and a column for every channel of every box.
func (w *histogramWork) columns() [][]string {
	bins := w.bins
	name := func(bin int) string {
		switch {
		case bin < 0:
			return "-"
		case w.whole:
			return fmt.Sprint(bins.Edge(bin))
		}
		return fmt.Sprintf("%.6g to %.6g", bins.Edge(bin), bins.Edge(bin+1))
	}
	rows := [][]string{{"bin"}}
	for i := range bins.N {
		rows = append(rows, []string{name(i)})
	}
	channel := []string{"channel"}
	last := [4][]string{{"area"}, {"median"}, {"mode"}, {"entropy"}}
	for _, b := range w.boxes {
		for c, h := range b.channels {
			rows[0] = append(rows[0], b.Box.String())
			channel = append(channel, strconv.Itoa(c))
			for i, n := range h.texts {
				rows[1+i] = append(rows[1+i], n)
			}
			for i, text := range []string{strconv.Itoa(b.Area), name(h.median), name(h.mode), fmt.Sprintf("%.5g", h.entropy)} {
				last[i] = append(last[i], text)
			}
		}
	}
	if w.Channels > 1 {
		rows = append(rows[:1:1], append([][]string{channel}, rows[1:]...)...)
	}
	return append(rows, last[:]...)
}

// digits formats a number with all its digits, using an exponent only for very small or large
// numbers.
func digits[S boxsum.Sum](n S) string {
	switch f := float64(n); {
	case raster.TypeOf[S]() != raster.F64:
		return fmt.Sprint(n)
	case f != 0 && math.Abs(f) < 1e-5:
		return strconv.FormatFloat(f, 'g', -1, 64)
	}
	return display.Plain(float64(n))
}
