package filter

import (
	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/kernel"
	"github.com/boxsum/boxsum/internal/pairs"
	"github.com/boxsum/boxsum/internal/window"
)

// smallBox is the layer of means of 3×3 bytes: so few that they are added without sums of columns.
type smallBox struct {
	task  task
	image window.Image
}

// smallBoxRows is how many rows a band has: it reads two more.
const smallBoxRows = 32

// runSmallBox makes means where that is possible. It reports whether it is.
func runSmallBox(t *task) (done bool, err error) {
	s := &t.shape
	if t.src.Of != pairs.U8 || t.dst[0].Of != pairs.U8 || t.kind != mean || s.Left != 1 || s.Right != 1 || s.Up != 1 || s.Down != 1 || s.Border == window.Clip ||
		t.same || t.src.Channels != 1 || !kernel.HasBox3(t.set.Level, t.src.Width) {
		return false, nil
	}
	run := engine.Take[engine.Run[smallBox]]()
	l := &run.Layer
	l.task = *t
	l.image.Src, l.image.Border = t.src, s.Border
	p := engine.Plan{Grid: engine.Grid{Rows: t.src.Height, N: t.src.Width, TileWidth: t.src.Width, BandRows: smallBoxRows}, Workers: 1, Shares: true}
	if t.src.Width*t.src.Height > 1<<17 {
		p.Workers = min(t.set.Workers(), engine.DivUp(t.src.Height, p.BandRows))
	}
	return true, run.Fill(t.set, p, l)
}

func (l *smallBox) Prepare(*engine.Plan) error {
	t := &l.task
	f := t.frame()
	l.image.Outside = window.OutsideRow(l.image.Outside, &f)
	return nil
}

// Tile implements [engine.Layer]: whole rows.
func (l *smallBox) Tile(_, _, y, n, rows int) {
	for end := y + rows; y < end; y++ {
		a, b, c := l.image.Row(y-1), l.image.Row(y), l.image.Row(y+1)
		dst := l.task.dst[0].Row(0, y, n)
		kernel.Box3(l.task.set.Level, dst, a, b, c)
		for _, x := range [2]int{0, n - 1} {
			dst[x] = uint8((l.column(x-1, a, b, c) + l.column(x, a, b, c) + l.column(x+1, a, b, c) + 4) / 9)
		}
	}
}

// column is the sum of a column of three rows, which may lie beside the image.
func (l *smallBox) column(x int, rows ...[]uint8) (sum uint32) {
	s := &l.task.shape
	at := s.Border.Index(x, l.task.src.Width)
	for _, row := range rows {
		if at < 0 {
			sum += uint32(s.Value)
		} else {
			sum += uint32(row[at])
		}
	}
	return sum
}

func (l *smallBox) Finish() {}

func (l *smallBox) Release() int {
	l.task, l.image.Src = task{}, window.Pixels{}
	return engine.Bytes(l.image.Outside)
}
