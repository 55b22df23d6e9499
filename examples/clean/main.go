// Command clean prepares a scan for OCR and archives: it removes uneven light and specks, and turns every
// pixel into ink or paper.
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

// ink separates ink from paper. Sauvola's threshold follows the light around every pixel, in a window of
// about two lines of text, a fortieth of the page. Then black pixels without a black neighbor are removed as
// specks. Strokes of one pixel, as in small scans, remain.
func ink(scan boxsum.Image[uint8]) (threshold.Bitmap, error) {
	window := max(15, min(scan.Width, scan.Height)/40) | 1
	black, err := threshold.Binarize(scan, threshold.New(threshold.Sauvola, window), nil)
	if err != nil {
		return threshold.Bitmap{}, err
	}
	for i, v := range black.Pix {
		black.Pix[i] = 1 - v/255 // 1 is ink
	}
	near, err := filter.Sum[uint16](black, filter.Square(3), &filter.Options{Border: filter.Constant})
	if err != nil {
		return threshold.Bitmap{}, err
	}
	page, err := threshold.NewBitmap(scan.Width, scan.Height)
	if err != nil {
		return threshold.Bitmap{}, err
	}
	for i, v := range black.Pix {
		if x, y := i%scan.Width, i/scan.Width; v == 1 && near.Pix[i] > 1 {
			page.Bits[y*page.Stride+x/8] |= 0x80 >> (x % 8)
		}
	}
	return page, nil
}
