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

// Verify reads all of a table: checksums, and whether the edges of every block go on from those of its neighbours. It
// returns what is damaged, blocks in order. A job with the same source and options makes damaged blocks anew; nil repairs nothing.
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
	rows, columns := ceil(t.Height, t.Block), ceil(t.Width, t.Block)
	var lock sync.Mutex
	var found []Damage
	report := func(d Damage) {
		lock.Lock()
		found = append(found, d)
		lock.Unlock()
	}
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
	if len(found) > 0 {
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
					d := Damage{Key: l.main.path + l.main.m.key(t.place(i, k)), Row: i, Column: k, Why: err}
					if repair != nil {
						if err := repair.Integrate(ctx, i, k); err != nil {
							failed.Store(&err)
							return
						}
						d.Repaired = t.verifyBlock(ctx, l, i, k, columns, rows) == nil
					}
					report(d)
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
