package imgio

import (
	"bytes"
	"encoding/binary"
	"iter"

	"github.com/boxsum/boxsum"
)

// tiffOrientation is the tag that says how to rotate and mirror the stored
// picture to see it upright. TIFF and EXIF, which is a small TIFF file, use it.
const tiffOrientation = 274

// orientation returns a file's orientation tag, or 1 if it has none.
func orientation(format string, data []byte) int {
	if _, tag := tiffTag(exifOf(format, data), tiffOrientation); tag >= 1 && tag <= 8 {
		return int(tag)
	}
	return 1
}

// exifOf returns the EXIF data of a file as a TIFF file, which a TIFF file is
// itself, or nil.
func exifOf(format string, data []byte) []byte {
	exif := data
	switch format {
	case "jpeg":
		exif = jpegEXIF(data)
	case "png":
		exif = chunk(data, 8, 4, binary.BigEndian, 4, "eXIf")
	case "webp":
		exif = chunk(data, 12, 0, binary.LittleEndian, 0, "EXIF")
	case "tiff":
	default:
		return nil
	}
	exif = bytes.TrimPrefix(exif, []byte("Exif\x00\x00"))
	if !bytes.HasPrefix(exif, []byte("II*\x00")) && !bytes.HasPrefix(exif, []byte("MM\x00*")) {
		return nil
	}
	return exif
}

// jpegEXIF returns the EXIF segment, or nil.
func jpegEXIF(data []byte) []byte {
	const app1 = 0xe1
	for kind, segment := range jpegSegments(data) {
		if kind == app1 && bytes.HasPrefix(segment, []byte("Exif\x00\x00")) {
			return segment
		}
	}
	return nil
}

// jpegSegments returns the markers and contents of the segments that precede the
// picture, up to any damage.
func jpegSegments(data []byte) iter.Seq2[byte, []byte] {
	const marker, scan = 0xff, 0xda
	return func(yield func(byte, []byte) bool) {
		for at := 2; at+4 <= len(data) && data[at] == marker; {
			kind := data[at+1]
			if kind == marker { // a fill byte
				at++
				continue
			}
			n := int(binary.BigEndian.Uint16(data[at+2:]))
			if n < 2 || at+2+n > len(data) || kind == scan || !yield(kind, data[at+4:at+2+n]) {
				return
			}
			at += 2 + n
		}
	}
}

// chunk returns the contents of the named chunk in PNG, whose chunks have their
// length before the name and a checksum after, or in RIFF, where the name comes
// first.
func chunk(data []byte, at, nameAt int, order binary.ByteOrder, after int, name string) []byte {
	for at+8 <= len(data) {
		n := int64(order.Uint32(data[at+4-nameAt:]))
		if after == 0 {
			n += n & 1 // RIFF chunks have even lengths
		}
		if n > int64(len(data)-at-8) {
			return nil
		}
		if string(data[at+nameAt:][:4]) == name {
			return data[at+8:][:n]
		}
		at += 8 + int(n) + after
	}
	return nil
}

// upright rotates and mirrors an image, a boxsum.Image, according to the tag.
func upright(img any, tag int) (any, error) {
	if tag == 1 {
		return img, nil
	}
	switch img := img.(type) {
	case boxsum.Image[uint8]:
		return turned(img, tag)
	case boxsum.Image[uint16]:
		return turned(img, tag)
	case boxsum.Image[uint32]:
		return turned(img, tag)
	case boxsum.Image[int16]:
		return turned(img, tag)
	case boxsum.Image[int32]:
		return turned(img, tag)
	case boxsum.Image[float32]:
		return turned(img, tag)
	case boxsum.Image[float64]:
		return turned(img, tag)
	}
	return img, nil
}

func turned[P boxsum.Pixel](src boxsum.Image[P], tag int) (any, error) {
	channels, stride := max(src.Channels, 1), src.Stride
	if stride == 0 {
		stride = src.Width * channels
	}
	// from holds, for each orientation, the offset of the first pixel's source,
	// and the distances to the sources of its neighbors to the right and below.
	right, bottom := (src.Width-1)*channels, (src.Height-1)*stride
	from := map[int][3]int{
		2: {right, -channels, stride}, 3: {right + bottom, -channels, -stride}, 4: {bottom, channels, -stride},
		5: {0, stride, channels}, 6: {bottom, -stride, channels}, 7: {right + bottom, -stride, -channels}, 8: {right, stride, -channels},
	}[tag]
	width, height := src.Width, src.Height
	if tag >= 5 {
		width, height = height, width
	}
	dst, err := boxsum.NewImage[P](width, height, channels)
	if err != nil {
		return nil, err
	}
	const block = 32 // rows and columns that fit in the cache
	for y0 := 0; y0 < height; y0 += block {
		for x0 := 0; x0 < width; x0 += block {
			for y := y0; y < min(y0+block, height); y++ {
				to, at := dst.Row(y)[x0*channels:min(x0+block, width)*channels], from[0]+x0*from[1]+y*from[2]
				for ; len(to) > 0; to, at = to[channels:], at+from[1] {
					copy(to[:channels], src.Pix[at:])
				}
			}
		}
	}
	return dst, nil
}
