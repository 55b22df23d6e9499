// Package denoise removes noise from images whose types are data: what package denoise does for typed images, and what
// the command and the Python library call themselves.
package denoise

import (
	"math"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/boxsum/boxsum/internal/device"
	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/kernel/windows"
	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/internal/window"
)

// The defaults of OpenCV.
const (
	DefaultStrength = 3
	DefaultPatch    = 7
	DefaultSearch   = 21
)

const (
	// maxSide is the greatest side of a patch and of the area that is searched.
	maxSide = 1 << 12
	// maxFrames is the greatest number of frames that are searched.
	maxFrames = 1 << 8
	// stripRows is the number of rows that all offsets process together: what they add up to stays in the cache.
	stripRows = 96
	// bandStrips is the least number of strips in a worker's band, which also processes the rows above it that are searched.
	bandStrips = 2
	// groupOffsets is the greatest number of offsets that process a row together: the sums of their columns stay in the cache.
	groupOffsets = 32
)

// A Job is an image, or one of several frames, to denoise by non-local means: plain data. Its maker sets the images and the
// numbers, calls Check before it allocates the result, and then Run. The result is OpenCV's, to the bit.
type Job struct {
	Frames   []raster.Array // of one size, of uint8 or uint16
	Index    int            // of the frame to denoise
	Dst      raster.Array   // may be that frame itself
	Patch    int            // side; even sides count as the next odd one
	Search   int
	Strength float64
	Absolute bool // compare pixels by absolute values, not squares, of differences; always for uint16
	Options  engine.Options

	set           engine.Settings
	patch, search int      // how far they reach from their middle
	table         []uint32 // weights by distances, in units of 2^shift, the last for all greater ones
	shift         uint
}

// Check validates the options, the images and the numbers, in this order.
func (j *Job) Check() (err error) {
	if j.set, err = j.Options.Check(); err != nil {
		return err
	}
	if err := j.checkFrames(); err != nil {
		return err
	}
	return j.checkNumbers()
}

// checkNumbers validates the numbers, and makes the table of weights.
func (j *Job) checkNumbers() error {
	src := &j.Frames[j.Index]
	switch {
	case j.Patch < 1 || j.Search < 1 || j.Patch > maxSide || j.Search > maxSide:
		return raster.Invalid("patch is %d and search is %d, want sides of 1 to %d", j.Patch, j.Search, maxSide)
	case !(j.Strength >= 0) || j.Strength > math.MaxFloat32:
		return raster.Invalid("strength is %v, want 0 to 3.4e38", j.Strength)
	}
	j.Absolute = j.Absolute || src.Type == raster.U16
	j.patch, j.search = j.Patch/2, j.Search/2
	return j.makeTable()
}

// checkFrames validates the images.
func (j *Job) checkFrames() error {
	switch {
	case len(j.Frames) < 1 || len(j.Frames) > maxFrames:
		return raster.Invalid("number of frames is %d, want 1 to %d", len(j.Frames), maxFrames)
	case j.Index < 0 || j.Index >= len(j.Frames):
		return raster.Invalid("frame is %d, want 0 to %d", j.Index, len(j.Frames)-1)
	}
	first := &j.Frames[0]
	for i := range j.Frames {
		f := &j.Frames[i]
		if f.Type != raster.U8 && f.Type != raster.U16 {
			return raster.Unsupported("pixels of %v cannot be denoised, want uint8 or uint16", f.Type)
		}
		if f.Type != first.Type {
			return raster.Unsupported("frames have types %v and %v, want the same type", f.Type, first.Type)
		}
		if err := f.Check(); err != nil {
			return err
		}
		if f.Width != first.Width || f.Height != first.Height || f.Channels != first.Channels {
			return raster.Invalid("frames are %v and %v, want the same size", first.Extent, f.Extent)
		}
	}
	if first.Channels > 4 {
		return raster.Invalid("image has %d channels, want 1 to 4", first.Channels)
	}
	return nil
}

// makeTable computes the weights of patches by their distances. All sums of weighted pixels fit in 31 bits for bytes, and
// in 63 bits otherwise.
func (j *Job) makeTable() error {
	src := &j.Frames[j.Index]
	white, most := 1<<8-1, float64(math.MaxInt32)
	if src.Type == raster.U16 {
		white, most = 1<<16-1, 0x1p63
	}
	across, side := float64(2*j.search+1), 2*j.patch+1
	one := min(math.Floor(most/(float64(len(j.Frames))*across*across*float64(white))), math.MaxInt32)
	if one < 1 {
		return raster.Invalid("search is %d in %d frames, which covers %.0f pixels, want at most %.0f for exact sums (use a smaller search or fewer frames)",
			j.Search, len(j.Frames), float64(len(j.Frames))*across*across, math.Floor(most/float64(white)))
	}
	farthest := white * src.Channels // of two pixels
	if !j.Absolute {
		farthest *= white
	}
	if float64(farthest)*float64(side)*float64(side) >= 1<<31 {
		return raster.Invalid("patch is %d, which covers %d pixels, want at most %d for exact distances", j.Patch, side*side, (1<<31-1)/farthest)
	}
	for j.shift = 0; 1<<j.shift < side*side; j.shift++ {
	}
	unit := float64(int(1)<<j.shift) / float64(side*side) // of the mean distance of pixels
	h := float32(j.Strength)
	scale := float64(float32(h*h) * float32(src.Channels))
	j.table = j.table[:0]
	for k := range farthest*side*side>>j.shift + 1 {
		d := float64(float64(k) * unit)
		if j.Absolute {
			d *= d
		}
		weight := math.Exp(-d / scale)
		if math.IsNaN(weight) { // equal patches at strength 0
			weight = 1
		}
		w := math.RoundToEven(one * weight)
		if w < 0.001*one {
			w = 0
		}
		j.table = append(j.table, uint32(w))
		if w == 0 {
			break
		}
	}
	return nil
}

// Run denoises the frame of a checked job, after checking the memory of the result.
func (j *Job) Run() error {
	src, d := &j.Frames[j.Index], &j.Dst
	if d.Type != src.Type {
		return raster.Unsupported("destination has type %v, want %v like the image", d.Type, src.Type)
	}
	if err := d.Check(); err != nil {
		return err
	}
	if d.Width != src.Width || d.Height != src.Height || d.Channels != src.Channels {
		return raster.Invalid("destination is %v, want %v", d.Extent, src.Extent)
	}
	for i := range j.Frames {
		f := &j.Frames[i]
		if i == j.Index && len(d.Data) > 0 && len(f.Data) > 0 && &d.Data[0] == &f.Data[0] && d.Stride == f.Stride {
			continue
		}
		if raster.Overlap(d.Data, f.Data) != nil {
			return raster.Overlapping("the destination shares memory with a frame: use the frame itself, or separate memory")
		}
	}
	if src.Width == 0 || src.Height == 0 {
		j.set.Report(1)
		return nil
	}
	if on := j.set.On(); on != nil {
		d := j.onDevice()
		return on.Denoise(&d)
	}
	n := scratch.Get().(*means)
	defer scratch.Put(n)
	return n.run(j)
}

// onDevice returns the job for a device.
func (j *Job) onDevice() device.Denoise {
	d := device.Denoise{
		Frames: j.Frames, Index: j.Index, Dst: j.Dst, Patch: j.patch, Search: j.search, Absolute: j.Absolute, Table: j.table, Shift: j.shift,
		Options: j.set.OnDevice(),
	}
	if raster.Overlap(j.Dst.Data, j.Frames[j.Index].Data) != nil { // rows around those of a band are read later
		d.Frames = slices.Clone(j.Frames)
		window.CopyTo(nil, &d.Frames[j.Index])
	}
	return d
}

// OnDevice checks the numbers of a job whose frame has a type and a size, but needs no memory, and returns the job for a
// device.
func (j *Job) OnDevice() (d device.Denoise, err error) {
	if c := j.Src().Channels; c > 4 {
		return d, raster.Invalid("image has %d channels, want 1 to 4", c)
	}
	if err := j.checkNumbers(); err != nil {
		return d, err
	}
	return j.onDevice(), nil
}

// scratch keeps the memory of jobs for later ones.
var scratch = sync.Pool{New: func() any { return new(means) }}

// means computes non-local means: for each offset between patches it moves the distances of all patches of a row down, as sums
// of columns. The weight of a patch for another is that of the other for it, so within the frame itself, half of the
// offsets suffice.
type means struct {
	frames  [][]byte // extended on all sides by what patches and their search reach
	margin  int      // of the frames
	stride  int      // bytes of their rows
	pixel   int      // bytes of a pixel
	workers []meansWorker
	done    atomic.Int64 // rows, for progress
}

// offsets are the positions (first, y), (first+1, y), ... of patches in a frame, relative to the patch that they are compared
// with. If they are pairs, each of two patches is weighed for the other.
type offsets struct {
	frame, y     int
	first, count int
	pairs        bool
}

type meansWorker struct {
	loops            windows.Patches
	columns, weights []uint32
	stride           int      // of the columns of an offset
	sums, totals     []uint32 // of weighted bytes with one channel, and of weights, for rows extended by what is searched
	longSums         []uint64 // of others
	longTotals       []uint64
	_                [raster.LineBytes]byte
}

func (n *means) run(j *Job) error {
	n.extend(j)
	height := j.Src().Height
	strips := engine.DivUp(height, stripRows)
	workers := min(j.set.Workers(), engine.DivUp(strips, bandStrips))
	n.workers = engine.Workers(n.workers, workers)
	bands := workers
	if workers > 1 { // so that they end at about the same time
		bands = min(2*workers, engine.DivUp(strips, bandStrips))
	}
	rows := engine.DivUp(strips, bands) * stripRows
	for i := range n.workers {
		n.workers[i].aim(j, rows)
	}
	n.done.Store(0)
	err := j.set.Quiet().Each(engine.DivUp(height, rows), workers, func(worker, band int) {
		n.band(&n.workers[worker], j, band*rows, min(height, (band+1)*rows), worker == 0)
	})
	if err == nil { // bands stop between offsets
		err = j.set.Stopped()
	}
	if err == nil {
		j.set.Report(1)
	}
	return err
}

// Src returns the frame to denoise.
func (j *Job) Src() *raster.Array { return &j.Frames[j.Index] }

// bytes reports whether sums of weighted pixels have 32 bits.
func (j *Job) bytes() bool { return j.Src().Type == raster.U8 && j.Src().Channels == 1 }

// extend copies the frames.
func (n *means) extend(j *Job) {
	src := j.Src()
	n.margin, n.pixel = j.patch+j.search, src.Channels*src.Type.Bytes()
	n.stride = (src.Width+2*n.margin)*n.pixel + windows.Slack
	if cap(n.frames) < len(j.Frames) {
		n.frames = make([][]byte, len(j.Frames))
	}
	n.frames = n.frames[:len(j.Frames)]
	for i := range j.Frames {
		f := &j.Frames[i]
		n.frames[i] = engine.AtLeast(n.frames[i], n.stride*(src.Height+2*n.margin))
		for y := range src.Height + 2*n.margin {
			to, from := n.frames[i][y*n.stride:], f.Span(0, window.Reflect101.Index(y-n.margin, src.Height), src.Width)
			copy(to[n.margin*n.pixel:], from)
			for x := range n.margin {
				left, right := window.Reflect101.Index(x-n.margin, src.Width), window.Reflect101.Index(src.Width+x, src.Width)
				copy(to[x*n.pixel:], from[left*n.pixel:][:n.pixel])
				copy(to[(n.margin+src.Width+x)*n.pixel:], from[right*n.pixel:][:n.pixel])
			}
		}
	}
}

// at returns a frame from a pixel on, which may lie outside the image.
func (n *means) at(frame, x, y int) []byte {
	return n.frames[frame][(y+n.margin)*n.stride+(x+n.margin)*n.pixel:]
}

// row returns an extended row of a frame.
func (n *means) row(frame, y int) []byte {
	return n.frames[frame][(y+n.margin)*n.stride:][:n.stride-windows.Slack]
}

// aim allocates memory for bands of so many rows.
func (w *meansWorker) aim(j *Job, rows int) {
	src := j.Src()
	w.loops.Aim(j.set.Level, src.Type, src.Channels, j.Absolute)
	w.stride = src.Width + j.search + 2*j.patch
	w.columns = engine.AtLeast(w.columns, w.stride*min(groupOffsets, 2*j.search+1))
	w.weights = engine.AtLeast(w.weights, src.Width+j.search)
	area := (src.Width + 2*j.search) * rows
	if j.bytes() {
		w.sums, w.totals = engine.AtLeast(w.sums, area), engine.AtLeast(w.totals, area)
	} else {
		w.longSums, w.longTotals = engine.AtLeast(w.longSums, area*src.Channels), engine.AtLeast(w.longTotals, area)
	}
}

// band denoises rows from top up to bottom.
func (n *means) band(w *meansWorker, j *Job, top, bottom int, reports bool) {
	clear(w.sums)
	clear(w.totals)
	clear(w.longSums)
	clear(w.longTotals)
	for y := top - j.search; y < bottom; y += stripRows {
		to := min(y+stripRows, bottom)
		for frame := range j.Frames {
			o := offsets{frame: frame, pairs: frame == j.Index}
			for o.y = -j.search; o.y <= j.search; o.y++ {
				from, first := max(y, top), -j.search
				if o.pairs {
					from = max(y, top-o.y)
					switch {
					case o.y < 0:
						continue
					case o.y == 0:
						first = 1
					}
				}
				for o.first = first; o.first <= j.search && from < to; o.first += groupOffsets {
					if j.set.Stopped() != nil {
						return
					}
					o.count = min(groupOffsets, j.search+1-o.first)
					n.strip(w, j, &o, from, to, top, bottom)
				}
			}
		}
		done := n.done.Add(int64(max(0, to-max(y, top))))
		if reports && int(done) < j.Src().Height {
			j.set.Report(float64(done) / float64(j.Src().Height))
		}
	}
	for y := top; y < bottom; y++ {
		n.finish(w, j, y, top)
	}
}

// strip adds up what offsets contribute to rows [top, bottom), for patches around pixels of rows [from, to). All offsets process a row
// before the next one.
func (n *means) strip(w *meansWorker, j *Job, o *offsets, from, to, top, bottom int) {
	width, r, side := j.Src().Width, j.patch, 2*j.patch+1
	clear(w.columns)
	for enter := from - r; enter < to+r; enter++ {
		a, b := n.row(j.Index, enter), n.row(o.frame, enter+o.y)
		if leave := enter - side; leave >= from-r {
			w.loops.Rows(a, b, n.row(j.Index, leave), n.row(o.frame, leave+o.y))
		} else {
			w.loops.Rows(a, b, nil, nil)
		}
		y := enter - r
		for i := range o.count {
			dx := o.first + i
			left, count := 0, width // the pixels of a row
			if o.pairs {            // of which one at least is in the image
				left, count = min(0, -dx), width+max(dx, -dx)
			}
			columns := w.columns[i*w.stride:][:count+2*r]
			w.loops.Slide(columns, n.margin+left-r, n.margin+left-r+dx)
			if y < from {
				continue
			}
			weights := w.weights[:count]
			w.loops.Weigh(weights, columns, side, j.shift, j.table)
			if y >= top {
				w.add(j, weights, left, y-top, n.at(o.frame, left+dx, y+o.y))
			}
			if o.pairs && y+o.y < bottom {
				w.add(j, weights, left+dx, y+o.y-top, n.at(j.Index, left, y))
			}
		}
	}
}

// add adds weighted pixels to those of a row of the band from column x on, which may begin and end beyond the image.
func (w *meansWorker) add(j *Job, weights []uint32, x, row int, pixels []byte) {
	c := j.Src().Channels
	at := row*(j.Src().Width+2*j.search) + x + j.search
	if j.bytes() {
		w.loops.AddBytes(w.sums[at:], w.totals[at:], weights, pixels)
	} else {
		w.loops.Add(w.longSums[at*c:], w.longTotals[at:], weights, pixels)
	}
}

// finish computes row y from the sums of a band that begins at row top.
func (n *means) finish(w *meansWorker, j *Job, y, top int) {
	width, c := j.Src().Width, j.Src().Channels
	at := (y-top)*(width+2*j.search) + j.search
	own, dst := n.at(j.Index, 0, y), j.Dst.Span(0, y, width)
	self := uint64(j.table[0])
	switch {
	case j.bytes():
		for x := range dst {
			total := w.totals[at+x] + uint32(self)
			dst[x] = uint8((w.sums[at+x] + uint32(self)*uint32(own[x]) + total/2) / total)
		}
	case j.Src().Type == raster.U8:
		divide(dst, own, w.longSums[at*c:], w.longTotals[at:], self, c)
	default:
		divide(raster.Elems[uint16](dst), raster.Elems[uint16](own[:width*n.pixel]), w.longSums[at*c:], w.longTotals[at:], self, c)
	}
}

// divide computes pixels from sums, to which their own patches have not been added.
func divide[P uint8 | uint16](dst, own []P, sums, totals []uint64, self uint64, channels int) {
	for i := range dst {
		total := totals[i/channels] + self
		dst[i] = P((sums[i] + self*uint64(own[i]) + total/2) / total)
	}
}
