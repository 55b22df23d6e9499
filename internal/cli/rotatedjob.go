package cli

import (
	"fmt"
	"iter"
	"time"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/gpu"
	"github.com/boxsum/boxsum/internal/anytable"
	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/internal/sketch"
	"github.com/boxsum/boxsum/rotated"
)

// askRotated answers from a table for each rotation, one after the other.
func (c *queryCmd) askRotated(sh *shell, pair pair, src *source, questions []question) ([]answer, error) {
	answers := make([]answer, len(questions))
	done := map[rotated.Rotation]bool{}
	for _, q := range questions {
		if done[q.rot] {
			continue
		}
		done[q.rot] = true
		start := time.Now()
		work, err := newRotatedJob(pair.sum, src.device, src.image, q.rot, sh.watched(&boxsum.Options{}, "integrating", src.device))
		if err != nil {
			return nil, err
		}
		if c.Verbose {
			sh.progress.close()
			width, height := work.lattice.Size()
			fmt.Fprintf(sh.stderr, "%d×%d %s→%s along %v, %.2f°, in %s\n", width, height, pair.pixel.Short(), pair.sum.Short(), q.rot, q.rot.Degrees(), timeText(time.Since(start).Seconds()*1e3))
		}
		for i := range questions {
			if err := sh.ctx.Err(); err != nil {
				return nil, err
			}
			if questions[i].rot != q.rot {
				continue
			}
			b, err := questions[i].place(work.lattice, c.Corner)
			if err != nil {
				return nil, err
			}
			a := answer{box: box{b.C0, b.R0, b.C1, b.R1}, area: work.lattice.Area(b), rotation: q.rot.String(), rect: questions[i].rect}
			for channel := range work.channels {
				a.channels = append(a.channels, work.stats(b, channel))
			}
			answers[i] = a
		}
	}
	return answers, nil
}

// A rotatedJob is an image and its table along a rotation, whatever their types.
type rotatedJob struct {
	lattice  *rotated.Lattice
	sums     any               // a *rotated.Table
	both     rotatedStatistics // with squares, which may be nil
	squares  *rotated.Table[uint64]
	all      population
	channels int
}

// rotatedStatistics are those of rotated boxes.
type rotatedStatistics interface {
	Mean(b rotated.Box, channel int) float64
	StdDev(b rotated.Box, channel int) float64
}

// newRotatedJob makes a rotated table, and that of the squares of pixels of 8 and 16 bits; those of
// others may not fit, or cancel out.
func newRotatedJob(sum raster.Type, d *gpu.Device, img any, rot rotated.Rotation, opt *boxsum.Options) (*rotatedJob, error) {
	sums, err := integrateAlong(sum, d, img, rot, part(opt, 0, 0.5))
	if err != nil {
		return nil, err
	}
	squares, err := squaresOf(d, img, rot, part(opt, 0.5, 1))
	j := &rotatedJob{sums: sums, squares: squares, all: population{pixelReader: rowsOf(img)}, channels: extentOf(img).Channels}
	switch t := sums.(type) {
	case *rotated.Table[uint32]:
		j.lattice, j.both = t.Lattice, &rotated.SquaredTable[uint32, uint64]{Sum: t, Squares: squares}
	case *rotated.Table[uint64]:
		j.lattice, j.both = t.Lattice, &rotated.SquaredTable[uint64, uint64]{Sum: t, Squares: squares}
	case *rotated.Table[int64]:
		j.lattice, j.both = t.Lattice, &rotated.SquaredTable[int64, uint64]{Sum: t, Squares: squares}
	case *rotated.Table[float32]:
		j.lattice, j.both = t.Lattice, &rotated.SquaredTable[float32, uint64]{Sum: t, Squares: squares}
	case *rotated.Table[float64]:
		j.lattice, j.both = t.Lattice, &rotated.SquaredTable[float64, uint64]{Sum: t, Squares: squares}
	}
	return j, err
}

func (t *rotatedJob) sum(b rotated.Box, channel int) any {
	switch t := t.sums.(type) {
	case *rotated.Table[uint32]:
		return t.SumChannel(b, channel)
	case *rotated.Table[uint64]:
		return t.SumChannel(b, channel)
	case *rotated.Table[int64]:
		return t.SumChannel(b, channel)
	case *rotated.Table[float32]:
		return t.SumChannel(b, channel)
	case *rotated.Table[float64]:
		return t.SumChannel(b, channel)
	}
	return nil
}

func (t *rotatedJob) mean(b rotated.Box, channel int) float64 {
	return t.sums.(interface {
		Mean(b rotated.Box, channel int) float64
	}).Mean(b, channel)
}

// std is negative where the pixels have to say it.
func (t *rotatedJob) std(b rotated.Box, channel int) float64 {
	if t.squares == nil {
		return -1
	}
	return t.both.StdDev(b, channel)
}

// squaresOf is the table of the squares of an image, and nil where no type of pixels holds them.
func squaresOf(d *gpu.Device, img any, rot rotated.Rotation, opt *boxsum.Options) (*rotated.Table[uint64], error) {
	switch img := img.(type) {
	case boxsum.Image[uint8]:
		return squaresAlong[uint16](d, img, rot, opt)
	case boxsum.Image[uint16]:
		return squaresAlong[uint32](d, img, rot, opt)
	case boxsum.Image[int16]:
		return squaresAlong[uint32](d, img, rot, opt)
	}
	return nil, nil
}

// squaresAlong is the table of the squares of pixels, which type T holds.
func squaresAlong[T, P boxsum.Pixel](d *gpu.Device, src boxsum.Image[P], rot rotated.Rotation, opt *boxsum.Options) (*rotated.Table[uint64], error) {
	squares, err := boxsum.NewImage[T](src.Width, src.Height, src.Channels)
	if err != nil {
		return nil, err
	}
	for y := range src.Height {
		to := squares.Row(y)
		for i, p := range src.Row(y) {
			to[i] = T(int64(p) * int64(p))
		}
	}
	table, err := integrateAlong(raster.U64, d, squares, rot, opt)
	if err != nil {
		return nil, err
	}
	return table.(*rotated.Table[uint64]), nil
}

// integrateAlong makes a *rotated.Table on a device, or on the CPU where that is nil.
func integrateAlong(sum raster.Type, d *gpu.Device, img any, rot rotated.Rotation, opt *boxsum.Options) (any, error) {
	e := extentOf(img)
	table, err := anytable.NewRotated(sum, e.Width, e.Height, e.Channels, rot)
	if err == nil {
		err = anytable.IntegrateRotated(table, img, (*rotated.Options)(plainOptions(onDevice(d, opt))))
	}
	return table, err
}

func (t *rotatedJob) stats(b rotated.Box, channel int) stats {
	return t.all.describe(sample{
		n: int(t.lattice.Area(b)), sum: t.sum(b, channel), mean: t.mean(b, channel),
		std: t.std(b, channel), runs: t.runs(b), channel: channel,
	})
}

// runs is the pixels of a box: in each row they are neighbours.
func (t *rotatedJob) runs(box rotated.Box) iter.Seq[span] {
	return func(yield func(span) bool) {
		around := sketch.Around(t.lattice, []sketch.Box{{Box: box}}, 2)
		for y := around.Min.Y; y < around.Max.Y; y++ {
			from, to := 0, 0
			for x := around.Min.X; x < around.Max.X; x++ {
				if c, r := t.lattice.Cell(x, y); c >= box.C0 && c < box.C1 && r >= box.R0 && r < box.R1 {
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
