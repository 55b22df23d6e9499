package histogram_test

import (
	"fmt"
	"image"
	"log"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/histogram"
	"github.com/boxsum/boxsum/imgio"
)

// This example computes and compares the histograms of boxes.
func Example() {
	img := imgio.Demo(640, 360) // a sun over a lake; or boxsum.Gray of any image.Image
	table, err := histogram.Integrate(img, histogram.Bins{N: 8}, nil)
	if err != nil {
		log.Fatal(err)
	}
	sun, lake := image.Rect(350, 97, 443, 190), image.Rect(0, 260, 200, 360)
	h := table.Histogram(nil, sun, 0)
	fmt.Println("sun: ", h)
	fmt.Printf("most of it is between %v and %v\n", table.Bins.Edge(histogram.Mode(h)), table.Bins.Edge(histogram.Mode(h)+1))
	g := table.Histogram(nil, lake, 0)
	fmt.Println("lake:", g)
	fmt.Printf("distance: %.2f\n", histogram.Bhattacharyya(h, g))
	// Output:
	// sun:  [0 0 0 0 0 1599 1388 5662]
	// most of it is between 224 and 256
	// lake: [0 2543 8444 7867 1146 0 0 0]
	// distance: 1.00
}

// Bytes returns the size of a table before it is made.
func ExampleBytes() {
	for _, bins := range []int{16, 32, 256} {
		bytes, err := histogram.Bytes[uint32](1920, 1080, 1, bins)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("1080p in %d bins: %.0f MB\n", bins, float64(bytes)/1e6)
	}
	// Output:
	// 1080p in 16 bins: 133 MB
	// 1080p in 32 bins: 266 MB
	// 1080p in 256 bins: 2126 MB
}

// A median filter takes the same time for every radius. It removes a single bright or
// dark pixel, and preserves the edge.
func ExampleLocal() {
	img := boxsum.Image[uint8]{Width: 8, Height: 5, Pix: []uint8{
		10, 10, 10, 10, 90, 90, 90, 90,
		10, 10, 10, 10, 90, 90, 90, 90,
		10, 255, 10, 10, 90, 90, 0, 90,
		10, 10, 10, 10, 90, 90, 90, 90,
		10, 10, 10, 10, 90, 90, 90, 90,
	}}
	table, err := histogram.Integrate(img, histogram.Bins{N: 256}, nil) // a bin for every value
	if err != nil {
		log.Fatal(err)
	}
	median, err := histogram.Local(table, 1, 0, func(h []uint32) uint8 { return uint8(histogram.Median(h)) }, nil)
	if err != nil {
		log.Fatal(err)
	}
	for y := range median.Height {
		fmt.Println(median.Row(y))
	}
	// Output:
	// [10 10 10 10 90 90 90 90]
	// [10 10 10 10 90 90 90 90]
	// [10 10 10 10 90 90 90 90]
	// [10 10 10 10 90 90 90 90]
	// [10 10 10 10 90 90 90 90]
}

// Local entropy is high in textured areas, and low in areas that are flat or have only
// two levels.
func ExampleEntropy() {
	img := imgio.Demo(320, 180)
	table, err := histogram.Integrate(img, histogram.Bins{N: 32}, nil)
	if err != nil {
		log.Fatal(err)
	}
	entropy, err := histogram.Local(table, 9, 0, func(h []uint32) float32 { return float32(histogram.Entropy(h)) }, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("sky %.1f, horizon %.1f bits\n", entropy.Row(20)[40], entropy.Row(112)[196])
	// Output:
	// sky 1.8, horizon 3.4 bits
}

// To track a region, find the box whose histogram is nearest to that of the region in
// the previous frame. Each candidate takes as many steps as there are bins.
func ExampleBhattacharyya() {
	frame := func(x, y int) boxsum.Image[uint8] { // a striped patch on a gradient
		img := boxsum.Image[uint8]{Pix: make([]uint8, 160*120), Width: 160, Height: 120}
		for i := range img.Pix {
			img.Pix[i] = uint8(i%160/2 + i/160)
		}
		for j := range 24 {
			for i := range 32 {
				img.Row(y + j)[x+i] = uint8(30 + i/4%2*190)
			}
		}
		return img
	}
	bins := histogram.Bins{N: 16}
	table, err := histogram.Integrate(frame(40, 30), bins, nil)
	if err != nil {
		log.Fatal(err)
	}
	region := image.Rect(40, 30, 72, 54)
	model := table.Histogram(nil, region, 0)

	// The next frame goes into the same table.
	if err := histogram.IntegrateInto(table, frame(47, 35), nil); err != nil {
		log.Fatal(err)
	}
	best, nearest := region, 1.0
	var h []uint32
	for dy := -10; dy <= 10; dy++ {
		for dx := -10; dx <= 10; dx++ {
			box := region.Add(image.Pt(dx, dy))
			h = table.Histogram(h[:0], box, 0)
			if d := histogram.Bhattacharyya(model, h); d < nearest {
				best, nearest = box, d
			}
		}
	}
	fmt.Println("moved by", best.Min.Sub(region.Min))
	// Output:
	// moved by (7,5)
}

// Weights make some pixels count more than others: here those near the center of a
// region, as in trackers.
func ExampleIntegrateWeighted() {
	img := boxsum.Image[uint8]{Width: 5, Height: 1, Pix: []uint8{200, 10, 10, 10, 200}}
	weights := boxsum.Image[float32]{Width: 5, Height: 1, Pix: []float32{0.25, 0.75, 1, 0.75, 0.25}}
	table, err := histogram.IntegrateWeighted[float64](img, weights, histogram.Bins{N: 2}, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(table.Histogram(nil, table.Bounds(), 0))
	// Output:
	// [2.5 0.5]
}
