// Package beam computes tables larger than memory with Apache Beam, on one machine with its runner Prism or on a
// cluster with Flink, Spark or Dataflow. Only block numbers pass through Beam: workers read pixels from the source and
// write sums to the destination.
//
// A pipeline makes the passes of a [store.Job]: it sums the edges of every block, scans these edges, and then writes
// the table of every block. Each pass can be repeated, so Beam may retry work that failed, and running the pipeline
// again continues one that was stopped.
package beam

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"
	"github.com/boxsum/boxsum/store"
	"github.com/boxsum/boxsum/store/sources"
	"github.com/boxsum/boxsum/zarr"
)

// Work describes the table to compute. It is sent to the workers as JSON. Except for From, To and Run, its fields are
// those of [store.Options].
type Work struct {
	// From and To are the paths or URLs of the image and of the table. Every worker must be able to open them. They should
	// not contain credentials: each worker uses its own.
	From, To string

	Block       int
	Chunk       int
	Compression string
	Level       int
	Squares     bool
	Compact     bool
	Restart     bool // used only by [Begin]

	Run string // identifies the pipeline; set by [Pipeline]
}

func (w Work) options() *store.Options {
	return &store.Options{Block: w.Block, Chunk: w.Chunk, Compression: w.Compression, Level: w.Level, Squares: w.Squares, Compact: w.Compact, Restart: w.Restart}
}

// opened is an open job with its source.
type opened struct {
	*store.Job
	src *zarr.Array
	dst zarr.Bucket
	run string
}

func (w Work) open(ctx context.Context) (*opened, error) {
	src, err := sources.Open(ctx, w.From)
	if err != nil {
		return nil, err
	}
	dst, err := zarr.OpenBucket(ctx, w.To, true)
	if err != nil {
		src.Close()
		return nil, err
	}
	job, err := store.NewJob(ctx, src, dst, w.options())
	if err != nil {
		src.Close()
		dst.Close()
		return nil, err
	}
	return &opened{job, src, dst, w.Run}, nil
}

func (o *opened) close() error {
	return errors.Join(o.src.Close(), o.dst.Close())
}

// jobs holds the jobs that this process has opened, one for each work: that of the last run, because the image may have
// changed since earlier ones.
var jobs struct {
	sync.Mutex
	of map[Work]*opened
}

func (w Work) job(ctx context.Context) (*opened, error) {
	jobs.Lock()
	defer jobs.Unlock()
	work := w
	work.Run = ""
	before := jobs.of[work]
	if before != nil && before.run == w.Run {
		return before, nil
	}
	o, err := w.open(context.WithoutCancel(ctx)) // the job outlives the bundle
	if err != nil {
		return nil, err
	}
	if err := o.Join(ctx); err != nil {
		return nil, errors.Join(err, o.close())
	}
	if jobs.of == nil {
		jobs.of = map[Work]*opened{}
	}
	if jobs.of[work] = o; before != nil {
		before.close()
	}
	return o, nil
}

// Progress returns the number of blocks whose edges this process has summed and the number of blocks that it has written
// since it started.
func Progress() (edges, blocks int64) { return edgesDone.Load(), blocksDone.Load() }

var edgesDone, blocksDone atomic.Int64

// Begin prepares the destination and returns the number of blocks to pass to [Pipeline], or 0 if the table is already
// finished. The submitter calls it once, before the pipeline runs.
func Begin(ctx context.Context, w Work) (blocks int, err error) {
	if strings.HasSuffix(w.To, ".zip") {
		return 0, fmt.Errorf("destination %s is a zip file, which only one worker can write, want a folder or a bucket", zarr.Redacted(w.To))
	}
	o, err := w.open(ctx)
	if err != nil {
		return 0, err
	}
	defer o.close()
	finished, err := o.Begin(ctx)
	if err != nil || finished {
		return 0, err
	}
	rows, columns := o.Blocks()
	return rows * columns, nil
}

// Pipeline adds the passes over a table of the given number of blocks, which [Begin] returned, to the scope s.
func Pipeline(s beam.Scope, w Work, blocks int) {
	w.Restart, w.Run = false, rand.Text()
	all := beam.Reshuffle(s.Scope("Blocks"), beam.ParDo(s, &numbers{blocks}, beam.Impulse(s)))
	edges := beam.ParDo(s.Scope("Edges"), &blockFn{Work: w}, all)
	// Counting all blocks makes the passes wait for each other.
	scanned := beam.ParDo(s.Scope("Scan"), &scanFn{w, blocks}, beam.Combine(s, add, edges))
	again := beam.Reshuffle(s.Scope("Blocks"), scanned)
	written := beam.ParDo(s.Scope("Integrate"), &blockFn{Work: w, Write: true}, again)
	beam.ParDo0(s.Scope("Finish"), &finishFn{w, blocks}, beam.Combine(s, add, written))
}

func init() {
	register.DoFn2x0[[]byte, func(int64)](&numbers{})
	register.DoFn3x1[context.Context, int64, func(int64), error](&blockFn{})
	register.DoFn3x1[context.Context, int64, func(int64), error](&scanFn{})
	register.DoFn2x1[context.Context, int64, error](&finishFn{})
	register.Function2x1(add)
	register.Emitter1[int64]()
}

func add(a, b int64) int64 { return a + b }

// numbers emits the numbers of all blocks.
type numbers struct{ Blocks int }

func (n *numbers) ProcessElement(_ []byte, emit func(int64)) {
	for i := range n.Blocks {
		emit(int64(i))
	}
}

// blockFn sums or writes blocks, several concurrently whatever the bundles are. It emits the number of blocks done.
type blockFn struct {
	Work  Work
	Write bool

	group sync.WaitGroup
	lock  sync.Mutex
	err   error
	done  int64
}

// turns limits the number of blocks in progress in this process.
var turns = make(chan struct{}, runtime.GOMAXPROCS(0))

var (
	summed  = beam.NewCounter("boxsum", "blocks_summed")
	written = beam.NewCounter("boxsum", "blocks_written")
	there   = beam.NewCounter("boxsum", "blocks_there_already")
)

func (f *blockFn) StartBundle(_ func(int64)) { f.err, f.done = nil, 0 }

func (f *blockFn) ProcessElement(ctx context.Context, n int64, _ func(int64)) error {
	job, err := f.Work.job(ctx)
	if err != nil {
		return err
	}
	_, columns := job.Blocks()
	i, k := int(n)/columns, int(n)%columns
	select {
	case turns <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	if f.failed() != nil {
		<-turns
		return f.failed()
	}
	switch {
	case !f.Write:
		summed.Inc(ctx, 1)
	case job.Written(ctx, i, k):
		<-turns
		there.Inc(ctx, 1)
		f.count(nil)
		return nil
	default:
		written.Inc(ctx, 1)
	}
	f.group.Go(func() {
		defer func() { <-turns }()
		if f.Write {
			f.count(job.Integrate(ctx, i, k))
			blocksDone.Add(1)
		} else {
			f.count(job.Edges(ctx, i, k))
			edgesDone.Add(1)
		}
	})
	return nil
}

func (f *blockFn) count(err error) {
	f.lock.Lock()
	defer f.lock.Unlock()
	if f.done++; err != nil && f.err == nil {
		f.err = err
	}
}

func (f *blockFn) failed() error {
	f.lock.Lock()
	defer f.lock.Unlock()
	return f.err
}

func (f *blockFn) FinishBundle(emit func(int64)) error {
	f.group.Wait()
	if f.err == nil {
		emit(f.done)
	}
	return f.err
}

// scanFn sums the edges of all blocks, and emits the numbers of the blocks again.
type scanFn struct {
	Work   Work
	Blocks int
}

func (f *scanFn) ProcessElement(ctx context.Context, n int64, emit func(int64)) error {
	if int(n) != f.Blocks {
		return fmt.Errorf("the destination has the edges of %d blocks, want %d", n, f.Blocks)
	}
	job, err := f.Work.job(ctx)
	if err != nil {
		return err
	}
	if err := job.Scan(ctx); err != nil {
		return err
	}
	for i := range f.Blocks {
		emit(int64(i))
	}
	return nil
}

// finishFn marks the table as finished.
type finishFn struct {
	Work   Work
	Blocks int
}

func (f *finishFn) ProcessElement(ctx context.Context, n int64) error {
	if int(n) != f.Blocks {
		return fmt.Errorf("wrote %d blocks, want %d", n, f.Blocks)
	}
	job, err := f.Work.job(ctx)
	if err != nil {
		return err
	}
	return job.Finish(ctx)
}
