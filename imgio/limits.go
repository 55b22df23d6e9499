package imgio

import (
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	"image/color"

	"github.com/boxsum/boxsum/internal/raster"
)

// MaxPixels is the largest number of pixels in a picture that is decoded. It
// applies to all formats except .npy, where the length of the file limits the
// size.
const MaxPixels = 1 << 30

// ErrTooLarge is wrapped by the error for a picture of more than [MaxPixels]
// pixels. Set Options.Large to read it.
var ErrTooLarge = errors.New("too large")

// tooLarge is an ErrTooLarge that does not repeat its text.
type tooLarge string

func (e tooLarge) Error() string { return string(e) }
func (e tooLarge) Unwrap() error { return ErrTooLarge }

// pixelLimit is MaxPixels, or less while fuzzing.
var pixelLimit = MaxPixels

// maxEmpty limits the sides of an image without pixels. Its table has a row or
// column of zeros, which must not fill memory for the sake of a few bytes of
// header.
const maxEmpty = 1 << 20

// checkPixels returns an error if a size exceeds the limits.
func checkPixels(w, h int) error {
	switch {
	case w < 0 || h < 0 || w != 0 && h > pixelLimit/w:
		return tooLarge(fmt.Sprintf("size %d×%d exceeds the limit of %d pixels", w, h, pixelLimit))
	case (w == 0 || h == 0) && max(w, h) > maxEmpty:
		return fmt.Errorf("size %d×%d exceeds the limit of %d for an image without pixels", w, h, maxEmpty)
	}
	return nil
}

// maxWebPSide is the longest side of a WebP frame.
const maxWebPSide = 1 << 14

// checkSize returns an error if a picture is too large, or larger than a file
// of this length can hold. It is called before memory is allocated for the
// picture.
func checkSize(format string, data []byte, c image.Config) error {
	w, h := c.Width, c.Height
	if err := checkPixels(w, h); err != nil {
		return err
	}
	if format == "webp" && max(w, h) > maxWebPSide {
		return fmt.Errorf("size %d×%d exceeds the limit of %d for a WebP frame", w, h, maxWebPSide)
	}
	if format == "gif" {
		w, h = gifFrame(data, w, h)
	}
	bits, expansion := density(format, data)
	if expansion > 0 && int64(w)*int64(h)*bits > 8*expansion*int64(len(data)) {
		return fmt.Errorf("size %d×%d does not fit in a file of %d bytes: it is damaged or truncated", w, h, len(data))
	}
	if err := raster.CheckMemory(c.Width*c.Height, decodedBytes(c.ColorModel)); err != nil {
		return fmt.Errorf("%d×%d pixels: %w", c.Width, c.Height, err)
	}
	return nil
}

// decodedBytes estimates the memory per pixel of a decoded picture, and of its
// gray version unless they share memory.
func decodedBytes(m color.Model) int {
	switch m {
	case color.GrayModel:
		return 1
	case color.Gray16Model:
		return 2
	case color.YCbCrModel, color.NYCbCrAModel: // gray is one of the planes
		return 3
	case color.RGBAModel, color.NRGBAModel, color.CMYKModel:
		return 4 + 1
	case color.RGBA64Model, color.NRGBA64Model:
		return 8 + 2
	}
	return 1 + 1 // a palette
}

// Each constant is the largest number of bytes to which one byte of compressed
// data can expand.
const (
	deflateExpansion  = 1032 // RFC 1951: 258 bytes from two bits
	lzwExpansion      = 2731 // a code of 12 bits is a string of up to 4096 bytes
	packBitsExpansion = 64   // two bytes are a run of up to 128 bytes

	// A JPEG block of 64 pixels has at least one bit of Huffman code for its DC
	// coefficient, including in progressive files.
	jpegPixelsPerByte = 8 * 64
)

// density returns the number of bits of an unpacked pixel, and the greatest
// expansion. The latter is 0 for formats that can declare any size in a few
// bytes.
func density(format string, data []byte) (bits, expansion int64) {
	switch format {
	case "png":
		if len(data) > 25 {
			return int64(data[24]) * pngChannels[data[25]], deflateExpansion
		}
	case "jpeg":
		return 8, jpegPixelsPerByte
	case "gif":
		return 8, lzwExpansion
	case "bmp":
		if len(data) > 29 {
			return int64(binary.LittleEndian.Uint16(data[28:])), 1
		}
	case "tiff":
		samples, depth := tiffTag(data, tiffBitsPerSample)
		bits = int64(max(samples, 1)) * int64(max(depth, 1))
		switch _, compression := tiffTag(data, tiffCompression); compression {
		case 0, 1:
			return bits, 1
		case 5:
			return bits, lzwExpansion
		case 8, 32946:
			return bits, deflateExpansion
		case 32773:
			return bits, packBitsExpansion
		}
	}
	return 0, 0
}

// pngChannels maps color types to the number of channels in the file.
var pngChannels = map[byte]int64{0: 1, 2: 3, pngPalette: 1, pngGrayAlpha: 2, 6: 4}

const pngPalette, pngGrayAlpha = 3, 4

// gifFrame returns the size of the first frame, which may be smaller than the
// canvas. It skips extensions. If there is no frame, it returns the size of the
// canvas.
func gifFrame(data []byte, w, h int) (int, int) {
	if len(data) < 13 {
		return w, h
	}
	i := 13
	if data[10]&0x80 != 0 {
		i += 3 << (1 + data[10]&7)
	}
	for i+9 < len(data) && data[i] == '!' {
		for i += 2; i < len(data) && data[i] != 0; i += 1 + int(data[i]) {
		}
		i++
	}
	if i+9 > len(data) || data[i] != ',' {
		return w, h
	}
	return int(binary.LittleEndian.Uint16(data[i+5:])), int(binary.LittleEndian.Uint16(data[i+7:]))
}

// Tags of TIFF files.
const (
	tiffWidth          = 256
	tiffHeight         = 257
	tiffBitsPerSample  = 258
	tiffCompression    = 259
	tiffPhotometric    = 262
	tiffStripOffsets   = 273
	tiffSamples        = 277
	tiffRowsPerStrip   = 278
	tiffStripCounts    = 279
	tiffXResolution    = 282
	tiffYResolution    = 283
	tiffPlanar         = 284
	tiffResolutionUnit = 296
	tiffExtraSamples   = 338
	tiffSampleFormat   = 339
	tiffProfile        = 34675
)

// Types of their values.
const (
	tiffByte      = 1
	tiffShort     = 3
	tiffLong      = 4
	tiffRational  = 5
	tiffUndefined = 7
)

// checkTIFF returns an error with advice for files that the decoder does not
// support or mistakes for damaged.
func checkTIFF(data []byte) error {
	const planes = 2
	_, samples := tiffTag(data, tiffSamples)
	if _, planar := tiffTag(data, tiffPlanar); planar == planes && samples > 1 {
		return errors.New("TIFF files with separate color planes are not supported (save the image with planar configuration 1, or as .npy)")
	}
	return nil
}

func tiffOrder(data []byte) binary.ByteOrder {
	if data[0] == 'M' {
		return binary.BigEndian
	}
	return binary.LittleEndian
}

// tiffTag returns the number of values of a tag in the first directory, and the
// first value. Both are zero if the tag is missing or not an unsigned integer.
func tiffTag(data []byte, tag uint16) (count, first uint32) {
	kind, count, value := tiffEntry(data, tag)
	switch {
	case kind == tiffByte && len(value) >= 1:
		return count, uint32(value[0])
	case kind == tiffShort && len(value) >= 2:
		return count, uint32(tiffOrder(data).Uint16(value))
	case kind == tiffLong && len(value) >= 4:
		return count, tiffOrder(data).Uint32(value)
	}
	return 0, 0
}

// tiffEntry returns the type, the number and the bytes of the values of a tag in
// the first directory. The bytes end with the file. The number is zero if the
// tag is missing or of another type than those above.
func tiffEntry(data []byte, tag uint16) (kind uint16, count uint32, value []byte) {
	if len(data) < tiffHeader {
		return 0, 0, nil
	}
	order := tiffOrder(data)
	from := func(at uint32) []byte { return data[min(int64(at), int64(len(data))):] }
	dir := from(order.Uint32(data[4:]))
	if len(dir) < 2 {
		return 0, 0, nil
	}
	entries := int(order.Uint16(dir))
	for dir = dir[2:]; entries > 0 && len(dir) >= 12; dir, entries = dir[12:], entries-1 {
		if order.Uint16(dir) != tag {
			continue
		}
		kind, count = order.Uint16(dir[2:]), order.Uint32(dir[4:])
		size := map[uint16]int64{tiffByte: 1, tiffShort: 2, tiffLong: 4, tiffRational: 8, tiffUndefined: 1}[kind] * int64(count)
		if size == 0 {
			return 0, 0, nil
		}
		value = dir[8:12]
		if size > 4 {
			value = from(order.Uint32(value))
		}
		return kind, count, value[:min(size, int64(len(value)))]
	}
	return 0, 0, nil
}
