package imgio

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"image/jpeg"
	"image/png"
	"io"
	"iter"
	"path/filepath"
	"strings"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/pixels"
	"github.com/boxsum/boxsum/internal/raster"
)

// extensions maps file extensions to the formats that [Encode] writes.
var extensions = map[string]string{
	".png": "png", ".tif": "tiff", ".tiff": "tiff", ".npy": "npy",
	".pgm": "pnm", ".ppm": "pnm", ".pnm": "pnm", ".pam": "pnm",
	".jpg": "jpeg", ".jpeg": "jpeg",
}

// jpegQuality loses little visible detail, at a third of the size of a PNG.
const jpegQuality = 95

// FormatOf returns the format that [Save] uses for a file name. ok is false if
// the extension is unknown.
func FormatOf(path string) (format string, ok bool) {
	format, ok = extensions[strings.ToLower(filepath.Ext(path))]
	return format, ok
}

// Save writes an image to a file, in the format of its extension: .png, .tif,
// .tiff, .pgm, .ppm, .pnm, .pam, .jpg, .jpeg or .npy. It replaces the file
// atomically. See [Encode] for the supported types.
func Save(path string, img any) error {
	format, ok := FormatOf(path)
	if !ok {
		return fmt.Errorf("imgio: %s: images are written as .png, .tiff, .pgm, .ppm, .pam, .jpg or .npy: %w", path, boxsum.ErrInvalid)
	}
	return WriteFile(path, func(w io.Writer) error { return Encode(w, format, img) })
}

// Encode writes img, a boxsum.Image[P] as in [Picture], as "png", "tiff",
// "pnm", "jpeg" or "npy". Pictures have pixels of uint8 or uint16 with 1 to 4
// channels: gray or color, each with or without straight alpha. TIFF also
// supports float32, which few programs read. JPEG is lossy and supports uint8
// without alpha. .npy arrays support all types and numbers of channels. Other
// types are a [boxsum.ErrTypes].
func Encode(w io.Writer, format string, img any) error {
	switch format {
	case "png":
		m, err := ToImage(img)
		if errors.Is(err, boxsum.ErrTypes) {
			return fmt.Errorf("%w; write it as .npy", err)
		}
		if err != nil {
			return err
		}
		if m.Bounds().Empty() {
			return fmt.Errorf("imgio: an image without pixels cannot be a PNG file: %w", boxsum.ErrInvalid)
		}
		return (&png.Encoder{CompressionLevel: png.BestSpeed}).Encode(w, m)
	case "jpeg":
		return encodeJPEG(w, img)
	case "npy":
		return encodeNPY(w, img)
	case "tiff", "pnm":
		return encodePlain(w, format, img)
	}
	return fmt.Errorf("imgio: images are written as png, tiff, pnm, jpeg or npy, and not as %.40q: %w", format, boxsum.ErrInvalid)
}

func noImage(img any) error { return fmt.Errorf("imgio: %T is no image: %w", img, boxsum.ErrTypes) }

func encodeNPY(w io.Writer, img any) error {
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
	}
	return noImage(img)
}

func encodeJPEG(w io.Writer, img any) error {
	bytes, ok := img.(boxsum.Image[uint8])
	if !ok {
		return fmt.Errorf("imgio: %T: JPEG is for pixels of uint8; write it as .png or .npy: %w", img, boxsum.ErrTypes)
	}
	if n := max(bytes.Channels, 1); n != 1 && n != 3 {
		return fmt.Errorf("imgio: an image of %d channels: JPEG is for gray and colour without alpha; write it as .png or .npy: %w", n, boxsum.ErrTypes)
	}
	if most := 1<<16 - 1; bytes.Width < 1 || bytes.Height < 1 || bytes.Width > most || bytes.Height > most {
		return fmt.Errorf("imgio: JPEG is for 1 to %d pixels a side, not %d×%d; write it as .png: %w", most, bytes.Width, bytes.Height, boxsum.ErrInvalid)
	}
	m, err := ToImage(img)
	if err != nil {
		return err
	}
	return jpeg.Encode(w, m, &jpeg.Options{Quality: jpegQuality})
}

// encodePlain writes an uncompressed picture.
func encodePlain(w io.Writer, format string, img any) error {
	p := pixels.Of(img)
	if p.Type == 0 {
		return noImage(img)
	}
	if err := checkShown(p.Width, p.Height, p.Channels, p.Stride, p.Len()); err != nil {
		return err
	}
	if p.Width == 0 || p.Height == 0 {
		return fmt.Errorf("imgio: an image without pixels cannot be a picture: %w", boxsum.ErrInvalid)
	}
	to := bufio.NewWriterSize(w, 1<<16)
	by := encodePNM
	if format == "tiff" {
		by = encodeTIFF
	}
	if err := by(to, &p); err != nil {
		return err
	}
	return to.Flush()
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
	return fmt.Errorf("imgio: pixels of %v cannot be written as %s, but as .npy: %w", pixel, format, boxsum.ErrTypes)
}

// encodePNM writes PGM or PPM, or PAM if the image has alpha.
func encodePNM(w *bufio.Writer, p *raster.Array) error {
	most := 255
	switch p.Type {
	case raster.U8:
	case raster.U16:
		most = 65535
	default:
		return cannotBe(p.Type, "PNM")
	}
	switch p.Channels {
	case 1:
		fmt.Fprintf(w, "P5\n%d %d\n%d\n", p.Width, p.Height, most)
	case 3:
		fmt.Fprintf(w, "P6\n%d %d\n%d\n", p.Width, p.Height, most)
	default:
		kind := map[int]string{2: "GRAYSCALE_ALPHA", 4: "RGB_ALPHA"}[p.Channels]
		fmt.Fprintf(w, "P7\nWIDTH %d\nHEIGHT %d\nDEPTH %d\nMAXVAL %d\nTUPLTYPE %s\nENDHDR\n", p.Width, p.Height, p.Channels, most, kind)
	}
	for y := range p.Height {
		if err := writeOrdered(w, p.Row(y), p.Type, binary.BigEndian); err != nil {
			return err
		}
	}
	return nil
}

// writeOrdered writes a row of pixels of 1, 2 or 4 bytes in the given byte
// order.
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
	}
	_, err := w.Write(row)
	return err
}
