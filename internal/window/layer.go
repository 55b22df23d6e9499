package window

import (
	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/raster"
)

const (
	// stripBytes is the width of a strip's sums: what a row needs of them stays in the
	// nearer caches while the rows of a band go by.
	stripBytes = 16 << 10
	// bandRows is how many rows a band has at least, and bandWindows how many times the
	// height of a window: a band starts with as many rows as a window has.
	bandRows, bandWindows = 128, 8
	// shareRows is how many it has at least where a worker goes on from band to band, and
	// the last ones should end at the same time.
	shareRows = 32
	// workerBytes is how much to read and write makes a worker worth waking.
	workerBytes = 1 << 19
)

// A Sink takes the windows of one row after the other.
type Sink interface {
	// Row is for pixels [x, x+n) of row y, whose memory is pix. Sums stands at that row: ask it
	// for Windows, or for Columns.
	Row(worker, x, y, n int, pix []byte, s *Sums)
}

// A Layer goes through the windows of a whole image on [engine.Engine], each band of rows
// by itself, in strips of columns.
type Layer struct {
	Image
	Sink    Sink
	Frame   Frame
	InPlace bool // the sink writes over the image, row by row
	Reach   int  // how many rows above and below its own the sink looks at, see [Sums.Rows]
	Widest  int  // how many columns a strip has at most, where the sink has no room for more

	bandRows int
	copied   []byte    // the image, where rows are wanted that come much later
	own      []ownRows // of images that are written over
	workers  []layerWorker
}

type layerWorker struct {
	sums Sums
	_    [raster.LineBytes]byte
}

// Plan is how to cut the work, of which each pixel writes so many bytes. Float sums start
// anew after a block of rows.
func (l *Layer) Plan(set *engine.Settings, written int) engine.Plan {
	f := &l.Frame
	size, block := f.Sum.Bytes(), Block(f.Sum, f.Shape.Height())
	p := engine.Plan{Grid: engine.Grid{Rows: f.Height, N: f.Width, TileWidth: max(1, f.Width)}, Workers: 1}
	bytes := f.Height * f.Width * f.Channels * (f.Pixel.Bytes() + written)
	if most := bytes / workerBytes; most > 1 {
		p.Workers = min(set.Workers(), most)
	}
	if strips := f.Width * f.Channels * size / l.stripBytes(size); strips > 1 && !l.InPlace && block == 0 { // a strip of floats would have its own rounding
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
	if p.TileWidth >= p.N { // else every strip of a band starts anew
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

// stripBytes is less for windows of 16 bits whose columns are added to each other in rows of
// their own: see windows.Box.
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
	if f.Shape.Height() > f.Height { // then most rows are wanted all the time
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

// Tile implements [engine.Layer], in pixels.
func (l *Layer) Tile(worker, x, y, n, rows int) {
	s := &l.workers[worker].sums
	if !s.GoesOn(x, n, y) {
		s.Strip(x, n)
	}
	of, own := l.RowsOf(y)
	for end := y + rows; y < end; y++ {
		s.Down(of, y)
		if own != nil {
			own.Keep()
		}
		l.Sink.Row(worker, x, y, n, l.Src.Span(x, y, n), s)
	}
}

// RowsOf is the rows that a band from y on needs. Where the image is written over, own is to keep each row of the band
// before that, one after the other; else it is nil.
func (l *Layer) RowsOf(y int) (rows Rows, own *ownRows) {
	if !l.InPlace {
		return &l.Image, nil
	}
	own = &l.own[y/l.bandRows]
	return own, own
}

// Finish implements [engine.Layer].
func (l *Layer) Finish() {}

// Release implements [engine.Layer].
func (l *Layer) Release() int {
	l.Sink = nil
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
