//go:build cgo

package main

import "github.com/boxsum/boxsum/internal/enhance"

var equalizable = []element{u8, u16}

// clahe equalizes an image. Its arguments are the image, out, tiles across and down, the clip limit, the number
// of low bits to ignore, workers, and 1 to equalize the brightness of colors.
func clahe(a arguments) any {
	src := a.array(0).mustView(2)
	src.mustBe(equalizable, "pixels of %v cannot be equalized, want %s")
	var dst view
	dst.setResult(a.array(1), "out")
	j := enhance.Job{Src: src.plane(), Across: a.int(2), Down: a.int(3), Clip: a.float(4), Shift: a.int(5)}
	j.Options.Workers, j.Color = a.int(6), a.int(7) != 0
	must(j.Check())
	if dst.element != src.element {
		must(wrongTypes("out has type %v, want %v like the image", dst.element, src.element))
	}
	j.Dst = dst.plane()
	must(j.Run())
	return nil
}

// adaptHistogram equalizes an image of 0 to 16383 as scikit-image does. Its arguments are the image, out, the width and
// height of a tile, the clip limit, the number of bins, and workers.
func adaptHistogram(a arguments) any {
	src := a.array(0).mustView(2)
	src.mustBe([]element{u16}, "image has type %v, want %s")
	var dst view
	dst.setResult(a.array(1), "out")
	dst.mustBe([]element{u16}, "out has type %v, want %s")
	j := enhance.AdaptiveJob{Src: src.plane(), Dst: dst.plane(), Width: a.int(2), Height: a.int(3), Clip: a.float(4), Bins: a.int(5)}
	j.Options.Workers = a.int(6)
	must(j.Run())
	return nil
}
