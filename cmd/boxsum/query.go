package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/alecthomas/kong"
	"github.com/boxsum/boxsum"
)

type queryCmd struct {
	In     string   `arg:"" name:"IN" help:"Image (PNG, JPEG, GIF, BMP, TIFF, WebP, PNM) or .npy array; - is standard input."`
	Box    boxTexts `placeholder:"X0,Y0,X1,Y1" help:"Box to sum, from its first column and row up to, not with, X1 and Y1; X0,Y0,Z0,X1,Y1,Z1 with --volume. May be given again."`
	Boxes  string   `placeholder:"FILE" help:"File with a box on every line; - is standard input."`
	Volume bool     `help:"IN is a volume: a folder of pictures of one size, a TIFF file with several pages, or a .npy array of shape (D,H,W) or (D,H,W,C)."`
	rotateFlags
	Color string `enum:"gray,keep" default:"gray" help:"What to do with colour: gray makes one channel of it, keep keeps its channels. Arrays (.npy) keep theirs."`
	placeFlag
	Verbose bool `short:"v" help:"Also say on standard error what integrated the image, and how fast."`
	JSON    bool `name:"json" help:"Print JSON."`
}

// Help is the long help of the command.
func (*queryCmd) Help() string {
	return `Boxes are clipped to the image; the area is how many pixels are left, or voxels. Sums of integer pixels are exact. Colour that is kept prints a line for each channel, and arrays as JSON.

Examples:

    boxsum query photo.png --box 0,0,64,64
    boxsum query photo.png --box 0,0,64,64 --box 64,0,128,64 --json
    boxsum query photo.png --color keep --boxes boxes.txt
    boxsum query photo.png --box 0,0,64,64 --on cuda -v
    boxsum query --volume scan.tiff --box 10,10,0,60,60,20
    boxsum query photo.png --rotate 1/2 --box 40,100,90,140
    boxsum query photo.png --rect 320,240,90,40,27

With --rotate A/B, boxes are C0,R0,C1,R1 on the lattice of a rotation: rows of pixels climb to the right by the angle whose tangent is A/B, 1/2 by 26.57°, and fall if it is negative. C counts along the rows and R across them, from where the pixel (0,0) lies, for ratios from 0 to 1; docs/rotated.md has the others. The area is how many pixels the box holds.

With --rect the box is the nearest to a rectangle in pixels, along the nearest ratio to its angle unless --rotate names another. "boxsum angles" lists angles, and "boxsum draw" shows boxes.`
}

// Run prints what is asked of every box.
func (c *queryCmd) Run(sh *shell) error {
	if c.Volume {
		return c.runVolume(sh)
	}
	boxes, err := await(sh.ctx, func() ([]box, error) { return queryBoxes(c, sh.stdin, parseBox) })
	if err != nil {
		return err
	}
	if c.rotates() {
		return c.runRotated(sh, boxes)
	}
	device, err := c.open()
	if err != nil {
		return err
	}
	defer closeDevice(device)
	picture, err := sh.open(c.In, c.Color)
	if err != nil {
		return err
	}
	defer picture.Close()
	pair, err := pairExact(picture.Image, 1)
	if err != nil {
		return err
	}
	work, err := pair.job(picture.Image, true, false)
	if err != nil {
		return err
	}
	sh.progress.begin("integrating", 0)
	opt := &boxsum.Options{}
	took, err := integrateOn(device, work, opt)
	if err != nil {
		return err
	}
	sh.progress.begin("summing", 0)
	answers := make([]answer, 0, len(boxes))
	for _, b := range boxes {
		if err := sh.ctx.Err(); err != nil {
			return err
		}
		answers = append(answers, ask(work, b))
	}
	if c.Verbose {
		sh.progress.close()
		fmt.Fprintln(sh.stderr, newReport(work, device, opt, took, ""))
	}
	return c.print(sh, answers)
}

// print prints the answers.
func (c *queryCmd) print(sh *shell, answers []answer) (err error) {
	w := bufio.NewWriter(sh.results())
	if c.JSON {
		err = printAnswersJSON(w, answers)
	} else {
		err = printAnswers(w, answers, c.Volume)
	}
	return errors.Join(err, w.Flush())
}

// queryBoxes are those of the flags and then those of the file, in either form.
func queryBoxes[B any](c *queryCmd, stdin io.Reader, parse func(string) (B, error)) ([]B, error) {
	if c.Boxes == "" && len(c.Box) == 0 && len(c.Rect) == 0 {
		form := "X0,Y0,X1,Y1"
		if c.Volume {
			form = "X0,Y0,Z0,X1,Y1,Z1"
		}
		return nil, fmt.Errorf("no boxes: give --box %s, or a file of them with --boxes FILE", form)
	}
	var boxes []B
	for _, text := range c.Box {
		b, err := parse(text)
		if err != nil {
			return nil, fmt.Errorf("--box: %w", err)
		}
		boxes = append(boxes, b)
	}
	switch {
	case c.Boxes == "":
		return boxes, nil
	case c.Boxes == standard && c.In == standard:
		return nil, errors.New("the image and the boxes cannot both come from standard input")
	case c.Boxes == standard:
		return readLines(boxes, "standard input", stdin, parse)
	}
	f, err := os.Open(c.Boxes)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readLines(boxes, c.Boxes, f, parse)
}

// readBoxes appends the box of every line that is not blank.
func readBoxes(boxes []box, name string, r io.Reader) ([]box, error) {
	return readLines(boxes, name, r, parseBox)
}

// readLines appends what parse makes of every line that is not blank.
func readLines[B any](boxes []B, name string, r io.Reader, parse func(string) (B, error)) ([]B, error) {
	lines := bufio.NewScanner(r)
	n := 1
	for ; lines.Scan(); n++ {
		text := lines.Text()
		if n == 1 {
			text = strings.TrimPrefix(text, "\ufeff") // the mark that some editors put before UTF-8
		}
		text = strings.TrimSpace(text)
		if text == "" {
			continue
		}
		b, err := parse(text)
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, n, err)
		}
		boxes = append(boxes, b)
	}
	switch err := lines.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return nil, fmt.Errorf("%s:%d: the line is too long for a box", name, n)
	case err != nil:
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return boxes, nil
}

// A box is X0, Y0, X1, Y1 as the user gave them.
type box [4]int

func (b box) rectangle() image.Rectangle { return image.Rect(b[0], b[1], b[2], b[3]) }

func (b box) String() string { return fmt.Sprintf("%d,%d,%d,%d", b[0], b[1], b[2], b[3]) }

// parseBox reads X0,Y0,X1,Y1.
func parseBox(text string) (box, error) {
	var b box
	if err := parseCorners(text, "X0,Y0,X1,Y1", b[:]); err != nil {
		return b, err
	}
	if b[0] > b[2] || b[1] > b[3] {
		return b, fmt.Errorf("box %.60q is inverted: X1 and Y1 must not be less than X0 and Y0", text)
	}
	return b, nil
}

// parseCorners reads as many numbers as the form of a box has.
func parseCorners(text, form string, to []int) error {
	fields := strings.Split(text, ",")
	if len(fields) != len(to) {
		return fmt.Errorf("box %.60q is not %s: it has %s", text, form, count(len(fields), "number"))
	}
	for i, field := range fields {
		n, err := strconv.Atoi(strings.TrimSpace(field))
		switch {
		case errors.Is(err, strconv.ErrRange):
			return fmt.Errorf("box %.60q: %.30s is too large", text, strings.TrimSpace(field))
		case err != nil:
			return fmt.Errorf("box %.60q: %.30q is not a whole number", text, strings.TrimSpace(field))
		}
		to[i] = n
	}
	return nil
}

// boxTexts is a flag like boxList whose boxes are parsed once their form is
// known.
type boxTexts []string

// Decode takes one box from the command line.
func (l *boxTexts) Decode(ctx *kong.DecodeContext) error {
	token := ctx.Scan.Pop()
	if token.IsEOL() {
		return errors.New("expected X0,Y0,X1,Y1")
	}
	*l = append(*l, token.String())
	return nil
}

// boxList is a flag that may be given again, with values that may start with
// a minus.
type boxList []box

// Decode takes one box from the command line.
func (l *boxList) Decode(ctx *kong.DecodeContext) error {
	token := ctx.Scan.Pop()
	if token.IsEOL() {
		return errors.New("expected X0,Y0,X1,Y1")
	}
	b, err := parseBox(token.String())
	if err != nil {
		return err
	}
	*l = append(*l, b)
	return nil
}

// An answer is what a query says of one box.
type answer struct {
	box      fmt.Stringer // a box, or a block
	channels []stats
	area     int64      // in pixels, or voxels
	solid    bool       // the box is of a volume
	rotation string     // of the box's lattice, where that is not upright
	rect     *rectangle // that the box is the nearest to
}

func ask(work job, b box) answer {
	width, height, channels := work.size()
	clipped := b.rectangle().Intersect(image.Rect(0, 0, width, height))
	a := answer{box: b, area: int64(clipped.Dx()) * int64(clipped.Dy())}
	for c := range channels {
		a.channels = append(a.channels, work.stats(clipped, c))
	}
	return a
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
				plain(s.sum), fmt.Sprintf("%.8g", s.mean), fmt.Sprintf("%.8g", s.std), strconv.FormatInt(a.area, 10)))
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

// printAnswersJSON prints an array with a box on every line.
func printAnswersJSON(w io.Writer, answers []answer) error {
	between := "["
	for _, a := range answers {
		text, err := json.Marshal(a)
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "%s\n  %s", between, text)
		between = ","
	}
	if len(answers) == 0 {
		_, err := fmt.Fprintln(w, "[]")
		return err
	}
	_, err := fmt.Fprint(w, "\n]\n")
	return err
}

// MarshalJSON has one number for one channel and an array for several.
func (a answer) MarshalJSON() ([]byte, error) {
	var sum, mean, std []any
	for _, s := range a.channels {
		sum, mean, std = append(sum, finite(s.sum)), append(mean, finite(s.mean)), append(std, finite(s.std))
	}
	one := func(values []any) any {
		if len(values) == 1 {
			return values[0]
		}
		return values
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
		Area   int64      `json:"area"`
		Voxels *int64     `json:"voxels,omitempty"`
	}{a.box, a.rotation, a.rect, one(sum), one(mean), one(std), a.area, voxels})
}

// finite is a number that JSON can hold, and null for NaN and infinities.
func finite(number any) any {
	if f, ok := number.(float64); ok && (math.IsNaN(f) || math.IsInf(f, 0)) {
		return nil
	}
	return number
}
