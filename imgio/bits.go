package imgio

import (
	"bufio"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"math"

	"github.com/boxsum/boxsum"
)

// EncodeBits writes an image with one bit per pixel, where 1 is black, as "png"
// with a palette, "tiff" with group 4 compression, or "pbm". Each byte holds
// eight pixels, the first in its highest bit, and rows start stride bytes
// apart.
func EncodeBits(w io.Writer, format string, data []byte, stride, width, height int) error {
	n := (width + 7) / 8
	if width <= 0 || height <= 0 || stride < n || (len(data)-n)/stride < height-1 || len(data) < n {
		return fmt.Errorf("imgio: %d bytes in rows of %d are no image of %d×%d bits: %w", len(data), stride, width, height, boxsum.ErrInvalid)
	}
	row := func(y int) []byte { return data[y*stride:][:n] }
	to := bufio.NewWriterSize(w, 1<<16)
	switch format {
	case "png":
		m := image.NewPaletted(image.Rect(0, 0, width, height), color.Palette{color.White, color.Black})
		for y := range height {
			zerosAndOnes(m.Pix[y*m.Stride:][:width], row(y))
		}
		if err := (&png.Encoder{CompressionLevel: png.BestSpeed}).Encode(to, m); err != nil {
			return err
		}
	case "pbm":
		fmt.Fprintf(to, "P4\n%d %d\n", width, height)
		for y := range height {
			to.Write(row(y))
		}
	case "tiff":
		f := newFaxWriter(width)
		for y := range height {
			f.row(row(y))
		}
		if err := encodeFaxTIFF(to, f.end(), width, height); err != nil {
			return err
		}
	default:
		return fmt.Errorf("imgio: bits are written as png, tiff or pbm, and not as %.40q: %w", format, boxsum.ErrInvalid)
	}
	return to.Flush()
}

// zerosAndOnes expands bits to bytes of 0 and 1.
func zerosAndOnes(dst, src []byte) {
	for x := range dst {
		dst[x] = src[x/8] >> (7 - x%8) & 1
	}
}

// encodeFaxTIFF writes a TIFF file with one strip.
func encodeFaxTIFF(w *bufio.Writer, strip []byte, width, height int) error {
	if len(strip) > math.MaxInt32 {
		return fmt.Errorf("imgio: an image of %d×%d is too large for a TIFF file: %w", width, height, boxsum.ErrInvalid)
	}
	d := tiffDirectory{entries: map[uint16][]uint32{}}
	d.longs(256, uint32(width))
	d.longs(257, uint32(height))
	d.shorts(tiffBitsPerSample, 1)
	d.shorts(tiffCompression, 4)
	d.shorts(tiffPhotometric, 0) // white is zero
	d.shorts(277, 1)
	d.longs(278, uint32(height))
	d.longs(279, uint32(len(strip)))
	d.longs(293, 0) // options of group 4
	d.longs(273, 0)
	d.longs(273, d.size())
	if _, err := w.Write(d.bytes()); err != nil {
		return err
	}
	_, err := w.Write(strip)
	return err
}
