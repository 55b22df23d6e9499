package main

import (
	"fmt"
	"image"
	"io"
	"iter"
	"math"
	"runtime"
	"unsafe"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/gpu"
	"github.com/boxsum/boxsum/imgio"
	"github.com/boxsum/boxsum/internal/grid"
	"github.com/boxsum/boxsum/tilted"
)

// A job is an image and the tables to make of it, whatever their types. Tables
// that do not fit in memory are not made: they are written as their rows come.
type job interface {
	rowByRow() bool
	size() (width, height, channels int)
	tilt(rows bool) error
	types() string   // as in u8:u32, or u8:u32+u64+tilted with squares and the 45° table
	read() int64     // bytes of pixels
	written() int64  // bytes of all tables
	pixelBytes() int // of a value
	sumBytes() int   // of its sums in all tables
	settle(report func(bytes int64))
	integrate(*boxsum.Options) error
	integrateOn(*gpu.Device) error
	stats(box image.Rectangle, channel int) stats
	heatMap() image.Image
	writeNPY(io.Writer) error
	writeNPZ(io.Writer) error
}

// stats is what a query says of one channel of one box.
type stats struct {
	sum       any // of the table's type
	mean, std float64
}

// typedJob is the only job, for every pair of types.
type typedJob[P boxsum.Pixel, S boxsum.Sum, Q boxsum.Square] struct {
	src     boxsum.Image[P]
	squares bool
	tilts   bool
	opt     *boxsum.Options
	sum     *boxsum.Table[S]           // nil if it goes row by row
	squared *boxsum.SquaredTable[S, Q] // nil unless asked for; has sum in it
	tilted  *tilted.Table[S]           // nil unless asked for
	peak    uint64                     // largest magnitude in src, once it matters
}

// newTypedJob takes memory for the tables, or else, with rows, plans to write
// them row by row.
func newTypedJob[P boxsum.Pixel, S boxsum.Sum, Q boxsum.Square](src boxsum.Image[P], squares, rows bool) (job, error) {
	j := &typedJob[P, S, Q]{src: src, squares: squares}
	if fits, err := j.fits(rows); err != nil || !fits {
		return j, err
	}
	var err error
	if squares {
		if j.squared, err = boxsum.NewSquaredTable[S, Q](src.Width, src.Height, src.Channels); err != nil {
			return nil, err
		}
		j.sum = j.squared.Sum
		return j, nil
	}
	if j.sum, err = boxsum.NewTable[S](src.Width, src.Height, src.Channels); err != nil {
		return nil, err
	}
	return j, nil
}

// fits says whether there is memory for tables that have none yet, or else
// whether, with rows, they can do without.
func (j *typedJob[P, S, Q]) fits(rows bool) (bool, error) {
	err := grid.Check(float64(j.src.Width+1) * float64(j.src.Height+1) * float64(j.src.Channels) * float64(j.sumBytes()))
	if err != nil && (!rows || j.src.Height == 0) {
		return false, fmt.Errorf("%w: cut the image up, or write its table to a .npy file, which goes row by row", err)
	}
	return err == nil, nil
}

// tilt adds the 45° table, before any table is made.
func (j *typedJob[P, S, Q]) tilt(rows bool) (err error) {
	j.tilts = true
	if j.rowByRow() {
		return nil
	}
	if fits, err := j.fits(rows); err != nil || !fits {
		j.sum, j.squared = nil, nil
		return err
	}
	j.tilted, err = tilted.NewTable[S](j.src.Width, j.src.Height, j.src.Channels)
	return err
}

func (j *typedJob[P, S, Q]) rowByRow() bool { return j.sum == nil }

func (j *typedJob[P, S, Q]) size() (width, height, channels int) {
	return j.src.Width, j.src.Height, j.src.Channels
}

func (j *typedJob[P, S, Q]) types() string {
	name := typeName[P]() + ":" + typeName[S]()
	if j.squares {
		name += "+" + typeName[Q]()
	}
	if j.tilts {
		name += "+tilted"
	}
	return name
}

func (j *typedJob[P, S, Q]) read() int64 {
	return int64(j.src.Width) * int64(j.src.Height) * int64(j.src.Channels) * sizeOf[P]()
}

func (j *typedJob[P, S, Q]) written() int64 {
	return int64(j.src.Width+1) * int64(j.src.Height+1) * int64(j.src.Channels) * int64(j.sumBytes())
}

func (j *typedJob[P, S, Q]) pixelBytes() int { return int(sizeOf[P]()) }

func (j *typedJob[P, S, Q]) sumBytes() int {
	each := sizeOf[S]()
	if j.squares {
		each += sizeOf[Q]()
	}
	if j.tilts {
		each += sizeOf[S]()
	}
	return int(each)
}

// settle brings the pixels and the tables into memory, so that what is timed
// afterwards is integration and not the system finding pages.
func (j *typedJob[P, S, Q]) settle(report func(bytes int64)) {
	if j.rowByRow() {
		return
	}
	var read P
	for y := range j.src.Height {
		row := j.src.Row(y)
		touchPages(row, func(p *P) { read += *p })
		report(int64(len(row)) * sizeOf[P]())
	}
	runtime.KeepAlive(read)
	touchPages(j.sum.Sums, func(s *S) { *s = 0 })
	if j.squared != nil {
		touchPages(j.squared.Squares.Sums, func(q *Q) { *q = 0 })
	}
	if j.tilted != nil {
		touchPages(j.tilted.Sums, func(s *S) { *s = 0 })
	}
}

// touchPages calls touch for one element of every page of s at least.
func touchPages[T any](s []T, touch func(*T)) {
	const smallestPage = 4096
	for i := 0; i < len(s); i += smallestPage / int(sizeOf[T]()) {
		touch(&s[i])
	}
	if len(s) > 0 {
		touch(&s[len(s)-1])
	}
}

func (j *typedJob[P, S, Q]) integrate(opt *boxsum.Options) error {
	j.opt = opt
	if j.rowByRow() {
		return nil // that is for when it is written
	}
	if j.tilted != nil {
		if err := tilted.IntegrateInto(j.tilted, j.src, tiltedOptions(opt)); err != nil {
			return err
		}
	}
	if j.squared != nil {
		return boxsum.IntegrateSquaresInto(j.squared, j.src, opt)
	}
	return boxsum.IntegrateInto(j.sum, j.src, opt)
}

func (j *typedJob[P, S, Q]) integrateOn(d *gpu.Device) error {
	if j.tilted != nil {
		if err := gpu.IntegrateTiltedHostInto(d, j.tilted, j.src, nil); err != nil {
			return err
		}
	}
	if j.squared != nil {
		return gpu.IntegrateSquaresHostInto(d, j.squared, j.src, nil)
	}
	return gpu.IntegrateHostInto(d, j.sum, j.src, nil)
}

// stats needs the table of squares.
func (j *typedJob[P, S, Q]) stats(box image.Rectangle, channel int) stats {
	s := stats{sum: j.sum.SumChannel(box, channel), mean: j.squared.Mean(box, channel)}
	if j.squaresFit(box.Dx() * box.Dy()) {
		s.std = j.squared.StdDev(box, channel)
		if !j.cancelled(box, channel, s.std) {
			return s
		}
	}
	s.std = j.deviation(box, channel, s.mean)
	return s
}

// cancelled says whether a deviation from float squares has few right digits:
// the squares are then so large beside it that their rounding may be as large.
func (j *typedJob[P, S, Q]) cancelled(box image.Rectangle, channel int, std float64) bool {
	squares, ok := any(j.squared.Squares).(*boxsum.Table[float64])
	if !ok || box.Empty() {
		return false
	}
	const rounding, digits = 0x1p-48, 1e6
	noise := rounding * squares.At(box.Max.X, box.Max.Y, channel) / float64(box.Dx()*box.Dy())
	return std*std < digits*noise
}

// squaresFit says whether the squares of so many pixels surely fit a uint64:
// those of 8 and 16 bits do in every image, those of 32 if they are small.
func (j *typedJob[P, S, Q]) squaresFit(pixels int) bool {
	limit := largestPixel[P]()
	if uint64(pixels) <= math.MaxUint64/(limit*limit) {
		return true
	}
	if j.peak == 0 {
		j.peak = 1
		for y := range j.src.Height {
			for _, p := range j.src.Row(y) {
				j.peak = max(j.peak, uint64(math.Abs(float64(p))))
			}
		}
	}
	return uint64(pixels) <= math.MaxUint64/(j.peak*j.peak)
}

// deviation goes through the pixels of a box whose squares may have wrapped or
// cancelled. The mean may be off by a little: its error is taken away again.
func (j *typedJob[P, S, Q]) deviation(box image.Rectangle, channel int, mean float64) float64 {
	var sum, squares float64
	for y := box.Min.Y; y < box.Max.Y; y++ {
		row := j.src.Row(y)
		for x := box.Min.X; x < box.Max.X; x++ {
			d := float64(row[x*j.src.Channels+channel]) - mean
			sum += d
			squares += d * d
		}
	}
	n := float64(box.Dx() * box.Dy())
	return math.Sqrt(max(0, squares-sum*sum/n) / n)
}

func (j *typedJob[P, S, Q]) heatMap() image.Image { return imgio.HeatMap(j.sum.Exclusive()) }

// sums is the table of sums, as it is written.
func (j *typedJob[P, S, Q]) sums() (shape []int, rows iter.Seq[[]S], err error) {
	if !j.rowByRow() {
		view := j.sum.Exclusive()
		return imgio.ViewShape(view), imgio.ViewRows(view), nil
	}
	stream, err := boxsum.NewStream[S, P](j.src.Width, j.src.Channels, j.opt)
	if err != nil {
		return nil, nil, err
	}
	return j.shape(), streamRows(j.src, stream.Push), nil
}

// squareSums is the table of squares, as it is written.
func (j *typedJob[P, S, Q]) squareSums() (shape []int, rows iter.Seq[[]Q], err error) {
	if !j.rowByRow() {
		view := j.squared.Squares.Exclusive()
		return imgio.ViewShape(view), imgio.ViewRows(view), nil
	}
	stream, err := boxsum.NewSquaredStream[S, Q, P](j.src.Width, j.src.Channels, j.opt)
	if err != nil {
		return nil, nil, err
	}
	push := func(row []P) ([]Q, error) {
		_, squares, err := stream.Push(row)
		return squares, err
	}
	return j.shape(), streamRows(j.src, push), nil
}

// tiltedSums is the 45° table, as it is written.
func (j *typedJob[P, S, Q]) tiltedSums() (shape []int, rows iter.Seq[[]S], err error) {
	if !j.rowByRow() {
		view := j.tilted.View()
		return imgio.ViewShape(view), imgio.ViewRows(view), nil
	}
	stream, err := tilted.NewStream[S, P](j.src.Width, j.src.Channels, tiltedOptions(j.opt))
	if err != nil {
		return nil, nil, err
	}
	return j.shape(), streamRows(j.src, stream.Push), nil
}

// shape is that of the tables.
func (j *typedJob[P, S, Q]) shape() []int {
	return imgio.ViewShape(boxsum.View[S]{Width: j.src.Width + 1, Height: j.src.Height + 1, Channels: j.src.Channels})
}

// streamRows is the rows of a table as they come: row 0 is zero. A row that a
// stream refuses ends them early, which the writer of the file will notice.
func streamRows[P boxsum.Pixel, S boxsum.Sum](src boxsum.Image[P], push func([]P) ([]S, error)) iter.Seq[[]S] {
	return func(yield func([]S) bool) {
		if !yield(make([]S, (src.Width+1)*src.Channels)) {
			return
		}
		for y := range src.Height {
			row, err := push(src.Row(y))
			if err != nil || !yield(row) {
				return
			}
		}
	}
}

func (j *typedJob[P, S, Q]) writeNPY(w io.Writer) error {
	shape, rows, err := j.sums()
	if err != nil {
		return err
	}
	return imgio.WriteNPY(w, shape, rows)
}

func (j *typedJob[P, S, Q]) writeNPZ(w io.Writer) error {
	z := imgio.NewNPZ(w)
	shape, rows, err := j.sums()
	if err != nil {
		return err
	}
	if err := imgio.WriteNPZ(z, "sum", shape, rows); err != nil {
		return err
	}
	if j.squares {
		shape, rows, err := j.squareSums()
		if err != nil {
			return err
		}
		if err := imgio.WriteNPZ(z, "squares", shape, rows); err != nil {
			return err
		}
	}
	if j.tilts {
		shape, rows, err := j.tiltedSums()
		if err != nil {
			return err
		}
		if err := imgio.WriteNPZ(z, "tilted", shape, rows); err != nil {
			return err
		}
	}
	return z.Close()
}

func sizeOf[T any]() int64 { return int64(unsafe.Sizeof(*new(T))) }

// tiltedOptions are the same options for tilted tables.
func tiltedOptions(opt *boxsum.Options) *tilted.Options {
	if opt == nil {
		return nil
	}
	return &tilted.Options{Workers: opt.Workers, Level: opt.Level}
}
