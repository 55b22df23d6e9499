package sketch_test

import (
	"fmt"
	"image"

	"github.com/boxsum/boxsum/haar"
	"github.com/boxsum/boxsum/internal/sketch"
	"github.com/boxsum/boxsum/rotated"
)

// This example draws an edge along 1/2 on a blank sheet.
func Example() {
	lattice, err := rotated.NewLattice(32, 24, rotated.Rotation{A: 1, B: 2})
	if err != nil {
		fmt.Println(err)
		return
	}
	edge, err := haar.New(haar.EdgeX, image.Rect(0, 0, 12, 6))
	if err != nil {
		fmt.Println(err)
		return
	}
	boxes := sketch.Feature(lattice, edge, image.Pt(8, 12))
	picture, err := sketch.Draw(sketch.Figure{Lattice: lattice, Boxes: boxes})
	if err != nil {
		fmt.Println(err)
		return
	}
	plus, minus := sketch.Count(lattice, boxes)
	fmt.Println(plus, "pixels for it,", minus, "against it, in a picture of", picture.Bounds().Size())
	// Output: 29 pixels for it, 29 against it, in a picture of (993,745)
}
