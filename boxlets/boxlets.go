// Package boxlets filters images with kernels that are weighted sums of boxes. The running time
// grows with the number of boxes and does not depend on their sizes:
//
//	edges, err := boxlets.Filter[float32](img, []boxlets.Box{
//		{Rectangle: image.Rect(-8, -8, 0, 9), Weight: -1},
//		{Rectangle: image.Rect(1, -8, 9, 9), Weight: 1},
//	}, nil)
//
// [DifferenceOfBoxes], [Octagons] and [Stars] return the kernels of CenSurE, and [FromKernel]
// represents any other kernel by boxes. [Hessian] responds to blobs, as in SURF; [Targets] marks
// what stands out from its surroundings in a radar image; and [Despeckle] removes speckle.
//
// The image is read once, row by row, and only the rows of its integral image that the current row
// of results needs are kept. Sums of integers are exact. Floats are summed in float64: the error of
// a sum over a box is about 1e-16 times the sum of the magnitudes of the pixels above and to the
// left of its lower right corner, counted from a few heights of the kernel above it. Results are
// bit-identical at every level and with any number of workers.
package boxlets

import (
	"cmp"
	"context"
	"image"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/filter"
	"github.com/boxsum/boxsum/internal/boxlets"
	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/internal/window"
)

// A Box is a rectangle of pixels, relative to the pixel whose result is computed, and the weight of
// their sum.
type Box struct {
	image.Rectangle
	Weight float64
}

// Options configures filters. Nil and the zero value select the border [filter.Reflect101] and the best settings for the machine.
type Options struct {
	// Border determines the pixels outside the image for Filter. With [filter.Clip], they count as 0.
	Border filter.Border
	Value  float64 // pixel value outside the image, for filter.Constant

	// Margin is the distance from the edge of the image within which results of Filter are set to 0.
	Margin int

	Workers  int                // maximum number of goroutines; 0 means GOMAXPROCS
	Level    boxsum.Level       // instruction set; the zero Level selects the best
	Context  context.Context    // canceling it stops the work; may be nil
	Progress func(done float64) // called with the fraction of the work that is done; may be nil
}

// Filter computes the kernel's response at every pixel, separately for each channel: the sums of the
// pixels in the boxes of kernel, multiplied by their weights and added up. The kernel must have 1 to
// 4096 boxes, none of them empty, and pixels must be finite.
func Filter[D filter.Float, P filter.Pixel](img boxsum.Image[P], kernel []Box, opt *Options) (boxsum.Image[D], error) {
	return computed[D](sums(&img, kernel, opt))
}

// FilterInto is like [Filter] but writes the result to dst, which must have the size of img and
// share no memory with it. If it returns an error, the contents of dst are undefined.
func FilterInto[D filter.Float, P filter.Pixel](dst boxsum.Image[D], img boxsum.Image[P], kernel []Box, opt *Options) error {
	return into(dst, sums(&img, kernel, opt))
}

func sums[P filter.Pixel](img *boxsum.Image[P], kernel []Box, opt *Options) *boxlets.Job {
	j := jobOf(boxlets.Sums, img, opt)
	for _, b := range kernel {
		j.Boxes = append(j.Boxes, boxlets.Box(b))
	}
	return j
}

// Hessian returns the determinant of the Hessian matrix around every pixel, which is greatest in the
// middle of blobs whose radius is about sigma. As in SURF, boxes approximate the second derivatives
// of a Gaussian, whose standard deviation is about 0.4 times sigma. sigma must be from 1 to 4096, and
// pixels must be finite. The results are those of scikit-image's hessian_matrix_det, including pixels
// near the edge, where boxes are shifted into the image.
func Hessian[D filter.Float, P filter.Pixel](img boxsum.Image[P], sigma float64, opt *Options) (boxsum.Image[D], error) {
	j := jobOf(boxlets.Hessian, &img, opt)
	j.Sigma = sigma
	return computed[D](j)
}

// HessianInto is like [Hessian] but writes the result to dst, which must have the size of img and
// share no memory with it. If it returns an error, the contents of dst are undefined.
func HessianInto[D filter.Float, P filter.Pixel](dst boxsum.Image[D], img boxsum.Image[P], sigma float64, opt *Options) error {
	j := jobOf(boxlets.Hessian, &img, opt)
	j.Sigma = sigma
	return into(dst, j)
}

// Cells configures [Targets] by the cells that surround the cell under test. A cell is a pixel.
type Cells struct {
	// Guard is the distance in pixels up to which cells are ignored, because a target may extend over
	// them. Train is the width of the ring of cells around them, from which the noise is estimated.
	Guard, Train int

	// FalseAlarms is the probability that a cell that contains only noise is marked, such as 1e-6.
	FalseAlarms float64

	// Amplitudes declares that pixels are amplitudes, whose squares are exponentially distributed in
	// noise. Otherwise, pixels are powers, which are exponentially distributed themselves.
	Amplitudes bool
}

// Targets marks the pixels that stand out from the noise around them: 1 for targets and 0 for all
// others. It is a cell-averaging detector with a constant false alarm rate (CA-CFAR). Cells outside
// the image are ignored. Pixels must be finite.
func Targets[P filter.Pixel](img boxsum.Image[P], c Cells, opt *Options) (boxsum.Image[uint8], error) {
	return computed[uint8](targets(&img, c, opt))
}

// TargetsInto is like [Targets] but writes the result to dst, which must have the size of img and
// share no memory with it. If it returns an error, the contents of dst are undefined.
func TargetsInto[P filter.Pixel](dst boxsum.Image[uint8], img boxsum.Image[P], c Cells, opt *Options) error {
	return into(dst, targets(&img, c, opt))
}

func targets[P filter.Pixel](img *boxsum.Image[P], c Cells, opt *Options) *boxlets.Job {
	j := jobOf(boxlets.Targets, img, opt)
	j.Guard, j.Train, j.FalseAlarms, j.Amplitudes = c.Guard, c.Train, c.FalseAlarms, c.Amplitudes
	return j
}

// A Method is a filter that removes speckle, the noise of radar and ultrasound images. Where the
// window around a pixel varies no more than speckle does, the result is the mean of the window or,
// for Frost, a weighted mean close to it. Where the window varies more, the result stays closer to
// the pixel.
type Method uint8

const (
	// Lee is a weighted mean of the pixel and the mean of its window. The more the window varies, the
	// larger the weight of the pixel.
	Lee = Method(boxlets.Lee)
	// Kuan is like Lee with a smaller weight of the pixel.
	Kuan = Method(boxlets.Kuan)
	// Frost is a mean of the window whose weights decrease with the distance from the pixel, faster
	// where the window varies more.
	Frost = Method(boxlets.Frost)
	// GammaMAP is the most probable intensity if intensities have a gamma distribution.
	GammaMAP = Method(boxlets.GammaMAP)
)

// String returns the name of the method in lower case, such as "gamma-map".
func (m Method) String() string { return boxlets.Method(m).String() }

// ParseMethod returns the method with the given name, as returned by [Method.String]. It returns an
// error that wraps [boxsum.ErrInvalid] for any other name.
func ParseMethod(name string) (Method, error) {
	m, err := boxlets.ParseMethod(name)
	return Method(m), err
}

// Speckle configures [Despeckle]: the method, the window, and what is known of the speckle.
type Speckle struct {
	Method Method
	Size   int // side of the window, an odd number; 0 means 7

	// Looks is the number of independent looks that were averaged to make the image, which equals the
	// squared ratio of mean and standard deviation in a flat area. 0 means 1.
	Looks float64

	// Damping determines how fast the weights of Frost's filter decrease with the distance from the
	// pixel. At the distance d, the weight is exp(-Damping·v·d) for a window whose variance is v times
	// its squared mean. The distance is the greater of the horizontal and the vertical one, so pixels
	// of equal weight form a ring, which is the difference of two boxes. 0 means 2.
	Damping float64
}

// Despeckle removes speckle from an image of intensities, which must be finite and not negative.
// Windows end at the edges of the image.
func Despeckle[D filter.Float, P filter.Pixel](img boxsum.Image[P], s Speckle, opt *Options) (boxsum.Image[D], error) {
	return computed[D](speckle(&img, s, opt))
}

// DespeckleInto is like [Despeckle] but writes the result to dst, which must have the size of img
// and share no memory with it. If it returns an error, the contents of dst are undefined.
func DespeckleInto[D filter.Float, P filter.Pixel](dst boxsum.Image[D], img boxsum.Image[P], s Speckle, opt *Options) error {
	return into(dst, speckle(&img, s, opt))
}

func speckle[P filter.Pixel](img *boxsum.Image[P], s Speckle, opt *Options) *boxlets.Job {
	j := jobOf(boxlets.Speckle, img, opt)
	j.Method, j.Size, j.Looks, j.Damping = boxlets.Method(s.Method), cmp.Or(s.Size, 7), cmp.Or(s.Looks, 1), cmp.Or(s.Damping, 2)
	return j
}

// jobOf returns a job for an image.
func jobOf[P filter.Pixel](kind boxlets.Kind, img *boxsum.Image[P], opt *Options) *boxlets.Job {
	j := &boxlets.Job{Kind: kind}
	setImage(&j.Src, img)
	if o := opt; o != nil {
		j.Border, j.Value, j.Margin = window.Border(o.Border), o.Value, o.Margin
		j.Options.Workers, j.Options.Level, j.Options.Context, j.Options.Progress = o.Workers, o.Level.String(), o.Context, o.Progress
	}
	return j
}

// computed runs a job with a new image for its result.
func computed[D boxsum.Pixel](j *boxlets.Job) (dst boxsum.Image[D], err error) {
	if err = j.Check(); err != nil {
		return dst, err
	}
	if dst, err = boxsum.NewImage[D](j.Src.Width, j.Src.Height, j.Src.Channels); err != nil {
		return dst, err
	}
	setImage(&j.Dst, &dst)
	return raster.OrZero(dst, j.Run())
}

// into runs a job with an image for its result.
func into[D boxsum.Pixel](dst boxsum.Image[D], j *boxlets.Job) error {
	if err := j.Check(); err != nil {
		return err
	}
	setImage(&j.Dst, &dst)
	return j.Run()
}

// setImage sets a to the pixels of an image, unchecked.
func setImage[P boxsum.Pixel](a *raster.Array, img *boxsum.Image[P]) {
	raster.SetPlane(a, img.Pix, img.Width, img.Height, img.Channels, img.Stride)
}
