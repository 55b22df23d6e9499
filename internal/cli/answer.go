package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
)

// An answer is what a query says of one box.
type answer struct {
	box      box
	channels []stats
	area     int64      // in pixels, or voxels
	noStd    bool       // nobody knows the deviation
	solid    bool       // the box is of a volume
	rotation string     // of the box's lattice, where that is not upright
	rect     *rectangle // that the box is the nearest to
}

// answerRows has a header and a row for every channel of every box. The means and deviations have
// this many digits; -1 stands for all.
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

// deviation is that of a channel, to print.
func (a *answer) deviation(s stats, digits int) string {
	if a.noStd {
		return "-"
	}
	return strconv.FormatFloat(s.std, 'g', digits, 64)
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
	if a.noStd {
		std = []any{nil}
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
