package zarr_test

import (
	"context"
	"fmt"
	"os"
	"testing/fstest"

	"github.com/boxsum/boxsum/zarr"
)

// A compressed 2-D array with chunks of 256×256 elements, in a folder.
func Example() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "zarr")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)

	a, err := zarr.Create(ctx, zarr.Folder(dir), "", &zarr.Spec{
		Type: zarr.Uint16, Shape: []int{1000, 2000}, Chunk: []int{256, 256}, Compression: "zstd", Names: []string{"y", "x"},
	})
	if err != nil {
		panic(err)
	}
	// Write 2 rows of 3 elements at row 500, column 700.
	if err := zarr.Write(ctx, a, []uint16{1, 2, 3, 4, 5, 6}, []int{500, 700}, []int{2, 3}); err != nil {
		panic(err)
	}

	b, err := zarr.Open(ctx, dir)
	if err != nil {
		panic(err)
	}
	defer b.Close()
	region := make([]uint16, 2*4)
	if err := zarr.Read(ctx, b, region, []int{500, 699}, []int{2, 4}); err != nil {
		panic(err)
	}
	fmt.Println(b.Shape(), b.Type(), region)
	// Output: [1000 2000] uint16 [0 1 2 3 0 4 5 6]
}

// Arrays can be read from any fs.FS, such as an embedded one.
func ExampleFS() {
	files := fstest.MapFS{
		"zarr.json": {Data: []byte(`{"zarr_format":3,"node_type":"array","shape":[4],"data_type":"uint8","fill_value":7,
			"chunk_grid":{"name":"regular","configuration":{"chunk_shape":[2]}},
			"chunk_key_encoding":{"name":"default"},"codecs":[{"name":"bytes"}]}`)},
		"c/1": {Data: []byte{1, 2}},
	}
	a, err := zarr.OpenArray(context.Background(), zarr.FS(files), "")
	if err != nil {
		panic(err)
	}
	all, err := zarr.ReadAll[uint8](context.Background(), a)
	fmt.Println(all, err)
	// Output: [7 7 1 2] <nil>
}

// A group with attributes and an array in it.
func ExampleCreateGroup() {
	ctx, bucket := context.Background(), zarr.Memory()
	heights, err := zarr.Create(ctx, bucket, "heights", &zarr.Spec{Type: zarr.Float32, Shape: []int{10, 10}, Chunk: []int{5, 5}})
	if err != nil {
		panic(err)
	}
	if _, err := zarr.CreateGroup(ctx, bucket, "", map[string]any{"unit": "m"}, map[string]*zarr.Array{"heights": heights}); err != nil {
		panic(err)
	}

	g, err := zarr.OpenGroup(ctx, bucket, "")
	if err != nil {
		panic(err)
	}
	var unit string
	if _, err := g.Attribute("unit", &unit); err != nil {
		panic(err)
	}
	names, err := g.Arrays(ctx)
	fmt.Println(unit, names, err)
	// Output: m [heights] <nil>
}
