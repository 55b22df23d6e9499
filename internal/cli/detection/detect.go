package detection

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/alecthomas/kong"
	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/detect"
	"github.com/boxsum/boxsum/imgio"
	"github.com/boxsum/boxsum/internal/cli/console"
	"github.com/boxsum/boxsum/internal/cli/display"
	"github.com/boxsum/boxsum/internal/cli/flags"
	"github.com/boxsum/boxsum/internal/cli/imagefile"
	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/internal/y4m"
)

// Detect implements the detect command.
type Detect struct {
	Ins       []string     `arg:"" optional:"" name:"IN" help:"Image (PNG, JPEG, GIF, BMP, TIFF, WebP, PNM) or .npy array; - is standard input. Several are processed in turn; one that fails does not stop the others. A .y4m file, or such a stream on standard input, is searched frame by frame."`
	Cascade   string       `xor:"detector" placeholder:"XML" help:"Cascade in OpenCV's format: a file, or the name of an installed one: frontalface, eye, profileface, frontalface_alt2 …"`
	HOG       string       `name:"hog" xor:"detector" placeholder:"FILE" help:"Histograms of oriented gradients instead, with coefficients that OpenCV saved as XML, YAML or JSON; people and daimler stand for those of an installed OpenCV."`
	Angles    angleList    `default:"0" placeholder:"DEG,…" help:"Rotations of objects to find, in degrees clockwise: 0, a list such as -45,0,45, or all (default ${default})."`
	Turn      string       `enum:"image,tables" default:"image" help:"How angles between multiples of 45 are searched: in a rotated image, or on rotated tables of the image, along the nearest ratio of numbers up to 5 (default ${default})."`
	Mirror    bool         `help:"Also find mirrored objects, such as profiles that look the other way: marked \"mirrored\" in JSON and in the table."`
	EachAngle bool         `help:"Search every angle separately, even where the first stages reject the angles on both sides of it."`
	Scale     *float64     `placeholder:"S" help:"Ratio of one window size to the next (default 1.1, or 1.05 with --hog). Values closer to 1 find more and take longer."`
	Neighbors *int         `placeholder:"N" help:"Minimum number of other windows in which an object must be found (default 3, or 2 with --hog); 0 prints every window."`
	Threshold *float64     `placeholder:"SCORE" help:"With --hog, the minimum score of a window (default 0). A lower one finds more people, and more false positives."`
	Step      int          `placeholder:"N" help:"With --hog, the distance between windows in pixels (default: that between blocks, usually 8)."`
	Padding   int          `placeholder:"N" help:"With --hog, find objects that extend up to N pixels beyond the image (default 0)."`
	Min       flags.Window `placeholder:"N" help:"Minimum size of objects, in pixels, such as 40, or 40x60."`
	Max       flags.Window `placeholder:"N" help:"Maximum size of objects, in pixels."`
	Compat    bool         `help:"Search exactly the windows that OpenCV searches."`
	Out       string       `short:"o" placeholder:"OUT" help:"Output file for the picture with boxes: .png, .jpg, .tiff, .ppm or .npy; - is PNG on standard output. For several images, a folder such as found/; for a stream, - or a .y4m file. .tiff has all pages of IN."`
	Blur      bool         `help:"Blur the objects in the picture of -o instead of drawing boxes."`
	Eval      string       `placeholder:"TRUTH" help:"Compare with the truth in a JSON file, and print recall, false positives and time by angle and size. Without IN, all files that it names are searched."`

	imagefile.Flags `set:"color=keep"`
	On              flags.DeviceName `words:"auto,cpu,cuda,opencl,all" default:"auto" help:"Device to use: cpu, cuda, opencl, one of several devices such as cuda:1, or all GPUs, which share the frames of a stream. auto is the CPU. A GPU finds the same objects, but does not support --angles."`
	Workers         int              `placeholder:"N" help:"Maximum number of threads (default: one per processor)."`
	Level           string           `enum:"auto,portable,avx2,avx512,neon" default:"auto" help:"Instruction set: auto (the best available), portable, avx2 or avx512, or neon on arm64."`
	JSON            bool             `name:"json" help:"Print JSON."`
}

// An angleList lists the rotations to search, in degrees.
type angleList []float64

// Mappers decode the flag types of this command.
var Mappers = []kong.Option{flags.One("angles in degrees, or all", parseAngles)}

func parseAngles(text string) (angleList, error) {
	if strings.TrimSpace(text) == "all" {
		return detect.AllAngles(), nil
	}
	var all angleList
	for word := range strings.SplitSeq(text, ",") {
		a, err := strconv.ParseFloat(strings.TrimSpace(word), 64)
		if err != nil || !(a >= -360 && a <= 360) {
			return nil, fmt.Errorf("angle is %.60q, want degrees from -360 to 360, such as 45, or all", word)
		}
		all = append(all, a)
	}
	return all, nil
}

// A found is a detected object as it is printed.
type found struct {
	File      string  `json:"file,omitempty"` // set if there are several inputs
	Page      int     `json:"page,omitempty"` // set if the file has several pages or frames
	X         int     `json:"x"`
	Y         int     `json:"y"`
	Width     int     `json:"width"`
	Height    int     `json:"height"`
	Angle     float64 `json:"angle"`
	Neighbors int     `json:"neighbors"`
	Score     float64 `json:"score"`
	Mirrored  bool    `json:"mirrored,omitempty"`
}

func foundOf(file string, page int, results []detect.Result) []found {
	all := make([]found, 0, len(results))
	for _, r := range results {
		all = append(all, found{file, page, r.Rect.Min.X, r.Rect.Min.Y, r.Rect.Dx(), r.Rect.Dy(), r.Angle, r.Neighbors, r.Score, r.Mirrored})
	}
	return all
}

// Run detects objects and prints them.
func (c *Detect) Run(sh *console.Shell) error {
	if len(c.Ins) == 0 && c.Eval == "" {
		return console.Usage("no image: name a file, or - for standard input")
	}
	d, err := c.detector(sh)
	if err != nil {
		return err
	}
	if c.Eval != "" {
		if c.Out != "" {
			return console.Usage("--eval writes no pictures: leave out -o")
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
	if !imagefile.Several(c.Ins, c.Out) {
		all, err := c.runOne(sh, d, c.Ins[0], c.Out, "")
		if err != nil {
			return err
		}
		return c.print(sh.Reports(c.Out), all, false)
	}
	return c.several(sh, d)
}

// stream opens the input if it is a stream of frames. If standard input holds a picture, it can
// still be read afterwards.
func (c *Detect) stream(sh *console.Shell) (io.Reader, io.Closer, error) {
	in := c.Ins[0]
	if in == console.Standard {
		r := bufio.NewReaderSize(sh.Stdin, 1<<16)
		sh.Stdin = r
		head, err := console.Await(sh.Ctx, func() ([]byte, error) { return r.Peek(len(y4m.Magic)) })
		if err != nil && sh.Ctx.Err() != nil {
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
	if err := imagefile.CheckApart(in, c.Out, false); err != nil {
		return nil, nil, err
	}
	f, err := os.Open(in)
	return f, f, err
}

// several searches one image after another.
func (c *Detect) several(sh *console.Shell, d *detector) error {
	outs := make([]string, len(c.Ins))
	if c.Out != "" {
		var err error
		if outs, err = imagefile.InFolder(c.Ins, c.Out, "pictures", func(in string) string { return c.PagedExtension(in, ".png") }); err != nil {
			return err
		}
		if err := os.MkdirAll(c.Out, 0o777); err != nil {
			return err
		}
	}
	var all []found
	failed := 0
	for i, in := range c.Ins {
		sh.Progress.Close()
		sh.StartProgress()
		sh.Progress.Of(fmt.Sprintf("%d of %d: ", i+1, len(c.Ins)))
		results, err := c.runOne(sh, d, in, outs[i], in)
		if sh.Ctx.Err() != nil {
			return sh.Ctx.Err()
		}
		sh.Progress.Close()
		sh.SayAll()
		if err != nil {
			failed++
			sh.Failed(in, err)
		}
		all = append(all, results...)
	}
	if err := c.print(sh.Results(), all, true); err != nil {
		return err
	}
	if failed > 0 {
		return fmt.Errorf("%d of %d images failed", failed, len(c.Ins))
	}
	return nil
}

// print prints the detected objects.
func (c *Detect) print(w io.Writer, all []found, files bool) error {
	if c.JSON {
		if err := display.JSONLines(w, all); err != nil {
			return err
		}
		_, err := fmt.Fprintln(w)
		return err
	}
	pages := slices.ContainsFunc(all, func(f found) bool { return f.Page > 0 })
	row := func(file, page string, cells ...string) (row []string) {
		if files {
			row = append(row, file)
		}
		if pages {
			row = append(row, page)
		}
		return append(row, cells...)
	}
	rows := [][]string{row("file", "page", "x", "y", "width", "height", "angle", "neighbors", "score")}
	if c.Mirror {
		rows[0] = append(rows[0], "mirrored")
	}
	for _, f := range all {
		rows = append(rows, row(console.Escape(f.File), strconv.Itoa(max(1, f.Page)), strconv.Itoa(f.X), strconv.Itoa(f.Y), strconv.Itoa(f.Width), strconv.Itoa(f.Height),
			fmt.Sprintf("%.1f", f.Angle), strconv.Itoa(f.Neighbors), fmt.Sprintf("%.2f", f.Score)))
		if c.Mirror {
			last := &rows[len(rows)-1]
			*last = append(*last, map[bool]string{true: "yes", false: "no"}[f.Mirrored])
		}
	}
	return display.Columns(w, rows)
}

// runOne searches one image, draws the results if there is an output, and returns them under the
// name of the file. It searches all pages of a file, unless the output has only one.
func (c *Detect) runOne(sh *console.Shell, d *detector, in, out, file string) (all []found, err error) {
	format := ""
	if out != "" {
		if format, err = imagefile.FormatOf(out, "png", ".jpg"); err != nil {
			return nil, err
		}
	}
	src, err := c.open(sh, in, out, true)
	if err != nil {
		return nil, err
	}
	defer src.Close()
	page := 0 // until there are several
	search := func() ([]detect.Result, boxsum.Image[uint8], error) {
		if src.Pages > 1 {
			page++
		}
		results, img, _, err := d.search(sh, src, in)
		all = append(all, foundOf(file, page, results)...)
		return results, img, err
	}
	if out == "" {
		err := imagefile.EachPage(sh, src, func(int) error {
			_, _, err := search()
			return err
		})
		return all, err
	}
	err = imagefile.SavePages(sh, out, format, src, func() (any, error) {
		results, img, err := search()
		if err != nil {
			return nil, err
		}
		picture, err := inColor(img, c.Blur)
		if err != nil {
			return nil, err
		}
		return picture, mark(planesOf(picture), results, c.Blur, boxColor[:])
	})
	return all, err
}

// open opens a file, with all pages if requested.
func (c *Detect) open(sh *console.Shell, in, out string, pages bool) (*imagefile.Source, error) {
	if err := imagefile.CheckApart(in, out, false); err != nil {
		return nil, err
	}
	how := c.Flags
	how.AllPages = pages
	return imagefile.OpenOn(sh, &flags.Place{On: "cpu"}, func() (*imagefile.Source, error) { return imagefile.Open(sh, in, &how, false) })
}

// search returns the objects in an image, and a copy of the image with 8 bits to draw on.
func (d *detector) search(sh *console.Shell, src *imagefile.Source, in string) (results []detect.Result, img boxsum.Image[uint8], took time.Duration, err error) {
	by := imagefile.Byte
	switch pixel := src.Image.Type; pixel {
	case raster.U8:
	case raster.U16:
		by = imagefile.UpperByte
	default:
		return nil, img, 0, fmt.Errorf("%s: pixels are %v, want uint8 or uint16", imagefile.NameOf(in), pixel)
	}
	bytes, err := imagefile.Converted(src.Image, by)
	if err != nil {
		return nil, img, 0, err
	}
	img = imagefile.ImageOf[uint8](bytes)
	sh.Progress.Begin("searching", 0)
	gray := img
	if img.Channels == 2 { // gray and alpha
		if gray, err = channelOf(img, 0); err != nil {
			return nil, img, 0, err
		}
	}
	start := time.Now()
	results, err = d.find(nil, gray, d.workers, sh.Progress.Share("searching"))
	return results, img, time.Since(start), err
}

// frames searches a stream and prints a line for each frame.
func (c *Detect) frames(sh *console.Shell, d *detector, stream io.Reader) error {
	if c.Out != "" && c.Out != console.Standard && !strings.EqualFold(filepath.Ext(c.Out), ".y4m") {
		return console.Usage("%s: the frames of a stream go to standard output, -o -, or to a .y4m file", c.Out)
	}
	r, err := console.Await(sh.Ctx, func() (*y4m.Reader, error) { return y4m.NewReader(stream) })
	if err != nil {
		return err
	}
	if c.Out == "" || c.Out == console.Standard {
		return c.eachFrame(sh, d, r, sh.Stdout)
	}
	if err := imagefile.CheckFolder(c.Out); err != nil {
		return err
	}
	return imgio.WriteFile(c.Out, func(w io.Writer) error { return c.eachFrame(sh, d, r, w) })
}

// A frameSlot holds a frame while it is read, searched, printed and written. Frames leave in the
// order in which they came.
type frameSlot struct {
	number  int
	frame   y4m.Frame
	results []detect.Result
	err     error
	done    chan struct{} // closed when the frame has been searched
}

// searchFrames searches frames. A device searches all of them in one call.
func (d *detector) searchFrames(slots []*frameSlot, workers int) {
	var images []boxsum.Image[uint8]
	for _, slot := range slots {
		light := slot.frame.Planes[0]
		img := boxsum.Image[uint8]{Pix: light.Pix, Width: light.Width, Height: light.Height, Channels: 1, Stride: light.Width}
		if !d.onGPU() {
			slot.results, slot.err = d.find(slot.results[:0], img, workers, nil)
		}
		images = append(images, img)
	}
	if !d.onGPU() {
		return
	}
	found, err := d.findEach(images)
	for i, slot := range slots {
		if slot.err = err; err == nil {
			slot.results = found[i]
		}
	}
}

// lanesOf returns the number of frames to search concurrently, and the number of workers for each,
// so that frames do not wait for each other's last bands.
func lanesOf(workers int) (lanes, each int) {
	lanes = min(max(workers/4, 1), 4)
	return lanes, workers / lanes
}

// eachFrame searches frames while others are read, and writes the output if one is requested.
func (c *Detect) eachFrame(sh *console.Shell, d *detector, r *y4m.Reader, to io.Writer) error {
	var w *y4m.Writer
	if c.Out != "" {
		var err error
		if w, err = y4m.NewWriter(to, r.Header); err != nil {
			return err
		}
	}
	lanes, workers := lanesOf(d.workers)
	ahead, most := 2, 1 // frames to read ahead, and frames searched in one call
	if d.onGPU() {
		lanes, ahead, most = 1, 16, 16
	}
	free, work, order := make(chan *frameSlot, lanes+ahead), make(chan *frameSlot, lanes+ahead), make(chan *frameSlot, lanes+ahead)
	for range lanes + ahead {
		free <- &frameSlot{done: make(chan struct{}, 1)}
	}
	stop := make(chan struct{})
	defer close(stop)
	go func() { // reads frames; a blocked read ends with the process
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
				d.searchFrames(slots, workers)
				for _, slot := range slots {
					if slot.err != nil {
						slot.err = fmt.Errorf("frame %d: %w", slot.number, slot.err)
					} else if w != nil {
						slot.err = mark(planesOfFrame(&slot.frame), slot.results, c.Blur, boxColorYUV[:])
					}
					slot.done <- struct{}{}
				}
			}
		}()
	}
	reports := sh.Reports(c.Out)
	for n := 0; ; n++ {
		slot, err := console.Await(sh.Ctx, func() (*frameSlot, error) {
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
		if err := c.printFrame(reports, n, foundOf("", 0, slot.results)); err != nil {
			return err
		}
		if w != nil {
			if _, err := console.Await(sh.Ctx, func() (struct{}, error) { return struct{}{}, w.Write(&slot.frame) }); err != nil {
				return err
			}
		}
		free <- slot
	}
}

// printFrame prints the results of a frame as a line of JSON or of rectangles.
func (c *Detect) printFrame(w io.Writer, n int, all []found) error {
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
