package filter

import (
	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/kernel/windows"
	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/internal/window"
)

// smallBox is the layer for means of 3×3 bytes, which it adds without column sums.
type smallBox struct {
	job   job
	image window.Image
}

// smallBoxRows is the number of rows in a band, which reads two more.
const smallBoxRows = 32

// isSmallBox reports whether [smallBox] can do a job.
func (j *job) isSmallBox() bool {
	s := &j.shape
	return j.src.Type == raster.U8 && j.dst[0].Type == raster.U8 && j.kind == mean && s.Left == 1 && s.Right == 1 && s.Up == 1 && s.Down == 1 && s.Border != window.Clip &&
		!j.same && j.src.Channels == 1 && windows.HasBox3(j.set.Level, j.src.Width)
}

// smallRuns keeps the engines and scratch memory of the layer for later calls.
var smallRuns engine.Runs[smallBox]

func runSmallBox(j *job) error {
	run := smallRuns.Take()
	l := &run.Layer
	l.job = *j
	l.image.Src, l.image.Border = j.src, j.shape.Border
	p := engine.Plan{Grid: engine.Grid{Rows: j.src.Height, N: j.src.Width, TileWidth: j.src.Width, BandRows: smallBoxRows}, Workers: 1, Shares: true}
	if j.src.Width*j.src.Height > 1<<17 {
		p.Workers = min(j.set.Workers(), engine.DivUp(j.src.Height, p.BandRows))
	}
	return run.Fill(j.set, p, l)
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
		dst := l.job.dst[0].Span(0, y, n)
		windows.Box3(l.job.set.Level, dst, a, b, c)
		for _, x := range [2]int{0, n - 1} {
			dst[x] = uint8((l.column(x-1, a, b, c) + l.column(x, a, b, c) + l.column(x+1, a, b, c) + 4) / 9)
		}
	}
}

// column returns the sum of a column of three rows, which may lie beside the image.
func (l *smallBox) column(x int, rows ...[]uint8) (sum uint32) {
	s := &l.job.shape
	at := s.Border.Index(x, l.job.src.Width)
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
	l.job, l.image.Src = job{}, raster.Array{}
	return engine.Bytes(l.image.Outside)
}
