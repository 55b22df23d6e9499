package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/gpu"
	"github.com/boxsum/boxsum/imgio"
	"github.com/boxsum/boxsum/internal/grid"
	"github.com/boxsum/boxsum/volume"
)

// runVolume is Run for a volume.
func (c *integrateCmd) runVolume(sh *shell) error {
	opt, err := c.options(c.Workers)
	if err != nil {
		return err
	}
	switch {
	case c.Tilted:
		return errors.New("--tilted is for images: leave it out with --volume")
	case c.Demo:
		return errors.New("--demo draws an image: leave it out with --volume")
	case c.In == "":
		return errors.New("no volume: name a folder, a TIFF file or a .npy array")
	}
	write, err := volumeFormat(c.Out, c.Squares)
	if err != nil {
		return err
	}
	if err := cmp.Or(checkFolder(c.Out), checkApart(c.In, c.Out), checkOutside(c.In, c.Out)); err != nil {
		return err
	}
	device, err := c.open()
	if err != nil {
		return err
	}
	defer closeDevice(device)
	stack, err := sh.openStack(c.In, c.Color)
	if err != nil {
		return err
	}
	defer sh.closeStack(stack)
	pair, err := pairNamed(stack.First, c.Type)
	if err != nil {
		return err
	}
	work, err := pair.volume(stack, c.Squares, c.Out != "")
	if err != nil {
		return err
	}
	sh.progress.begin("loading", work.read())
	if err := work.load(sh.ctx, sh.progress.add); err != nil {
		return err
	}
	sh.progress.begin("integrating", 0)
	start := time.Now()
	if err := cmp.Or(integrateVolume(device, work, opt), sh.ctx.Err()); err != nil {
		return err
	}
	took := time.Since(start)
	if c.Out != "" {
		if err := sh.saveAs(c.Out, work.written(), func(w io.Writer) error { return write(work, w) }); err != nil {
			return err
		}
	}
	if work.sliceBySlice() {
		took = time.Since(start)
	}
	return c.print(sh, volumeReport(work, device, opt, took, c.Out))
}

// volumeFormat is how to write the tables of a volume to a path.
func volumeFormat(path string, squares bool) (func(volumeJob, io.Writer) error, error) {
	if path == "" {
		return nil, nil
	}
	f, err := formatOf(path, squares, false)
	switch {
	case err != nil:
		return nil, err
	case f.extension == ".npy":
		return volumeJob.writeNPY, nil
	case f.extension == ".npz":
		return volumeJob.writeNPZ, nil
	}
	return nil, fmt.Errorf("%s: the table of a volume is written as .npy or .npz, and not as %s", path, f.extension)
}

// checkOutside says no to an output that would be a slice of the volume next
// time.
func checkOutside(in, out string) error {
	if in == standard || out == standard || out == "" {
		return nil
	}
	a, err := os.Stat(in)
	if err != nil {
		return err
	}
	if b, err := os.Stat(filepath.Dir(out)); err == nil && a.IsDir() && os.SameFile(a, b) {
		return fmt.Errorf("%s is the folder of the slices: write to another one", filepath.Dir(out))
	}
	return nil
}

// openStack reads the volume of a path.
func (sh *shell) openStack(path, color string) (*imgio.Stack, error) {
	return await(sh.ctx, func() (*imgio.Stack, error) {
		if path != standard {
			return imgio.OpenStack(path, colorModes[color])
		}
		sh.progress.begin("reading", 0)
		stack, err := imgio.DecodeStack(&meteredReader{sh.stdin, sh.progress}, colorModes[color])
		if err != nil {
			return nil, fmt.Errorf("%w, in standard input", err)
		}
		return stack, nil
	})
}

// closeStack gives back a volume, unless Ctrl-C left a slice of it half read: what
// is read from must then stay until the process ends.
func (sh *shell) closeStack(stack *imgio.Stack) {
	if sh.ctx.Err() == nil {
		stack.Close()
	}
}

// volumeReport is the report of a volume.
func volumeReport(work volumeJob, device *gpu.Device, opt *boxsum.Options, took time.Duration, out string) report {
	took = max(took, 1) // a coarse clock may not have moved
	r := report{Types: work.types(), SliceBySlice: work.sliceBySlice(), Out: out}
	r.Width, r.Height, r.Depth, r.Channels = work.size()
	if device != nil {
		r.On, r.Device = device.Info().Kind.String(), device.Info().Name
	} else {
		r.volumeOnCPU(work, opt)
	}
	r.Milliseconds = float64(took) / float64(time.Millisecond)
	r.Bytes = work.read() + work.written()
	r.GBPerSecond = float64(r.Bytes) / float64(took) // bytes in a nanosecond
	return r
}

func (r *report) volumeOnCPU(work volumeJob, opt *boxsum.Options) {
	r.On, r.Level = "cpu", opt.Level.String()
	if opt.Level == (boxsum.Level{}) {
		r.Level = theCPU().Level
	}
	depth := r.Depth
	if r.SliceBySlice {
		depth = 1
	}
	r.Workers = r.work(work.pixelBytes(), work.sumBytes(), opt).PlanVolume(depth).Workers
}

// integrateVolume makes the tables of a volume on a device, or on the CPU where that
// is nil.
func integrateVolume(device *gpu.Device, work volumeJob, opt *boxsum.Options) error {
	switch {
	case device == nil:
		return work.integrate(opt)
	case work.sliceBySlice():
		return errors.New("the table does not fit in memory, and only --on cpu can write it slice by slice")
	}
	return work.integrateOn(device)
}

// runVolume prints what is asked of every box of a volume.
func (c *queryCmd) runVolume(sh *shell) error {
	if c.rotates() {
		return errors.New("--rotate and --rect are for images: leave them out with --volume")
	}
	boxes, err := await(sh.ctx, func() ([]block, error) { return queryBoxes(c, sh.stdin, parseBlock) })
	if err != nil {
		return err
	}
	device, err := c.open()
	if err != nil {
		return err
	}
	defer closeDevice(device)
	stack, err := sh.openStack(c.In, c.Color)
	if err != nil {
		return err
	}
	defer sh.closeStack(stack)
	pair, err := pairExact(stack.First, stack.Depth)
	if err != nil {
		return err
	}
	work, err := pair.volume(stack, true, false)
	if err != nil {
		return err
	}
	sh.progress.begin("loading", work.read())
	if err := work.load(sh.ctx, sh.progress.add); err != nil {
		return err
	}
	sh.progress.begin("integrating", 0)
	opt, start := &boxsum.Options{}, time.Now()
	if err := integrateVolume(device, work, opt); err != nil {
		return err
	}
	took := time.Since(start)
	sh.progress.begin("summing", 0)
	answers := make([]answer, 0, len(boxes))
	for _, b := range boxes {
		if err := sh.ctx.Err(); err != nil {
			return err
		}
		answers = append(answers, askVolume(work, b))
	}
	if c.Verbose {
		sh.progress.close()
		fmt.Fprintln(sh.stderr, volumeReport(work, device, opt, took, ""))
	}
	return c.print(sh, answers)
}

func askVolume(work volumeJob, b block) answer {
	width, height, depth, channels := work.size()
	clipped := b.box().Intersect(volume.NewBox(0, 0, 0, width, height, depth))
	a := answer{box: b, solid: true, area: int64(clipped.Voxels())}
	for c := range channels {
		a.channels = append(a.channels, work.stats(clipped, c))
	}
	return a
}

// A block is X0, Y0, Z0, X1, Y1, Z1 as the user gave them.
type block [6]int

func (b block) box() volume.Box { return volume.NewBox(b[0], b[1], b[2], b[3], b[4], b[5]) }

func (b block) String() string { return b.box().String() }

// parseBlock reads X0,Y0,Z0,X1,Y1,Z1.
func parseBlock(text string) (block, error) {
	var b block
	if err := parseCorners(text, "X0,Y0,Z0,X1,Y1,Z1", b[:]); err != nil {
		return b, err
	}
	if b[0] > b[3] || b[1] > b[4] || b[2] > b[5] {
		return b, fmt.Errorf("box %.60q is inverted: X1, Y1 and Z1 must not be less than X0, Y0 and Z0", text)
	}
	return b, nil
}

// A volumeJob is a volume and the tables to make of it, whatever their types.
// Tables that do not fit in memory are not made: they are written as their
// slices come.
type volumeJob interface {
	sliceBySlice() bool
	size() (width, height, depth, channels int)
	types() string                                            // as in u8:u32, or u8:u32+u64 with squares
	read() int64                                              // bytes of voxels
	written() int64                                           // bytes of all tables
	pixelBytes() int                                          // of a value
	sumBytes() int                                            // of its sums in all tables
	load(ctx context.Context, report func(bytes int64)) error // until ctx ends, as all reading afterwards
	integrate(*boxsum.Options) error
	integrateOn(*gpu.Device) error
	stats(box volume.Box, channel int) stats
	writeNPY(io.Writer) error
	writeNPZ(io.Writer) error
}

// typedVolume is the only volumeJob, for every pair of types.
type typedVolume[P boxsum.Pixel, S boxsum.Sum, Q boxsum.Square] struct {
	stack   *imgio.Stack
	src     volume.Volume[P] // without voxels if it goes slice by slice
	squares bool
	opt     *boxsum.Options
	ctx     context.Context            // ends the reading of slices
	sum     *volume.Table[S]           // nil if it goes slice by slice
	squared *volume.SquaredTable[S, Q] // nil unless asked for; has sum in it
	peak    uint64                     // largest magnitude in src, once it matters
}

// newTypedVolume takes memory for the tables, or else, with slices, plans to
// write them slice by slice.
func newTypedVolume[P boxsum.Pixel, S boxsum.Sum, Q boxsum.Square](stack *imgio.Stack, squares, slices bool) (volumeJob, error) {
	first := stack.First.(boxsum.Image[P])
	j := &typedVolume[P, S, Q]{stack: stack, squares: squares, ctx: context.Background()}
	j.src = volume.Volume[P]{Width: first.Width, Height: first.Height, Depth: stack.Depth, Channels: max(first.Channels, 1)}
	need := float64(j.src.Width+1) * float64(j.src.Height+1) * float64(j.src.Depth+1) * float64(j.src.Channels) * float64(j.sumBytes())
	if stack.Whole == nil {
		need += float64(j.src.Width) * float64(j.src.Height) * float64(j.src.Depth) * float64(j.src.Channels) * float64(j.pixelBytes())
	}
	switch err := grid.Check(need); {
	case err != nil && slices:
		return j, nil
	case err != nil:
		return nil, fmt.Errorf("%w: cut the volume up, or write its table to a .npy file, which goes slice by slice", err)
	}
	var err error
	if squares {
		if j.squared, err = volume.NewSquaredTable[S, Q](j.src.Width, j.src.Height, j.src.Depth, j.src.Channels); err != nil {
			return nil, err
		}
		j.sum = j.squared.Sum
		return j, nil
	}
	if j.sum, err = volume.NewTable[S](j.src.Width, j.src.Height, j.src.Depth, j.src.Channels); err != nil {
		return nil, err
	}
	return j, nil
}

func (j *typedVolume[P, S, Q]) sliceBySlice() bool { return j.sum == nil }

func (j *typedVolume[P, S, Q]) size() (width, height, depth, channels int) {
	return j.src.Width, j.src.Height, j.src.Depth, j.src.Channels
}

func (j *typedVolume[P, S, Q]) types() string {
	name := typeName[P]() + ":" + typeName[S]()
	if j.squares {
		name += "+" + typeName[Q]()
	}
	return name
}

func (j *typedVolume[P, S, Q]) read() int64 {
	return int64(j.src.Width) * int64(j.src.Height) * int64(j.src.Depth) * int64(j.src.Channels) * sizeOf[P]()
}

func (j *typedVolume[P, S, Q]) written() int64 {
	return int64(j.src.Width+1) * int64(j.src.Height+1) * int64(j.src.Depth+1) * int64(j.src.Channels) * int64(j.sumBytes())
}

func (j *typedVolume[P, S, Q]) pixelBytes() int { return int(sizeOf[P]()) }

func (j *typedVolume[P, S, Q]) sumBytes() int {
	if j.squares {
		return int(sizeOf[S]() + sizeOf[Q]())
	}
	return int(sizeOf[S]())
}

// load brings the voxels and the tables into memory, so that what is timed
// afterwards is integration and neither decoding nor the system finding pages.
func (j *typedVolume[P, S, Q]) load(ctx context.Context, report func(bytes int64)) error {
	j.ctx = ctx
	if j.sliceBySlice() {
		return nil
	}
	if whole, ok := j.stack.Whole.(boxsum.Image[P]); ok {
		j.src.Pix = whole.Pix
		var read P
		touchPages(j.src.Pix, func(p *P) { read += *p })
		runtime.KeepAlive(read)
		report(j.read())
	} else if err := j.fill(report); err != nil {
		return err
	}
	touchPages(j.sum.Sums, func(s *S) { *s = 0 })
	if j.squared != nil {
		touchPages(j.squared.Squares.Sums, func(q *Q) { *q = 0 })
	}
	return nil
}

// fill copies the slices one after the other.
func (j *typedVolume[P, S, Q]) fill(report func(bytes int64)) error {
	all, err := volume.New[P](j.src.Width, j.src.Height, j.src.Depth, j.src.Channels)
	if err != nil {
		return err
	}
	for z := range all.Depth {
		img, err := j.slice(z)
		if err != nil {
			return err
		}
		to := all.Slice(z)
		for y := range to.Height {
			copy(to.Row(y), img.Row(y))
		}
		report(j.read() / int64(all.Depth))
	}
	j.src = all
	return nil
}

// slice reads one slice, or returns at once on Ctrl-C: the file may be far away.
func (j *typedVolume[P, S, Q]) slice(z int) (boxsum.Image[P], error) {
	img, err := await(j.ctx, func() (any, error) { return j.stack.Slice(z) })
	if err = cmp.Or(err, j.ctx.Err()); err != nil {
		return boxsum.Image[P]{}, err
	}
	return img.(boxsum.Image[P]), nil
}

func (j *typedVolume[P, S, Q]) integrate(opt *boxsum.Options) error {
	j.opt = opt
	switch {
	case j.sliceBySlice():
		return nil // that is for when it is written
	case j.squared != nil:
		return volume.IntegrateSquaresInto(j.squared, j.src, opt)
	}
	return volume.IntegrateInto(j.sum, j.src, opt)
}

// integrateOn makes the tables on a device.
func (j *typedVolume[P, S, Q]) integrateOn(d *gpu.Device) error {
	err := gpu.IntegrateVolumeHostInto(d, j.sum, j.src, nil)
	if err == nil && j.squared != nil {
		err = gpu.IntegrateVolumeSquaresHostInto(d, j.squared.Squares, j.src, nil)
	}
	return err
}

// stats needs the table of squares.
func (j *typedVolume[P, S, Q]) stats(box volume.Box, channel int) stats {
	s := stats{sum: j.sum.SumChannel(box, channel), mean: j.squared.Mean(box, channel)}
	if j.squaresFit(box.Voxels()) {
		s.std = j.squared.StdDev(box, channel)
		if !j.cancelled(box, channel, s.std) {
			return s
		}
	}
	s.std = j.deviation(box, channel, s.mean)
	return s
}

// cancelled is that of typedJob.
func (j *typedVolume[P, S, Q]) cancelled(box volume.Box, channel int, std float64) bool {
	squares, ok := any(j.squared.Squares).(*volume.Table[float64])
	if !ok || box.Empty() {
		return false
	}
	const rounding, digits = 0x1p-48, 1e6
	noise := rounding * squares.At(box.X1, box.Y1, box.Z1, channel) / float64(box.Voxels())
	return std*std < digits*noise
}

// squaresFit is that of typedJob.
func (j *typedVolume[P, S, Q]) squaresFit(voxels int) bool {
	limit := largestPixel[P]()
	if uint64(voxels) <= math.MaxUint64/(limit*limit) {
		return true
	}
	if j.peak == 0 {
		j.peak = 1
		for z := range j.src.Depth {
			slice := j.src.Slice(z)
			for y := range slice.Height {
				for _, p := range slice.Row(y) {
					j.peak = max(j.peak, uint64(math.Abs(float64(p))))
				}
			}
		}
	}
	return uint64(voxels) <= math.MaxUint64/(j.peak*j.peak)
}

// deviation is that of typedJob.
func (j *typedVolume[P, S, Q]) deviation(box volume.Box, channel int, mean float64) float64 {
	var sum, squares float64
	for z := box.Z0; z < box.Z1; z++ {
		slice := j.src.Slice(z)
		for y := box.Y0; y < box.Y1; y++ {
			row := slice.Row(y)
			for x := box.X0; x < box.X1; x++ {
				d := float64(row[x*slice.Channels+channel]) - mean
				sum += d
				squares += d * d
			}
		}
	}
	n := float64(box.Voxels())
	return math.Sqrt(max(0, squares-sum*sum/n) / n)
}

// shape is that of the tables.
func (j *typedVolume[P, S, Q]) shape() []int {
	shape := []int{j.src.Depth + 1, j.src.Height + 1, j.src.Width + 1}
	if j.src.Channels > 1 {
		shape = append(shape, j.src.Channels)
	}
	return shape
}

// tableRows is the rows of a table that is there.
func tableRows[S boxsum.Sum](t *volume.Table[S]) iter.Seq[[]S] {
	return func(yield func([]S) bool) {
		for z := range t.Depth + 1 {
			view := t.Slice(z)
			for y := range view.Height {
				if !yield(view.Row(y)) {
					return
				}
			}
		}
	}
}

// pushedRows is the rows of a table as its slices come: slice 0 is zero. What
// keeps a slice from coming ends them early, and is in failed.
func pushedRows[P boxsum.Pixel, S boxsum.Sum, Q boxsum.Square, T boxsum.Sum](j *typedVolume[P, S, Q], push func(boxsum.Image[P]) (boxsum.View[T], error), failed *error) iter.Seq[[]T] {
	return func(yield func([]T) bool) {
		zeros := make([]T, (j.src.Width+1)*j.src.Channels)
		for range j.src.Height + 1 {
			if !yield(zeros) {
				return
			}
		}
		for z := range j.src.Depth {
			img, err := j.slice(z)
			if err != nil {
				*failed = err
				return
			}
			view, err := push(img)
			if err != nil {
				*failed = err
				return
			}
			for y := range view.Height {
				if !yield(view.Row(y)) {
					return
				}
			}
		}
	}
}

// sums is the rows of the table of sums, as they are written.
func (j *typedVolume[P, S, Q]) sums(failed *error) (iter.Seq[[]S], error) {
	if !j.sliceBySlice() {
		return tableRows(j.sum), nil
	}
	stream, err := volume.NewStream[S, P](j.src.Width, j.src.Height, j.src.Channels, j.opt)
	if err != nil {
		return nil, err
	}
	return pushedRows(j, stream.Push, failed), nil
}

// squareSums is the rows of the table of squares, as they are written.
func (j *typedVolume[P, S, Q]) squareSums(failed *error) (iter.Seq[[]Q], error) {
	if !j.sliceBySlice() {
		return tableRows(j.squared.Squares), nil
	}
	stream, err := volume.NewSquaredStream[S, Q, P](j.src.Width, j.src.Height, j.src.Channels, j.opt)
	if err != nil {
		return nil, err
	}
	return pushedRows(j, func(img boxsum.Image[P]) (boxsum.View[Q], error) {
		_, squares, err := stream.Push(img)
		return squares, err
	}, failed), nil
}

func (j *typedVolume[P, S, Q]) writeNPY(w io.Writer) error {
	var failed error
	rows, err := j.sums(&failed)
	if err != nil {
		return err
	}
	err = imgio.WriteNPY(w, j.shape(), rows)
	return cmp.Or(failed, err)
}

func (j *typedVolume[P, S, Q]) writeNPZ(w io.Writer) error {
	z := imgio.NewNPZ(w)
	var failed error
	rows, err := j.sums(&failed)
	if err != nil {
		return err
	}
	err = imgio.WriteNPZ(z, "sum", j.shape(), rows)
	if err = cmp.Or(failed, err); err != nil {
		return err
	}
	if j.squares {
		rows, err := j.squareSums(&failed)
		if err != nil {
			return err
		}
		err = imgio.WriteNPZ(z, "squares", j.shape(), rows)
		if err = cmp.Or(failed, err); err != nil {
			return err
		}
	}
	return z.Close()
}
