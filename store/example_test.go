package store_test

import (
	"context"
	"fmt"
	"image"

	"github.com/boxsum/boxsum/store"
	"github.com/boxsum/boxsum/zarr"
)

// The table of an image in Zarr. Paths and URLs of object stores work like the memory that this example uses.
func ExampleIntegrate() {
	ctx := context.Background()
	bucket, err := zarr.OpenBucket(ctx, "mem://example-image", true)
	if err != nil {
		panic(err)
	}
	img, err := zarr.Create(ctx, bucket, "", &zarr.Spec{Type: zarr.Uint8, Shape: []int{300, 400}, Chunk: []int{256, 256}})
	if err != nil {
		panic(err)
	}
	if err := zarr.Write(ctx, img, []uint8{1, 2, 3, 4, 5, 6}, []int{100, 200}, []int{2, 3}); err != nil {
		panic(err)
	}

	if err := store.Integrate(ctx, "mem://example-image", "mem://example-table", nil); err != nil {
		panic(err)
	}
	table, err := store.Open(ctx, "mem://example-table", nil)
	if err != nil {
		panic(err)
	}
	defer table.Close()
	sums := make([]uint64, 2)
	err = store.SumBoxes(ctx, table, sums, []image.Rectangle{image.Rect(0, 0, 400, 300), image.Rect(201, 100, 203, 102)})
	fmt.Println(sums, err)
	// Output: [21 16] <nil>
}
