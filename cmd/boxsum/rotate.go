package main

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/alecthomas/kong"
	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/gpu"
	"github.com/boxsum/boxsum/internal/exact"
	"github.com/boxsum/boxsum/internal/sketch"
	"github.com/boxsum/boxsum/rotated"
)

// rotateFlags say along which lines boxes lie.
type rotateFlags struct {
	Rotate rotationFlag `placeholder:"A/B" help:"Boxes along the digital lines of a rotation, as C0,R0,C1,R1 on its lattice. Rows climb to the right by the angle whose tangent is A/B; those of a negative one fall."`
	Rect   rectList     `placeholder:"X,Y,W,H,DEGREES" help:"The box nearest to a rectangle in pixels: its centre, its size, and by how many degrees its width climbs to the right, which --rotate may say instead. May be given again."`
	Corner bool         `help:"X,Y of --rect is the corner that is the upper left one before turning, not the centre."`
	Within int          `default:"10" placeholder:"N" help:"Without --rotate, --rect takes the ratio nearest to its angle whose terms are at most N (${default})."`
}

func (f *rotateFlags) rotates() bool { return f.Rotate.set || len(f.Rect) > 0 }

// rotationFlag is A/B, and may start with a minus.
type rotationFlag struct {
	rotated.Rotation
	set bool
}

// Decode takes a rotation from the command line.
func (f *rotationFlag) Decode(ctx *kong.DecodeContext) error {
	token := ctx.Scan.Pop()
	if token.IsEOL() {
		return errors.New("expected a ratio such as 1/2")
	}
	rot, err := rotated.Parse(strings.TrimSpace(token.String()))
	if err != nil {
		return err
	}
	f.Rotation, f.set = rot, true
	return nil
}

// A rectangle is X, Y, W, H and degrees as the user gave them; NaN stands for
// degrees that --rotate says.
type rectangle [5]float64

const rectForm = "X,Y,W,H,DEGREES"

// parseRectangle reads X,Y,W,H,DEGREES, the last of which may be left out.
func parseRectangle(text string) (rectangle, error) {
	r := rectangle{4: math.NaN()}
	fields := strings.Split(text, ",")
	if len(fields) != len(r) && len(fields) != len(r)-1 {
		return r, fmt.Errorf("rectangle %.60q is not %s: it has %s", text, rectForm, count(len(fields), "number"))
	}
	for i, field := range fields {
		v, err := strconv.ParseFloat(strings.TrimSpace(field), 64)
		if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
			return r, fmt.Errorf("rectangle %.60q: %.30q is not a number", text, strings.TrimSpace(field))
		}
		r[i] = v
	}
	if r[2] <= 0 || r[3] <= 0 {
		return r, fmt.Errorf("rectangle %.60q has no inside: its width and height must be more than 0", text)
	}
	return r, nil
}

// rectList is a flag that may be given again, with values that may start with
// a minus.
type rectList []rectangle

// Decode takes one rectangle from the command line.
func (l *rectList) Decode(ctx *kong.DecodeContext) error {
	token := ctx.Scan.Pop()
	if token.IsEOL() {
		return errors.New("expected " + rectForm)
	}
	r, err := parseRectangle(token.String())
	if err != nil {
		return err
	}
	*l = append(*l, r)
	return nil
}

// A question is one box to ask for: of a lattice, or the nearest one there to a
// rectangle.
type question struct {
	rot  rotated.Rotation
	box  rotated.Box
	rect *rectangle
}

// questions are the boxes and then the rectangles of the flags. Without
// --rotate, boxes are upright.
func (f *rotateFlags) questions(boxes []box) ([]question, error) {
	rot := f.Rotate.Rotation
	if !f.Rotate.set {
		rot = rotated.Rotation{A: 0, B: 1}
	}
	var list []question
	for _, b := range boxes {
		q := question{rot: rot, box: rotated.Box{C0: b[0], R0: b[1], C1: b[2], R1: b[3]}}
		if q.box.Empty() {
			return nil, fmt.Errorf("box %v holds no cell: C1 must be more than C0, and R1 more than R0", b)
		}
		list = append(list, q)
	}
	for i := range f.Rect {
		rect := &f.Rect[i]
		q := question{rot: rot, rect: rect}
		switch {
		case math.IsNaN(rect[4]) && !f.Rotate.set:
			return nil, errors.New("--rect X,Y,W,H takes its angle from --rotate: add that, or the degrees")
		case math.IsNaN(rect[4]):
			rect[4] = rot.Degrees()
		case !f.Rotate.set:
			var err error
			if q.rot, err = rotated.Nearest(rect[4], f.Within); err != nil {
				return nil, fmt.Errorf("--within %d: %w", f.Within, err)
			}
		}
		list = append(list, q)
	}
	return list, nil
}

// place is the box that a question asks for.
func (q *question) place(l *rotated.Lattice, corner bool) (rotated.Box, error) {
	if q.rect == nil {
		return q.box, nil
	}
	return l.FromRectangle(q.rect.in(corner))
}

// in is the rectangle in the plane of an image.
func (r *rectangle) in(corner bool) rotated.Rectangle {
	if corner {
		return rotated.FromCorner(r[0], r[1], r[2], r[3], r[4])
	}
	return rotated.Rectangle{X: r[0], Y: r[1], Width: r[2], Height: r[3], Degrees: r[4]}
}

// runRotated answers from a table for each rotation, one after the other.
func (c *queryCmd) runRotated(sh *shell, boxes []box) error {
	questions, err := c.questions(boxes)
	if err != nil {
		return err
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
	answers := make([]answer, len(questions))
	done := map[rotated.Rotation]bool{}
	for _, q := range questions {
		if done[q.rot] {
			continue
		}
		done[q.rot] = true
		sh.progress.begin("integrating", 0)
		start := time.Now()
		table, err := pair.turn(device, picture.Image, q.rot)
		if err != nil {
			return err
		}
		if c.Verbose {
			sh.progress.close()
			width, height := table.lattice().Size()
			fmt.Fprintf(sh.stderr, "%d×%d %s→%s along %v, %.2f°, in %s ms\n", width, height, pair.pixel, pair.sum, q.rot, q.rot.Degrees(), rounded(time.Since(start).Seconds()*1e3))
		}
		for i := range questions {
			if err := sh.ctx.Err(); err != nil {
				return err
			}
			if questions[i].rot != q.rot {
				continue
			}
			if answers[i], err = askRotated(table, &questions[i], c.Corner); err != nil {
				return err
			}
		}
	}
	return c.print(sh, answers)
}

func askRotated(table turned, q *question, corner bool) (answer, error) {
	b, err := q.place(table.lattice(), corner)
	if err != nil {
		return answer{}, err
	}
	a := answer{box: box{b.C0, b.R0, b.C1, b.R1}, area: table.lattice().Area(b), rotation: q.rot.String(), rect: q.rect}
	for channel := range table.channels() {
		a.channels = append(a.channels, table.stats(b, channel))
	}
	return a, nil
}

// turned is an image and its table along a rotation, whatever their types.
type turned interface {
	lattice() *rotated.Lattice
	channels() int
	stats(box rotated.Box, channel int) stats
}

type typedTurned[P boxsum.Pixel, S boxsum.Sum] struct {
	src     boxsum.Image[P]
	table   *rotated.Table[S]
	squares *rotated.Table[uint64] // of pixels of 8 and 16 bits
}

func newTypedTurned[P boxsum.Pixel, S boxsum.Sum](d *gpu.Device, src boxsum.Image[P], rot rotated.Rotation) (turned, error) {
	table, err := integrateAlong[S](d, src, rot)
	if err != nil {
		return nil, err
	}
	t := &typedTurned[P, S]{src: src, table: table}
	switch src := any(src).(type) {
	case boxsum.Image[uint8]:
		t.squares, err = squaresAlong[uint16](d, src, rot)
	case boxsum.Image[uint16]:
		t.squares, err = squaresAlong[uint32](d, src, rot)
	case boxsum.Image[int16]:
		t.squares, err = squaresAlong[uint32](d, src, rot)
	}
	return t, err
}

// squaresAlong is the table of the squares of pixels, which type T holds.
func squaresAlong[T, P boxsum.Pixel](d *gpu.Device, src boxsum.Image[P], rot rotated.Rotation) (*rotated.Table[uint64], error) {
	squares, err := boxsum.NewImage[T](src.Width, src.Height, src.Channels)
	if err != nil {
		return nil, err
	}
	for y := range src.Height {
		to := squares.Row(y)
		for i, p := range src.Row(y) {
			to[i] = T(int64(p) * int64(p))
		}
	}
	return integrateAlong[uint64](d, squares, rot)
}

// integrateAlong makes a table on a device, or on the CPU where that is nil.
func integrateAlong[S boxsum.Sum, P boxsum.Pixel](d *gpu.Device, src boxsum.Image[P], rot rotated.Rotation) (*rotated.Table[S], error) {
	if d != nil {
		return gpu.IntegrateRotatedHost[S](d, src, rot, nil)
	}
	return rotated.Integrate[S](src, rot, nil)
}

func (t *typedTurned[P, S]) lattice() *rotated.Lattice { return t.table.Lattice }
func (t *typedTurned[P, S]) channels() int             { return t.src.Channels }

func (t *typedTurned[P, S]) stats(box rotated.Box, channel int) stats {
	s := stats{sum: t.table.SumChannel(box, channel), mean: t.table.Mean(box, channel)}
	if t.squares == nil {
		s.std = t.deviation(box, channel, s.mean)
		return s
	}
	if n := t.table.Area(box); n > 0 {
		s.std = math.Sqrt(exact.Variance(int(n), t.table.SumChannel(box, channel), t.squares.SumChannel(box, channel)))
	}
	return s
}

// deviation goes through the pixels of a box: of 32 bits and of floats, squares
// may not fit or cancel out. The mean may be off by a little: its error is
// taken away again.
func (t *typedTurned[P, S]) deviation(box rotated.Box, channel int, mean float64) float64 {
	around := sketch.Around(t.table.Lattice, []sketch.Box{{Box: box}}, 2)
	var n, sum, squares float64
	for y := around.Min.Y; y < around.Max.Y; y++ {
		row := t.src.Row(y)
		for x := around.Min.X; x < around.Max.X; x++ {
			if c, r := t.table.Cell(x, y); c >= box.C0 && c < box.C1 && r >= box.R0 && r < box.R1 {
				d := float64(row[x*t.src.Channels+channel]) - mean
				n++
				sum += d
				squares += d * d
			}
		}
	}
	if n == 0 {
		return 0
	}
	return math.Sqrt(max(0, squares-sum*sum/n) / n)
}
