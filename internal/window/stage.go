package window

import (
	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/raster"
)

// A Maker computes a row of elements from the windows of a row.
type Maker interface {
	Make(dst []byte, y int, s *Sums)
}

// A Stage provides the rows that a maker computes from the windows of other rows, as
// input for further windows. It computes rows on demand, and keeps a few more than the
// next window needs.
type Stage struct {
	Maker Maker

	sums    Sums
	src     Rows
	border  Border
	height  int
	n       int // size of a row in bytes
	ring    []byte
	size    int // number of rows kept
	next    int // the row to compute next
	outside []byte
}

// Aim prepares the stage for an image described by f. Its output is described by next,
// and the first window requested over the output is that of row from.
func (t *Stage) Aim(src Rows, f, next *Frame, from int) {
	t.sums.Aim(f)
	t.sums.Strip(0, f.Width)
	t.src, t.border, t.height, t.n = src, next.Border, f.Height, f.Width*next.Channels*next.Pixel.Bytes()
	t.size = next.Shape.Height() + max(next.Up, next.Down) + 2
	if t.border != Wrap {
		t.size = min(t.size, t.height) // keep all rows
	}
	t.ring = engine.AtLeast(t.ring, t.size*t.n)
	t.next = t.Start(from, next)
	t.outside = OutsideRow(t.outside, next)
}

// CheckWrap returns an error for wrapping windows over the output of a stage that are
// much higher than the image, because the stage would have to compute as many rows as
// they have.
func CheckWrap(s *Shape, height int) error {
	if most := max(1<<12, 2*height); s.Border == Wrap && s.Height() > most {
		return raster.Invalid("window is %d rows high, want at most %d for border wrap", s.Height(), most)
	}
	return nil
}

// Start returns the first row that a stage must compute if the first window requested
// over its output is that of row from. The stage may have computed earlier rows too, with
// other rounding.
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

// floor returns the largest multiple of the given number that is at most i.
func floor(i, multiple int) int {
	r := i % multiple
	if r < 0 {
		r += multiple
	}
	return i - r
}

// Row implements [Rows].
func (t *Stage) Row(place int) []byte {
	if t.border != Wrap { // with Wrap, rows outside the image are computed like those inside
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

// Forget drops references to the source. It returns the size of the memory that the stage
// keeps.
func (t *Stage) Forget() int {
	t.src = nil
	t.sums.Forget()
	return t.sums.Bytes() + engine.Bytes(t.ring) + engine.Bytes(t.outside)
}

// ChainPlan decides how to divide an image into bands of rows for a chain of stages that
// writes the given number of bytes per pixel. Together, the windows of the chain extend
// over reach rows. Bands start at multiples of unit.
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

// evenly returns a height of bands close to the wanted one such that the last band is not
// much smaller than the others.
func evenly(rows, wanted int) int {
	return engine.DivUp(rows, max(1, (rows+wanted/2)/wanted))
}
