package tables

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/boxsum/boxsum/internal/cli/console"
	"github.com/boxsum/boxsum/internal/cli/display"
)

// boxesOf appends the boxes of a file, if a path is given. It refuses standard input if the image
// is read from there.
func boxesOf(boxes []box, path, image string, stdin io.Reader, corners int) ([]box, error) {
	switch {
	case path == "":
		return boxes, nil
	case path == console.Standard && image == console.Standard:
		return nil, console.Usage("the image and the boxes cannot both come from standard input")
	case path == console.Standard:
		return readBoxes(boxes, "standard input", stdin, corners)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readBoxes(boxes, path, f, corners)
}

// readBoxes appends one box per line, whose numbers are separated by commas, semicolons, spaces or
// tabs. A # starts a comment. The first line may name the columns.
func readBoxes(boxes []box, name string, r io.Reader, corners int) ([]box, error) {
	lines := bufio.NewScanner(r)
	n := 1
	var columns *boxColumns
	for first := true; lines.Scan(); n++ {
		text := lines.Text()
		if n == 1 {
			text = strings.TrimPrefix(text, "\ufeff") // byte order mark
		}
		text, _, _ = strings.Cut(text, "#")
		fields := splitFields(text)
		if len(fields) == 0 {
			continue
		}
		if first && isHeader(fields) {
			first = false
			var err error
			if columns, err = newBoxColumns(fields, corners); err != nil {
				return nil, fmt.Errorf("%s:%d: %w", name, n, err)
			}
			continue
		}
		first = false
		b, err := columns.box(fields, corners)
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, n, err)
		}
		boxes = append(boxes, b)
	}
	switch err := lines.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return nil, fmt.Errorf("%s:%d: the line is too long for a box, want fewer than %d bytes", name, n, bufio.MaxScanTokenSize)
	case err != nil:
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return boxes, nil
}

// splitFields splits a line at commas and semicolons, or else at spaces and tabs, and removes
// quotes around fields.
func splitFields(line string) []string {
	line = strings.TrimSpace(line)
	var fields []string
	switch {
	case line == "":
		return nil
	case strings.Contains(line, ","):
		fields = strings.Split(line, ",")
	case strings.Contains(line, ";"):
		fields = strings.Split(line, ";")
	default:
		fields = strings.Fields(line)
	}
	for i, f := range fields {
		f = strings.TrimSpace(f)
		if n := len(f); n >= 2 && f[0] == '"' && f[n-1] == '"' {
			f = strings.TrimSpace(f[1 : n-1])
		}
		fields[i] = f
	}
	return fields
}

// isHeader reports whether all fields are names, which start with a letter.
func isHeader(fields []string) bool {
	return !slices.ContainsFunc(fields, func(f string) bool {
		letter := strings.IndexFunc(f, unicode.IsLetter)
		_, err := strconv.ParseFloat(f, 64) // ParseFloat accepts NaN, which starts with a letter
		return letter != 0 || err == nil
	})
}

// boxColumns locates the coordinates of a box in a line. Nil selects all fields.
type boxColumns struct {
	at    []int
	sizes bool // the last columns hold width, height and depth
}

// newBoxColumns returns the columns that a header names. A header without known names must have as
// many columns as a box has coordinates.
func newBoxColumns(header []string, corners int) (*boxColumns, error) {
	find := func(names string) []int {
		var at []int
		for name := range strings.FieldsSeq(names) {
			i := slices.IndexFunc(header, func(h string) bool { return slices.Contains(strings.Split(name, "|"), strings.ToLower(h)) })
			if i < 0 {
				return nil
			}
			at = append(at, i)
		}
		return at
	}
	ends, sizes := "x0|xmin|left y0|ymin|top x1|xmax|right y1|ymax|bottom", "x|left|x0|xmin y|top|y0|ymin w|width h|height"
	if corners == 6 {
		ends, sizes = "x0|xmin y0|ymin z0|zmin x1|xmax y1|ymax z1|zmax", "x|x0|xmin y|y0|ymin z|z0|zmin w|width h|height d|depth"
	}
	if at := find(ends); at != nil {
		return &boxColumns{at: at}, nil
	}
	if at := find(sizes); at != nil {
		return &boxColumns{at: at, sizes: true}, nil
	}
	if len(header) != corners {
		return nil, fmt.Errorf("header %.60q does not name the columns of a box, want %s", strings.Join(header, ","), strings.ToLower(boxForms[corners]))
	}
	return nil, nil
}

// box returns the box of a line.
func (c *boxColumns) box(fields []string, corners int) (box, error) {
	if c == nil {
		return parseBox(strings.Join(fields, ","), corners)
	}
	var picked []string
	for _, i := range c.at {
		if i >= len(fields) {
			return nil, fmt.Errorf("the line has %s, fewer than the header", display.Count(len(fields), "field"))
		}
		picked = append(picked, fields[i])
	}
	if !c.sizes {
		return parseBox(strings.Join(picked, ","), corners)
	}
	n := corners / 2
	for i := range n {
		from, err1 := strconv.Atoi(picked[i])
		size, err2 := strconv.Atoi(picked[n+i])
		if err1 == nil && err2 == nil {
			if size < 0 || from+size < from {
				return nil, fmt.Errorf("box has size %d, want 0 or more, and an end that fits in %d bits", size, strconv.IntSize)
			}
			picked[n+i] = strconv.Itoa(from + size)
		}
	}
	return parseBox(strings.Join(picked, ","), corners)
}
