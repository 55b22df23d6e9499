package tables

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/gpu"
	"github.com/boxsum/boxsum/internal/cli/console"
	"github.com/boxsum/boxsum/internal/cli/display"
	"github.com/boxsum/boxsum/internal/cli/flags"
	"github.com/boxsum/boxsum/internal/cli/imagefile"
)

// Integrate implements the integrate command.
type Integrate struct {
	Ins     []string `arg:"" optional:"" name:"IN" help:"Image (PNG, JPEG, GIF, BMP, TIFF, WebP, PNM) or .npy array; - is standard input. Several are processed in turn; one that fails does not stop the others."`
	Demo    bool     `help:"Integrate a picture of 1920×1080 that boxsum draws, instead of IN."`
	Out     string   `short:"o" placeholder:"OUT" help:"Output file: .npy (one table), .npz (keys sum, squares, tilted and counts) or .png (a heat map), or a Zarr store (.zarr, a URL); - is .npy on standard output. For several images, a folder such as tables/."`
	Type    string   `enum:"auto,u32,u64,i64,f32,f64" default:"auto" help:"Type of the sums: auto, u32, u64, i64, f32 or f64. auto is u32 for 8-bit pixels, or u64 if there are more than 16843009, whose sum may not fit; u64 for 16- and 32-bit pixels, i64 for signed ones and f64 for floats."`
	Squares bool     `help:"Also make the table of squares."`
	Tilted  bool     `help:"Also make the 45° table, which OpenCV calls tilted."`
	Volume  bool     `help:"IN is a volume: a folder of pictures of one size, a TIFF file with several pages, or a .npy array of shape (D,H,W) or (D,H,W,C)."`
	imagefile.Flags
	validFlags
	storeFlags
	Workers int `placeholder:"N" help:"Maximum number of threads (default: one per processor)."`
	flags.Engine
	Algorithm string `placeholder:"NAME" help:"Use a published algorithm instead of boxsum's own, such as intimg/parallel; \"boxsum bench --algorithms help\" lists them. Each has sum types of its own, of which --type chooses one."`
	Verbose   bool   `short:"v" help:"Also report on standard error which type auto chose, if not the usual one."`
	JSON      bool   `name:"json" help:"Print JSON instead of the line."`

	In string `kong:"-"` // the element of Ins being processed
}

// Run integrates, writes and reports.
func (c *Integrate) Run(sh *console.Shell) error {
	if imagefile.IsStore(c.Out) {
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
func (c *Integrate) make(sh *console.Shell) (report, error) {
	if err := c.validFlags.check(map[string]bool{"--volume": c.Volume, "--tilted": c.Tilted, "--algorithm": c.Algorithm != ""}); err != nil {
		return report{}, err
	}
	if c.Algorithm != "" {
		return c.runAlgorithm(sh)
	}
	opt, err := c.Options(c.Workers)
	if err != nil {
		return report{}, err
	}
	opt.Plain = true // files do not store an offset
	if err := c.checkVolume(); err != nil {
		return report{}, err
	}
	out, err := c.format()
	if err != nil {
		return report{}, err
	}
	c.Volumes = true
	c.Wide = !c.Squares && !c.Tilted && !c.Volume && !c.pick() && !c.OnGPU() && c.Type != "f64"
	src, err := c.source(sh)
	if err != nil {
		return report{}, err
	}
	defer src.Close()
	pair, err := c.pair(sh, src)
	if err != nil {
		return report{}, err
	}
	valid, err := c.valid(sh, &c.Flags)
	if err != nil {
		return report{}, err
	}
	work, took, err := makeTables(sh, src, pair, tableChoice{c.Squares, c.Tilted, out.rows, valid}, opt)
	if err != nil {
		return report{}, err
	}
	start := time.Now()
	if err := save(sh, c.Out, out, work); err != nil {
		return report{}, err
	}
	if out.extension == picture {
		c.tellNaN(sh, work)
	}
	if work.streamed() {
		took = time.Since(start) // streamed tables are made while they are written
	}
	return newReport(work, src.Device, opt, took, c.Out), nil
}

// pair returns the types chosen by --type. For auto these are the default types, or wider ones if
// the sum of all pixels may overflow.
func (c *Integrate) pair(sh *console.Shell, src *imagefile.Source) (pair, error) {
	if c.Type != "f64" {
		if err := fitsNoPixels(src); err != nil {
			return pair{}, err
		}
	}
	usual, err := pairNamed(src.Image, c.Type)
	if err != nil || c.Type != "auto" || usual.holds(src.Image, src.Slices()) {
		return usual, err
	}
	wide, err := pairExact(src.Image, src.Slices())
	if err != nil {
		return usual, nil // no type is wide enough, so sums wrap
	}
	if c.Verbose {
		sh.Say(fmt.Sprintf("sums are %s, because those of this many %s pixels may not fit in %s (--type %[3]s uses it anyway)", wide.sum.Short(), wide.pixel.Short(), usual.sum.Short()))
	}
	return wide, nil
}

// checkVolume refuses flags that do not apply to volumes.
func (c *Integrate) checkVolume() error {
	switch {
	case !c.Volume:
		return nil
	case c.Tilted:
		return console.Usage("--tilted is for images: leave it out with --volume")
	case c.Demo:
		return console.Usage("--demo draws an image: leave it out with --volume")
	case c.In == "":
		return console.Usage("no volume: name a folder, a TIFF file or a .npy array")
	}
	return nil
}

// format returns the format of the output file, or the zero format without one.
func (c *Integrate) format() (format, error) {
	f, err := formatOf(c.Out, "tables", c.Squares, c.Tilted)
	if err == nil && c.pick() && c.Out != "" && f.tables < 2 && f.extension != picture {
		err = fmt.Errorf("%s holds one table: write the sums of valid pixels and their counts to a .npz file", imagefile.NameOf(c.Out))
	}
	if err == nil && c.Volume && c.Out != "" && !f.rows {
		err = console.Usage("%s: the table of a volume is written as .npy or .npz, and not as %s", c.Out, f.extension)
	}
	return f, err
}

// tellNaN notes on standard error that a heat map is gray because of NaN.
func (c *Integrate) tellNaN(sh *console.Shell, work job) {
	j, ok := work.(*tableJob)
	if !ok || j.Width == 0 || j.Height == 0 {
		return
	}
	for channel := range j.Channels {
		if !math.IsNaN(j.tables.mean(wholeBox(j.Extent), channel)) {
			continue
		}
		note := imagefile.NameOf(c.Out) + " is gray where sums are NaN: to the right of NaN pixels and below them"
		if c.NaN != "skip" {
			note += "; use --nan skip to leave them out"
		}
		sh.Say(note)
		return
	}
}

// source opens the image or volume, and the device.
func (c *Integrate) source(sh *console.Shell) (*imagefile.Source, error) {
	return imagefile.OpenOn(sh, &c.Place, func() (*imagefile.Source, error) {
		if !c.Volume {
			return imagefile.OpenOrDemo(sh, c.In, c.Out, &c.Flags, c.Demo)
		}
		if err := imagefile.CheckApart(c.In, c.Out, true); err != nil {
			return nil, err
		}
		return imagefile.Open(sh, c.In, &c.Flags, true)
	})
}

// print prints the report on standard output, or on standard error if the table was written to
// standard output.
func (c *Integrate) print(sh *console.Shell, r report) error {
	w := sh.Reports(c.Out)
	if c.JSON {
		return display.JSON(w, r)
	}
	_, err := fmt.Fprintln(w, r)
	return err
}

// A report describes the tables that were made.
type report struct {
	imagefile.Extent
	In           string  `json:"in,omitempty"`        // set if there are several inputs
	Types        string  `json:"types"`               // such as u8:u32, or u8:u32+u64+tilted
	Algorithm    string  `json:"algorithm,omitempty"` // a published algorithm, whose table was compared with a reference
	On           string  `json:"on"`
	Device       string  `json:"device,omitempty"`         // name of the GPU
	Level        string  `json:"level,omitempty"`          // instruction set of the CPU
	Workers      int     `json:"workers,omitempty"`        // threads of the CPU
	RowByRow     bool    `json:"row_by_row,omitempty"`     // the time includes writing the file
	SliceBySlice bool    `json:"slice_by_slice,omitempty"` // likewise for a volume, including reading
	Milliseconds float64 `json:"ms"`
	Bytes        int64   `json:"bytes"` // pixels read and sums written
	GBPerSecond  float64 `json:"gb_per_s"`
	Out          string  `json:"out,omitempty"`
}

func newReport(work job, d *gpu.Device, opt *boxsum.Options, took time.Duration, out string) report {
	took = max(took, 1) // the clock may be coarse
	size := work.size()
	r := report{
		Extent: size, Types: work.types(), Out: out,
		RowByRow: work.streamed() && size.Depth == 0, SliceBySlice: work.streamed() && size.Depth > 0,
	}
	if r.On, r.Device = flags.PlaceOf(d); d == nil {
		r.Level, r.Workers = opt.Level.String(), work.workers(opt)
		if opt.Level == *new(boxsum.Level) {
			levels := boxsum.Levels()
			r.Level = levels[len(levels)-1].String()
		}
	}
	r.Milliseconds = float64(took) / float64(time.Millisecond)
	r.Bytes = work.read() + work.written()
	r.GBPerSecond = float64(r.Bytes) / float64(took) // bytes per nanosecond
	return r
}

// String returns the report as one line.
func (r report) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%v %s", r.Extent, strings.Replace(r.Types, ":", "→", 1))
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
		fmt.Fprintf(&b, ", %s on %s", r.On, console.Escape(r.Device))
	} else if r.Level == "" {
		fmt.Fprintf(&b, ", %s", display.Count(r.Workers, "worker"))
	} else {
		fmt.Fprintf(&b, ", %s on %s", r.Level, display.Count(r.Workers, "worker"))
	}
	fmt.Fprintf(&b, ", %s, %s GB/s", display.Duration(r.Milliseconds), display.Rounded(r.GBPerSecond))
	if r.Out != "" {
		fmt.Fprintf(&b, " → %s", imagefile.NameOf(r.Out))
	}
	return b.String()
}

// many reports whether there are several images or an output folder.
func (c *Integrate) many() bool { return imagefile.Several(c.Ins, c.Out) }

// runMany integrates one image after another.
func (c *Integrate) runMany(sh *console.Shell) error {
	outs, err := c.outputs()
	if err != nil {
		return err
	}
	return imagefile.Each(sh, c.Ins, outs, c.Out, c.JSON, func(in, out string) (report, error) {
		one := *c
		one.In, one.Out = in, out
		r, err := one.make(sh)
		if c.JSON {
			r.In = in
		}
		return r, err
	})
}

// outputs returns the output files, in the folder named by --out.
func (c *Integrate) outputs() ([]string, error) {
	switch {
	case c.Demo:
		return nil, console.Usage("--demo draws its own image: leave out %s", strings.Join(c.Ins, " "))
	case c.Volume:
		return nil, console.Usage("--volume needs one IN and one OUT: process volumes one at a time")
	case len(c.Ins) == 0:
		return nil, console.Usage("no image: name a file, or use --demo")
	case c.Out == "":
		return make([]string, len(c.Ins)), imagefile.CheckLast(c.Ins, "")
	}
	extension := ".npy"
	if c.Squares || c.Tilted {
		extension = ".npz"
	}
	return imagefile.InFolder(c.Ins, c.Out, "tables", func(string) string { return extension })
}
