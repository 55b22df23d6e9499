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

	"golang.org/x/image/bmp"
	"golang.org/x/image/tiff"
	"golang.org/x/image/webp"

	"github.com/boxsum/boxsum/internal/raster"
)

// A ColorMode selects how the color of a picture is converted. It does not
// apply to arrays: a .npy file keeps its channels in either mode.
type ColorMode int

const (
	// ToGray converts color to one gray channel, as boxsum.Gray does.
	ToGray ColorMode = iota
	// Keep keeps color as interleaved channels: 1 for gray, 2 for gray with
	// alpha, 3 for R, G, B and 4 for R, G, B, A, as stored in the file. Alpha
	// is straight, and palettes are resolved. A single transparent color does
	// not add a channel, except in a palette.
	Keep
)

// A Picture is a decoded picture or .npy array, with its metadata.
type Picture struct {
	// Image is a boxsum.Image[P]. For pictures, P is uint8 or uint16, depending
	// on the depth of the file. For arrays, and for TIFF files of signed
	// integers, floats or more than 16 bits, it may also be uint32, int16,
	// int32, float32 or float64; see [ReadNPY] and [Array.Image] for other
	// types.
	Image any
	// Element is the type of the elements of an array, or of such a TIFF file,
	// such as "int64". It is empty for other pictures.
	Element string
	// Format is "png", "jpeg", "gif", "bmp", "tiff", "webp", "pnm" or "npy".
	Format string
	// Page is the page of a TIFF file or the frame of a GIF file, from 1, and
	// Pages is their number. Both are 1 for other formats.
	Page, Pages int
	// Bits is the number of bits per sample in the file: 1 for black and white,
	// and 0 if Element is set.
	Bits int
	// Metadata describes Image: the profile is for its channels, and the
	// orientation and the resolution are those of the decoded pixels.
	Metadata Metadata

	close closer
}

// Close releases the resources of the picture, such as a mapped file. Image
// must not be used after that.
func (p *Picture) Close() error { return p.close.Close() }

// Open reads the named picture or .npy array. It detects the format from the
// content. The mode selects whether color is kept or converted to gray. Values
// keep the depth of the file, with these exceptions and details:
//
//   - PNG: Depths below 8 bits are scaled to 0…255.
//   - PNM: Values are not scaled, even if the maximum is not 255. In bitmaps (P1
//     and P4) and black-and-white PAM, black is 0 and white is 255.
//   - GIF and TIFF: Only the first frame, in its own size, or the first page is
//     read; see [OpenPages] for the others.
//   - JPEG and lossy WebP: Gray values are those of the Y plane.
//   - JPEG, PNG, TIFF and WebP: Orientation tags are applied, as viewers do.
//
// Large .npy files are mapped into memory instead of being read; see [OpenNPY].
// The caller must close the picture.
func Open(path string, mode ColorMode) (*Picture, error) { return OpenWith(path, Options{Color: mode}) }

// OpenWith is like [Open] but reads the file as opt specifies: in another
// color mode, another page, or without the limit [MaxPixels]. If opt selects a
// GIF frame after the first, the frame is drawn over those before it, in the
// size of the whole picture.
func OpenWith(path string, opt Options) (*Picture, error) {
	f, info, format, err := openFile(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info.IsDir() {
		return nil, fmt.Errorf("%s is a folder, want a file in it", path)
	}
	var p *Picture
	if format == "npy" {
		p, err = openArray(f, opt)
	} else {
		p, err = DecodeWith(f, opt)
	}
	if err != nil {
		return nil, inFile(path, err)
	}
	return p, nil
}

// openFile opens a file and detects its format, which is empty for files that
// cannot be read again from the start.
func openFile(path string) (f *os.File, info os.FileInfo, format string, err error) {
	if f, err = os.Open(path); err != nil {
		return nil, nil, "", err
	}
	if info, err = f.Stat(); err != nil {
		return nil, nil, "", errors.Join(err, f.Close())
	}
	if info.Mode().IsRegular() {
		head := make([]byte, sniffBytes)
		n, _ := f.ReadAt(head, 0)
		format, _ = sniff(head[:n])
	}
	return f, info, format, nil
}

// Decode is like [Open] but reads from a stream.
func Decode(r io.Reader, mode ColorMode) (*Picture, error) {
	return DecodeWith(r, Options{Color: mode})
}

// DecodeWith is like [Decode] but reads the stream as opt specifies, like
// [OpenWith].
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
	pages, err := decodePages(format, whole, opt)
	if err != nil {
		return nil, err
	}
	return pages.Page(max(opt.Page, 1))
}

// sniffed returns the format of a stream, and a reader for the whole stream.
func sniffed(r io.Reader) (string, *replay, error) {
	whole := &replay{newHead(r), r}
	head, err := whole.Peek(sniffBytes)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return "", nil, fmt.Errorf("reading the image: %w", err)
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

// picture returns the array behind a header as a picture. It returns err if
// that is not nil.
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

// inFile puts the name of a file before an error.
func inFile(path string, err error) error { return fmt.Errorf("%s: %w", path, err) }

// sniffBytes is the number of bytes needed to detect a format.
const sniffBytes = 12

// signatures maps the first bytes of files to their format. An entry with a
// space is instead the reason why a file cannot be read.
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
			return "", errors.New(sig.format)
		default:
			return sig.format, nil
		}
	}
	switch {
	case s == "":
		return "", errors.New("the file is empty")
	case len(s) >= 12 && s[:4] == "RIFF" && s[8:12] == "WEBP":
		return "webp", nil
	case len(s) >= 3 && s[0] == 'P' && s[1] >= '1' && s[1] <= '7' && (isSpace(s[2]) || s[2] == '#'):
		return "pnm", nil
	}
	return "", errors.New("unknown file format, want PNG, JPEG, GIF, BMP, TIFF, WebP, PNM or .npy")
}

// replay reads the bytes consumed by format detection, and then the rest.
type replay struct {
	*bufio.Reader
	rest io.Reader
}

func newHead(r io.Reader) *bufio.Reader { return bufio.NewReaderSize(r, sniffBytes) }

// readAll is like io.ReadAll but allocates once if the length is known.
func readAll(r io.Reader) ([]byte, error) {
	known := remaining(r)
	if known <= 0 {
		return io.ReadAll(r)
	}
	data, err := raster.Make[byte](int(min(known, math.MaxInt)))
	if err != nil {
		return nil, err
	}
	n, err := io.ReadFull(r, data)
	if errors.Is(err, io.ErrUnexpectedEOF) {
		err = nil // the file was truncated; its decoder will report it
	}
	return data[:n], err
}

// codecs holds the decoders from other packages.
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
		img, err := decodeChecked(format, data, opt)
		if err != nil || opt.AsStored {
			return img, err
		}
		return upright(img, orientation(format, data))
	})
}

// guarded calls decode, turns panics into errors, and adds the name of the
// format to errors.
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

// decodeChecked decodes a file within the limits.
func decodeChecked(format string, data []byte, opt Options) (any, error) {
	if format == "pnm" {
		return decodePNM(data, opt.Color)
	}
	if format == "tiff" {
		if h := tiffNumbers(data); h != nil {
			return decodeNumbers(data, h, opt)
		}
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
		return nil, fmt.Errorf("the picture is %d×%d pixels, want at least 1×1", m.Bounds().Dx(), m.Bounds().Dy())
	}
	return convert(format, data, m, opt.Color), nil
}
