package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"sort"
	"sync"
	"sync/atomic"

	"github.com/boxsum/boxsum"
)

// A Damage is an object of a table that is not as it should be.
type Damage struct {
	Key      string
	Row      int // of the block, -1 for a line
	Column   int
	Why      error
	Repaired bool
}

// Verify reads all of a table: checksums, and whether every block goes on from its neighbours. It
// returns what is damaged, by its key. A job with the same source and options makes the table once more: all is held against that, blocks and
// lines, and what differs is written anew. Nil repairs nothing.
func (t *Table) Verify(ctx context.Context, repair *Job, progress func(done, all int)) ([]Damage, error) {
	if repair != nil && repair.fingerprint != t.Fingerprint {
		return nil, fmt.Errorf("store: the image or the options are not those of the table: %w", ErrChanged)
	}
	for n, l := range t.layers {
		if repair != nil {
			if err := repair.follow(n, l.main); err != nil {
				return nil, err
			}
		}
	}
	if repair != nil {
		found, err := t.hold(ctx, repair, progress)
		if err == nil {
			err = t.verifyMetadata(ctx, true, func(d Damage) { found = append(found, d) })
		}
		return found, err
	}
	rows, columns := ceil(t.Height, t.Block), ceil(t.Width, t.Block)
	var lock sync.Mutex
	var found []Damage
	report := func(d Damage) {
		lock.Lock()
		found = append(found, d)
		lock.Unlock()
	}
	if err := t.verifyMetadata(ctx, false, report); err != nil {
		return nil, err
	}
	noted := len(found)
	for _, l := range t.layers { // lines
		for i := range rows {
			for _, line := range []struct {
				a     *Array
				place []int
			}{{l.top, t.place(i, 0)}, {l.left, t.place(0, i)}} {
				if err := line.a.readObject(ctx, aligned(product(line.a.m.object)*l.sum.Size()), line.place); err != nil {
					if ctx.Err() != nil {
						return nil, ctx.Err()
					}
					report(Damage{Key: line.a.path + line.a.m.key(line.place), Row: -1, Column: -1, Why: err})
				}
			}
		}
	}
	if len(found) > noted {
		return found, nil // without lines no block can be judged
	}
	var next, done atomic.Int64
	var group sync.WaitGroup
	var failed atomic.Pointer[error]
	for range min(4, t.workers) {
		group.Go(func() {
			for failed.Load() == nil {
				n := int(next.Add(1)) - 1
				if n >= rows*columns {
					return
				}
				i, k := n/columns, n%columns
				for _, l := range t.layers {
					err := t.verifyBlock(ctx, l, i, k, columns, rows)
					if ctx.Err() != nil {
						err := ctx.Err()
						failed.Store(&err)
						return
					}
					if err == nil {
						continue
					}
					report(Damage{Key: l.main.path + l.main.m.key(t.place(i, k)), Row: i, Column: k, Why: err})
				}
				if n := int(done.Add(1)); progress != nil {
					lock.Lock()
					progress(n, rows*columns)
					lock.Unlock()
				}
			}
		})
	}
	group.Wait()
	if err := failed.Load(); err != nil {
		return nil, *err
	}
	sort.Slice(found, func(a, b int) bool { return found[a].Key < found[b].Key })
	return found, nil
}

// verifyMetadata holds the metadata of the arrays against what the table has of them: other programs open these alone.
func (t *Table) verifyMetadata(ctx context.Context, repair bool, report func(Damage)) error {
	for _, l := range t.layers {
		for _, a := range []*Array{l.main, l.left, l.top} {
			d := Damage{Key: a.path + "zarr.json", Row: -1, Column: -1}
			data, err := t.bucket.Get(ctx, d.Key, 0, -1, nil)
			if ctx.Err() != nil {
				return ctx.Err()
			}
			var m *metadata
			if err == nil {
				m, err = parseV3(data)
			}
			if err == nil && !bytes.Equal(m.json(), a.m.json()) {
				err = bad("it is not that of the table")
			}
			if err == nil {
				continue
			}
			d.Why = err
			if repair {
				err := t.bucket.Put(ctx, d.Key, a.m.json())
				if err != nil && !errors.Is(err, errors.ErrUnsupported) {
					return err
				}
				d.Repaired = err == nil
			}
			report(d)
		}
	}
	return nil
}

// hold makes the table once more, and holds what is there against it.
func (t *Table) hold(ctx context.Context, j *Job, progress func(done, all int)) (found []Damage, err error) {
	workers, err := j.most()
	if err != nil {
		return nil, err
	}
	workers = max(1, workers*2/3) // what is read takes memory, too
	var lock sync.Mutex
	r := j.newRun(workers)
	r.progress = progress
	r.damaged = func(d Damage) {
		lock.Lock()
		found = append(found, d)
		lock.Unlock()
	}
	if err = r.firstLine(ctx); err == nil {
		err = r.all(ctx, workers)
	}
	t.cache.clear() // it may have what was damaged
	if err != nil {
		return nil, err
	}
	if now, err := j.print(ctx); err != nil {
		return nil, err
	} else if now != j.fingerprint {
		return nil, fmt.Errorf("store: the image was written to while its table was verified: %w", ErrChanged)
	}
	sort.Slice(found, func(a, b int) bool { return found[a].Key < found[b].Key })
	return found, nil
}

// hold reports an object that does not have these elements, and writes it anew.
func (r *run) hold(ctx context.Context, a *Array, place []int, row, column int, want []byte) error {
	s := reads.Get().(*scratch)
	defer reads.Put(s)
	s.a = room(s.a, len(want))
	err := a.readObject(ctx, s.a, place)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		err = fmt.Errorf("it is not there: %w", fs.ErrNotExist)
	case err == nil && bytes.Equal(s.a, want):
		return nil
	case err == nil:
		err = bad("it is not what the image gives")
	}
	d := Damage{Key: a.path + a.m.key(place), Row: row, Column: column, Why: err}
	if err := a.putObject(ctx, place, want); err != nil && !errors.Is(err, errors.ErrUnsupported) { // as that of a zip file is
		return err
	} else {
		d.Repaired = err == nil
	}
	r.damaged(d)
	return nil
}

func (t *Table) place(i, k int) []int {
	if t.about.Channels > 1 {
		return []int{i, k, 0}
	}
	return []int{i, k}
}

// verifyBlock reads a block and holds its last row and column against the lines of its neighbours.
func (t *Table) verifyBlock(ctx context.Context, l *layer, i, k, columns, rows int) error {
	data := aligned(product(l.main.m.object) * l.kept.Size())
	if err := l.main.readObject(ctx, data, t.place(i, k)); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("it is not there: %w", fs.ErrNotExist)
		}
		return err
	}
	switch l.sum {
	case Uint64:
		return verifyEdges[uint64](ctx, t, l, data, i, k, columns, rows)
	case Int64:
		return verifyEdges[int64](ctx, t, l, data, i, k, columns, rows)
	}
	return verifyEdges[float64](ctx, t, l, data, i, k, columns, rows)
}

func verifyEdges[S boxsum.Sum](ctx context.Context, t *Table, l *layer, data []byte, i, k, columns, rows int) error {
	ch := t.about.Channels
	left, top, err := l.linesOf(ctx, i, k, t.Block, ch)
	if err != nil {
		return err
	}
	h, w := min(t.Block, t.Height-i*t.Block), min(t.Block, t.Width-k*t.Block)
	a, above := elementsOf[S](left), elementsOf[S](top)
	entry := func(y, x, c int) S {
		n := (y*t.Block+x)*ch + c
		var s S
		switch l.kept {
		case Uint32:
			s = S(elementsOf[uint32](data)[n])
		case Int32:
			s = S(elementsOf[int32](data)[n])
		default:
			s = elementsOf[S](data)[n]
		}
		if t.Compact {
			s = (s + a[y*ch+c]) + above[x*ch+c]
		}
		return s
	}
	if bound := t.bound(l); bound > 0 && !t.Compact {
		if err := misplaced(t, entry, a, above, h, w, bound); err != nil {
			return err
		}
	}
	if i+1 < rows {
		_, below, err := l.linesOf(ctx, i+1, k, t.Block, ch)
		if err != nil {
			return err
		}
		row := make([]S, w*ch)
		for x := range row {
			row[x] = entry(h-1, x/ch, x%ch)
		}
		if !bytes.Equal(bytesOf(row), below[:len(row)*l.sum.Size()]) {
			return bad("its last row is not what the blocks below go on from")
		}
	}
	if k+1 < columns && !l.sum.isFloat() {
		next, _, err := l.linesOf(ctx, i, k+1, t.Block, ch)
		if err != nil {
			return err
		}
		b := elementsOf[S](next)
		for n := range h * ch {
			if y, c := n/ch, n%ch; entry(y, w-1, c)-above[(w-1)*ch+c] != b[n] {
				return bad("its last column is not what the blocks to the right go on from")
			}
		}
	}
	return nil
}

// bound is the largest magnitude of what a layer sums, or 0 where there is none to tell a sum by.
func (t *Table) bound(l *layer) uint64 {
	pixel, _ := ParseType(t.Pixel)
	bound := boundOf(pixel)
	if l == t.layers[0] {
		return bound
	}
	if bound >= 1<<31 {
		return 0
	}
	return bound * bound
}

// misplaced refuses a block that does not go on from the lines left of it and above it: what its first row and column add to these would be no pixels.
func misplaced[S boxsum.Sum](t *Table, entry func(y, x, c int) S, left, top []S, height, width int, bound uint64) error {
	for c := range t.about.Channels {
		most := bound
		if t.about.Depth > 0 {
			most *= uint64(c + 1) // of all slices up to it
		}
		local := func(y, x int) S { return entry(y, x, c) - left[y*t.about.Channels+c] - top[x*t.about.Channels+c] }
		pixel := func(v S) bool {
			return uint64(v) <= most || v < 0 && uint64(-v) <= most
		}
		fits := pixel(local(0, 0))
		for x := 1; x < width && fits; x++ {
			fits = pixel(local(0, x) - local(0, x-1))
		}
		for y := 1; y < height && fits; y++ {
			fits = pixel(local(y, 0) - local(y-1, 0))
		}
		if !fits {
			return bad("its first row and column do not go on from the lines of its neighbours")
		}
	}
	return nil
}
