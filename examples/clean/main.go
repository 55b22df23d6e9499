// Command clean makes a scan ready for OCR and archives: specks go, uneven light goes, and
// every pixel becomes ink or paper.
//
//	go run ./examples/clean scan.jpg clean.tiff     # or .png, .pbm
package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/filter"
	"github.com/boxsum/boxsum/imgio"
	"github.com/boxsum/boxsum/threshold"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: clean SCAN CLEAN.tiff|.png|.pbm")
		os.Exit(2)
	}
	if err := clean(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "clean:", err)
		os.Exit(1)
	}
}

func clean(from, to string) error {
	format := strings.TrimPrefix(filepath.Ext(to), ".")
	scan, file, err := imgio.OpenImage[uint8](from, imgio.Options{Color: imgio.ToGray})
	if err != nil {
		return err
	}
	defer file.Close()

	page, err := ink(scan)
	if err != nil {
		return err
	}
	return imgio.WriteFile(to, func(w io.Writer) error {
		return imgio.EncodeBits(w, format, page.Bits, page.Stride, page.Width, page.Height)
	})
}

// ink tells ink from paper: a median takes specks of single pixels away, and Sauvola's
// threshold goes by the light round every pixel. The window is about two lines of text, a
// fortieth of the page.
func ink(scan boxsum.Image[uint8]) (threshold.Bitmap, error) {
	quiet, err := filter.Median(scan, filter.Square(3), nil)
	if err != nil {
		return threshold.Bitmap{}, err
	}
	window := max(15, min(scan.Width, scan.Height)/40) | 1
	return threshold.BinarizeBits(quiet, threshold.New(threshold.Sauvola, window), nil)
}
