package products_test

import (
	"fmt"
	"image"
	"log"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/imgio"
	"github.com/boxsum/boxsum/products"
)

// This example finds how far the right image of a stereo pair is shifted at one pixel: the
// shift with the highest correlation of the windows around it.
func Example() {
	left := imgio.Demo(320, 240)
	const shift, most = 6, 10
	width := left.Width - most
	// view returns the columns from x on, which share the memory of the image.
	view := func(x int) boxsum.Image[uint8] {
		return boxsum.Image[uint8]{Pix: left.Pix[x:], Stride: left.Stride, Width: width, Height: left.Height}
	}
	right := view(shift)
	b, err := boxsum.IntegrateSquares[uint32, uint64](right, nil)
	if err != nil {
		log.Fatal(err)
	}
	window := image.Rect(196, 96, 205, 105)
	best, at := -1.0, 0
	for d := range most {
		a, err := boxsum.IntegrateSquares[uint32, uint64](view(d), nil)
		if err != nil {
			log.Fatal(err)
		}
		ab, err := products.Integrate[uint64](view(d), right, nil)
		if err != nil {
			log.Fatal(err)
		}
		pair, err := products.PairOf(a, b, ab)
		if err != nil {
			log.Fatal(err)
		}
		if r := pair.Correlation(window, 0); r > best {
			best, at = r, d
		}
	}
	fmt.Printf("shift %d, correlation %.3f\n", at, best)
	// Output: shift 6, correlation 1.000
}
