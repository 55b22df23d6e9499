package engine

import (
	"github.com/boxsum/boxsum/internal/device"
	"github.com/boxsum/boxsum/internal/kernel"
	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/internal/stats"
)

// groupRows is the number of rows to select at a time. They should stay in the
// second-level cache for all three tables, but there should be many of them, because a
// kernel ends with a memory fence. If rows are short, twice as many are selected.
// BenchmarkValid measures both.
const (
	groupRows  = 32
	groupBytes = 256 << 10
)

// aheadRows is the number of rows by which pixels are prefetched.
const aheadRows = 2

// A ValidJob is a [Job] for an upright table of the valid pixels. Count is a uint32 table
// of the number of valid pixels.
type ValidJob struct {
	Job
	Count Table

	Mask raster.Array // has one channel or as many as Src; without Data, all pixels are valid
	NaN  bool         // treat NaN as invalid
}

// Check is like [Job.Check], and also checks the mask.
func (j *ValidJob) Check() error {
	offset := j.Offset
	j.Offset = 0 // checked below, because fewer types support it
	plain := j.Plain
	j.Plain = true // the center is computed from valid pixels only, in setOffsets
	err := j.Job.Check()
	j.Offset, j.Plain = offset, plain
	if err != nil {
		return err
	}
	if j.Mask.Data != nil || j.Mask.Width != 0 || j.Mask.Height != 0 {
		if err := j.Mask.Pixels(j.Mask.Len()); err != nil {
			return err
		}
		if a, b := &j.Src, &j.Mask; a.Width != b.Width || a.Height != b.Height || b.Channels != 1 && a.Channels != b.Channels {
			return raster.Invalid("mask is %v, want %d×%d with 1 channel or as many as the image", b.Extent, a.Width, a.Height)
		}
	}
	return j.setOffsets()
}

// setOffsets determines the offset to subtract from the valid pixels.
func (j *ValidJob) setOffsets() error {
	if err := CheckOffset(j.Src.Type, j.Sums.Type, j.Offset); err != nil {
		return err
	}
	if !j.Src.Type.Float() && j.Offset != 0 {
		return raster.Unsupported("offset is %v, want 0 with a mask for pixels of %v (offsets require float pixels)", j.Offset, j.Src.Type)
	}
	j.Sums.Offset = j.Offset
	if j.squared() && j.Src.Type.Float() {
		if j.Offset == 0 && !j.Plain {
			var mask *raster.Array
			if j.Mask.Data != nil {
				mask = &j.Mask
			}
			j.Sums.Offset = center(&j.Src, mask)
		}
		j.Squares.Offset = j.Sums.Offset
	}
	return nil
}

// Run computes the tables of a checked job, after checking their memory.
func (j *ValidJob) Run() error {
	all := [...]*Table{&j.Sums, &j.Count, &j.Squares}
	tables := all[:2]
	if j.squared() {
		tables = all[:3]
	}
	for i, t := range tables {
		if err := t.Accept(&j.Src); err != nil {
			return err
		}
		if err := raster.Overlap(j.Mask.Data, t.Data); err != nil {
			return err
		}
		for _, other := range tables[:i] {
			if err := raster.Overlap(t.Data, other.Data); err != nil {
				return err
			}
		}
	}
	j.Sums.setKnown(&j.Src, false, false)
	if j.squared() {
		j.Squares.setKnown(&j.Src, true, true)
	}
	j.Count.Known = stats.Pixels{Bound: 1}
	if j.set.on != nil {
		return j.fillOnDevice()
	}
	return j.fill()
}

// fillOnDevice computes the tables on the device of the settings. The processor copies the
// image with the invalid pixels replaced, and makes one of ones and zeros to count.
func (j *ValidJob) fillOnDevice() error {
	pixels, err := raster.NewPixelArray(j.Src.Type, j.Src.Extent)
	if err != nil {
		return err
	}
	ones, err := raster.NewPixelArray(raster.U8, j.Src.Extent)
	if err != nil {
		return err
	}
	l := valid{src: j.Src, mask: j.Mask, nan: j.NaN, level: j.set.Level, fill: j.Sums.Offset}
	l.start(j.set.Workers(), pixels.Stride)
	if err := j.set.eachRow(&j.Src, func(worker, y int) {
		l.selectRow(&l.workers[worker], pixels.Span(0, y, pixels.Width), ones.Span(0, y, ones.Width), 0, y)
	}); err != nil {
		return err
	}
	sums, counts := j.set.OnDevice(), j.set.OnDevice()
	if progress := j.set.progress; progress != nil {
		sums.Progress = func(done float64) { progress(done / 2) }
		counts.Progress = func(done float64) { progress(0.5 + done/2) }
	}
	if err := j.set.on.Tables(&device.Tables{
		Src: pixels, Sums: j.Sums.Array, Squares: j.Squares.Array, Offset: j.Sums.Offset, Options: sums,
	}); err != nil {
		return err
	}
	return j.set.on.Tables(&device.Tables{Src: ones, Sums: j.Count.Array, Options: counts})
}

var validRuns Runs[valid]

// fill computes the tables, whose memory has been checked.
func (j *ValidJob) fill() error {
	r := validRuns.Take()
	l := &r.Layer
	l.src, l.mask, l.nan, l.squared, l.level = j.Src, j.Mask, j.NaN, j.squared(), j.set.Level
	l.fill = j.Sums.Offset
	l.sums.start(j.Src.Type, &j.Sums, l.level, false)
	l.counts.start(raster.U8, &j.Count, l.level, false)
	bytes := j.Sums.Type.Bytes() + j.Count.Type.Bytes()
	if l.squared {
		l.squares.start(j.Src.Type, &j.Squares, l.level, true)
		bytes += j.Squares.Type.Bytes()
	}
	p := workOf(&l.src.Extent, l.src.Type.Bytes(), bytes, j.set.workers).Plan()
	return r.Fill(&j.set, &p, l)
}

// valid is the layer of the sums, the squares and the counts of valid pixels; the squares
// are optional. It consists of three layers. Those of the sums and the squares receive
// rows of pixels in which a fill value replaces invalid pixels. That of the counts
// receives rows of zeros and ones.
type valid struct {
	Base
	src, mask     raster.Array
	nan, squared  bool
	level         kernel.Level
	selector      kernel.Selector
	fill          float32
	sums, squares summed
	counts        summed
	workers       []validWorker
}

// validWorker holds the scratch memory of one worker.
type validWorker struct {
	row    kernel.Selection
	pixels []byte  // pixels of a group of rows
	valid  []uint8 // 1 for each valid pixel, 0 for each invalid one
	mask   []uint8 // the mask of one row, for all channels
	_      [kernel.LineBytes]byte
}

// group returns the number of rows of n elements to select at a time.
func (l *valid) group(n int) int {
	if 2*groupRows*n*(l.src.Type.Bytes()+1) <= groupBytes {
		return 2 * groupRows
	}
	return groupRows
}

// start prepares workers to select parts of rows of up to n elements.
func (l *valid) start(workers, n int) {
	l.selector = kernel.NewSelector(l.src.Type, l.level, l.mask.Data != nil, l.nan, l.fill)
	l.workers = Workers(l.workers, workers)
	for i := range l.workers[:workers] {
		w := &l.workers[i]
		w.mask = AtLeast(w.mask, n)
		w.row.Ahead, w.row.MaskAhead = aheadRows*l.src.Stride, aheadRows*l.mask.Stride
		w.row.NaN = l.nan
	}
}

// selectRow copies pixels of row y from element x on, with a fill value for invalid ones, to
// pixels, and marks the valid ones with 1 and the others with 0.
func (l *valid) selectRow(w *validWorker, pixels []byte, marks []uint8, x, y int) {
	w.row.From = l.src.From(y*l.src.Stride + x)[:len(pixels)]
	w.row.Mask = l.maskRow(w, x, y, len(marks))
	w.row.To, w.row.Valid = pixels, marks
	l.selector.Select(&w.row)
}

// Prepare implements [Layer].
func (l *valid) Prepare(p *Plan) error {
	l.start(p.Workers, p.TileWidth)
	n := l.group(p.TileWidth) * p.TileWidth
	for i := range l.workers[:p.Workers] {
		w := &l.workers[i]
		w.pixels, w.valid = AtLeast(w.pixels, n*l.src.Type.Bytes()), AtLeast(w.valid, n)
	}
	if err := l.sums.Prepare(p); err != nil {
		return err
	}
	if l.squared {
		if err := l.squares.Prepare(p); err != nil {
			return err
		}
	}
	return l.counts.Prepare(p)
}

func (l *valid) rowAbove(worker, x, y, n, from int) {
	l.sums.rowAbove(worker, x, y, n, from)
	l.counts.rowAbove(worker, x, y, n, from)
	if l.squared {
		l.squares.rowAbove(worker, x, y, n, from)
	}
}

// Tile implements [Layer].
func (l *valid) Tile(worker, x, y, n, rows int) {
	w, pixel := &l.workers[worker], l.src.Type
	size := pixel.Bytes()
	group := len(w.pixels) / (n * size) // as set by Prepare, or more in a shorter tile
	shift := l.sums.dst.shift()
	for end := y + rows; y < end; y += group {
		rows := min(group, end-y)
		for r := range rows {
			l.selectRow(w, w.pixels[r*n*size:][:n*size], w.valid[r*n:][:n], x, y+r)
		}
		if shift != 0 {
			Shifted(w.pixels, w.pixels, pixel, n, n, rows, shift)
		}
		l.sums.sum(worker, w.pixels, x, y, n, rows)
		if l.squared {
			if again := l.squares.dst.shift(); again != 0 && shift == 0 { // the kernel of the sums subtracts the offset itself
				Shifted(w.pixels, w.pixels, pixel, n, n, rows, again)
			}
			l.squares.sum(worker, w.pixels, x, y, n, rows)
		}
		l.counts.sum(worker, w.valid, x, y, n, rows)
	}
}

// maskRow returns the mask of n elements of a row.
func (l *valid) maskRow(w *validWorker, x, y, n int) []uint8 {
	m, channels := &l.mask, l.src.Channels
	switch {
	case m.Data == nil:
		return nil
	case m.Channels == channels:
		return m.Data[y*m.Stride+x:][:n]
	}
	of := m.Data[y*m.Stride+x/channels:][:n/channels] // a tile consists of whole pixels
	for i, v := range of {
		all := w.mask[i*channels:][:channels]
		for c := range all {
			all[c] = v
		}
	}
	return w.mask[:n]
}

// has reports whether a mask selects element x of row y of an image with the given number
// of channels.
func has(mask *Source[uint8], x, y, channels int) bool {
	return mask.Pix[y*mask.Stride+x*mask.Channels/channels] != 0
}

// Release implements [Layer].
func (l *valid) Release() int {
	l.src, l.mask = raster.Array{}, raster.Array{}
	bytes := l.sums.Release() + l.counts.Release()
	if l.squared {
		bytes += l.squares.Release()
	}
	for i := range l.workers {
		w := &l.workers[i]
		w.row = kernel.Selection{}
		bytes += Bytes(w.pixels) + Bytes(w.valid) + Bytes(w.mask)
	}
	return bytes
}
