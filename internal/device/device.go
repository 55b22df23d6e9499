// Package device connects the packages that compute on processors with package gpu: it
// defines the type of Options.On, and the jobs, plain data, that a device runs instead of
// the processor. Callers check types, sizes and memory before they hand over a job.
package device

import (
	"context"

	"github.com/boxsum/boxsum/internal/cascade"
	"github.com/boxsum/boxsum/internal/oriented"
	"github.com/boxsum/boxsum/internal/raster"
)

// A Device is the value that users set as Options.On: a *gpu.Device.
type Device interface {
	Wait() error
	Close() error
	Err() error
	Sealed
}

// Sealed is the part of a Device that only types with a [Handle] have.
type Sealed interface{ runner() Runner }

// A Handle makes the type that embeds it a [Device].
type Handle struct{ run Runner }

// NewHandle returns the handle of a device that runs jobs.
func NewHandle(r Runner) Handle { return Handle{r} }

func (h *Handle) runner() Runner { return h.run }

// A Runner runs jobs on an open device, from host memory to host memory. Its methods
// return when the results are complete.
type Runner interface {
	Tables(*Tables) error
	Histogram(*Histogram) error
	Rotated(*Rotated) error
	Filter(*Filter) error
	Threshold(*Threshold) error
	Match(*Match) error
	Detect(*Detect) error
	SSIM(*SSIM) error
	DetectHOG(*DetectHOG) error
	CLAHE(*CLAHE) error
	Rank(*Rank) error
	Denoise(*Denoise) error

	// Stager returns the part of the device that measurements use.
	Stager() Stager

	// Resident returns the images that are on the device already. A runner that has some
	// only detects objects, in these images.
	Resident() Resident
}

// Resident describes images of bytes in the memory of a device. Count is 0 if there are none.
type Resident struct{ Width, Height, Channels, Count int }

// Open returns the Runner of a device, or an error if the device cannot be used. A nil
// *gpu.Device has an error, but no handle.
func Open(d Device) (Runner, error) {
	if err := d.Err(); err != nil {
		return nil, err
	}
	return d.runner(), nil
}

// Options configures a job.
type Options struct {
	Portable bool               // use the kernels that run everywhere
	BandRows int                // rows or slices to send at a time; 0 leaves the choice to the device
	Context  context.Context    // nil never cancels
	Progress func(done float64) // may be nil
}

// A Kind is a kind of table.
type Kind uint8

// The kinds of tables that a [Tables] job makes.
const (
	Upright Kind = iota // sums of boxes from the origin
	Tilted              // sums between the two diagonals above an entry
	Volume              // upright in three dimensions
)

// Tables is a job that makes the table of an image or a volume, and optionally that of its squares.
type Tables struct {
	Kind          Kind
	Src           raster.Array
	Sums, Squares raster.Array // Squares has no type if there is no table of squares
	Offset        float32      // subtracted from every pixel before it is summed, and from floats before they are squared
	Options       Options
}

// Histogram is a job that makes an integral histogram of 32-bit counts, bins innermost.
type Histogram struct {
	Src     raster.Array
	Counts  []byte // without gaps
	Range   Range
	Options Options
}

// A Range maps values to bins, like the type of that name in internal/bins.
type Range struct {
	N         int
	Low, High float64
	Clamp     bool
	Single    bool
}

// Rotated is a job that makes a table along the lines of a rotation.
type Rotated struct {
	Src     raster.Array
	Sum     raster.Type
	A, B    int // the rotation in lowest terms, see rotated.Rotation
	Dst     RotatedTable
	Options Options
}

// A RotatedTable is the memory of a rotated.Table. It has the sums of all pixels up to the two
// lines of the rotation that cross in a cell.
type RotatedTable struct {
	Corners       raster.Array // for the cell of every pixel of the image
	Empty         raster.Array // for the cell above every run of pixels of a line, in each line that steps; no type if not needed
	Rows, Columns []byte       // at the ends of all rows and columns
}

// A Window is the neighborhood of a pixel; see package internal/window.
type Window struct {
	Left, Right, Up, Down int   // pixels on each side
	Border                uint8 // see window.Border
	Value                 float64
}

// Filter is a job that computes the mean of the window around every pixel, its standard
// deviation, or both. Means of the pixel type are rounded; others are floats.
type Filter struct {
	Src       raster.Array
	Mean, Dev raster.Array // one of them may have no type; neither may overlap Src
	Window    Window
	Options   Options
}

// Threshold is a job that binarizes an image of one channel by Sauvola's rule: a pixel is 0
// if it does not exceed mean·(1 + K·(deviation·InverseR − 1)) of the window around it, and
// 255 otherwise.
type Threshold struct {
	Src, Dst    raster.Array // Dst has bytes and must not overlap Src
	Window      Window
	K, InverseR float64
	Options     Options
}

// Match is the job of scoring all positions of a template in an image of as many channels.
type Match struct {
	Src, Template raster.Array
	Scores        raster.Array // float32, does not lie in the memory of the images
	Method        uint8        // see match.Method
	Options       Options
}

// Detect is the job of finding the windows that pass a cascade in one or more images of one
// size.
type Detect struct {
	Images  []raster.Array // of bytes, with 1, 3 or 4 channels; nil for those that are on the device
	Search  *cascade.Search
	Found   [][]cascade.Found // set to the windows of each image, in any order
	Options Options
}

// SSIM is the job of comparing two images of integers by the structural similarity of their windows, which have
// Size pixels a side and pixels mirrored at the edges.
type SSIM struct {
	A, B           raster.Array
	Map            raster.Array // of floats; it has no type if no map is wanted
	Size           int
	C1, C2, Factor float64   // the constants of SSIM times the square of a window's pixels, and the factor of variances
	Sums           []float64 // receives the sums of scores by channel and block, see package quality
	Options        Options
}

// DetectHOG is the job of finding the windows whose histograms of oriented gradients have a
// sufficient score, in one or more images of one size.
type DetectHOG struct {
	Images  []raster.Array // as for [Detect]
	Search  *oriented.Search
	Found   [][]oriented.Found // set to the windows of each image, in any order
	Options Options
}

// CLAHE is the job of equalizing the contrast of an image of uint8 or uint16 by tiles; see package enhance.
type CLAHE struct {
	Src, Dst              raster.Array // Dst may be Src
	Across, Down          int          // tiles
	TileWidth, TileHeight int
	Shift                 int // low bits of a pixel that are ignored
	Limit                 int // of a bin
	Options               Options
}

// A Statistic is what a [Rank] job computes from the pixels of a window.
type Statistic uint8

// The statistics of rank filters that devices support.
const (
	MeanStatistic Statistic = iota // rounded down
	PercentileStatistic
	EqualizeStatistic
)

// Rank is the job of computing a statistic of the window around every pixel of an image of uint8 or uint16. Windows are
// clipped.
type Rank struct {
	Src, Dst  raster.Array // they do not overlap
	Statistic Statistic
	Window    Window
	Fraction  float64 // of percentiles
	Options   Options
}

// Denoise is the job of denoising one of several frames of uint8 or uint16, of up to four channels, by non-local means;
// see package denoise.
type Denoise struct {
	Frames        []raster.Array // of one size
	Index         int            // of the frame to denoise
	Dst           raster.Array   // does not overlap the frames
	Patch, Search int            // how far they reach from their middle
	Absolute      bool           // distances of pixels are absolute values of differences, not squares
	Table         []uint32       // weights by distances of patches, in units of 2^Shift, the last for all greater ones
	Shift         uint
	Options       Options
}
