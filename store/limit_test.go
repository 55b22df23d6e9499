package store

import (
	"context"
	"errors"
	"image"
	"strings"
	"testing"

	"github.com/boxsum/boxsum/filter"
	"github.com/boxsum/boxsum/zarr"
)

// long is 2^40, or 2^30 if an int has 32 bits.
const long = 1 << (30 + 10*(^uint(0)>>63))

// absurd holds arrays without chunks, as declared by damaged metadata.
var absurd = map[string]*zarr.Spec{
	"many": {Type: zarr.Uint8, Shape: []int{1000000020, 24}, Chunk: []int{7, 8}},
	"2^40": {Type: zarr.Uint8, Shape: []int{20, long}, Chunk: []int{7, 8}},
	"wide": {Type: zarr.Uint8, Shape: []int{20, long}, Chunk: []int{20, 1 << 20}},
	"high": {Type: zarr.Uint8, Shape: []int{long, 20}, Chunk: []int{1 << 20, 20}},
}

// TestAbsurdShapes tests that oversized arrays are refused before anything is written, with an error that names the number of chunks.
func TestAbsurdShapes(t *testing.T) {
	for name, spec := range absurd {
		a, err := zarr.Create(ctx, zarr.Memory(), "", spec)
		if err != nil {
			t.Fatal(err)
		}
		to := zarr.Memory()
		for what, err := range map[string]error{
			"integrate": func() error { _, err := NewJob(ctx, a, to, nil); return err }(),
			"filter":    FilterArray(ctx, a, to, filter.Radius(1), nil),
		} {
			if !errors.Is(err, ErrTooManyChunks) || !strings.Contains(err.Error(), "16777216") {
				t.Errorf("%s of %s: %v", what, name, err)
			}
		}
		if err := CheckChunks(0, a); (err == nil) != (name == "wide" || name == "high") {
			t.Errorf("chunks of %s: %v", name, err)
		}
		if len(contents(t, to)) > 0 {
			t.Errorf("%s: something was written", name)
		}
	}
	a, err := zarr.Create(ctx, zarr.Memory(), "", &zarr.Spec{Type: zarr.Uint8, Shape: []int{64, 64}, Chunk: []int{16, 16}})
	if err != nil {
		t.Fatal(err)
	}
	// 16 chunks and 4 blocks
	if _, err := NewJob(ctx, a, zarr.Memory(), &Options{Block: 32, MaxChunks: 19}); !errors.Is(err, ErrTooManyChunks) {
		t.Errorf("20 chunks of 19: %v", err)
	}
	if _, err := NewJob(ctx, a, zarr.Memory(), &Options{Block: 32, MaxChunks: 20}); err != nil {
		t.Errorf("20 chunks of 20: %v", err)
	}
}

// TestAbsentShards sums an array without any chunks, all of whose elements have the fill value.
func TestAbsentShards(t *testing.T) {
	a, err := zarr.Create(ctx, zarr.Memory(), "", &zarr.Spec{Type: zarr.Uint8, Shape: []int{10020, 24}, Chunk: []int{10, 12}, Shard: []int{20, 24}, Fill: 3})
	if err != nil {
		t.Fatal(err)
	}
	_, table := makeTable(t, a, nil)
	sums := make([]uint64, 1)
	if err := SumBoxes(ctx, table, sums, []image.Rectangle{table.Bounds()}); err != nil || sums[0] != 3*24*10020 {
		t.Errorf("the sum is %d, %v", sums[0], err)
	}
}

// TestCanceled tests that the context cancels reads of missing chunks.
func TestCanceled(t *testing.T) {
	a, err := zarr.Create(ctx, zarr.Memory(), "", &zarr.Spec{Type: zarr.Uint8, Shape: []int{1000020, 24}, Chunk: []int{10, 12}, Shard: []int{20, 24}})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(ctx)
	cancel()
	if err := zarr.Read(ctx, a, make([]uint8, 24*1000), []int{0, 0}, []int{1000, 24}); !errors.Is(err, context.Canceled) {
		t.Errorf("a read with a context that is done: %v", err)
	}
}

// TestReadingMemory tests that chunks larger than a job's cache are decoded one at a time.
func TestReadingMemory(t *testing.T) {
	a, err := zarr.New(zarr.Memory(), "", &zarr.Spec{Type: zarr.Uint8, Shape: []int{2048, 4096}, Chunk: []int{2048, 2048}})
	if err != nil {
		t.Fatal(err)
	}
	if keep, beside, _ := readingMemory(a, 8<<20, 1); keep != 1<<22+200 || beside != 2<<22 {
		t.Errorf("%d are kept, and %d taken beside", keep, beside)
	}
}

// TestOfChangesNothing tests that Of does not change the cache of an array that others are reading.
func TestOfChangesNothing(t *testing.T) {
	src, _ := imageOf(t, &zarr.Spec{Type: zarr.Uint8, Shape: []int{64, 64}, Chunk: []int{64, 64}}, 1)
	_, table := makeTable(t, src, nil)
	b := &counted{Bucket: src.Bucket()}
	a, err := zarr.OpenArray(ctx, b, "")
	if err != nil {
		t.Fatal(err)
	}
	a.SetCache(zarr.NewCache(1 << 20))
	read := func() {
		if err := zarr.Read(ctx, a, make([]uint8, 1), []int{5, 5}, []int{1, 1}); err != nil {
			t.Fatal(err)
		}
	}
	read()
	before := b.gets.Load()
	if ok, err := table.Of(ctx, a); !ok || err != nil {
		t.Errorf("the table is that of the array: %v %v", ok, err)
	}
	if read(); b.gets.Load() != before {
		t.Error("a chunk that was kept is read again")
	}
}
