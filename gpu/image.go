package gpu

import (
	"io"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/gpu/internal/devmem"
	"github.com/boxsum/boxsum/gpu/internal/driver"
	"github.com/boxsum/boxsum/gpu/internal/inside"
	"github.com/boxsum/boxsum/internal/raster"
)

// An Image holds pixels on a device: a batch of Count images of the same size.
type Image[P boxsum.Pixel] struct{ holder }

// A holder is the array of images or of tables, which package interop reaches too.
type holder = inside.Array

// NewImage allocates device memory for count images of the given size. Zero channels
// means one. The contents are undefined until [Image.Set] is called.
func NewImage[P boxsum.Pixel](d *Device, width, height, channels, count int) (*Image[P], error) {
	return wrapped[Image[P]](d.mem().Make(devmem.Array{Element: raster.TypeNamed[P](), Width: width, Height: height, Channels: channels, Count: count}))
}

// Upload copies images to a device. There must be at least one, and all must have the same
// size and number of channels.
func Upload[P boxsum.Pixel](d *Device, images ...boxsum.Image[P]) (*Image[P], error) {
	if err := alike(images); err != nil { // check before allocating memory for them
		return nil, err
	}
	first := images[0]
	return filled(nil, func() (*Image[P], error) {
		return NewImage[P](d, first.Width, first.Height, first.Channels, len(images))
	}, func(im *Image[P]) error {
		for i, src := range images {
			if err := im.Set(i, src); err != nil {
				return err
			}
		}
		return nil
	})
}

// alike returns an error if images are invalid, differ in size, or if there are none.
func alike[P boxsum.Pixel](images []boxsum.Image[P]) error {
	if len(images) == 0 {
		return raster.Invalid("nil image")
	}
	first := images[0]
	like := devmem.Array{Element: raster.TypeNamed[P](), Width: first.Width, Height: first.Height, Channels: max(first.Channels, 1), Count: len(images)}
	for _, src := range images {
		if _, err := checkedLike(&like, src); err != nil {
			return err
		}
	}
	return nil
}

// Set copies src into image i of the batch. src must have the size and the number of channels
// of the batch. Set returns an error that wraps [boxsum.ErrInvalid] if i is out of range.
func (im *Image[P]) Set(i int, src boxsum.Image[P]) error {
	a := im.inner()
	if a.Device == nil {
		return errNoImage
	}
	src, err := checkedLike(a, src)
	if err != nil {
		return err
	}
	if err := a.CheckIndex(i); err != nil {
		return err
	}
	return using(a, func() error { return a.CopyIn(i, devmem.HostRows(src.Pix, src.Stride)) })
}

// Download copies image i of the batch to a new image in host memory. It returns an error that
// wraps [boxsum.ErrInvalid] if i is out of range.
func (im *Image[P]) Download(i int) (boxsum.Image[P], error) {
	a := im.inner()
	if a.Device == nil {
		return boxsum.Image[P]{}, errNoImage
	}
	dst, err := boxsum.NewImage[P](a.Width, a.Height, a.Channels)
	if err == nil {
		err = im.DownloadInto(i, dst)
	}
	if err != nil {
		return boxsum.Image[P]{}, err
	}
	return dst, nil
}

// DownloadInto copies image i of the batch into dst, which must have the size and the number
// of channels of the batch.
func (im *Image[P]) DownloadInto(i int, dst boxsum.Image[P]) error {
	a := im.inner()
	if a.Device == nil {
		return errNoImage
	}
	dst, err := checkedLike(a, dst)
	if err != nil {
		return err
	}
	if err := a.CheckIndex(i); err != nil {
		return err
	}
	return using(a, func() error {
		if a.Width == 0 || a.Height == 0 {
			return nil
		}
		return a.CopyOut(i, devmem.HostRows(dst.Pix, dst.Stride))
	})
}

var (
	errNoImage = raster.Invalid("nil image or volume (use NewImage, NewVolume, Upload or UploadVolume)")
	errNoTable = raster.Invalid("nil table (use a New or Integrate function)")
)

// checkedLike is like checkedImage for an image that must have the size of the others.
func checkedLike[P boxsum.Pixel](others *devmem.Array, im boxsum.Image[P]) (boxsum.Image[P], error) {
	im, err := checkedImage(im)
	if err == nil && (im.Width != others.Width || im.Height != others.Height || im.Channels != others.Channels) {
		err = raster.Invalid("image is %d×%d with %d channels, want %d×%d with %d like the images on the device", im.Width, im.Height, im.Channels, others.Width, others.Height, others.Channels)
	}
	return im, err
}

// checkLike returns an error unless an array, which is called what, is on the device of src and has its size.
func checkLike(what string, a, src *devmem.Array) error {
	switch {
	case a.Device == nil:
		return errNoImage
	case a.Device != src.Device:
		from, to := a.Device.About, src.Device.About
		return raster.Invalid("%s is on %v:%d and the source on %v:%d, want the same Device", what, from.Kind, from.Index, to.Kind, to.Index)
	case a.Width != src.Width || a.Height != src.Height || a.Channels != src.Channels || a.Count != src.Count:
		return raster.Invalid("%s is %s, want the size of the source, %s", what, a, src)
	}
	return nil
}

// using calls f on the device of an array. The array stays open until f returns.
func using(a *devmem.Array, f func() error) error {
	return a.Device.Use(func() error {
		if err := a.CheckOpen(); err != nil {
			return err
		}
		return f()
	})
}

// filled allocates a value on a device, fills it, and closes it if that fails. If wrong is not
// nil, it returns wrong without allocating anything.
func filled[T io.Closer](wrong error, take func() (T, error), fill func(T) error) (t T, err error) {
	if wrong != nil {
		return t, wrong
	}
	made, err := take()
	if err != nil {
		return t, err
	}
	if err := fill(made); err != nil {
		return t, driver.FirstError(err, made.Close())
	}
	return made, nil
}
