package tables

import (
	"errors"
	"fmt"
	"image"
	"math"
	"strconv"
	"strings"

	"github.com/alecthomas/kong"
	"github.com/boxsum/boxsum/haar"
	"github.com/boxsum/boxsum/internal/cli/display"
	"github.com/boxsum/boxsum/internal/cli/flags"
	"github.com/boxsum/boxsum/rotated"
	"github.com/boxsum/boxsum/volume"
)

// A box holds the numbers that the user gave: X0, Y0, X1, Y1, or X0, Y0, Z0, X1, Y1, Z1 for a
// volume.
type box []int

// boxForms maps the number of coordinates of a box to its notation.
var boxForms = map[int]string{4: "X0,Y0,X1,Y1", 6: "X0,Y0,Z0,X1,Y1,Z1"}

func (b box) rectangle() image.Rectangle { return image.Rect(b[0], b[1], b[2], b[3]) }

func (b box) block() volume.Box { return volume.NewBox(b[0], b[1], b[2], b[3], b[4], b[5]) }

func (b box) String() string {
	return strings.Trim(strings.ReplaceAll(fmt.Sprint([]int(b)), " ", ","), "[]")
}

// parseBox parses a box with the given number of coordinates.
func parseBox(text string, corners int) (box, error) {
	fields := strings.Split(text, ",")
	if len(fields) != corners {
		return nil, fmt.Errorf("box %.60q is not %s: it has %s", text, boxForms[corners], display.Count(len(fields), "number"))
	}
	b := make(box, corners)
	for i, field := range fields {
		n, err := strconv.Atoi(strings.TrimSpace(field))
		switch {
		case errors.Is(err, strconv.ErrRange):
			return nil, fmt.Errorf("box %.60q: %.30s is out of range, want %d to %d", text, strings.TrimSpace(field), math.MinInt, math.MaxInt)
		case err != nil:
			return nil, fmt.Errorf("box %.60q: %.30q is not a whole number", text, strings.TrimSpace(field))
		}
		b[i] = n
	}
	for i := range corners / 2 {
		if b[i] > b[i+corners/2] {
			want := map[int]string{4: "X1 and Y1 must not be less than X0 and Y0", 6: "X1, Y1 and Z1 must not be less than X0, Y0 and Z0"}
			return nil, fmt.Errorf("box %.60q is inverted: %s", text, want[corners])
		}
	}
	return b, nil
}

// Mappers decode the flag types of this package's commands.
var Mappers = []kong.Option{
	flags.One("a ratio such as 1/2", func(text string) (rotationFlag, error) {
		rot, err := rotated.Parse(strings.TrimSpace(text))
		return rotationFlag{rot, true}, err
	}),
	flags.List[boxList](boxForms[4], func(text string) (box, error) { return parseBox(text, 4) }),
	flags.List[boxTexts](boxForms[4], func(text string) (string, error) { return text, nil }),
	flags.List[rectList](rectForm, parseRectangle),
	flags.List[featureList]("KIND,X0,Y0,X1,Y1", parseFeature),
}

// Types of repeatable flags. boxTexts are parsed once it is known whether the input is an image or
// a volume.
type (
	boxList     []box
	boxTexts    []string
	rectList    []rectangle
	featureList []haar.Feature
)
