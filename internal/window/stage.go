package window

import (
	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/raster"
)

// A Maker makes a row of elements from the windows of a row.
type Maker interface {
	Make(dst []byte, y int, s *Sums)
}

// A Stage is the rows that a maker makes of the windows of other rows, for windows over
// these in turn. It makes them when they are asked for, and keeps as many as a window
// has, and a few.
type Stage struct {
	Maker Maker

	sums    Sums
	src     Rows
	border  Border
	height  int
	n       int // bytes of a row
	ring    []byte
	size    int // rows of it
	next    int // the row to make next
	outside []byte
}

// Aim is for an image in frame f, where windows over what the stage makes, in frame next,
// are wanted from that row on.
func (t *Stage) Aim(src Rows, f, next *Frame, from int) {
	t.sums.Aim(f)
	t.sums.Strip(0, f.Width)
	t.src, t.border, t.height, t.n = src, next.Border, f.Height, f.Width*next.Channels*next.Pixel.Bytes()
	t.size = next.Shape.Height() + max(next.Up, next.Down) + 2
	if t.border != Wrap {
		t.size = min(t.size, t.height) // then it keeps all rows
	}
	t.ring = engine.AtLeast(t.ring, t.size*t.n)
	t.next = t.Start(from, next)
	t.outside = OutsideRow(t.outside, next)
}

// CheckWrap is an error for windows over rows of a stage that are much higher than an
// image that wraps: the stage would have to make as many rows.
func CheckWrap(s *Shape, height int) error {
	if most := max(1<<12, 2*height); s.Border == Wrap && s.Height() > most {
		return raster.Invalid("windows of %d rows are too high for the border wrap: use up to %d, or another border", s.Height(), most)
	}
	return nil
}

// Start is the row from which a stage must make rows, where windows over them are wanted
// from that row on. A row below it may be made in another way, with other bits.
func (t *Stage) Start(from int, next *Frame) int {
	from -= next.Up + 1
	if t.border != Wrap {
		from = max(0, from)
	}
	if t.sums.block > 0 {
		from = floor(from, t.sums.block)
	}
	return from
}

// floor is the greatest multiple that is not more than i.
func floor(i, multiple int) int {
	r := i % multiple
	if r < 0 {
		r += multiple
	}
	return i - r
}

// Row implements [Rows].
func (t *Stage) Row(place int) []byte {
	if t.border != Wrap { // else rows beyond the image are made as those of it are
		if place = t.border.Index(place, t.height); place == outside {
			return t.outside
		}
	}
	for ; t.next <= place; t.next++ {
		t.sums.Down(t.src, t.next)
		t.Maker.Make(t.at(t.next), t.next, &t.sums)
	}
	return t.at(place)
}

func (t *Stage) at(y int) []byte {
	i := y % t.size
	if i < 0 {
		i += t.size
	}
	return t.ring[i*t.n:][:t.n]
}

// Forget lets go of the rows that it is made from. It tells how much memory it keeps.
func (t *Stage) Forget() int {
	t.src = nil
	t.sums.Forget()
	return t.sums.Bytes() + engine.Bytes(t.ring) + engine.Bytes(t.outside)
}

// ChainPlan is how to cut an image that goes through a chain of stages, each pixel of
// which writes so many bytes: into bands of rows. Windows reach over so many rows
// together, and bands start at multiples of unit.
func ChainPlan(set *engine.Settings, f *Frame, written, reach, unit int) engine.Plan {
	p := engine.Plan{Grid: engine.Grid{Rows: f.Height, N: f.Width, TileWidth: max(1, f.Width)}, Workers: 1, Shares: true}
	if most := f.Height * f.Width * f.Channels * written / workerBytes; most > 1 {
		p.Workers = min(set.Workers(), most)
	}
	each := max(1, engine.DivUp(f.Height, p.Workers))
	p.BandRows = raster.RoundUp(evenly(each, max(bandRows, 2*bandWindows*min(reach, f.Height))), unit)
	p.BandRows = min(p.BandRows, max(1, f.Height))
	p.Workers = max(1, min(p.Workers, engine.DivUp(f.Height, p.BandRows)))
	return p
}

// evenly is how many of some rows a band has, where it should have about as many as wanted:
// the last one is then no smaller than the others.
func evenly(rows, wanted int) int {
	return engine.DivUp(rows, max(1, (rows+wanted/2)/wanted))
}
