// Command boxsum-beam makes tables in stores on Apache Beam. It is the submitter and, as boxsum-beam -pool :50000, the
// worker on each machine of a cluster. Without a runner it uses Prism, which is built in.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners/universal/extworker"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/x/beamx"
	boxsum "github.com/boxsum/boxsum/beam"
	_ "github.com/boxsum/boxsum/cloud"
	"github.com/boxsum/boxsum/zarr"
	_ "github.com/boxsum/boxsum/zarr/web"
)

func main() {
	var work boxsum.Work
	flag.StringVar(&work.From, "in", "", "Zarr array to sum: a path or URL that means the same to all workers")
	flag.StringVar(&work.To, "out", "", "table to make: a path or URL, as of -in")
	flag.IntVar(&work.Block, "chunk", 0, "blocks of N×N, each one object; about 1024 unless told")
	flag.IntVar(&work.Chunk, "inner", 0, "chunks of N×N in each block; one a block unless told")
	flag.StringVar(&work.Compression, "compression", "zstd", "zstd, lz4, gzip or none")
	flag.BoolVar(&work.Squares, "squares", false, "make the table of squares as well")
	flag.BoolVar(&work.Compact, "compact", false, "keep sums of the blocks alone, in fewer bytes")
	flag.BoolVar(&work.Restart, "restart", false, "begin anew where a table of another image or other options was begun")
	pool := flag.String("pool", "", "be a pool of workers on this port, such as :50000, for --environment_type=EXTERNAL")
	quiet := flag.Bool("quiet", false, "no progress")
	flag.Parse()
	beam.Init() // in a worker started by an engine, this does not return

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	var err error
	switch {
	case *pool != "":
		err = serve(ctx, *pool)
	case work.From == "" || work.To == "" || flag.NArg() > 0:
		fmt.Fprintln(os.Stderr, "boxsum-beam: error: no work: give -in IMAGE and -out TABLE, or -pool PORT (see -help)")
		os.Exit(2)
	default:
		err = submit(ctx, work, *quiet)
	}
	switch {
	case ctx.Err() != nil && *pool == "":
		fmt.Fprintln(os.Stderr, "boxsum-beam: interrupted; the next run goes on")
		os.Exit(130)
	case err != nil:
		fmt.Fprintln(os.Stderr, "boxsum-beam: error:", err)
		os.Exit(1)
	}
}

// serve runs a pool of workers until a signal arrives.
func serve(ctx context.Context, address string) error {
	port, err := strconv.Atoi(strings.TrimPrefix(address, ":"))
	if err != nil || port < 0 || port > math.MaxUint16 {
		return fmt.Errorf("port is %q, want 0 to %d, such as 50000 or :50000", address, math.MaxUint16)
	}
	workers, err := extworker.StartLoopback(ctx, port)
	if err != nil {
		return err
	}
	fmt.Fprintln(os.Stderr, "boxsum-beam: workers at", workers.EnvironmentConfig(ctx))
	<-ctx.Done()
	return workers.Stop(context.Background())
}

// submit runs the pipeline and reports the result.
func submit(ctx context.Context, work boxsum.Work, quiet bool) error {
	start := time.Now()
	blocks, err := boxsum.Begin(ctx, work)
	if err != nil {
		return err
	}
	if blocks == 0 {
		fmt.Fprintln(os.Stderr, "boxsum-beam: the table is finished")
		return nil
	}
	p, s := beam.NewPipelineWithRoot()
	boxsum.Pipeline(s, work, blocks)
	done := make(chan error, 1)
	var result beam.PipelineResult
	go func() {
		var err error
		result, err = beamx.RunWithMetrics(ctx, p)
		done <- err
	}()
	tick := time.NewTicker(2 * time.Second)
	defer tick.Stop()
	for last := int64(0); ; {
		select {
		case err = <-done:
			if err != nil {
				return errors.New(strings.NewReplacer(work.From, zarr.Redacted(work.From), work.To, zarr.Redacted(work.To)).Replace(err.Error()))
			}
			report(result, blocks, time.Since(start))
			return nil
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C: // progress of this process, which is none if others are the workers
			edges, written := boxsum.Progress()
			if now := edges + written; now != last && !quiet {
				last = now
				rate := float64(now) / time.Since(start).Seconds()
				fmt.Fprintf(os.Stderr, "boxsum-beam: %d of %d blocks summed, %d written, %.0f s left\n", edges, blocks, written, float64(2*blocks-int(now))/rate)
			}
		}
	}
}

// report prints the counters of the engine.
func report(result beam.PipelineResult, blocks int, took time.Duration) {
	fmt.Fprintf(os.Stderr, "boxsum-beam: %d blocks in %.1f s", blocks, took.Seconds())
	if result != nil {
		for _, c := range result.Metrics().AllMetrics().Counters() {
			if c.Key.Namespace == "boxsum" {
				fmt.Fprintf(os.Stderr, ", %s %d", c.Key.Name, c.Result())
			}
		}
	}
	fmt.Fprintln(os.Stderr)
}
