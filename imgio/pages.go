package imgio

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"image"
	"image/draw"
	"image/gif"
	"io"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/pixels"
)

// Pages reads the pages of a TIFF file, or the frames of a GIF file, one by one.
// Files of other formats have one page. Unlike the slices of a [Stack], pages
// may differ in size and type. Pages is not safe for concurrent use.
type Pages struct {
	// Format is the format of the file, like [Picture.Format].
	Format string
	// N is the number of pages.
	N int

	path  string // of the file, or empty
	data  []byte
	tiff  *tiffFile // nil for other formats, and for damaged files
	lost  error     // why pages after the first cannot be found, or nil
	array *Picture  // the picture, if the file is a .npy array
	opt   Options
	close closer
}

// OpenPages opens the named picture or .npy array and ignores opt.Page. Large
// TIFF files are mapped into memory instead of being read, so that memory holds
// one page at a time. A TIFF file that has lost some of its pages is an error,
// though [Open] may still read its first. The caller must close the pages.
func OpenPages(path string, opt Options) (*Pages, error) {
	f, info, format, err := openFile(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info.IsDir() {
		return nil, fmt.Errorf("%s is a folder, want a file in it", path)
	}
	var p *Pages
	size := info.Size()
	switch {
	case format == "npy":
		var array *Picture
		if array, err = openArray(f, opt); err == nil {
			p = arrayPages(array)
		}
	case format == "tiff" && size >= mapBytes && int64(int(size)) == size:
		var data []byte
		var unmap closer
		if data, unmap, err = mapFile(f, int(size)); err == nil {
			p = newPages(format, data, opt)
			p.close = unmap
			if p.lost != nil {
				p.Close()
				return nil, inFile(path, p.lost)
			}
		}
	}
	if p == nil && (err == nil || format == "tiff") {
		p, err = DecodePages(f, opt)
	}
	if err != nil {
		return nil, inFile(path, err)
	}
	p.path = path
	return p, nil
}

// DecodePages is like [OpenPages] but reads all of a stream into memory.
func DecodePages(r io.Reader, opt Options) (*Pages, error) {
	format, whole, err := sniffed(r)
	if err != nil {
		return nil, err
	}
	if format == "npy" {
		array, err := DecodeWith(whole, opt)
		if err != nil {
			return nil, err
		}
		return arrayPages(array), nil
	}
	p, err := decodePages(format, whole, opt)
	if err == nil && p.lost != nil {
		return nil, p.lost
	}
	return p, err
}

// decodePages reads the rest of a stream, which must not be an array.
func decodePages(format string, whole io.Reader, opt Options) (*Pages, error) {
	data, err := readAll(whole)
	if err != nil {
		return nil, fmt.Errorf("%s: reading: %w", format, err)
	}
	return newPages(format, data, opt), nil
}

// newPages returns the pages of a whole file. A damaged file has one: its decoder
// reports the error, unless only later pages are lost. The bytes of TIFF files are modified.
func newPages(format string, data []byte, opt Options) *Pages {
	p := &Pages{Format: format, N: 1, data: data, opt: opt}
	switch format {
	case "png":
		p.data = withoutDamage(data)
	case "tiff":
		switch t, err := openTIFF(data); {
		case err == nil:
			p.tiff, p.N = t, len(t.pages)
		case t != nil:
			p.lost = err
		}
	case "gif":
		p.N = max(1, len(gifFrames(data)))
	}
	return p
}

func arrayPages(p *Picture) *Pages { return &Pages{Format: p.Format, N: 1, array: p, close: p.close} }

// Page decodes page n, counted from 1. It returns an error if there is no such
// page. The picture stays valid until Close.
func (p *Pages) Page(n int) (*Picture, error) {
	picture, err := p.page(n)
	switch {
	case err == nil:
		return picture, nil
	case p.path != "":
		return nil, inFile(p.path, err)
	}
	return nil, err
}

func (p *Pages) page(n int) (*Picture, error) {
	if n > 1 && p.lost != nil {
		return nil, p.lost
	}
	if n < 1 || n > p.N {
		return nil, fmt.Errorf("page is %d, want 1 to %d", n, p.N)
	}
	if p.array != nil {
		array := *p.array
		array.close = nil // the file stays open until Close of p
		return &array, nil
	}
	if p.tiff != nil {
		p.tiff.page(n - 1) // makes it the first
	}
	picture := &Picture{Format: p.Format, Page: n, Pages: p.N, Bits: bitDepth(p.Format, p.data)}
	var err error
	if p.Format == "gif" && n > 1 {
		picture.Image, err = guarded(p.Format, p.opt, func() (any, error) { return composeGIF(p.data, n, p.opt.Color) })
	} else {
		picture.Image, err = decodeBytes(p.Format, p.data, p.opt)
	}
	if err != nil {
		return nil, err
	}
	if p.Format == "tiff" {
		if h := tiffNumbers(p.data); h != nil {
			picture.Bits, picture.Element = 0, h.element()
		}
	}
	if _, deep := picture.Image.(boxsum.Image[uint16]); deep {
		picture.Bits = 16
	}
	m := readMetadata(p.Format, p.data)
	if !p.opt.AsStored {
		m = m.upright()
	}
	picture.Metadata = m.forChannels(pixels.Of(picture.Image).Channels)
	return picture, nil
}

// Close releases the resources of the pages. Their images must not be used after
// that.
func (p *Pages) Close() error { return p.close.Close() }

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
