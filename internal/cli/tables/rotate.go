package tables

import (
	"fmt"
	"math"

	"github.com/boxsum/boxsum/internal/cli/console"
	"github.com/boxsum/boxsum/internal/cli/display"
	"github.com/boxsum/boxsum/internal/cli/flags"
	"github.com/boxsum/boxsum/rotated"
)

// rotateFlags select the lattice of boxes.
type rotateFlags struct {
	Rotate rotationFlag `placeholder:"A/B" help:"Boxes along the digital lines of a rotation, as C0,R0,C1,R1 on its lattice. Rows climb to the right by the angle whose tangent is A/B; those of a negative one fall."`
	Rect   rectList     `placeholder:"X,Y,W,H,DEGREES" help:"The box nearest to a rectangle in pixels: its center, its size, and the angle in degrees by which its width climbs to the right, which --rotate may give instead. May be repeated."`
	Corner bool         `help:"X,Y of --rect is the corner that is upper left before the rotation, not the center."`
	Within int          `default:"10" placeholder:"N" help:"Without --rotate, maximum term of the ratio that --rect uses for its angle (default ${default})."`
}

func (f *rotateFlags) rotates() bool { return f.Rotate.set || len(f.Rect) > 0 }

// rotationFlag has the form A/B, and may start with a minus sign.
type rotationFlag struct {
	rotated.Rotation
	set bool
}

// A rectangle holds X, Y, W, H and degrees as the user gave them. The degrees are NaN if --rotate
// determines them.
type rectangle [5]float64

const rectForm = "X,Y,W,H,DEGREES"

// parseRectangle parses X,Y,W,H or X,Y,W,H,DEGREES.
func parseRectangle(text string) (rectangle, error) {
	r := rectangle{4: math.NaN()}
	if err := flags.ParseFloats(r[:], len(r)-1, text, "rectangle", rectForm, "number"); err != nil {
		return r, err
	}
	if r[2] <= 0 || r[3] <= 0 {
		return r, fmt.Errorf("rectangle %.60q is empty: its width and height must be more than 0", text)
	}
	return r, nil
}

// A question asks for one box: a box of a lattice, or the box nearest to a rectangle.
type question struct {
	rot  rotated.Rotation
	box  rotated.Box
	rect *rectangle
}

// questions returns the boxes and then the rectangles of the flags. Without --rotate, boxes are
// upright.
func (f *rotateFlags) questions(boxes []box) ([]question, error) {
	rot := f.Rotate.Rotation
	if !f.Rotate.set {
		rot = rotated.Rotation{A: 0, B: 1}
	}
	var list []question
	for _, b := range boxes {
		q := question{rot: rot, box: rotated.Box{C0: b[0], R0: b[1], C1: b[2], R1: b[3]}}
		if q.box.Empty() {
			return nil, console.Usage("--box %v is empty: want C0 < C1 and R0 < R1", b)
		}
		list = append(list, q)
	}
	for i := range f.Rect {
		rect := &f.Rect[i]
		q := question{rot: rot, rect: rect}
		switch {
		case math.IsNaN(rect[4]) && !f.Rotate.set:
			return nil, console.Usage("--rect X,Y,W,H has no angle: add --rotate, or write X,Y,W,H,DEGREES")
		case math.IsNaN(rect[4]):
			rect[4] = rot.Degrees()
		case !f.Rotate.set:
			var err error
			if q.rot, err = rotated.Nearest(rect[4], f.Within); err != nil {
				return nil, console.Usage("--within %d: %w", f.Within, err)
			}
		}
		list = append(list, q)
	}
	return list, nil
}

// place returns the box of a question.
func (q *question) place(l *rotated.Lattice, corner bool) (rotated.Box, error) {
	if q.rect == nil {
		return q.box, nil
	}
	return l.FromRectangle(q.rect.inImage(corner))
}

// inImage returns the rectangle in coordinates of the image.
func (r *rectangle) inImage(corner bool) rotated.Rectangle {
	if corner {
		return rotated.FromCorner(r[0], r[1], r[2], r[3], r[4])
	}
	return rotated.Rectangle{X: r[0], Y: r[1], Width: r[2], Height: r[3], Degrees: r[4]}
}

// Angles implements the angles command.
type Angles struct {
	Within int      `default:"10" placeholder:"N" help:"Maximum term of the ratios (default ${default})."`
	Near   *float64 `placeholder:"DEGREES" help:"Print only the ratio nearest to an angle, whose terms may be any numbers up to --within."`
	JSON   bool     `name:"json" help:"Print JSON."`
}

// An angle is a rotation in the list.
type angle struct {
	Rotate  string  `json:"rotate"`
	Degrees float64 `json:"degrees"`
}

// mostAngles limits the length of the list.
const mostAngles = 10000

// Run lists the angles.
func (c *Angles) Run(sh *console.Shell) error {
	var list []rotated.Rotation
	if c.Near != nil {
		rot, err := rotated.Nearest(*c.Near, c.Within)
		if err != nil {
			return err
		}
		list = append(list, rot)
	} else {
		if c.Within < 1 || c.Within > mostAngles {
			return console.Usage("--within %d: want 1 to %d for a list", c.Within, mostAngles)
		}
		list = rotated.Angles(c.Within)
	}
	angles := make([]angle, 0, len(list))
	rows := [][]string{{"rotate", "degrees"}}
	for _, rot := range list {
		angles = append(angles, angle{rot.String(), rot.Degrees()})
		rows = append(rows, []string{rot.String(), fmt.Sprintf("%.2f", rot.Degrees())})
	}
	if c.JSON {
		return display.JSON(sh.Results(), angles)
	}
	return display.Columns(sh.Results(), rows)
}
