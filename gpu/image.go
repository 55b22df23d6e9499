package gpu

import (
	"fmt"

	"github.com/boxsum/boxsum"
)

// An Image is pixels on a device: a batch of Count images of the same size.
type Image[P boxsum.Pixel] struct{ array }

// NewImage takes device memory for count images of this size; zero channels
// stand for one. What they hold is undefined until [Image.Set].
func NewImage[P boxsum.Pixel](d *Device, width, height, channels, count int) (*Image[P], error) {
	if err := d.enter(); err != nil {
		return nil, err
	}
	defer d.leave()
	a, err := d.newArray(elementOf[P](), width, height, channels, count, 0)
	if err != nil {
		return nil, err
	}
	return &Image[P]{a}, nil
}

// Upload copies images, all of one size, to a device.
func Upload[P boxsum.Pixel](d *Device, images ...boxsum.Image[P]) (*Image[P], error) {
	if len(images) == 0 {
		return nil, fmt.Errorf("gpu: %w: no image to upload", boxsum.ErrInvalid)
	}
	first := images[0]
	like := array{element: elementOf[P](), width: first.Width, height: first.Height, channels: max(first.Channels, 1), count: len(images)}
	for _, src := range images { // before memory is taken for them
		if _, err := goesAmong(&like, src); err != nil {
			return nil, err
		}
	}
	im, err := NewImage[P](d, first.Width, first.Height, first.Channels, len(images))
	if err != nil {
		return nil, err
	}
	for i, src := range images {
		if err := im.Set(i, src); err != nil {
			return nil, firstError(err, im.Close())
		}
	}
	return im, nil
}

// Set copies src into image i of the batch.
func (im *Image[P]) Set(i int, src boxsum.Image[P]) error {
	if im == nil || im.device == nil {
		return errNoImage
	}
	src, err := goesAmong(&im.array, src)
	if err != nil {
		return err
	}
	if err := im.index(i); err != nil {
		return err
	}
	return im.device.use(func() error {
		if err := im.open(); err != nil {
			return err
		}
		return im.copyIn(i, hostRows(src.Pix, src.Stride))
	})
}

// Close frees the memory on the device, after the work that uses it. Closing
// again, or after the device was closed, does nothing.
func (im *Image[P]) Close() error {
	if im == nil {
		return nil
	}
	return im.close()
}

var (
	errNoImage = fmt.Errorf("gpu: %w: no image: make one with NewImage or Upload", boxsum.ErrInvalid)
	errNoTable = fmt.Errorf("gpu: %w: no table: make one with NewTable or Integrate", boxsum.ErrInvalid)
)

// checkedImage fills in what zeros stand for and says what is wrong with the
// rest.
func checkedImage[P boxsum.Pixel](im boxsum.Image[P]) (boxsum.Image[P], error) {
	if im.Channels == 0 {
		im.Channels = 1
	}
	whole := array{element: elementOf[P](), width: im.Width, height: im.Height, channels: im.Channels, count: 1}
	if _, err := whole.lay(); err != nil {
		return im, err
	}
	row := im.Width * im.Channels
	if im.Stride == 0 {
		im.Stride = row
	}
	return im, fits("image", len(im.Pix), im.Stride, row, im.Height)
}

// goesAmong is checkedImage for one that must have the size of others.
func goesAmong[P boxsum.Pixel](others *array, im boxsum.Image[P]) (boxsum.Image[P], error) {
	im, err := checkedImage(im)
	if err == nil && (im.Width != others.width || im.Height != others.height || im.Channels != others.channels) {
		err = fmt.Errorf("gpu: %w: an image of %d×%d pixels with %d channels does not go among %s",
			boxsum.ErrInvalid, im.Width, im.Height, im.Channels, others)
	}
	return im, err
}

// fits says whether rows of row elements, stride apart, lie in have elements.
func fits(what string, have, stride, row, rows int) error {
	if stride < 0 || rows > 1 && stride < row {
		return fmt.Errorf("gpu: %w: %s stride %d is shorter than a row of %d", boxsum.ErrInvalid, what, stride, row)
	}
	if rows == 0 || row == 0 {
		return nil
	}
	need, ok := product(int64(rows-1), int64(stride))
	if !ok || int64(have) < need || int64(have)-need < int64(row) {
		return fmt.Errorf("gpu: %w: %s of %d rows of %d elements, %d apart, does not fit its buffer of %d",
			boxsum.ErrInvalid, what, rows, row, stride, have)
	}
	return nil
}
