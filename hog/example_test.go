package hog_test

import (
	"fmt"
	"image"
	"log"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/hog"
)

// disc draws a bright disc on a dark image.
func disc(img boxsum.Image[uint8], center image.Point, radius int) {
	for y := range img.Height {
		for x := range img.Width {
			if dx, dy := x-center.X, y-center.Y; dx*dx+dy*dy < radius*radius {
				img.Pix[y*img.Width+x] = 200
			}
		}
	}
}

// The descriptor of a single picture, used as coefficients, finds what looks like it. A
// classifier trained on many pictures is better: its coefficients take the same place.
func Example() {
	model, err := boxsum.NewImage[uint8](32, 32, 1)
	if err != nil {
		log.Fatal(err)
	}
	disc(model, image.Pt(16, 16), 12)
	d, err := hog.New(hog.Config{Window: image.Pt(32, 32)})
	if err != nil {
		log.Fatal(err)
	}
	features, err := d.Compute(model, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(features), "numbers describe a window")

	c := d.Config()
	c.Coefficients = features
	if d, err = hog.New(c); err != nil {
		log.Fatal(err)
	}
	picture, err := boxsum.NewImage[uint8](200, 120, 1)
	if err != nil {
		log.Fatal(err)
	}
	disc(picture, image.Pt(40, 56), 12)
	disc(picture, image.Pt(140, 60), 24)
	found, err := d.Detect(picture, &hog.Options{Threshold: 6})
	if err != nil {
		log.Fatal(err)
	}
	for _, r := range found {
		fmt.Printf("%v, %d windows, score %.1f\n", r.Rect, r.Neighbors, r.Score)
	}
	// Output:
	// 324 numbers describe a window
	// (22,40)-(58,76), 4 windows, score 8.9
	// (106,25)-(173,92), 9 windows, score 7.5
}
