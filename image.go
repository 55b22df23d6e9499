package boxsum

import "github.com/boxsum/boxsum/internal/grid"

// Pixel is what an [Image] holds.
type Pixel interface {
	uint8 | uint16 | uint32 | int16 | int32 | float32 | float64
}

// Sum is what a [Table] holds. Integer sums wrap, and a box whose own sum
// fits the type is exact even where the table around it has wrapped.
type Sum interface {
	uint32 | uint64 | int64 | float32 | float64
}

// Square is what a table of squares holds: uint64 for integer pixels, and
// float64 for float pixels. Squares of 8- and 16-bit pixels are always exact
// in uint64. Those of int32 and uint32 are exact as long as the squares of a
// box add up to less than 2^64; float64 takes them of any size, with its
// rounding. It takes those of uint8, uint16 and int16 too, for who wants the
// table as floats: whole numbers while all of the image add up to less than 2^53.
type Square interface{ uint64 | float64 }

// What errors are about, in this package and in all that make tables. Test for
// them with errors.Is.
var (
	// ErrInvalid is wrapped by every error about a number that does not fit:
	// dimensions, strides, channels, the length of a buffer, workers, levels.
	ErrInvalid = grid.ErrInvalid
	// ErrOverlap is wrapped by the error about a table that lies in the memory
	// of its image or of another table.
	ErrOverlap = grid.ErrOverlap
	// ErrTypes is wrapped by the error about a pair of pixel and sum types
	// that makes no table.
	ErrTypes = grid.ErrTypes
	// ErrMemory is wrapped by the error about memory that the machine or a device
	// does not have.
	ErrMemory = grid.ErrMemory
	// ErrClosed is wrapped by the error about the use of something that has been
	// closed.
	ErrClosed = grid.ErrClosed
)

// An Image is Width×Height pixels of Channels interleaved values each: channel
// c of the pixel at (x, y) is Pix[y*Stride+x*Channels+c].
//
// Zero Channels stands for one, and zero Stride for rows without a gap, so
// that Image[uint8]{Pix: p, Width: w, Height: h} is a whole grey image.
type Image[P Pixel] struct {
	Pix           []P
	Stride        int // elements from one row to the next
	Width, Height int
	Channels      int
}

// NewImage allocates an image of zeros.
func NewImage[P Pixel](width, height, channels int) (Image[P], error) {
	pix, e, err := grid.NewPixels[P](grid.Plane(width, height, channels, 0))
	if err != nil {
		return Image[P]{}, err
	}
	return Image[P]{Pix: pix, Stride: e.Stride, Width: width, Height: height, Channels: e.Channels}, nil
}

// Row is the pixels of row y, Width*Channels of them, and nil for a row that
// the image does not have.
func (im Image[P]) Row(y int) []P {
	im, err := im.checked()
	if n := im.Width * im.Channels; err == nil && y >= 0 && y < im.Height && n > 0 {
		return im.Pix[y*im.Stride:][:n:n]
	}
	return nil
}

func (im *Image[P]) extent() grid.Extent {
	return grid.Plane(im.Width, im.Height, im.Channels, im.Stride)
}

// checked fills in the defaults and reports what is wrong with the rest.
func (im Image[P]) checked() (Image[P], error) {
	e := im.extent()
	err := e.Pixels(len(im.Pix))
	im.Channels, im.Stride = e.Channels, e.Stride
	return im, err
}
