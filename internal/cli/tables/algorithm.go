package tables

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/cli/console"
	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/lab/bench"
	"github.com/boxsum/boxsum/papers"
)

// runAlgorithm makes the table with a published algorithm. The table is always compared with a
// reference, because the algorithms are there to be checked.
func (c *Integrate) runAlgorithm(sh *console.Shell) (none report, _ error) {
	if c.Squares || c.Tilted || c.Volume {
		return none, console.Usage("--algorithm computes sums of images only: leave out --squares, --tilted and --volume")
	}
	opt, err := c.Options(c.Workers)
	if err != nil {
		return none, err
	}
	if opt.Level != *new(boxsum.Level) {
		return none, console.Usage("--level is for boxsum's own algorithm: leave it out with --algorithm")
	}
	if most := 1 << 16; opt.Workers > most {
		return none, console.Usage("--workers %d: want at most %d with --algorithm", opt.Workers, most)
	}
	chosen, precisions, err := c.algorithm()
	if err != nil {
		return none, err
	}
	out, err := c.format()
	if err != nil {
		return none, err
	}
	src, err := c.source(sh)
	if err != nil {
		return none, err
	}
	defer src.Close()
	var published *papers.Job
	for _, p := range precisions {
		published, err = prepare(src.Image, chosen.Algorithm, &papers.Options{
			Precision: p, Rotation: chosen.Rotation, Threads: opt.Workers, Device: src.Device,
		})
		if !errors.Is(err, boxsum.ErrTypes) { // the types are supported with another number of channels
			break
		}
	}
	if err != nil {
		return none, err
	}
	defer func() {
		if sh.Ctx.Err() == nil { // papers.Job cannot be canceled
			published.Close()
		}
	}()
	sh.Progress.Begin("integrating", 0)
	run := func() (took time.Duration, err error) {
		start := time.Now()
		if err := published.RunHost(); err != nil {
			return 0, err
		}
		return time.Since(start), published.Verify()
	}
	took, err := console.Await(sh.Ctx, run)
	if err := cmp.Or(err, sh.Ctx.Err()); err != nil {
		return none, err
	}
	work, err := jobOf(published)
	if err != nil {
		return none, err
	}
	if err := save(sh, c.Out, out, work); err != nil {
		return none, err
	}
	r := newReport(work, src.Device, opt, took, c.Out)
	r.Algorithm, _, _ = strings.Cut(chosen.String(), ":") // keep the rotation
	r.Level = ""
	if src.Device == nil && !chosen.Threads {
		r.Workers = 1
	} else if src.Device == nil {
		r.Workers = opt.Workers
	}
	return r, nil
}

// algorithm returns the algorithm that the flags name and the precisions to try: that of --type, or
// those that suit the channels of the image.
func (c *Integrate) algorithm() (chosen bench.AlgorithmCase, precisions []papers.Precision, err error) {
	if chosen, err = bench.ParseAlgorithm(c.Algorithm); err != nil {
		return chosen, nil, err
	}
	switch onGPU := c.OnGPU(); {
	case chosen.Place == papers.GPU && !onGPU:
		return chosen, nil, fmt.Errorf("%s runs on a GPU: add --on cuda or --on opencl", chosen.Name)
	case chosen.Place == papers.CPU && onGPU:
		return chosen, nil, fmt.Errorf("%s runs on the CPU: leave out --on %s", chosen.Name, c.On)
	}
	if strings.Contains(c.Algorithm, ":") {
		if c.Type != "auto" && c.Type != chosen.Precision.Type {
			return chosen, nil, console.Usage("--type %s contradicts %s: leave one out", c.Type, c.Algorithm)
		}
		return chosen, []papers.Precision{chosen.Precision}, nil
	}
	if c.Type == "auto" {
		return chosen, []papers.Precision{{}}, nil
	}
	for _, p := range chosen.Precisions {
		if p.Type == c.Type {
			precisions = append(precisions, p)
		}
	}
	if precisions == nil {
		return chosen, nil, fmt.Errorf("%s has no sums of type %s (boxsum bench --algorithms help lists its types)", chosen.Name, c.Type)
	}
	return chosen, precisions, nil
}

// jobOf wraps a published algorithm's job, whose table has been made.
func jobOf(published *papers.Job) (job, error) {
	switch published.Precision().Type {
	case "f32":
		t, err := papers.Table[float32](published, 0)
		return doneJob(pair{raster.F32, raster.F32, raster.F64, false}, t, err)
	case "f64":
		t, err := papers.Table[float64](published, 0)
		return doneJob(pair{raster.F64, raster.F64, raster.F64, false}, t, err)
	}
	t, err := papers.Table[uint32](published, 0)
	return doneJob(pair{raster.U32, raster.U32, raster.U64, false}, t, err)
}

func doneJob[S boxsum.Sum](p pair, t *boxsum.Table[S], err error) (job, error) {
	if err != nil {
		return nil, err
	}
	j := planPlane(p, raster.Array{Type: raster.U8, Extent: raster.PlaneExtent(t.Width, t.Height, t.Channels, 0)}, tableChoice{})
	j.tables.(*planeTables).sums = tableOf(t)
	return j, nil
}
