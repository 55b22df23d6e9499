//go:build cgo

package main

import (
	"encoding/json"
	"image"
	"runtime/cgo"
	"strings"

	"github.com/boxsum/boxsum/gpu"
	"github.com/boxsum/boxsum/gpu/interop"
	"github.com/boxsum/boxsum/hog"
)

// newDescriptor returns a handle for a descriptor. Its arguments are the fields of [hog.Config] as JSON, and
// the coefficients as an array of float32, or None.
func newDescriptor(a arguments) any {
	var c struct {
		Window, Block, Stride, Cell [2]int
		Bins, Levels                int
		Signed, Linear              bool
		Sigma, Clip                 float64
	}
	must(json.Unmarshal([]byte(a.text(0)), &c))
	config := hog.Config{
		Window: point(c.Window), Block: point(c.Block), Stride: point(c.Stride), Cell: point(c.Cell),
		Bins: c.Bins, Signed: c.Signed, Linear: c.Linear, Sigma: c.Sigma, Clip: c.Clip, Levels: c.Levels,
	}
	if a.has(1) {
		config.Coefficients = list[float32](a.array(1), f32, "coefficients", -1)
	}
	return int(cgo.NewHandle(got(hog.New(config))))
}

func point(of [2]int) image.Point { return image.Pt(of[0], of[1]) }

// loadDescriptor returns a handle for a descriptor. Its arguments are the path of a file, and the name of the
// descriptor in it, which is empty for the first one.
func loadDescriptor(a arguments) any {
	return int(cgo.NewHandle(got(hog.LoadFileNamed(a.text(0), a.text(1)))))
}

func descriptorOf(a arguments) *hog.Descriptor {
	d, ok := cgo.Handle(a.int(0)).Value().(*hog.Descriptor)
	if !ok {
		panic("not a descriptor")
	}
	return d
}

// describeDescriptor describes a descriptor as JSON. Its coefficients are copied to an array by
// descriptorCoefficients.
func describeDescriptor(a arguments) any {
	d := descriptorOf(a)
	c := d.Config()
	sides := func(p image.Point) [2]int { return [2]int{p.X, p.Y} }
	return string(got(json.Marshal(map[string]any{
		"window": sides(c.Window), "block": sides(c.Block), "stride": sides(c.Stride), "cell": sides(c.Cell),
		"bins": c.Bins, "signed": c.Signed, "linear": c.Linear, "sigma": c.Sigma, "clip": c.Clip, "levels": c.Levels,
		"size": d.Size(), "coefficients": len(c.Coefficients),
	})))
}

// descriptorCoefficients copies the coefficients of a descriptor to an array of float32.
func descriptorCoefficients(a arguments) any {
	c := descriptorOf(a).Config().Coefficients
	copy(list[float32](a.toWrite(1), f32, "out", len(c)), c)
	return nil
}

// saveDescriptor returns the text of a file. Its arguments are the descriptor, the name of the file, whose
// extension selects the format, and the name of the descriptor in it.
func saveDescriptor(a arguments) any {
	var text strings.Builder
	must(descriptorOf(a).Save(&text, got(hog.FormatOf(a.text(1))), a.text(2)))
	return text.String()
}

// windowsOfDescriptor writes the upper left pixels of windows to an array with rows of x and y if there is
// one, and returns their number. Its arguments are the descriptor, the width and height of an image, the
// fields of [hog.WindowOptions] as JSON, and the array or None.
func windowsOfDescriptor(a arguments) any {
	d, width, height := descriptorOf(a), a.int(1), a.int(2)
	o := windowOptions(a.text(3))
	must(room(16 * float64(width) * float64(height)))
	all := d.Windows(width, height, o)
	if a.has(4) {
		to := list[[2]int](a.toWrite(4), i64, "out", len(all), 2)
		for i, p := range all {
			to[i] = [2]int{p.X, p.Y}
		}
	}
	return len(all)
}

func windowOptions(text string) *hog.WindowOptions {
	var o struct {
		Step, Padding [2]int
		At            [][2]int
		BGR           bool
		Workers       int
	}
	must(json.Unmarshal([]byte(text), &o))
	opt := &hog.WindowOptions{Step: point(o.Step), Padding: point(o.Padding), BGR: o.BGR, Workers: o.Workers}
	if o.At != nil {
		opt.At = make([]image.Point, len(o.At))
		for i, p := range o.At {
			opt.At[i] = point(p)
		}
	}
	return opt
}

// describeWindows writes the descriptors of windows to an array of float32, one row each. Its arguments are
// the descriptor, the image, the fields of [hog.WindowOptions] as JSON, and the array, which has a row for
// each window.
func describeWindows(a arguments) any {
	d := descriptorOf(a)
	v := a.array(1).mustView(2)
	wantsBytes(&v)
	to := list[float32](a.toWrite(3), f32, "out", -1, d.Size())
	made := got(d.AppendCompute(to[:0:len(to)], imageOf[uint8](&v), windowOptions(a.text(2))))
	if len(made) != len(to) {
		must(invalid("out has %d numbers, want %d", len(to), len(made)))
	}
	return nil
}

// scoreWindows writes the scores of windows to an array of float64. Its arguments are like those of
// describeWindows.
func scoreWindows(a arguments) any {
	d := descriptorOf(a)
	v := a.array(1).mustView(2)
	wantsBytes(&v)
	to := list[float64](a.toWrite(3), f64, "out", -1)
	made := got(d.AppendScores(to[:0:len(to)], imageOf[uint8](&v), windowOptions(a.text(2))))
	if len(made) != len(to) {
		must(invalid("out has %d numbers, want %d", len(to), len(made)))
	}
	return nil
}

// detectByHistograms returns the detections in an image like detectObjects. Its arguments are the descriptor,
// the image, the fields of [hog.Options] as JSON, and the number of a device.
func detectByHistograms(a arguments) any {
	d := descriptorOf(a)
	v := a.array(1).mustView(2)
	wantsBytes(&v)
	opt := hogOptions(a.text(2))
	if on := a.device(3); on != nil {
		opt.On = on
	}
	return foundOf(got(d.Detect(imageOf[uint8](&v), opt)))
}

// detectByHistogramsOnDevice is like detectByHistograms for an image on a device. Its arguments are like
// those of detectOnDevice.
func detectByHistogramsOnDevice(a arguments) any {
	d := descriptorOf(a)
	r := &resident{device: got(interop.OnStream(a.mustDevice(3), uintptr(a.int(4)))), image: a.flat(2)[0].array().mustView(2)}
	wantsBytes(&r.image)
	return foundOf(got(gpu.DetectHOG(imageOver[uint8](r, &r.image), d, hogOptions(a.text(1))))[0])
}

func hogOptions(text string) *hog.Options {
	var o struct {
		Threshold, Scale, Density float64
		Step, Padding, Min, Max   [2]int
		Neighbors, Limit, Workers int
		Ungrouped, MeanShift, BGR bool
		Ignore                    [][4]int
	}
	must(json.Unmarshal([]byte(text), &o))
	return &hog.Options{
		Threshold: o.Threshold, Scale: o.Scale, Density: o.Density, Step: point(o.Step), Padding: point(o.Padding),
		Min: point(o.Min), Max: point(o.Max), Neighbors: o.Neighbors, Limit: o.Limit, Workers: o.Workers,
		Ungrouped: o.Ungrouped, MeanShift: o.MeanShift, BGR: o.BGR, Ignore: rectangles(o.Ignore),
	}
}

// gradientsOfImage writes the votes of pixels to an array of float32 and their bins to one of uint8. Its
// arguments are the descriptor, the image, the fields of [hog.GradientOptions] as JSON, and both arrays.
func gradientsOfImage(a arguments) any {
	d := descriptorOf(a)
	v := a.array(1).mustView(2)
	wantsBytes(&v)
	var o struct {
		Before, After [2]int
		BGR           bool
		Workers       int
	}
	must(json.Unmarshal([]byte(a.text(2)), &o))
	votes, bins, err := d.Gradients(imageOf[uint8](&v), &hog.GradientOptions{Before: point(o.Before), After: point(o.After), BGR: o.BGR, Workers: o.Workers})
	must(err)
	copy(list[float32](a.toWrite(3), f32, "votes", votes.Height, votes.Width, 2), votes.Pix)
	copy(list[uint8](a.toWrite(4), u8, "bins", bins.Height, bins.Width, 2), bins.Pix)
	return nil
}
