package method

import (
	"errors"
	"math"
	"runtime"
	"unsafe"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/gpu/internal/devmem"
	"github.com/boxsum/boxsum/gpu/internal/driver"
	"github.com/boxsum/boxsum/gpu/internal/kernels"
	"github.com/boxsum/boxsum/gpu/internal/kernels/jobs"
	"github.com/boxsum/boxsum/internal/oriented"
	"github.com/boxsum/boxsum/internal/raster"
)

const (
	hogBytes   = 4 << 30 // maximum memory of a launch
	hogWindows = 1 << 23 // maximum number of windows of a launch; a row of windows has fewer
)

// HOG finds windows in every image of a job.
func HOG(job Job, s *oriented.Search) ([][]oriented.Found, error) {
	h := &hogSearch{Job: job, search: s, found: make([][]oriented.Found, job.Count)}
	if len(s.Levels) == 0 || job.Count == 0 {
		return h.found, nil
	}
	if err := h.plan(); err != nil {
		return nil, err
	}
	all := hogPart{count: job.Count}
	for i, l := range s.Levels {
		all.bands = append(all.bands, hogBand{i, 0, l.Windows.Y})
	}
	if err := h.look(all); err != nil {
		return nil, err
	}
	return h.found, nil
}

// A hogSearch is the state of one call of HOG.
type hogSearch struct {
	Job
	search *oriented.Search
	found  [][]oriented.Found
	group  int
	most   int64 // bytes of a launch
	c      jobs.HOG
	axes   [][2]int32 // of each level

	axesAt, roots, cells, votes, coefficients driver.Memory
}

// A hogPart is what one launch searches: bands in some of the images.
type hogPart struct {
	first, count int
	bands        []hogBand
}

// A hogBand is a range of rows of windows in one level.
type hogBand struct{ level, first, end int }

// halves divides a part, if it consists of more than a row of windows.
func (p hogPart) halves() (a, b hogPart, ok bool) {
	a, b = p, p
	if p.count > 1 {
		a.count = p.count / 2
		b.first, b.count = p.first+a.count, p.count-a.count
		return a, b, true
	}
	if n := len(p.bands) / 2; n > 0 {
		a.bands, b.bands = p.bands[:n], p.bands[n:]
		return a, b, true
	}
	one := p.bands[0]
	middle := one.first + (one.end-one.first)/2
	a.bands, b.bands = []hogBand{{one.level, one.first, middle}}, []hogBand{{one.level, middle, one.end}}
	return a, b, middle > one.first
}

// plan fills in what all launches have in common, and sends it to the device.
func (h *hogSearch) plan() (err error) {
	if h.group, err = h.Job.group(kernels.HOGGroup, kernels.HOGGradients, kernels.HOGBlocks, kernels.HOGNormalize, kernels.HOGScores); err != nil {
		return err
	}
	_, total, err := h.Device.Memory()
	if err != nil {
		return err
	}
	h.most = min(hogBytes, total/4)
	s, c := h.search, &h.c
	c.InStride, c.InDistance = h.In.Stride, h.In.Distance
	c.Bias, c.Threshold, c.Turn, c.Grow, c.Clip = s.Bias, s.Threshold, s.Turn, s.Grow, s.Clip
	c.Channels, c.Colors = int32(h.Channels), int32(s.Colors)
	for i, channel := range s.Channels {
		c.Channel[i] = int32(channel)
	}
	c.LatticeX, c.LatticeY = int32(s.Lattice.X), int32(s.Lattice.Y)
	c.Bins, c.Cells, c.Length = int32(s.Bins), int32(len(s.Cells)), int32(len(s.Cells)*s.Bins)
	c.Across, c.Down = int32(s.Blocks.X), int32(s.Blocks.Y)
	c.StrideX, c.StrideY, c.PaceX, c.PaceY = int32(s.Stride.X), int32(s.Stride.Y), int32(s.Pace.X), int32(s.Pace.Y)
	var axes []int32
	for _, l := range s.Levels {
		if len(axes)+len(l.AxisX)+len(l.AxisY) > math.MaxInt32 {
			return raster.Invalid("image is %d×%d, want at most %d columns and rows in all of its scaled copies (use a larger scale)", h.Width, h.Height, math.MaxInt32)
		}
		h.axes = append(h.axes, [2]int32{int32(len(axes)), int32(len(axes) + len(l.AxisX))})
		axes = append(append(axes, l.AxisX...), l.AxisY...)
	}
	var cells []jobs.HOGCell
	var votes []jobs.HOGVote
	for _, cell := range s.Cells {
		first := len(votes)
		for _, v := range cell {
			votes = append(votes, jobs.HOGVote{Part: int32(v.Y*s.Lattice.X + v.X%s.Lattice.X), Column: int32(v.X / s.Lattice.X), Weight: v.Weight})
		}
		cells = append(cells, jobs.HOGCell{First: int32(first), End: int32(len(votes))})
	}
	return h.send(
		upload{&h.axesAt, "hog axes", raw(axes)}, upload{&h.roots, "hog roots", raw(s.Roots)}, upload{&h.cells, "hog cells", raw(cells)},
		upload{&h.votes, "hog votes", raw(votes)}, upload{&h.coefficients, "hog coefficients", raw(s.Coefficients)})
}

// space returns memory that is kept from call to call.
func (h *hogSearch) space(name string, bytes int64) (driver.Memory, error) {
	at, _, err := h.Device.Workspace(h.Stream, "hog "+name, bytes)
	return at, err
}

// look searches a part, in halves if it is too large for one launch.
func (h *hogSearch) look(p hogPart) error {
	if err := h.ended(); err != nil {
		return err
	}
	l := h.layOut(p)
	a, b, divides := p.halves()
	switch {
	case divides && (l.bytes > h.most || !l.fits):
	case !l.fits:
		return raster.Invalid("image is %d×%d pixels, too wide to search a row of windows in one launch (use the CPU)", h.Width, h.Height)
	default:
		if err := h.run(p, l); !divides || !errors.Is(err, boxsum.ErrMemory) {
			return err
		}
		for _, name := range hogSpaces { // sized for the whole part
			if err := h.Device.DropSpace(h.Stream, "hog "+name); err != nil {
				return err
			}
		}
	}
	if err := h.look(a); err != nil {
		return err
	}
	return h.look(b)
}

// hogSpaces lists the memory whose size depends on the part.
var hogSpaces = [...]string{"first votes", "second votes", "bins", "numbers", "list", "scores"}

// A hogLayout is the layout of a part in memory.
type hogLayout struct {
	bands                   []jobs.HOGBand
	pixels, blocks, windows int64 // of an image
	bytes                   int64
	fits                    bool // all counts fit the kernels
}

// layOut returns the layout of a part.
func (h *hogSearch) layOut(p hogPart) (to hogLayout) {
	s := h.search
	for _, b := range p.bands {
		l := &s.Levels[b.level]
		pitch := devmem.CeilDiv(l.Width, s.Lattice.X)
		across := (l.Width-s.Block.X)/s.Lattice.X + 1
		down := (b.end-b.first-1)*s.Pace.Y + (s.Blocks.Y-1)*s.Stride.Y + 1
		to.bands = append(to.bands, jobs.HOGBand{
			Width: int32(l.Width), Pitch: int32(pitch), Row: int32(b.first * s.Pace.Y * s.Lattice.Y), Across: int32(across), Columns: int32(l.Windows.X),
			Pixel: int32(to.pixels), Block: int32(to.blocks), Window: int32(to.windows),
			AxisX: h.axes[b.level][0], AxisY: h.axes[b.level][1], Last: int32(l.Last), ShortFrom: int32(l.Short),
		})
		to.pixels += int64((down-1)*s.Lattice.Y+s.Block.Y) * int64(pitch*s.Lattice.X)
		to.blocks += int64(down) * int64(across)
		to.windows += int64(b.end-b.first) * int64(l.Windows.X)
	}
	n, numbers := int64(p.count), int64(h.c.Length)
	to.bytes = n*(to.pixels*9+to.blocks*numbers*4) + n*to.windows*12
	chunks := devmem.CeilDiv(s.Bins, kernels.HOGChunk) * len(s.Cells)
	groups := max(to.pixels, to.blocks*int64(chunks), to.windows)/int64(h.group) + int64(chunks)
	to.fits = max(to.pixels, to.blocks, n*groups) < math.MaxInt32-kernels.HOGGroup && n*to.windows <= hogWindows
	return to
}

// run searches a part in one launch of each kernel.
func (h *hogSearch) run(p hogPart, l hogLayout) error {
	c, b, n := h.c, h.Device.Backend, int64(p.count)
	c.Images, c.Bands, c.InStart = int32(p.count), int32(len(l.bands)), h.In.Offset+int64(p.first)*h.In.Distance
	c.Pixels, c.Blocks, c.Windows, c.Plane = int32(l.pixels), int32(l.blocks), int32(l.windows), n*l.blocks
	var spaces [len(hogSpaces)]driver.Memory
	for i, bytes := range [...]int64{4 * n * l.pixels, 4 * n * l.pixels, n * l.pixels, 4 * c.Plane * int64(c.Length), 4 * n * l.windows, 8 * n * l.windows} {
		var err error
		if spaces[i], err = h.space(hogSpaces[i], bytes); err != nil {
			return err
		}
	}
	first, second, bins, numbers, list, scores := spaces[0], spaces[1], spaces[2], spaces[3], spaces[4], spaces[5]
	count, err := h.space("count", 4)
	if err != nil {
		return err
	}
	var bands driver.Memory
	if err := h.send(upload{&bands, "hog bands", raw(l.bands)}); err != nil {
		return err
	}
	items := func(count int64) int64 { return devmem.CeilDiv(count, int64(h.group)) }
	chunks := int64(devmem.CeilDiv(h.search.Bins, kernels.HOGChunk))
	for _, queue := range []func() error{
		func() error { return b.Fill(h.Stream, driver.Plane{Memory: count}, 0, 4) },
		func() error {
			return h.launch(kernels.HOGGradients, n*items(l.pixels), h.group, arg(&c), arg(&h.In.Memory), arg(&bands), arg(&h.axesAt), arg(&h.roots), arg(&first), arg(&second), arg(&bins))
		},
		func() error {
			return h.launch(kernels.HOGBlocks, n*items(l.blocks)*chunks*int64(c.Cells), h.group, arg(&c), arg(&bands), arg(&h.cells), arg(&h.votes), arg(&first), arg(&second), arg(&bins), arg(&numbers))
		},
		func() error {
			return h.launch(kernels.HOGNormalize, items(c.Plane), h.group, arg(&c), arg(&numbers))
		},
		func() error {
			return h.launch(kernels.HOGScores, items(n*l.windows), h.group, arg(&c), arg(&bands), arg(&numbers), arg(&h.coefficients), arg(&list), arg(&scores), arg(&count))
		},
	} {
		if err := queue(); err != nil {
			return err
		}
	}
	return h.collect(p, &l, &c, list, scores, count)
}

// collect reads the windows that were found.
func (h *hogSearch) collect(p hogPart, l *hogLayout, c *jobs.HOG, list, scores, count driver.Memory) error {
	read := func(from driver.Memory, to unsafe.Pointer, n int64) error {
		return h.Device.Backend.CopyOut(h.Stream, to, n, driver.Plane{Memory: from, Stride: n}, driver.Rows{Bytes: n, Count: 1})
	}
	var pin runtime.Pinner
	defer pin.Unpin()
	number := new(uint32)
	pin.Pin(number)
	b := h.Device.Backend
	if err := driver.FirstError(read(count, unsafe.Pointer(number), 4), b.Wait(h.Stream)); err != nil {
		return err
	}
	n := int64(*number)
	if n == 0 {
		return nil
	}
	windows, values := make([]uint32, n), make([]float64, n)
	pin.Pin(&windows[0])
	pin.Pin(&values[0])
	err := driver.FirstError(read(list, unsafe.Pointer(&windows[0]), 4*n), read(scores, unsafe.Pointer(&values[0]), 8*n))
	if err := driver.FirstError(err, b.Wait(h.Stream)); err != nil {
		return err
	}
	for i, w := range windows {
		image, window := p.first+int(w)/int(c.Windows), int32(w)%c.Windows
		if len(h.found[image]) > h.search.Limit {
			continue
		}
		k := len(l.bands) - 1
		for l.bands[k].Window > window {
			k--
		}
		window -= l.bands[k].Window
		columns := l.bands[k].Columns
		h.found[image] = append(h.found[image], oriented.Found{
			Level: p.bands[k].level, X: int(window % columns), Y: p.bands[k].first + int(window/columns), Score: values[i],
		})
	}
	return nil
}
