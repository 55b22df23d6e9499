package haar_test

import (
	"fmt"
	"image"
	"math"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/haar"
	"github.com/boxsum/boxsum/rotated"
)

// halves has a dark left half and a bright right half.
var halves = boxsum.Image[uint8]{Width: 4, Height: 2, Pix: []uint8{
	1, 1, 9, 9,
	1, 1, 9, 9,
}}

func Example() {
	table, err := boxsum.Integrate[uint32](halves, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	plane, err := haar.Upright[int64](table, 0)
	if err != nil {
		fmt.Println(err)
		return
	}
	edge, err := haar.New(haar.EdgeX, image.Rect(0, 0, 4, 2))
	if err != nil {
		fmt.Println(err)
		return
	}
	value, err := plane.Value(edge, image.Pt(0, 0))
	fmt.Println(edge, "is", value, err)
	// Output: EdgeX (0,0)-(4,2) is 32 <nil>
}

// This example evaluates all features of a window in several windows.
func ExamplePlane_Values() {
	table, err := boxsum.Integrate[uint32](halves, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	plane, err := haar.Upright[int64](table, 0)
	if err != nil {
		fmt.Println(err)
		return
	}
	set, err := haar.All(2, 1, haar.ViolaJones()...) // a window of one feature
	if err != nil {
		fmt.Println(err)
		return
	}
	windows := []image.Point{{0, 0}, {1, 0}, {2, 1}}
	values := make([]int64, len(windows)*set.Len())
	if err := plane.Values(values, set, windows, nil); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(values)
	// Output: [0 8 0]
}

// In a flat image, a line is darker than the two boxes beside it together, unless its
// value is corrected for uneven areas.
func ExamplePlane_Corrected() {
	flat := boxsum.Image[uint8]{Width: 3, Height: 1, Pix: []uint8{5, 5, 5}}
	table, err := boxsum.Integrate[uint32](flat, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	plane, err := haar.Upright[int64](table, 0)
	if err != nil {
		fmt.Println(err)
		return
	}
	line, err := haar.New(haar.LineX, image.Rect(0, 0, 3, 1))
	if err != nil {
		fmt.Println(err)
		return
	}
	value, err := plane.Value(line, image.Pt(0, 0))
	fmt.Println(value, err)
	corrected, err := plane.Corrected(line, image.Pt(0, 0))
	fmt.Println(corrected, err)
	// Output:
	// -5 <nil>
	// 0 <nil>
}

// The features of a 200×200 window do not fit in most memories. Iterating over them
// holds only one at a time.
func ExampleSet_Features() {
	set, err := haar.All(200, 200, haar.ViolaJones()...)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(set.Len())
	left := 3
	for f := range set.Features() {
		if left--; left < 0 {
			break
		}
		fmt.Println(f)
	}
	// Output:
	// 768646600
	// EdgeX (0,0)-(2,1)
	// EdgeX (0,0)-(4,1)
	// EdgeX (0,0)-(6,1)
}

// Lines are moved to whole pixels, so boxes of the same size may differ after scaling.
func ExampleFeature_Scale() {
	line, err := haar.New(haar.LineX, image.Rect(0, 0, 3, 1))
	if err != nil {
		fmt.Println(err)
		return
	}
	scaled, err := line.Scale(2.5)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, box := range scaled.Boxes() {
		fmt.Println(box.Bounds, box.Weight)
	}
	// Output:
	// (0,0)-(3,3) -1
	// (3,0)-(5,3) 1
	// (5,0)-(8,3) -1
}

// A feature along 1/2 finds the edge in an image that is dark above a line that climbs
// by 1/2, and bright below.
func ExampleRotated() {
	img := boxsum.Image[uint8]{Width: 24, Height: 24, Pix: make([]uint8, 24*24)}
	for i := range img.Pix {
		if x, y := i%24, i/24; y+x/2 >= 18 {
			img.Pix[i] = 100
		}
	}
	table, err := rotated.Integrate[uint32](img, rotated.Rotation{A: 1, B: 2}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	plane, err := haar.Rotated[int64](table, 0)
	if err != nil {
		fmt.Println(err)
		return
	}
	edge, err := haar.New(haar.EdgeY, image.Rect(0, 0, 8, 6)) // three lines above, three below
	if err != nil {
		fmt.Println(err)
		return
	}
	for y := 10; y <= 13; y++ {
		value, err := plane.Corrected(edge, image.Pt(8, y))
		fmt.Println("from row", y, "on:", value, err)
	}
	// Output:
	// from row 10 on: 1200 <nil>
	// from row 11 on: 2000 <nil>
	// from row 12 on: 1300 <nil>
	// from row 13 on: 700 <nil>
}

// This example counts the features along several rotations that stay inside an upright
// window.
func ExampleAllRotated() {
	for _, rot := range []rotated.Rotation{{A: 0, B: 1}, {A: 1, B: 1}, {A: 1, B: 2}, {A: -2, B: 1}} {
		set, err := haar.AllRotated(rot, 24, 24, haar.ViolaJones()...)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(rot, set.Len())
	}
	// Output:
	// 0/1 162336
	// 1/1 463598
	// 1/2 162030
	// -2/1 162030
}

// This example converts the features of upright 24×24 windows to windows rotated by
// 45°. They have 34×34 lines, because lines are closer together than pixels.
func ExampleSet_Scale() {
	upright, err := haar.All(24, 24, haar.ViolaJones()...)
	if err != nil {
		fmt.Println(err)
		return
	}
	turned, err := upright.Scale(math.Sqrt(2))
	if err != nil {
		fmt.Println(err)
		return
	}
	width, height := turned.Window()
	fmt.Println(turned.Len(), "features in", width, "by", height, "lines")
	// Output: 162336 features in 34 by 34 lines
}
