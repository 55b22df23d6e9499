package boxsum_test

import (
	"fmt"
	"image"
	"image/color"
	"io"
	"log"
	"math"
	"strings"

	"github.com/boxsum/boxsum"
)

// small is the worked example of Bilgic, Horn and Masaki.
var small = boxsum.Image[uint8]{Width: 4, Height: 3, Pix: []uint8{
	2, 1, 3, 1,
	3, 2, 1, 1,
	4, 1, 3, 1,
}}

func Example() {
	table, err := boxsum.Integrate[uint32](small, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("all:", table.Sum(table.Bounds()))
	fmt.Println("middle:", table.Sum(image.Rect(1, 1, 3, 3)))
	fmt.Println("mean:", table.Mean(image.Rect(1, 1, 3, 3), 0))
	// Output:
	// all: 23
	// middle: 7
	// mean: 1.75
}

// The frames of a video are integrated into the same table, without allocating.
func ExampleIntegrateInto() {
	table, err := boxsum.NewTable[uint32](4, 3, 1)
	if err != nil {
		fmt.Println(err)
		return
	}
	for range 3 {
		if err := boxsum.IntegrateInto(table, small, nil); err != nil {
			fmt.Println(err)
			return
		}
	}
	fmt.Println(table.Sum(image.Rect(0, 0, 2, 2)))
	// Output: 8
}

func ExampleIntegrateSquares() {
	table, err := boxsum.IntegrateSquares[uint32, uint64](small, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	box := image.Rect(0, 0, 2, 3)
	fmt.Printf("mean %.3f, variance %.3f, deviation %.3f\n",
		table.Mean(box, 0), table.Variance(box, 0), table.StdDev(box, 0))
	// Output: mean 2.167, variance 1.139, deviation 1.067
}

func ExampleGray() {
	photo := image.NewRGBA(image.Rect(0, 0, 2, 1))
	photo.Set(0, 0, color.RGBA{255, 0, 0, 255})
	photo.Set(1, 0, color.RGBA{0, 255, 0, 255})
	table, err := boxsum.Integrate[uint32](boxsum.Gray(photo), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(table.Exclusive().Row(1))
	// Output: [0 76 226]
}

func ExampleTable_SumBoxes() {
	table, err := boxsum.Integrate[uint32](small, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	boxes := []image.Rectangle{image.Rect(0, 0, 1, 1), image.Rect(1, 0, 4, 2), image.Rect(-5, -5, 100, 100)}
	sums := make([]uint32, len(boxes))
	if err := table.SumBoxes(sums, boxes); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(sums)
	// Output: [2 9 23]
}

func ExampleTable_Inclusive() {
	table, err := boxsum.Integrate[uint32](small, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	view := table.Inclusive()
	for y := range view.Height {
		fmt.Println(view.Row(y))
	}
	// Output:
	// [2 3 6 7]
	// [5 8 12 14]
	// [9 13 20 23]
}

// A stream needs memory for a single row, however tall the image is.
// The rows of an image come from a reader, such as a pipe, until it ends.
func ExampleReadImage() {
	r := strings.NewReader("\x02\x01\x03\x01\x03\x02\x01\x01\x04\x01\x03\x01")
	img, err := boxsum.ReadImage(4, 1, func(row []uint8) error {
		_, err := io.ReadFull(r, row)
		return err
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	table, err := boxsum.Integrate[uint32](img, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(img.Width, img.Height, table.Sum(table.Bounds()))
	// Output: 4 3 23
}

func ExampleStream() {
	stream, err := boxsum.NewStream[uint32, uint8](4, 1, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	for y := range small.Height {
		row, err := stream.Push(small.Row(y))
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(row)
	}
	// Output:
	// [0 2 3 6 7]
	// [0 5 8 12 14]
	// [0 9 13 20 23]
}

// Subtracting the mean keeps the sums of a float32 table small.
func ExampleOptions_offset() {
	img, err := boxsum.NewImage[float32](3000, 3000, 1)
	if err != nil {
		fmt.Println(err)
		return
	}
	for i := range img.Pix {
		img.Pix[i] = 100 + float32(i%3)
	}
	box := image.Rect(2000, 2000, 2003, 2003)
	for _, offset := range []float32{0, 101} {
		table, err := boxsum.Integrate[float32](img, &boxsum.Options{Offset: offset})
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(table.Sum(box))
	}
	// Output:
	// 960
	// 909
}

// Depth maps have no value where the camera saw nothing.
func ExampleIntegrateValid() {
	nan := math.NaN()
	depth := boxsum.Image[float64]{Width: 3, Height: 2, Pix: []float64{
		1, 2, nan,
		3, nan, 8,
	}}
	table, err := boxsum.IntegrateValid[float64, float64](depth, boxsum.Valid{SkipNaN: true}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	all := image.Rect(0, 0, 3, 2)
	fmt.Println(table.Mean(all, 0), "in", table.Area(all, 0), "pixels")
	fmt.Println(table.Mean(image.Rect(2, 0, 3, 1), 0))
	// Output:
	// 3.5 in 4 pixels
	// NaN
}

// This example computes the mean of a box of a picture decoded by Go's image packages.
func ExampleNew() {
	picture := image.NewGray(image.Rect(0, 0, 4, 3))
	for i := range picture.Pix {
		picture.Pix[i] = uint8(i)
	}
	table, err := boxsum.New(picture)
	if err != nil {
		log.Fatal(err)
	}
	box := image.Rect(1, 1, 3, 3)
	fmt.Println(table.Sum(box), table.Mean(box, 0))
	// Output: 30 7.5
}
