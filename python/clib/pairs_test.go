//go:build cgo

package main

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/boxsum/boxsum/internal/raster"
)

//go:generate go test -run TestPairs . -update

var update = flag.Bool("update", false, "write ../src/boxsum/_pairs.py anew")

// TestPairs tests that Python, which needs the pairs of types before it loads the library, has those of
// package raster.
func TestPairs(t *testing.T) {
	const path = "../src/boxsum/_pairs.py"
	var want strings.Builder
	want.WriteString("# Code generated from the list of package pairs. DO NOT EDIT.\n\n# Pixels and their sums, the usual one first.\nSUMS = (\n")
	for _, p := range raster.SumPairs.For(raster.OnDevice) {
		fmt.Fprintf(&want, "    (%q, %q),\n", p.Pixel.NumPy(), p.Sum.NumPy())
	}
	want.WriteString(")\n")
	if *update {
		if err := os.WriteFile(path, []byte(want.String()), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != want.String() {
		t.Errorf("%s is stale: run go generate ./python/clib (%v)", path, err)
	}
}
