//go:build cgo

package main

import (
	"encoding/json"
	"image"

	"github.com/boxsum/boxsum/internal/boxlets"
	"github.com/boxsum/boxsum/internal/window"
)

// boxKinds are the kinds of responses by name.
var boxKinds = map[string]boxlets.Kind{"sums": boxlets.Sums, "hessian": boxlets.Hessian, "targets": boxlets.Targets, "speckle": boxlets.Speckle}

// weighBoxes computes what follows from the sums of boxes around pixels. Its arguments are the kind, the image, out, the kernel,
// whose rows are boxes and their weights, or None, the border, its value, the margin, sigma, guard and training cells, the rate of false
// alarms, 1 for amplitudes, workers, and, for speckle, the method, the side of the window, looks and damping.
func weighBoxes(a arguments) any {
	src := a.array(1).mustView(2)
	src.mustBe(filterable, "pixels of %v cannot be filtered, want %s")
	j := boxlets.Job{
		Kind: boxKinds[a.text(0)], Src: src.plane(), Border: got(window.ParseBorder(a.text(4))), Value: a.float(5), Margin: a.int(6),
		Sigma: a.float(7), Guard: a.int(8), Train: a.int(9), FalseAlarms: a.float(10), Amplitudes: a.int(11) != 0,
	}
	j.Options.Workers = a.int(12)
	if a.has(3) {
		for _, row := range list[[5]float64](a.array(3), f64, "kernel", -1, 5) {
			j.Boxes = append(j.Boxes, boxlets.Box{Rectangle: image.Rectangle{Min: image.Pt(int(row[0]), int(row[1])), Max: image.Pt(int(row[2]), int(row[3]))}, Weight: row[4]})
		}
	}
	if j.Kind == boxlets.Speckle {
		j.Method, j.Size, j.Looks, j.Damping = got(boxlets.ParseMethod(a.text(13))), a.int(14), a.float(15), a.float(16)
	}
	must(j.Check())
	var dst view
	dst.setResult(a.array(2), "out")
	j.Dst = dst.plane()
	must(j.Run())
	return nil
}

// boxKernel returns a kernel as JSON, a list of boxes and weights. Its arguments are its name, or weights, which need no name, their
// anchor, and up to four sizes.
func boxKernel(a arguments) any {
	var kernel []boxlets.Box
	switch a.text(0) {
	case "dob":
		kernel = got(boxlets.DifferenceOfBoxes(a.int(4)))
	case "octagon":
		kernel = got(boxlets.Octagons([2]int{a.int(4), a.int(5)}, [2]int{a.int(6), a.int(7)}))
	case "star":
		kernel = got(boxlets.Stars(a.int(4), a.int(5)))
	default:
		v := a.array(1).mustView(2)
		weights := list[float64](a.array(1), f64, "weights", v.height, v.width)
		kernel = got(boxlets.FromKernel(weights, v.width, v.height, image.Pt(a.int(2), a.int(3))))
	}
	var rows [][5]float64
	for _, b := range kernel {
		rows = append(rows, [5]float64{float64(b.Min.X), float64(b.Min.Y), float64(b.Max.X), float64(b.Max.Y), b.Weight})
	}
	return string(got(json.Marshal(rows)))
}
