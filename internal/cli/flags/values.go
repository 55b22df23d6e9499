package flags

import (
	"fmt"
	"image"
	"math"
	"strconv"
	"strings"

	"github.com/boxsum/boxsum/filter"
	"github.com/boxsum/boxsum/internal/cli/display"
)

// parsePoint reads X,Y.
func parsePoint(text string) (image.Point, error) {
	first, second, _ := strings.Cut(text, ",")
	x, errX := strconv.Atoi(strings.TrimSpace(first))
	y, errY := strconv.Atoi(strings.TrimSpace(second))
	if errX != nil || errY != nil {
		return image.Point{}, fmt.Errorf("%.60q is not X,Y, want two integers such as 10,20", text)
	}
	return image.Pt(x, y), nil
}

// A Window is a flag of the form WIDTHxHEIGHT, or one number for both.
type Window struct {
	filter.Window
	Given bool
}

func parseWindow(text string) (w Window, err error) {
	across, down, two := strings.Cut(strings.TrimSpace(text), "x")
	if !two {
		down = across
	}
	sides := [2]int{}
	for i, side := range []string{across, down} {
		n, err := strconv.Atoi(side)
		if err != nil || n < 1 {
			return w, fmt.Errorf("size is %.60q, want integers of 1 or more, such as 31 or 31x15", text)
		}
		sides[i] = n
	}
	return Window{filter.Window{Width: sides[0], Height: sides[1]}, true}, nil
}

func (w Window) String() string { return fmt.Sprintf("%d×%d", w.Width, w.Height) }

// Points is a flag of the form X,Y that may be repeated.
type Points []image.Point

// A Range is a flag of the form LOW,HIGH.
type Range struct {
	Low, High float64
	Given     bool
}

// ParseRange parses LOW,HIGH.
func ParseRange(text string) (r Range, err error) {
	var ends [2]float64
	if err := ParseFloats(ends[:], 2, text, "range", "LOW,HIGH", "finite number"); err != nil {
		return r, err
	}
	if ends[0] >= ends[1] {
		return r, fmt.Errorf("range %.60q is empty: HIGH must be larger than LOW", text)
	}
	return Range{ends[0], ends[1], true}, nil
}

// ParseFloats parses finite numbers separated by commas into to; all after the first
// least may be omitted. The other arguments are for errors.
func ParseFloats(to []float64, least int, text, what, form, number string) error {
	fields := strings.Split(text, ",")
	if len(fields) < least || len(fields) > len(to) {
		return fmt.Errorf("%s %.60q is not %s: it has %s", what, text, form, display.Count(len(fields), "number"))
	}
	for i, field := range fields {
		v, err := strconv.ParseFloat(strings.TrimSpace(field), 64)
		if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Errorf("%s %.60q: %.30q is not a %s", what, text, strings.TrimSpace(field), number)
		}
		to[i] = v
	}
	return nil
}
