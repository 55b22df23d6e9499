package match

import (
	"context"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/matching"
)

// Pixel is a constraint that permits the pixel types of images and templates.
type Pixel interface {
	uint8 | uint16 | float32 | float64
}

// A Method is a formula that scores how well the template matches the image at a position.
type Method uint8

const (
	// ZNCC is zero-mean normalized cross-correlation. It ignores brightness and contrast.
	ZNCC Method = iota
	// NCC is normalized cross-correlation. It ignores exposure.
	NCC
	// SSD is the sum of squared differences. The lowest score is the best. It does not
	// ignore differences in brightness, contrast or exposure.
	SSD
)

// String returns the method's name in lower case.
func (m Method) String() string { return matching.Method(m).String() }

// ParseMethod returns the method with the given name: zncc, ncc or ssd. It returns an error
// that wraps [boxsum.ErrInvalid] for any other name.
func ParseMethod(name string) (Method, error) {
	m, err := matching.ParseMethod(name)
	return Method(m), err
}

// Better reports whether score a is better than b: higher, or lower for SSD. NaN is worse
// than any number.
func (m Method) Better(a, b float32) bool {
	if b != b {
		return a == a
	}
	if m == SSD {
		return a < b
	}
	return a > b
}

// Options configures matching. Nil and the zero value match without a mask and select the
// best settings for the machine.
type Options struct {
	// Mask selects the pixels of the template that count: those where it is not zero. It
	// must have the size of the template and one channel. The zero Image means no mask.
	Mask boxsum.Image[uint8]

	// On is the device to use; nil selects the processor. See [boxsum.Options.On]. Images
	// stay in host memory. Devices support one-channel uint8 images without a mask and
	// templates of up to 66051 pixels, and return an error for anything else. Their time is
	// proportional to the size of the template. SSD scores are bit-identical to those of the
	// processor; ZNCC and NCC scores are computed from exact sums and rounded to float32.
	// OpenCL devices must support float64. The rows of the image are divided among several
	// devices, and into bands if a device has too little memory.
	On boxsum.Device

	Workers  int                // maximum number of goroutines; 0 means GOMAXPROCS
	Level    boxsum.Level       // instruction set; the zero Level selects the best
	Context  context.Context    // canceling it stops the work; may be nil
	Progress func(done float64) // called with the fraction of the work that is done; may be nil
}

// set sets the mask and the options of a job.
func (o *Options) set(j *matching.Job) {
	if m := &o.Mask; m.Width != 0 || m.Height != 0 || m.Pix != nil {
		setImage(&j.Mask, m)
	}
	to := &j.Options
	to.On, to.Workers, to.Level, to.Context, to.Progress = o.On, o.Workers, o.Level.String(), o.Context, o.Progress
}
