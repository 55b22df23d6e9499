package main

import (
	"fmt"

	"github.com/boxsum/boxsum/rotated"
)

type anglesCmd struct {
	Within int      `default:"10" placeholder:"N" help:"Terms of the ratios are at most N (${default})."`
	Near   *float64 `placeholder:"DEGREES" help:"The one ratio nearest to an angle, of any two terms."`
	JSON   bool     `name:"json" help:"Print JSON."`
}

// An angle is a rotation to choose.
type angle struct {
	Rotate  string  `json:"rotate"`
	Degrees float64 `json:"degrees"`
}

// mostAngles is how long a list is worth while.
const mostAngles = 10000

// Run lists the angles.
func (c *anglesCmd) Run(sh *shell) error {
	var list []rotated.Rotation
	if c.Near != nil {
		rot, err := rotated.Nearest(*c.Near, c.Within)
		if err != nil {
			return err
		}
		list = append(list, rot)
	} else {
		if c.Within < 1 || c.Within > mostAngles {
			return fmt.Errorf("--within %d: a list takes 1 to %d", c.Within, mostAngles)
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
		return printJSON(sh.results(), angles)
	}
	return printColumns(sh.results(), rows)
}
