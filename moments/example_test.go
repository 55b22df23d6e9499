package moments_test

import (
	"fmt"
	"image"
	"log"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/moments"
)

// letters returns an image of an L, the same L on its side, and a T.
func letters() boxsum.Image[uint8] {
	drawing := []string{
		"........................",
		".##.....................",
		".##..............######.",
		".##.....########.######.",
		".##.....########...##...",
		".##.....##.........##...",
		".##.....##.........##...",
		".#####..##.........##...",
		".#####..................",
		"........................",
	}
	img := boxsum.Image[uint8]{Width: len(drawing[0]), Height: len(drawing), Pix: make([]uint8, len(drawing)*len(drawing[0]))}
	for y, line := range drawing {
		for x, c := range line {
			if c == '#' {
				img.Row(y)[x] = 1
			}
		}
	}
	return img
}

// This example computes the centroid of a box, and how far its pixels spread about it.
func Example() {
	table, err := moments.Integrate(letters(), nil)
	if err != nil {
		log.Fatal(err)
	}
	m := table.Moments(image.Rect(16, 0, 24, 10), 0) // the T
	x, y := m.Centroid()
	fmt.Printf("%v pixels about (%.2f, %.2f)\n", m.M00, x, y)
	fmt.Printf("wide %.2f, high %.2f, askew %.2f\n", m.Mu20/m.M00, m.Mu02/m.M00, m.Mu11/m.M00)
	// Output:
	// 20 pixels about (3.50, 3.70)
	// wide 1.85, high 2.81, askew 0.00
}

// Hu's invariants recognize a shape that was moved and rotated, here by a quarter turn.
func ExampleMoments_Hu() {
	img := letters()
	table, err := moments.Integrate(img, nil)
	if err != nil {
		log.Fatal(err)
	}
	for _, letter := range []struct {
		name string
		box  image.Rectangle
	}{{"L", image.Rect(0, 0, 7, 10)}, {"L on its side", image.Rect(7, 2, 17, 9)}, {"T", image.Rect(16, 0, 24, 10)}} {
		hu := table.Moments(letter.box, 0).Hu()
		fmt.Printf("%.6f %.6f %.6f %s\n", hu[0], hu[1], hu[2], letter.name)
	}
	// Output:
	// 0.330672 0.052483 0.015297 L
	// 0.330672 0.052483 0.015297 L on its side
	// 0.233000 0.002304 0.010617 T
}

// Bytes returns the size of a table before it is made.
func ExampleBytes() {
	bytes, err := moments.Bytes[uint8](1920, 1080, 1)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(bytes/1e6, "MB")
	// Output:
	// 166 MB
}
