package boxsum

import (
	"fmt"
	"io"

	"github.com/boxsum/boxsum/internal/raster"
)

// Pixel is the type of the values in an [Image]. 64-bit integers can only be summed,
// modulo 2^64, into upright tables; they have no tables of squares or of other kinds.
type Pixel interface {
	uint8 | uint16 | uint32 | uint64 | int16 | int32 | int64 | float32 | float64
}

// Sum is the type of the entries of a [Table]. Integer sums wrap, but a box whose own
// sum fits the type is exact even where the table around it has wrapped.
type Sum interface {
	uint32 | uint64 | int64 | float32 | float64
}

// Square is the type of the entries of a table of squares: uint64 or float64 for
// integer pixels, and float64 for float pixels. In uint64, the squares of 8- and 16-bit
// pixels are always exact; the squares of int32 and uint32 pixels are exact in boxes
// where they add up to less than 2^64. In float64, squares of any size fit but are
// rounded; for uint8, uint16 and int16 pixels, they are exact if the squares of the
// whole image add up to less than 2^53.
type Square interface{ uint64 | float64 }

// Errors of this package and of all others that compute tables wrap these values. Test
// for them with [errors.Is].
var (
	// ErrInvalid reports an argument that is out of range, such as a dimension, a stride,
	// a number of channels or workers, or the length of a buffer.
	ErrInvalid = raster.ErrInvalid
	// ErrOverlap reports a table that overlaps the memory of its image or of another
	// table.
	ErrOverlap = raster.ErrOverlap
	// ErrTypes reports a pair of pixel and sum types that is not supported.
	ErrTypes = raster.ErrTypes
	// ErrMemory reports that the machine or a device does not have enough memory.
	ErrMemory = raster.ErrMemory
	// ErrClosed reports the use of a value that has been closed.
	ErrClosed = raster.ErrClosed
)

// An Image holds Width×Height pixels of Channels interleaved values each: channel c of
// the pixel at (x, y) is Pix[y*Stride+x*Channels+c].
//
// If Channels is zero, the image has one channel. If Stride is zero, there are no gaps
// between rows. So Image[uint8]{Pix: p, Width: w, Height: h} is a complete gray image.
type Image[P Pixel] struct {
	Pix           []P
	Stride        int // elements from one row to the next
	Width, Height int
	Channels      int
}

// NewImage allocates an image of zeros. Zero channels means one. It returns an error
// that wraps [ErrInvalid] if an argument is negative, and one that wraps [ErrMemory] if
// there is not enough memory.
func NewImage[P Pixel](width, height, channels int) (Image[P], error) {
	pix, e, err := raster.NewPixels[P](raster.PlaneExtent(width, height, channels, 0))
	if err != nil {
		return Image[P]{}, err
	}
	return Image[P]{Pix: pix, Stride: e.Stride, Width: width, Height: height, Channels: e.Channels}, nil
}

// ReadImage returns an image whose rows come one by one from any source. A row has
// width·channels values; zero channels means one. ReadImage calls next to fill one row
// after another. When next returns [io.EOF], the image ends before the row of that
// call. If next returns any other error, ReadImage returns an empty Image and an error
// that wraps it:
//
//	img, err := boxsum.ReadImage(640, 1, func(row []uint8) error {
//		_, err := io.ReadFull(r, row)
//		return err
//	})
//
// For images that do not fit in memory, use a [Stream].
func ReadImage[P Pixel](width, channels int, next func(row []P) error) (Image[P], error) {
	img, err := NewImage[P](width, 0, channels)
	if err != nil {
		return Image[P]{}, err
	}
	const least = 16 // rows to begin with
	n := width * img.Channels
	for {
		if end := img.Height * n; end == len(img.Pix) && n > 0 {
			more, err := NewImage[P](width, max(2*img.Height, least), img.Channels)
			if err != nil {
				return Image[P]{}, err
			}
			copy(more.Pix, img.Pix)
			img.Pix = more.Pix[:len(more.Pix)/n*n]
		}
		switch err := next(img.Pix[img.Height*n:][:n:n]); err {
		case nil:
			img.Height++
		case io.EOF:
			img.Pix = img.Pix[:img.Height*n]
			return img, nil
		default:
			return Image[P]{}, fmt.Errorf("reading row %d: %w", img.Height, err)
		}
	}
}

// Row returns the Width*Channels values of row y, or nil if y is out of range or the
// image is invalid or has no columns.
func (im Image[P]) Row(y int) []P {
	im, err := im.checked()
	if n := im.Width * im.Channels; err == nil && y >= 0 && y < im.Height && n > 0 {
		return im.Pix[y*im.Stride:][:n:n]
	}
	return nil
}

// set sets a to the unchecked memory of the image.
func (im *Image[P]) set(a *raster.Array) {
	raster.SetPlane(a, im.Pix, im.Width, im.Height, im.Channels, im.Stride)
}

func (im *Image[P]) extent() raster.Extent {
	return raster.PlaneExtent(im.Width, im.Height, im.Channels, im.Stride)
}

// checked returns the image with its defaults filled in, and an error if it is invalid.
func (im Image[P]) checked() (Image[P], error) {
	e := im.extent()
	err := e.Pixels(len(im.Pix))
	im.Channels, im.Stride = e.Channels, e.Stride
	return im, err
}
