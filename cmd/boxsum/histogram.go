package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/png"
	"io"
	"iter"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/alecthomas/kong"
	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/histogram"
	"github.com/boxsum/boxsum/imgio"
)

type histogramCmd struct {
	In      string    `arg:"" optional:"" name:"IN" help:"Image (PNG, JPEG, GIF, BMP, TIFF, WebP, PNM) or .npy array; - is standard input."`
	Demo    bool      `help:"Count a picture of 1920×1080 that boxsum draws itself, instead of IN."`
	Bins    int       `default:"32" placeholder:"N" help:"How many bins, 2 to 256 (${default})."`
	Range   rangeFlag `placeholder:"LOW,HIGH" help:"Values to cut into bins. Unless told, all that 8- and 16-bit pixels can have; for others, from the smallest to the largest of the image."`
	Clamp   bool      `help:"Count what is out of range in the first or last bin, and not in none."`
	Out     string    `short:"o" placeholder:"OUT" help:"Where the table goes: .npy, .npz (keys histogram and edges), or .png (the image with its boxes and their histograms); - is .npy on standard output."`
	Box     boxList   `placeholder:"X0,Y0,X1,Y1" help:"Box whose histogram to print, from its first column and row up to, not with, X1 and Y1. May be given again."`
	Boxes   string    `placeholder:"FILE" help:"File with a box on every line; - is standard input."`
	Color   string    `enum:"gray,keep" default:"gray" help:"What to do with colour: gray makes one channel of it, keep has a histogram for each. Arrays (.npy) keep theirs."`
	Workers int       `placeholder:"N" help:"Goroutines to use at most; all processors unless told."`
	JSON    bool      `name:"json" help:"Print JSON."`
}

// Help is the long help of the command.
func (*histogramCmd) Help() string {
	return `The integral histogram of a W×H image has (H+1)×(W+1) histograms: entry (x,y) counts the pixels above and to the left of it. As an array it has the shape (H+1, W+1, bins), and (H+1, W+1, channels, bins) with several channels. It takes 4 bytes a count: 266 MB for 1920×1080 pixels in 32 bins.

Boxes are clipped to the image. Without any, and without an output, the histogram of the whole image is printed. Median and mode are the bins that they are in, and the entropy is in bits.

Examples:

    boxsum histogram --demo --bins 64 --box 1050,290,1330,570 --box 0,800,700,1080 -o look.png
    boxsum histogram photo.jpg --bins 32 -o table.npy
    boxsum histogram photo.jpg --box 0,0,64,64 --box 64,0,128,64
    boxsum histogram photo.jpg --color keep --box 0,0,64,64 -o look.png
    boxsum histogram depth.npy --bins 100 --range 0,5 --clamp --json`
}

// Run makes the table, writes it and prints what is asked of it.
func (c *histogramCmd) Run(sh *shell) error {
	if c.Workers < 0 {
		return fmt.Errorf("--workers %d is negative: give a positive number, or leave it out to use all processors", c.Workers)
	}
	if _, err := histogram.Bytes[uint32](0, 0, 1, c.Bins); err != nil {
		return fmt.Errorf("--bins: %w", err)
	}
	if err := c.checkOut(); err != nil {
		return err
	}
	boxes, err := await(sh.ctx, func() ([]box, error) { return c.boxes(sh.stdin) })
	if err != nil {
		return err
	}
	img, closeImage, err := c.image(sh)
	if err != nil {
		return err
	}
	defer closeImage()
	opt := &boxsum.Options{Workers: cmp.Or(c.Workers, runtime.GOMAXPROCS(0))}
	sh.progress.begin("counting", 0)
	work, err := c.work(img, opt)
	if err = cmp.Or(err, sh.ctx.Err()); err != nil {
		return err
	}
	if len(boxes) == 0 && (c.Out == "" || strings.EqualFold(filepath.Ext(c.Out), ".png")) {
		boxes = []box{{0, 0, work.table.Width, work.table.Height}}
	}
	report := histogramReport{
		Width: work.table.Width, Height: work.table.Height, Channels: work.table.Channels,
		Bins: work.table.Bins.N, Range: [2]float64{work.table.Bins.Low, work.table.Bins.High},
		Milliseconds: float64(work.took) / float64(time.Millisecond), Bytes: int64(len(work.table.Counts)) * 4, Out: c.Out,
	}
	for _, b := range boxes {
		report.Boxes = append(report.Boxes, work.ask(b))
	}
	if c.Out != "" {
		if err := sh.save(c.Out, work.format(c.Out, report), nil); err != nil {
			return err
		}
	}
	return c.print(sh, report, work)
}

// checkOut finds out before the work that an output cannot be written.
func (c *histogramCmd) checkOut() error {
	switch strings.ToLower(filepath.Ext(c.Out)) {
	case ".npy", ".npz", ".png":
	default:
		if c.Out != "" && c.Out != standard {
			return fmt.Errorf("%s: unknown extension %q: histograms are written as .npy, .npz, .png", c.Out, filepath.Ext(c.Out))
		}
	}
	return checkFolder(c.Out)
}

// image is what to count, and how to let go of it.
func (c *histogramCmd) image(sh *shell) (img any, free func() error, err error) {
	switch {
	case c.Demo && c.In != "":
		return nil, nil, errors.New("--demo draws its own image: leave out " + c.In)
	case c.Demo:
		return imgio.Demo(1920, 1080), func() error { return nil }, nil
	case c.In == "":
		return nil, nil, errors.New("no image: name a file, or let --demo draw one")
	}
	if err := checkApart(c.In, c.Out); err != nil {
		return nil, nil, err
	}
	picture, err := sh.open(c.In, c.Color)
	if err != nil {
		return nil, nil, err
	}
	return picture.Image, picture.Close, nil
}

// boxes are those of the flags and then those of the file.
func (c *histogramCmd) boxes(stdin io.Reader) ([]box, error) {
	switch c.Boxes {
	case "":
		return c.Box, nil
	case standard:
		if c.In == standard {
			return nil, errors.New("the image and the boxes cannot both come from standard input")
		}
		return readBoxes(c.Box, "standard input", stdin)
	}
	f, err := os.Open(c.Boxes)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readBoxes(c.Box, c.Boxes, f)
}

// A rangeFlag is LOW,HIGH.
type rangeFlag struct {
	low, high float64
	given     bool
}

// Decode takes the range from the command line; it may start with a minus.
func (r *rangeFlag) Decode(ctx *kong.DecodeContext) error {
	token := ctx.Scan.Pop()
	if token.IsEOL() {
		return errors.New("expected LOW,HIGH")
	}
	var err error
	*r, err = parseRange(token.String())
	return err
}

func parseRange(text string) (r rangeFlag, err error) {
	fields := strings.Split(text, ",")
	if len(fields) != 2 {
		return r, fmt.Errorf("range %.60q is not LOW,HIGH: it has %s", text, count(len(fields), "number"))
	}
	for i, to := range []*float64{&r.low, &r.high} {
		field := strings.TrimSpace(fields[i])
		if *to, err = strconv.ParseFloat(field, 64); err != nil || math.IsNaN(*to) || math.IsInf(*to, 0) {
			return r, fmt.Errorf("range %.60q: %.30q is not a number that a pixel can have", text, field)
		}
	}
	if r.low >= r.high {
		return r, fmt.Errorf("range %.60q is empty: HIGH must be larger than LOW", text)
	}
	r.given = true
	return r, nil
}

// histogramWork is a table and how it came about.
type histogramWork struct {
	table *histogram.Table[uint32]
	whole bool // every bin is one whole number
	took  time.Duration
	show  func() image.Image // the pixels, to look at
}

// work makes the table of an image of any type.
func (c *histogramCmd) work(img any, opt *boxsum.Options) (*histogramWork, error) {
	switch img := img.(type) {
	case boxsum.Image[uint8]:
		return histogramOf(img, c, opt)
	case boxsum.Image[uint16]:
		return histogramOf(img, c, opt)
	case boxsum.Image[int16]:
		return histogramOf(img, c, opt)
	case boxsum.Image[uint32]:
		return histogramOf(img, c, opt)
	case boxsum.Image[int32]:
		return histogramOf(img, c, opt)
	case boxsum.Image[float32]:
		return histogramOf(img, c, opt)
	case boxsum.Image[float64]:
		return histogramOf(img, c, opt)
	}
	return nil, fmt.Errorf("there are no histograms of %T", img)
}

func histogramOf[P boxsum.Pixel](img boxsum.Image[P], c *histogramCmd, opt *boxsum.Options) (*histogramWork, error) {
	bins := histogram.Bins{N: c.Bins, Low: c.Range.low, High: c.Range.high, Clamp: c.Clamp}
	if sizeOf[P]() > 2 && !c.Range.given {
		var ok bool
		if bins.Low, bins.High, ok = extent(img); !ok {
			return nil, errors.New("no pixel is a finite number: say which values to count with --range LOW,HIGH")
		}
	}
	start := time.Now()
	table, err := histogram.Integrate(img, bins, opt)
	if err != nil {
		return nil, err
	}
	w := &histogramWork{table: table, took: max(time.Since(start), 1)}
	w.whole = P(1)/2 == 0 && table.Bins.High-table.Bins.Low == float64(c.Bins) && table.Bins.Low == math.Trunc(table.Bins.Low)
	w.show = func() image.Image { return showRange(img, table.Bins) }
	return w, nil
}

// extent is the smallest and the largest finite pixel, a little apart where
// they are the same.
func extent[P boxsum.Pixel](img boxsum.Image[P]) (low, high float64, ok bool) {
	low, high = math.Inf(1), math.Inf(-1)
	for y := range img.Height {
		for _, p := range img.Row(y) {
			if v := float64(p); !math.IsInf(v, 0) && !math.IsNaN(v) {
				low, high = min(low, v), max(high, v)
			}
		}
	}
	if low == high {
		apart := max(0.5, math.Abs(low)/1e6)
		low, high = low-apart, high+apart
	}
	return low, high, low < high
}

// format is how to write the table to a path.
func (w *histogramWork) format(path string, r histogramReport) format {
	t := w.table
	shape := []int{t.Height + 1, t.Width + 1, t.Channels, t.Bins.N}
	if t.Channels == 1 {
		shape = []int{t.Height + 1, t.Width + 1, t.Bins.N}
	}
	f := format{size: func(job) int64 { return r.Bytes }}
	switch strings.ToLower(filepath.Ext(path)) {
	case ".png":
		f.size = func(job) int64 { return 0 }
		f.write = func(_ job, out io.Writer) error { return png.Encode(out, drawHistograms(w.show(), w, r.Boxes)) }
	case ".npz":
		f.write = func(_ job, out io.Writer) error {
			z := imgio.NewNPZ(out)
			edges := make([]float64, t.Bins.N+1)
			for i := range edges {
				edges[i] = t.Bins.Edge(i)
			}
			one := iter.Seq[[]float64](func(yield func([]float64) bool) { yield(edges) })
			return errors.Join(imgio.WriteNPZ(z, "histogram", shape, w.rows()), imgio.WriteNPZ(z, "edges", []int{len(edges)}, one), z.Close())
		}
	default:
		f.write = func(_ job, out io.Writer) error { return imgio.WriteNPY(out, shape, w.rows()) }
	}
	return f
}

// rows runs through the rows of the table.
func (w *histogramWork) rows() iter.Seq[[]uint32] {
	return func(yield func([]uint32) bool) {
		t := w.table
		row := (t.Width + 1) * t.Channels * t.Bins.N
		for y := range t.Height + 1 {
			if !yield(t.Counts[y*row:][:row]) {
				return
			}
		}
	}
}

// A boxHistogram is what is said of one box: of every channel, or of the only
// one.
type boxHistogram struct {
	Box     box `json:"box"`
	Area    int `json:"area"`
	Counts  any `json:"counts"`
	Median  any `json:"median"` // from and to of a bin, and null where nothing was counted
	Mode    any `json:"mode"`
	Entropy any `json:"entropy"`

	channels [][]uint32
}

func (w *histogramWork) ask(b box) boxHistogram {
	t := w.table
	clipped := b.rectangle().Intersect(t.Bounds())
	a := boxHistogram{Box: b, Area: clipped.Dx() * clipped.Dy()}
	var counts, median, mode, entropy []any
	edges := func(bin int) any {
		if bin < 0 {
			return nil
		}
		return [2]float64{t.Bins.Edge(bin), t.Bins.Edge(bin + 1)}
	}
	for c := range t.Channels {
		h := t.Histogram(nil, clipped, c)
		a.channels = append(a.channels, h)
		counts, median, mode = append(counts, h), append(median, edges(histogram.Median(h))), append(mode, edges(histogram.Mode(h)))
		entropy = append(entropy, histogram.Entropy(h))
	}
	one := func(values []any) any {
		if len(values) == 1 {
			return values[0]
		}
		return values
	}
	a.Counts, a.Median, a.Mode, a.Entropy = one(counts), one(median), one(mode), one(entropy)
	return a
}

// A histogramReport is what the command says it did, and found.
type histogramReport struct {
	Width        int            `json:"width"`
	Height       int            `json:"height"`
	Channels     int            `json:"channels"`
	Bins         int            `json:"bins"`
	Range        [2]float64     `json:"range"`
	Milliseconds float64        `json:"ms"`
	Bytes        int64          `json:"bytes"` // of the table
	Out          string         `json:"out,omitempty"`
	Boxes        []boxHistogram `json:"boxes,omitempty"`
}

// print reports on standard output, unless the table went there.
func (c *histogramCmd) print(sh *shell, r histogramReport, work *histogramWork) error {
	to := sh.results()
	if c.Out == standard {
		to = sh.stderr
	}
	w := bufio.NewWriter(to)
	if c.JSON {
		return errors.Join(printHistogramJSON(w, r), w.Flush())
	}
	asked := len(c.Box) > 0 || c.Boxes != "" || c.Out == ""
	if asked && len(r.Boxes) > 0 {
		if err := printColumns(w, work.columns(r)); err != nil {
			return err
		}
	}
	if c.Out != "" {
		fmt.Fprintln(w, r)
	}
	return w.Flush()
}

// printHistogramJSON prints an object with a box on every line.
func printHistogramJSON(w io.Writer, r histogramReport) error {
	boxes := r.Boxes
	r.Boxes = nil
	head, err := json.Marshal(r)
	if err != nil {
		return err
	}
	between := ""
	fmt.Fprintf(w, "%s,\"boxes\":[", head[:len(head)-1])
	for _, b := range boxes {
		text, err := json.Marshal(b)
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "%s\n  %s", between, text)
		between = ","
	}
	if len(boxes) > 0 {
		fmt.Fprintln(w)
	}
	_, err = fmt.Fprintln(w, "]}")
	return err
}

// String is the report in one line.
func (r histogramReport) String() string {
	s := fmt.Sprintf("%d×%d", r.Width, r.Height)
	if r.Channels > 1 {
		s += fmt.Sprintf("×%d", r.Channels)
	}
	return s + fmt.Sprintf(", %d bins from %g to %g, %s, %.3g ms → %s", r.Bins, r.Range[0], r.Range[1], inBytes(r.Bytes), r.Milliseconds, nameOf(r.Out))
}

// inBytes is a size as people say it.
func inBytes(n int64) string {
	switch {
	case n >= 1e9:
		return fmt.Sprintf("%.3g GB", float64(n)/1e9)
	case n >= 1e6:
		return fmt.Sprintf("%.3g MB", float64(n)/1e6)
	case n >= 1e4:
		return fmt.Sprintf("%.3g kB", float64(n)/1e3)
	}
	return fmt.Sprintf("%d bytes", n)
}

// columns has a line for every bin and a column for every channel of every box.
func (w *histogramWork) columns(r histogramReport) [][]string {
	bins := w.table.Bins
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
	for _, b := range r.Boxes {
		for c, h := range b.channels {
			rows[0] = append(rows[0], b.Box.String())
			channel = append(channel, strconv.Itoa(c))
			for i, n := range h {
				rows[1+i] = append(rows[1+i], strconv.FormatUint(uint64(n), 10))
			}
			for i, text := range []string{strconv.Itoa(b.Area), name(histogram.Median(h)), name(histogram.Mode(h)), fmt.Sprintf("%.5g", histogram.Entropy(h))} {
				last[i] = append(last[i], text)
			}
		}
	}
	if w.table.Channels > 1 {
		rows = append(rows[:1:1], append([][]string{channel}, rows[1:]...)...)
	}
	return append(rows, last[:]...)
}
