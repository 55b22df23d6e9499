package imgio

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"
	"math"
	"os"
	"strings"

	"github.com/boxsum/boxsum"
	"golang.org/x/image/bmp"
	"golang.org/x/image/tiff"
	"golang.org/x/image/webp"

	"github.com/boxsum/boxsum/internal/grid"
)

// ColorMode is what becomes of the colour of a picture. Arrays are not
// pictures: a .npy file keeps its channels in either mode.
type ColorMode int

const (
	// ToGray weighs colour to one grey channel, as boxsum.Gray does.
	ToGray ColorMode = iota
	// Keep leaves colour as interleaved channels: 1 for grey, 2 for grey with
	// alpha, 3 for R, G, B and 4 for R, G, B, A, whichever the file has. Alpha
	// is straight and a palette is looked up. One colour that a file declares
	// transparent makes no channel, except in a palette.
	Keep
)

// A Picture is a decoded file.
type Picture struct {
	// Image is a boxsum.Image[P]. P is uint8 or uint16 for pictures, by the
	// depth of the file, and for arrays also uint32, int16, int32, float32 or
	// float64; see [ReadNPY] and [Array.Image] for those of other types.
	Image any
	// Element is the type that an array has in the file, such as "int64", and empty
	// for pictures.
	Element string
	// Format is "png", "jpeg", "gif", "bmp", "tiff", "webp", "pnm" or "npy".
	Format string
	// Page is which of the Pages of the file this is, from 1 on: a page of TIFF or
	// a frame of GIF. Others have one.
	Page, Pages int
	// Bits is how many bits a sample has in the file: 1 where it is black or
	// white, and 0 for arrays.
	Bits int

	close closer
}

// Close gives back what the picture stands on; Image must not be used after it.
func (p *Picture) Close() error { return p.close.Close() }

// Open reads the picture or .npy array of that name. The format is told from
// the content. Values are those that the file holds, in the file's own depth:
//
//   - A PNG written from an array gives that array back, 8 or 16 bits deep;
//     depths below 8 are scaled to 0…255.
//   - PNM keeps its values as they are, also where its maximum is not 255; the
//     bitmaps P1 and P4, and black-and-white PAM, give 0 for black and 255 for
//     white.
//   - Of a GIF the first frame is read, in its own size, and of a TIFF file the
//     first page.
//   - JPEG and lossy WebP go to grey through their Y plane.
//   - The orientation tags of JPEG, PNG, TIFF and WebP are applied, as viewers do.
//
// A large .npy file is mapped and not read, see [OpenNPY]: close the picture
// when done.
func Open(path string, mode ColorMode) (*Picture, error) { return OpenWith(path, Options{Color: mode}) }

// OpenWith is [Open] with options. A frame of a GIF file after the first is drawn over
// those before it, in the size of them all.
func OpenWith(path string, opt Options) (*Picture, error) {
	f, info, format, err := openFile(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info.IsDir() {
		return nil, fmt.Errorf("imgio: %s is a folder: name a file in it", path)
	}
	var p *Picture
	if format == "npy" {
		p, err = openArray(f, opt)
	} else {
		p, err = DecodeWith(f, opt)
	}
	if err != nil {
		return nil, in(path, err)
	}
	return p, nil
}

// openFile opens a file and looks at what it is: the format of one that can be read
// again from its start, and none of others.
func openFile(path string) (f *os.File, info os.FileInfo, format string, err error) {
	if f, err = os.Open(path); err != nil {
		return nil, nil, "", fmt.Errorf("imgio: %w", err)
	}
	if info, err = f.Stat(); err != nil {
		return nil, nil, "", errors.Join(fmt.Errorf("imgio: %w", err), f.Close())
	}
	if info.Mode().IsRegular() {
		head := make([]byte, sniffBytes)
		n, _ := f.ReadAt(head, 0)
		format, _ = sniff(head[:n])
	}
	return f, info, format, nil
}

// Decode reads a picture or array as [Open] does, from a stream.
func Decode(r io.Reader, mode ColorMode) (*Picture, error) {
	return DecodeWith(r, Options{Color: mode})
}

// DecodeWith is [Decode] with options.
func DecodeWith(r io.Reader, opt Options) (*Picture, error) {
	format, whole, err := sniffed(r)
	if err != nil {
		return nil, err
	}
	if format == "npy" {
		h, err := readNPYHeader(whole)
		if err != nil {
			return nil, err
		}
		a, err := h.read(whole)
		return h.picture(a, closer(nil), err, opt)
	}
	data, err := readAll(whole)
	if err != nil {
		return nil, fmt.Errorf("imgio: %s: reading: %w", format, err)
	}
	p := &Picture{Format: format, Page: max(opt.Page, 1), Pages: pageCount(format, data), Bits: bitDepth(format, data)}
	if p.Image, err = decodePage(format, data, p.Page, p.Pages, opt); err != nil {
		return nil, fmt.Errorf("imgio: %w", err)
	}
	if _, deep := p.Image.(boxsum.Image[uint16]); deep {
		p.Bits = 16
	}
	return p, nil
}

// sniffed is the format of a stream, and all of the stream.
func sniffed(r io.Reader) (string, *replay, error) {
	whole := &replay{newHead(r), r}
	head, err := whole.Peek(sniffBytes)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return "", nil, fmt.Errorf("imgio: reading: %w", err)
	}
	format, err := sniff(head)
	return format, whole, err
}

func openArray(f *os.File, opt Options) (*Picture, error) {
	h, err := readNPYHeader(f)
	if err != nil {
		return nil, err
	}
	a, c, err := h.open(f)
	return h.picture(a, c, err, opt)
}

// picture is the array behind a header as a picture, unless there is an error already.
func (h *npyHeader) picture(a *Array, c io.Closer, err error, opt Options) (*Picture, error) {
	if err != nil {
		return nil, err
	}
	var img any
	if opt.Wide || opt.wider {
		img, err = a.image64(opt.wider)
	}
	if img == nil && err == nil {
		img, err = a.Image()
	}
	if err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return &Picture{Image: img, Format: "npy", Element: h.element(), Page: 1, Pages: 1, close: c.Close}, nil
}

// in adds the name of a file to an error.
func in(path string, err error) error { return fmt.Errorf("%w, in %s", err, path) }

// sniffBytes is what it takes to tell the formats apart.
const sniffBytes = 12

// signatures are how files begin, and the format that this tells. What holds a space is why
// a file is not read.
var signatures = []struct{ start, format string }{
	{npyMagic, "npy"}, {"\x89PNG\r\n\x1a\n", "png"}, {"\xff\xd8", "jpeg"}, {"GIF87a", "gif"}, {"GIF89a", "gif"},
	{"II*\x00", "tiff"}, {"MM\x00*", "tiff"}, {"BM", "bmp"},
	{"II+\x00", "BigTIFF is not supported: save it as plain TIFF or .npy"},
	{"MM\x00+", "BigTIFF is not supported: save it as plain TIFF or .npy"},
	{"PK\x03\x04", "a zip or .npz archive is not an image: take one .npy file out of it"},
}

func sniff(head []byte) (format string, err error) {
	s := string(head)
	for _, sig := range signatures {
		switch {
		case !strings.HasPrefix(s, sig.start):
		case strings.Contains(sig.format, " "):
			return "", errors.New("imgio: " + sig.format)
		default:
			return sig.format, nil
		}
	}
	switch {
	case s == "":
		return "", errors.New("imgio: the file is empty")
	case len(s) >= 12 && s[:4] == "RIFF" && s[8:12] == "WEBP":
		return "webp", nil
	case len(s) >= 3 && s[0] == 'P' && s[1] >= '1' && s[1] <= '7' && (isSpace(s[2]) || s[2] == '#'):
		return "pnm", nil
	}
	return "", errors.New("imgio: unknown format: PNG, JPEG, GIF, BMP, TIFF, WebP, PNM and .npy are read")
}

// replay gives back what was read to tell the format, and then the rest.
type replay struct {
	*bufio.Reader
	rest io.Reader
}

func newHead(r io.Reader) *bufio.Reader { return bufio.NewReaderSize(r, sniffBytes) }

// readAll is io.ReadAll without growing where the length is known.
func readAll(r io.Reader) ([]byte, error) {
	known := remaining(r)
	if known <= 0 {
		return io.ReadAll(r)
	}
	data, err := grid.Make[byte](int(min(known, math.MaxInt)))
	if err != nil {
		return nil, err
	}
	n, err := io.ReadFull(r, data)
	if errors.Is(err, io.ErrUnexpectedEOF) {
		err = nil // the file has become shorter; its decoder will say so
	}
	return data[:n], err
}

// codecs are the decoders that others wrote.
var codecs = map[string]struct {
	config func(io.Reader) (image.Config, error)
	decode func(io.Reader) (image.Image, error)
}{
	"png":  {png.DecodeConfig, png.Decode},
	"jpeg": {jpeg.DecodeConfig, jpeg.Decode},
	"gif":  {gif.DecodeConfig, gif.Decode},
	"bmp":  {bmp.DecodeConfig, bmp.Decode},
	"tiff": {tiff.DecodeConfig, tiff.Decode},
	"webp": {webp.DecodeConfig, webp.Decode},
}

// decodeBytes decodes a whole file. Its errors name the format.
func decodeBytes(format string, data []byte, opt Options) (img any, err error) {
	return guarded(format, opt, func() (any, error) {
		img, err := decodeChecked(format, data, opt.Color)
		if err != nil || opt.AsStored {
			return img, err
		}
		return upright(img, orientation(format, data))
	})
}

// guarded decodes. Decoders may panic; errors get the name of the format.
func guarded(format string, opt Options, decode func() (any, error)) (img any, err error) {
	defer liftLimit(opt.Large)()
	defer func() {
		if p := recover(); p != nil {
			img, err = nil, fmt.Errorf("%s: the file is damaged: %v", format, p)
		}
	}()
	img, err = decode()
	var unsupported tiff.UnsupportedError
	switch {
	case errors.As(err, &unsupported):
		err = fmt.Errorf("%w: save it as .npy, or as PNG of 8 or 16 bits", err)
	case err != nil && !strings.HasPrefix(err.Error(), format+": "):
		err = fmt.Errorf("%s: %w", format, unexpected(err))
	}
	return img, err
}

// decodeChecked decodes what the limits allow.
func decodeChecked(format string, data []byte, mode ColorMode) (any, error) {
	if format == "pnm" {
		return decodePNM(data, mode)
	}
	if format == "tiff" {
		if err := checkTIFF(data); err != nil {
			return nil, err
		}
	}
	codec := codecs[format]
	config, err := codec.config(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	if err := checkSize(format, data, config); err != nil {
		return nil, err
	}
	m, err := codec.decode(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	if m.Bounds().Empty() {
		return nil, errors.New("the picture has no pixels")
	}
	return convert(format, data, m, mode), nil
}
