package imgio_test

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/imgio"
)

// Save chooses the format by the extension, and OpenImage by the content of the file.
func ExampleSave() {
	dir, err := os.MkdirTemp("", "imgio")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "small.png")
	img := boxsum.Image[uint8]{Width: 3, Height: 2, Pix: []uint8{10, 20, 30, 40, 50, 60}}
	if err := imgio.Save(path, img); err != nil {
		panic(err)
	}

	read, file, err := imgio.OpenImage[uint8](path, imgio.Options{})
	if err != nil {
		panic(err)
	}
	defer file.Close()
	fmt.Println(read.Width, read.Height, read.Row(1))
	// Output: 3 2 [40 50 60]
}
