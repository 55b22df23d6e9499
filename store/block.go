package store

import (
	"github.com/boxsum/boxsum/internal/bins"
	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/zarr"
)

// Volumes and histograms are stored as tables of images with many channels, which are
// computed when a block is read: a volume has one channel per slice, the sum of the slices
// up to it, and a histogram has one per bin, the number of pixels in it.

// summing describes the tables of blocks. All goroutines of a job share it.
type summing struct {
	element  zarr.Type   // of the image
	pixel    raster.Type // as which elements are summed
	channels int         // of the tables: also slices of a volume, or bins
	depth    int         // of a volume; otherwise 0
	bins     bins.Range  // of histograms; otherwise there are none

	// Types of the tables: of their entries in memory, and of the sums that continue them.
	// Blocks of bytes are summed in 32 bits if that suffices. Squares are 0 if there are none.
	entry, sum, squares raster.Type
}

// A summer computes the tables of one block at a time. It is not safe for concurrent use.
type summer struct {
	*summing
	tables  []blockTable // sums and, if requested, squares
	wide    []byte       // pixels, if the elements have another type
	columns []byte       // running sums over the slices of a volume
}

// newSummer returns a summer. It allocates tables when it sees the first block.
func newSummer(s *summing) *summer {
	w := &summer{summing: s, tables: []blockTable{{sum: s.sum}}}
	w.tables[0].Type = s.entry
	if s.squares != 0 {
		w.tables = append(w.tables, blockTable{sum: s.squares})
		w.tables[1].Type = s.squares
	}
	return w
}

// make computes the tables of a block, whose elements are in C order.
func (s *summer) make(elements []byte, width, height int) error {
	for i := range s.tables {
		if err := s.tables[i].resize(width, height, s.channels, s.bins); err != nil {
			return err
		}
	}
	pixels := widen(&s.wide, s.element, elements)
	switch {
	case s.depth > 0:
		return s.makeVolume(pixels, width, height)
	case s.bins.N > 0:
		return s.makeHistograms(pixels, width, height)
	}
	return s.integrate(raster.Array{Data: pixels, Type: s.pixel, Extent: raster.PlaneExtent(width, height, s.channels, 0)}, s.tables)
}

// integrate computes the table of an image and, if there are two tables, that of its squares.
func (s *summer) integrate(src raster.Array, tables []blockTable) error {
	job := engine.Job{Kind: engine.Upright, Src: src, Plain: true, Options: engine.Options{Workers: 1}}
	job.Sums.Array = tables[0].Array
	if len(tables) > 1 {
		job.Squares.Array = tables[1].Array
	}
	if err := job.Check(); err != nil {
		return err
	}
	return job.Run()
}

// makeVolume computes the tables of a block of a volume.
func (s *summer) makeVolume(pixels []byte, width, height int) error {
	n := width * height
	for i := range s.tables {
		t := &s.tables[i]
		s.columns = raster.Reuse(s.columns, n*s.depth*t.sum.Bytes())
		slicers[t.sum][s.pixel](s.columns, pixels, n, s.depth, i == 1)
		if err := s.integrate(raster.Array{Data: s.columns, Type: t.sum, Extent: raster.PlaneExtent(width, height, s.depth, 0)}, s.tables[i:i+1]); err != nil {
			return err
		}
	}
	return nil
}

// makeHistograms computes the integral histogram of a block.
func (s *summer) makeHistograms(pixels []byte, width, height int) error {
	e := raster.PlaneExtent(width, height, 1, 0)
	job, err := bins.Check(s.entry, raster.Array{Data: pixels, Type: s.pixel, Extent: e}, raster.Array{}, engine.Options{Workers: 1})
	if err != nil {
		return err
	}
	return job.Fill(&bins.Table{Counts: raster.Array{Data: s.tables[0].Data, Type: s.entry, Extent: e}, Range: s.bins})
}

// A blockTable is a table of a block alone, whose extent is that of the block's image.
type blockTable struct {
	raster.Array
	sum raster.Type // of the sums that continue it
}

// resize allocates the table unless it has this size.
func (t *blockTable) resize(width, height, channels int, r bins.Range) error {
	if t.Data != nil && t.Width == width && t.Height == height {
		return nil
	}
	if r.N == 0 {
		table, err := raster.NewTable(t.Type, raster.PlaneExtent(width, height, channels, 0))
		if err == nil {
			t.Array = table
		}
		return err
	}
	counts, err := bins.New(t.Type, width, height, 1, r)
	t.Data, t.Extent = counts.Counts.Data, raster.PlaneExtent(width, height, channels, (width+1)*channels)
	return err
}

// row returns the entries below row y of pixels, without the zeros in column 0.
func (t *blockTable) row(y int) []byte {
	size := t.Type.Bytes()
	return t.Data[((y+1)*t.Stride+t.Channels)*size:][:t.Width*t.Channels*size]
}

// pixel returns the number of bytes of the sums of a pixel.
func (t *blockTable) pixel() int { return t.Channels * t.sum.Bytes() }

// edges stores the last column and the last row of the table, as sums.
func (t *blockTable) edges(right, bottom []byte) {
	convert := converters[t.sum][t.Type]
	last := (t.Width - 1) * t.Channels * t.Type.Bytes()
	for y := range t.Height {
		convert(right[y*t.pixel():], t.row(y)[last:])
	}
	convert(bottom, t.row(t.Height-1))
}

// finish writes the entries, plus left and top, as rows of a block that is blockWidth
// pixels wide.
func (t *blockTable) finish(dst []byte, blockWidth int, left, top []byte) {
	extend := extenders[t.sum][t.Type]
	for y := range t.Height {
		extend(dst[y*blockWidth*t.pixel():], t.row(y), left[y*t.pixel():][:t.pixel()], top)
	}
}

// keep writes the entries unchanged, as elements of a type that holds them.
func (t *blockTable) keep(dst []byte, blockWidth int, as raster.Type) {
	convert := converters[as][t.Type]
	for y := range t.Height {
		convert(dst[y*blockWidth*t.Channels*as.Bytes():], t.row(y))
	}
}

// carry stores the line left of the next block, left + right, in next.
func (l *layer) carry(next, left, right []byte) { adders[rasterTypes[l.sum]](next, left, right) }

// drop stores the line above the block below in next: bottom + the last entry of left, which
// has the given height, + top.
func (l *layer) drop(next, bottom, left, top []byte, height int) {
	t := rasterTypes[l.sum]
	extenders[t][t](next, bottom, left[(height-1)*l.bytes:][:l.bytes], top)
}
