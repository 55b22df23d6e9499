package hog

import (
	"context"
	"fmt"
	"image"
	"math/bits"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/histogram"
	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/raster"
)

// Votes describes the histograms of a [Table]. A field that is zero has its default value.
type Votes struct {
	Bins   int  // number of bins, 2 to 256; zero means 9
	Signed bool // see [Config.Signed]
	Linear bool // see [Config.Linear]
	// Spread distributes the vote of a pixel over its neighbors, with weights that fall linearly to 0
	// at this distance along each axis. It must be 1, which leaves votes in place, 2, 4, 8 or 16. Zero
	// means 4. Half the size of a cell is a good value.
	Spread int
}

const (
	usualSpread = 4
	maxSpread   = 16
	// The units of votes make the largest, of √2·255 or √(2·255) gray levels, fit in 16 bits.
	unitLinear = 1 << 7
	unitRoots  = 1 << 11
	// exactPixels is the largest number of pixels whose votes fit in 32 bits.
	exactPixels = 1 << 16
)

// check returns the votes with their defaults filled in.
func (v Votes) check() (Votes, error) {
	if v.Bins == 0 {
		v.Bins = usualBins
	}
	if v.Spread == 0 {
		v.Spread = usualSpread
	}
	if v.Bins < histogram.MinBins || v.Bins > histogram.MaxBins {
		return v, raster.Invalid("bins is %d, want %d to %d", v.Bins, histogram.MinBins, histogram.MaxBins)
	}
	if v.Spread < 1 || v.Spread > maxSpread || bits.OnesCount(uint(v.Spread)) != 1 {
		return v, raster.Invalid("spread is %d, want 1, 2, 4, 8 or 16", v.Spread)
	}
	return v, nil
}

// unit returns the number that stands for a gradient of one gray level, or of one square root.
func (v *Votes) unit() float64 {
	if v.Linear {
		return unitLinear
	}
	return unitRoots
}

// TableOptions configures [Integrate]. Nil and the zero value select the defaults.
type TableOptions struct {
	BGR bool // see [Options.BGR]

	Workers  int
	Level    boxsum.Level
	Context  context.Context
	Progress func(done float64)
}

// A Table is an integral histogram of the oriented gradients of an image: the histogram of any box
// takes one step per bin, however large the box is.
//
// Gradients are computed as in a [Descriptor], but without OpenCV's different rounding in the last
// columns of an image. Each gradient votes for the two bins next to its direction. Votes are
// rounded to integers, so that boxes are exact. Because interpolation between cells is not possible
// later, votes are first distributed over neighboring pixels (Wang, Han and Yan, "An HOG-LBP human
// detector with partial occlusion handling", ICCV 2009). Votes that fall outside the image are
// lost.
//
// A Table is safe for concurrent use as long as no goroutine integrates into it.
type Table struct {
	// Histograms holds the sums of votes, in units of 1/[Table.Unit]. The center of bin i is
	// Histograms.Bins.Center(i), in degrees. Sums are modulo 2^32: those of up to 65536 pixels are
	// exact. [Table.Histogram] has no such limit.
	Histograms *histogram.Table[uint32]

	votes      Votes
	descriptor *Descriptor // computes gradients: its blocks are as high as votes are spread
}

// NewTable allocates a table for images of the given size. It returns an error that wraps
// [boxsum.ErrInvalid] if a side is negative or a field of v is out of range.
func NewTable(width, height int, v Votes) (*Table, error) {
	v, err := v.check()
	if err != nil {
		return nil, err
	}
	degrees := 180.0
	if v.Signed {
		degrees = 360
	}
	h, err := histogram.NewTable[uint32](width, height, 1, histogram.Bins{N: v.Bins, High: degrees})
	if err != nil {
		return nil, err
	}
	rows := image.Pt(1, 2*v.Spread+1)
	d, err := New(Config{Window: rows, Block: rows, Cell: rows, Stride: image.Pt(1, 1), Bins: v.Bins, Signed: v.Signed, Linear: v.Linear})
	if err != nil {
		return nil, err
	}
	return &Table{Histograms: h, votes: v, descriptor: d}, nil
}

// Integrate returns the integral histogram of the oriented gradients of img, which must have one
// channel, or three or four that start with red, green and blue. In each pixel, the channel with
// the largest gradient counts.
func Integrate(img boxsum.Image[uint8], v Votes, o *TableOptions) (*Table, error) {
	t, err := NewTable(img.Width, img.Height, v)
	if err != nil {
		return nil, err
	}
	if err := IntegrateInto(t, img, o); err != nil {
		return nil, err
	}
	return t, nil
}

// IntegrateInto is like [Integrate] but stores the table in dst, which must have the size of the
// image. Repeated calls with images of the same size do not allocate.
func IntegrateInto(dst *Table, img boxsum.Image[uint8], o *TableOptions) error {
	if !dst.valid() {
		return raster.Invalid("nil or empty Table (use NewTable or Integrate)")
	}
	if o == nil {
		o = new(TableOptions)
	}
	s := takeSearch(dst.descriptor, integrates)
	defer s.leave()
	opt := engine.Options{Workers: o.Workers, Level: o.Level.String(), Context: o.Context}
	var err error
	if s.set, err = opt.Check(); err != nil {
		return err
	}
	if err := s.look(&img, o.BGR); err != nil {
		return err
	}
	h := dst.Histograms
	if s.src.Width != h.Width || s.src.Height != h.Height {
		return raster.Invalid("image is %d×%d, want %d×%d (the table's size)", s.src.Width, s.src.Height, h.Width, h.Height)
	}
	n := dst.votes.Bins
	if err := raster.Check(2 * float64(n) * float64(h.Width) * float64(h.Height)); err != nil {
		return fmt.Errorf("votes of the image: %w", err)
	}
	s.votes, s.table = engine.AtLeast(s.votes, n*h.Width*h.Height), dst
	s.step = image.Pt(1, 1)
	l := level{scale: 1}
	l.set(s.descriptor, s.step, image.Point{}, h.Width, h.Height)
	l.count = image.Pt(1, h.Height) // rows of votes
	s.levels = append(s.levels[:0], l)
	if err := s.run(); err != nil {
		return err
	}
	sums := boxsum.Table[uint32]{Sums: h.Counts, Stride: (h.Width + 1) * n, Width: h.Width, Height: h.Height, Channels: n}
	votes := boxsum.Image[uint16]{Pix: s.votes, Width: h.Width, Height: h.Height, Channels: n}
	return boxsum.IntegrateInto(&sums, votes, &boxsum.Options{Workers: o.Workers, Level: o.Level, Context: o.Context, Progress: o.Progress})
}

// valid reports whether the table comes from NewTable and its histograms are unchanged.
func (t *Table) valid() bool {
	if t == nil || t.descriptor == nil || t.Histograms == nil {
		return false
	}
	h := t.Histograms
	return h.Width > 0 && h.Height > 0 && h.Bins.N == t.votes.Bins && len(h.Counts) == (h.Width+1)*(h.Height+1)*h.Bins.N
}

// Votes returns the configuration of the table's histograms, with defaults filled in.
func (t *Table) Votes() Votes {
	if t == nil {
		return Votes{}
	}
	return t.votes
}

// Unit returns the number that a gradient of one gray level contributes to the bins of
// [Table.Histogram]. If [Votes.Linear] is not set, gradients are those of the square roots of gray
// levels.
func (t *Table) Unit() float64 {
	if t == nil {
		return 0
	}
	return t.votes.unit()
}

// Histogram appends the histogram of a box, clipped to the image, to dst and returns the extended
// slice. The histogram consists of the sums of gradients for each bin, which are exact for boxes of
// any size.
func (t *Table) Histogram(dst []float64, box image.Rectangle) []float64 {
	if !t.valid() {
		return dst
	}
	have := len(dst)
	for range t.votes.Bins {
		dst = append(dst, 0)
	}
	t.add(dst[have:], box.Intersect(t.Histograms.Bounds()))
	for i := range dst[have:] {
		dst[have+i] /= t.votes.unit()
	}
	return dst
}

// add adds the votes in a box to sums, in parts whose sums are exact.
func (t *Table) add(sums []float64, box image.Rectangle) {
	if size := box.Size(); size.X*size.Y > exactPixels {
		first, second := box, box
		if size.X > size.Y {
			first.Max.X -= size.X / 2
			second.Min.X = first.Max.X
		} else {
			first.Max.Y -= size.Y / 2
			second.Min.Y = first.Max.Y
		}
		t.add(sums, first)
		t.add(sums, second)
		return
	}
	if box.Empty() {
		return
	}
	h := t.Histograms
	a, b := h.At(box.Min.X, box.Min.Y, 0), h.At(box.Max.X, box.Min.Y, 0)
	c, d := h.At(box.Min.X, box.Max.Y, 0), h.At(box.Max.X, box.Max.Y, 0)
	for i := range sums {
		sums[i] += float64(d[i] - c[i] - b[i] + a[i])
	}
}

// spread computes rows of votes. The vertical sums follow from row to row, as the second difference of
// the weights is not 0 in three rows only; so do the horizontal ones from column to column.
func (w *worker) spread(b *band) {
	s := w.search
	l, reach, n := &s.levels[0], s.table.votes.Spread, s.table.votes.Bins
	w.start(l, 0, l.width)
	// Columns of zeros on either side stand for those outside the image.
	w.tents = engine.Zeros(w.tents, n*(l.width+2*reach))
	w.slopes = engine.Zeros(w.slopes, n*(l.width+2*reach))
	for k := -reach; k < reach; k++ {
		weight, slope := reach+k, -1
		if k >= 0 {
			weight, slope = reach-k, 1
		}
		w.vote(w.tents, b.first+k, weight)
		w.vote(w.slopes, b.first+k, slope)
	}
	for y := b.first; y < b.end; y++ {
		spreadRow(s.votes[y*n*l.width:][:n*l.width], w.tents, n, reach)
		w.vote(w.slopes, y+reach, 1)
		w.vote(w.slopes, y, -2)
		w.vote(w.slopes, y-reach, 1)
		slopes := w.slopes[:len(w.tents)]
		for i := range w.tents {
			w.tents[i] += slopes[i]
		}
	}
}

// vote adds the votes of row y, times a factor, to sums of columns.
func (w *worker) vote(sums []uint32, y, factor int) {
	v := &w.search.table.votes
	if y < 0 || y >= w.level.height {
		return
	}
	w.gradientRow(y)
	at, unit := y%len(w.gradientOf)*w.columns, v.unit()
	first, second, places := w.gradient.First[at:], w.gradient.Second[at:][:w.columns], w.gradient.Places[at:][:w.columns]
	sums = sums[v.Spread*v.Bins:]
	for x, size := range first[:w.columns] {
		bin, next := places[x].Bins()
		sums[bin] += uint32(factor) * uint32(float64(size)*unit+0.5)
		sums[next] += uint32(factor) * uint32(float64(second[x])*unit+0.5)
		sums = sums[v.Bins:]
	}
}

// spreadRow sums columns, which begin reach columns left of dst, and divides the result by the sum of
// all weights.
func spreadRow(dst []uint16, columns []uint32, n, reach int) {
	var tents, slopes [histogram.MaxBins]uint32
	for k := range reach {
		for b := range n {
			left, right := columns[k*n+b], columns[(reach+k)*n+b]
			tents[b] += uint32(k)*left + uint32(reach-k)*right
			slopes[b] += right - left
		}
	}
	shift := 4 * bits.TrailingZeros(uint(reach))
	half := uint32(1) << shift >> 1
	for len(dst) > 0 {
		to, left, middle, right := dst[:n], columns[:n], columns[reach*n:][:n], columns[2*reach*n:][:n]
		for b := range to {
			v, slope := tents[b], slopes[b]+left[b]-2*middle[b]+right[b]
			to[b] = uint16((v + half) >> shift)
			tents[b], slopes[b] = v+slope, slope
		}
		dst, columns = dst[n:], columns[n:]
	}
}
