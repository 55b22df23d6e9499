package tilted_test

import (
	"fmt"
	"log"
	"strings"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/tilted"
)

// This example prints the pixels of one box and its statistics.
func Example() {
	img := boxsum.Image[uint8]{Pix: make([]uint8, 12*7), Width: 12, Height: 7}
	for i := range img.Pix {
		img.Pix[i] = 10
	}
	table, err := tilted.Integrate[uint32](img, nil)
	if err != nil {
		log.Fatal(err)
	}
	box := tilted.Box{X: 4, Y: 1, W: 4, H: 2}
	for y := range img.Height {
		line := make([]string, img.Width)
		for x := range line {
			line[x] = "·"
			if inside(box, x, y) {
				line[x] = "#"
			}
		}
		fmt.Println(strings.Join(line, " "))
	}
	fmt.Println("sum", table.Sum(box), "area", box.Area(), "mean", table.Mean(box, 0))
	// Output:
	// · · · · · · · · · · · ·
	// · · · # · · · · · · · ·
	// · · # # # · · · · · · ·
	// · · # # # # · · · · · ·
	// · · · # # # # · · · · ·
	// · · · · # # # · · · · ·
	// · · · · · # · · · · · ·
	// sum 160 area 16 mean 10
}

// The entries of OpenCV's tilted table for a single bright pixel form a triangle below
// it.
func ExampleIntegrate() {
	img := boxsum.Image[uint8]{Pix: make([]uint8, 5*3), Width: 5, Height: 3}
	img.Pix[2] = 1
	table, err := tilted.Integrate[uint32](img, nil)
	if err != nil {
		log.Fatal(err)
	}
	for y := range img.Height + 1 {
		fmt.Println(table.View().Row(y))
	}
	// Output:
	// [0 0 0 0 0 0]
	// [0 0 0 1 0 0]
	// [0 0 1 1 1 0]
	// [0 1 1 1 1 1]
}

// The variance and the standard deviation also need the table of squares.
func ExampleIntegrateSquares() {
	img := boxsum.Image[uint8]{Width: 4, Height: 4, Pix: []uint8{
		0, 3, 0, 0,
		0, 5, 0, 0,
		0, 0, 0, 0,
		0, 0, 0, 0,
	}}
	table, err := tilted.IntegrateSquares[uint32, uint64](img, nil)
	if err != nil {
		log.Fatal(err)
	}
	box := tilted.Box{X: 2, Y: 0, W: 1, H: 1} // the two pixels
	fmt.Println(table.Mean(box, 0), table.Variance(box, 0), table.StdDev(box, 0))
	// Output:
	// 4 1 1
}
