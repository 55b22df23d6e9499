package tables

import (
	"bufio"
	"encoding/csv"
	"errors"
	"fmt"
	"image"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/cli/console"
	"github.com/boxsum/boxsum/internal/cli/display"
	"github.com/boxsum/boxsum/internal/cli/flags"
	"github.com/boxsum/boxsum/internal/cli/imagefile"
)

// Query implements the query command.
type Query struct {
	In     string   `arg:"" name:"IN" help:"Image (PNG, JPEG, GIF, BMP, TIFF, WebP, PNM) or .npy array; with --table, a saved table; - is standard input."`
	Box    boxTexts `placeholder:"X0,Y0,X1,Y1" help:"Box to sum, which excludes column X1 and row Y1; X0,Y0,Z0,X1,Y1,Z1 with --volume. May be repeated. Default: the whole image."`
	Boxes  string   `placeholder:"FILE" help:"File with a box per line, its numbers separated by commas, spaces or tabs; - is standard input. # starts a comment. A header may name the columns: x0,y0,x1,y1 or x,y,width,height."`
	Volume bool     `help:"IN is a volume: a folder of pictures of one size, a TIFF file with several pages, or a .npy array of shape (D,H,W) or (D,H,W,C)."`
	Table  bool     `xor:"what" help:"IN is a table that integrate wrote, .npy or .npz: only the entries that the boxes need are read. The deviation needs the squares, in a .npz file."`
	Image  bool     `xor:"what" help:"IN is an image, even if it is an array that looks like a table."`
	Cache  string   `default:"256MiB" placeholder:"SIZE" help:"For a table in a store: maximum memory for the parts that have been read (default ${default})."`
	rotateFlags
	imagefile.Flags
	validFlags
	flags.Place
	Verbose bool `short:"v" help:"Also report on standard error how the image was integrated, and how fast."`
	JSON    bool `name:"json" xor:"form" help:"Print JSON."`
	CSV     bool `name:"csv" xor:"form" help:"Print comma-separated values with all digits."`
}

// Run prints the statistics of every box.
func (c *Query) Run(sh *console.Shell) error {
	if err := c.validFlags.check(map[string]bool{"--volume": c.Volume, "--rotate and --rect": c.rotates(), "--table": c.Table}); err != nil {
		return err
	}
	corners := 4
	if c.Volume {
		if c.rotates() {
			return console.Usage("--rotate and --rect are for images: leave them out with --volume")
		}
		corners = 6
	}
	boxes, err := console.Await(sh.Ctx, func() ([]box, error) { return c.boxes(sh.Stdin, corners) })
	if err != nil {
		return err
	}
	var questions []question
	if c.rotates() {
		if questions, err = c.questions(boxes); err != nil {
			return err
		}
	}
	if imagefile.IsStore(c.In) && !c.Image {
		if done, err := c.askStore(sh, boxes); done || err != nil {
			return err
		}
	}
	if c.Table {
		return c.askSaved(sh, boxes)
	}
	if imagefile.IsSource(c.In) && !c.whole() && !c.Volume && !c.rotates() && !c.pick() && !c.OnGPU() {
		answers, err := c.askPart(sh, boxes)
		if err != nil {
			return c.tableHint(err)
		}
		return c.print(sh, answers)
	}
	answers, err := c.askImage(sh, boxes, questions)
	if err != nil {
		return err
	}
	return c.print(sh, answers)
}

// askImage answers from a table made of the image or the volume. Questions are about rotated boxes.
func (c *Query) askImage(sh *console.Shell, boxes []box, questions []question) ([]answer, error) {
	c.Volumes = true
	c.Wide = !c.Volume && !c.rotates() && !c.pick() && !c.OnGPU()
	src, err := imagefile.OpenOn(sh, &c.Place, func() (*imagefile.Source, error) { return imagefile.Open(sh, c.In, &c.Flags, c.Volume) })
	if err != nil {
		return nil, c.tableHint(err)
	}
	defer src.Close()
	if err := c.checkImage(src); err != nil {
		return nil, err
	}
	if c.whole() && !c.rotates() {
		extent := imagefile.ExtentOf(src.Image)
		if c.Volume {
			extent.Depth = src.Slices()
		}
		boxes = []box{wholeBox(extent)}
	}
	pair, err := pairExact(src.Image, src.Slices())
	if err != nil {
		return nil, err
	}
	if c.rotates() {
		return c.askRotated(sh, pair, src, questions)
	}
	return c.ask(sh, pair, src, boxes)
}

// askPart answers from the part of an image in a store or a mosaic that contains all boxes.
func (c *Query) askPart(sh *console.Shell, boxes []box) ([]answer, error) {
	var clipped []box // relative to the part
	src, err := imagefile.OpenPart(sh, c.In, &c.Flags, func(width, height int) (part image.Rectangle) {
		extent := imagefile.Extent{Width: width, Height: height, Channels: 1}
		for _, b := range boxes {
			part = part.Union(clip(extent, b).rectangle())
		}
		if part.Empty() { // an image has at least one pixel
			part = image.Rect(0, 0, min(1, width), min(1, height))
		}
		for _, b := range boxes {
			r := clip(extent, b).rectangle().Sub(part.Min)
			clipped = append(clipped, box{r.Min.X, r.Min.Y, r.Max.X, r.Max.Y})
		}
		return part
	})
	if err != nil {
		return nil, err
	}
	defer src.Close()
	if clipped == nil { // the array was read as a whole
		clipped = boxes
	}
	pair, err := pairExact(src.Image, 1)
	if err != nil {
		return nil, err
	}
	answers, err := c.ask(sh, pair, src, clipped)
	for i := range answers {
		answers[i].box = boxes[i]
	}
	return answers, err
}

// ask answers from the upright table of an image, or from the table of a volume.
func (c *Query) ask(sh *console.Shell, pair pair, src *imagefile.Source, boxes []box) ([]answer, error) {
	if src.Device == nil && src.Stack == nil && !c.pick() {
		if pixels := directOf(src.Image); pair.wide || few(pixels, boxes) {
			return c.askDirectly(sh, pixels, boxes)
		}
	}
	opt := &boxsum.Options{}
	valid, err := c.valid(sh, &c.Flags)
	if err != nil {
		return nil, err
	}
	work, took, err := makeTables(sh, src, pair, tableChoice{squares: true, valid: valid}, opt)
	if errors.Is(err, boxsum.ErrMemory) && src.Device == nil && src.Stack == nil && valid == nil {
		sums, err := newStreamed(sh.Ctx, pair, src.Image, boxes, sh.Progress.Share("summing row by row"))
		if err != nil {
			return nil, err
		}
		return c.answers(sh, sums, boxes)
	}
	if err != nil {
		return nil, err
	}
	answers, err := c.answers(sh, work, boxes)
	if err == nil && c.Verbose {
		sh.Progress.Close()
		fmt.Fprintln(sh.Stderr, newReport(work, src.Device, opt, took, ""))
	}
	return answers, err
}

// An oracle computes the statistics of boxes.
type oracle interface {
	size() imagefile.Extent
	area(b box) int64               // of the clipped box
	stats(b box, channel int) stats // of one channel
}

// answers returns the statistics of every box.
func (c *Query) answers(sh *console.Shell, of oracle, boxes []box) ([]answer, error) {
	sh.Progress.Begin("summing", 0)
	answers := make([]answer, 0, len(boxes))
	for _, b := range boxes {
		if err := sh.Ctx.Err(); err != nil {
			return nil, err
		}
		a := answer{box: b, solid: c.Volume, area: of.area(b)}
		for channel := range of.size().Channels {
			a.channels = append(a.channels, of.stats(b, channel))
		}
		answers = append(answers, a)
	}
	return answers, nil
}

// print prints the answers in the chosen format.
func (c *Query) print(sh *console.Shell, answers []answer) (err error) {
	c.tellNaN(sh, answers)
	w := bufio.NewWriter(sh.Results())
	switch {
	case c.JSON:
		err = display.JSONLines(w, answers)
		fmt.Fprintln(w)
	case c.CSV:
		err = csv.NewWriter(w).WriteAll(c.csvRows(answers))
	default:
		err = display.Columns(w, answerRows(answers, c.Volume, 8))
	}
	return errors.Join(err, w.Flush())
}

// tellNaN notes how to leave out NaN, if a sum is NaN.
func (c *Query) tellNaN(sh *console.Shell, answers []answer) {
	if c.NaN == "skip" || !slices.ContainsFunc(answers, func(a answer) bool {
		return slices.ContainsFunc(a.channels, func(s stats) bool { return math.IsNaN(s.mean) && a.area > 0 })
	}) {
		return
	}
	switch {
	case c.Table || imagefile.IsStore(c.In) && !c.Image:
		sh.Say("sums are NaN because the image has NaN pixels: integrate it with --nan skip to leave them out")
	case c.Volume || c.rotates() || c.OnGPU():
		sh.Say("sums are NaN because the image has NaN pixels")
	default:
		sh.Say("sums are NaN because the image has NaN pixels: use --nan skip to leave them out")
	}
}

// csvRows returns the answers with one column per coordinate.
func (c *Query) csvRows(answers []answer) [][]string {
	names := "x0,y0,x1,y1"
	switch {
	case c.Volume:
		names = "x0,y0,z0,x1,y1,z1"
	case c.rotates():
		names = "c0,r0,c1,r1"
	}
	rows := answerRows(answers, c.Volume, -1)
	for i, row := range rows {
		box := row[0]
		if i == 0 {
			box = names
		}
		rows[i] = append(strings.Split(box, ","), row[1:]...)
	}
	return rows
}

// whole reports whether no boxes were given, which selects the whole image.
func (c *Query) whole() bool { return c.Boxes == "" && len(c.Box) == 0 }

func wholeBox(e imagefile.Extent) box {
	if e.Depth > 0 {
		return box{0, 0, 0, e.Width, e.Height, e.Depth}
	}
	return box{0, 0, e.Width, e.Height}
}

// boxes returns the boxes of the flags, followed by those of the file.
func (c *Query) boxes(stdin io.Reader, corners int) ([]box, error) {
	if c.Rotate.set && c.whole() && len(c.Rect) == 0 {
		return nil, console.Usage("no boxes: give --box %s, or a file of them with --boxes FILE", boxForms[corners])
	}
	var boxes []box
	for _, text := range c.Box {
		b, err := parseBox(text, corners)
		if err != nil {
			return nil, console.Usage("--box: %w", err)
		}
		boxes = append(boxes, b)
	}
	return boxesOf(boxes, c.Boxes, c.In, stdin, corners)
}
