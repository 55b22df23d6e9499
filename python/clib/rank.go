//go:build cgo

package main

import "github.com/boxsum/boxsum/internal/rank"

// rankFilter computes a filter from local histograms. Its arguments are the statistic, the image, out, the width, height and
// shift of the window, its footprint or None, a mask or None, the number of levels or 0, the fraction of a percentile, distances
// below and above a pixel, the number of bins, 1 for pixels that wrap, and workers.
func rankFilter(a arguments) any {
	src := a.array(1).mustView(2)
	src.mustBe(equalizable, "pixels of %v cannot be ranked, want %s")
	j := rank.Job{
		Kind: got(rank.ParseKind(a.text(0))), Src: src.plane(), Width: a.int(3), Height: a.int(4), ShiftX: a.int(5), ShiftY: a.int(6), Mask: a.mask(8),
		Levels: a.int(9), Fraction: a.float(10), Below: a.int(11), Above: a.int(12), Bins: a.int(13), Wraps: a.int(14) != 0,
	}
	j.Options.Workers = a.int(15)
	if a.has(7) {
		j.Footprint = list[byte](a.array(7), u8, "footprint", j.Height, j.Width)
	}
	must(j.Check())
	var dst view
	dst.setResult(a.array(2), "out")
	switch j.Kind {
	case rank.Entropy, rank.Histogram:
		dst.mustBe(floats, "out has type %v, want %s")
	default:
		if dst.element != src.element {
			must(wrongTypes("out has type %v, want %v like the image", dst.element, src.element))
		}
	}
	j.Dst = dst.plane()
	must(j.Run())
	return nil
}
