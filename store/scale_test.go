package store

import (
	"context"
	"fmt"
	"github.com/boxsum/boxsum/zarr"
	"math"
	"sync/atomic"
	"testing"
)

// counting counts requests and bytes.
type counting struct {
	zarr.Bucket
	gets, puts, lists, read, written atomic.Int64
}

func (c *counting) Get(ctx context.Context, key string, offset, length int64, buf []byte) ([]byte, error) {
	data, err := c.Bucket.Get(ctx, key, offset, length, buf)
	c.gets.Add(1)
	c.read.Add(int64(len(data)))
	return data, err
}

func (c *counting) Put(ctx context.Context, key string, data []byte) error {
	c.puts.Add(1)
	c.written.Add(int64(len(data)))
	return c.Bucket.Put(ctx, key, data)
}

func (c *counting) List(ctx context.Context, prefix string, visit func(zarr.Object) error) error {
	c.lists.Add(1)
	return c.Bucket.List(ctx, prefix, visit)
}

// A cost is the cost of a table according to notes/scale.md.
type cost struct{ gets, puts, read, written float64 }

// costOf returns the cost by the model in notes/scale.md: uncompressed 8-byte sums of n×n bytes in blocks of side b.
func costOf(n, b float64, passes bool) cost {
	rows := math.Ceil(n / b)
	blocks := rows * rows
	c := cost{gets: blocks, puts: blocks + 2*rows + 8, read: blocks * b * b, written: blocks*b*b*8 + 2*rows*rows*b*8}
	if passes {
		c.gets += 8 * blocks            // edges: checked, then read; lines of a block, with their indexes; a check for the block
		c.puts += blocks                // edges
		c.read += blocks * (b*b + 32*b) // the pixels again, edges and lines
		c.written += blocks * 16 * b    // edges
	}
	return c
}

// TestScale compares the model in notes/scale.md with counted requests, at three sizes: they must agree within a fifth.
func TestScale(t *testing.T) {
	for _, n := range []int{512, 1000, 2048} {
		const b = 64
		for _, many := range []bool{false, true} {
			source, table := &counting{Bucket: zarr.Memory()}, &counting{Bucket: zarr.Memory()}
			src, err := zarr.Create(ctx, source, "", &zarr.Spec{Type: zarr.Uint8, Shape: []int{n, n}, Chunk: []int{b, b}, Fill: 1})
			if err != nil {
				t.Fatal(err)
			}
			if err := src.WriteBytes(ctx, noise(n*n, zarr.Uint8, 1), []int{0, 0}, []int{n, n}); err != nil {
				t.Fatal(err)
			}
			source.gets.Store(0)
			source.read.Store(0)
			job, err := NewJob(ctx, src, table, &Options{Block: b, Compression: "none"})
			if err != nil {
				t.Fatal(err)
			}
			if many {
				passes(t, job)
			} else if err := job.Run(ctx); err != nil {
				t.Fatal(err)
			}
			got := cost{float64(source.gets.Load() + table.gets.Load()), float64(table.puts.Load()), float64(source.read.Load() + table.read.Load()), float64(table.written.Load())}
			want := costOf(float64(n), b, many)
			near := func(a, b float64) bool { return math.Abs(a-b) <= 0.2*b }
			if !near(got.gets, want.gets) || !near(got.puts, want.puts) || !near(got.read, want.read) || !near(got.written, want.written) {
				t.Errorf("%d², passes %v: %s, and the model has %s", n, many, fmt.Sprintf("%.0f", got), fmt.Sprintf("%.0f", want))
			}
			t.Logf("%d², passes %v: %.0f, model %.0f, lists %d %d", n, many, got, want, source.lists.Load(), table.lists.Load())
		}
	}
}
