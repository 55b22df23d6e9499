//go:build cgo

package main

import (
	"image"

	"github.com/boxsum/boxsum/denoise"
	"github.com/boxsum/boxsum/enhance"
	"github.com/boxsum/boxsum/filter"
	"github.com/boxsum/boxsum/gpu"
	"github.com/boxsum/boxsum/gpu/interop"
	"github.com/boxsum/boxsum/quality"
	"github.com/boxsum/boxsum/rank"
)

// claheOnDevice queues CLAHE. Its arguments are those of newResident, tiles across and down, and the clip limit.
func claheOnDevice(a arguments) any {
	newResident(a, 0).clahe(&enhance.Options{Across: a.int(3), Down: a.int(4), Clip: a.float(5)})
	return nil
}

func (r *resident) clahe(opt *enhance.Options) {
	r.wants(r.image.element)
	if opt.Clip == 0 {
		opt.Clip = -1
	}
	known(map[element]func(*resident, *enhance.Options){u8: claheThere[uint8], u16: claheThere[uint16]}, r.image.element, notOnDevice)(r, opt)
}

func claheThere[P gpu.FilterPixel](r *resident, opt *enhance.Options) {
	must(gpu.CLAHEInto(imageOver[P](r, &r.out), imageOver[P](r, &r.image), opt))
}

// rankOnDevice queues a rank filter. Its arguments are the statistic, those of newResident, the width, height and shift of the
// window, and the fraction of percentiles.
func rankOnDevice(a arguments) any {
	w := filter.Window{Width: a.int(4), Height: a.int(5), Shift: image.Pt(a.int(6), a.int(7))}
	newResident(a, 1).rank(got(rank.ParseStatistic(a.text(0))), w, &rank.Options{Fraction: a.float(8)})
	return nil
}

func (r *resident) rank(s rank.Statistic, w filter.Window, opt *rank.Options) {
	r.wants(r.image.element)
	known(map[element]func(*resident, rank.Statistic, filter.Window, *rank.Options){u8: rankThere[uint8], u16: rankThere[uint16]}, r.image.element, notOnDevice)(r, s, w, opt)
}

func rankThere[P gpu.FilterPixel](r *resident, s rank.Statistic, w filter.Window, opt *rank.Options) {
	must(gpu.RankInto(imageOver[P](r, &r.out), imageOver[P](r, &r.image), s, w, opt))
}

// denoiseOnDevice queues non-local means. Its arguments are those of newResident, the strength, the sides of patches and of what is
// searched, and 1 for absolute differences.
func denoiseOnDevice(a arguments) any {
	newResident(a, 0).denoise(&denoise.Options{Strength: a.float(3), Patch: a.int(4), Search: a.int(5), Absolute: a.int(6) != 0})
	return nil
}

func (r *resident) denoise(opt *denoise.Options) {
	r.wants(r.image.element)
	known(map[element]func(*resident, *denoise.Options){u8: denoiseThere[uint8], u16: denoiseThere[uint16]}, r.image.element, notOnDevice)(r, opt)
}

func denoiseThere[P gpu.FilterPixel](r *resident, opt *denoise.Options) {
	must(gpu.NonLocalMeansInto(imageOver[P](r, &r.out), imageOver[P](r, &r.image), opt))
}

// compareOnDevice computes the SSIM of two images, and waits. Its arguments are flat arrays of both images and of a map, if one is
// wanted, the number of the device, the stream, the side of the window, 1 for variances of the population, the data range or 0,
// K1 and K2, and an array of one float64 for the score.
func compareOnDevice(a arguments) any {
	flat := a.flat(0)
	d := got(interop.OnStream(a.mustDevice(1), uintptr(a.int(2))))
	opt := &quality.Options{Window: a.int(3), Population: a.int(4) != 0, DataRange: a.float(5), K1: a.float(6), K2: a.float(7)}
	list[float64](a.toWrite(8), f64, "score", 1)[0] = similarityThere(flat, d, opt)
	return nil
}

// similarityThere returns the SSIM of two flat arrays, and writes its map to a third if there is one.
func similarityThere(flat []flatArray, d *gpu.Device, opt *quality.Options) float64 {
	r := newResidentOf(flat[:2], d) // out is the second image here
	if r.out.element != r.image.element {
		must(wrongTypes("the second image has type %v, want %v like the first", r.out.element, r.image.element))
	}
	return known(map[element]func(*resident, []flatArray, *quality.Options) float64{u8: ssimThere[uint8], u16: ssimThere[uint16]}, r.image.element, notOnDevice)(r, flat[2:], opt)
}

func ssimThere[P gpu.FilterPixel](r *resident, maps []flatArray, opt *quality.Options) float64 {
	first, second := imageOver[P](r, &r.image), imageOver[P](r, &r.out)
	if len(maps) > 0 {
		var m view
		m.setResult(maps[0].array(), "out")
		if m.element != f32 {
			must(wrongTypes("maps of type %v, want float32 on a device", m.element))
		}
		must(gpu.SSIMMapInto(imageOver[float32](r, &m), first, second, opt))
	}
	return got(gpu.SSIM(first, second, opt))[0]
}
