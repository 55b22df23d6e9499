//go:build cgo

package main

import (
	"encoding/json"
	"image"
	"runtime/cgo"
	"slices"

	"github.com/boxsum/boxsum/detect"
	"github.com/boxsum/boxsum/gpu"
	"github.com/boxsum/boxsum/gpu/interop"
	"github.com/boxsum/boxsum/internal/cascade/installed"
)

// loadCascade returns a handle for a cascade. Its argument is the path of its file.
func loadCascade(a arguments) any {
	return int(cgo.NewHandle(got(detect.LoadFile(a.text(0)))))
}

// findCascade returns the path of a cascade. Its arguments are a path or the name of an installed
// cascade, and two lists of folders to search first. Python passes the lists because the library sees
// the environment as it was when the library was loaded.
func findCascade(a arguments) any {
	return got(installed.Find(a.text(0), slices.Concat(installed.Listed(a.text(1)), installed.Listed(a.text(2)))...))
}

func cascadeOf(a arguments) *detect.Cascade {
	c, ok := cgo.Handle(a.int(0)).Value().(*detect.Cascade)
	if !ok {
		panic("not a cascade")
	}
	return c
}

// describeCascade describes a cascade as JSON.
func describeCascade(a arguments) any {
	c := cascadeOf(a)
	w := c.Window()
	return string(got(json.Marshal(map[string]any{"window": []int{w.X, w.Y}, "kind": c.Kind().String(), "stages": c.Stages(), "features": c.Features()})))
}

// detectObjects returns the detections in an image as JSON: a list of x, y, width, height, angle,
// neighbors, score and stage for each. Its arguments are the cascade, the image, the fields of
// [detect.Options] as JSON, with boxes as lists of four numbers, and the number of a device.
func detectObjects(a arguments) any {
	c := cascadeOf(a)
	v := a.array(1).mustView(2)
	wantsBytes(&v)
	opt := detectOptions(a.text(2))
	must(room(24 * float64(v.width) * float64(v.height)))
	if d := a.device(3); d != nil {
		opt.On = d
	}
	return foundOf(got(c.Detect(imageOf[uint8](&v), opt)))
}

// detectOnDevice is like detectObjects for an image on a device. Its arguments are the cascade, the
// options, a flat array, the number of the device and the stream.
func detectOnDevice(a arguments) any {
	c := cascadeOf(a)
	r := &resident{device: got(interop.OnStream(a.mustDevice(3), uintptr(a.int(4)))), image: a.flat(2)[0].array().mustView(2)}
	wantsBytes(&r.image)
	return foundOf(got(gpu.Detect(imageOver[uint8](r, &r.image), c, detectOptions(a.text(1))))[0])
}

func wantsBytes(v *view) {
	if v.element != u8 {
		must(wrongTypes("image has type %v, want uint8", v.element))
	}
}

func detectOptions(text string) *detect.Options {
	var o struct {
		Scale, Contrast              float64
		Neighbors, NearMisses, Limit int
		Ungrouped, Compat, BGR       bool
		Min, Max                     [2]int
		Angles                       []float64
		Turn                         detect.Turn
		EachAngle, Mirror            bool
		Ignore                       [][4]int
		Workers                      int
	}
	must(json.Unmarshal([]byte(text), &o))
	opt := &detect.Options{
		Scale: o.Scale, Contrast: o.Contrast, Neighbors: o.Neighbors, NearMisses: o.NearMisses, Limit: o.Limit,
		Ungrouped: o.Ungrouped, Compat: o.Compat, BGR: o.BGR, Min: image.Pt(o.Min[0], o.Min[1]), Max: image.Pt(o.Max[0], o.Max[1]),
		Angles: o.Angles, Turn: o.Turn, EachAngle: o.EachAngle, Mirror: o.Mirror, Workers: o.Workers,
	}
	opt.Ignore = rectangles(o.Ignore)
	return opt
}

// rectangles returns boxes as rectangles; those that end before they begin are empty.
func rectangles(boxes [][4]int) (all []image.Rectangle) {
	for _, b := range boxes {
		all = append(all, image.Rectangle{Min: image.Pt(b[0], b[1]), Max: image.Pt(b[2], b[3])})
	}
	return all
}

func foundOf(all []detect.Result) string {
	found := [][9]float64{}
	for _, r := range all {
		mirrored := 0.0
		if r.Mirrored {
			mirrored = 1
		}
		found = append(found, [9]float64{
			float64(r.Rect.Min.X), float64(r.Rect.Min.Y), float64(r.Rect.Dx()), float64(r.Rect.Dy()),
			r.Angle, float64(r.Neighbors), r.Score, float64(r.Stage), mirrored,
		})
	}
	return string(got(json.Marshal(found)))
}
