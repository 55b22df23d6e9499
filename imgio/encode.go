package imgio

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	"image/jpeg"
	"image/png"
	"io"
	"iter"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/pixels"
	"github.com/boxsum/boxsum/internal/raster"
)

// extensions maps file extensions to the formats that [Encode] writes.
var extensions = map[string]string{
	".png": "png", ".tif": "tiff", ".tiff": "tiff", ".npy": "npy",
	".pnm": "pnm", ".pbm": "pbm", ".pgm": "pgm", ".ppm": "ppm", ".pam": "pam",
	".jpg": "jpeg", ".jpeg": "jpeg", ".gif": "gif",
}

// jpegQuality loses little visible detail, at a third of the size of a PNG.
const jpegQuality = 95

// FormatOf returns the format that [Save] uses for a file name, such as "png" for
// photo.PNG. ok is false if the extension is unknown.
func FormatOf(path string) (format string, ok bool) {
	format, ok = extensions[strings.ToLower(filepath.Ext(path))]
	return format, ok
}

// Save writes an image to a file, in the format of its extension: .png, .tif,
// .tiff, .pgm, .ppm, .pnm, .pam, .pbm, .jpg, .jpeg, .gif or .npy. It replaces
// the file atomically. See [Encode] for the supported types.
func Save(path string, img any) error { return SaveWith(path, img, Metadata{}) }

// SaveWith is like [Save] but also writes metadata, such as that of the [Picture] from
// which img was made. Formats that cannot store metadata omit it.
func SaveWith(path string, img any, m Metadata) error {
	format, ok := FormatOf(path)
	if !ok {
		return raster.Invalid("%s: unknown image format, want .png, .tiff, .pgm, .ppm, .pam, .pbm, .jpg, .gif or .npy", path)
	}
	return WriteFile(path, func(w io.Writer) error { return EncodeWith(w, format, img, m) })
}

// Encode writes img in the format "png", "tiff", "pnm", "pbm", "pgm", "ppm", "pam", "jpeg", "gif"
// or "npy". img is a boxsum.Image[P], as in [Picture], or any image.Image, such as a
// threshold.Bitmap.
//
//   - Pictures have pixels of uint8 or uint16 with 1 to 4 channels: gray or color, each with or without straight alpha.
//   - PNG and TIFF store a threshold.Bitmap with one bit per pixel. PBM stores any image of 0 and 255 in this way.
//   - PGM stores gray images, PPM gray and color images as RGB, and PAM all of these with or without alpha. PNM is PGM for gray, PPM for color and PAM for images with alpha.
//   - TIFF supports all other pixel types too, which fewer programs read.
//   - JPEG and GIF have 8 bits and lose detail: JPEG everywhere, GIF in images of more than 256 colors. JPEG has no alpha, and in GIF a pixel is opaque or transparent.
//   - .npy arrays support all types and numbers of channels.
//
// If a format cannot hold the image, Encode returns an error that wraps [boxsum.ErrTypes].
func Encode(w io.Writer, format string, img any) error {
	return EncodeWith(w, format, img, Metadata{})
}

// EncodeWith is like [Encode] but also writes metadata. Formats that cannot store metadata
// omit it.
func EncodeWith(w io.Writer, format string, img any, m Metadata) error {
	if err := checkImage(img); err != nil {
		return err
	}
	switch format {
	case "png":
		return encodePNG(w, img, m)
	case "jpeg":
		return encodeJPEG(w, img, m)
	case "gif":
		return encodeGIF(w, img)
	case "npy":
		return encodeNPY(w, img)
	case "pbm":
		return encodePBM(w, img)
	case "pnm", "pgm", "ppm", "pam":
		return encodePNM(w, format, img)
	case "tiff":
		t := NewTIFFWriter(w)
		if err := t.Add(img, m); err != nil {
			return err
		}
		return t.Close()
	}
	return raster.Invalid("unknown image format %.40q, want png, tiff, pnm, pbm, pgm, ppm, pam, jpeg, gif or npy", format)
}

// checkImage returns an error for nil, for values that are not images, and for an
// image.Image that is practically infinite, such as an [image.Uniform], of which not even a
// row fits in memory.
func checkImage(img any) error {
	m, ok := img.(image.Image)
	if v := reflect.ValueOf(img); !ok && pixels.Of(img).Type == 0 || v.Kind() == reflect.Pointer && v.IsNil() {
		return noImage(img)
	}
	if !ok {
		return nil
	}
	const most = 1 << 30
	if b := m.Bounds(); b.Dx() > most || b.Dy() > most {
		return raster.Invalid("%T has %d×%d pixels, want sides of at most %d (draw it into another image first)", img, b.Dx(), b.Dy(), most)
	}
	return nil
}

func noImage(img any) error {
	return raster.Unsupported("%s cannot be written, want a boxsum.Image or an image.Image", described(img))
}

// described names the pixels of an image for an error, or the type of another value.
func described(img any) string {
	if t := pixels.Of(img).Type; t != 0 {
		return fmt.Sprintf("pixels of %v", t)
	}
	return fmt.Sprintf("a %T", img)
}

// shownImage returns an image as an image.Image: itself, or a boxsum.Image of
// uint8 or uint16.
func shownImage(img any) (image.Image, error) {
	m, ok := img.(image.Image)
	if !ok {
		return ToImage(img)
	}
	if v := reflect.ValueOf(m); v.Kind() == reflect.Pointer && v.IsNil() {
		return nil, noImage(img)
	}
	return m, nil
}

// encodePNG writes PNG. Bitmaps have one bit per pixel.
func encodePNG(w io.Writer, img any, meta Metadata) error {
	b, err := bilevelOf(img)
	if err != nil {
		return err
	}
	if b != nil {
		return encodePNGBits(w, b, meta)
	}
	m, err := shownImage(img)
	if errors.Is(err, boxsum.ErrTypes) {
		return fmt.Errorf("%w (use .tiff or .npy)", err)
	}
	if err != nil {
		return err
	}
	if m.Bounds().Empty() {
		return raster.Invalid("image is %d×%d, want at least 1×1 pixels in a PNG file", m.Bounds().Dx(), m.Bounds().Dy())
	}
	channels := 3
	if isGray(m) {
		channels = 1
	}
	to := &inserter{w: w, after: pngStart, more: meta.forChannels(channels).pngChunks()}
	return (&png.Encoder{CompressionLevel: png.BestSpeed}).Encode(to, m)
}

func encodeNPY(w io.Writer, img any) error {
	if m, ok := img.(image.Image); ok {
		var err error
		if img, err = fromImage(m); err != nil {
			return err
		}
	}
	src := pixels.Of(img)
	shape := []int{src.Height, src.Width}
	if src.Channels > 1 {
		shape = append(shape, src.Channels)
	}
	switch img := img.(type) {
	case boxsum.Image[uint8]:
		return WriteNPY(w, shape, rowsOf(img))
	case boxsum.Image[uint16]:
		return WriteNPY(w, shape, rowsOf(img))
	case boxsum.Image[uint32]:
		return WriteNPY(w, shape, rowsOf(img))
	case boxsum.Image[int16]:
		return WriteNPY(w, shape, rowsOf(img))
	case boxsum.Image[int32]:
		return WriteNPY(w, shape, rowsOf(img))
	case boxsum.Image[float32]:
		return WriteNPY(w, shape, rowsOf(img))
	case boxsum.Image[float64]:
		return WriteNPY(w, shape, rowsOf(img))
	case boxsum.Image[int64]:
		return WriteNPY(w, shape, rowsOf(img))
	case boxsum.Image[uint64]:
		return WriteNPY(w, shape, rowsOf(img))
	}
	return noImage(img)
}

func encodeJPEG(w io.Writer, img any, meta Metadata) error {
	m, isImage := img.(image.Image)
	if !isImage {
		bytes, ok := img.(boxsum.Image[uint8])
		if !ok {
			return raster.Unsupported("JPEG cannot store %s, want uint8 (use .png or .npy)", described(img))
		}
		if n := max(bytes.Channels, 1); n != 1 && n != 3 {
			return raster.Unsupported("JPEG cannot store %d channels, only 1 or 3 (use .png or .npy)", n)
		}
	}
	m, err := shownImage(img)
	if err != nil {
		return err
	}
	size := m.Bounds().Size()
	if most := 1<<16 - 1; size.X < 1 || size.Y < 1 || size.X > most || size.Y > most {
		return raster.Invalid("JPEG cannot store %d×%d pixels, only sides of 1 to %d (use .png)", size.X, size.Y, most)
	}
	if isImage && !isOpaque(m) {
		return raster.Unsupported("JPEG cannot store transparent pixels (use .png or .npy)")
	}
	channels := 3
	if isGray(m) {
		m, channels = grayImage(m), 1
	}
	to := &inserter{w: w, after: jpegStart, more: meta.forChannels(channels).jpegSegments()}
	return jpeg.Encode(to, m, &jpeg.Options{Quality: jpegQuality})
}

// encodePBM writes a bitmap, or an image that has two values.
func encodePBM(w io.Writer, img any) error {
	b, err := bilevelOf(img)
	if err != nil {
		return err
	}
	if b == nil {
		p, err := arrayOf(img)
		if err != nil {
			return err
		}
		if b, err = packed(&p); err != nil {
			return err
		}
	}
	size := b.Bounds().Size()
	to := bufio.NewWriterSize(w, 1<<16)
	fmt.Fprintf(to, "P4\n%d %d\n", size.X, size.Y)
	for y := range size.Y {
		if _, err := to.Write(b.Row(y)); err != nil {
			return err
		}
	}
	return to.Flush()
}

// arrayOf returns the pixels of an image that is to be written as a picture.
func arrayOf(img any) (raster.Array, error) {
	if m, ok := img.(image.Image); ok {
		var err error
		if img, err = fromImage(m); err != nil {
			return raster.Array{}, err
		}
	}
	p := pixels.Of(img)
	if p.Type == 0 {
		return p, noImage(img)
	}
	if err := checkShown(p.Width, p.Height, p.Channels, p.Stride, p.Len()); err != nil {
		return p, err
	}
	if p.Width == 0 || p.Height == 0 {
		return p, raster.Invalid("image is %d×%d, want at least 1×1 pixels in a picture (use .npy)", p.Width, p.Height)
	}
	return p, nil
}

// rowsOf returns the rows of an image, including empty ones.
func rowsOf[P boxsum.Pixel](img boxsum.Image[P]) iter.Seq[[]P] {
	return func(yield func([]P) bool) {
		for y := range img.Height {
			if !yield(img.Row(y)) {
				return
			}
		}
	}
}

func cannotBe(pixel raster.Type, format string) error {
	return raster.Unsupported("%s cannot store pixels of %v (use .npy)", format, pixel)
}

// encodePNM writes PGM, PPM or PAM; "pnm" leaves the choice to the image.
func encodePNM(to io.Writer, format string, img any) error {
	p, err := arrayOf(img)
	if err != nil {
		return err
	}
	w := bufio.NewWriterSize(to, 1<<16)
	most := 255
	switch p.Type {
	case raster.U8:
	case raster.U16:
		most = 65535
	default:
		return cannotBe(p.Type, "PNM")
	}
	if format == "pnm" {
		format = map[int]string{1: "pgm", 3: "ppm"}[p.Channels]
	}
	switch {
	case format == "pgm" && p.Channels != 1:
		return raster.Unsupported("PGM stores gray images without alpha, not %d channels (convert the image to gray, or use .ppm, .pam or .png)", p.Channels)
	case format == "ppm" && p.Channels != 1 && p.Channels != 3:
		return raster.Unsupported("PPM stores color images without alpha, not %d channels (use .pam or .png)", p.Channels)
	}
	switch format {
	case "pgm":
		fmt.Fprintf(w, "P5\n%d %d\n%d\n", p.Width, p.Height, most)
	case "ppm":
		fmt.Fprintf(w, "P6\n%d %d\n%d\n", p.Width, p.Height, most)
	default:
		kind := map[int]string{1: "GRAYSCALE", 2: "GRAYSCALE_ALPHA", 3: "RGB", 4: "RGB_ALPHA"}[p.Channels]
		fmt.Fprintf(w, "P7\nWIDTH %d\nHEIGHT %d\nDEPTH %d\nMAXVAL %d\nTUPLTYPE %s\nENDHDR\n", p.Width, p.Height, p.Channels, most, kind)
	}
	for y := range p.Height {
		row := p.Row(y)
		if format == "ppm" && p.Channels == 1 {
			row = tripled(row, p.Type.Bytes())
		}
		if err := writeOrdered(w, row, p.Type, binary.BigEndian); err != nil {
			return err
		}
	}
	return w.Flush()
}

// tripled returns a row of gray pixels of n bytes as red, green and blue.
func tripled(row []byte, n int) []byte {
	rgb := make([]byte, 0, 3*len(row))
	for pixel := range slices.Chunk(row, n) {
		rgb = append(append(append(rgb, pixel...), pixel...), pixel...)
	}
	return rgb
}

// writeOrdered writes a row of pixels of 1 to 8 bytes in the given byte order.
func writeOrdered(w *bufio.Writer, row []byte, pixel raster.Type, order binary.AppendByteOrder) error {
	switch pixel.Bytes() {
	case 2:
		for _, v := range raster.Elems[uint16](row) {
			if _, err := w.Write(order.AppendUint16(w.AvailableBuffer(), v)); err != nil {
				return err
			}
		}
		return nil
	case 4:
		for _, v := range raster.Elems[uint32](row) {
			if _, err := w.Write(order.AppendUint32(w.AvailableBuffer(), v)); err != nil {
				return err
			}
		}
		return nil
	case 8:
		for _, v := range raster.Elems[uint64](row) {
			if _, err := w.Write(order.AppendUint64(w.AvailableBuffer(), v)); err != nil {
				return err
			}
		}
		return nil
	}
	_, err := w.Write(row)
	return err
}
