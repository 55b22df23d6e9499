package filter_test

import (
	"fmt"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/filter"
)

func ExampleBox() {
	img := boxsum.Image[uint8]{Width: 5, Height: 1, Pix: []uint8{0, 0, 90, 0, 0}}
	soft, err := filter.Box(img, filter.Window{Width: 3, Height: 1}, nil)
	fmt.Println(soft.Pix, err)
	// Output: [0 30 30 30 0] <nil>
}

func ExampleMeanStdDev() {
	img := boxsum.Image[uint8]{Width: 4, Height: 1, Pix: []uint8{1, 3, 3, 9}}
	mean, dev, err := filter.MeanStdDev[float64](img, filter.Window{Width: 3, Height: 1}, &filter.Options{Border: filter.Clip})
	fmt.Println(mean.Pix[0], dev.Pix[0], err)
	// Output: 2 1 <nil>
}

func ExampleBrightest() {
	img, _ := boxsum.NewImage[uint8](100, 100, 1)
	img.Pix[40*100+30] = 200
	found, err := filter.Brightest(img, 10, 10, 1, nil)
	fmt.Println(found[0].Box, found[0].Mean, err)
	// Output: (21,31)-(31,41) 2 <nil>
}

func ExampleStream() {
	s, err := filter.NewBoxStream[uint8](1, 1, filter.Window{Width: 1, Height: 3}, nil)
	if err != nil {
		panic(err)
	}
	for _, v := range []uint8{0, 0, 90, 0} {
		if row, _ := s.Push([]uint8{v}); row != nil {
			fmt.Print(row)
		}
	}
	for row, _ := s.End(); row != nil; row, _ = s.End() {
		fmt.Print(row)
	}
	// Output: [0][30][30][60]
}

func ExampleGaussian() {
	img := boxsum.Image[uint8]{Width: 7, Height: 1, Pix: []uint8{0, 0, 0, 200, 0, 0, 0}}
	soft, err := filter.Gaussian(img, filter.Sigma{X: 1}, nil)
	fmt.Println(soft.Pix, err)
	// Output: [2 11 48 80 48 11 2] <nil>
}

// A median removes single wrong pixels and keeps edges.
func ExampleMedian() {
	img := boxsum.Image[uint8]{Width: 9, Height: 1, Pix: []uint8{10, 10, 255, 10, 90, 90, 0, 90, 90}}
	clean, err := filter.Median(img, filter.Window{Width: 3, Height: 1}, nil)
	fmt.Println(clean.Pix, err)
	// Output: [10 10 10 90 90 90 90 90 90] <nil>
}

func ExampleDownsample() {
	img := boxsum.Image[uint8]{Width: 4, Height: 2, Pix: []uint8{1, 3, 10, 30, 5, 7, 50, 70}}
	half, err := filter.Downsample(img, 2, 2, nil)
	fmt.Println(half.Width, half.Height, half.Pix, err)
	// Output: 2 1 [4 40] <nil>
}
