package imgio

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"image"
	"image/draw"
	"image/gif"
)

// pageCount returns the number of pages of a TIFF file or of frames of a GIF
// file. It returns 1 for damaged files, whose decoder reports the error.
func pageCount(format string, data []byte) int {
	switch format {
	case "tiff":
		if t, err := openTIFF(data); err == nil {
			return len(t.pages)
		}
	case "gif":
		return max(1, len(gifFrames(data)))
	}
	return 1
}

// decodePage decodes one page of a whole file, counted from 1. It modifies the
// bytes of TIFF files.
func decodePage(format string, data []byte, page, pages int, opt Options) (any, error) {
	switch {
	case page < 1 || page > pages:
		return nil, fmt.Errorf("%s: there is no page %d: the file has %d", format, page, pages)
	case format == "gif" && page > 1:
		return guarded(format, opt, func() (any, error) { return composeGIF(data, page, opt.Color) })
	case format == "tiff" && page > 1:
		t, err := openTIFF(data)
		if err != nil {
			return nil, err
		}
		data = t.page(page - 1)
	}
	return decodeBytes(format, data, opt)
}

// A gifPart is one frame of a GIF file.
type gifPart struct {
	from, to int // range of its bytes, including the extensions before it
	disposal byte
}

// gifFrames returns the frames of a file, up to any damage.
func gifFrames(data []byte) (frames []gifPart) {
	const trailer, extension, control, descriptor = ';', '!', 0xf9, ','
	at := gifHeader(data)
	part := gifPart{from: at}
	skip := func() { // skips blocks up to the empty one
		for at < len(data) && data[at] != 0 {
			at += 1 + int(data[at])
		}
		at++
	}
	for at+1 < len(data) {
		switch data[at] {
		case extension:
			if data[at+1] == control && at+3 < len(data) {
				part.disposal = data[at+3] >> 2 & 7
			}
			at += 2
			skip()
		case descriptor:
			if at+10 > len(data) {
				return frames
			}
			flags := data[at+9]
			if at += 10; flags&0x80 != 0 {
				at += 3 << (1 + flags&7)
			}
			at++ // code size
			skip()
			if at > len(data) {
				return frames
			}
			part.to = at
			frames = append(frames, part)
			part = gifPart{from: at}
		default:
			return frames
		}
	}
	return frames
}

// gifHeader returns the length of the part before the frames.
func gifHeader(data []byte) int {
	if len(data) < 13 {
		return len(data)
	}
	n := 13
	if data[10]&0x80 != 0 {
		n += 3 << (1 + data[10]&7)
	}
	return min(n, len(data))
}

// composeGIF draws frames over each other, up to the given one, as viewers do.
func composeGIF(data []byte, page int, mode ColorMode) (any, error) {
	const toBackground, toPrevious = 2, 3
	config, err := gif.DecodeConfig(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	if err := checkPixels(config.Width, config.Height); err != nil {
		return nil, err
	}
	var canvas, before *image.NRGBA
	for i, part := range gifFrames(data)[:page] {
		frame, err := gifFrameOf(data, part, config)
		if err != nil {
			return nil, fmt.Errorf("frame %d: %w", i+1, err)
		}
		if canvas == nil {
			canvas = image.NewNRGBA(image.Rect(0, 0, config.Width, config.Height))
		}
		if part.disposal == toPrevious && i+1 < page {
			if before == nil {
				before = image.NewNRGBA(canvas.Rect)
			}
			copy(before.Pix, canvas.Pix)
		}
		draw.Draw(canvas, frame.Bounds(), frame, frame.Bounds().Min, draw.Over)
		switch {
		case i+1 == page:
		case part.disposal == toBackground:
			draw.Draw(canvas, frame.Bounds(), image.Transparent, image.Point{}, draw.Src)
		case part.disposal == toPrevious:
			canvas, before = before, canvas
		}
	}
	return convert("gif", data, canvas, mode), nil
}

// gifFrameOf decodes one frame as a file of its own.
func gifFrameOf(data []byte, part gifPart, config image.Config) (image.Image, error) {
	one := append(append(bytes.Clone(data[:gifHeader(data)]), data[part.from:part.to]...), ';')
	if err := checkSize("gif", one, config); err != nil {
		return nil, err
	}
	return gif.Decode(bytes.NewReader(one))
}

// bitDepth returns the number of bits per sample of the file's first page.
func bitDepth(format string, data []byte) int {
	const pngDepth, classicBitmap = 24, "14"
	switch {
	case format == "png" && len(data) > pngDepth:
		return int(data[pngDepth])
	case format == "tiff":
		if count, bits := tiffTag(data, tiffBitsPerSample); count > 0 {
			return int(bits)
		}
		return 1 // the default in TIFF
	case format == "pnm" && len(data) > 1 && bytes.IndexByte([]byte(classicBitmap), data[1]) >= 0:
		return 1
	case format == "pnm" && len(data) > 1 && data[1] == '7':
		head, _, _ := bytes.Cut(data, []byte("ENDHDR"))
		if bytes.Contains(head, []byte("BLACKANDWHITE")) {
			return 1
		}
	case format == "bmp" && len(data) > 29 && binary.LittleEndian.Uint16(data[28:]) == 1:
		return 1
	}
	return 8
}
