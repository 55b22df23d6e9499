package cli

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"image"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/detect"
	"github.com/boxsum/boxsum/gpu"
	"github.com/boxsum/boxsum/imgio"
	"github.com/boxsum/boxsum/internal/cascade/installed"
	"github.com/boxsum/boxsum/internal/y4m"
)

type detectCmd struct {
	Ins       []string   `arg:"" optional:"" name:"IN" help:"Image (PNG, JPEG, GIF, BMP, TIFF, WebP, PNM) or .npy array; - is standard input. Several go one after the other: one that fails does not stop the rest. A .y4m file, and such a stream on standard input, is frames, one after the other."`
	Cascade   string     `required:"" placeholder:"XML" help:"What to find: a cascade of OpenCV's, as a file, or by name where it is installed: frontalface, eye, profileface, frontalface_alt2 …"`
	Angles    angleList  `default:"0" placeholder:"DEG,…" help:"How far objects may be turned, in degrees clockwise: 0, a list such as -45,0,45, or all (${default})."`
	Turn      string     `enum:"image,tables" default:"image" help:"How angles between multiples of 45 are searched: in a turned image, or on rotated tables of the image as it is, along the nearest ratio of numbers up to 5 (${default})."`
	Mirror    bool       `help:"Find also what is as in a mirror, such as profiles that look the other way: JSON has \"mirrored\" for these, and a table says so."`
	EachAngle bool       `help:"Search every angle by itself, also where the first stages of angles on both sides reject."`
	Scale     float64    `default:"1.1" placeholder:"S" help:"Ratio of one size of windows to the next (${default}): nearer to 1 finds more, and takes longer."`
	Neighbors int        `default:"3" placeholder:"N" help:"How many windows besides its own something must be found in (${default}); 0 prints every window."`
	Min       windowFlag `placeholder:"N" help:"Least size to find, in pixels, such as 40, or 40x60."`
	Max       windowFlag `placeholder:"N" help:"Greatest size to find."`
	Compat    bool       `help:"Search exactly the windows that OpenCV does."`
	Out       string     `short:"o" placeholder:"OUT" help:"Where the picture with boxes goes: .png, .jpg, .tiff, .ppm or .npy; - is PNG on standard output. Several go to a folder, such as found/. Of a stream, - or a .y4m file."`
	Blur      bool       `help:"Hide what was found in the picture of -o, instead of drawing boxes."`
	Eval      string     `placeholder:"TRUTH" help:"Compare with the truth in a JSON file, and print recall, false positives and time by angle and size. Without IN, all files are searched that it names."`

	pictureFlags `set:"color=keep"`
	On           place  `words:"auto,cpu,cuda,opencl,all" default:"auto" help:"Where to search: cpu, cuda, opencl, one of several devices such as cuda:1, or all: every GPU of the machine, each with its share of a stream's frames. Auto is the CPU. A GPU finds the same; it has no --angles."`
	Workers      int    `placeholder:"N" help:"Goroutines to use at most; all processors unless told."`
	Level        string `enum:"auto,portable,avx2,avx512,neon" default:"auto" help:"Instructions to use: auto (the best there are), portable, avx2 or avx512, or neon on arm64."`
	JSON         bool   `name:"json" help:"Print JSON."`
}

// An angleList is how far objects may be turned.
type angleList []float64

func parseAngles(text string) (angleList, error) {
	if strings.TrimSpace(text) == "all" {
		return detect.AllAngles(), nil
	}
	var all angleList
	for word := range strings.SplitSeq(text, ",") {
		a, err := strconv.ParseFloat(strings.TrimSpace(word), 64)
		if err != nil || !(a >= -360 && a <= 360) {
			return nil, fmt.Errorf("%.60q is not an angle in degrees, such as 45, or all", word)
		}
		all = append(all, a)
	}
	return all, nil
}

// A found is something that was found, as it is printed.
type found struct {
	File      string  `json:"file,omitempty"` // where there are several
	X         int     `json:"x"`
	Y         int     `json:"y"`
	Width     int     `json:"width"`
	Height    int     `json:"height"`
	Angle     float64 `json:"angle"`
	Neighbors int     `json:"neighbors"`
	Score     float64 `json:"score"`
	Mirrored  bool    `json:"mirrored,omitempty"`
}

func foundOf(file string, results []detect.Result) []found {
	all := make([]found, 0, len(results))
	for _, r := range results {
		all = append(all, found{file, r.Rect.Min.X, r.Rect.Min.Y, r.Rect.Dx(), r.Rect.Dy(), r.Angle, r.Neighbors, r.Score, r.Mirrored})
	}
	return all
}

// A detector is a cascade and how to search.
type detector struct {
	*detect.Cascade
	opt    detect.Options
	device *gpu.Device // nil for the processor
}

// find is what is in an image.
func (d *detector) find(to []detect.Result, img boxsum.Image[uint8], opt *detect.Options) ([]detect.Result, error) {
	if d.device == nil {
		return d.AppendDetect(to, img, opt)
	}
	found, err := gpu.DetectHost(d.device, []boxsum.Image[uint8]{img}, d.Cascade, opt)
	if err != nil {
		return to, err
	}
	return append(to, found[0]...), nil
}

func (c *detectCmd) detector(sh *shell) (*detector, error) {
	level, err := boxsum.ParseLevel(c.Level)
	if err != nil {
		return nil, err
	}
	switch {
	case c.Workers < 0:
		return nil, usage("--workers %d is negative: give a positive number, or leave it out to use all processors", c.Workers)
	case !(c.Scale > 1 && c.Scale <= 100):
		return nil, usage("--scale %v: give a number of more than 1, such as 1.1", c.Scale)
	case c.Neighbors < 0:
		return nil, usage("--neighbors %d is negative: give 1 or more, or 0 for every window", c.Neighbors)
	case c.Blur && c.Out == "":
		return nil, usage("--blur makes a picture: name a file for it with -o")
	}
	place := placeFlag{c.On}
	if err := place.check(); err != nil {
		return nil, err
	}
	if upright := !slices.ContainsFunc(c.Angles, func(a float64) bool { return a != 0 }); place.onGPU() && !upright {
		return nil, usage("--angles are for the processor: use --on cpu, or leave them out")
	}
	switch {
	case place.onGPU() && c.Mirror:
		return nil, usage("--mirror is for the processor: use --on cpu, or leave it out")
	case c.Compat && c.Mirror:
		return nil, usage("--compat searches as OpenCV does, which has no --mirror: leave one out")
	}
	path, err := installed.Find(c.Cascade)
	if err != nil {
		return nil, err
	}
	cascade, err := detect.LoadFile(path)
	if err != nil {
		return nil, err
	}
	device, err := place.open()
	if err != nil {
		return nil, err
	}
	turn := detect.TurnImage
	if c.Turn == "tables" {
		turn = detect.TurnTables
	}
	return &detector{cascade, detect.Options{
		Turn:  turn,
		Scale: c.Scale, Neighbors: c.Neighbors, Ungrouped: c.Neighbors == 0, Angles: c.Angles, EachAngle: c.EachAngle, Mirror: c.Mirror, Compat: c.Compat,
		Min: image.Pt(c.Min.Width, c.Min.Height), Max: image.Pt(c.Max.Width, c.Max.Height),
		Workers: cmp.Or(c.Workers, runtime.GOMAXPROCS(0)), Level: level, Context: sh.ctx,
	}, device}, nil
}

// Run finds objects and prints where they are.
func (c *detectCmd) Run(sh *shell) error {
	if len(c.Ins) == 0 && c.Eval == "" {
		return usage("no image: name a file, or - for standard input")
	}
	d, err := c.detector(sh)
	if err != nil {
		return err
	}
	if c.Eval != "" {
		if c.Out != "" {
			return usage("--eval prints figures: leave -o out")
		}
		return c.evaluate(sh, d)
	}
	if len(c.Ins) == 1 {
		if stream, closer, err := c.stream(sh); err != nil || stream != nil {
			if err == nil {
				defer closer.Close()
				err = c.frames(sh, d, stream)
			}
			return err
		}
	}
	if !severalOf(c.Ins, c.Out) {
		all, err := c.one(sh, d, c.Ins[0], c.Out)
		if err != nil {
			return err
		}
		return c.print(sh.reports(c.Out), foundOf("", all), false)
	}
	return c.several(sh, d)
}

// stream opens the input if it is a stream of frames. A picture on standard input is one
// that can still be read.
func (c *detectCmd) stream(sh *shell) (io.Reader, io.Closer, error) {
	in := c.Ins[0]
	if in == standard {
		r := bufio.NewReaderSize(sh.stdin, 1<<16)
		sh.stdin = r
		head, err := await(sh.ctx, func() ([]byte, error) { return r.Peek(len(y4m.Magic)) })
		if err != nil && sh.ctx.Err() != nil {
			return nil, nil, err
		}
		if string(head) != y4m.Magic {
			return nil, nil, nil
		}
		return r, io.NopCloser(nil), nil
	}
	if !strings.EqualFold(filepath.Ext(in), ".y4m") {
		return nil, nil, nil
	}
	if err := checkApart(in, c.Out, false); err != nil {
		return nil, nil, err
	}
	f, err := os.Open(in)
	return f, f, err
}

// several searches one image after the other.
func (c *detectCmd) several(sh *shell, d *detector) error {
	outs := make([]string, len(c.Ins))
	if c.Out != "" {
		var err error
		if outs, err = inFolder(c.Ins, c.Out, "pictures", func(string) string { return ".png" }); err != nil {
			return err
		}
		if err := os.MkdirAll(c.Out, 0o777); err != nil {
			return err
		}
	}
	var all []found
	failed := 0
	for i, in := range c.Ins {
		sh.progress.close()
		sh.startProgress()
		sh.progress.of(fmt.Sprintf("%d of %d: ", i+1, len(c.Ins)))
		results, err := c.one(sh, d, in, outs[i])
		if sh.ctx.Err() != nil {
			return sh.ctx.Err()
		}
		sh.progress.close()
		sh.sayAll()
		if err != nil {
			failed++
			fmt.Fprintf(sh.stderr, "boxsum: %s: %s\n", escape(in), oneLine(err))
		}
		all = append(all, foundOf(in, results)...)
	}
	if err := c.print(sh.results(), all, true); err != nil {
		return err
	}
	if failed > 0 {
		return fmt.Errorf("%d of %d images failed", failed, len(c.Ins))
	}
	return nil
}

// print prints what was found.
func (c *detectCmd) print(w io.Writer, all []found, files bool) error {
	if c.JSON {
		if err := printLinesJSON(w, all); err != nil {
			return err
		}
		_, err := fmt.Fprintln(w)
		return err
	}
	row := func(file string, cells ...string) []string {
		if files {
			return append([]string{file}, cells...)
		}
		return cells
	}
	rows := [][]string{row("file", "x", "y", "width", "height", "angle", "neighbors", "score")}
	if c.Mirror {
		rows[0] = append(rows[0], "mirrored")
	}
	for _, f := range all {
		rows = append(rows, row(escape(f.File), strconv.Itoa(f.X), strconv.Itoa(f.Y), strconv.Itoa(f.Width), strconv.Itoa(f.Height),
			fmt.Sprintf("%.1f", f.Angle), strconv.Itoa(f.Neighbors), fmt.Sprintf("%.2f", f.Score)))
		if c.Mirror {
			last := &rows[len(rows)-1]
			*last = append(*last, map[bool]string{true: "yes", false: "no"}[f.Mirrored])
		}
	}
	return printColumns(w, rows)
}

// one searches one image, and draws what it finds there.
func (c *detectCmd) one(sh *shell, d *detector, in, out string) ([]detect.Result, error) {
	format := ""
	if out != "" {
		var err error
		if format, err = imageFormat(out, "png", ".jpg"); err != nil {
			return nil, err
		}
	}
	results, img, _, err := c.search(sh, d, in, out)
	if err != nil || out == "" {
		return results, err
	}
	picture, err := inColour(img, c.Blur)
	if err != nil {
		return nil, err
	}
	if err := mark(planesOf(picture), results, c.Blur, boxColour[:]); err != nil {
		return nil, err
	}
	return results, sh.saveAs(out, 0, func(w io.Writer) error { return imgio.Encode(w, format, picture) })
}

// search reads an image and finds what is in it. The image stays in memory.
func (c *detectCmd) search(sh *shell, d *detector, in, out string) (results []detect.Result, img boxsum.Image[uint8], took time.Duration, err error) {
	if err := checkApart(in, out, false); err != nil {
		return nil, img, 0, err
	}
	src, err := sh.source(&placeFlag{On: "cpu"}, func() (*source, error) { return sh.openSource(in, &c.pictureFlags, false) })
	if err != nil {
		return nil, img, 0, err
	}
	defer src.close()
	switch pixels := src.image.(type) {
	case boxsum.Image[uint8]: // in memory of its own, for the file is closed
		img, err = converted(pixels, func(v float64) uint8 { return uint8(v) })
	case boxsum.Image[uint16]:
		img, err = converted(pixels, upperByte)
	default:
		err = fmt.Errorf("%s: objects are found in images of 8 or 16 bits, not %T", nameOf(in), src.image)
	}
	if err != nil {
		return nil, img, 0, err
	}
	opt := d.opt
	sh.progress.begin("searching", 0)
	opt.Progress = sh.progress.share("searching")
	gray := img
	if img.Channels == 2 { // gray and opacity
		if gray, err = channelOf(img, 0); err != nil {
			return nil, img, 0, err
		}
	}
	start := time.Now()
	results, err = d.find(nil, gray, &opt)
	return results, img, time.Since(start), err
}

// frames searches a stream. It prints a line for each frame.
func (c *detectCmd) frames(sh *shell, d *detector, stream io.Reader) error {
	if c.Out != "" && c.Out != standard && !strings.EqualFold(filepath.Ext(c.Out), ".y4m") {
		return usage("%s: the frames of a stream go to standard output, -o -, or to a .y4m file", c.Out)
	}
	r, err := await(sh.ctx, func() (*y4m.Reader, error) { return y4m.NewReader(stream) })
	if err != nil {
		return err
	}
	if c.Out == "" || c.Out == standard {
		return c.eachFrame(sh, d, r, sh.stdout)
	}
	if err := checkFolder(c.Out); err != nil {
		return err
	}
	return imgio.WriteFile(c.Out, func(w io.Writer) error { return c.eachFrame(sh, d, r, w) })
}

// A frameSlot is a frame on its way: read, searched, and printed and written in order.
type frameSlot struct {
	number  int
	frame   y4m.Frame
	results []detect.Result
	err     error
	done    chan struct{} // it is searched
}

// search searches frames: together on a device, for which all of them are one call.
func (d *detector) search(slots []*frameSlot, opt *detect.Options) {
	var images []boxsum.Image[uint8]
	for _, slot := range slots {
		light := slot.frame.Planes[0]
		img := boxsum.Image[uint8]{Pix: light.Pix, Width: light.Width, Height: light.Height, Channels: 1, Stride: light.Width}
		if d.device == nil {
			slot.results, slot.err = d.AppendDetect(slot.results[:0], img, opt)
		}
		images = append(images, img)
	}
	if d.device == nil {
		return
	}
	found, err := gpu.DetectHost(d.device, images, d.Cascade, opt)
	for i, slot := range slots {
		if slot.err = err; err == nil {
			slot.results = found[i]
		}
	}
}

// lanesOf is how many frames are searched at a time by so many workers, and how many
// workers each has. Frames do not wait for each other's last bands.
func lanesOf(workers int) (lanes, each int) {
	lanes = min(max(workers/4, 1), 4)
	return lanes, workers / lanes
}

// eachFrame searches frames while others are read, and writes them where they are wanted.
func (c *detectCmd) eachFrame(sh *shell, d *detector, r *y4m.Reader, to io.Writer) error {
	var w *y4m.Writer
	if c.Out != "" {
		var err error
		if w, err = y4m.NewWriter(to, r.Header); err != nil {
			return err
		}
	}
	lanes, workers := lanesOf(d.opt.Workers)
	opt := d.opt
	opt.Workers = workers
	ahead, most := 2, 1 // frames that are read before somebody is free to search them, and that one searches at a time
	if d.device != nil {
		lanes, ahead, most = 1, 16, 16
	}
	free, work, order := make(chan *frameSlot, lanes+ahead), make(chan *frameSlot, lanes+ahead), make(chan *frameSlot, lanes+ahead)
	for range lanes + ahead {
		free <- &frameSlot{done: make(chan struct{}, 1)}
	}
	stop := make(chan struct{})
	defer close(stop)
	go func() { // reads; a read that hangs ends with the program
		defer close(work)
		for n := 0; ; n++ {
			select {
			case <-stop:
				return
			case slot := <-free:
				slot.number, slot.err = n, r.Read(&slot.frame)
				order <- slot
				if slot.err != nil {
					slot.done <- struct{}{}
					return
				}
				work <- slot
			}
		}
	}()
	for range lanes {
		go func() {
			var slots []*frameSlot
			for slot := range work {
				slots = append(slots[:0], slot)
				for len(slots) < most && len(work) > 0 {
					if slot, ok := <-work; ok {
						slots = append(slots, slot)
					}
				}
				d.search(slots, &opt)
				for _, slot := range slots {
					if slot.err != nil {
						slot.err = fmt.Errorf("frame %d: %w", slot.number, slot.err)
					} else if w != nil {
						slot.err = mark(planesOfFrame(&slot.frame), slot.results, c.Blur, boxColourYUV[:])
					}
					slot.done <- struct{}{}
				}
			}
		}()
	}
	reports := sh.reports(c.Out)
	for n := 0; ; n++ {
		slot, err := await(sh.ctx, func() (*frameSlot, error) {
			slot := <-order
			<-slot.done
			return slot, slot.err
		})
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if err := c.printFrame(reports, n, foundOf("", slot.results)); err != nil {
			return err
		}
		if w != nil {
			if _, err := await(sh.ctx, func() (struct{}, error) { return struct{}{}, w.Write(&slot.frame) }); err != nil {
				return err
			}
		}
		free <- slot
	}
}

// printFrame prints a line of JSON, or of the rectangles.
func (c *detectCmd) printFrame(w io.Writer, n int, all []found) error {
	if c.JSON {
		text, err := json.Marshal(all)
		if err == nil {
			_, err = fmt.Fprintf(w, "%s\n", text)
		}
		return err
	}
	line := fmt.Sprintf("%d:", n)
	for _, f := range all {
		line += fmt.Sprintf(" %d,%d,%d,%d", f.X, f.Y, f.Width, f.Height)
		if f.Angle != 0 {
			line += fmt.Sprintf(",%.1f", f.Angle)
		}
	}
	_, err := fmt.Fprintln(w, line)
	return err
}
