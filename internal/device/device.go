// Package device is the seam between the packages that compute on processors and package gpu:
// what users set as Options.On, and jobs of plain data that a device does instead of the
// processor. Whoever hands over a job has checked its types, sizes and memory.
package device

import (
	"context"

	"github.com/boxsum/boxsum/internal/raster"
)

// A Device is what users set as Options.On: a *gpu.Device.
type Device interface {
	Wait() error
	Close() error
}

// A Runner does jobs on an open device, from host memory to host memory. Its methods return
// when the results are there.
type Runner interface {
	Tables(*Tables) error
	Histogram(*Histogram) error
	Rotated(*Rotated) error
	Filter(*Filter) error
	Threshold(*Threshold) error
}

// open returns the Runner of a device; nil until package gpu registers.
var open func(Device) (Runner, error)

// Register sets how devices are opened. Package gpu calls it when it is initialized.
func Register(f func(Device) (Runner, error)) { open = f }

// Open returns the Runner of a device that is not nil. A device that is closed, or that
// package gpu has not made, is an error.
func Open(d Device) (Runner, error) {
	if open == nil { // nobody has imported package gpu
		return nil, raster.Invalid("Options.On is a %T, want a *gpu.Device", d)
	}
	return open(d)
}

// Options say how to do a job.
type Options struct {
	Portable bool               // use the kernels that run everywhere
	BandRows int                // rows or slices to send at a time; 0 leaves it to the device
	Context  context.Context    // nil is never done
	Progress func(done float64) // nil if nobody asks
}

// A Kind is a kind of table.
type Kind uint8

// The kinds of tables that a [Tables] job makes.
const (
	Upright Kind = iota // sums of boxes from the origin
	Tilted              // sums between the two diagonals above an entry
	Volume              // upright in three dimensions
)

// Tables is the job of making the table of an image or a volume, and that of its squares.
type Tables struct {
	Kind          Kind
	Src           raster.Array
	Sums, Squares raster.Array // Squares has no type if there are none
	Offset        float32      // subtracted from every pixel before it is summed, and from floats before they are squared
	Options       Options
}

// Histogram is the job of making an integral histogram of 32-bit counts, bins innermost.
type Histogram struct {
	Src     raster.Array
	Counts  []byte // without gaps
	Range   Range
	Options Options
}

// A Range cuts values into bins, as the type of that name in internal/bins does.
type Range struct {
	N         int
	Low, High float64
	Clamp     bool
	Single    bool
}

// Rotated is the job of making a table along the lines of a rotation.
type Rotated struct {
	Src  raster.Array
	Sum  raster.Type
	A, B int // the rotation in lowest terms, as rotated.Rotation has it
	// Fill takes the result. It calls sums from several goroutines: sums writes the sums of
	// all channels over boxes of cells, each c0, r0, c1, r1.
	Fill    func(sums func(dst []byte, boxes [][4]int))
	Options Options
}

// A Window is the neighborhood of a pixel, as internal/window has it.
type Window struct {
	Left, Right, Up, Down int   // pixels on each side
	Border                uint8 // see window.Border
	Value                 float64
}

// Filter is the job of computing the mean of the window around every pixel, its standard
// deviation, or both. Means of the type of the pixels are rounded, others are floats.
type Filter struct {
	Src       raster.Array
	Mean, Dev raster.Array // one of them may have no type; neither lies in the memory of Src
	Window    Window
	Options   Options
}

// Threshold is the job of binarizing an image of one channel by Sauvola's rule: a pixel is 0
// if it does not exceed mean·(1 + K·(deviation·InverseR − 1)) of the window around it, and
// 255 otherwise.
type Threshold struct {
	Src, Dst    raster.Array // Dst has bytes and does not lie in the memory of Src
	Window      Window
	K, InverseR float64
	Options     Options
}
