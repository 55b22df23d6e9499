//go:build cgo

package main

import (
	"image"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/filter"
	"github.com/boxsum/boxsum/gpu"
	"github.com/boxsum/boxsum/gpu/interop"
	"github.com/boxsum/boxsum/match"
	"github.com/boxsum/boxsum/threshold"
)

// A resident is an image on a device, with the array for the result.
type resident struct {
	image, out view
	device     *gpu.Device // on a stream of the caller
}

// newResident reads flat arrays of the image and out, the number of the device, and the stream,
// starting at an argument.
func newResident(a arguments, from int) *resident {
	flat := a.flat(from)
	return newResidentOf(flat, got(interop.OnStream(a.mustDevice(from+1), uintptr(a.int(from+2)))))
}

func newResidentOf(flat []flatArray, d *gpu.Device) *resident {
	r := &resident{device: d}
	r.image = flat[0].array().mustView(2)
	r.out.setResult(flat[1].array(), "out")
	return r
}

// imageOver returns an array of the device as an image.
func imageOver[P boxsum.Pixel](r *resident, v *view) *gpu.Image[P] {
	return got(interop.ImageOver[P](r.device, interop.Foreign{
		Handle: uintptr(v.data), Width: v.width, Height: v.height, Channels: v.channels, Count: 1, Stride: int64(v.stride) * int64(v.bytes),
	}))
}

// wants ends the call with an error if out has a type other than e.
func (r *resident) wants(e element) {
	if r.out.element != e {
		must(wrongTypes("out has type %v, want %v on a device", r.out.element, e))
	}
}

const notOnDevice = "pixels of %v cannot be filtered on a device (copy the image to the host)"

// filterOnDevice queues a filter: box, mean or std. Its arguments are the name, those of newResident,
// the width, height and shift of the window, and the border and its value.
func filterOnDevice(a arguments) any {
	w := filter.Window{Width: a.int(4), Height: a.int(5), Shift: image.Pt(a.int(6), a.int(7))}
	newResident(a, 1).filter(a.text(0), w, &filter.Options{Border: got(filter.ParseBorder(a.text(8))), Value: a.float(9)})
	return nil
}

func (r *resident) filter(name string, w filter.Window, opt *filter.Options) {
	known(map[element]func(*resident, string, filter.Window, *filter.Options){u8: filterThere[uint8], u16: filterThere[uint16]}, r.image.element, notOnDevice)(r, name, w, opt)
}

func filterThere[P gpu.FilterPixel](r *resident, name string, w filter.Window, opt *filter.Options) {
	src := imageOver[P](r, &r.image)
	if name == "box" {
		r.wants(r.image.element)
		must(gpu.BoxInto(imageOver[P](r, &r.out), src, w, opt))
		return
	}
	r.wants(f32)
	to := imageOver[float32](r, &r.out)
	switch name {
	case "mean":
		must(gpu.MeanStdDevInto(to, nil, src, w, opt))
	case "std":
		must(gpu.MeanStdDevInto(nil, to, src, w, opt))
	default:
		must(invalid("unknown filter %q, want box, mean or std for arrays of a device", name))
	}
}

// thresholdOnDevice queues a threshold. Its arguments are those of newResident and of ruleOf.
func thresholdOnDevice(a arguments) any {
	r, rule := newResident(a, 0), ruleOf(a, 3)
	r.threshold(threshold.Rule{
		Method: threshold.Method(rule.Method), Window: filter.Window(rule.Window), Border: filter.Border(rule.Border), Value: rule.Value,
		K: rule.K, R: rule.R, White: rule.White, P: rule.P, Q: rule.Q, T: rule.T, C: rule.C, MinN: rule.MinN,
	})
	return nil
}

func (r *resident) threshold(rule threshold.Rule) {
	r.wants(u8)
	known(map[element]func(*resident, threshold.Rule){u8: binarizeThere[uint8], u16: binarizeThere[uint16]}, r.image.element, notOnDevice)(r, rule)
}

func binarizeThere[P gpu.FilterPixel](r *resident, rule threshold.Rule) {
	must(gpu.BinarizeInto(imageOver[uint8](r, &r.out), imageOver[P](r, &r.image), rule, nil))
}

// matchOnDevice queues template matching. Its arguments are those of newResident, the template, which
// is in host memory, and the method.
func matchOnDevice(a arguments) any {
	r, template := newResident(a, 0), a.array(3).mustView(2)
	r.match(&template, got(match.ParseMethod(a.text(4))))
	return nil
}

func (r *resident) match(template *view, m match.Method) {
	r.wants(f32)
	if r.image.element != u8 || template.element != u8 {
		must(wrongTypes("image has type %v and template %v, want uint8 on a device", r.image.element, template.element))
	}
	must(gpu.MatchInto(imageOver[float32](r, &r.out), imageOver[uint8](r, &r.image), imageOf[uint8](template), m, nil))
}
