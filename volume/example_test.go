package volume_test

import (
	"fmt"

	"github.com/boxsum/boxsum/volume"
)

// small has two slices of 3×2 voxels.
var small = volume.Volume[uint8]{Width: 3, Height: 2, Depth: 2, Pix: []uint8{
	1, 2, 3,
	4, 5, 6,

	7, 8, 9,
	10, 11, 12,
}}

func Example() {
	table, err := volume.Integrate[uint32](small, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("all:", table.Sum(table.Bounds()))
	right := volume.NewBox(1, 0, 0, 3, 2, 2)
	fmt.Println("right:", table.Sum(right), "mean:", table.Mean(right, 0))
	// Output:
	// all: 78
	// right: 56 mean: 7
}

func ExampleIntegrateSquares() {
	table, err := volume.IntegrateSquares[uint32, uint64](small, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("deviation %.3f\n", table.StdDev(table.Sum.Bounds(), 0))
	// Output: deviation 3.452
}

// A stream processes the slices of a volume that does not fit in memory one by one.
func ExampleStream() {
	stream, err := volume.NewStream[uint32, uint8](3, 2, 1, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	for z := range small.Depth {
		slice, err := stream.Push(small.Slice(z))
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(slice.Row(2))
	}
	// Output:
	// [0 5 12 21]
	// [0 22 48 78]
}

// float32 sums lose small voxels; float64 sums, or subtracting the mean, keep them.
func ExampleIntegrate_float() {
	vol := volume.Volume[float32]{Width: 1, Height: 1, Depth: 2, Pix: []float32{1 << 25, 2}}
	behind := volume.NewBox(0, 0, 1, 1, 1, 2) // the voxel of 2

	narrow, err := volume.Integrate[float32](vol, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	wide, err := volume.Integrate[float64](vol, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	less, err := volume.Integrate[float32](vol, &volume.Options{Offset: 1 << 24}) // about the mean
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(narrow.Sum(behind), wide.Sum(behind), less.Sum(behind))
	// Output: 0 2 2
}
