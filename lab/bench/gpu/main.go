// Command gpu measures what a CUDA device computes, each kind of work alternating with the copy, the fill or the
// upright table that limits it, and prints the ratios beside their goals. make bench-gpu runs it. It needs neither Go
// nor Python where it runs:
//
//	CGO_ENABLED=0 go build -o bench-gpu ./lab/bench/gpu
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/boxsum/boxsum/gpu"
	"github.com/boxsum/boxsum/internal/launch"
	"github.com/boxsum/boxsum/lab/measure"
)

func main() {
	if err := run(os.Stdout, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "gpu:", err)
		os.Exit(1)
	}
}

func run(w io.Writer, args []string) error {
	flags := flag.NewFlagSet("gpu", flag.ContinueOnError)
	only := flags.String("only", "", "rows whose names contain one of these, such as tensors,box")
	rounds := flags.Int("rounds", 25, "number of times that work and limit alternate")
	scale := flags.Int("scale", 1, "divide the sides of all images by this")
	kind := flags.String("on", "cuda", "kind of the device: cuda or opencl")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *rounds < 1 || *scale < 1 {
		return fmt.Errorf("rounds is %d and scale is %d, want 1 or more", *rounds, *scale)
	}
	of := gpu.CUDA
	if *kind == "opencl" {
		of = gpu.OpenCL
	}
	d, err := gpu.OpenBest(of)
	if err != nil {
		return err
	}
	defer d.Close()
	l, err := launch.Open(d)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "%s: work and limit alternate, %d times each; the median in µs, and the ratio of the medians and of the best times\n", d.Info().Name, *rounds)
	if *scale > 1 {
		fmt.Fprintf(w, "The sides of all images are divided by %d.\n", *scale)
	}
	fmt.Fprintln(w)
	b := &bench{device: d, launch: l, scale: *scale, rounds: *rounds}
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "work\tµs\tlimit\tµs\tnow\tbest\tgoal\t")
	for _, r := range rows() {
		if !wanted(r.name, *only) {
			continue
		}
		err := b.row(table, r)
		if errors.Is(err, errors.ErrUnsupported) {
			fmt.Fprintf(table, "%s\t%v\n", r.name, err)
			continue
		}
		if err != nil {
			return fmt.Errorf("%s: %w", r.name, err)
		}
		if err := table.Flush(); err != nil { // a run that is stopped has printed what it measured
			return err
		}
	}
	return table.Flush()
}

func wanted(name, only string) bool {
	return only == "" || slices.ContainsFunc(strings.Split(only, ","), func(part string) bool { return strings.Contains(name, part) })
}

// row measures a row and prints it.
func (b *bench) row(w io.Writer, r row) (err error) {
	defer func() { err = errors.Join(err, b.free()) }()
	p, err := r.prepare(b)
	if err != nil {
		return err
	}
	timers, warm := [2]measure.Timer{measure.OnEvents(b.device, p.work), measure.OnEvents(b.device, p.limit)}, measure.WarmRuns
	if p.onClock {
		timers, warm = [2]measure.Timer{measure.OnClock(p.work), measure.OnClock(p.limit)}, 0
	}
	var times [2][]time.Duration
	for range b.rounds {
		for i, timer := range timers {
			took, err := timer(1, warm)
			if err != nil {
				return err
			}
			times[i] = append(times[i], took...)
		}
	}
	work, limit := measure.Median(times[0]), measure.Median(times[1])
	best := float64(slices.Min(times[0])) / float64(slices.Min(times[1]))
	mark := ""
	if work/limit > r.goal {
		mark = "missed"
	}
	_, err = fmt.Fprintf(w, "%s\t%.1f\t%s\t%.1f\t%.2f\t%.2f\t%.2f\t%s\n", r.name, 1000*work, p.limitName, 1000*limit, work/limit, best, r.goal, mark)
	return err
}
