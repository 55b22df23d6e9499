package rotated_test

import (
	"fmt"
	"log"
	"strings"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/rotated"
)

// This example makes a table along 1/2 and marks the pixels of one of its boxes.
func Example() {
	img := boxsum.Image[uint8]{Pix: make([]uint8, 12*6), Width: 12, Height: 6}
	for i := range img.Pix {
		img.Pix[i] = 10
	}
	table, err := rotated.Integrate[uint32](img, rotated.Rotation{A: 1, B: 2}, nil)
	if err != nil {
		log.Fatal(err)
	}
	box := rotated.Box{C0: 1, R0: 3, C1: 6, R1: 7}
	for y := range img.Height {
		line := make([]string, img.Width)
		for x := range line {
			line[x] = "·"
			if c, r := table.Cell(x, y); c >= box.C0 && c < box.C1 && r >= box.R0 && r < box.R1 {
				line[x] = "#"
			}
		}
		fmt.Println(strings.Join(line, " "))
	}
	fmt.Println("sum", table.Sum(box), "area", table.Area(box), "mean", table.Mean(box, 0))
	// Output:
	// · · · · · · · · · · · ·
	// · · · · # # · · · · · ·
	// · · # # # # # · · · · ·
	// · · # # # # # · · · · ·
	// · · · # # # · · · · · ·
	// · · · # · · · · · · · ·
	// sum 160 area 16 mean 10
}

func ExampleNearest() {
	rot, err := rotated.Nearest(37, 3)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%v is %.2f°\n", rot, rot.Degrees())
	// Output:
	// 2/3 is 33.69°
}

func ExampleAngles() {
	for _, rot := range rotated.Angles(3) {
		fmt.Printf("%v %.2f°\n", rot, rot.Degrees())
	}
	// Output:
	// 1/3 18.43°
	// 1/2 26.57°
	// 1/1 45.00°
	// 2/1 63.43°
	// 3/1 71.57°
}

// This example finds the box nearest to a rectangle at an angle of about 27°.
func ExampleLattice_FromRectangle() {
	lattice, err := rotated.NewLattice(640, 480, rotated.Rotation{A: 1, B: 2})
	if err != nil {
		log.Fatal(err)
	}
	box, err := lattice.FromRectangle(rotated.Rectangle{X: 320, Y: 240, Width: 90, Height: 40, Degrees: 27})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("box", box, "area", lattice.Area(box), "of", 90*40)
	// Output:
	// box 150,377,251,422 area 3636 of 3600
}
