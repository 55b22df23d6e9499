package boxsum

import (
	"errors"
	"fmt"
	"math"
)

// Pixel is what an [Image] holds.
type Pixel interface {
	uint8 | uint16 | uint32 | int16 | int32 | float32 | float64
}

// Sum is what a [Table] holds. Integer sums wrap, and a box whose own sum
// fits the type is exact even where the table around it has wrapped.
type Sum interface {
	uint32 | uint64 | int64 | float32 | float64
}

var (
	// ErrInvalid is wrapped by every error about a number that does not fit:
	// dimensions, strides, channels, buffers, memory, workers.
	ErrInvalid = errors.New("invalid")
	// ErrTypes is wrapped by the error about a pair of pixel and sum types
	// that makes no table.
	ErrTypes = errors.New("unsupported types")
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
	channels = orOne(channels)
	n, err := elements(width, height, channels)
	if err != nil {
		return Image[P]{}, err
	}
	pix, err := allocate[P](n)
	if err != nil {
		return Image[P]{}, err
	}
	return Image[P]{Pix: pix, Stride: width * channels, Width: width, Height: height, Channels: channels}, nil
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

// orOne is the number of channels that zero stands for.
func orOne(channels int) int {
	if channels == 0 {
		return 1
	}
	return channels
}

// checked fills in the defaults and says what is wrong with the rest.
func (im Image[P]) checked() (Image[P], error) {
	im.Channels = orOne(im.Channels)
	if _, err := elements(im.Width, im.Height, im.Channels); err != nil {
		return im, err
	}
	row := im.Width * im.Channels
	if im.Stride == 0 {
		im.Stride = row
	}
	return im, fits("image", len(im.Pix), im.Stride, row, im.Height)
}

// elements is width*height*channels, or an error where that is negative or
// more than a slice can hold.
func elements(width, height, channels int) (int, error) {
	if width < 0 || height < 0 || channels < 1 {
		return 0, fmt.Errorf("boxsum: %w: %d×%d pixels of %d channels: none may be negative", ErrInvalid, width, height, channels)
	}
	n := 1
	for _, d := range []int{width, channels, height} {
		if d != 0 && n > maxElements/d {
			return 0, fmt.Errorf("boxsum: %w: %d×%d with %d channels is more than memory can hold", ErrInvalid, width, height, channels)
		}
		n *= d
	}
	return n, nil
}

// maxElements keeps every byte offset of the widest element inside an int.
const maxElements = math.MaxInt / 16

// fits says whether rows of row elements, stride apart, fit in have elements.
func fits(what string, have, stride, row, rows int) error {
	if stride < 0 || rows > 1 && stride < row {
		return fmt.Errorf("boxsum: %w: %s stride %d is shorter than a row of %d", ErrInvalid, what, stride, row)
	}
	if rows == 0 || row == 0 {
		return nil
	}
	if rows > 1 && stride > maxElements/(rows-1) {
		return fmt.Errorf("boxsum: %w: %s stride %d is too large for %d rows", ErrInvalid, what, stride, rows)
	}
	if need := (rows-1)*stride + row; have < need {
		return fmt.Errorf("boxsum: %w: %s needs %d elements, its buffer has %d", ErrInvalid, what, need, have)
	}
	return nil
}
