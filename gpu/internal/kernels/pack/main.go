// Command pack packs PTX from its input to its output, for scripts/kernels.sh.
package main

import (
	"io"
	"log"
	"os"

	"github.com/boxsum/boxsum/gpu/internal/kernels"
)

func main() {
	ptx, err := io.ReadAll(os.Stdin)
	if err == nil {
		_, err = os.Stdout.Write(kernels.Pack(ptx))
	}
	if err != nil {
		log.Fatal(err)
	}
}
