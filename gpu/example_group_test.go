package gpu_test

import (
	"fmt"
	"image"
	"log"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/gpu"
)

// Every GPU of a machine takes a part of the image.
func ExampleOpenAll() {
	d, err := gpu.OpenAll()
	if err != nil {
		log.Fatal(err)
	}
	defer d.Close()
	img := boxsum.Image[uint8]{Pix: []uint8{1, 2, 3, 4, 5, 6}, Width: 3, Height: 2}
	table, err := boxsum.Integrate[uint32](img, &boxsum.Options{On: d})
	if err != nil {
		log.Fatal(err)
	}
	for _, err := range d.Failed() {
		log.Print(err) // the other devices have taken over its work
	}
	fmt.Println(len(d.Members()), "devices:", table.Sum(image.Rect(1, 0, 3, 2)))
}
