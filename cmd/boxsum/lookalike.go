package main

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/boxsum/boxsum"
)

// mostChannels is how many channels colour has. An array with more is rather a
// volume.
const mostChannels = 4

// checkImage refuses an array that looks like a table.
func (c *queryCmd) checkImage(src *source) error {
	if c.Image || c.Volume || src.format != "npy" {
		return nil
	}
	table := false
	switch img := src.image.(type) {
	case boxsum.Image[uint32]:
		table = looksLikeTable(img)
	case boxsum.Image[float32]:
		table = looksLikeTable(img)
	case boxsum.Image[float64]:
		table = looksLikeTable(img)
	}
	if table {
		return fmt.Errorf("%s looks like a table: write --table to query it as one, or --image if it is an image", c.In)
	}
	return nil
}

// tableHint adds to an error of reading an image that tables take a flag.
func (c *queryCmd) tableHint(err error) error {
	text := err.Error()
	if strings.EqualFold(filepath.Ext(c.In), ".npz") || strings.Contains(text, "images or volumes of uint64") || strings.Contains(text, "images or volumes of int64") {
		return fmt.Errorf("%w; if it is a table that integrate wrote, add --table", err)
	}
	return err
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
