//go:build cgo

package main

import (
	"github.com/boxsum/boxsum/internal/denoise"
	"github.com/boxsum/boxsum/internal/raster"
)

// nonLocalMeans denoises one of several frames. Its arguments are an array of the frames, the index of one, out, the strength,
// the sides of patches and of what is searched, 1 for absolute differences, and workers.
func nonLocalMeans(a arguments) any {
	frames := a.array(0).mustView(3)
	frames.mustBe(equalizable, "pixels of %v cannot be denoised, want %s")
	j := denoise.Job{Index: a.int(1), Strength: a.float(3), Patch: a.int(4), Search: a.int(5), Absolute: a.int(6) != 0}
	j.Options.Workers = a.int(7)
	all := frames.pixels(frames.typ(), true)
	for z := range frames.depth {
		one := raster.Array{Type: all.Type, Extent: raster.PlaneExtent(all.Width, all.Height, all.Channels, all.Stride)}
		if len(all.Data) > 0 {
			one.Data = all.From(z * all.SliceStride)[:((all.Height-1)*all.Stride+all.Width*all.Channels)*all.Type.Bytes()]
		}
		j.Frames = append(j.Frames, one)
	}
	must(j.Check())
	var dst view
	dst.setResult(a.array(2), "out")
	if dst.element != frames.element {
		must(wrongTypes("out has type %v, want %v like the image", dst.element, frames.element))
	}
	j.Dst = dst.plane()
	must(j.Run())
	return nil
}

// floatNonLocalMeans denoises an image or a volume of floats. Its arguments are the array, out, the strength, the sides of patches and of what
// is searched, the noise, 1 for shifted patches, 1 for volumes, and workers.
func floatNonLocalMeans(a arguments) any {
	solid, axes := a.int(7) != 0, 2
	if solid {
		axes = 3
	}
	src := a.array(0).mustView(axes)
	src.mustBe(floats, "pixels of %v cannot be denoised as floats, want %s")
	j := denoise.FloatJob{
		Src: src.pixels(src.typ(), solid), Solid: solid, Strength: a.float(2), Patch: a.int(3), Search: a.int(4), Noise: a.float(5), Shifted: a.int(6) != 0,
	}
	j.Options.Workers = a.int(8)
	must(j.Check())
	to := a.toWrite(1).mustView(axes)
	if to.element != src.element {
		must(wrongTypes("out has type %v, want %v like the image", to.element, src.element))
	}
	j.Dst = to.pixels(to.typ(), solid)
	must(j.Run())
	return nil
}
