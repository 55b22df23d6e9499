package window

import (
	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/raster"
)

const (
	// stripBytes is the width of the sums of a strip: the part used by a row stays in the
	// nearer caches while the rows of a band are processed.
	stripBytes = 16 << 10
	// bandRows is the minimum number of rows in a band, and bandWindows the minimum as a
	// multiple of the window's height. Each band starts by summing as many rows as a
	// window has.
	bandRows, bandWindows = 128, 8
	// shareRows is the minimum number of rows in a band if workers continue from band to
	// band. Smaller bands let them finish at about the same time.
	shareRows = 32
	// workerBytes is the number of bytes to read and write that justifies waking a worker.
	workerBytes = 1 << 19
)

// A Layer computes the windows of a whole image on [engine.Engine], each band of rows
// independently, in strips of columns. Another layer embeds it and has a Tile method of
// this form:
//
//	s, src := l.Start(worker, x, y, n)
//	for end := y + rows; y < end; y++ {
//		s.Down(src, y)
//		... // compute pixels [x, x+n) of row y from s.Windows or s.Columns
//	}
type Layer struct {
	engine.Base
	Image
	Frame   Frame
	InPlace bool // the image is overwritten, row by row
	Reach   int  // number of rows above and below the current one that are needed; see [Sums.Rows]
	Widest  int  // maximum number of columns in a strip, or 0 for no limit

	bandRows int
	copied   []byte    // a copy of the image, if windows need rows long after they were overwritten
	own      []ownRows // by band, if the image is overwritten
	workers  []layerWorker
}

type layerWorker struct {
	sums Sums
	_    [raster.LineBytes]byte
}

// Plan decides how to divide the image, for a layer that writes the given number of bytes
// per pixel. Float sums start from scratch after each block of rows, so bands consist of
// whole blocks.
func (l *Layer) Plan(set *engine.Settings, written int) engine.Plan {
	f := &l.Frame
	size, block := f.Sum.Bytes(), Block(f.Sum, f.Shape.Height())
	p := engine.Plan{Grid: engine.Grid{Rows: f.Height, N: f.Width, TileWidth: max(1, f.Width)}, Workers: 1}
	bytes := f.Height * f.Width * f.Channels * (f.Pixel.Bytes() + written)
	if most := bytes / workerBytes; most > 1 {
		p.Workers = min(set.Workers(), most)
	}
	if strips := f.Width * f.Channels * size / l.stripBytes(size); strips > 1 && !l.InPlace && block == 0 { // strips of floats would be rounded differently
		if columns := engine.DivUp(f.Width, strips); f.Strips(columns / 2) {
			p.TileWidth = columns
		}
	}
	if l.Widest > 0 && p.TileWidth > l.Widest {
		p.TileWidth = raster.RoundUp(engine.DivUp(p.N, engine.DivUp(p.N, l.Widest)), raster.LineBytes)
	}
	unit := max(1, block)
	each := max(1, engine.DivUp(f.Height, p.Workers))
	wanted := max(bandRows, bandWindows*min(f.Shape.Height(), f.Height))
	if p.TileWidth >= p.N { // otherwise every strip of a band starts from scratch
		wanted = max(shareRows, min(f.Shape.Height(), f.Height))
	}
	p.BandRows = raster.RoundUp(evenly(each, wanted), unit)
	if l.InPlace {
		p.BandRows = raster.RoundUp(max(each, 2*min(f.Shape.Height(), f.Height)), unit)
	}
	p.BandRows = min(p.BandRows, max(1, f.Height))
	p.Workers = max(1, min(p.Workers, engine.DivUp(f.Height, p.BandRows)))
	p.Shares = true
	return p
}

// stripBytes returns the width of a strip's sums in bytes. It is smaller for the 16-bit
// sums of narrow windows, which have rows of their own: see windows.Box.
func (l *Layer) stripBytes(size int) int {
	if w := l.Frame.Shape.Width(); size == 2 && w > 6 && w <= 16 {
		return stripBytes / 2
	}
	return stripBytes
}

// Prepare implements [engine.Layer].
func (l *Layer) Prepare(p *engine.Plan) error {
	l.workers = engine.Workers(l.workers, p.Workers)
	for i := range l.workers[:p.Workers] {
		l.workers[i].sums.Aim(&l.Frame)
	}
	f := &l.Frame
	l.Border = f.Border
	l.Outside = OutsideRow(l.Outside, f)
	l.bandRows = p.BandRows
	l.own = l.own[:cap(l.own)]
	if !l.InPlace || p.Rows == 0 || p.N == 0 {
		return nil
	}
	if f.Shape.Height() > f.Height { // such windows need most rows all the time
		l.copied = CopyTo(l.copied, &l.Src)
		l.InPlace = false
		return nil
	}
	bands := engine.DivUp(p.Rows, p.BandRows)
	l.own = engine.Workers(l.own, bands)
	for i := range bands {
		l.own[i].save(&l.Image, i*p.BandRows, min(f.Height, (i+1)*p.BandRows), max(f.Up+1, l.Reach), max(f.Down, l.Reach))
	}
	return nil
}

// Start returns a worker's sums and the rows from which to update them, for the tile of n
// pixels that begins at x, y. The sums continue from those of the tile above if possible.
func (l *Layer) Start(worker, x, y, n int) (s *Sums, src Rows) {
	s = &l.workers[worker].sums
	if !s.GoesOn(x, n, y) {
		s.Strip(x, n)
	}
	src, s.own = l.RowsOf(y)
	return s, src
}

// RowsOf returns the rows that the band beginning at row y reads. If the image is
// overwritten, own is not nil, and its Keep method must be called for each row of the
// band, in order, before the row is overwritten.
func (l *Layer) RowsOf(y int) (rows Rows, own *ownRows) {
	if !l.InPlace {
		return &l.Image, nil
	}
	own = &l.own[y/l.bandRows]
	return own, own
}

// Release implements [engine.Layer].
func (l *Layer) Release() int {
	l.Src, l.Reach, l.Widest = raster.Array{}, 0, 0
	bytes := engine.Bytes(l.Outside) + engine.Bytes(l.copied)
	for i := range l.own {
		l.own[i].image = nil
		bytes += engine.Bytes(l.own[i].saved) + engine.Bytes(l.own[i].ring)
	}
	for i := range l.workers {
		l.workers[i].sums.Forget()
		bytes += l.workers[i].sums.Bytes()
	}
	return bytes
}
