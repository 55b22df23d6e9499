package cli

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/gpu"
)

type integrateCmd struct {
	Ins     []string `arg:"" optional:"" name:"IN" help:"Image (PNG, JPEG, GIF, BMP, TIFF, WebP, PNM) or .npy array; - is standard input. Several go one after the other: one that fails does not stop the rest."`
	Demo    bool     `help:"Integrate a picture of 1920×1080 that boxsum draws itself, instead of IN."`
	Out     string   `short:"o" placeholder:"OUT" help:"Where the table goes: .npy (one table), .npz (keys sum, squares, tilted and counts) or .png (a heat map); - is .npy on standard output. Tables of several images go to a folder, such as tables/."`
	Type    string   `enum:"auto,u32,u64,i64,f32,f64" default:"auto" help:"Type of the sums: auto, u32, u64, i64, f32 or f64. Auto is u32 for 8-bit pixels, and u64 for images of more than 16843009 of them, whose sum may not fit; u64 for 16- and 32-bit ones, i64 for signed ones and f64 for floats."`
	Squares bool     `help:"Also make the table of squares."`
	Tilted  bool     `help:"Also make the 45° table, OpenCV's tilted one, of the pixels themselves."`
	Volume  bool     `help:"IN is a volume: a folder of pictures of one size, a TIFF file with several pages, or a .npy array of shape (D,H,W) or (D,H,W,C)."`
	pictureFlags
	validFlags
	storeFlags
	Workers int `placeholder:"N" help:"Goroutines to use at most; all processors unless told."`
	engineFlags
	Algorithm string `placeholder:"NAME" help:"Use a published algorithm instead of boxsum's own, such as intimg/parallel; boxsum bench --algorithms help lists them. It works in a type of its own, which --type may choose."`
	Verbose   bool   `short:"v" help:"Also say on standard error which type auto chose where it is not the usual one."`
	JSON      bool   `name:"json" help:"Print JSON instead of the line."`

	In string `kong:"-"` // the one of Ins that it is about
}

// Run integrates, writes and reports.
func (c *integrateCmd) Run(sh *shell) error {
	if isStore(c.Out) {
		return c.runStore(sh)
	}
	if c.many() {
		return c.runMany(sh)
	}
	if len(c.Ins) > 0 {
		c.In = c.Ins[0]
	}
	r, err := c.make(sh)
	if err != nil {
		return err
	}
	return c.print(sh, r)
}

// make makes and writes the tables of one image.
func (c *integrateCmd) make(sh *shell) (report, error) {
	if err := c.validFlags.check(map[string]bool{"--volume": c.Volume, "--tilted": c.Tilted, "--algorithm": c.Algorithm != "", "--on cuda and --on opencl": c.onGPU()}); err != nil {
		return report{}, err
	}
	if c.Algorithm != "" {
		return c.runAlgorithm(sh)
	}
	opt, err := c.options(c.Workers)
	if err != nil {
		return report{}, err
	}
	opt.Plain = true // files do not keep an offset
	if err := c.checkVolume(); err != nil {
		return report{}, err
	}
	out, err := c.format()
	if err != nil {
		return report{}, err
	}
	c.wide = !c.Squares && !c.Tilted && !c.Volume && !c.pick() && !c.onGPU() && c.Type != "f64"
	src, err := c.source(sh)
	if err != nil {
		return report{}, err
	}
	defer src.close()
	pair, err := c.pair(sh, src)
	if err != nil {
		return report{}, err
	}
	valid, err := c.valid(sh, &c.pictureFlags)
	if err != nil {
		return report{}, err
	}
	work, took, err := sh.tables(src, pair, tableChoice{c.Squares, c.Tilted, out.rows, valid}, opt)
	if err != nil {
		return report{}, err
	}
	start := time.Now()
	if err := sh.save(c.Out, out, work); err != nil {
		return report{}, err
	}
	if work.streamed() {
		took = time.Since(start) // which is when it was made
	}
	return newReport(work, src.device, opt, took, c.Out), nil
}

// pair is the types of --type. Auto takes the usual ones, and wider ones where the sum
// of all pixels may not fit them.
func (c *integrateCmd) pair(sh *shell, src *source) (pair, error) {
	if c.Type != "f64" {
		if err := fitsNoPixels(src); err != nil {
			return pair{}, err
		}
	}
	usual, err := pairNamed(src.image, c.Type)
	if err != nil || c.Type != "auto" || usual.holds(src.image, src.slices()) {
		return usual, err
	}
	wide, err := pairExact(src.image, src.slices())
	if err != nil {
		return usual, nil // none is wide enough: sums wrap
	}
	if c.Verbose {
		sh.say(fmt.Sprintf("sums are %s: those of so many %s pixels may not fit %s, which --type %[3]s takes all the same", wide.sum.Short(), wide.pixel.Short(), usual.sum.Short()))
	}
	return wide, nil
}

// checkVolume refuses what a volume does not have.
func (c *integrateCmd) checkVolume() error {
	switch {
	case !c.Volume:
		return nil
	case c.Tilted:
		return usage("--tilted is for images: leave it out with --volume")
	case c.Demo:
		return usage("--demo draws an image: leave it out with --volume")
	case c.In == "":
		return usage("no volume: name a folder, a TIFF file or a .npy array")
	}
	return nil
}

// format is how to write the tables, if they are written.
func (c *integrateCmd) format() (format, error) {
	f, err := formatOf(c.Out, "tables", c.Squares, c.Tilted)
	if err == nil && c.pick() && c.Out != "" && f.tables < 2 {
		err = fmt.Errorf("%s holds one table: write the sums of valid pixels and their counts to a .npz file", nameOf(c.Out))
	}
	if err == nil && c.Volume && c.Out != "" && !f.rows {
		err = usage("%s: the table of a volume is written as .npy or .npz, and not as %s", c.Out, f.extension)
	}
	return f, err
}

// source is what to integrate, and on what.
func (c *integrateCmd) source(sh *shell) (*source, error) {
	return sh.source(&c.placeFlag, func() (*source, error) {
		if !c.Volume {
			return sh.imageOrDemo(c.In, c.Out, &c.pictureFlags, c.Demo)
		}
		if err := checkApart(c.In, c.Out, true); err != nil {
			return nil, err
		}
		return sh.openSource(c.In, &c.pictureFlags, true)
	})
}

// print reports on standard output, unless the table went there.
func (c *integrateCmd) print(sh *shell, r report) error {
	w := sh.reports(c.Out)
	if c.JSON {
		return printJSON(w, r)
	}
	_, err := fmt.Fprintln(w, r)
	return err
}

// A report is what integrate says it did.
type report struct {
	extent
	In           string  `json:"in,omitempty"`        // where there are several
	Types        string  `json:"types"`               // as in u8:u32, or u8:u32+u64+tilted
	Algorithm    string  `json:"algorithm,omitempty"` // a published one; its table was checked
	On           string  `json:"on"`
	Device       string  `json:"device,omitempty"`         // the name of a GPU
	Level        string  `json:"level,omitempty"`          // of the CPU
	Workers      int     `json:"workers,omitempty"`        // of the CPU
	RowByRow     bool    `json:"row_by_row,omitempty"`     // with the time of writing the file
	SliceBySlice bool    `json:"slice_by_slice,omitempty"` // the same of a volume, with the time of reading too
	Milliseconds float64 `json:"ms"`
	Bytes        int64   `json:"bytes"` // pixels read and sums written
	GBPerSecond  float64 `json:"gb_per_s"`
	Out          string  `json:"out,omitempty"`
}

func newReport(work job, d *gpu.Device, opt *boxsum.Options, took time.Duration, out string) report {
	took = max(took, 1) // a coarse clock may not have moved
	size := work.size()
	r := report{
		extent: size, Types: work.types(), Out: out,
		RowByRow: work.streamed() && size.Depth == 0, SliceBySlice: work.streamed() && size.Depth > 0,
	}
	if r.On, r.Device = placeOf(d); d == nil {
		r.Level, r.Workers = opt.Level.String(), work.workers(opt)
		if opt.Level == *new(boxsum.Level) {
			r.Level = theCPU().Level
		}
	}
	r.Milliseconds = float64(took) / float64(time.Millisecond)
	r.Bytes = work.read() + work.written()
	r.GBPerSecond = float64(r.Bytes) / float64(took) // bytes in a nanosecond
	return r
}

// String is the report in one line.
func (r report) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%v %s", r.extent, strings.Replace(r.Types, ":", "→", 1))
	if r.RowByRow {
		b.WriteString(", row by row")
	}
	if r.SliceBySlice {
		b.WriteString(", slice by slice")
	}
	if r.Algorithm != "" {
		fmt.Fprintf(&b, ", %s (verified)", r.Algorithm)
	}
	if r.Device != "" {
		fmt.Fprintf(&b, ", %s on %s", r.On, escape(r.Device))
	} else if r.Level == "" {
		fmt.Fprintf(&b, ", %s", count(r.Workers, "worker"))
	} else {
		fmt.Fprintf(&b, ", %s on %s", r.Level, count(r.Workers, "worker"))
	}
	fmt.Fprintf(&b, ", %s, %s GB/s", timeText(r.Milliseconds), rounded(r.GBPerSecond))
	if r.Out != "" {
		fmt.Fprintf(&b, " → %s", nameOf(r.Out))
	}
	return b.String()
}

// rounded is a number with the three digits that count, written out.
func rounded(x float64) string {
	if near, err := strconv.ParseFloat(strconv.FormatFloat(x, 'g', 3, 64), 64); err == nil {
		x = near
	}
	return strconv.FormatFloat(x, 'f', -1, 64)
}

// timeText is a time with the three digits that count, in the unit that people say it in.
func timeText(ms float64) string {
	switch {
	case ms < 1e3:
		return rounded(ms) + " ms"
	case ms < 120e3:
		return rounded(ms/1e3) + " s"
	}
	return time.Duration(ms * 1e6).Round(time.Second).String()
}

func count(n int, of string) string {
	if n == 1 {
		return "1 " + of
	}
	return fmt.Sprintf("%d %ss", n, of)
}
