package filters

import (
	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/kernel/windows"
	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/internal/window"
)

// smallBox is the layer for means of 3×3 bytes, which it adds without column sums.
type smallBox struct {
	engine.Base
	job   Job
	image window.Image
}

// smallBoxRows is the number of rows in a band, which reads two more.
const smallBoxRows = 32

// isSmallBox reports whether [smallBox] can do a job.
func (j *Job) isSmallBox() bool {
	s := &j.shape
	return j.Src.Type == raster.U8 && j.Dst.Type == raster.U8 && j.Kind == Mean && s.Left == 1 && s.Right == 1 && s.Up == 1 && s.Down == 1 && s.Border != window.Clip &&
		!j.same && j.Src.Channels == 1 && windows.HasBox3(j.set.Level, j.Src.Width)
}

// smallRuns keeps the engines and scratch memory of the layer for later calls.
var smallRuns engine.Runs[smallBox]

func runSmallBox(j *Job) error {
	run := smallRuns.Take()
	l := &run.Layer
	l.job = *j
	l.image.Src, l.image.Border = j.Src, j.shape.Border
	p := engine.Plan{Grid: engine.Grid{Rows: j.Src.Height, N: j.Src.Width, TileWidth: j.Src.Width, BandRows: smallBoxRows}, Workers: 1, Shares: true}
	if j.Src.Width*j.Src.Height > 1<<17 {
		p.Workers = min(j.set.Workers(), engine.DivUp(j.Src.Height, p.BandRows))
	}
	return run.Fill(&j.set, &p, l)
}

func (l *smallBox) Prepare(*engine.Plan) error {
	f := l.job.frame(raster.U32, 0)
	l.image.Outside = window.OutsideRow(l.image.Outside, &f)
	return nil
}

// Tile implements [engine.Layer]: whole rows.
func (l *smallBox) Tile(_, _, y, n, rows int) {
	for end := y + rows; y < end; y++ {
		a, b, c := l.image.Row(y-1), l.image.Row(y), l.image.Row(y+1)
		dst := l.job.Dst.Span(0, y, n)
		windows.Box3(l.job.set.Level, dst, a, b, c)
		for _, x := range [2]int{0, n - 1} {
			dst[x] = uint8((l.column(x-1, a, b, c) + l.column(x, a, b, c) + l.column(x+1, a, b, c) + 4) / 9)
		}
	}
}

// column returns the sum of a column of three rows, which may lie beside the image.
func (l *smallBox) column(x int, rows ...[]uint8) (sum uint32) {
	s := &l.job.shape
	at := s.Border.Index(x, l.job.Src.Width)
	for _, row := range rows {
		if at < 0 {
			sum += uint32(s.Value)
		} else {
			sum += uint32(row[at])
		}
	}
	return sum
}

func (l *smallBox) Release() int {
	l.job, l.image.Src = Job{}, raster.Array{}
	return engine.Bytes(l.image.Outside)
}
