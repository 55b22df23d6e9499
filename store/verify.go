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

	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/zarr"
)

// A Damage describes a damaged or missing object of a table, as found by [Table.Verify].
type Damage struct {
	Key      string // key of the object in the bucket
	Row      int    // row of the block, or -1 if the object belongs to no block
	Column   int    // column of the block
	Why      error  // what is wrong with it
	Repaired bool   // whether Verify has rewritten it
}

// Verify reads the whole table, and checks checksums and that every block continues its
// neighbors. It returns the damaged objects, sorted by key. If repair is not nil, it must
// be a job with the same source and options. Verify then computes the table again,
// compares all blocks with it, and rewrites those that differ.
func (t *Table) Verify(ctx context.Context, repair *Job, progress func(done, all int)) ([]Damage, error) {
	if repair != nil {
		return t.verifyAgainst(ctx, repair, progress)
	}
	var found damages
	if err := t.verifyMetadata(ctx, false, found.add); err != nil {
		return nil, err
	}
	noted := len(found.list)
	if err := t.verifyLines(ctx, &found); err != nil {
		return nil, err
	}
	if len(found.list) > noted {
		return found.list, nil // without lines, blocks cannot be checked
	}
	if err := t.verifyBlocks(ctx, &found, progress); err != nil {
		return nil, err
	}
	return found.sorted(), nil
}

// damages collects damaged objects from several goroutines.
type damages struct {
	lock sync.Mutex
	list []Damage
}

func (f *damages) add(d Damage) {
	f.lock.Lock()
	f.list = append(f.list, d)
	f.lock.Unlock()
}

func (f *damages) sorted() []Damage {
	sort.Slice(f.list, func(a, b int) bool { return f.list[a].Key < f.list[b].Key })
	return f.list
}

// verifyLines reads all lines and thereby their checksums.
func (t *Table) verifyLines(ctx context.Context, found *damages) error {
	for _, l := range t.layers {
		for i := range raster.CeilDiv(t.Height, t.Block) {
			for _, line := range []struct {
				a     *zarr.Array
				place []int
			}{{l.top, t.place(i, 0)}, {l.left, t.place(0, i)}} {
				if err := line.a.ReadObject(ctx, raster.Aligned(raster.Product(line.a.Object())*l.sum.Size()), line.place); err != nil {
					if ctx.Err() != nil {
						return ctx.Err()
					}
					found.add(Damage{Key: line.a.Key(line.place), Row: -1, Column: -1, Why: err})
				}
			}
		}
	}
	return nil
}

// verifyBlocks reads all blocks, several at once.
func (t *Table) verifyBlocks(ctx context.Context, found *damages, progress func(done, all int)) error {
	rows, columns := raster.CeilDiv(t.Height, t.Block), raster.CeilDiv(t.Width, t.Block)
	var next, done atomic.Int64
	var telling sync.Mutex
	var group sync.WaitGroup
	for range min(4, t.workers) {
		group.Go(func() {
			for n := int(next.Add(1)) - 1; n < rows*columns && ctx.Err() == nil; n = int(next.Add(1)) - 1 {
				i, k := n/columns, n%columns
				for _, l := range t.layers {
					if err := t.verifyBlock(ctx, l, i, k, columns, rows); err != nil && ctx.Err() == nil {
						found.add(Damage{Key: l.main.Key(t.place(i, k)), Row: i, Column: k, Why: err})
					}
				}
				if n := int(done.Add(1)); progress != nil {
					telling.Lock()
					progress(n, rows*columns)
					telling.Unlock()
				}
			}
		})
	}
	group.Wait()
	return ctx.Err()
}

// verifyMetadata compares the metadata of the arrays, which other programs may open alone,
// with the table.
func (t *Table) verifyMetadata(ctx context.Context, repair bool, report func(Damage)) error {
	for _, l := range t.layers {
		for _, a := range []*zarr.Array{l.main, l.left, l.top} {
			d := Damage{Key: a.Path() + "/zarr.json", Row: -1, Column: -1}
			now, err := zarr.OpenArray(ctx, t.bucket, a.Path())
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if err == nil && !bytes.Equal(now.Metadata(), a.Metadata()) {
				err = bad("does not belong to the table")
			}
			if err == nil {
				continue
			}
			d.Why = err
			if repair {
				err := t.bucket.Put(ctx, d.Key, a.Metadata())
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

// verifyAgainst computes the table again, compares it with the stored one and repairs what
// differs.
func (t *Table) verifyAgainst(ctx context.Context, j *Job, progress func(done, all int)) ([]Damage, error) {
	if j.fingerprint != t.Fingerprint {
		return nil, fmt.Errorf("the table belongs to another image or other options: %w", ErrChanged)
	}
	g, err := zarr.OpenGroup(ctx, j.dst, "")
	if err == nil {
		err = j.followAll(ctx, g)
	}
	if err != nil {
		return nil, err
	}
	workers, err := j.most()
	if err != nil {
		return nil, err
	}
	workers = max(1, workers*2/3) // reading takes memory, too
	var found damages
	r := j.newRun(workers)
	r.progress = progress
	r.held.New = func() any { return new([]byte) }
	r.damaged = found.add
	if err = r.firstLine(ctx); err == nil {
		err = r.all(ctx, workers)
	}
	t.cache.Clear() // it may contain damaged chunks
	if err != nil {
		return nil, err
	}
	if now, err := j.print(ctx); err != nil {
		return nil, err
	} else if now != j.fingerprint {
		return nil, fmt.Errorf("the image changed while its table was verified: %w", ErrChanged)
	}
	found.sorted()
	err = t.verifyMetadata(ctx, true, found.add)
	return found.list, err
}

// hold compares an object with the elements it should have. If they differ, it reports and
// rewrites the object.
func (r *run) hold(ctx context.Context, a *zarr.Array, place []int, row, column int, want []byte) error {
	have := r.held.Get().(*[]byte)
	defer r.held.Put(have)
	*have = raster.Reuse(*have, len(want))
	err := a.ReadObject(ctx, *have, place)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	switch {
	case errors.Is(err, fs.ErrNotExist) || errors.Is(err, errMissing):
		err = fmt.Errorf("missing: %w", fs.ErrNotExist)
	case err == nil && bytes.Equal(*have, want):
		return nil
	case err == nil:
		err = bad("does not match the image")
	}
	d := Damage{Key: a.Key(place), Row: row, Column: column, Why: err}
	if err := a.WriteObject(ctx, place, want); err != nil && !errors.Is(err, errors.ErrUnsupported) { // as for a zip file
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

// verifyBlock reads a block and compares its last row and column with the lines of its
// neighbors.
func (t *Table) verifyBlock(ctx context.Context, l *layer, i, k, columns, rows int) error {
	data := raster.Aligned(raster.Product(l.main.Object()) * l.kept.Size())
	if err := l.main.ReadObject(ctx, data, t.place(i, k)); err != nil {
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, errMissing) {
			return fmt.Errorf("missing: %w", fs.ErrNotExist)
		}
		return err
	}
	return t.verifyEdges(ctx, l, data, i, k, columns, rows)
}

// verifyEdges compares the last row and column of a block with the lines of its neighbors.
func (t *Table) verifyEdges(ctx context.Context, l *layer, data []byte, i, k, columns, rows int) error {
	ch := t.about.Channels
	left, top, err := l.linesOf(ctx, i, k, t.Block, ch)
	if err != nil {
		return err
	}
	h, w := min(t.Block, t.Height-i*t.Block), min(t.Block, t.Width-k*t.Block)
	a, above := raster.Elems[number](left), raster.Elems[number](top)
	entry := func(y, x, c int) number {
		n := (y*t.Block+x)*ch + c
		s := decode(l.kept, data[n*l.kept.Size():])
		if t.Compact {
			s = l.plus(l.plus(s, a[y*ch+c]), above[x*ch+c])
		}
		return s
	}
	if bound := t.bound(l); bound > 0 && !t.Compact {
		if err := t.misplaced(l, entry, a, above, h, w, bound); err != nil {
			return err
		}
	}
	if i+1 < rows {
		_, below, err := l.linesOf(ctx, i+1, k, t.Block, ch)
		if err != nil {
			return err
		}
		row := make([]number, w*ch)
		for x := range row {
			row[x] = entry(h-1, x/ch, x%ch)
		}
		if !bytes.Equal(raster.Bytes(row), below[:len(row)*l.sum.Size()]) {
			return bad("last row does not match the blocks below")
		}
	}
	if k+1 < columns && !isFloat(l.sum) {
		next, _, err := l.linesOf(ctx, i, k+1, t.Block, ch)
		if err != nil {
			return err
		}
		b := raster.Elems[number](next)
		for n := range h * ch {
			if y, c := n/ch, n%ch; entry(y, w-1, c)-above[(w-1)*ch+c] != b[n] {
				return bad("last column does not match the blocks to the right")
			}
		}
	}
	return nil
}

// bound returns the largest magnitude of a layer's summands, or 0 if it does not limit the
// sums.
func (t *Table) bound(l *layer) uint64 {
	bound := boundOf(t.pixel)
	if l.index == 0 {
		return bound
	}
	if bound >= 1<<31 {
		return 0
	}
	return bound * bound
}

// misplaced returns an error if a block does not continue the lines to its left and above
// it, which would make the pixels of its first row and column impossible values.
func (t *Table) misplaced(l *layer, entry func(y, x, c int) number, left, top []number, height, width int, bound uint64) error {
	signed := l.sum == zarr.Int64
	for c := range t.about.Channels {
		most := bound
		if t.about.Depth > 0 {
			most *= uint64(c + 1) // of all slices up to this one
		}
		local := func(y, x int) number { return entry(y, x, c) - left[y*t.about.Channels+c] - top[x*t.about.Channels+c] }
		pixel := func(v number) bool {
			return uint64(v) <= most || signed && int64(v) < 0 && uint64(-v) <= most
		}
		fits := pixel(local(0, 0))
		for x := 1; x < width && fits; x++ {
			fits = pixel(local(0, x) - local(0, x-1))
		}
		for y := 1; y < height && fits; y++ {
			fits = pixel(local(y, 0) - local(y-1, 0))
		}
		if !fits {
			return bad("first row and column do not continue the neighboring blocks")
		}
	}
	return nil
}
