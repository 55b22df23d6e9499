// Package quality compares images whose types are data: what package quality does for typed images, and what
// the command and the Python library call themselves.
package quality

import (
	"math"
	"unsafe"

	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/internal/window"
)

// A Kind selects what a [Job] computes.
type Kind uint8

// The kinds, by the function of package quality.
const (
	SSIM Kind = iota
	LNCC
)

// The defaults of a job.
const (
	ssimWindow, lnccWindow = 7, 9
	// DefaultK1 and DefaultK2 are the usual constants of SSIM.
	DefaultK1, DefaultK2 = 0.01, 0.03
	// truncated is the number of standard deviations that the weights of a Gaussian cover, as in scikit-image.
	truncated = 3.5
	// maxSigma keeps the weights of a Gaussian few.
	maxSigma = 1000
	// leastVariance is the smallest variance, times the number of pixels, that LNCC divides by, as in VoxelMorph.
	leastVariance = 1e-5
)

// A Job is a comparison of two images or volumes: plain data. Its maker sets the kind, the images and what
// else the kind needs, calls Check before it allocates the map, and then Run. After that:
//
//   - both images have the same type, size and number of channels, and lie within their memory;
//   - Size is odd and, for SSIM, no side of the images is smaller;
//   - the map has the size of the images and overlaps neither of them nor the mask.
type Job struct {
	Kind    Kind
	A, B    raster.Array
	Map     raster.Array // it has no type if no map is wanted
	Mask    raster.Array // bytes, 0 for pixels that do not count; it has no type if there is no mask
	SkipNaN bool         // pixels that are NaN in either image do not count
	Solid   bool         // A and B are volumes, whose windows extend along all three axes
	Options engine.Options

	Size       int     // side of the window; 0 selects the default
	Sigma      float64 // above 0, a Gaussian of this deviation weights the window
	Population bool    // variances are divided by the number of pixels, not by one less
	Range      float64 // of the pixels; 0 selects that of their integer type
	K1, K2     float64 // the constants of SSIM
	Signed     bool    // LNCC: the correlation, not its square

	set      engine.Settings
	radius   int // of the window in which sums are taken
	masked   bool
	counting bool // only some pixels count
	cropped  bool // windows that reach beyond the images do not count in means
	// contrasts also averages the part of SSIM that does not depend on the means, for MS-SSIM.
	contrasts bool

	tally tally
}

// TakesPixels reports whether images with pixels of a type can be compared.
func TakesPixels(t raster.Type) bool {
	return t == raster.U8 || t == raster.U16 || t == raster.F32 || t == raster.F64
}

// checkImages validates two images or volumes, which must have the same type and size.
func checkImages(a, b *raster.Array) error {
	if !TakesPixels(a.Type) || a.Type != b.Type {
		return raster.Unsupported("pixels of %v and %v cannot be compared, want the same type: uint8, uint16, float32 or float64", a.Type, b.Type)
	}
	if err := a.Check(); err != nil {
		return err
	}
	if err := b.Check(); err != nil {
		return err
	}
	if err := b.Like(&a.Extent, "the second image"); err != nil {
		return err
	}
	if a.Width == 0 || a.Height == 0 || a.Depth == 0 || a.Channels == 0 {
		return raster.Invalid("the images are %v, want at least one pixel", a.Extent)
	}
	return nil
}

// checkMask validates a mask, which may be missing, for an image that has been checked.
func checkMask(m, a *raster.Array) (masked bool, err error) {
	if m.Type == 0 {
		return false, nil
	}
	if m.Type != raster.U8 {
		return false, raster.Unsupported("the mask has type %v, want uint8", m.Type)
	}
	if err := m.Check(); err != nil {
		return false, err
	}
	if m.Width != a.Width || m.Height != a.Height || m.Depth != a.Depth || m.Channels != 1 && m.Channels != a.Channels {
		return false, raster.Invalid("the mask is %v, want the size of the images, %v, with 1 channel or as many as they have", m.Extent, a.Extent)
	}
	return true, nil
}

// rangeOf returns the range of pixels: the given one, or that of an integer type for 0.
func rangeOf(given float64, t raster.Type) (float64, error) {
	switch {
	case given > 0 && given <= math.MaxFloat64:
		return given, nil
	case given != 0:
		return 0, raster.Invalid("data range is %v, want a finite number greater than 0", given)
	case t == raster.U8:
		return 1<<8 - 1, nil
	case t == raster.U16:
		return 1<<16 - 1, nil
	}
	return 0, raster.Invalid("data range is 0, want the difference between the greatest and the smallest possible value for pixels of %v", t)
}

// Check validates the options and the images, in this order, and fills in defaults.
func (j *Job) Check() (err error) {
	if j.set, err = j.Options.Check(); err != nil {
		return err
	}
	if err = checkImages(&j.A, &j.B); err != nil {
		return err
	}
	if j.masked, err = checkMask(&j.Mask, &j.A); err != nil {
		return err
	}
	j.SkipNaN = j.SkipNaN && j.A.Type.Float()
	j.counting = j.masked || j.SkipNaN
	if err = j.checkNumbers(); err != nil || j.set.On() == nil {
		return err
	}
	return j.checkDevice()
}

// checkNumbers validates the window and the constants.
func (j *Job) checkNumbers() (err error) {
	if err = j.checkWindow(); err != nil {
		return err
	}
	if j.Kind == LNCC {
		return nil
	}
	if j.Range, err = rangeOf(j.Range, j.A.Type); err != nil {
		return err
	}
	if !(j.K1 >= 0 && j.K2 >= 0 && j.K1 <= math.MaxFloat64 && j.K2 <= math.MaxFloat64) {
		return raster.Invalid("K1 is %v and K2 is %v, want finite numbers of 0 or more", j.K1, j.K2)
	}
	return nil
}

// checkWindow validates the size of the window, or the deviation of its weights.
func (j *Job) checkWindow() error {
	if !(j.Sigma >= 0 && j.Sigma <= maxSigma) {
		return raster.Invalid("sigma is %v, want 0 to %d", j.Sigma, maxSigma)
	}
	weighted := int(truncated*j.Sigma + 0.5)
	if j.Size == 0 {
		switch {
		case j.Sigma > 0:
			j.Size = 2*weighted + 1
		case j.Kind == LNCC:
			j.Size = lnccWindow
		default:
			j.Size = ssimWindow
		}
	}
	if j.Size < 1 || j.Size%2 == 0 || j.Size > 1<<15 {
		return raster.Invalid("window is %d, want an odd number from 1 to %d", j.Size, 1<<15-1)
	}
	if j.Size == 1 && !j.Population && j.Kind == SSIM {
		return raster.Invalid("window is 1, want at least 3 for sample variances")
	}
	j.radius, j.cropped = j.Size/2, j.Kind == SSIM
	if j.Sigma > 0 {
		j.radius = weighted
	}
	least := min(j.A.Width, j.A.Height)
	if j.Solid {
		least = min(least, j.A.Depth)
	}
	if j.cropped && j.Size > least {
		return raster.Invalid("window is %d, want at most %d, the smallest side of the images", j.Size, least)
	}
	return nil
}

// Run computes the score of a checked job, and its map, whose memory it checks first.
func (j *Job) Run() (score float64, err error) {
	scores, _, err := j.run()
	if err != nil {
		return 0, err
	}
	return meanOf(scores), nil
}

// run returns the mean score of each channel, and the mean contrast.
func (j *Job) run() (scores, contrasts []float64, err error) {
	if err := j.checkMap(); err != nil {
		return nil, nil, err
	}
	j.tally.aim(j)
	switch on := j.set.On(); {
	case on != nil:
		err = j.runOn(on)
	case j.integers():
		err = runIntegers(j)
	default:
		err = runFields(j)
	}
	if err != nil {
		return nil, nil, err
	}
	scores, contrasts = j.tally.means()
	return scores, contrasts, nil
}

func meanOf(v []float64) float64 {
	sum := 0.0
	for _, x := range v {
		sum += x
	}
	return sum / float64(len(v))
}

// checkMap validates the map.
func (j *Job) checkMap() error {
	m := &j.Map
	if m.Type == 0 {
		return nil
	}
	if !m.Type.Float() {
		return raster.Unsupported("map has type %v, want float32 or float64", m.Type)
	}
	if err := m.Check(); err != nil {
		return err
	}
	if m.Width != j.A.Width || m.Height != j.A.Height || m.Depth != j.A.Depth || m.Channels != j.A.Channels {
		return raster.Invalid("destination is %v, want %v", m.Extent, j.A.Extent)
	}
	for _, other := range []*raster.Array{&j.A, &j.B, &j.Mask} {
		if shareMemory(m.Data, other.Data) {
			return raster.Overlapping("the destination shares memory with an image or the mask")
		}
	}
	return nil
}

// shareMemory reports whether two buffers share memory.
func shareMemory(a, b []byte) bool {
	if len(a) == 0 || len(b) == 0 {
		return false
	}
	a0, b0 := uintptr(unsafe.Pointer(&a[0])), uintptr(unsafe.Pointer(&b[0]))
	return a0 < b0+uintptr(len(b)) && b0 < a0+uintptr(len(a))
}

// border returns the pixels that windows find beyond the images.
func (j *Job) border() window.Border {
	if j.Kind == LNCC {
		return window.Constant
	}
	return window.Reflect
}

// shape returns the window.
func (j *Job) shape() window.Shape {
	r := j.radius
	return window.Shape{Left: r, Right: r, Up: r, Down: r, Border: j.border()}
}

// pixels returns the number of pixels in a window of the nominal size.
func (j *Job) pixels() float64 {
	n := float64(j.Size) * float64(j.Size)
	if j.Solid {
		n *= float64(j.Size)
	}
	return n
}

// constants are what the scores of all windows depend on.
type constants struct {
	c1, c2 float64 // those of SSIM
	factor float64 // by which variances are multiplied for samples of the nominal number of pixels
	ox, oy float64 // subtracted from all pixels
}

func (j *Job) constants() (k constants) {
	k.c1, k.c2 = j.K1*j.Range, j.K2*j.Range
	k.c1, k.c2 = k.c1*k.c1, k.c2*k.c2
	k.factor = 1
	if n := j.pixels(); !j.Population {
		k.factor = n / (n - 1)
	}
	return k
}

// slice returns slice z of an image or a volume.
func slice(a *raster.Array, z int) raster.Array {
	s := *a
	if z > 0 {
		s.Data = a.From(z * a.SliceStride)
	}
	return s
}
