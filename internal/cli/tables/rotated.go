package tables

import (
	"fmt"
	"iter"
	"time"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/gpu"
	"github.com/boxsum/boxsum/internal/cli/console"
	"github.com/boxsum/boxsum/internal/cli/display"
	"github.com/boxsum/boxsum/internal/cli/imagefile"
	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/internal/sketch"
	"github.com/boxsum/boxsum/internal/typed"
	"github.com/boxsum/boxsum/rotated"
)

// askRotated answers from one table per rotation, made one after another.
func (c *Query) askRotated(sh *console.Shell, pair pair, src *imagefile.Source, questions []question) ([]answer, error) {
	answers := make([]answer, len(questions))
	done := map[rotated.Rotation]bool{}
	for _, q := range questions {
		if done[q.rot] {
			continue
		}
		done[q.rot] = true
		start := time.Now()
		work, err := newRotatedTable(pair.sum, src.Device, src.Image, q.rot, watched(sh, &boxsum.Options{}, "integrating", src.Device))
		if err != nil {
			return nil, err
		}
		if c.Verbose {
			sh.Progress.Close()
			width, height := work.Lattice().Size()
			fmt.Fprintf(sh.Stderr, "%d×%d %s→%s along %v, %.2f°, in %s\n", width, height, pair.pixel.Short(), pair.sum.Short(), q.rot, q.rot.Degrees(), display.Duration(time.Since(start).Seconds()*1e3))
		}
		for i := range questions {
			if err := sh.Ctx.Err(); err != nil {
				return nil, err
			}
			if questions[i].rot != q.rot {
				continue
			}
			b, err := questions[i].place(work.Lattice(), c.Corner)
			if err != nil {
				return nil, err
			}
			a := answer{box: box{b.C0, b.R0, b.C1, b.R1}, area: work.Lattice().Area(b), rotation: q.rot.String(), rect: questions[i].rect}
			for channel := range work.Channels() {
				a.channels = append(a.channels, work.stats(b, channel))
			}
			answers[i] = a
		}
	}
	return answers, nil
}

// A rotatedTable is an image and its table along a rotation.
type rotatedTable struct {
	typed.Rotated
	all     population
	squares bool // standard deviations come from the table of squares
}

// newRotatedTable makes a rotated table, and the table of squares for pixels of 8 and 16 bits.
// Squares of other types might overflow or cancel.
func newRotatedTable(sum raster.Type, d *gpu.Device, src raster.Array, rot rotated.Rotation, opt *boxsum.Options) (*rotatedTable, error) {
	squares := raster.Type(0)
	if src.Type.Bytes() <= 2 {
		squares = raster.U64
	}
	table, err := typed.IntegrateRotated(src, sum, squares, rot, rotatedOptions(onDevice(d, opt)))
	if err != nil {
		return nil, err
	}
	return &rotatedTable{table, population{pixelReader: rowsOf(src)}, squares != 0}, nil
}

// rotatedOptions converts options to those of rotated tables.
func rotatedOptions(opt *boxsum.Options) engine.Options {
	if opt == nil {
		return engine.Options{}
	}
	return engineOptions(opt)
}

// std returns the standard deviation, or a negative number if it has to be computed from the
// pixels.
func (t *rotatedTable) std(b rotated.Box, channel int) float64 {
	if !t.squares {
		return -1
	}
	return t.StdDev(b, channel)
}

func (t *rotatedTable) stats(b rotated.Box, channel int) stats {
	return t.all.describe(sample{
		n: int(t.Lattice().Area(b)), sum: t.Sum(b, channel), mean: t.Mean(b, channel),
		std: t.std(b, channel), runs: t.runs(b), channel: channel,
	})
}

// runs yields the pixels of a box as runs of neighbors in a row.
func (t *rotatedTable) runs(box rotated.Box) iter.Seq[span] {
	return func(yield func(span) bool) {
		lattice := t.Lattice()
		around := sketch.Around(lattice, []sketch.Box{{Box: box}}, 2)
		for y := around.Min.Y; y < around.Max.Y; y++ {
			from, to := 0, 0
			for x := around.Min.X; x < around.Max.X; x++ {
				if c, r := lattice.Cell(x, y); c >= box.C0 && c < box.C1 && r >= box.R0 && r < box.R1 {
					if from == to {
						from = x
					}
					to = x + 1
				}
			}
			if from < to && !yield(span{y, from, to}) {
				return
			}
		}
	}
}
