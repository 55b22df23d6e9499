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

// checkImage refuses an image that looks like a table.
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

// tableHint adds a hint to use --table to an error of reading an image.
func (c *Query) tableHint(err error) error {
	if strings.EqualFold(filepath.Ext(c.In), ".npz") || errors.Is(err, boxsum.ErrTypes) {
		return fmt.Errorf("%w (add --table if integrate wrote it)", err)
	}
	return err
}

// bordered reports whether the first row and the first column of an array are zero and its last row
// and column are not, as in every table. Sums of signed pixels may decrease, so this is all that
// can be checked. Label images with a border of zeros on all sides are not tables.
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

// looksLikeTable reports whether the first row and column of an image are zero, its entries never
// decrease to the right or downwards, and the last entry is not zero. This holds for tables of
// nonnegative pixels but not for photographs. Images smaller than 3×3 may satisfy it by chance and
// are never taken for tables. Of a tall image only some rows are compared, which suffices because
// the order is transitive.
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
