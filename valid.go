package boxsum

import (
	"image"
	"math"

	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/internal/stats"
)

// Valid specifies which pixels of an image are valid. The zero value means all of them.
type Valid struct {
	// Mask selects the valid pixels: those where it is not zero. It must have the size of
	// the image, and either one channel, which applies to all channels of the image, or as
	// many channels as the image. The zero Image means no mask.
	Mask Image[uint8]

	// SkipNaN treats NaN as a missing value, separately in each channel. Infinities are
	// ordinary values.
	SkipNaN bool
}

// A ValidTable holds the tables of the valid pixels of an image: their sums, their
// squares and their number. A box may contain pixels that are not valid, such as NaN or
// a marker for missing values: its results cover the others.
//
// The methods of Sum and Squares also return sums and means of valid pixels only.
type ValidTable[S Sum, Q Square] struct {
	Sum     *Table[S]
	Squares *Table[Q] // may be nil
	Count   *Table[uint32]
}

// NewValidTable allocates tables of sums, squares and counts for an image of the given
// size. Zero channels means one. NewValidTable returns an error that wraps
// [ErrInvalid] if an argument is negative, and one that wraps [ErrMemory] if there is
// not enough memory.
func NewValidTable[S Sum, Q Square](width, height, channels int) (*ValidTable[S, Q], error) {
	both, err := NewSquaredTable[S, Q](width, height, channels)
	if err != nil {
		return nil, err
	}
	count, err := NewTable[uint32](width, height, channels)
	return raster.OrNil(&ValidTable[S, Q]{Sum: both.Sum, Squares: both.Squares, Count: count}, err)
}

// IntegrateValid returns the tables of the valid pixels of an image, computed in one
// pass. The supported types are those of [IntegrateSquares]. For example:
//
//	table, err := boxsum.IntegrateValid[float64, float64](img, boxsum.Valid{SkipNaN: true}, nil)
//	mean, std, pixels := table.Mean(box, 0), table.StdDev(box, 0), table.Area(box, 0)
func IntegrateValid[S Sum, Q Square, P Pixel](src Image[P], valid Valid, opt *Options) (*ValidTable[S, Q], error) {
	var job engine.ValidJob
	src.set(&job.Src)
	opt.start(&job.Job, raster.TypeOf[S](), raster.TypeOf[Q]())
	valid.start(&job)
	if err := job.Check(); err != nil {
		return nil, err
	}
	t, err := NewValidTable[S, Q](src.Width, src.Height, src.Channels)
	if err != nil {
		return nil, err
	}
	return raster.OrNil(t, t.fill(&job))
}

// IntegrateValidInto is like [IntegrateValid] but stores the tables in dst. They must
// have the size of the image and must not overlap it, the mask, or each other. If
// dst.Squares is nil, only the other two are computed. Repeated calls with images of
// the same type do not allocate.
func IntegrateValidInto[S Sum, Q Square, P Pixel](dst *ValidTable[S, Q], src Image[P], valid Valid, opt *Options) error {
	squares := raster.TypeOf[Q]()
	if dst != nil && dst.Squares == nil {
		squares = 0
	}
	var job engine.ValidJob
	src.set(&job.Src)
	opt.start(&job.Job, raster.TypeOf[S](), squares)
	valid.start(&job)
	if err := job.Check(); err != nil {
		return err
	}
	return dst.fill(&job)
}

// start sets which pixels are valid.
func (v *Valid) start(j *engine.ValidJob) {
	v.Mask.set(&j.Mask)
	j.NaN, j.Count.Type = v.SkipNaN, raster.U32
}

// fill makes the tables of a checked job.
func (t *ValidTable[S, Q]) fill(job *engine.ValidJob) error {
	if t == nil || t.Sum == nil || t.Count == nil {
		return raster.NoTable()
	}
	t.Sum.set(&job.Sums.Array)
	t.Count.set(&job.Count.Array)
	if t.Squares != nil {
		t.Squares.set(&job.Squares.Array)
	}
	if err := job.Run(); err != nil {
		return err
	}
	t.Sum.adopt(&job.Sums)
	t.Count.adopt(&job.Count)
	t.Sum.valid = t.Count
	if t.Squares != nil {
		t.Squares.adopt(&job.Squares)
		(&SquaredTable[S, Q]{t.Sum, t.Squares}).join()
		t.Squares.valid = t.Count
	}
	return nil
}

// ValidTableOf combines tables of the valid pixels of the same image, whose memory may
// have been filled elsewhere. They must have the same size; squares may be nil. The
// [Table.Offset] of squares must be 0 or equal to that of sum. From then on, the
// methods of sum and squares return results for valid pixels only.
func ValidTableOf[S Sum, Q Square](sum *Table[S], squares *Table[Q], count *Table[uint32]) (*ValidTable[S, Q], error) {
	if err := sum.room(0, 0); err != nil {
		return nil, err
	}
	size := sum.extent()
	if err := sameSize(count, &size); err != nil {
		return nil, err
	}
	if squares != nil {
		if _, err := SquaredTableOf(sum, squares); err != nil {
			return nil, err
		}
		squares.valid = count
	}
	sum.valid = count
	return &ValidTable[S, Q]{Sum: sum, Squares: squares, Count: count}, nil
}

// count returns the number of pixels in the sum of a box inside the image.
func (t *Table[S]) count(box image.Rectangle, channel int) int {
	if t.valid == nil {
		return rectangle(box).Pixels()
	}
	return countValid(t.valid, rectangle(box), channel)
}

// countValid returns the number of valid pixels of a box. A box that may have more
// pixels than an entry of the table of counts can hold is counted in parts.
func countValid(count *Table[uint32], box rectangle, channel int) int {
	if uint64(box.Pixels()) <= math.MaxUint32 {
		return int(count.sum(image.Rectangle(box), channel))
	}
	one, other, _ := box.Halves()
	return countValid(count, one, channel) + countValid(count, other, channel)
}

// A validBox is a box of which only the valid pixels count.
type validBox struct {
	rectangle
	count   *Table[uint32]
	channel int
}

func (b validBox) Pixels() int { return countValid(b.count, b.rectangle, b.channel) }

func (b validBox) Halves() (one, other validBox, ok bool) {
	one, other = b, b
	one.rectangle, other.rectangle, ok = b.rectangle.Halves()
	return one, other, ok && b.rectangle.Pixels() > 1
}

// validTotal returns the sum of a box of n valid pixels, without the offset, added up
// from parts of at most the given number of pixels.
func (t *Table[S]) validTotal(box validBox, n, most int) stats.Sum {
	if n <= most {
		return t.known().Interpret(stats.SumOf(t.sum(image.Rectangle(box.rectangle), box.channel)))
	}
	one, other, ok := box.Halves()
	if !ok {
		return stats.Sum{}
	}
	return t.validTotal(one, one.Pixels(), most).Plus(t.validTotal(other, other.Pixels(), most))
}

// validMean returns the mean over the valid pixels of a box inside the image.
func (t *Table[S]) validMean(count *Table[uint32], box image.Rectangle, channel int) float64 {
	n := countValid(count, rectangle(box), channel)
	switch {
	case n == 0:
		return math.NaN()
	case t.known().Fit(n, raster.TypeOf[S]()):
		return t.mean(n, box, channel)
	}
	return float64(t.Offset) + stats.Mean(n, t.validTotal(validBox{rectangle(box), count, channel}, n, t.known().MaxCount(raster.TypeOf[S](), false)))
}

// validVariance returns the variance over the valid pixels of a box inside the image. It
// is not a method of [ValidTable] because every SquaredTable would instantiate that.
func (t *SquaredTable[S, Q]) validVariance(valid validBox) float64 {
	box, channel := image.Rectangle(valid.rectangle), valid.channel
	n, s, q := valid.Pixels(), raster.TypeOf[S](), raster.TypeOf[Q]()
	switch {
	case n == 0:
		return math.NaN()
	case !s.Float() && !q.Float() && t.Sum.known().Fit(n, s) && t.Squares.known().Fit(n, q):
		return stats.VarianceOfIntegers(n, stats.Magnitude(t.Sum.sum(box, channel)), uint64(t.Squares.sum(box, channel)))
	}
	most, mostSquares := stats.MaxCounts(s, t.Sum.known(), q, t.Squares.known())
	sum, squares := t.Sum.validTotal(valid, n, most), t.Squares.validTotal(valid, n, mostSquares)
	if !s.Float() && !q.Float() {
		return stats.Variance(n, sum, squares, nil, nil)
	}
	if t.Sum.Offset != t.Squares.Offset {
		sum = t.Sum.known().Interpret(stats.SumOf(t.Sum.sum(box, channel) + S(float64(t.Sum.Offset)*float64(n))))
	}
	r := t.rounding(valid.rectangle, channel)
	r.Pixels = countValid(valid.count, rectangle{Max: box.Max}, channel)
	return stats.Variance(n, sum, squares, &r, func() bool { return t.whole(valid.rectangle, channel) })
}

// inside returns the part of box that is inside the image, and whether it is not empty
// and the image has the channel.
func (t *ValidTable[S, Q]) inside(box image.Rectangle, channel int) (image.Rectangle, bool) {
	if t == nil || t.Sum == nil || t.Count == nil {
		return box, false
	}
	box = box.Intersect(t.Sum.Bounds())
	return box, !box.Empty() && uint(channel) < uint(t.Sum.Channels)
}

// Area returns the number of valid pixels of one channel in a box, clipped to the
// image.
func (t *ValidTable[S, Q]) Area(box image.Rectangle, channel int) int {
	box, ok := t.inside(box, channel)
	if !ok {
		return 0
	}
	return countValid(t.Count, rectangle(box), channel)
}

// Mean returns the mean of one channel over the valid pixels of a box, clipped to the
// image, or NaN if there are none. Like [Table.Mean], it is correct for boxes of any
// size.
func (t *ValidTable[S, Q]) Mean(box image.Rectangle, channel int) float64 {
	box, ok := t.inside(box, channel)
	if !ok {
		return math.NaN()
	}
	return t.Sum.validMean(t.Count, box, channel)
}

// Variance returns the variance of one channel over the valid pixels of a box, clipped
// to the image, or NaN if there are none or Squares is nil. It is as accurate as
// [SquaredTable.Variance].
func (t *ValidTable[S, Q]) Variance(box image.Rectangle, channel int) float64 {
	box, ok := t.inside(box, channel)
	if !ok || t.Squares == nil {
		return math.NaN()
	}
	both := SquaredTable[S, Q]{t.Sum, t.Squares}
	return both.validVariance(validBox{rectangle(box), t.Count, channel})
}

// StdDev returns the standard deviation of one channel over the valid pixels of a box,
// clipped to the image: the square root of [ValidTable.Variance].
func (t *ValidTable[S, Q]) StdDev(box image.Rectangle, channel int) float64 {
	return math.Sqrt(t.Variance(box, channel))
}

// MeanBoxes writes the means of all channels over the valid pixels of every box,
// clipped to the image, to dst: the mean of channel c over boxes[i] is
// dst[i*Channels+c]. The mean of a box without valid pixels is NaN. MeanBoxes
// returns an error if dst has fewer than len(boxes)*Channels elements.
func (t *ValidTable[S, Q]) MeanBoxes(dst []float64, boxes []image.Rectangle) error {
	return t.each(dst, boxes, false, t.Mean)
}

// VarianceBoxes writes the variances of all channels over the valid pixels of every
// box, clipped to the image, to dst: the variance of channel c over boxes[i] is
// dst[i*Channels+c]. The variance of a box without valid pixels is NaN.
// VarianceBoxes returns an error if Squares is nil or dst has fewer than
// len(boxes)*Channels elements.
func (t *ValidTable[S, Q]) VarianceBoxes(dst []float64, boxes []image.Rectangle) error {
	return t.each(dst, boxes, true, t.Variance)
}

// StdDevBoxes writes the standard deviations of all channels over the valid pixels
// of every box, clipped to the image, to dst: the standard deviation of channel c
// over boxes[i] is dst[i*Channels+c]. The standard deviation of a box without valid
// pixels is NaN. StdDevBoxes returns an error if Squares is nil or dst has fewer
// than len(boxes)*Channels elements.
func (t *ValidTable[S, Q]) StdDevBoxes(dst []float64, boxes []image.Rectangle) error {
	return t.each(dst, boxes, true, t.StdDev)
}

// each writes the result of a query for every box. All tables must have the same size.
func (t *ValidTable[S, Q]) each(dst []float64, boxes []image.Rectangle, squares bool, of func(box image.Rectangle, channel int) float64) error {
	if t == nil {
		return raster.NoTable()
	}
	if err := t.Sum.room(len(dst), len(boxes)); err != nil {
		return err
	}
	size := t.Sum.extent()
	if err := sameSize(t.Count, &size); err != nil {
		return err
	}
	if squares {
		if err := sameSize(t.Squares, &size); err != nil {
			return err
		}
	}
	for i, box := range boxes {
		for channel := range t.Sum.Channels {
			dst[i*t.Sum.Channels+channel] = of(box, channel)
		}
	}
	return nil
}

// sameSize returns an error if the table is invalid or not of the given size.
func sameSize[S Sum](t *Table[S], size *raster.Extent) error {
	if err := t.room(0, 0); err != nil {
		return err
	}
	e := t.extent()
	return e.Same(size)
}
