package store

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"sync"
	"sync/atomic"

	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/zarr"
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// edgesKey returns the key of a block's edges, which are stored until the table is
// finished.
func (j *Job) edgesKey(i, k int) string {
	return fmt.Sprintf("%sedges-%s/%d/%d", hidden, j.fingerprint, i, k)
}

// check returns an error if the table has no block (i, k).
func (j *Job) check(i, k int) error {
	if i < 0 || k < 0 || i >= j.rows || k >= j.columns {
		return bad("block is (%d, %d), want (0, 0) to (%d, %d)", i, k, j.rows-1, j.columns-1)
	}
	return nil
}

// Edges reads block (i, k) of the image, sums it by itself, and stores the last column
// and the last row of these sums for [Job.Scan].
func (j *Job) Edges(ctx context.Context, i, k int) error {
	if err := j.check(i, k); err != nil {
		return err
	}
	if _, err := j.readEdges(ctx, i, k); err == nil {
		return nil // already done
	}
	w := j.works.Get().(*blockMemory)
	defer j.works.Put(w)
	if err := j.tables(ctx, w, i, k); err != nil {
		return err
	}
	h, wd := j.extent(i, k)
	data := raster.Aligned(j.edgesBytes(i, k))
	at := data
	for n, l := range j.layers {
		right, bottom := h*l.bytes, wd*l.bytes
		w.summer.tables[n].edges(at[:right], at[right:right+bottom])
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
	n := j.edgesBytes(i, k)
	if len(data) != n+4 || crc32.Checksum(data[:n], castagnoli) != binary.LittleEndian.Uint32(data[n:]) {
		return nil, bad("the edges of block (%d, %d) are damaged", i, k)
	}
	return data[:n], nil
}

// Scan sums the edges of all blocks and stores the sums that [Job.Integrate] needs.
func (j *Job) Scan(ctx context.Context) error {
	tops, next := make([][]byte, len(j.layers)), make([][]byte, len(j.layers))
	lefts := make([][]byte, len(j.layers))
	for n, l := range j.layers {
		tops[n], next[n], lefts[n] = raster.Aligned(j.columns*j.block*l.bytes), raster.Aligned(j.columns*j.block*l.bytes), raster.Aligned(j.columns*j.block*l.bytes)
	}
	for i := range j.rows {
		for n, l := range j.layers {
			if err := l.top.WriteObject(ctx, j.place(i, 0), tops[n]); err != nil {
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
				if k+1 < j.columns {
					l.carry(lefts[n][(k+1)*size:(k+2)*size], left, right)
				}
				l.drop(next[n][k*size:(k+1)*size], bottom, left, tops[n][k*size:(k+1)*size], h)
			}
		}
		for n, l := range j.layers {
			if err := l.left.WriteObject(ctx, j.place(0, i), lefts[n]); err != nil {
				return err
			}
			tops[n], next[n] = next[n], tops[n]
		}
	}
	return nil
}

// rowOfEdges reads the edges of a row of blocks, many at once, because stores have high
// latency.
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

// Integrate computes block (i, k) of the table and writes it. If the block exists, it is
// rewritten with the same bytes.
func (j *Job) Integrate(ctx context.Context, i, k int) error {
	if err := j.check(i, k); err != nil {
		return err
	}
	w := j.works.Get().(*blockMemory)
	defer j.works.Put(w)
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

// Written reports whether block (i, k) has been written, by [Job.Integrate] or by an
// earlier run.
func (j *Job) Written(ctx context.Context, i, k int) bool {
	if j.check(i, k) != nil {
		return false
	}
	for _, l := range j.layers {
		if !exists(ctx, l.main, j.place(i, k)) {
			return false
		}
	}
	return true
}

// linesOf reads the lines left of a block and above it.
func (l *layer) linesOf(ctx context.Context, i, k, block, channels int) (left, top []byte, err error) {
	size := block * l.bytes
	left, top = raster.Aligned(size), raster.Aligned(size)
	for _, line := range []struct {
		array *zarr.Array
		dst   []byte
		place []int
	}{{l.left, left, []int{k, i}}, {l.top, top, []int{i, k}}} {
		place := line.place
		if channels > 1 {
			place = append(place, 0)
		}
		if err := line.array.ReadChunk(ctx, line.dst, place); err != nil {
			return nil, nil, err
		}
		if object := objectOf(line.array, place); !exists(ctx, line.array, object) {
			return nil, nil, fmt.Errorf("%s: lines of the table are missing: %w", line.array.Key(object), ErrIncomplete)
		}
	}
	return left, top, nil
}

// objectOf returns the position of the object that contains a chunk.
func objectOf(a *zarr.Array, chunk []int) []int {
	place, shape, object := make([]int, len(chunk)), a.Chunk(), a.Object()
	for d, p := range chunk {
		place[d] = p * shape[d] / object[d]
	}
	return place
}

// exists reports whether an object exists.
func exists(ctx context.Context, a *zarr.Array, place []int) bool {
	_, err := a.Bucket().Get(ctx, a.Key(place), 0, 1, nil)
	return err == nil
}
