package imgio

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"golang.org/x/image/tiff/lzw"
)

// tiffNumbers returns the layout of the first page if its samples are signed, floats, or wider than 16 bits, which Go's decoder
// does not read. It returns nil for other pages.
func tiffNumbers(data []byte) *npyHeader {
	_, format := tiffTag(data, tiffSampleFormat)
	_, bits := tiffTag(data, tiffBitsPerSample)
	kind, ok := map[uint32]string{0: "u", 1: "u", 2: "i", 3: "f"}[format]
	if !ok || kind == "u" && bits <= 16 {
		return nil
	}
	_, width := tiffTag(data, tiffWidth)
	_, height := tiffTag(data, tiffHeight)
	_, samples := tiffTag(data, tiffSamples)
	order := "<"
	if tiffOrder(data) == binary.BigEndian {
		order = ">"
	}
	if bits == 8 {
		order = "|"
	}
	h := &npyHeader{descr: fmt.Sprintf("%s%s%d", order, kind, bits/8), shape: []int{int(height), int(width)}}
	if samples > 1 {
		h.shape = append(h.shape, int(samples))
	}
	return h
}

// decodeNumbers decodes the first page of a TIFF file with the layout that tiffNumbers returns.
func decodeNumbers(data []byte, h *npyHeader, opt Options) (any, error) {
	d, err := h.dtype()
	if err != nil {
		return nil, fmt.Errorf("TIFF files with %s are not supported (save the image as .npy)", h.element())
	}
	if err := checkPixels(h.shape[1], h.shape[0]); err != nil {
		return nil, err
	}
	if h.shape[0] == 0 || h.shape[1] == 0 {
		return nil, errors.New("the picture is empty")
	}
	if h.count, err = elementCount(h.shape); err != nil {
		return nil, err
	}
	if _, expansion := density("tiff", data); expansion > 0 && int64(h.count)*int64(d.size) > expansion*int64(len(data)) {
		return nil, fmt.Errorf("size %d×%d does not fit in a file of %d bytes: it is damaged or truncated", h.shape[1], h.shape[0], len(data))
	}
	strips, err := tiffStrips(data, h, d.size)
	if err != nil {
		return nil, err
	}
	a, err := h.read(strips)
	if err != nil {
		return nil, err
	}
	p, err := h.picture(a, closer(nil), nil, opt)
	if err != nil {
		return nil, err
	}
	return p.Image, nil
}

// tiffStrips returns a reader for the samples of a page, whose size in bytes is given.
func tiffStrips(data []byte, h *npyHeader, size int) (io.Reader, error) {
	const tileWidth, predictorTag = 322, 317
	unsupported := func(what string) error {
		return fmt.Errorf("TIFF files with %s and %s are not supported (save the image as .npy)", h.element(), what)
	}
	_, predictor := tiffTag(data, predictorTag)
	_, planar := tiffTag(data, tiffPlanar)
	_, compression := tiffTag(data, tiffCompression)
	tiles, _ := tiffTag(data, tileWidth)
	unpack := map[uint32]func(r io.Reader) (io.Reader, error){
		0: nil, 1: nil,
		5:     func(r io.Reader) (io.Reader, error) { return lzw.NewReader(r, lzw.MSB, 8), nil },
		8:     func(r io.Reader) (io.Reader, error) { return zlib.NewReader(r) },
		32946: func(r io.Reader) (io.Reader, error) { return zlib.NewReader(r) },
	}
	open, known := unpack[compression]
	switch {
	case tiles > 0:
		return nil, unsupported("tiles")
	case predictor > 1:
		return nil, unsupported("a predictor")
	case planar == 2 && len(h.shape) > 2:
		return nil, unsupported("separate color planes")
	case !known:
		return nil, unsupported(fmt.Sprintf("compression %d", compression))
	}
	offsets, counts := tiffValues(data, tiffStripOffsets), tiffValues(data, tiffStripCounts)
	_, rows := tiffTag(data, tiffRowsPerStrip)
	height := h.shape[0]
	if rows == 0 || int64(rows) > int64(height) {
		rows = uint32(height)
	}
	if want := (height + int(rows) - 1) / int(rows); len(offsets) < want || len(counts) < want {
		return nil, fmt.Errorf("%d strips have %d positions and %d lengths: the file is damaged", want, len(offsets), len(counts))
	}
	row := h.count / height * size
	var all []io.Reader
	for y, total := 0, int64(0); y < height; y += int(rows) {
		i := y / int(rows)
		from, to := int64(offsets[i]), int64(offsets[i])+int64(counts[i])
		if total += int64(counts[i]); to > int64(len(data)) || total > int64(len(data)) {
			return nil, fmt.Errorf("strip %d ends at byte %d of %d: the file is truncated", i, to, len(data))
		}
		all = append(all, &stripReader{data: data[from:to], open: open, left: min(int(rows), height-y) * row})
	}
	return io.MultiReader(all...), nil
}

// A stripReader reads the samples of a strip, no more and no fewer than it has.
type stripReader struct {
	data []byte
	open func(r io.Reader) (io.Reader, error) // decompresses; nil for raw samples
	r    io.Reader
	left int // in bytes
}

func (s *stripReader) Read(p []byte) (n int, err error) {
	if s.left == 0 {
		return 0, io.EOF
	}
	if s.r == nil {
		if s.r = bytes.NewReader(s.data); s.open != nil {
			if s.r, err = s.open(s.r); err != nil {
				return 0, err
			}
		}
	}
	n, err = s.r.Read(p[:min(len(p), s.left)])
	if s.left -= n; s.left > 0 {
		return n, unexpected(err)
	}
	return n, nil
}

// tiffValues returns the values of a tag of integers in the first directory.
func tiffValues(data []byte, tag uint16) (all []uint32) {
	kind, count, value := tiffEntry(data, tag)
	order := tiffOrder(data)
	size := map[uint16]int{tiffShort: 2, tiffLong: 4}[kind]
	if size == 0 || len(value) < int(count)*size {
		return nil
	}
	for ; len(value) >= size; value = value[size:] {
		if size == 2 {
			all = append(all, uint32(order.Uint16(value)))
		} else {
			all = append(all, order.Uint32(value))
		}
	}
	return all
}
