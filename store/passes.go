package store

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"sync"
	"sync/atomic"

	"github.com/boxsum/boxsum"
)

// edgesKey is where the edges of a block are until the table is finished.
func (j *Job) edgesKey(i, k int) string {
	return fmt.Sprintf("%sedges-%s/%d/%d", hidden, j.fingerprint, i, k)
}

// check refuses blocks that are not there.
func (j *Job) check(i, k int) error {
	if i < 0 || k < 0 || i >= j.rows || k >= j.columns {
		return bad("no block (%d, %d) in %d×%d", i, k, j.rows, j.columns)
	}
	return nil
}

// Edges reads block (i, k) and keeps the last column and row of its own table, which [Job.Scan] needs.
func (j *Job) Edges(ctx context.Context, i, k int) error {
	if err := j.check(i, k); err != nil {
		return err
	}
	if _, err := j.readEdges(ctx, i, k); err == nil {
		return nil // done before
	}
	w := j.summers.Get().(*work)
	defer j.summers.Put(w)
	if err := j.tables(ctx, w, i, k); err != nil {
		return err
	}
	h, wd := j.extent(i, k)
	data := aligned(j.edgesBytes(i, k))
	at := data
	for n, l := range j.layers {
		right, bottom := h*l.bytes, wd*l.bytes
		w.summer.layers()[n].edges(at[:right], at[right:right+bottom])
		at = at[right+bottom:]
	}
	return j.dst.Put(ctx, j.edgesKey(i, k), binary.LittleEndian.AppendUint32(data, crc32.Checksum(data, castagnoli)))
}

func (j *Job) edgesBytes(i, k int) (n int) {
	h, w := j.extent(i, k)
	for _, l := range j.layers {
		n += (h + w) * l.bytes
	}
	return n
}

func (j *Job) readEdges(ctx context.Context, i, k int) ([]byte, error) {
	data, err := j.dst.Get(ctx, j.edgesKey(i, k), 0, -1, nil)
	if err != nil {
		return nil, err
	}
	if data, err = (checksum{}).unpack(nil, data, 0); err == nil && len(data) != j.edgesBytes(i, k) {
		err = bad("edges of %d bytes", len(data))
	}
	if err != nil {
		return nil, fmt.Errorf("store: edges of block (%d, %d): %w", i, k, err)
	}
	return data, nil
}

// Scan sums the edges of all blocks to the lines that [Job.Integrate] needs.
func (j *Job) Scan(ctx context.Context) error {
	tops, next := make([][]byte, len(j.layers)), make([][]byte, len(j.layers))
	lefts := make([][]byte, len(j.layers))
	for n, l := range j.layers {
		tops[n], next[n], lefts[n] = aligned(j.columns*j.block*l.bytes), aligned(j.columns*j.block*l.bytes), aligned(j.columns*j.block*l.bytes)
	}
	for i := range j.rows {
		for n, l := range j.layers {
			if err := l.top.putObject(ctx, j.place(i, 0), tops[n]); err != nil {
				return err
			}
			clear(lefts[n])
		}
		row, err := j.rowOfEdges(ctx, i)
		if err != nil {
			return err
		}
		for k, at := range row {
			h, wd := j.extent(i, k)
			for n, l := range j.layers {
				size := j.block * l.bytes
				right, bottom := at[:h*l.bytes], at[h*l.bytes:(h+wd)*l.bytes]
				at = at[(h+wd)*l.bytes:]
				left := lefts[n][k*size : (k+1)*size]
				var to []byte
				if k+1 < j.columns {
					to = lefts[n][(k+1)*size : (k+2)*size]
				}
				l.scan(to, next[n][k*size:(k+1)*size], right, bottom, left, tops[n][k*size:(k+1)*size], h, j.channels)
			}
		}
		for n, l := range j.layers {
			if err := l.left.putObject(ctx, j.place(0, i), lefts[n]); err != nil {
				return err
			}
			tops[n], next[n] = next[n], tops[n]
		}
	}
	return nil
}

// rowOfEdges reads those of a row of blocks, many at once: stores answer late.
func (j *Job) rowOfEdges(ctx context.Context, i int) ([][]byte, error) {
	row, errs := make([][]byte, j.columns), make([]error, j.columns)
	var next atomic.Int64
	var group sync.WaitGroup
	for range min(32, j.columns) {
		group.Go(func() {
			for k := int(next.Add(1)) - 1; k < j.columns && ctx.Err() == nil; k = int(next.Add(1)) - 1 {
				row[k], errs[k] = j.readEdges(ctx, i, k)
			}
		})
	}
	group.Wait()
	return row, errors.Join(append(errs, ctx.Err())...)
}

// scan adds the edges of one block.
func (l *layer) scan(left2, top2, right, bottom, left, top []byte, height, channels int) {
	switch l.sum {
	case Uint64:
		scan[uint64](left2, top2, right, bottom, left, top, height, channels)
	case Int64:
		scan[int64](left2, top2, right, bottom, left, top, height, channels)
	default:
		scan[float64](left2, top2, right, bottom, left, top, height, channels)
	}
}

func scan[S boxsum.Sum](left2, top2, right, bottom, left, top []byte, height, channels int) {
	if left2 != nil {
		addLines[S](left2, left, right)
	}
	dropLines[S](top2, bottom, left, top, height, channels)
}

// Integrate writes block (i, k) of the table. A block that is there is written again, with the same bytes.
func (j *Job) Integrate(ctx context.Context, i, k int) error {
	if err := j.check(i, k); err != nil {
		return err
	}
	w := j.summers.Get().(*work)
	defer j.summers.Put(w)
	if err := j.tables(ctx, w, i, k); err != nil {
		return err
	}
	for n := range j.layers {
		left, top, err := j.layers[n].linesOf(ctx, i, k, j.block, j.channels)
		if err != nil {
			return err
		}
		if err := j.put(ctx, w, n, i, k, left, top); err != nil {
			return err
		}
	}
	return nil
}

// Written reports whether block (i, k) was written, by [Job.Integrate] or in a run before.
func (j *Job) Written(ctx context.Context, i, k int) bool {
	if j.check(i, k) != nil {
		return false
	}
	for _, l := range j.layers {
		if !l.main.there(ctx, l.main.m.key(j.place(i, k))) {
			return false
		}
	}
	return true
}

// linesOf reads what lies left of a block and above it.
func (l *layer) linesOf(ctx context.Context, i, k, block, channels int) (left, top []byte, err error) {
	size := block * l.bytes
	left, top = aligned(size), aligned(size)
	for _, line := range []struct {
		array *Array
		dst   []byte
		place []int
	}{{l.left, left, []int{k, i}}, {l.top, top, []int{i, k}}} {
		place := line.place
		if channels > 1 {
			place = append(place, 0)
		}
		if err := line.array.decodeUnit(ctx, line.dst, place); err != nil {
			return nil, nil, err
		}
		if key := line.array.objectOf(place); !line.array.there(ctx, key) {
			return nil, nil, fmt.Errorf("store: %s%s: lines of the table are not there: %w", line.array.path, key, ErrIncomplete)
		}
	}
	return left, top, nil
}

// objectOf is the key of the object that a chunk of a shard is in.
func (a *Array) objectOf(place []int) string {
	object := make([]int, len(place))
	for d, p := range place {
		object[d] = p * a.unit[d] / a.m.object[d]
	}
	return a.m.key(object)
}

// there reports whether an object is there, of which the index has been read.
func (a *Array) there(ctx context.Context, key string) bool {
	_, err := a.bucket.Get(ctx, a.path+key, 0, 1, nil)
	return err == nil
}
