package main

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/gpu"
	"github.com/boxsum/boxsum/imgio"
	"github.com/boxsum/boxsum/internal/engine"
)

type integrateCmd struct {
	In      string `arg:"" optional:"" name:"IN" help:"Image (PNG, JPEG, GIF, BMP, TIFF, WebP, PNM) or .npy array; - is standard input."`
	Demo    bool   `help:"Integrate a picture of 1920×1080 that boxsum draws itself, instead of IN."`
	Out     string `short:"o" placeholder:"OUT" help:"Where the table goes: .npy (one table), .npz (keys sum, squares and tilted) or .png (a heat map); - is .npy on standard output."`
	Type    string `enum:"auto,u32,u64,i64,f32,f64" default:"auto" help:"Type of the sums: auto, u32, u64, i64, f32 or f64. Auto is u32 for 8-bit pixels, u64 for 16- and 32-bit ones, i64 for signed ones and f64 for floats."`
	Squares bool   `help:"Also make the table of squares."`
	Tilted  bool   `help:"Also make the 45° table, OpenCV's tilted one, of the pixels themselves."`
	Volume  bool   `help:"IN is a volume: a folder of pictures of one size, a TIFF file with several pages, or a .npy array of shape (D,H,W) or (D,H,W,C)."`
	Color   string `enum:"gray,keep" default:"gray" help:"What to do with colour: gray makes one channel of it, keep keeps its channels. Arrays (.npy) keep theirs."`
	Workers int    `placeholder:"N" help:"Goroutines to use at most; all processors unless told."`
	engineFlags
	Algorithm string `placeholder:"NAME" help:"Use a published algorithm instead of boxsum's own, such as intimg/parallel; boxsum bench --algorithms help lists them. It works in a type of its own, which --type may choose."`
	JSON      bool   `name:"json" help:"Print JSON instead of the line."`
}

// Help is the long help of the command.
func (*integrateCmd) Help() string {
	return `The table of a W×H image has (H+1)×(W+1) sums: entry (x,y) is the sum of the pixels above and to the left of it. One line tells what was done, and how fast.

Examples:

    boxsum integrate --demo -o demo.npz
    boxsum integrate photo.jpg -o table.npy
    boxsum integrate photo.png --color keep --squares -o tables.npz
    boxsum integrate photo.png --squares --tilted -o tables.npz
    boxsum integrate depth.npy --type f64 -o heat.png
    boxsum integrate photo.png --on cuda -o table.npy
    boxsum integrate --volume scan.tiff -o table.npy
    boxsum integrate --volume slices/ --squares -o tables.npz
    boxsum integrate photo.png --algorithm bertazzini/threads -o table.npy
    boxsum integrate photo.png --algorithm bilgic/scan-transpose --on opencl -o table.npy

With --squares --tilted the three tables are those of OpenCV's integral3, to the bit for the types that it has; its sums of squares are always floats.

Integer sums wrap where the table outgrows their type, as OpenCV's do; boxes stay exact as long as their own sum fits. So do the squares of integers, in 64 bits: all boxes of 8- and 16-bit pixels fit, and those of 32 bits while the squares in a box add up to less than 2^64. Squares of floats are floats.

With --volume, entry (x,y,z) of (D+1)×(H+1)×(W+1) is the sum of the voxels before it in all three directions. Pictures in a folder are taken in the order of their names, slice2.png before slice10.png.

A table that does not fit in memory is written to a .npy or .npz file row by row, or slice by slice; a large .npy image is read from its file as it is needed.`
}

// Run integrates, writes and reports.
func (c *integrateCmd) Run(sh *shell) error {
	if c.Algorithm != "" {
		return c.runAlgorithm(sh)
	}
	if c.Volume {
		return c.runVolume(sh)
	}
	opt, err := c.options(c.Workers)
	if err != nil {
		return err
	}
	var out format
	if c.Out != "" {
		if out, err = formatOf(c.Out, c.Squares, c.Tilted); err != nil {
			return err
		}
		if err := checkFolder(c.Out); err != nil {
			return err
		}
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
	pair, err := pairNamed(img, c.Type)
	if err != nil {
		return err
	}
	work, err := pair.job(img, c.Squares, out.rows)
	if err != nil {
		return err
	}
	if c.Tilted {
		if err := work.tilt(out.rows); err != nil {
			return err
		}
	}
	sh.progress.begin("loading", work.read())
	work.settle(sh.progress.add)

	sh.progress.begin("integrating", 0)
	start := time.Now()
	took, err := integrateOn(device, work, opt)
	if err = cmp.Or(err, sh.ctx.Err()); err != nil {
		return err
	}
	if c.Out != "" {
		if err := sh.save(c.Out, out, work); err != nil {
			return err
		}
	}
	if work.rowByRow() {
		took = time.Since(start)
	}
	return c.print(sh, newReport(work, device, opt, took, c.Out))
}

// image is what to integrate, and how to let go of it.
func (c *integrateCmd) image(sh *shell) (img any, free func() error, err error) {
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

// print reports on standard output, unless the table went there.
func (c *integrateCmd) print(sh *shell, r report) error {
	w := sh.results()
	if c.Out == standard {
		w = sh.stderr
	}
	if c.JSON {
		return printJSON(w, r)
	}
	_, err := fmt.Fprintln(w, r)
	return err
}

// A report is what integrate says it did.
type report struct {
	Width        int     `json:"width"`
	Height       int     `json:"height"`
	Depth        int     `json:"depth,omitempty"` // of a volume
	Channels     int     `json:"channels"`
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
	r := report{Types: work.types(), RowByRow: work.rowByRow(), Out: out}
	r.Width, r.Height, r.Channels = work.size()
	if d != nil {
		r.On, r.Device = d.Info().Kind.String(), d.Info().Name
	} else {
		r.onCPU(work, opt)
	}
	r.Milliseconds = float64(took) / float64(time.Millisecond)
	r.Bytes = work.read() + work.written()
	r.GBPerSecond = float64(r.Bytes) / float64(took) // bytes in a nanosecond
	return r
}

// work is what the engine cuts, a slice of it in a volume.
func (r *report) work(pixelBytes, sumBytes int, opt *boxsum.Options) engine.Work {
	return engine.Work{
		Rows: r.Height, N: r.Width * r.Channels, Channels: r.Channels,
		PixelBytes: pixelBytes, SumBytes: sumBytes, Workers: opt.Workers,
	}
}

func (r *report) onCPU(work job, opt *boxsum.Options) {
	r.On, r.Level = "cpu", opt.Level.String()
	if opt.Level == (boxsum.Level{}) {
		r.Level = theCPU().Level
	}
	r.Workers = r.work(work.pixelBytes(), work.sumBytes(), opt).Plan().Workers
	if r.RowByRow {
		r.Workers = 1
	}
}

// String is the report in one line.
func (r report) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d×%d", r.Width, r.Height)
	if r.Depth > 0 {
		fmt.Fprintf(&b, "×%d", r.Depth)
	}
	if r.Channels > 1 {
		fmt.Fprintf(&b, "×%d", r.Channels)
	}
	fmt.Fprintf(&b, " %s", strings.Replace(r.Types, ":", "→", 1))
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
	fmt.Fprintf(&b, ", %s ms, %s GB/s", rounded(r.Milliseconds), rounded(r.GBPerSecond))
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

func count(n int, of string) string {
	if n == 1 {
		return "1 " + of
	}
	return fmt.Sprintf("%d %ss", n, of)
}
