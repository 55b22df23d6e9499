package tables

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/cli/imagefile"
)

// checkImage refuses an array that looks like a table.
func (c *Query) checkImage(src *imagefile.Source) error {
	if c.Image || c.Volume || src.Format != "npy" {
		return nil
	}
	table := false
	switch img := src.Image.(type) {
	case boxsum.Image[int64]:
		table = bordered(img.Width, img.Height, img.Channels, img.Row)
	case boxsum.Image[uint64]:
		table = bordered(img.Width, img.Height, img.Channels, img.Row)
	case boxsum.Image[int32]:
		table = src.Element == "int64" && bordered(img.Width, img.Height, img.Channels, img.Row)
	case boxsum.Image[uint32]:
		table = looksLikeTable(img)
	case boxsum.Image[float32]:
		table = looksLikeTable(img)
	case boxsum.Image[float64]:
		table = looksLikeTable(img)
	}
	if table {
		return fmt.Errorf("%s looks like a table: add --table to query it, or --image if it is an image", c.In)
	}
	return nil
}

// tableHint adds to an error of reading an image that tables take a flag.
func (c *Query) tableHint(err error) error {
	if strings.EqualFold(filepath.Ext(c.In), ".npz") || errors.Is(err, boxsum.ErrTypes) {
		return fmt.Errorf("%w (add --table if integrate wrote it)", err)
	}
	return err
}

// bordered reports whether an array has a first row and a first column of zeros, and other
// numbers in the last of both. So has every table; sums of signed pixels may decrease, and
// show nothing else. Labels with a border of zeros all around are images.
func bordered[T int32 | int64 | uint64](width, height, channels int, row func(y int) []T) bool {
	if width < 3 || height < 3 {
		return false
	}
	some := func(values []T) bool { return slices.ContainsFunc(values, func(v T) bool { return v != 0 }) }
	last := false
	for y := range height {
		if some(row(y)[:channels]) {
			return false
		}
		last = last || some(row(y)[(width-1)*channels:])
	}
	return !some(row(0)) && last && some(row(height-1))
}

// looksLikeTable reports whether an image has a first row and a first column of zeros,
// entries that never decrease to the right nor downwards, and a last one that is not
// zero: so are the sums of pixels that are not negative, and no photograph. Images of
// less than 3×3 would be so by chance. Of a tall image some rows are looked at, which
// is enough: rows that do not decrease from one to the next do not from any to a later.
func looksLikeTable[P boxsum.Pixel](img boxsum.Image[P]) bool {
	const looks = 64
	if img.Width < 3 || img.Height < 3 {
		return false
	}
	for _, v := range img.Row(0) {
		if v != 0 {
			return false
		}
	}
	above := img.Row(0)
	for i := range looks {
		row := img.Row((img.Height - 1) * (i + 1) / looks)
		for x, v := range row {
			switch {
			case x < img.Channels && v != 0:
				return false
			case x >= img.Channels && !(v >= row[x-img.Channels]), !(v >= above[x]):
				return false
			}
		}
		above = row
	}
	return above[len(above)-1] > 0
}
