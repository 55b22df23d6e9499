package imgio

import (
	"bufio"
	"compress/zlib"
	"encoding/binary"
	"hash/crc32"
	"io"
	"math"

	"github.com/boxsum/boxsum/internal/raster"
)

// appendChunk appends a PNG chunk.
func appendChunk(b []byte, name string, contents []byte) []byte {
	b = binary.BigEndian.AppendUint32(b, uint32(len(contents)))
	start := len(b)
	b = append(append(b, name...), contents...)
	return binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b[start:]))
}

// A pngData writes everything written to it as IDAT chunks, one for each call.
type pngData struct {
	w   io.Writer
	buf []byte
}

func (d *pngData) Write(b []byte) (int, error) {
	d.buf = appendChunk(d.buf[:0], "IDAT", b)
	if _, err := d.w.Write(d.buf); err != nil {
		return 0, err
	}
	return len(b), nil
}

// encodePNGBits writes a bilevel image as gray PNG with one bit per pixel.
// image/png would write a palette, but a PNG file with a palette cannot have a
// gray ICC profile.
func encodePNGBits(w io.Writer, b bilevel, m Metadata) error {
	const depth, gray = 1, 0
	size := b.Bounds().Size()
	if size.X > math.MaxInt32 || size.Y > math.MaxInt32 {
		return raster.Invalid("image is %d×%d, want sides of at most %d in a PNG file", size.X, size.Y, math.MaxInt32)
	}
	header := binary.BigEndian.AppendUint32(nil, uint32(size.X))
	header = binary.BigEndian.AppendUint32(header, uint32(size.Y))
	header = append(header, depth, gray, 0, 0, 0) // the only compression and filter methods; not interlaced
	head := appendChunk([]byte("\x89PNG\r\n\x1a\n"), "IHDR", header)
	if _, err := w.Write(append(head, m.forChannels(1).pngChunks()...)); err != nil {
		return err
	}
	data := bufio.NewWriterSize(&pngData{w: w}, 1<<15)
	z, err := zlib.NewWriterLevel(data, zlib.BestSpeed)
	if err != nil {
		return err
	}
	row := make([]byte, 1+(size.X+7)/8) // the first byte is the filter type, none
	for y := range size.Y {
		for i, v := range b.Row(y) {
			row[1+i] = ^v // in PNG, 1 is white
		}
		row[len(row)-1] &= 0xff << (7 - (size.X-1)%8)
		if _, err := z.Write(row); err != nil {
			return err
		}
	}
	if err := z.Close(); err != nil {
		return err
	}
	if err := data.Flush(); err != nil {
		return err
	}
	_, err = w.Write(appendChunk(nil, "IEND", nil))
	return err
}
