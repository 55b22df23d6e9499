package store

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/zarr"
)

// Run computes the table on this machine, and continues the work of an interrupted run. It
// reads every pixel once and writes every entry once. If it returns an error, the next run
// continues where it stopped.
func (j *Job) Run(ctx context.Context) error {
	workers, err := j.most()
	if err != nil {
		return err
	}
	finished, err := j.Begin(ctx)
	if err != nil || finished {
		if finished && j.opt.Progress != nil {
			j.opt.Progress(j.rows*j.columns, j.rows*j.columns)
		}
		return err
	}
	r := j.newRun(workers)
	if err := r.resume(ctx); err != nil {
		return err
	}
	if err := r.all(ctx, workers); err != nil {
		return err
	}
	return j.Finish(ctx)
}

func (j *Job) newRun(workers int) *run {
	return &run{Job: j, cond: sync.NewCond(new(sync.Mutex)), rowsDone: make([]int, j.rows), lines: map[int]*rowLines{}, written: map[int]bool{}, ahead: 2 * max(j.columns, workers), progress: j.opt.Progress}
}

// all computes all remaining blocks.
func (r *run) all(ctx context.Context, workers int) error {
	j := r.Job
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stop := context.AfterFunc(ctx, func() { r.cond.L.Lock(); r.cond.Broadcast(); r.cond.L.Unlock() })
	defer stop()
	var group sync.WaitGroup
	for range max(1, min(workers, j.rows*j.columns)) {
		group.Go(func() {
			w := j.works.Get().(*blockMemory)
			defer j.works.Put(w)
			for ctx.Err() == nil {
				n, ok := r.claim(ctx)
				if !ok {
					return
				}
				if err := r.do(ctx, w, n/j.columns, n%j.columns); err != nil {
					r.fail(err)
					cancel()
					return
				}
			}
		})
	}
	group.Wait()
	if r.err != nil {
		return r.err
	}
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("stopped with %d of %d blocks done (run again to resume): %w", r.done, j.rows*j.columns, err)
	}
	return nil
}

// A run is the state of [Job.Run].
type run struct {
	*Job
	cond     *sync.Cond
	next     int // next block to claim
	ahead    int // maximum distance of next from the first incomplete row, in blocks
	done     int // number of blocks
	rowsDone []int
	complete int               // all rows before it have their lines written
	written  map[int]bool      // later rows whose lines are written
	lines    map[int]*rowLines // of rows in progress
	spare    []*rowLines       // of completed rows
	exist    map[string]bool   // blocks written by an earlier run
	err      error
	told     time.Time
	progress func(done, all int)
	damaged  func(Damage) // reports differences to an existing table; see [run.hold]
	held     sync.Pool    // of *[]byte, for [run.hold]
}

// rowLines holds the lines above a row of blocks and to the left of its blocks.
type rowLines struct {
	top       [][]byte // by layer, a line as wide as the image
	topReady  []bool   // by column
	left      [][]byte // by layer, a column for each block
	leftReady int      // number of columns that are ready
}

func (l *rowLines) reset() {
	for n := range l.top {
		clear(l.top[n])
		clear(l.left[n])
	}
	clear(l.topReady)
}

func (r *run) fail(err error) {
	r.cond.L.Lock()
	if r.err == nil {
		r.err = err
	}
	r.cond.L.Unlock()
}

// claim returns the next block to compute. It stays close to the blocks in progress,
// because a restart rereads incomplete rows.
func (r *run) claim(ctx context.Context) (int, bool) {
	r.cond.L.Lock()
	defer r.cond.L.Unlock()
	for r.next >= r.complete*r.columns+r.ahead && r.err == nil && ctx.Err() == nil {
		r.cond.Wait()
	}
	n := r.next
	r.next++
	return n, n < r.rows*r.columns && r.err == nil && ctx.Err() == nil
}

// row returns the lines of a row of blocks. The caller must hold the lock.
func (r *run) row(i int) *rowLines {
	l := r.lines[i]
	if l == nil {
		if n := len(r.spare); n > 0 {
			l, r.spare = r.spare[n-1], r.spare[:n-1]
			l.reset()
		} else {
			l = &rowLines{topReady: make([]bool, r.columns)}
			for _, layer := range r.layers {
				l.top = append(l.top, raster.Aligned(r.columns*r.block*layer.bytes))
				l.left = append(l.left, raster.Aligned(r.columns*r.block*layer.bytes))
			}
		}
		l.leftReady = 1 // nothing is left of the first block
		if i == 0 {
			for k := range l.topReady {
				l.topReady[k] = true
			}
		}
		r.lines[i] = l
	}
	return l
}

// firstLine writes the line above the first row, which is zero.
func (r *run) firstLine(ctx context.Context) error {
	for n, l := range r.layers {
		if err := r.putLine(ctx, l.top, r.place(0, 0), r.row(0).top[n]); err != nil {
			return err
		}
	}
	return nil
}

func (r *run) putLine(ctx context.Context, a *zarr.Array, place []int, line []byte) error {
	if r.damaged != nil {
		return r.hold(ctx, a, place, -1, -1, line)
	}
	return a.WriteObject(ctx, place, line)
}

// blockMemory is the memory that a goroutine needs for a block.
type blockMemory struct {
	summer *summer
	pix    []byte
	out    []byte
	edges  []blockEdges // by layer
}

// blockEdges holds the last column and the last row of the table of a block alone, as sums.
type blockEdges struct{ right, bottom []byte }

// measure stores the edges of the block's tables.
func (w *blockMemory) measure() {
	if w.edges == nil {
		w.edges = make([]blockEdges, len(w.summer.tables))
	}
	for n := range w.summer.tables {
		t, e := &w.summer.tables[n], &w.edges[n]
		e.right, e.bottom = raster.Reuse(e.right, t.Height*t.pixel()), raster.Reuse(e.bottom, t.Width*t.pixel())
		t.edges(e.right, e.bottom)
	}
}

// extent returns the size of a block, which is smaller at the right and bottom edges.
func (j *Job) extent(i, k int) (height, width int) {
	return min(j.block, j.height-i*j.block), min(j.block, j.width-k*j.block)
}

// tables reads a block and computes its tables.
func (j *Job) tables(ctx context.Context, w *blockMemory, i, k int) error {
	h, wd := j.extent(i, k)
	at, box := make([]int, len(j.src.Shape())), make([]int, len(j.src.Shape()))
	for d := range box {
		box[d] = 1
	}
	at[j.lead], at[j.lead+1], box[j.lead], box[j.lead+1] = i*j.block, k*j.block, h, wd
	if j.depth > 0 {
		box[j.lead-1] = j.depth
	} else if len(box) > j.lead+2 && j.opt.Bins.N == 0 {
		box[j.lead+2] = j.channels
	}
	n := raster.Product(box) * j.src.Type().Size()
	w.pix = raster.Reuse(w.pix, n)
	if err := j.src.ReadBytes(ctx, w.pix, at, box); err != nil {
		return err
	}
	return w.summer.make(w.pix, wd, h)
}

// put writes a block of a layer.
func (j *Job) put(ctx context.Context, w *blockMemory, n, i, k int, left, top []byte) error {
	return j.layers[n].main.WriteObject(ctx, j.place(i, k), j.entries(w, n, i, k, left, top))
}

// entries returns the entries of a block of a layer, valid until the next call.
func (j *Job) entries(w *blockMemory, n, i, k int, left, top []byte) []byte {
	l := j.layers[n]
	h, wd := j.extent(i, k)
	size := j.block * j.block * j.channels * l.kept.Size()
	if cap(w.out) < size+8 { // with room for a checksum
		w.out = raster.Aligned(size + 8)
	}
	out := w.out[:size]
	if h < j.block || wd < j.block {
		clear(out)
	}
	if j.opt.Compact {
		w.summer.tables[n].keep(out, j.block, rasterTypes[l.kept])
	} else {
		w.summer.tables[n].finish(out, j.block, left, top)
	}
	return out
}

func (j *Job) place(i, k int) []int {
	if j.channels > 1 {
		return []int{i, k, 0}
	}
	return []int{i, k}
}

// do computes one block. It waits for the lines left of it and above it, which the blocks
// there write, and writes those of the blocks on the right and below.
func (r *run) do(ctx context.Context, w *blockMemory, i, k int) error {
	if err := r.tables(ctx, w, i, k); err != nil {
		return err
	}
	w.measure()
	lines, below := r.linesAround(i)
	if ok, err := r.wait(ctx, func() bool { return lines.leftReady > k }); !ok || err != nil {
		return err
	}
	r.passRight(w, lines, k)
	if ok, err := r.wait(ctx, func() bool { return lines.topReady[k] }); !ok || err != nil {
		return err
	}
	if below != nil {
		r.passDown(w, lines, below, i, k)
	}
	if err := r.writeBlock(ctx, w, lines, i, k); err != nil {
		return err
	}
	if !r.count(i) {
		return nil
	}
	defer r.tidy()
	return r.finishRow(ctx, lines, below, i)
}

// linesAround returns the lines of a row of blocks and of the row below, which is nil for the last.
func (r *run) linesAround(i int) (lines, below *rowLines) {
	r.cond.L.Lock()
	defer r.cond.L.Unlock()
	lines = r.row(i)
	if i+1 < r.rows {
		below = r.row(i + 1)
	}
	return lines, below
}

// wait waits until ready reports true. It returns false if another block has failed, and an
// error if the context is done.
func (r *run) wait(ctx context.Context, ready func() bool) (ok bool, err error) {
	r.cond.L.Lock()
	defer r.cond.L.Unlock()
	for !ready() && r.err == nil && ctx.Err() == nil {
		r.cond.Wait()
	}
	return r.err == nil, ctx.Err()
}

// passRight stores the lines left of the next block.
func (r *run) passRight(w *blockMemory, lines *rowLines, k int) {
	if k+1 < r.columns {
		for n, l := range r.layers {
			size := r.block * l.bytes
			l.carry(lines.leftOf(n, k+1, size), lines.leftOf(n, k, size), w.edges[n].right)
		}
	}
	r.cond.L.Lock()
	lines.leftReady = max(lines.leftReady, k+2)
	r.cond.Broadcast()
	r.cond.L.Unlock()
}

// passDown stores the lines above the block below.
func (r *run) passDown(w *blockMemory, lines, below *rowLines, i, k int) {
	height, _ := r.extent(i, k)
	for n, l := range r.layers {
		size := r.block * l.bytes
		l.drop(below.topOf(n, k, size), w.edges[n].bottom, lines.leftOf(n, k, size), lines.topOf(n, k, size), height)
	}
	r.cond.L.Lock()
	below.topReady[k] = true
	r.cond.Broadcast()
	r.cond.L.Unlock()
}

// writeBlock writes a block of every layer unless an earlier run has written it, or compares it
// with the existing one.
func (r *run) writeBlock(ctx context.Context, w *blockMemory, lines *rowLines, i, k int) error {
	for n, l := range r.layers {
		size := r.block * l.bytes
		left, top := lines.leftOf(n, k, size), lines.topOf(n, k, size)
		var err error
		switch {
		case r.damaged != nil:
			err = r.hold(ctx, l.main, r.place(i, k), i, k, r.entries(w, n, i, k, left, top))
		case !r.exist[l.main.Key(r.place(i, k))]:
			err = r.put(ctx, w, n, i, k, left, top)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// count counts a block of a row as done. It reports whether the row is complete.
func (r *run) count(i int) bool {
	r.cond.L.Lock()
	defer r.cond.L.Unlock()
	r.rowsDone[i]++
	r.done++
	if p := r.progress; p != nil && (r.done == r.rows*r.columns || time.Since(r.told) > 50*time.Millisecond) {
		r.told = time.Now()
		p(r.done, r.rows*r.columns)
	}
	return r.rowsDone[i] == r.columns
}

// finishRow writes the lines of a row of blocks and those above the next row.
func (r *run) finishRow(ctx context.Context, lines, below *rowLines, i int) error {
	for n, l := range r.layers {
		if below != nil {
			if err := r.putLine(ctx, l.top, r.place(i+1, 0), below.top[n]); err != nil {
				return err
			}
		}
		if err := r.putLine(ctx, l.left, r.place(0, i), lines.left[n]); err != nil {
			return err
		}
	}
	r.cond.L.Lock()
	defer r.cond.L.Unlock()
	// Lines can be reused once the row above is written too, because its last block stores
	// what lies below it.
	for r.written[i] = true; r.written[r.complete]; r.complete++ {
		r.spare = append(r.spare, r.lines[r.complete])
		delete(r.lines, r.complete)
		delete(r.written, r.complete)
	}
	r.cond.Broadcast()
	return nil
}

func (l *rowLines) leftOf(layer, k, size int) []byte { return l.left[layer][k*size : (k+1)*size] }
func (l *rowLines) topOf(layer, k, size int) []byte  { return l.top[layer][k*size : (k+1)*size] }
