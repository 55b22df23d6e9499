package hog

import (
	"image"
	"math"
	"slices"

	"github.com/boxsum/boxsum/internal/raster"
)

// A Block is a rectangle in a window. It is divided into cells, whose histograms are normalized
// together.
type Block struct {
	Rect  image.Rectangle // relative to the window
	Cells image.Point     // columns and rows of cells; zero means 2×2
}

// A BoxConfig describes histograms that are read from a [Table], in blocks of any size and place
// (Zhu, Avidan, Yeh and Cheng, "Fast human detection using a cascade of histograms of oriented
// gradients", CVPR 2006). A field that is zero has its default value.
type BoxConfig struct {
	Window image.Point // size of a window in pixels; zero means 64×128
	// Blocks lists the blocks of a window. Nil means all blocks of 16×16 pixels whose coordinates are
	// multiples of 8, column by column, as in [Config].
	Blocks []Block
	Votes  Votes
	Clip   float64 // see [Config.Clip]
	// Coefficients holds the weights of a linear classifier: one for each value of a descriptor and,
	// optionally, a constant that is added to the score. AppendScores requires them.
	Coefficients []float32
}

// A BoxDescriptor computes histograms of oriented gradients from the tables of images. Unlike a
// [Descriptor], it does not weight the pixels of a block by a Gaussian, and the table interpolates
// votes before it sums them (see [Table]). Coefficients for one kind of descriptor do not suit the
// other. A BoxDescriptor is immutable.
type BoxDescriptor struct {
	config BoxConfig
	size   int
	bias   float64
}

// NewBoxes returns a descriptor with the given configuration. It returns an error if a field is
// out of range, if a block lies partly outside the window, or if the number of coefficients is
// none of 0, [BoxDescriptor.Size], and [BoxDescriptor.Size] plus one for a constant.
func NewBoxes(c BoxConfig) (*BoxDescriptor, error) {
	if c.Window == (image.Point{}) {
		c.Window = image.Pt(64, 128)
	}
	if c.Clip == 0 {
		c.Clip = usualClip
	}
	if c.Window.X < 1 || c.Window.Y < 1 || c.Window.X > maxWindow || c.Window.Y > maxWindow {
		return nil, raster.Invalid("window is %d×%d, want sides from 1 to %d", c.Window.X, c.Window.Y, maxWindow)
	}
	if !(c.Clip > 0 && c.Clip <= math.MaxFloat32) {
		return nil, raster.Invalid("clip is %v, want more than 0, such as 0.2", c.Clip)
	}
	var err error
	if c.Votes, err = c.Votes.check(); err != nil {
		return nil, err
	}
	if c.Blocks == nil {
		for x := 0; x+16 <= c.Window.X; x += 8 {
			for y := 0; y+16 <= c.Window.Y; y += 8 {
				c.Blocks = append(c.Blocks, Block{Rect: image.Rect(x, y, x+16, y+16)})
			}
		}
	}
	if len(c.Blocks) == 0 {
		return nil, raster.Invalid("list of blocks is empty, want at least one block in the window of %d×%d", c.Window.X, c.Window.Y)
	}
	d := &BoxDescriptor{config: c}
	d.config.Blocks = slices.Clone(c.Blocks)
	for i := range d.config.Blocks {
		b := &d.config.Blocks[i]
		if b.Cells == (image.Point{}) {
			b.Cells = image.Pt(2, 2)
		}
		if size := b.Rect.Size(); b.Rect.Empty() || !b.Rect.In(image.Rectangle{Max: c.Window}) {
			return nil, raster.Invalid("block %d is %v, want a rectangle in the window, %d×%d", i, b.Rect, c.Window.X, c.Window.Y)
		} else if b.Cells.X < 1 || b.Cells.Y < 1 || b.Cells.X > size.X || b.Cells.Y > size.Y {
			return nil, raster.Invalid("block %d has %d×%d cells, want 1×1 to %d×%d (a pixel each)", i, b.Cells.X, b.Cells.Y, size.X, size.Y)
		}
		if d.size += b.length(c.Votes.Bins); d.size > maxNumbers {
			return nil, raster.Invalid("descriptor has %d or more numbers, want at most %d (use fewer blocks, cells or bins)", d.size, maxNumbers)
		}
	}
	if n := len(c.Coefficients); n != 0 && n != d.size && n != d.size+1 {
		return nil, raster.Invalid("number of coefficients is %d, want %d, or %d with a constant", n, d.size, d.size+1)
	}
	for i, v := range c.Coefficients {
		if v-v != 0 {
			return nil, raster.Invalid("coefficient %d is %v, want a finite number", i, v)
		}
	}
	d.config.Coefficients = slices.Clone(c.Coefficients)
	if len(c.Coefficients) > d.size {
		d.bias = float64(c.Coefficients[d.size])
	}
	return d, nil
}

// length returns the number of values of the block.
func (b *Block) length(bins int) int { return b.Cells.X * b.Cells.Y * bins }

// cell returns the rectangle of a cell.
func (b *Block) cell(x, y int) image.Rectangle {
	size := b.Rect.Size()
	return image.Rect(size.X*x/b.Cells.X, size.Y*y/b.Cells.Y, size.X*(x+1)/b.Cells.X, size.Y*(y+1)/b.Cells.Y).Add(b.Rect.Min)
}

// Config returns the configuration with its defaults filled in.
func (d *BoxDescriptor) Config() BoxConfig {
	if d == nil {
		return BoxConfig{}
	}
	c := d.config
	c.Blocks, c.Coefficients = slices.Clone(c.Blocks), slices.Clone(c.Coefficients)
	return c
}

// Size returns the number of values that describe a window.
func (d *BoxDescriptor) Size() int {
	if d == nil {
		return 0
	}
	return d.size
}

// AppendCompute appends the descriptors of the windows whose top left pixels are at to the slice
// to, one after the other, and returns the extended slice. A descriptor contains the blocks of its
// window in the order of [BoxConfig.Blocks], and a block contains the histograms of its cells,
// column by column. As in a [Descriptor], each block is normalized to length 1, limited to
// [BoxConfig.Clip], and normalized again.
//
// The table must have been made with the [Votes] of the descriptor's Config. Windows may extend
// beyond the image, where there are no gradients, but the coordinates of at must be from -2^30 to
// 2^30. If a condition is not met, AppendCompute returns to unchanged and an error. If to has
// enough capacity and no block has more than 256 values, AppendCompute does not allocate.
func (d *BoxDescriptor) AppendCompute(to []float32, t *Table, at ...image.Point) ([]float32, error) {
	if err := d.check(t, at); err != nil {
		return to, err
	}
	all, err := grown(to, len(at)*d.size)
	if err != nil {
		return to, err
	}
	numbers := all[len(to):]
	var room usualBlock
	for _, p := range at {
		for i := range d.config.Blocks {
			block := d.block(&room, t, &d.config.Blocks[i], p)
			for k, v := range block {
				numbers[k] = float32(v)
			}
			numbers = numbers[len(block):]
		}
	}
	return all, nil
}

// AppendScores appends the scores that the linear classifier gives to the windows whose top left
// pixels are at to the slice to, one for each window, and returns the extended slice. The table and
// the windows must be as for AppendCompute. If they are not, or if the descriptor has no
// coefficients, AppendScores returns to unchanged and an error.
func (d *BoxDescriptor) AppendScores(to []float64, t *Table, at ...image.Point) ([]float64, error) {
	if err := d.check(t, at); err != nil {
		return to, err
	}
	if len(d.config.Coefficients) == 0 {
		return to, raster.Invalid("the descriptor has no coefficients (see BoxConfig.Coefficients)")
	}
	var room usualBlock
	for _, p := range at {
		score, coefficients := d.bias, d.config.Coefficients
		for i := range d.config.Blocks {
			block := d.block(&room, t, &d.config.Blocks[i], p)
			for k, v := range block {
				score += float64(float32(v)) * float64(coefficients[k]) // an exact product: fusing changes nothing
			}
			coefficients = coefficients[len(block):]
		}
		to = append(to, score)
	}
	return to, nil
}

// check returns an error if the table is not for the descriptor, or a window is too far away.
func (d *BoxDescriptor) check(t *Table, at []image.Point) error {
	const far = 1 << 30
	if d == nil || d.size == 0 {
		return raster.Invalid("nil or empty BoxDescriptor (use NewBoxes)")
	}
	if !t.valid() {
		return raster.Invalid("nil or empty Table (use NewTable or Integrate)")
	}
	if t.votes != d.config.Votes {
		return raster.Invalid("the table counts %+v, want %+v (the descriptor's)", t.votes, d.config.Votes)
	}
	for i, p := range at {
		if p.X < -far || p.Y < -far || p.X > far || p.Y > far {
			return raster.Invalid("window %d is at %v, want coordinates from %d to %d", i, p, -far, far)
		}
	}
	return nil
}

// usualBlock has room for the numbers of most blocks.
type usualBlock [256]float64

// block returns the numbers of a block of the window at p, in room if they fit.
func (d *BoxDescriptor) block(room *usualBlock, t *Table, b *Block, p image.Point) []float64 {
	n := d.config.Votes.Bins
	length := b.length(n)
	numbers := room[:]
	if length > len(room) {
		numbers = make([]float64, length)
	}
	numbers = numbers[:length]
	clear(numbers)
	bounds := t.Histograms.Bounds()
	cell := numbers
	for x := range b.Cells.X {
		for y := range b.Cells.Y {
			t.add(cell[:n], b.cell(x, y).Add(p).Intersect(bounds))
			cell = cell[n:]
		}
	}
	unit := t.votes.unit() // a power of two
	for i := range numbers {
		numbers[i] /= unit
	}
	scale := 1 / (math.Sqrt(sumOfSquares(numbers)) + float64(length)*0.1)
	for i := range numbers {
		numbers[i] = min(numbers[i]*scale, d.config.Clip)
	}
	scale = 1 / (math.Sqrt(sumOfSquares(numbers)) + 1e-3)
	for i := range numbers {
		numbers[i] *= scale
	}
	return numbers
}

func sumOfSquares(numbers []float64) (sum float64) {
	for _, v := range numbers {
		sum += float64(v * v)
	}
	return sum
}
