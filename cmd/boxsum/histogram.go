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
	"github.com/boxsum/boxsum/gpu"
	"github.com/boxsum/boxsum/histogram"
	"github.com/boxsum/boxsum/imgio"
)

type histogramCmd struct {
	In      string    `arg:"" optional:"" name:"IN" help:"Image (PNG, JPEG, GIF, BMP, TIFF, WebP, PNM) or .npy array; - is standard input."`
	Demo    bool      `help:"Count a picture of 1920×1080 that boxsum draws itself, instead of IN."`
	Bins    int       `default:"32" placeholder:"N" help:"How many bins, 2 to 256 (${default})."`
	Range   rangeFlag `placeholder:"LOW,HIGH" help:"Values to cut into bins. Unless told, all that 8- and 16-bit pixels can have; for others, from the smallest to the largest of the image."`
	Weights string    `placeholder:"FILE" help:"Image or .npy array of IN's size, gray: a pixel counts as much as the weight in its place, such as 0 and 1 of a mask."`
	Clamp   bool      `help:"Count what is out of range in the first or last bin, and not in none."`
	Out     string    `short:"o" placeholder:"OUT" help:"Where the table goes: .npy, .npz (keys histogram and edges), or .png (the image with its boxes and their histograms); - is .npy on standard output."`
	Box     boxList   `placeholder:"X0,Y0,X1,Y1" help:"Box whose histogram to print, from its first column and row up to, not with, X1 and Y1. May be given again."`
	Boxes   string    `placeholder:"FILE" help:"File with a box on every line; - is standard input."`
	Color   string    `enum:"gray,keep" default:"gray" help:"What to do with colour: gray makes one channel of it, keep has a histogram for each. Arrays (.npy) keep theirs."`
	Workers int       `placeholder:"N" help:"Goroutines to use at most; all processors unless told."`
	placeFlag
	JSON bool `name:"json" help:"Print JSON."`

	announce func(bytes int64) // says how much memory is about to be taken
}

// Help is the long help of the command.
func (*histogramCmd) Help() string {
	return `The integral histogram of a W×H image has (H+1)×(W+1) histograms: entry (x,y) counts the pixels above and to the left of it. As an array it has the shape (H+1, W+1, bins), and (H+1, W+1, channels, bins) with several channels. It takes 4 bytes a count: 266 MB for 1920×1080 pixels in 32 bins. With weights it takes 8 bytes: sums of whole weights are exact.

Boxes are clipped to the image. Without any, and without an output, the histogram of the whole image is printed. Median and mode are the bins that they are in, and the entropy is in bits.

Examples:

    boxsum histogram --demo --bins 64 --box 1050,290,1330,570 --box 0,800,700,1080 -o look.png
    boxsum histogram photo.jpg --bins 32 -o table.npy
    boxsum histogram photo.jpg --box 0,0,64,64 --box 64,0,128,64
    boxsum histogram photo.jpg --color keep --box 0,0,64,64 -o look.png
    boxsum histogram photo.jpg --weights mask.png --box 0,0,64,64
    boxsum histogram photo.jpg --on cuda -o table.npy
    boxsum histogram depth.npy --bins 100 --range 0,5 --clamp --json`
}

// Run makes the table, writes it and prints what is asked of it.
func (c *histogramCmd) Run(sh *shell) error {
	if c.Workers < 0 {
		return fmt.Errorf("--workers %d is negative: give a positive number, or leave it out to use all processors", c.Workers)
	}
	switch {
	case c.onGPU() && c.Workers != 0:
		return fmt.Errorf("--workers is for the CPU: leave it out with --on %s", c.On)
	case c.onGPU() && c.Weights != "":
		return fmt.Errorf("--weights is for the CPU: leave out --on %s", c.On)
	case c.Weights == standard && c.In == standard:
		return errors.New("the image and its weights cannot both come from standard input")
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
	device, err := c.open()
	if err != nil {
		return err
	}
	defer closeDevice(device)
	img, closeImage, err := c.image(sh)
	if err != nil {
		return err
	}
	defer closeImage()
	var weights any
	if c.Weights != "" {
		if err := checkApart(c.Weights, c.Out); err != nil {
			return err
		}
		picture, err := sh.open(c.Weights, "gray")
		if err != nil {
			return err
		}
		defer picture.Close()
		weights = picture.Image
	}
	opt := &boxsum.Options{Workers: cmp.Or(c.Workers, runtime.GOMAXPROCS(0))}
	c.announce = func(bytes int64) { sh.progress.begin("counting, "+inBytes(bytes), 0) }
	work, err := c.work(img, weights, device, opt)
	if err = cmp.Or(err, sh.ctx.Err()); err != nil {
		return err
	}
	if len(boxes) == 0 && c.Boxes == "" && (c.Out == "" || strings.EqualFold(filepath.Ext(c.Out), ".png")) {
		boxes = []box{{0, 0, work.width, work.height}}
	}
	report := histogramReport{
		Width: work.width, Height: work.height, Channels: work.channels, On: "cpu",
		Bins: work.bins.N, Range: [2]float64{work.bins.Low, work.bins.High}, Weighted: weights != nil,
		Milliseconds: float64(work.took) / float64(time.Millisecond), Bytes: work.bytes, Out: c.Out,
	}
	if device != nil {
		report.On, report.Device = device.Info().Kind.String(), device.Info().Name
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

// histogramWork is a table, whatever its type, and how it came about.
type histogramWork struct {
	width, height, channels int
	bins                    histogram.Bins
	bytes                   int64
	whole                   bool // every bin is one whole number
	took                    time.Duration
	show                    func() image.Image // the pixels, to look at
	of                      func(box image.Rectangle, channel int) channelHistogram
	write                   func(shape []int, out io.Writer) error
	writeNPZ                func(z *imgio.NPZ, shape []int) error
}

// A channelHistogram is that of a box in one channel.
type channelHistogram struct {
	counts       any // as they are
	sizes        []float64
	texts        []string // every digit of them
	median, mode int
	entropy      float64
}

// work makes the table of an image of any type.
func (c *histogramCmd) work(img, weights any, device *gpu.Device, opt *boxsum.Options) (*histogramWork, error) {
	switch img := img.(type) {
	case boxsum.Image[uint8]:
		return histogramOf(img, weights, c, device, opt)
	case boxsum.Image[uint16]:
		return histogramOf(img, weights, c, device, opt)
	case boxsum.Image[int16]:
		return histogramOf(img, weights, c, device, opt)
	case boxsum.Image[uint32]:
		return histogramOf(img, weights, c, device, opt)
	case boxsum.Image[int32]:
		return histogramOf(img, weights, c, device, opt)
	case boxsum.Image[float32]:
		return histogramOf(img, weights, c, device, opt)
	case boxsum.Image[float64]:
		return histogramOf(img, weights, c, device, opt)
	}
	return nil, fmt.Errorf("there are no histograms of %T", img)
}

func histogramOf[P boxsum.Pixel](img boxsum.Image[P], weights any, c *histogramCmd, device *gpu.Device, opt *boxsum.Options) (*histogramWork, error) {
	bytes, err := histogram.Bytes[uint32](img.Width, img.Height, img.Channels, c.Bins)
	if err != nil {
		return nil, err
	}
	if weights != nil {
		bytes *= 2
	}
	c.announce(bytes)
	// Sums of whole weights in 64 bits stay exact.
	switch w := weights.(type) {
	case boxsum.Image[uint8]:
		return weighted[uint64](img, w, c, opt)
	case boxsum.Image[uint16]:
		return weighted[uint64](img, w, c, opt)
	case boxsum.Image[uint32]:
		return weighted[uint64](img, w, c, opt)
	case boxsum.Image[int16]:
		return weighted[int64](img, w, c, opt)
	case boxsum.Image[int32]:
		return weighted[int64](img, w, c, opt)
	case boxsum.Image[float32]:
		return weighted[float64](img, w, c, opt)
	case boxsum.Image[float64]:
		return weighted[float64](img, w, c, opt)
	case nil:
	default:
		return nil, fmt.Errorf("there are no weights of %T", weights)
	}
	return madeHistogram(img, c, func(t *histogram.Table[uint32]) error {
		if device != nil {
			return gpu.IntegrateHistogramHostInto(device, t, img, nil)
		}
		return histogram.IntegrateInto(t, img, &histogram.Options{Workers: opt.Workers})
	})
}

// weighted is a table of weights instead of counts.
func weighted[S boxsum.Sum, P, W boxsum.Pixel](img boxsum.Image[P], weights boxsum.Image[W], c *histogramCmd, opt *boxsum.Options) (*histogramWork, error) {
	if weights.Width != img.Width || weights.Height != img.Height || weights.Channels != 1 {
		return nil, fmt.Errorf("--weights %s: weights of %d×%d with %s for an image of %d×%d: they take its size and one channel",
			c.Weights, weights.Width, weights.Height, count(weights.Channels, "channel"), img.Width, img.Height)
	}
	return madeHistogram(img, c, func(t *histogram.Table[S]) error {
		if err := checkFinite(weights); err != nil {
			return fmt.Errorf("--weights %s: %w", c.Weights, err)
		}
		return histogram.IntegrateWeightedInto(t, img, weights, &histogram.Options{Workers: opt.Workers})
	})
}

// checkFinite refuses weights that are not finite: they would be in the sums of
// boxes that do not hold them.
func checkFinite[P boxsum.Pixel](weights boxsum.Image[P]) error {
	if P(1)/2 == 0 {
		return nil // integers are
	}
	for y := range weights.Height {
		for x, w := range weights.Row(y) {
			if v := float64(w); math.IsNaN(v) || math.IsInf(v, 0) {
				return fmt.Errorf("the weight at (%d,%d) is %g: weights must be finite", x, y, v)
			}
		}
	}
	return nil
}

// madeHistogram times how a table is made. Its memory comes first, so that there
// is an error before anything else takes long or takes memory.
func madeHistogram[S boxsum.Sum, P boxsum.Pixel](img boxsum.Image[P], c *histogramCmd, integrate func(*histogram.Table[S]) error) (*histogramWork, error) {
	t, err := histogram.NewTable[S](img.Width, img.Height, img.Channels, histogram.Bins{N: c.Bins})
	if err != nil {
		return nil, err
	}
	if t.Bins, err = binsFor(img, c); err != nil {
		return nil, err
	}
	start := time.Now()
	if err := integrate(t); err != nil {
		return nil, err
	}
	bins := t.Bins
	return &histogramWork{
		width: t.Width, height: t.Height, channels: t.Channels, bins: bins, bytes: int64(len(t.Counts)) * sizeOf[S](),
		whole: P(1)/2 == 0 && bins.High-bins.Low == float64(bins.N) && bins.Low == math.Trunc(bins.Low),
		took:  max(time.Since(start), 1),
		show:  func() image.Image { return showRange(img, bins) },
		of: func(box image.Rectangle, channel int) channelHistogram {
			counts := t.Histogram(nil, box, channel)
			h := channelHistogram{counts: counts, median: histogram.Median(counts), mode: histogram.Mode(counts), entropy: histogram.Entropy(counts)}
			for _, n := range counts {
				h.sizes, h.texts = append(h.sizes, float64(n)), append(h.texts, digits(n))
			}
			if floats, ok := any(counts).([]float64); ok {
				h.counts = finites(floats)
			}
			return h
		},
		write:    func(shape []int, out io.Writer) error { return imgio.WriteNPY(out, shape, histogramRows(t)) },
		writeNPZ: func(z *imgio.NPZ, shape []int) error { return imgio.WriteNPZ(z, "histogram", shape, histogramRows(t)) },
	}, nil
}

// digits is all of a number, without an exponent where a reader can do without.
func digits[S boxsum.Sum](n S) string {
	f, ok := any(n).(float64)
	switch {
	case !ok:
		return fmt.Sprint(n)
	case f != 0 && math.Abs(f) < 1e-5:
		return strconv.FormatFloat(f, 'g', -1, 64)
	}
	return plain(f)
}

// finites is numbers that JSON can hold.
func finites(numbers []float64) []any {
	all := make([]any, len(numbers))
	for i, n := range numbers {
		all[i] = finite(n)
	}
	return all
}

// binsFor is the bins that were asked for, over the pixels of the image where no
// range was.
func binsFor[P boxsum.Pixel](img boxsum.Image[P], c *histogramCmd) (histogram.Bins, error) {
	bins := histogram.Bins{N: c.Bins, Low: c.Range.low, High: c.Range.high, Clamp: c.Clamp}
	if sizeOf[P]() <= 2 || c.Range.given {
		return histogram.Over[P](bins)
	}
	low, high := extent(img)
	switch {
	case low > high:
		return bins, errors.New("no pixel is a finite number: say which values to count with --range LOW,HIGH")
	case math.IsInf(high-low, 0):
		return bins, fmt.Errorf("the pixels are from %g to %g, which is too far apart for bins: say which values to count with --range LOW,HIGH", low, high)
	}
	// Pixels that are all but the same are in the middle of a wider range: of 1,
	// as NumPy's, or of more where that is too little to cut.
	for _, apart := range []float64{0, 0.5, max(math.Abs(low), math.Abs(high)) / 1e6} {
		bins.Low, bins.High = max(low-apart, -math.MaxFloat64), min(high+apart, math.MaxFloat64)
		if wider, err := histogram.Over[P](bins); err == nil && bins.Low < bins.High {
			return wider, nil
		}
	}
	return histogram.Over[P](bins)
}

// extent is the smallest and the largest finite pixel, the other way round where
// there is none.
func extent[P boxsum.Pixel](img boxsum.Image[P]) (low, high float64) {
	low, high = math.Inf(1), math.Inf(-1)
	for y := range img.Height {
		for _, p := range img.Row(y) {
			if v := float64(p); !math.IsInf(v, 0) && !math.IsNaN(v) {
				low, high = min(low, v), max(high, v)
			}
		}
	}
	return low, high
}

// format is how to write the table to a path.
func (w *histogramWork) format(path string, r histogramReport) format {
	shape := []int{w.height + 1, w.width + 1, w.channels, w.bins.N}
	if w.channels == 1 {
		shape = []int{w.height + 1, w.width + 1, w.bins.N}
	}
	f := format{size: func(job) int64 { return r.Bytes }}
	switch strings.ToLower(filepath.Ext(path)) {
	case ".png":
		f.size = func(job) int64 { return 0 }
		f.write = func(_ job, out io.Writer) error { return png.Encode(out, drawHistograms(w.show(), w, r.Boxes)) }
	case ".npz":
		f.write = func(_ job, out io.Writer) error {
			z := imgio.NewNPZ(out)
			edges := make([]float64, w.bins.N+1)
			for i := range edges {
				edges[i] = w.bins.Edge(i)
			}
			one := iter.Seq[[]float64](func(yield func([]float64) bool) { yield(edges) })
			return errors.Join(w.writeNPZ(z, shape), imgio.WriteNPZ(z, "edges", []int{len(edges)}, one), z.Close())
		}
	default:
		f.write = func(_ job, out io.Writer) error { return w.write(shape, out) }
	}
	return f
}

// histogramRows runs through the rows of a table.
func histogramRows[S boxsum.Sum](t *histogram.Table[S]) iter.Seq[[]S] {
	return func(yield func([]S) bool) {
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

	channels []channelHistogram
}

func (w *histogramWork) ask(b box) boxHistogram {
	clipped := b.rectangle().Intersect(image.Rect(0, 0, w.width, w.height))
	a := boxHistogram{Box: b, Area: clipped.Dx() * clipped.Dy()}
	var counts, median, mode, entropy []any
	edges := func(bin int) any {
		if bin < 0 {
			return nil
		}
		return [2]float64{w.bins.Edge(bin), w.bins.Edge(bin + 1)}
	}
	for c := range w.channels {
		h := w.of(clipped, c)
		a.channels = append(a.channels, h)
		counts, median, mode, entropy = append(counts, h.counts), append(median, edges(h.median)), append(mode, edges(h.mode)), append(entropy, h.entropy)
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
	Weighted     bool           `json:"weighted,omitempty"`
	On           string         `json:"on"`
	Device       string         `json:"device,omitempty"` // the name of a GPU
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
	s += fmt.Sprintf(", %d bins from %g to %g", r.Bins, r.Range[0], r.Range[1])
	if r.Weighted {
		s += ", weighted"
	}
	if r.Device != "" {
		s += fmt.Sprintf(", %s on %s", r.On, escape(r.Device))
	}
	return s + fmt.Sprintf(", %s, %s ms → %s", inBytes(r.Bytes), rounded(r.Milliseconds), nameOf(r.Out))
}

// inBytes is a size as people say it.
func inBytes(n int64) string {
	switch {
	case n >= 1e9:
		return rounded(float64(n)/1e9) + " GB"
	case n >= 1e6:
		return rounded(float64(n)/1e6) + " MB"
	case n >= 1e4:
		return rounded(float64(n)/1e3) + " kB"
	}
	return fmt.Sprintf("%d bytes", n)
}

// columns has a line for every bin and a column for every channel of every box.
func (w *histogramWork) columns(r histogramReport) [][]string {
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
	for _, b := range r.Boxes {
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
	if w.channels > 1 {
		rows = append(rows[:1:1], append([][]string{channel}, rows[1:]...)...)
	}
	return append(rows, last[:]...)
}
