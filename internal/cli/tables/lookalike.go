package tables

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/cli/imagefile"
	"github.com/boxsum/boxsum/internal/raster"
)

// checkImage refuses an image that looks like a table.
func (c *Query) checkImage(src *imagefile.Source) error {
	if c.Image || c.Volume || src.Format != "npy" {
		return nil
	}
	table := false
	switch img := &src.Image; img.Type {
	case raster.I64, raster.U64:
		table = bordered(img)
	case raster.I32:
		table = src.Element == "int64" && bordered(img)
	case raster.U32, raster.F32, raster.F64:
		table = looksLikeTable(img)
	}
	if table {
		return fmt.Errorf("%s looks like a table: add --table if it is one, or --image if it is an image", c.In)
	}
	return nil
}

// tableHint adds a hint to use --table to an error of reading an image.
func (c *Query) tableHint(err error) error {
	if strings.EqualFold(filepath.Ext(c.In), ".npz") || errors.Is(err, boxsum.ErrTypes) {
		return fmt.Errorf("%w (add --table if boxsum integrate wrote it)", err)
	}
	return err
}

// bordered reports whether the first row and the first column of an array are zero and its last row
// and column are not, as in every table. Sums of signed pixels may decrease, so this is all that
// can be checked. Label images with a border of zeros on all sides are not tables.
func bordered(img *raster.Array) bool {
	if img.Width < 3 || img.Height < 3 {
		return false
	}
	some := func(memory []byte) bool { return slices.ContainsFunc(memory, func(b byte) bool { return b != 0 }) }
	last := false
	for y := range img.Height {
		if some(img.Span(0, y, 1)) {
			return false
		}
		last = last || some(img.Span(img.Width-1, y, 1))
	}
	return !some(img.Row(0)) && last && some(img.Row(img.Height-1))
}

// looksLikeTable reports whether the first row and column of an image are zero, its entries never
// decrease to the right or downwards, and the last entry is not zero. This holds for tables of
// nonnegative pixels but not for photographs. Images smaller than 3×3 may satisfy it by chance and
// are never taken for tables. Of a tall image only some rows are compared, which suffices because
// the order is transitive.
func looksLikeTable(img *raster.Array) bool {
	const looks = 64
	if img.Width < 3 || img.Height < 3 {
		return false
	}
	n := img.Width * img.Channels
	above := img.Floats(nil, 0, 0, n, 1)
	for _, v := range above {
		if v != 0 {
			return false
		}
	}
	var row []float64
	for i := range looks {
		row = img.Floats(row[:0], (img.Height-1)*(i+1)/looks, 0, n, 1)
		for x, v := range row {
			switch {
			case x < img.Channels && v != 0:
				return false
			case x >= img.Channels && !(v >= row[x-img.Channels]), !(v >= above[x]):
				return false
			}
		}
		above, row = row, above
	}
	return above[len(above)-1] > 0
}
