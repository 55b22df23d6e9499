package gpu_test

import (
	"errors"
	"fmt"
	"image"
	"log"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/gpu"
)

// The sum of a box in each of two images, on the best GPU, and on the CPU where
// there is none.
func Example() {
	first := boxsum.Image[uint8]{Pix: []uint8{1, 2, 3, 4, 5, 6}, Width: 3, Height: 2}
	second := boxsum.Image[uint8]{Pix: []uint8{10, 20, 30, 40, 50, 60}, Width: 3, Height: 2}
	box := image.Rect(1, 0, 3, 2)

	sums, err := sumsOnGPU(box, first, second)
	if errors.Is(err, gpu.ErrNoDevice) {
		sums, err = sumsOnCPU(box, first, second)
	}
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(sums)
	// Output: [16 160]
}

func sumsOnGPU(box image.Rectangle, images ...boxsum.Image[uint8]) ([]uint32, error) {
	d, err := gpu.OpenBest()
	if err != nil {
		return nil, err
	}
	defer d.Close()                         // and with it what is left on the device
	pixels, err := gpu.Upload(d, images...) // one batch
	if err != nil {
		return nil, err
	}
	tables, err := gpu.Integrate[uint32](pixels, nil) // one launch for all of them
	if err != nil {
		return nil, err
	}
	sums := make([]uint32, len(images))
	for i := range images {
		if err := tables.SumBoxes(i, sums[i:i+1], []image.Rectangle{box}); err != nil {
			return nil, err
		}
	}
	return sums, nil
}

func sumsOnCPU(box image.Rectangle, images ...boxsum.Image[uint8]) ([]uint32, error) {
	var sums []uint32
	for _, img := range images {
		table, err := boxsum.Integrate[uint32](img, nil)
		if err != nil {
			return nil, err
		}
		sums = append(sums, table.Sum(box))
	}
	return sums, nil
}
