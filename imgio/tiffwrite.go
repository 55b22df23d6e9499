package imgio

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"math"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/raster"
)

// tiffStrip is the approximate number of bytes per strip.
const tiffStrip = 1 << 16

// encodeTIFF writes an uncompressed TIFF file. The directory comes first, since
// the sizes of all strips are known. Gray with alpha becomes R, G, B, A, which
// more programs read.
func encodeTIFF(w *bufio.Writer, img *raster.Array) error {
	var bits, format uint32 // of a sample: format 1 is integer, 3 is float
	switch img.Type {
	case raster.U8:
		bits, format = 8, 1
	case raster.U16:
		bits, format = 16, 1
	case raster.F32:
		bits, format = 32, 3
	default:
		return cannotBe(img.Type, "TIFF")
	}
	channels := img.Channels
	if channels == 2 {
		channels = 4
	}
	rowBytes := float64(img.Width) * float64(channels) * float64(bits/8)
	if rowBytes*float64(img.Height) > math.MaxUint32-1<<20 {
		return fmt.Errorf("imgio: an image of %d×%d is too large for a TIFF file: write .npy: %w", img.Width, img.Height, boxsum.ErrInvalid)
	}
	perStrip := min(img.Height, max(1, tiffStrip/int(rowBytes)))
	strips := (img.Height + perStrip - 1) / perStrip

	d := tiffDirectory{entries: map[uint16][]uint32{}}
	d.shorts(tiffBitsPerSample, repeat(bits, channels)...)
	d.shorts(tiffCompression, 1)
	photometric := uint32(1) // black is zero
	if channels > 2 {
		photometric = 2
	}
	d.shorts(tiffPhotometric, photometric)
	d.longs(256, uint32(img.Width))
	d.longs(257, uint32(img.Height))
	d.shorts(277, uint32(channels))
	d.longs(278, uint32(perStrip))
	if channels == 4 {
		d.shorts(338, 2) // straight alpha
	}
	d.shorts(339, repeat(format, channels)...)
	counts, offsets := make([]uint32, strips), make([]uint32, strips)
	for i := range strips {
		counts[i] = uint32(min(perStrip, img.Height-i*perStrip)) * uint32(rowBytes)
	}
	d.longs(279, counts...)
	d.longs(273, offsets...)
	at := d.size()
	for i := range offsets {
		offsets[i] = at
		at += counts[i]
	}
	if _, err := w.Write(d.bytes()); err != nil {
		return err
	}
	for y := range img.Height {
		row := img.Row(y)
		if channels != img.Channels {
			row = withColour(row, img.Type)
		}
		if err := writeOrdered(w, row, img.Type, binary.LittleEndian); err != nil {
			return err
		}
	}
	return nil
}

// withColour returns a row of gray and alpha as R, G, B, A.
func withColour(row []byte, pixel raster.Type) []byte {
	n := pixel.Bytes()
	wide := make([]byte, 0, 2*len(row))
	for ; len(row) > 0; row = row[2*n:] {
		grey := row[:n]
		wide = append(append(append(append(wide, grey...), grey...), grey...), row[n:2*n]...)
	}
	return wide
}

func repeat(v uint32, n int) []uint32 {
	all := make([]uint32, n)
	for i := range all {
		all[i] = v
	}
	return all
}

// A tiffDirectory follows the file's header: tags in ascending order, then the
// values that do not fit into them.
type tiffDirectory struct {
	entries map[uint16][]uint32
	short   map[uint16]bool
}

func (d *tiffDirectory) shorts(tag uint16, values ...uint32) {
	if d.short == nil {
		d.short = map[uint16]bool{}
	}
	d.short[tag] = true
	d.entries[tag] = values
}

func (d *tiffDirectory) longs(tag uint16, values ...uint32) { d.entries[tag] = values }

// valueBytes returns the number of bytes of a tag's values.
func (d *tiffDirectory) valueBytes(tag uint16) int {
	if d.short[tag] {
		return 2 * len(d.entries[tag])
	}
	return 4 * len(d.entries[tag])
}

const tiffStart, tiffEntry = 8, 12

// fixed returns the number of bytes of header and entries.
func (d *tiffDirectory) fixed() int { return tiffStart + 2 + len(d.entries)*tiffEntry + 4 }

func (d *tiffDirectory) size() uint32 {
	n := d.fixed()
	for tag := range d.entries {
		if b := d.valueBytes(tag); b > 4 {
			n += b
		}
	}
	return uint32(n)
}

func (d *tiffDirectory) bytes() []byte {
	le := binary.LittleEndian
	b := append([]byte("II*\x00"), tiffStart, 0, 0, 0)
	b = le.AppendUint16(b, uint16(len(d.entries)))
	var after []byte
	for tag := uint16(256); tag < 512; tag++ {
		values, ok := d.entries[tag]
		if !ok {
			continue
		}
		var data []byte
		kind := uint16(4)
		for _, v := range values {
			if d.short[tag] {
				kind = 3
				data = le.AppendUint16(data, uint16(v))
			} else {
				data = le.AppendUint32(data, v)
			}
		}
		b = le.AppendUint16(b, tag)
		b = le.AppendUint16(b, kind)
		b = le.AppendUint32(b, uint32(len(values)))
		if len(data) > 4 {
			b = le.AppendUint32(b, uint32(d.fixed()+len(after)))
			after = append(after, data...)
		} else {
			b = append(b, data...)
			b = append(b, make([]byte, 4-len(data))...)
		}
	}
	return append(append(b, 0, 0, 0, 0), after...)
}
