package imgio

import (
	"bufio"
	"cmp"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/raster"
)

// tiffStrip is the approximate number of bytes per strip.
const tiffStrip = 1 << 16

// A TIFFWriter writes pictures as the pages of a TIFF file, one after the other.
// It keeps no page in memory, and its writer need not support seeking. Call Close
// after the last page.
type TIFFWriter struct {
	w       *bufio.Writer
	at      int64         // bytes written, which is the position of the last page's directory
	last    tiffDirectory // not written yet, because it contains the position of the next one
	started bool
	err     error // of an earlier call
}

// NewTIFFWriter returns a TIFFWriter that writes to w. [TIFFWriter.Close]
// completes the file.
func NewTIFFWriter(w io.Writer) *TIFFWriter {
	return &TIFFWriter{w: bufio.NewWriterSize(w, 1<<16)}
}

// Add writes the next page, which can be any image that [Encode] writes as TIFF.
// Pages may differ in size and type. After an error, the file is incomplete and
// all further calls return that error.
func (t *TIFFWriter) Add(img any, m Metadata) error {
	if t.err == nil {
		t.err = t.add(img, m)
	}
	return t.err
}

func (t *TIFFWriter) add(img any, m Metadata) error {
	b, err := bilevelOf(img)
	if err != nil {
		return err
	}
	if b != nil {
		return t.addBits(b, m)
	}
	p, err := arrayOf(img)
	if err != nil {
		return err
	}
	return t.addPixels(&p, m)
}

// Close writes the end of the file. It does not close the underlying writer. A
// file without pages is an error.
func (t *TIFFWriter) Close() error {
	switch {
	case t.err != nil:
		return t.err
	case !t.started:
		t.err = raster.Invalid("TIFF file has no pages, want at least one")
		return t.err
	}
	if _, t.err = t.w.Write(t.last.encode(t.at, 0)); t.err == nil {
		t.err = t.w.Flush()
	}
	if err := t.err; err != nil {
		return err
	}
	t.err = fmt.Errorf("the TIFF file is already complete: %w", boxsum.ErrClosed)
	return nil
}

// begin starts a page with strips of the given lengths. Its directory follows them.
func (t *TIFFWriter) begin(d *tiffDirectory, counts []uint32) error {
	start := int64(tiffHeader)
	if t.started {
		start = t.at + t.last.size()
	}
	offsets, at := make([]uint32, len(counts)), start
	for i, n := range counts {
		offsets[i] = uint32(at) // checked below
		at += int64(n)
	}
	d.longs(tiffStripOffsets, offsets...)
	d.longs(tiffStripCounts, counts...)
	place := at + at&1 // directories start at even bytes
	if place+d.size() > math.MaxUint32 {
		return raster.Invalid("the pages exceed the 4 GiB of a TIFF file (use .npy)")
	}
	head := tiffStart(uint32(place))
	if t.started {
		head = t.last.encode(t.at, uint32(place))
	}
	t.started, t.at, t.last = true, place, *d
	_, err := t.w.Write(head)
	return err
}

// pad adds a byte after the strips if their length is odd.
func (t *TIFFWriter) pad(counts []uint32) error {
	odd := uint32(0)
	for _, n := range counts {
		odd ^= n & 1
	}
	if odd == 0 {
		return nil
	}
	return t.w.WriteByte(0)
}

// addBits writes a page with one strip in fax group 4.
func (t *TIFFWriter) addBits(b bilevel, m Metadata) error {
	size := b.Bounds().Size()
	f := newFaxWriter(size.X)
	for y := range size.Y {
		f.row(b.Row(y))
	}
	strip := f.end()
	if int64(len(strip)) > math.MaxUint32 {
		return raster.Invalid("image of %d×%d takes %d bytes compressed, want at most %d in a TIFF file", size.X, size.Y, len(strip), int64(math.MaxUint32))
	}
	var d tiffDirectory
	d.longs(tiffWidth, uint32(size.X))
	d.longs(tiffHeight, uint32(size.Y))
	d.shorts(tiffBitsPerSample, 1)
	d.shorts(tiffCompression, 4)
	d.shorts(tiffPhotometric, 0) // white is zero
	d.shorts(tiffSamples, 1)
	d.longs(tiffRowsPerStrip, uint32(size.Y))
	d.longs(293, 0) // options of group 4
	m.forChannels(1).addTo(&d)
	counts := []uint32{uint32(len(strip))}
	if err := t.begin(&d, counts); err != nil {
		return err
	}
	if _, err := t.w.Write(strip); err != nil {
		return err
	}
	return t.pad(counts)
}

// addPixels writes an uncompressed page. Gray with alpha becomes R, G, B, A,
// which more programs read.
func (t *TIFFWriter) addPixels(img *raster.Array, m Metadata) error {
	const unsigned, signed, float = 1, 2, 3
	format := uint32(unsigned)
	switch {
	case img.Type.Float():
		format = float
	case img.Type.Signed():
		format = signed
	}
	picture := img.Type == raster.U8 || img.Type == raster.U16
	bits, channels := img.Type.Bytes()*8, img.Channels
	if channels == 2 && picture {
		channels = 4
	}
	rowBytes := float64(img.Width) * float64(channels) * float64(bits/8)
	const most = math.MaxUint32 - 1<<20 // leaves room for directories
	if all := rowBytes * float64(img.Height); all > most {
		return raster.Invalid("image of %d×%d takes %.0f bytes, want at most %d in a TIFF file (use .npy)", img.Width, img.Height, all, int64(most))
	}
	perStrip := min(img.Height, max(1, tiffStrip/int(rowBytes)))
	counts := make([]uint32, (img.Height+perStrip-1)/perStrip)
	for i := range counts {
		counts[i] = uint32(min(perStrip, img.Height-i*perStrip)) * uint32(rowBytes)
	}

	const blackIsZero, rgb, straightAlpha = 1, 2, 2
	colors, photometric := 1, uint32(blackIsZero)
	if channels > 2 {
		colors, photometric = 3, rgb
	}
	var d tiffDirectory
	d.longs(tiffWidth, uint32(img.Width))
	d.longs(tiffHeight, uint32(img.Height))
	d.shorts(tiffBitsPerSample, slices.Repeat([]uint32{uint32(bits)}, channels)...)
	d.shorts(tiffCompression, 1)
	d.shorts(tiffPhotometric, photometric)
	d.shorts(tiffSamples, uint32(channels))
	d.longs(tiffRowsPerStrip, uint32(perStrip))
	if extra := channels - colors; extra > 0 {
		kind := uint32(0) // not specified
		if picture {
			kind = straightAlpha
		}
		d.shorts(tiffExtraSamples, slices.Repeat([]uint32{kind}, extra)...)
	}
	d.shorts(tiffSampleFormat, slices.Repeat([]uint32{format}, channels)...)
	m.forChannels(channels).addTo(&d)
	if err := t.begin(&d, counts); err != nil {
		return err
	}
	for y := range img.Height {
		row := img.Row(y)
		if channels != img.Channels {
			row = withColor(row, img.Type)
		}
		if err := writeOrdered(t.w, row, img.Type, binary.LittleEndian); err != nil {
			return err
		}
	}
	return t.pad(counts)
}

// withColor converts a row of gray and alpha to R, G, B, A.
func withColor(row []byte, pixel raster.Type) []byte {
	n := pixel.Bytes()
	wide := make([]byte, 0, 2*len(row))
	for ; len(row) > 0; row = row[2*n:] {
		gray := row[:n]
		wide = append(append(append(append(wide, gray...), gray...), gray...), row[n:2*n]...)
	}
	return wide
}

// tiffStart returns the header of a file whose first directory is at the given
// position.
func tiffStart(first uint32) []byte {
	return binary.LittleEndian.AppendUint32([]byte("II*\x00"), first)
}

// A tiffDirectory lists the tags of a page.
type tiffDirectory []tiffField

type tiffField struct {
	tag, kind uint16
	count     int
	data      []byte
}

func (d *tiffDirectory) add(tag, kind uint16, count int, data []byte) {
	*d = append(*d, tiffField{tag, kind, count, data})
}

func (d *tiffDirectory) shorts(tag uint16, values ...uint32) {
	var data []byte
	for _, v := range values {
		data = binary.LittleEndian.AppendUint16(data, uint16(v))
	}
	d.add(tag, tiffShort, len(values), data)
}

func (d *tiffDirectory) longs(tag uint16, values ...uint32) {
	var data []byte
	for _, v := range values {
		data = binary.LittleEndian.AppendUint32(data, v)
	}
	d.add(tag, tiffLong, len(values), data)
}

// rational adds a number, with as many decimals as fit.
func (d *tiffDirectory) rational(tag uint16, v float64) {
	over := 1.0
	for v*over != math.Round(v*over) && max(v, 1)*over < math.MaxUint32/10 {
		over *= 10
	}
	data := binary.LittleEndian.AppendUint32(nil, uint32(math.Round(v*over)))
	d.add(tag, tiffRational, 1, binary.LittleEndian.AppendUint32(data, uint32(over)))
}

func (d *tiffDirectory) undefined(tag uint16, data []byte) {
	d.add(tag, tiffUndefined, len(data), data)
}

// fixed returns the size of the directory's entries in bytes, without values that
// are too long for them.
func (d tiffDirectory) fixed() int64 { return 2 + int64(len(d))*12 + 4 }

// size returns the size of the directory in bytes, which is even.
func (d tiffDirectory) size() int64 {
	n := d.fixed()
	for _, f := range d {
		if len(f.data) > 4 {
			n += int64(len(f.data)+1) &^ 1
		}
	}
	return n
}

// encode returns the directory for the given position in a file. next is the
// position of the next directory, or 0.
func (d tiffDirectory) encode(at int64, next uint32) []byte {
	slices.SortFunc(d, func(a, b tiffField) int { return cmp.Compare(a.tag, b.tag) })
	le := binary.LittleEndian
	b := le.AppendUint16(nil, uint16(len(d)))
	var after []byte
	for _, f := range d {
		b = le.AppendUint16(b, f.tag)
		b = le.AppendUint16(b, f.kind)
		b = le.AppendUint32(b, uint32(f.count))
		if len(f.data) <= 4 {
			b = append(append(b, f.data...), make([]byte, 4-len(f.data))...)
			continue
		}
		b = le.AppendUint32(b, uint32(at+d.fixed()+int64(len(after))))
		if after = append(after, f.data...); len(f.data)&1 != 0 {
			after = append(after, 0)
		}
	}
	b = le.AppendUint32(b, next)
	return append(b, after...)
}
