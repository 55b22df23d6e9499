// Command expand writes a list of instantiated generic functions, one line for each pair
// of types; see the function expand. Use it with go:generate:
//
//	//go:generate go run github.com/boxsum/boxsum/internal/raster/expand -out jobs.go -before "package main\nvar jobs = []job{" -line "jobOf[{{.Pixel}}, {{.Sum}}]()," -after "}"
package main

import (
	"fmt"
	"os"
)

func main() {
	if err := write(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "expand:", err)
		os.Exit(1)
	}
}
