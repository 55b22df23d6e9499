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
	edge  [2]edgeColumns // the first and the last of the image
}

// edgeColumns is a column at an edge of the image, with the columns on its left and right, or -1 for
// one beside the image that has the border's value.
type edgeColumns [3]int

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
	for i, x := range [2]int{0, l.job.Src.Width - 1} {
		for k := range l.edge[i] {
			l.edge[i][k] = l.job.shape.Border.Index(x-1+k, l.job.Src.Width)
		}
	}
	return nil
}

// Tile implements [engine.Layer]: whole rows.
func (l *smallBox) Tile(_, _, y, n, rows int) {
	for end := y + rows; y < end; y++ {
		a, b, c := l.image.Row(y-1), l.image.Row(y), l.image.Row(y+1)
		dst := l.job.Dst.Span(0, y, n)
		windows.Box3(l.job.set.Level, dst, a, b, c)
		dst[0], dst[n-1] = l.edge[0].mean(a, b, c, l.job.shape.Value), l.edge[1].mean(a, b, c, l.job.shape.Value)
	}
}

// mean returns the mean of the columns in three rows.
func (e *edgeColumns) mean(a, b, c []uint8, value float64) uint8 {
	sum := uint32(9 / 2)
	for _, x := range e {
		if x < 0 {
			sum += 3 * uint32(value)
		} else {
			sum += uint32(a[x]) + uint32(b[x]) + uint32(c[x])
		}
	}
	return uint8(sum / 9)
}

func (l *smallBox) Release() int {
	l.job, l.image.Src = Job{}, raster.Array{}
	return engine.Bytes(l.image.Outside)
}
