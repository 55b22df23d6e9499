package quality_test

import (
	"fmt"
	"log"

	"github.com/boxsum/boxsum/filter"
	"github.com/boxsum/boxsum/imgio"
	"github.com/boxsum/boxsum/quality"
)

// This example measures how much a blur changes a picture.
func Example() {
	img := imgio.Demo(640, 360)
	for _, radius := range []int{0, 1, 4} {
		soft, err := filter.Box(img, filter.Radius(radius), nil)
		if err != nil {
			log.Fatal(err)
		}
		ssim, err := quality.SSIM(img, soft, nil)
		if err != nil {
			log.Fatal(err)
		}
		psnr, err := quality.PSNR(img, soft, nil)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("radius %d: SSIM %.3f, PSNR %.1f dB\n", radius, ssim, psnr)
	}
	// Output:
	// radius 0: SSIM 1.000, PSNR +Inf dB
	// radius 1: SSIM 0.945, PSNR 32.2 dB
	// radius 4: SSIM 0.752, PSNR 25.4 dB
}
