package threshold_test

import (
	"fmt"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/threshold"
)

func Example() {
	page := boxsum.Image[uint8]{Width: 4, Height: 3, Pix: []uint8{
		200, 200, 90, 80,
		200, 60, 85, 20,
		190, 200, 90, 80,
	}}
	black, err := threshold.Binarize(page, threshold.New(threshold.Sauvola, 3), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	for y := range black.Height {
		fmt.Println(black.Row(y))
	}
	// Output:
	// [255 255 255 255]
	// [255 0 0 0]
	// [255 255 255 255]
}
