package denoise_test

import (
	"fmt"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/denoise"
)

func ExampleNonLocalMeans() {
	img := boxsum.Image[uint8]{Pix: []uint8{
		10, 12, 11, 90, 92, 91,
		12, 11, 10, 91, 90, 92,
		11, 10, 12, 92, 91, 90,
	}, Width: 6, Height: 3}
	clean, err := denoise.NonLocalMeans(img, &denoise.Options{Strength: 5, Patch: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(clean.Pix[:6])
	// Output: [11 11 11 91 91 91]
}
