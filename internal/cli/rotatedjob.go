package cli

import (
	"fmt"
	"iter"
	"time"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/gpu"
	"github.com/boxsum/boxsum/internal/launch"
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
		work, err := pair.rotate(src.device, src.image, q.rot, sh.watched(&boxsum.Options{}, "integrating", src.device))
		if err != nil {
			return nil, err
		}
		if c.Verbose {
			sh.progress.close()
			width, height := work.lattice.Size()
			fmt.Fprintf(sh.stderr, "%d×%d %s→%s along %v, %.2f°, in %s ms\n", width, height, pair.pixel, pair.sum, q.rot, q.rot.Degrees(), rounded(time.Since(start).Seconds()*1e3))
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
	table    rotatedTable
	all      population
	channels int
}

type rotatedTable interface {
	sum(b rotated.Box, channel int) any
	mean(b rotated.Box, channel int) float64
	std(b rotated.Box, channel int) float64 // negative where the pixels have to say it
}

// rotatedSums is a rotated table, and that of the squares of pixels of 8 and 16 bits; those of
// others may not fit, or cancel out.
type rotatedSums[S boxsum.Sum] struct {
	rotated.SquaredTable[S, uint64]
}

func newRotatedJob[P boxsum.Pixel, S boxsum.Sum](d *gpu.Device, src boxsum.Image[P], rot rotated.Rotation, opt *boxsum.Options) (*rotatedJob, error) {
	table, err := integrateAlong[S](d, src, rot, part(opt, 0, 0.5))
	if err != nil {
		return nil, err
	}
	squares, err := squaresOf(d, src, rot, part(opt, 0.5, 1))
	sums := &rotatedSums[S]{rotated.SquaredTable[S, uint64]{Sum: table, Squares: squares}}
	return &rotatedJob{lattice: table.Lattice, table: sums, all: population{pixels: rowsOf(src)}, channels: src.Channels}, err
}

func (t *rotatedSums[S]) sum(b rotated.Box, channel int) any { return t.Sum.SumChannel(b, channel) }

func (t *rotatedSums[S]) mean(b rotated.Box, channel int) float64 { return t.Sum.Mean(b, channel) }

func (t *rotatedSums[S]) std(b rotated.Box, channel int) float64 {
	if t.Squares == nil {
		return -1
	}
	return t.StdDev(b, channel)
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
	return integrateAlong[uint64](d, squares, rot, opt)
}

// integrateAlong makes a table on a device, or on the CPU where that is nil.
func integrateAlong[S boxsum.Sum, P boxsum.Pixel](d *gpu.Device, src boxsum.Image[P], rot rotated.Rotation, opt *boxsum.Options) (*rotated.Table[S], error) {
	if launch.GPU && d != nil {
		return gpu.IntegrateRotatedHost[S](d, src, rot, nil)
	}
	return rotated.Integrate[S](src, rot, (*rotated.Options)(plainOptions(opt)))
}

func (t *rotatedJob) stats(b rotated.Box, channel int) stats {
	return t.all.describe(sample{
		n: int(t.lattice.Area(b)), sum: t.table.sum(b, channel), mean: t.table.mean(b, channel),
		std: t.table.std(b, channel), runs: t.runs(b), channel: channel,
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
