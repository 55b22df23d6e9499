// Command hugetiff binarizes a gray TIFF file of any size, row by row: 20 gigapixels take no more memory than
// the rows of one window.
//
//	go run ./examples/hugetiff -window 51 map.tiff ink.tiff
//
// It reads gray TIFF and BigTIFF files of 8 bits with uncompressed strips, as written by
// `vips copy in.tif out.tif` and libtiff's `tiffcp -c none -r 1`, and writes a BigTIFF with one bit per pixel.
package main

import (
	"bufio"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os"

	"github.com/boxsum/boxsum/filter"
)

func main() {
	window := flag.Int("window", 51, "`pixels` across and down, odd: about two lines of text")
	k := flag.Float64("k", 0.2, "how far below the mean ink is, in Sauvola's formula")
	flag.Parse()
	if flag.NArg() != 2 {
		fmt.Fprintln(os.Stderr, "usage: hugetiff [-window 51] [-k 0.2] GRAY.tiff INK.tiff")
		os.Exit(2)
	}
	if err := convert(flag.Arg(0), flag.Arg(1), *window, *k); err != nil {
		fmt.Fprintln(os.Stderr, "hugetiff:", err)
		os.Exit(1)
	}
}

func convert(from, to string, window int, k float64) (err error) {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	gray, err := openGray(in)
	if err != nil {
		return fmt.Errorf("%s: %w", from, err)
	}
	out, err := os.Create(to)
	if err != nil {
		return err
	}
	defer func() {
		if err = errors.Join(err, out.Close()); err != nil {
			os.Remove(to)
		}
	}()
	ink := newBits(out, gray.width, gray.height)
	if err := sauvola(gray, ink.row, window, k); err != nil {
		return err
	}
	return ink.finish()
}

// sauvola decides every pixel by the mean and the deviation of the window around it: a pixel is ink if it is at
// most mean·(1 + k·(deviation/128 − 1)). Both come from streams, which return a row only after the rows below it
// have been pushed; until then the row waits.
func sauvola(gray *grayTIFF, ink func(bits []byte) error, window int, k float64) error {
	w := filter.Square(window)
	means, err := filter.NewMeanStream[float32, uint8](gray.width, 1, w, nil)
	if err != nil {
		return err
	}
	deviations, err := filter.NewStdDevStream[float32, uint8](gray.width, 1, w, nil)
	if err != nil {
		return err
	}
	waiting := make([][]uint8, 0, window) // rows without a result, the oldest first
	var spare [][]uint8
	bits := make([]byte, (gray.width+7)/8)
	decide := func(mean, deviation []float32) error {
		row := waiting[0]
		clear(bits)
		for x, v := range row {
			m, d := float64(mean[x]), float64(deviation[x])
			if float64(v) <= m*(1+k*(d/128-1)) {
				bits[x/8] |= 0x80 >> (x % 8)
			}
		}
		spare = append(spare, row)
		waiting = append(waiting[:0], waiting[1:]...)
		return ink(bits)
	}
	for range gray.height {
		var row []uint8
		if n := len(spare); n > 0 {
			row, spare = spare[n-1], spare[:n-1]
		} else {
			row = make([]uint8, gray.width)
		}
		if err := gray.next(row); err != nil {
			return err
		}
		waiting = append(waiting, row)
		mean, err := means.Push(row)
		if err != nil {
			return err
		}
		deviation, err := deviations.Push(row)
		if err != nil {
			return err
		}
		if mean != nil {
			if err := decide(mean, deviation); err != nil {
				return err
			}
		}
	}
	for len(waiting) > 0 {
		mean, err := means.End()
		if err != nil {
			return err
		}
		deviation, err := deviations.End()
		if err != nil {
			return err
		}
		if err := decide(mean, deviation); err != nil {
			return err
		}
	}
	return nil
}

// A bitWriter writes rows of bits as a BigTIFF. The rows come first, followed by the tags, which are written when
// the number of rows is known.
type bitWriter struct {
	file          io.WriteSeeker
	to            *bufio.Writer
	width, height int
	rows          int
}

func newBits(file io.WriteSeeker, width, height int) *bitWriter {
	b := &bitWriter{file: file, to: bufio.NewWriterSize(file, 1<<20), width: width, height: height}
	b.to.Write([]byte{'I', 'I', 43, 0, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0})
	return b
}

func (b *bitWriter) row(bits []byte) error {
	b.rows++
	_, err := b.to.Write(bits)
	return err
}

func (b *bitWriter) finish() error {
	if b.rows != b.height {
		return fmt.Errorf("wrote %d rows, want %d", b.rows, b.height)
	}
	length := int64((b.width+7)/8) * int64(b.height)
	if length%2 == 1 {
		b.to.WriteByte(0)
	}
	const strip = math.MaxUint32
	entries := [][3]uint64{ // tag, type, value; types are 3 for 16 bits, 4 for 32 and 16 for 64
		{256, 4, uint64(b.width)}, {257, 4, uint64(b.height)},
		{258, 3, 1}, {259, 3, 1}, {262, 3, 0}, // one bit, uncompressed, 0 is white
		{273, 16, 16}, {277, 3, 1}, {278, 4, strip}, {279, 16, uint64(length)}, // one strip
	}
	b.to.Write(little(uint64(len(entries))))
	for _, e := range entries {
		b.to.Write([]byte{byte(e[0]), byte(e[0] >> 8), byte(e[1]), 0})
		b.to.Write(little(1))
		b.to.Write(little(e[2]))
	}
	b.to.Write(little(0))
	if err := b.to.Flush(); err != nil {
		return err
	}
	if _, err := b.file.Seek(8, io.SeekStart); err != nil {
		return err
	}
	_, err := b.file.Write(little(uint64(16 + length + length%2)))
	return err
}

func little(v uint64) []byte {
	return []byte{byte(v), byte(v >> 8), byte(v >> 16), byte(v >> 24), byte(v >> 32), byte(v >> 40), byte(v >> 48), byte(v >> 56)}
}
