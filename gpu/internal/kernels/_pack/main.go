// Command pack compresses standard input to standard output, as package
// kernels reads it: kernels repeat one another over megabytes, which takes a
// window as large.
package main

import (
	"io"
	"log"
	"os"

	"github.com/klauspost/compress/zstd"
)

func main() {
	w, err := zstd.NewWriter(os.Stdout, zstd.WithEncoderLevel(zstd.SpeedBestCompression), zstd.WithWindowSize(1<<25), zstd.WithEncoderConcurrency(1))
	if err == nil {
		_, err = io.Copy(w, os.Stdin)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		log.Fatal("pack: ", err)
	}
}
