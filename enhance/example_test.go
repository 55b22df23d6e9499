package enhance_test

import (
	"fmt"
	"slices"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/enhance"
)

// Equalizing a ramp with little contrast widens its range.
func ExampleCLAHE() {
	img, _ := boxsum.NewImage[uint8](128, 128, 1)
	for y := range img.Height {
		for x := range img.Width {
			img.Row(y)[x] = uint8(100 + x/4 + y/8)
		}
	}
	clear, err := enhance.CLAHE(img, &enhance.Options{Clip: 3, Across: 4, Down: 4})
	if err != nil {
		panic(err)
	}
	fmt.Println(slices.Min(img.Pix), slices.Max(img.Pix))
	fmt.Println(slices.Min(clear.Pix), slices.Max(clear.Pix))
	// Output:
	// 100 146
	// 91 161
}
