package window

import (
	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/grid"
	"github.com/boxsum/boxsum/internal/kernel"
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
type Sink[A, Q kernel.Number] interface {
	// Row is for pixels [x, x+n) of row y, whose memory is pix. Sums stands at that row: ask it
	// for Windows, or for Columns.
	Row(worker, x, y, n int, pix []byte, s *Sums[A, Q])
}

// A Layer goes through the windows of a whole image on [engine.Engine], each band of rows
// by itself, in strips of columns.
type Layer[A, Q kernel.Number] struct {
	Bands
	Sink    Sink[A, Q]
	workers []layerWorker[A, Q]
}

// Bands is what of a layer does not depend on the type of sums.
type Bands struct {
	Image
	Frame   Frame
	InPlace bool // the sink writes over the image, row by row
	Reach   int  // how many rows above and below its own the sink looks at, see [Sums.Rows]
	Widest  int  // how many columns a strip has at most, where the sink has no room for more

	bandRows int
	copied   []byte    // the image, where rows are wanted that come much later
	own      []ownRows // of images that are written over
}

type layerWorker[A, Q kernel.Number] struct {
	sums Sums[A, Q]
	_    [kernel.LineBytes]byte
}

// Plan is how to cut the work, of which each pixel writes so many bytes.
func (l *Layer[A, Q]) Plan(set *engine.Settings, written int) engine.Plan {
	return l.plan(set, written, grid.SizeOf[A](), Block[A](l.Frame.Shape.Height()))
}

// plan is for sums of so many bytes, of which floats start anew after a block of rows.
func (l *Bands) plan(set *engine.Settings, written, size, block int) engine.Plan {
	f := &l.Frame
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
		p.TileWidth = grid.RoundUp(engine.DivUp(p.N, engine.DivUp(p.N, l.Widest)), kernel.LineBytes)
	}
	unit := max(1, block)
	each := max(1, engine.DivUp(f.Height, p.Workers))
	wanted := max(bandRows, bandWindows*min(f.Shape.Height(), f.Height))
	if p.TileWidth >= p.N { // else every strip of a band starts anew
		wanted = max(shareRows, min(f.Shape.Height(), f.Height))
	}
	p.BandRows = grid.RoundUp(evenly(each, wanted), unit)
	if l.InPlace {
		p.BandRows = grid.RoundUp(max(each, 2*min(f.Shape.Height(), f.Height)), unit)
	}
	p.BandRows = min(p.BandRows, max(1, f.Height))
	p.Workers = max(1, min(p.Workers, engine.DivUp(f.Height, p.BandRows)))
	p.Shares = true
	return p
}

// stripBytes is less for windows of 16 bits whose columns are added to each other in rows of
// their own: see kernel.Box.
func (l *Bands) stripBytes(size int) int {
	if w := l.Frame.Shape.Width(); size == 2 && w > 6 && w <= 16 {
		return stripBytes / 2
	}
	return stripBytes
}

// Prepare implements [engine.Layer].
func (l *Layer[A, Q]) Prepare(p *engine.Plan) error {
	l.workers = engine.Workers(l.workers, p.Workers)
	for i := range l.workers[:p.Workers] {
		l.workers[i].sums.Aim(&l.Frame)
	}
	l.prepare(p)
	return nil
}

func (l *Bands) prepare(p *engine.Plan) {
	f := &l.Frame
	l.Border = f.Border
	l.Outside = OutsideRow(l.Outside, f)
	l.bandRows = p.BandRows
	l.own = l.own[:cap(l.own)]
	if !l.InPlace || p.Rows == 0 || p.N == 0 {
		return
	}
	if f.Shape.Height() > f.Height { // then most rows are wanted all the time
		l.copied = l.Src.Copy(l.copied)
		l.InPlace = false
		return
	}
	bands := engine.DivUp(p.Rows, p.BandRows)
	l.own = engine.Workers(l.own, bands)
	for i := range bands {
		l.own[i].save(&l.Image, i*p.BandRows, min(f.Height, (i+1)*p.BandRows), max(f.Up+1, l.Reach), max(f.Down, l.Reach))
	}
}

// Tile implements [engine.Layer], in pixels.
func (l *Layer[A, Q]) Tile(worker, x, y, n, rows int) {
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
		l.Sink.Row(worker, x, y, n, l.Src.Row(x, y, n), s)
	}
}

// RowsOf is the rows that a band from y on needs. Where the image is written over, own is to keep each row of the band
// before that, one after the other; else it is nil.
func (l *Bands) RowsOf(y int) (rows Rows, own *ownRows) {
	if !l.InPlace {
		return &l.Image, nil
	}
	own = &l.own[y/l.bandRows]
	return own, own
}

// Finish implements [engine.Layer].
func (l *Bands) Finish() {}

// Release implements [engine.Layer].
func (l *Layer[A, Q]) Release() int {
	l.Sink = nil
	bytes := l.release()
	for i := range l.workers {
		l.workers[i].sums.Forget()
		bytes += l.workers[i].sums.Bytes()
	}
	return bytes
}

func (l *Bands) release() int {
	l.Src, l.Reach, l.Widest = Pixels{}, 0, 0
	bytes := engine.Bytes(l.Outside) + engine.Bytes(l.copied)
	for i := range l.own {
		l.own[i].image = nil
		bytes += engine.Bytes(l.own[i].saved) + engine.Bytes(l.own[i].ring)
	}
	return bytes
}
