// Package enhance equalizes the contrast of images whose pixel type is known only at run time. The public package
// of the same name, the command and the Python library are built on it.
package enhance

import (
	"math"
	"sync"

	"github.com/boxsum/boxsum/internal/device"
	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/kernel/windows"
	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/internal/window"
)

// DefaultTiles and DefaultClip are the defaults of OpenCV.
const (
	DefaultTiles = 8
	DefaultClip  = 40
)

const (
	// maxTiles is the greatest number of tiles along an axis.
	maxTiles = 1 << 12
	// bandRows is the number of rows that a worker maps at a time.
	bandRows = 32
	// workerPixels is the number of pixels that justifies waking a worker.
	workerPixels = 1 << 17
)

// A Job is an image to equalize by CLAHE: plain data. Its maker sets the images and the numbers, calls Check before it
// allocates the result, and then Run.
type Job struct {
	Src, Dst raster.Array // of uint8 or uint16; Dst may be Src
	Across   int          // tiles along a row; 0 selects the default
	Down     int
	Clip     float64 // limit of a bin as a multiple of the mean; 0 or less for none
	Shift    int     // low bits of a pixel that are ignored
	Color    bool    // equalize the brightness of color images, not their channels
	Options  engine.Options

	set engine.Settings
}

// Check validates the options, the image and the numbers, in this order, and fills in defaults.
func (j *Job) Check() (err error) {
	if j.set, err = j.Options.Check(); err != nil {
		return err
	}
	if err = j.checkPixels(); err != nil {
		return err
	}
	return j.checkTiles()
}

// checkPixels validates the image.
func (j *Job) checkPixels() error {
	if j.Src.Type != raster.U8 && j.Src.Type != raster.U16 {
		return raster.Unsupported("pixels of %v cannot be equalized, want uint8 or uint16", j.Src.Type)
	}
	return j.Src.Check()
}

// checkTiles validates the numbers, and fills in defaults.
func (j *Job) checkTiles() error {
	if j.Across == 0 {
		j.Across = DefaultTiles
	}
	if j.Down == 0 {
		j.Down = DefaultTiles
	}
	switch {
	case j.Across < 1 || j.Down < 1 || j.Across > maxTiles || j.Down > maxTiles:
		return raster.Invalid("tiles are %d×%d, want 1 to %d along each side", j.Across, j.Down, maxTiles)
	case math.IsNaN(j.Clip):
		return raster.Invalid("clip limit is %v, want a number", j.Clip)
	case j.Shift < 0 || j.Shift >= 8*j.Src.Type.Bytes():
		return raster.Invalid("shift is %d bits, want 0 to %d", j.Shift, 8*j.Src.Type.Bytes()-1)
	}
	if w, h := j.tileSize(); float64(w)*float64(h) >= 1<<31 {
		return raster.Invalid("tiles have %d×%d pixels, want less than 2^31 (use more tiles)", w, h)
	}
	return nil
}

// tileSize returns the size of a tile. If the tiles do not divide an image, OpenCV extends both of its sides, a side
// that they divide by a pixel for each tile.
func (j *Job) tileSize() (width, height int) {
	width, height = j.Src.Width, j.Src.Height
	if width%j.Across != 0 || height%j.Down != 0 {
		width += j.Across - width%j.Across
		height += j.Down - height%j.Down
	}
	return width / j.Across, height / j.Down
}

// Run equalizes the image of a checked job, after checking the memory of the result.
func (j *Job) Run() error {
	if err := checkResult(&j.Dst, &j.Src); err != nil {
		return err
	}
	if j.Src.Width == 0 || j.Src.Height == 0 {
		j.set.Report(1)
		return nil
	}
	if j.Color && (j.Src.Channels == 3 || j.Src.Channels == 4) {
		return j.runBrightness()
	}
	if on := j.set.On(); on != nil {
		d := j.onDevice()
		return on.CLAHE(&d)
	}
	c := scratch.Get().(*clahe)
	defer scratch.Put(c)
	for channel := range j.Src.Channels {
		if err := c.equalize(j, channel); err != nil {
			return err
		}
	}
	return nil
}

// onDevice returns the job for a device.
func (j *Job) onDevice() device.CLAHE {
	width, height := j.tileSize()
	return device.CLAHE{
		Src: j.Src, Dst: j.Dst, Across: j.Across, Down: j.Down, TileWidth: width, TileHeight: height, Shift: j.Shift, Limit: j.limit(width * height),
		Options: j.set.OnDevice(),
	}
}

// OnDevice checks the numbers of a job whose image has a type and a size, but needs no memory, and returns the job for a
// device.
func (j *Job) OnDevice() (device.CLAHE, error) {
	if err := j.checkTiles(); err != nil {
		return device.CLAHE{}, err
	}
	return j.onDevice(), nil
}

// checkResult validates an image of the type and size of src, which may be src itself.
func checkResult(d, src *raster.Array) error {
	if d.Type != src.Type {
		return raster.Unsupported("destination has type %v, want %v like the image", d.Type, src.Type)
	}
	if err := d.Check(); err != nil {
		return err
	}
	if d.Width != src.Width || d.Height != src.Height || d.Channels != src.Channels {
		return raster.Invalid("destination is %v, want %v", d.Extent, src.Extent)
	}
	if len(d.Data) > 0 && len(src.Data) > 0 && &d.Data[0] == &src.Data[0] && d.Stride == src.Stride {
		return nil
	}
	if raster.Overlap(d.Data, src.Data) != nil {
		return raster.Overlapping("the destination shares part of the image's memory: use the image itself, or separate memory")
	}
	return nil
}

// scratch keeps the memory of jobs for later ones.
var scratch = sync.Pool{New: func() any { return new(clahe) }}

// clahe holds the tables of the tiles, and where the pixels of a row and of a column lie between them.
type clahe struct {
	tables   []uint16 // of all tiles, row by row
	levels   int      // entries of a table
	across   axis
	down     axis
	segments []segment
	workers  []claheWorker
}

// A segment is a run of columns between the same tiles.
type segment struct{ from, to, left, right int }

type claheWorker struct {
	counts [4][]uint32
	packed []uint32 // bytes: the four tables between which pixels lie, by segment
	row    int      // for which packed was filled
	pixels []byte   // of a channel, in and out
	_      [raster.LineBytes]byte
}

// An axis holds, for every position along a side, the tile before it, and how far it lies between the centers of
// that tile and the next, in float32 as in OpenCV.
type axis struct {
	before []int32
	far    []float32
}

// aim computes an axis of n positions with tiles of the given size.
func (a *axis) aim(n, size int) {
	a.before, a.far = engine.AtLeast(a.before, n), engine.AtLeast(a.far, n)
	inverse := 1 / float32(size)
	for i := range n {
		at := float32(float32(i)*inverse) - 0.5
		floor := float32(math.Floor(float64(at)))
		a.before[i], a.far[i] = int32(floor), at-floor
	}
}

// equalize equalizes one channel.
func (c *clahe) equalize(j *Job, channel int) error {
	c.levels = 1 << (8*j.Src.Type.Bytes() - j.Shift)
	width, height := j.tileSize()
	c.across.aim(j.Src.Width, width)
	c.down.aim(j.Src.Height, height)
	c.segments = c.segments[:0]
	for x := 0; x < j.Src.Width; {
		s := segment{from: x, left: max(int(c.across.before[x]), 0), right: min(int(c.across.before[x])+1, j.Across-1)}
		for x < j.Src.Width && c.across.before[x] == c.across.before[s.from] {
			x++
		}
		s.to = x
		c.segments = append(c.segments, s)
	}
	c.tables = engine.AtLeast(c.tables, j.Across*j.Down*c.levels)
	workers := min(j.set.Workers(), 1+j.Src.Width*j.Src.Height/workerPixels)
	c.workers = engine.Workers(c.workers, workers)
	for i := range c.workers {
		w := &c.workers[i]
		w.row = math.MinInt
		w.pixels = engine.AtLeast(w.pixels, 2*j.Src.Width*j.Src.Type.Bytes())
		for k := range w.counts {
			if j.Src.Type == raster.U8 || k == 0 {
				w.counts[k] = engine.AtLeast(w.counts[k], c.levels)
			}
		}
	}
	set := j.set
	if j.Src.Channels > 1 {
		set = set.Quiet()
	}
	err := set.Quiet().Each(j.Across*j.Down, workers, func(worker, tile int) {
		w := &c.workers[worker]
		if j.Src.Type == raster.U8 {
			countTile[uint8](w, j, channel, tile, width, height)
		} else {
			countTile[uint16](w, j, channel, tile, width, height)
		}
		limit(w.counts[0], j.limit(width*height))
		accumulate(c.tables[tile*c.levels:][:c.levels], w.counts[0], width*height)
	})
	if err != nil {
		return err
	}
	return set.Each(engine.DivUp(j.Src.Height, bandRows), workers, func(worker, band int) {
		w := &c.workers[worker]
		for y := band * bandRows; y < min(j.Src.Height, (band+1)*bandRows); y++ {
			c.mapRow(w, j, channel, y)
		}
	})
}

// limit returns the limit of a bin, or the number of pixels if there is none.
func (j *Job) limit(pixels int) int {
	if !(j.Clip > 0) {
		return pixels
	}
	levels := 1 << (8*j.Src.Type.Bytes() - j.Shift)
	return int(max(1, min(float64(pixels), math.Floor(float64(j.Clip*float64(pixels))/float64(levels)))))
}

// countTile counts the levels of a tile, which may reach beyond the image.
func countTile[P uint8 | uint16](w *claheWorker, j *Job, channel, tile, width, height int) {
	for k := range w.counts {
		clear(w.counts[k])
	}
	c, x0, y0 := j.Src.Channels, tile%j.Across*width, tile/j.Across*height
	inside := max(0, min(width, j.Src.Width-x0))
	for y := y0; y < y0+height; y++ {
		row := raster.Elems[P](j.Src.Span(0, window.Reflect101.Index(y, j.Src.Height), j.Src.Width))
		if inside > 0 {
			countRow(w, row[x0*c:(x0+inside)*c], channel, c, j.Shift)
		}
		for x := x0 + inside; x < x0+width; x++ {
			w.counts[0][row[window.Reflect101.Index(x, j.Src.Width)*c+channel]>>j.Shift]++
		}
	}
	if len(w.counts[3]) == len(w.counts[0]) {
		for i := range w.counts[0] {
			w.counts[0][i] += w.counts[1][i] + w.counts[2][i] + w.counts[3][i]
		}
	}
}

// countRow counts the levels of a row. Bytes are counted in four histograms, because equal neighbors would wait for each
// other.
func countRow[P uint8 | uint16](w *claheWorker, row []P, channel, channels, shift int) {
	if bytes, ok := any(row).([]uint8); ok && channels == 1 && shift == 0 {
		a, b, c, d := (*[256]uint32)(w.counts[0]), (*[256]uint32)(w.counts[1]), (*[256]uint32)(w.counts[2]), (*[256]uint32)(w.counts[3])
		for ; len(bytes) >= 4; bytes = bytes[4:] {
			a[bytes[0]]++
			b[bytes[1]]++
			c[bytes[2]]++
			d[bytes[3]]++
		}
		for _, v := range bytes {
			a[v]++
		}
		return
	}
	for i := channel; i < len(row); i += channels {
		w.counts[0][row[i]>>shift]++
	}
}

// limit cuts bins above a limit and distributes what they lose over all bins.
func limit(counts []uint32, most int) {
	lost := 0
	for i, n := range counts {
		if int(n) > most {
			lost += int(n) - most
			counts[i] = uint32(most)
		}
	}
	if lost == 0 {
		return
	}
	each, rest := uint32(lost/len(counts)), lost%len(counts)
	for i := range counts {
		counts[i] += each
	}
	if rest > 0 {
		step := max(len(counts)/rest, 1)
		for i := 0; i < len(counts) && rest > 0; i += step {
			counts[i]++
			rest--
		}
	}
}

// accumulate computes the table of a tile.
func accumulate(table []uint16, counts []uint32, pixels int) {
	scale, sum := float32(len(table)-1)/float32(pixels), int32(0)
	for i, n := range counts {
		sum += int32(n)
		table[i] = windows.Rounded16(float32(sum) * scale)
	}
}

// mapRow computes a row of a channel.
func (c *clahe) mapRow(w *claheWorker, j *Job, channel, y int) {
	channels := j.Src.Channels
	dst, src := j.Dst.Span(0, y, j.Dst.Width), j.Src.Span(0, y, j.Src.Width)
	if channels > 1 {
		half := len(w.pixels) / 2
		to, from := w.pixels[:half], w.pixels[half:]
		if j.Src.Type == raster.U8 {
			take[uint8](from, src, channel, channels)
			c.mapPixels(w, j, to, from, y)
			put[uint8](dst, to, channel, channels)
		} else {
			take[uint16](from, src, channel, channels)
			c.mapPixels(w, j, to, from, y)
			put[uint16](dst, to, channel, channels)
		}
		return
	}
	c.mapPixels(w, j, dst, src, y)
}

func take[P uint8 | uint16](to, from []byte, channel, channels int) {
	dst, src := raster.Elems[P](to), raster.Elems[P](from)
	for i := range dst {
		dst[i] = src[i*channels+channel]
	}
}

func put[P uint8 | uint16](to, from []byte, channel, channels int) {
	dst, src := raster.Elems[P](to), raster.Elems[P](from)
	for i, v := range src {
		dst[i*channels+channel] = v
	}
}

// mapPixels computes a row with one channel.
func (c *clahe) mapPixels(w *claheWorker, j *Job, dst, src []byte, y int) {
	before := int(c.down.before[y])
	above, below := max(before, 0), min(before+1, j.Down-1)
	table := func(row, column int) []uint16 { return c.tables[(row*j.Across+column)*c.levels:][:c.levels] }
	far := c.down.far[y]
	if j.Src.Type == raster.U16 {
		for _, s := range c.segments {
			between(dst, src, s, table(above, s.left), table(above, s.right), table(below, s.left), table(below, s.right), c.across.far, far, j.Shift)
		}
		return
	}
	if w.row != before {
		w.row = before
		w.packed = engine.AtLeast(w.packed, len(c.segments)*256)
		for i, s := range c.segments {
			a, b, d, e := table(above, s.left), table(above, s.right), table(below, s.left), table(below, s.right)
			to := (*[256]uint32)(w.packed[i*256:])
			for v := range to {
				k := v >> j.Shift
				to[v] = uint32(a[k]) | uint32(b[k])<<8 | uint32(d[k])<<16 | uint32(e[k])<<24
			}
		}
	}
	for i, s := range c.segments {
		windows.Interpolate(j.set.Level, dst[s.from:s.to], src[s.from:s.to], (*[256]uint32)(w.packed[i*256:]), c.across.far[s.from:s.to], far)
	}
	if j.Shift > 0 {
		for i := range dst {
			dst[i] <<= j.Shift
		}
	}
}

// between is like [windows.Interpolate] for 16 bits and four tables.
func between(dst, src []byte, s segment, a, b, d, e []uint16, across []float32, far float32, shift int) {
	to, from, weights := raster.Elems[uint16](dst)[s.from:s.to], raster.Elems[uint16](src)[s.from:s.to], across[s.from:s.to]
	near := 1 - far
	from, weights = from[:len(to)], weights[:len(to)]
	for i := range to {
		v, x := from[i]>>shift, weights[i]
		top := float32(float32(a[v])*(1-x)) + float32(float32(b[v])*x)
		bottom := float32(float32(d[v])*(1-x)) + float32(float32(e[v])*x)
		to[i] = windows.Rounded16(float32(top*near)+float32(bottom*far)) << shift
	}
}
