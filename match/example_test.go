package match_test

import (
	"fmt"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/match"
)

// A part of the image is found where it was cut out, even after its brightness and contrast have changed.
func ExampleFind() {
	img, _ := boxsum.NewImage[uint8](100, 80, 1)
	noise := uint32(1)
	for i := range img.Pix {
		noise = noise*1664525 + 1013904223
		img.Pix[i] = uint8(noise >> 24)
	}
	template, _ := boxsum.NewImage[uint8](16, 12, 1)
	for y := range template.Height {
		for x := range template.Width {
			template.Pix[y*template.Width+x] = 50 + img.Row(40 + y)[30+x]/2
		}
	}
	peaks, err := match.Find(img, template, match.ZNCC, 1, nil)
	if err != nil {
		panic(err)
	}
	fmt.Printf("%d,%d with a score of %.3f", peaks[0].X, peaks[0].Y, peaks[0].Score)
	// Output: 30,40 with a score of 1.000
}
