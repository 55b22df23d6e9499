package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"

	"github.com/boxsum/boxsum"
)

type queryCmd struct {
	In     string   `arg:"" name:"IN" help:"Image (PNG, JPEG, GIF, BMP, TIFF, WebP, PNM) or .npy array; - is standard input."`
	Box    boxTexts `placeholder:"X0,Y0,X1,Y1" help:"Box to sum, from its first column and row up to, not with, X1 and Y1; X0,Y0,Z0,X1,Y1,Z1 with --volume. May be given again."`
	Boxes  string   `placeholder:"FILE" help:"File with a box on every line; - is standard input."`
	Volume bool     `help:"IN is a volume: a folder of pictures of one size, a TIFF file with several pages, or a .npy array of shape (D,H,W) or (D,H,W,C)."`
	rotateFlags
	Color string `enum:"gray,keep" default:"gray" help:"What to do with colour: gray makes one channel of it, keep keeps its channels. Arrays (.npy) keep theirs."`
	validFlags
	placeFlag
	Verbose bool `short:"v" help:"Also say on standard error what integrated the image, and how fast."`
	JSON    bool `name:"json" help:"Print JSON."`
}

// Run prints what is asked of every box.
func (c *queryCmd) Run(sh *shell) error {
	if err := c.validFlags.check(map[string]bool{"--volume": c.Volume, "--rotate and --rect": c.rotates(), "--on cuda and --on opencl": c.onGPU()}); err != nil {
		return err
	}
	corners := 4
	if c.Volume {
		if c.rotates() {
			return errors.New("--rotate and --rect are for images: leave them out with --volume")
		}
		corners = 6
	}
	boxes, err := await(sh.ctx, func() ([]box, error) { return c.boxes(sh.stdin, corners) })
	if err != nil {
		return err
	}
	var questions []question
	if c.rotates() {
		if questions, err = c.questions(boxes); err != nil {
			return err
		}
	}
	src, err := sh.source(&c.placeFlag, func() (*source, error) { return sh.openSource(c.In, c.Color, c.Volume) })
	if err != nil {
		return err
	}
	defer src.close()
	pair, err := pairExact(src.image, src.slices())
	if err != nil {
		return err
	}
	var answers []answer
	if c.rotates() {
		answers, err = c.askRotated(sh, pair, src, questions)
	} else {
		answers, err = c.ask(sh, pair, src, boxes)
	}
	if err != nil {
		return err
	}
	return c.print(sh, answers)
}

// ask answers from the upright table of an image, or from that of a volume.
func (c *queryCmd) ask(sh *shell, pair pair, src *source, boxes []box) ([]answer, error) {
	opt := &boxsum.Options{}
	valid, err := c.valid(sh, c.Color)
	if err != nil {
		return nil, err
	}
	work, took, err := sh.tables(src, pair, tableChoice{squares: true, valid: valid}, opt)
	if err != nil {
		return nil, err
	}
	sh.progress.begin("summing", 0)
	answers := make([]answer, 0, len(boxes))
	for _, b := range boxes {
		if err := sh.ctx.Err(); err != nil {
			return nil, err
		}
		a := answer{box: b, solid: c.Volume, area: work.area(b)}
		for channel := range work.size().Channels {
			a.channels = append(a.channels, work.stats(b, channel))
		}
		answers = append(answers, a)
	}
	if c.Verbose {
		sh.progress.close()
		fmt.Fprintln(sh.stderr, newReport(work, src.device, opt, took, ""))
	}
	return answers, nil
}

// print prints the answers.
func (c *queryCmd) print(sh *shell, answers []answer) (err error) {
	w := bufio.NewWriter(sh.results())
	if c.JSON {
		err = printLinesJSON(w, answers)
		fmt.Fprintln(w)
	} else {
		err = printAnswers(w, answers, c.Volume)
	}
	return errors.Join(err, w.Flush())
}

// boxes are those of the flags and then those of the file.
func (c *queryCmd) boxes(stdin io.Reader, corners int) ([]box, error) {
	if c.Boxes == "" && len(c.Box) == 0 && len(c.Rect) == 0 {
		return nil, fmt.Errorf("no boxes: give --box %s, or a file of them with --boxes FILE", boxForms[corners])
	}
	var boxes []box
	for _, text := range c.Box {
		b, err := parseBox(text, corners)
		if err != nil {
			return nil, fmt.Errorf("--box: %w", err)
		}
		boxes = append(boxes, b)
	}
	return boxesOf(boxes, c.Boxes, c.In, stdin, corners)
}

// An answer is what a query says of one box.
type answer struct {
	box      box
	channels []stats
	area     int64      // in pixels, or voxels
	solid    bool       // the box is of a volume
	rotation string     // of the box's lattice, where that is not upright
	rect     *rectangle // that the box is the nearest to
}

// printAnswers prints a line for every channel of every box.
func printAnswers(w io.Writer, answers []answer, solid bool) error {
	several := slices.ContainsFunc(answers, func(a answer) bool { return len(a.channels) > 1 })
	rotates := slices.ContainsFunc(answers, func(a answer) bool { return a.rotation != "" })
	row := func(box, rotation, channel string, numbers ...string) []string {
		row := []string{box}
		if rotates {
			row = append(row, rotation)
		}
		if several {
			row = append(row, channel)
		}
		return append(row, numbers...)
	}
	size := "area"
	if solid {
		size = "voxels"
	}
	rows := [][]string{row("box", "rotate", "channel", "sum", "mean", "std", size)}
	for _, a := range answers {
		for c, s := range a.channels {
			rows = append(rows, row(a.box.String(), a.rotation, strconv.Itoa(c),
				plain(s.sum), fmt.Sprintf("%.8g", s.mean), fmt.Sprintf("%.8g", s.std), strconv.FormatInt(a.areaOf(s), 10)))
		}
	}
	return printColumns(w, rows)
}

// printColumns lines up rows: the first column to the left, where the words
// are, and the others to the right.
func printColumns(w io.Writer, rows [][]string) error {
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], len(cell))
		}
	}
	for _, row := range rows {
		fmt.Fprintf(w, "%-*s", widths[0], row[0])
		for i, cell := range row[1:] {
			fmt.Fprintf(w, "  %*s", widths[i+1], cell)
		}
		if _, err := fmt.Fprintln(w); err != nil {
			return err
		}
	}
	return nil
}

// plain is a sum in digits: without an exponent where a reader can do without.
func plain(sum any) string {
	if f, ok := sum.(float64); ok && math.Abs(f) < 1e15 {
		return strconv.FormatFloat(f, 'f', -1, 64)
	}
	return fmt.Sprint(sum)
}

// printLinesJSON prints an array with a line for each value, and nothing after it.
func printLinesJSON[T any](w io.Writer, values []T) error {
	between := ""
	fmt.Fprint(w, "[")
	for _, value := range values {
		text, err := json.Marshal(value)
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "%s\n  %s", between, text)
		between = ","
	}
	if len(values) > 0 {
		fmt.Fprintln(w)
	}
	_, err := fmt.Fprint(w, "]")
	return err
}

// oneOrAll is a number for one channel, and an array for several.
func oneOrAll(values []any) any {
	if len(values) == 1 {
		return values[0]
	}
	return values
}

// MarshalJSON has one number for one channel and an array for several.
func (a answer) MarshalJSON() ([]byte, error) {
	var sum, mean, std []any
	for _, s := range a.channels {
		sum, mean, std = append(sum, finite(s.sum)), append(mean, finite(s.mean)), append(std, finite(s.std))
	}
	var voxels *int64 // by its own name, and by the one that all boxes have
	if a.solid {
		voxels = &a.area
	}
	return json.Marshal(struct {
		Box    any        `json:"box"`
		Rotate string     `json:"rotate,omitempty"`
		Rect   *rectangle `json:"rect,omitempty"` // x, y, width, height, degrees
		Sum    any        `json:"sum"`
		Mean   any        `json:"mean"`
		Std    any        `json:"std"`
		Area   any        `json:"area"`
		Voxels *int64     `json:"voxels,omitempty"`
	}{a.box, a.rotation, a.rect, oneOrAll(sum), oneOrAll(mean), oneOrAll(std), a.areaJSON(), voxels})
}

// finite is a number that JSON can hold, and null for NaN and infinities.
func finite(number any) any {
	if f, ok := number.(float64); ok && (math.IsNaN(f) || math.IsInf(f, 0)) {
		return nil
	}
	return number
}
