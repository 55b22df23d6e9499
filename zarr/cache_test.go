package zarr

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/fstest"

	"github.com/boxsum/boxsum/internal/raster"
)

// TestAt reads elements of a chunk of several pages: each must be what was written, and only a page is decoded for it.
func TestAt(t *testing.T) {
	a, err := Create(ctx, Memory(), "", &Spec{Type: Uint64, Shape: []int{600, 520}, Chunk: []int{600, 520}, Compression: "blosc", Checksum: true})
	if err != nil {
		t.Fatal(err)
	}
	want := make([]uint64, 600*520)
	for i := range want {
		want[i] = uint64(i) << 20
	}
	if err := Write(ctx, a, want, []int{0, 0}, []int{600, 520}); err != nil {
		t.Fatal(err)
	}
	for range 100 {
		y, x := rand.IntN(600), rand.IntN(520)
		if got, err := At[uint64](ctx, a, y, x); err != nil || got != want[y*520+x] {
			t.Fatalf("element %d, %d is %d, %v", y, x, got, err)
		}
	}
	for key, e := range a.cache.entries {
		if n := len(e.Value.(*cached).data); key.page != packedChunk && n > bloscBlock {
			t.Errorf("%d bytes were decoded at once", n)
		}
	}
	if a.cache.used > a.cache.limit {
		t.Errorf("%d bytes in a cache of %d", a.cache.used, a.cache.limit)
	}
	for _, at := range [][]int{{600, 0}, {-1, 0}, {0}, {0, 0, 0}} {
		if _, err := At[uint64](ctx, a, at...); err == nil {
			t.Errorf("no error for an element at %v", at)
		}
	}
}

// TestWriteAfterRead tests that reads return what was written last, although the array caches chunks, elements and shard indexes.
func TestWriteAfterRead(t *testing.T) {
	for name, shard := range map[string][]int{"chunks": nil, "shards": {8, 8}} {
		a, err := Create(ctx, Memory(), "", &Spec{Type: Uint16, Shape: []int{16, 16}, Chunk: []int{4, 4}, Shard: shard, Compression: "zstd"})
		if err != nil {
			t.Fatal(err)
		}
		a.SetCache(NewCache(1 << 20))
		for v := range uint16(3) {
			want := slices.Repeat([]uint16{v + 1}, 256)
			for i := range want {
				want[i] += uint16(rand.IntN(int(1 + 100*v))) // so that shards have different sizes
			}
			if err := Write(ctx, a, want, []int{0, 0}, []int{16, 16}); err != nil {
				t.Fatal(err)
			}
			got := make([]uint16, 9)
			if err := Read(ctx, a, got[:1], []int{5, 6}, []int{1, 1}); err != nil || got[0] != want[5*16+6] {
				t.Errorf("%s: %d, want %d (%v)", name, got[0], want[5*16+6], err)
			}
			if one, err := At[uint16](ctx, a, 9, 9); err != nil || one != want[9*16+9] {
				t.Errorf("%s: an element is %d, want %d (%v)", name, one, want[9*16+9], err)
			}
		}
	}
}

// computed is a bucket with parts.
type computed struct {
	Bucket
	parts []*Array
}

func (c computed) Parts() []*Array  { return c.parts }
func (c computed) Footprint() int64 { return 0 }

// TestSetCache tests that the parts of an array share its cache, and that large chunks are decoded one at a time.
func TestSetCache(t *testing.T) {
	part, err := New(Memory(), "", &Spec{Type: Uint8, Shape: []int{2048, 2048}, Chunk: []int{2048, 2048}})
	if err != nil {
		t.Fatal(err)
	}
	whole, err := New(computed{Memory(), []*Array{part}}, "", &Spec{Type: Uint8, Shape: []int{2048, 2048}, Chunk: []int{64, 64}})
	if err != nil {
		t.Fatal(err)
	}
	if n := whole.Footprint(); n != 1<<22 {
		t.Errorf("%d bytes are decoded at once", n)
	}
	c := NewCache(1<<22 + overhead)
	whole.SetCache(c)
	if part.cache != c || cap(part.decoding) != 1 || whole.decoding != nil {
		t.Errorf("%d are decoded at once", cap(part.decoding))
	}
}

// TestFS reads parts of files in a file system.
func TestFS(t *testing.T) {
	b := FS(fstest.MapFS{"a/b": {Data: []byte("0123456789")}, "a/c": {Data: nil}})
	for _, c := range []struct {
		offset, length int64
		want           string
	}{{0, -1, "0123456789"}, {2, 3, "234"}, {-4, -1, "6789"}, {10, 0, ""}} {
		if got, err := b.Get(ctx, "a/b", c.offset, c.length, nil); err != nil || string(got) != c.want {
			t.Errorf("%d bytes from %d are %q, %v", c.length, c.offset, got, err)
		}
	}
	var keys []string
	if err := b.List(ctx, "a/", func(o Object) error { keys = append(keys, o.Key); return nil }); err != nil || !slices.Equal(keys, []string{"a/b", "a/c"}) {
		t.Errorf("%q, %v", keys, err)
	}
	if err := b.Put(ctx, "x", nil); err == nil {
		t.Error("a file system is written")
	}
}

// TestAtBytes compares elements read as bytes with those read as a Go type.
func TestAtBytes(t *testing.T) {
	for typ := Bool; typ <= Float64; typ++ {
		a, err := Create(ctx, Memory(), "", &Spec{Type: typ, Shape: []int{5, 7}, Chunk: []int{2, 3}})
		if err != nil {
			t.Fatal(err)
		}
		size := typ.Size()
		want := raster.Aligned(5 * 7 * size)
		for i := range want {
			want[i] = byte(3 * i & 1)
		}
		if err := a.WriteBytes(ctx, want, []int{0, 0}, []int{5, 7}); err != nil {
			t.Fatal(err)
		}
		got := make([]byte, size)
		for i := range 35 {
			if err := a.AtBytes(ctx, got, i/7, i%7); err != nil || !bytes.Equal(got, want[i*size:][:size]) {
				t.Fatalf("%v: element %d is %v, %v, want %v", typ, i, got, err, want[i*size:][:size])
			}
		}
		if err := a.AtBytes(ctx, make([]byte, size+1), 0, 0); err == nil {
			t.Errorf("%v: accepted %d bytes", typ, size+1)
		}
		if err := a.AtBytes(ctx, got, 5, 0); err == nil {
			t.Errorf("%v: accepted an index out of range", typ)
		}
	}
}
