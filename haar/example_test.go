package haar_test

import (
	"fmt"
	"image"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/haar"
)

// A dark left half beside a bright right half.
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

// All features of a window, in windows of the caller's choice.
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

// In a flat image a line is darker than the two boxes beside it together,
// unless it is corrected for its area.
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

// A window of 200×200 has more features than most memories hold. Going through
// them holds one at a time.
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

// Lines go to whole pixels, and boxes that were equal need not be any more.
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
