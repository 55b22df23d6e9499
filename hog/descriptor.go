package hog

import (
	"image"
	"math"
	"slices"

	"github.com/boxsum/boxsum/internal/kernel/gradients"
	"github.com/boxsum/boxsum/internal/raster"
)

// A Config describes histograms and the detector that uses them. A field that is zero has
// its default value, which is that of OpenCV's HOGDescriptor.
type Config struct {
	Window image.Point // size of a window in pixels; zero means 64×128
	Block  image.Point // size of a block, whose cells are normalized together, in pixels; zero means 16×16
	Stride image.Point // distance from one block to the next, in pixels; zero means 8×8
	Cell   image.Point // size of a cell in pixels, each with a histogram of its own; zero means 8×8
	Bins   int         // number of bins of a histogram; zero means 9
	// Signed distinguishes gradients of opposite directions: bins cover 360° instead of
	// 180°.
	Signed bool
	// Linear computes gradients of the pixels themselves instead of their square roots.
	Linear bool
	// Sigma is the standard deviation of the Gaussian that weights the pixels of a block; 0
	// means (Block.X+Block.Y)/8.
	Sigma float64
	// Clip is the largest value allowed in a normalized block, which is then normalized
	// again (L2-Hys); 0 means 0.2.
	Clip float64
	// Levels is the maximum number of scales that Detect searches; 0 means 64.
	Levels int
	// Coefficients holds the weights of a linear classifier: one for each value of a
	// descriptor and, optionally, a constant that is added to the score. Detect and Scores
	// require them.
	Coefficients []float32
}

// Defaults for zero values.
const (
	usualBins   = 9
	usualClip   = 0.2
	usualLevels = 64
)

// Limits that keep products of sizes far from overflow.
const (
	maxWindow  = 1 << 12
	maxBins    = 1 << 8  // a byte holds a bin
	maxBlock   = 1 << 18 // pixels in a block
	maxNumbers = 1 << 24 // in a descriptor
	maxLevels  = 1 << 12
)

// A Descriptor computes histograms of oriented gradients. It is immutable and safe for
// concurrent use.
type Descriptor struct {
	config Config
	cells  image.Point // in a block
	blocks image.Point // in a window
	length int         // of a block's histograms
	bias   float64

	clip       float32
	directions *gradients.Bins
	pixels     []gradients.Pixel
	roots      [256]float32 // of bytes, or the bytes themselves if Linear
}

// New returns a descriptor with the given configuration. A block must consist of whole
// cells and fit in the window, and the stride must divide the size of the window minus that
// of the block. New returns an error if they do not, if another field is out of range, or
// if the number of coefficients is none of 0, [Descriptor.Size], and [Descriptor.Size] plus
// one for a constant.
func New(c Config) (*Descriptor, error) {
	for _, d := range []struct {
		to    *image.Point
		usual image.Point
	}{{&c.Window, image.Pt(64, 128)}, {&c.Block, image.Pt(16, 16)}, {&c.Stride, image.Pt(8, 8)}, {&c.Cell, image.Pt(8, 8)}} {
		if *d.to == (image.Point{}) {
			*d.to = d.usual
		}
	}
	if c.Bins == 0 {
		c.Bins = usualBins
	}
	if c.Clip == 0 {
		c.Clip = usualClip
	}
	if c.Levels == 0 {
		c.Levels = usualLevels
	}
	if c.Sigma == 0 {
		c.Sigma = float64(c.Block.X+c.Block.Y) / 8
	}
	if err := c.check(); err != nil {
		return nil, err
	}
	d := &Descriptor{config: c, clip: float32(c.Clip)}
	d.cells = image.Pt(c.Block.X/c.Cell.X, c.Block.Y/c.Cell.Y)
	d.blocks = image.Pt((c.Window.X-c.Block.X)/c.Stride.X+1, (c.Window.Y-c.Block.Y)/c.Stride.Y+1)
	d.length = d.cells.X * d.cells.Y * c.Bins
	// Each factor is at most 2^24, so the product fits.
	if size := d.blocks.X * d.blocks.Y * d.length; size > maxNumbers {
		return nil, raster.Invalid("descriptor has %d numbers, want at most %d", size, maxNumbers)
	}
	if n := len(c.Coefficients); n != 0 && n != d.Size() && n != d.Size()+1 {
		return nil, raster.Invalid("number of coefficients is %d, want %d, or %d with a constant", n, d.Size(), d.Size()+1)
	}
	d.config.Coefficients = slices.Clone(c.Coefficients)
	for i, v := range c.Coefficients {
		if v-v != 0 {
			return nil, raster.Invalid("coefficient %d is %v, want a finite number", i, v)
		}
	}
	if len(c.Coefficients) > d.Size() {
		d.bias = float64(c.Coefficients[d.Size()])
	}
	d.directions = gradients.NewBins(c.Bins, c.Signed)
	for i := range d.roots {
		if d.roots[i] = float32(i); !c.Linear {
			d.roots[i] = float32(math.Sqrt(float64(i)))
		}
	}
	d.pixels = blockPixels(&c)
	return d, nil
}

// check returns an error if the configuration is invalid.
func (c *Config) check() error {
	in := func(p image.Point, most int) bool { return p.X >= 1 && p.Y >= 1 && p.X <= most && p.Y <= most }
	switch {
	case !in(c.Window, maxWindow):
		return raster.Invalid("window is %d×%d, want sides from 1 to %d", c.Window.X, c.Window.Y, maxWindow)
	case !in(c.Block, maxWindow) || c.Block.X > c.Window.X || c.Block.Y > c.Window.Y:
		return raster.Invalid("block is %d×%d, want at least 1×1 and at most the window, %d×%d", c.Block.X, c.Block.Y, c.Window.X, c.Window.Y)
	case c.Block.X*c.Block.Y > maxBlock:
		return raster.Invalid("block is %d×%d, want at most %d pixels", c.Block.X, c.Block.Y, maxBlock)
	case !in(c.Stride, maxWindow):
		return raster.Invalid("block stride is %d×%d, want sides from 1 to %d", c.Stride.X, c.Stride.Y, maxWindow)
	case !in(c.Cell, maxWindow) || c.Block.X%c.Cell.X != 0 || c.Block.Y%c.Cell.Y != 0:
		return raster.Invalid("cell is %d×%d, want sizes that divide the block, %d×%d", c.Cell.X, c.Cell.Y, c.Block.X, c.Block.Y)
	case (c.Window.X-c.Block.X)%c.Stride.X != 0 || (c.Window.Y-c.Block.Y)%c.Stride.Y != 0:
		return raster.Invalid("block stride is %d×%d, want sizes that divide the window minus the block, %d×%d",
			c.Stride.X, c.Stride.Y, c.Window.X-c.Block.X, c.Window.Y-c.Block.Y)
	case c.Bins < 1 || c.Bins > maxBins:
		return raster.Invalid("bins is %d, want 1 to %d", c.Bins, maxBins)
	case !(c.Sigma > 0 && float32(c.Sigma) > 0 && c.Sigma <= math.MaxFloat32):
		return raster.Invalid("sigma is %v, want more than 0, or 0 for an eighth of the block's width plus height", c.Sigma)
	case !(c.Clip > 0 && float32(c.Clip) > 0 && c.Clip <= math.MaxFloat32):
		return raster.Invalid("clip is %v, want more than 0, such as 0.2", c.Clip)
	case c.Levels < 1 || c.Levels > maxLevels:
		return raster.Invalid("levels is %d, want 1 to %d", c.Levels, maxLevels)
	}
	return nil
}

// Config returns the configuration with its defaults filled in.
func (d *Descriptor) Config() Config {
	if d == nil {
		return Config{}
	}
	c := d.config
	c.Coefficients = slices.Clone(c.Coefficients)
	return c
}

// Size returns the length of a descriptor: the number of values that describe one window.
func (d *Descriptor) Size() int {
	if d == nil {
		return 0
	}
	return d.blocks.X * d.blocks.Y * d.length
}

// valid returns an error for nil and the zero Descriptor.
func (d *Descriptor) valid() error {
	if d == nil || d.length == 0 {
		return raster.Invalid("nil or empty Descriptor (use New or Load)")
	}
	return nil
}

// classifies returns an error if the descriptor has no coefficients.
func (d *Descriptor) classifies() error {
	if err := d.valid(); err != nil {
		return err
	}
	if len(d.config.Coefficients) == 0 {
		return raster.Invalid("the descriptor has no coefficients, which detection needs")
	}
	return nil
}
