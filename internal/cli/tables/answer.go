package tables

import (
	"encoding/json"
	"slices"
	"strconv"

	"github.com/boxsum/boxsum/internal/cli/display"
	"github.com/boxsum/boxsum/internal/raster"
	fromsums "github.com/boxsum/boxsum/internal/stats"
)

// An answer holds what a query prints about one box.
type answer struct {
	box      box
	channels []stats
	area     int64      // in pixels, or voxels
	noStd    bool       // the standard deviation is unknown
	solid    bool       // the box is of a volume
	rotation string     // of the box's lattice, unless it is upright
	rect     *rectangle // the rectangle that the box approximates, or nil
}

// answerRows returns a header and a row for every channel of every box. Means and deviations have
// the given number of digits, or all if digits is -1.
func answerRows(answers []answer, solid bool, digits int) [][]string {
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
				plain(s.sum), strconv.FormatFloat(s.mean, 'g', digits, 64), a.deviation(s, digits), strconv.FormatInt(a.areaOf(s), 10)))
		}
	}
	return rows
}

// plain formats a sum for people, see [display.Plain].
func plain(sum fromsums.Sum) string {
	if sum.Type() == raster.F64 {
		return display.Plain(sum.Float())
	}
	return sum.String()
}

// deviation formats the standard deviation of a channel.
func (a *answer) deviation(s stats, digits int) string {
	if a.noStd {
		return "-"
	}
	return strconv.FormatFloat(s.std, 'g', digits, 64)
}

// MarshalJSON encodes statistics as a number for one channel and as an array for several.
func (a answer) MarshalJSON() ([]byte, error) {
	var sum, mean, std []any
	for _, s := range a.channels {
		sum, mean, std = append(sum, s.sum), append(mean, display.Finite(s.mean)), append(std, display.Finite(s.std))
	}
	if a.noStd {
		std = []any{nil}
	}
	var voxels *int64 // volumes have "voxels" beside "area"
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
	}{a.box, a.rotation, a.rect, display.OneOrAll(sum), display.OneOrAll(mean), display.OneOrAll(std), a.areaJSON(), voxels})
}
