package imgio

import (
	"bufio"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"image/jpeg"
	"image/png"
	"io"
	"iter"
	"math"
	"path/filepath"
	"strings"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/anyimage"
	"github.com/boxsum/boxsum/internal/pairs"
)

// extensions are those of the formats that [Encode] writes.
var extensions = map[string]string{
	".png": "png", ".tif": "tiff", ".tiff": "tiff", ".npy": "npy",
	".pgm": "pnm", ".ppm": "pnm", ".pnm": "pnm", ".pam": "pnm",
	".jpg": "jpeg", ".jpeg": "jpeg",
}

// jpegQuality is little loss for the eye, at a third of a PNG.
const jpegQuality = 95

// FormatOf is the format that [Save] writes to a file of this name, and none for an
// extension that it does not know.
func FormatOf(path string) (format string, ok bool) {
	format, ok = extensions[strings.ToLower(filepath.Ext(path))]
	return format, ok
}

// Save writes an image to a file, in the format of its extension: .png, .tif or .tiff,
// .pgm, .ppm, .pnm or .pam, .jpg or .jpeg, .npy. The file appears whole or not at all. See [Encode].
func Save(path string, img any) error {
	format, ok := FormatOf(path)
	if !ok {
		return fmt.Errorf("imgio: %s: images are written as .png, .tiff, .pgm, .ppm, .pam, .jpg or .npy: %w", path, boxsum.ErrInvalid)
	}
	return WriteFile(path, func(w io.Writer) error { return Encode(w, format, img) })
}

// Encode writes an image, which is a boxsum.Image[P] as [Picture] has it, as "png", "tiff",
// "pnm", "jpeg" or "npy". Pictures take pixels of uint8 and uint16 with 1 to 4 channels, grey or
// colour, each with or without straight alpha; TIFF takes float32 too, which few
// programs read. JPEG, which changes pixels a little, takes uint8 without alpha. An .npy array takes all types and channels. Others are a
// [boxsum.ErrTypes].
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
	width, height, channels := anyimage.Size(img)
	shape := []int{height, width}
	if channels > 1 {
		shape = append(shape, channels)
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

// encodePlain writes a picture that is not compressed.
func encodePlain(w io.Writer, format string, img any) error {
	if anyimage.Pixel(img) == 0 {
		return noImage(img)
	}
	p := plainPicture{img: img}
	p.width, p.height, p.channels = anyimage.Size(img)
	p.channels = max(p.channels, 1)
	stride, values := anyimage.Layout(img)
	if err := checkShown(p.width, p.height, p.channels, cmp.Or(stride, p.width*p.channels), values); err != nil {
		return err
	}
	if p.width == 0 || p.height == 0 {
		return fmt.Errorf("imgio: an image without pixels cannot be a picture: %w", boxsum.ErrInvalid)
	}
	to := bufio.NewWriterSize(w, 1<<16)
	by := encodePNM
	if format == "tiff" {
		by = encodeTIFF
	}
	if err := by(to, p); err != nil {
		return err
	}
	return to.Flush()
}

// A plainPicture is an image of any type that can be shown.
type plainPicture struct {
	img                     any
	width, height, channels int
}

// rowsOf is the rows of an image, empty ones too.
func rowsOf[P boxsum.Pixel](img boxsum.Image[P]) iter.Seq[[]P] {
	return func(yield func([]P) bool) {
		for y := range img.Height {
			if !yield(img.Row(y)) {
				return
			}
		}
	}
}

func (p plainPicture) cannotBe(format string) error {
	return fmt.Errorf("imgio: pixels of %v cannot be written as %s, but as .npy: %w", anyimage.Pixel(p.img), format, boxsum.ErrTypes)
}

// encodePNM writes PGM, PPM, or PAM with alpha.
func encodePNM(w *bufio.Writer, p plainPicture) error {
	most := 255
	switch anyimage.Pixel(p.img) {
	case pairs.U8:
	case pairs.U16:
		most = 65535
	default:
		return p.cannotBe("PNM")
	}
	switch p.channels {
	case 1:
		fmt.Fprintf(w, "P5\n%d %d\n%d\n", p.width, p.height, most)
	case 3:
		fmt.Fprintf(w, "P6\n%d %d\n%d\n", p.width, p.height, most)
	default:
		kind := map[int]string{2: "GRAYSCALE_ALPHA", 4: "RGB_ALPHA"}[p.channels]
		fmt.Fprintf(w, "P7\nWIDTH %d\nHEIGHT %d\nDEPTH %d\nMAXVAL %d\nTUPLTYPE %s\nENDHDR\n", p.width, p.height, p.channels, most, kind)
	}
	for y := range p.height {
		if err := writeOrdered(w, anyimage.Row(p.img, y), binary.BigEndian); err != nil {
			return err
		}
	}
	return nil
}

// writeOrdered writes the pixels of a row in an order of bytes.
func writeOrdered(w *bufio.Writer, row any, order binary.AppendByteOrder) error {
	switch row := row.(type) {
	case []uint8:
		_, err := w.Write(row)
		return err
	case []uint16:
		for _, v := range row {
			if _, err := w.Write(order.AppendUint16(w.AvailableBuffer(), v)); err != nil {
				return err
			}
		}
	case []float32:
		for _, v := range row {
			if _, err := w.Write(order.AppendUint32(w.AvailableBuffer(), math.Float32bits(v))); err != nil {
				return err
			}
		}
	}
	return nil
}
