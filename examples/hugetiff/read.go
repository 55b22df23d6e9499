package main

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math"
)

// A grayTIFF is the first page of a TIFF file, read row by row.
type grayTIFF struct {
	width, height int
	offsets       []uint64 // positions of the strips
	rowsEach      int      // in a strip
	inverted      bool     // 0 is white
	file          io.ReaderAt
	from          *bufio.Reader
	y             int
}

// next reads the next row.
func (g *grayTIFF) next(row []uint8) error {
	if g.y%g.rowsEach == 0 {
		at, rows := int64(g.offsets[g.y/g.rowsEach]), min(g.rowsEach, g.height-g.y)
		g.from.Reset(io.NewSectionReader(g.file, at, int64(rows)*int64(g.width))) // exactly this, since strips may be shorter
	}
	if _, err := io.ReadFull(g.from, row); err != nil {
		return fmt.Errorf("row %d: %w", g.y, err)
	}
	g.y++
	if g.inverted {
		for i := range row {
			row[i] = 255 - row[i]
		}
	}
	return nil
}

// readTags reads the tags of a file's first page. It does not trust sizes: it reads a list in full before it
// allocates memory for the next.
func readTags(file io.ReaderAt) (map[uint16][]uint64, error) {
	head := make([]byte, 16)
	if n, _ := file.ReadAt(head, 0); n < 8 {
		return nil, fmt.Errorf("the file has %d bytes, too few for a TIFF file", n)
	}
	var order binary.ByteOrder = binary.LittleEndian
	if head[0] == 'M' {
		order = binary.BigEndian
	}
	var at, entries int64
	word, big := int64(4), false // size of an offset in bytes
	switch magic := order.Uint16(head[2:]); {
	case head[0] != head[1] || head[0] != 'I' && head[0] != 'M':
		return nil, fmt.Errorf("the file begins with %q, want II or MM as in TIFF files", head[:2])
	case magic == 42:
		at = int64(order.Uint32(head[4:]))
	case magic == 43:
		at, word, big = int64(order.Uint64(head[8:])), 8, true
	default:
		return nil, fmt.Errorf("the file has version %d, want 42 (TIFF) or 43 (BigTIFF)", magic)
	}
	count := make([]byte, 8)
	if _, err := file.ReadAt(count[:2], at); err != nil {
		return nil, fmt.Errorf("reading the number of tags at byte %d: %w", at, err)
	}
	entries, at = int64(order.Uint16(count)), at+2
	if big {
		if _, err := file.ReadAt(count, at-2); err != nil {
			return nil, fmt.Errorf("reading the number of tags at byte %d: %w", at-2, err)
		}
		entries, at = int64(order.Uint64(count)), at+6
	}
	if entries < 0 || entries > 4096 {
		return nil, fmt.Errorf("the page has %d tags, want at most 4096", entries)
	}
	tags := map[uint16][]uint64{}
	for i := range entries {
		entry := make([]byte, 4+2*word)
		if _, err := file.ReadAt(entry, at+i*(4+2*word)); err != nil {
			return nil, fmt.Errorf("tag %d: %w", i, err)
		}
		n := order.Uint64(pad(entry[4:4+word], order))
		values, err := list(file, order, order.Uint16(entry[2:]), n, entry[4+word:], word)
		if err != nil {
			return nil, fmt.Errorf("tag %d: %w", order.Uint16(entry), err)
		}
		tags[order.Uint16(entry)] = values
	}
	return tags, nil
}

// openGray reads the tags of a file's first page, and checks that its pixels are stored as plain rows.
func openGray(file io.ReaderAt) (*grayTIFF, error) {
	tags, err := readTags(file)
	if err != nil {
		return nil, err
	}
	one := func(tag uint16, usual uint64) uint64 {
		if len(tags[tag]) == 0 {
			return usual
		}
		return tags[tag][0]
	}
	width, height := one(256, 0), one(257, 0)
	if width == 0 || height == 0 || width > 1<<26 || height > 1<<31-1 {
		return nil, fmt.Errorf("image is %d×%d, want a width of 1 to %d and a height of 1 to %d", width, height, 1<<26, int64(math.MaxInt32))
	}
	if one(258, 1) != 8 || one(277, 1) != 1 || one(262, 1) > 1 {
		return nil, fmt.Errorf("image has %d channels of %d bits and photometric interpretation %d, want 1 channel of 8 bits and 0 or 1", one(277, 1), one(258, 1), one(262, 1))
	}
	if one(259, 1) != 1 || tags[322] != nil || tags[273] == nil {
		return nil, fmt.Errorf("the image is compressed or tiled (rewrite it with vips copy or tiffcp -c none -s)")
	}
	each := min(one(278, height), height)
	if each == 0 || uint64(len(tags[273])) != (height+each-1)/each {
		return nil, fmt.Errorf("image of %d rows has %d strips of %d rows each", height, len(tags[273]), each)
	}
	for _, offset := range tags[273] {
		if offset >= 1<<62 {
			return nil, fmt.Errorf("offset of a strip is %d, want less than 2^62", offset)
		}
	}
	return &grayTIFF{int(width), int(height), tags[273], int(each), one(262, 1) == 0, file, bufio.NewReaderSize(nil, 1<<20), 0}, nil
}

// list reads the values of a tag, which are in the tag itself if they fit, and otherwise at an offset.
func list(file io.ReaderAt, order binary.ByteOrder, kind uint16, n uint64, inside []byte, word int64) ([]uint64, error) {
	size := map[uint16]uint64{1: 1, 3: 2, 4: 4, 16: 8}[kind]
	if size == 0 || n == 0 {
		return nil, nil // not needed
	}
	if n > 1<<31 {
		return nil, fmt.Errorf("the tag has %d values, want at most %d", n, uint64(1<<31))
	}
	var from io.Reader
	if n*size <= uint64(word) {
		from = bytes.NewReader(inside)
	} else {
		at := int64(order.Uint64(pad(inside, order)))
		if at < 0 || at > 1<<62 {
			return nil, fmt.Errorf("offset of the values is %d, want 0 to 2^62", at)
		}
		from = bufio.NewReader(io.NewSectionReader(file, at, int64(n*size)))
	}
	var values []uint64
	for range n {
		b := make([]byte, size, 8)
		if _, err := io.ReadFull(from, b); err != nil {
			return nil, err
		}
		values = append(values, order.Uint64(pad(b, order)))
	}
	return values, nil
}

// pad extends a number to eight bytes.
func pad(b []byte, order binary.ByteOrder) []byte {
	out := make([]byte, 8)
	if order == binary.ByteOrder(binary.BigEndian) {
		copy(out[8-len(b):], b)
	} else {
		copy(out, b)
	}
	return out
}
