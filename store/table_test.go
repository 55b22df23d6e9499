package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/ref"
	"github.com/boxsum/boxsum/volume"

	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/zarr"
)

var ctx = context.Background()

// imageOf returns an image of random elements in memory.
func imageOf(t testing.TB, spec *zarr.Spec, seed uint64) (*zarr.Array, []byte) {
	t.Helper()
	a, err := zarr.Create(ctx, zarr.Memory(), "", spec)
	if err != nil {
		t.Fatal(err)
	}
	data := noise(raster.Product(spec.Shape)*spec.Type.Size(), spec.Type, seed)
	random := rand.New(rand.NewPCG(seed, 9))
	switch spec.Type {
	case zarr.Float16:
		for i, x := range raster.Elems[uint16](data) {
			raster.Elems[uint16](data)[i] = x & 0x3fff
		}
	case zarr.Float32:
		for i := range raster.Elems[float32](data) {
			raster.Elems[float32](data)[i] = float32(random.NormFloat64())
		}
	case zarr.Float64:
		for i := range raster.Elems[float64](data) {
			raster.Elems[float64](data)[i] = random.NormFloat64()
		}
	}
	if err := a.WriteBytes(ctx, data, make([]int, len(spec.Shape)), spec.Shape); err != nil {
		t.Fatal(err)
	}
	return a, data
}

func makeTable(t testing.TB, src *zarr.Array, opt *Options) (zarr.Bucket, *Table) {
	t.Helper()
	b := zarr.Memory()
	job, err := NewJob(ctx, src, b, opt)
	if err != nil {
		t.Fatal(err)
	}
	if err := job.Run(ctx); err != nil {
		t.Fatal(err)
	}
	table, err := OpenTable(ctx, b, nil)
	if err != nil {
		t.Fatal(err)
	}
	return b, table
}

// contents returns all objects of a bucket except temporary ones.
func contents(t testing.TB, b zarr.Bucket) map[string]string {
	t.Helper()
	all := map[string]string{}
	if err := b.List(ctx, "", func(o zarr.Object) error {
		data, err := b.Get(ctx, o.Key, 0, -1, nil)
		all[o.Key] = string(data)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return all
}

func same(t testing.TB, what string, a, b map[string]string) {
	t.Helper()
	if len(a) != len(b) {
		t.Errorf("%s: %d objects and %d", what, len(a), len(b))
	}
	for key, data := range a {
		if b[key] != data {
			t.Errorf("%s: %s differs", what, key)
			return
		}
	}
}

// reference returns the table of any pixels, made by package boxsum.
func reference[P boxsum.Pixel, S boxsum.Sum, Q boxsum.Square](t testing.TB, data []byte, w, h, c int) *boxsum.SquaredTable[S, Q] {
	t.Helper()
	table, err := boxsum.IntegrateSquares[S, Q](boxsum.Image[P]{Pix: raster.Elems[P](data), Width: w, Height: h, Channels: c}, &boxsum.Options{Plain: true})
	if err != nil {
		t.Fatal(err)
	}
	return table
}

func randomBoxes(n, w, h int) []image.Rectangle {
	random := rand.New(rand.NewPCG(7, 7))
	boxes := []image.Rectangle{{}, image.Rect(-5, -5, w+5, h+5), image.Rect(0, 0, w, h), image.Rect(0, 0, 1, 1), image.Rect(w-1, h-1, w, h)}
	for range n {
		x, y := random.IntN(w+2)-1, random.IntN(h+2)-1
		boxes = append(boxes, image.Rect(x, y, x+random.IntN(w), y+random.IntN(h)))
	}
	return boxes
}

// checkTable compares sums, means and deviations with those of a table in memory.
func checkTable[S uint64 | int64 | float64, Q boxsum.Square](t *testing.T, what string, table *Table, want *boxsum.SquaredTable[S, Q]) {
	t.Helper()
	c := want.Sum.Channels
	boxes := randomBoxes(150, want.Sum.Width, want.Sum.Height)
	sums, wanted := make([]S, len(boxes)*c), make([]S, len(boxes)*c)
	if err := SumBoxes(ctx, table, sums, boxes); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	if err := want.Sum.SumBoxes(wanted, boxes); err != nil {
		t.Fatal(err)
	}
	untyped := make([]S, len(sums))
	if err := table.SumBoxesBytes(ctx, raster.Bytes(untyped), boxes); err != nil || !bytes.Equal(raster.Bytes(untyped), raster.Bytes(sums)) {
		t.Fatalf("%s: sums as bytes differ: %v", what, err)
	}
	_, isFloat := any(*new(S)).(float64)
	near := func(a, b, tolerance float64) bool {
		return a == b || a != a && b != b || isFloat && math.Abs(a-b) <= tolerance*(1+math.Abs(b))
	}
	for i := range sums {
		if sums[i] != wanted[i] && !near(float64(sums[i]), float64(wanted[i]), 1e-9) {
			t.Fatalf("%s: sum of %v is %v, want %v", what, boxes[i/c], sums[i], wanted[i])
		}
	}
	got, numbers := make([]float64, len(boxes)*c), make([]float64, len(boxes)*c)
	if err := table.MeanBoxes(ctx, got, boxes); err != nil {
		t.Fatal(err)
	}
	want.MeanBoxes(numbers, boxes)
	for i := range got {
		if !near(got[i], numbers[i], 1e-9) {
			t.Fatalf("%s: mean of %v is %v, want %v", what, boxes[i/c], got[i], numbers[i])
		}
	}
	err := table.StdDevBoxes(ctx, got, boxes)
	if !table.Squares {
		if err == nil {
			t.Fatalf("%s: deviations without squares", what)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	want.StdDevBoxes(numbers, boxes)
	for i := range got {
		if !near(got[i], numbers[i], 1e-6) && !(isFloat && (got[i] != got[i] || numbers[i] != numbers[i])) {
			t.Fatalf("%s: deviation of %v is %v, want %v", what, boxes[i/c], got[i], numbers[i])
		}
	}
}

// TestTables tests that tables of all types, whole and compact, with one and three channels, answer like tables in memory, and that the passes write the
// same bytes as Run, for any number of workers.
func TestTables(t *testing.T) {
	for typ := zarr.Bool; typ <= zarr.Float64; typ++ {
		for n, opt := range []Options{
			{Block: 16, Compression: "none", Squares: true},
			{Block: 16, Chunk: 8, Compression: "zstd", Squares: true, Compact: true},
			{Block: 24, Chunk: 8, Compression: "none", Compact: true, Workers: 3},
			{Block: 64, Compression: "gzip", Workers: 5},
		} {
			shape := [][]int{{53, 70}, {1, 53, 70}, {40, 61, 3}, {61, 17}}[n]
			chunk := [][]int{{16, 16}, {1, 20, 12}, {10, 16, 2}, {61, 1}}[n]
			if typ == zarr.Int64 || typ == zarr.Uint64 {
				opt.Squares = false
			}
			src, data := imageOf(t, &zarr.Spec{Type: typ, Shape: shape, Chunk: chunk, Compression: "zstd"}, uint64(typ))
			b, table := makeTable(t, src, &opt)
			what := fmt.Sprintf("%v %d", typ, n)
			if n == 1 {
				shape = shape[1:]
			}
			h, w, c := shape[0], shape[1], 1
			if len(shape) > 2 {
				c = shape[2]
			}
			switch typ {
			case zarr.Bool, zarr.Uint8:
				checkTable(t, what, table, reference[uint8, uint64, uint64](t, data, w, h, c))
			case zarr.Uint16:
				checkTable(t, what, table, reference[uint16, uint64, uint64](t, data, w, h, c))
			case zarr.Uint32:
				checkTable(t, what, table, reference[uint32, uint64, uint64](t, data, w, h, c))
			case zarr.Int8:
				wide := make([]int16, len(data))
				for i, v := range raster.Elems[int8](data) {
					wide[i] = int16(v)
				}
				checkTable(t, what, table, reference[int16, int64, uint64](t, raster.Bytes(wide), w, h, c))
			case zarr.Int16:
				checkTable(t, what, table, reference[int16, int64, uint64](t, data, w, h, c))
			case zarr.Int32:
				checkTable(t, what, table, reference[int32, int64, uint64](t, data, w, h, c))
			case zarr.Float32:
				checkTable(t, what, table, reference[float32, float64, float64](t, data, w, h, c))
			case zarr.Float64:
				checkTable(t, what, table, reference[float64, float64, float64](t, data, w, h, c))
			case zarr.Int64:
				one, err := boxsum.Integrate[int64](boxsum.Image[int64]{Pix: raster.Elems[int64](data), Width: w, Height: h, Channels: c}, nil)
				if err != nil {
					t.Fatal(err)
				}
				checkTable(t, what, table, &boxsum.SquaredTable[int64, uint64]{Sum: one})
			}
			if damaged, err := table.Verify(ctx, nil, nil); err != nil || len(damaged) > 0 {
				t.Errorf("%s: verify: %v, %v", what, damaged, err)
			}
			// The passes for many machines.
			passes := zarr.Memory()
			job, err := NewJob(ctx, src, passes, &opt)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := job.Begin(ctx); err != nil {
				t.Fatal(err)
			}
			rows, columns := job.Blocks()
			for range 2 { // every step may be repeated
				for i := range rows * columns {
					if err := job.Edges(ctx, i/columns, i%columns); err != nil {
						t.Fatal(err)
					}
				}
				if err := job.Scan(ctx); err != nil {
					t.Fatal(err)
				}
			}
			for i := range rows * columns {
				if err := job.Integrate(ctx, i/columns, i%columns); err != nil {
					t.Fatal(err)
				}
			}
			if err := job.Finish(ctx); err != nil {
				t.Fatal(err)
			}
			same(t, what+": passes", contents(t, b), contents(t, passes))
		}
	}
}

// TestEntries tests that the entries of a whole table are bit-identical to those of a table in memory.
func TestEntries(t *testing.T) {
	src, data := imageOf(t, &zarr.Spec{Type: zarr.Uint8, Shape: []int{130, 150}, Chunk: []int{32, 32}}, 4)
	b, _ := makeTable(t, src, &Options{})
	want, err := boxsum.Integrate[uint64](boxsum.Image[uint8]{Pix: data, Width: 150, Height: 130}, nil)
	if err != nil {
		t.Fatal(err)
	}
	a, err := zarr.OpenArray(ctx, b, "sum")
	if err != nil {
		t.Fatal(err)
	}
	got := make([]uint64, 130*150)
	if err := zarr.Read(ctx, a, got, []int{0, 0}, []int{130, 150}); err != nil {
		t.Fatal(err)
	}
	for y := range 130 {
		for x := range 150 {
			if got[y*150+x] != want.At(x+1, y+1, 0) {
				t.Fatalf("entry (%d, %d)", y, x)
			}
		}
	}
}

// TestLines tests that entries between blocks are computed from lines alone, with the same bits as in the blocks, including floats. It also tests that a
// table recognizes the array that it was made from.
func TestLines(t *testing.T) {
	for _, typ := range []zarr.Type{zarr.Uint8, zarr.Float32} {
		for _, compact := range []bool{false, true} {
			src, _ := imageOf(t, &zarr.Spec{Type: typ, Shape: []int{50, 72}, Chunk: []int{16, 16}}, 5)
			b, table := makeTable(t, src, &Options{Block: 16, Squares: true, Compact: compact, Chunk: 8})
			whole, _ := makeTable(t, src, &Options{Block: 16})
			sums, err := zarr.OpenArray(ctx, whole, "sum")
			if err != nil {
				t.Fatal(err)
			}
			if err := b.List(ctx, "", func(o zarr.Object) error {
				if strings.Contains(o.Key, "sum/c/") || strings.Contains(o.Key, "sum_local/c/") {
					return b.Delete(ctx, o.Key)
				}
				return nil
			}); err != nil {
				t.Fatal(err)
			}
			check := func(x, y int) {
				t.Helper()
				box := []image.Rectangle{image.Rect(0, 0, x, y)}
				if typ == zarr.Uint8 {
					got, want := make([]uint64, 1), make([]uint64, 1)
					if err := errors.Join(SumBoxes(ctx, table, got, box), zarr.Read(ctx, sums, want, []int{y - 1, x - 1}, []int{1, 1})); err != nil || got[0] != want[0] {
						t.Fatalf("%v, compact %v: at %d, %d: %v, want %v, %v", typ, compact, x, y, got, want, err)
					}
					return
				}
				got, want := make([]float64, 1), make([]float64, 1)
				if err := errors.Join(SumBoxes(ctx, table, got, box), zarr.Read(ctx, sums, want, []int{y - 1, x - 1}, []int{1, 1})); err != nil || got[0] != want[0] {
					t.Fatalf("%v, compact %v: at %d, %d: %v, want %v, %v", typ, compact, x, y, got, want, err)
				}
			}
			for y := 1; y <= 50; y++ {
				for x := 16; x < 72; x += 16 {
					check(x, y)
				}
			}
			for y := 16; y < 50; y += 16 {
				for x := 1; x <= 72; x++ {
					check(x, y)
				}
			}
			other, _ := imageOf(t, &zarr.Spec{Type: typ, Shape: []int{50, 72}, Chunk: []int{16, 16}, Compression: "zstd"}, 6)
			small, _ := imageOf(t, &zarr.Spec{Type: typ, Shape: []int{50, 71}, Chunk: []int{16, 16}}, 5)
			for i, a := range []*zarr.Array{src, other, small} {
				if of, err := table.Of(ctx, a); err != nil || of != (i == 0) {
					t.Errorf("the table is of array %d: %v, %v", i, of, err)
				}
			}
		}
	}
}

// TestPages tests that reading one entry of a large chunk decodes one page of it, and gives the same value as a table in memory.
func TestPages(t *testing.T) {
	ref.SkipRace(t)
	const w, h, block = 1100, 1030, 512 // chunks of two pages
	src, data := imageOf(t, &zarr.Spec{Type: zarr.Uint8, Shape: []int{h, w}, Chunk: []int{256, 256}}, 9)
	b, _ := makeTable(t, src, &Options{Block: block, Squares: true})
	want := reference[uint8, uint64, uint64](t, data, w, h, 1)
	random := rand.New(rand.NewPCG(1, 2))
	rounds := 50
	if testing.Short() {
		rounds = 10
	}
	for round := range rounds {
		table, err := OpenTable(ctx, b, nil)
		if err != nil {
			t.Fatal(err)
		}
		got, dev, expect := make([]uint64, 1), make([]float64, 1), make([]float64, 1)
		for range 1 + round%5 {
			box := image.Rect(random.IntN(w), random.IntN(h), 1+random.IntN(w), 1+random.IntN(h))
			if err := errors.Join(SumBoxes(ctx, table, got, []image.Rectangle{box}), table.StdDevBoxes(ctx, dev, []image.Rectangle{box})); err != nil {
				t.Fatal(err)
			}
			want.StdDevBoxes(expect, []image.Rectangle{box})
			if got[0] != want.Sum.Sum(box) || math.Abs(dev[0]-expect[0]) > 1e-9*expect[0] {
				t.Fatalf("box %v: %v, %v, want %v, %v", box, got, dev, want.Sum.Sum(box), expect)
			}
		}
	}
	// Damage in another page is an error, too.
	key := "sum/c/1/1"
	packed, err := b.Get(ctx, key, 0, -1, nil)
	if err != nil {
		t.Fatal(err)
	}
	packed = bytes.Clone(packed)
	packed[len(packed)-50] ^= 1
	if err := b.Put(ctx, key, packed); err != nil {
		t.Fatal(err)
	}
	table, err := OpenTable(ctx, b, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := SumBoxes(ctx, table, make([]uint64, 1), []image.Rectangle{image.Rect(0, 0, 600, 520)}); err == nil {
		t.Error("a damaged chunk has numbers")
	}
}

// An unreliable bucket fails, truncates or changes reads, and fails writes.
type unreliable struct {
	zarr.Bucket
	lock   sync.Mutex
	random *rand.Rand
	often  float64 // from 0 to 1
	what   string
	faults atomic.Int64
}

var errFault = errors.New("the store failed")

func (u *unreliable) fault() bool {
	u.lock.Lock()
	defer u.lock.Unlock()
	if u.random.Float64() < u.often {
		u.faults.Add(1)
		return true
	}
	return false
}

func (u *unreliable) Get(ctx context.Context, key string, offset, length int64, buf []byte) ([]byte, error) {
	data, err := u.Bucket.Get(ctx, key, offset, length, buf)
	if err != nil || strings.HasSuffix(key, "zarr.json") || !u.fault() {
		return data, err
	}
	switch u.what {
	case "fails":
		return nil, errFault
	case "cuts":
		return data[:len(data)/2], nil
	case "delays":
		time.Sleep(time.Millisecond)
	case "changes":
		data = bytes.Clone(data)
		data[len(data)/3] ^= 4
	}
	return data, nil
}

func (u *unreliable) Put(ctx context.Context, key string, data []byte) error {
	if u.what == "fails" && u.fault() {
		return errFault
	}
	return u.Bucket.Put(ctx, key, data)
}

// TestUnreliable tests that a run on an unreliable store gives the right table or an error, and that repeated runs finish with the right table.
func TestUnreliable(t *testing.T) {
	spec := &zarr.Spec{Type: zarr.Uint16, Shape: []int{90, 100}, Chunk: []int{20, 20}, Compression: "zstd", Checksum: true}
	src, data := imageOf(t, spec, 5)
	opt := &Options{Block: 20, Chunk: 10, Squares: true, Compact: true}
	good, _ := makeTable(t, src, opt)
	want := contents(t, good)
	for _, what := range []string{"fails", "cuts", "delays", "changes"} {
		from := &unreliable{Bucket: src.Bucket(), random: rand.New(rand.NewPCG(1, 1)), often: 0.1, what: what}
		to := &unreliable{Bucket: zarr.Memory(), random: rand.New(rand.NewPCG(2, 1)), often: 0.1, what: what}
		for try := 0; ; try++ {
			bad, err := zarr.OpenArray(ctx, from, "")
			if err != nil {
				t.Fatal(err)
			}
			job, err := NewJob(ctx, bad, to, opt)
			if err != nil {
				t.Fatal(err)
			}
			if err = job.Run(ctx); err == nil {
				break
			}
			if try > 500 {
				t.Fatalf("%s: %v", what, err)
			}
		}
		if from.faults.Load() == 0 {
			t.Errorf("%s: no faults", what)
		}
		same(t, what, want, contents(t, to.Bucket))
		// Queries give right answers or errors.
		table, err := OpenTable(ctx, to, nil)
		if err != nil {
			t.Fatal(err)
		}
		boxes := randomBoxes(50, 100, 90)
		ref := reference[uint16, uint64, uint64](t, data, 100, 90, 1)
		to.often = 0.2
		for i := range boxes {
			sum := make([]uint64, 1)
			if err := SumBoxes(ctx, table, sum, boxes[i:i+1]); err == nil && sum[0] != ref.Sum.Sum(boxes[i]) {
				t.Fatalf("%s: %v sums to %d, and not to %d", what, boxes[i], sum[0], ref.Sum.Sum(boxes[i]))
			}
		}
	}
}

// A slowBucket calls functions before and after it writes an object.
type slowBucket struct {
	zarr.Bucket
	before, after func(key string)
}

func (s *slowBucket) Put(ctx context.Context, key string, data []byte) error {
	s.before(key)
	defer s.after(key)
	return s.Bucket.Put(ctx, key, data)
}

// TestSlowPuts tests that a table does not depend on the order in which blocks are written: rows below a delayed one continue, and what the delayed one has yet to store is kept.
func TestSlowPuts(t *testing.T) {
	check := func(what string, src *zarr.Array, opt *Options, to *slowBucket) {
		t.Helper()
		good, _ := makeTable(t, src, &Options{Block: opt.Block, Squares: opt.Squares, Workers: 1})
		to.Bucket = zarr.Memory()
		job, err := NewJob(ctx, src, to, opt)
		if err == nil {
			err = job.Run(ctx)
		}
		if err != nil {
			t.Fatal(err)
		}
		same(t, what, contents(t, good), contents(t, to.Bucket))
	}
	nothing := func(string) {}
	// The first block waits until the third row has been written.
	src, _ := imageOf(t, &zarr.Spec{Type: zarr.Uint16, Shape: []int{60, 10}, Chunk: []int{10, 10}}, 3)
	third := make(chan struct{})
	check("one that waits", src, &Options{Block: 10, Workers: 2}, &slowBucket{
		before: func(key string) {
			if key == "sum/c/0/0" {
				select {
				case <-third:
				case <-time.After(10 * time.Second):
					t.Error("no block is written while one waits")
				}
			}
		},
		after: func(key string) {
			if key == "sum/c/2/0" {
				close(third)
			}
		},
	})
	// All writes are delayed.
	src, _ = imageOf(t, &zarr.Spec{Type: zarr.Uint8, Shape: []int{300, 80}, Chunk: []int{10, 10}}, 3)
	for seed := range uint64(5) {
		var lock sync.Mutex
		random := rand.New(rand.NewPCG(seed, 4))
		check("all wait", src, &Options{Block: 10, Workers: 16, Squares: true}, &slowBucket{after: nothing, before: func(string) {
			lock.Lock()
			n := random.ExpFloat64()
			lock.Unlock()
			time.Sleep(time.Duration(min(n*n*n, 40) * float64(time.Millisecond) / 2)) // usually short
		}})
	}
}

// A fullBucket accepts a number of objects and then fails.
type fullBucket struct {
	zarr.Bucket
	left atomic.Int64
}

func (f *fullBucket) Put(ctx context.Context, key string, data []byte) error {
	if f.left.Add(-1) < 0 {
		return errFault
	}
	return f.Bucket.Put(ctx, key, data)
}

// TestResume tests that an interrupted table is continued, and that other sources or options are refused or start over.
func TestResume(t *testing.T) {
	src, _ := imageOf(t, &zarr.Spec{Type: zarr.Float32, Shape: []int{200, 100}, Chunk: []int{10, 10}, Checksum: true}, 5)
	opt := &Options{Block: 10}
	good, _ := makeTable(t, src, opt)
	want := contents(t, good)
	b := zarr.Memory()
	stops, random := 0, rand.New(rand.NewPCG(1, 3))
	for {
		full := &fullBucket{Bucket: b}
		full.left.Store(int64(3 + random.IntN(30)))
		job, err := NewJob(ctx, src, full, opt)
		if err != nil {
			t.Fatal(err)
		}
		err = job.Run(ctx)
		if err == nil {
			break
		}
		if !errors.Is(err, errFault) {
			t.Fatal(err)
		}
		if _, err := OpenTable(ctx, b, nil); !errors.Is(err, ErrIncomplete) {
			t.Fatalf("a table that is not finished: %v", err)
		}
		if stops++; stops > 500 {
			t.Fatal("it does not go on")
		}
	}
	if stops == 0 {
		t.Error("it was never stopped")
	}
	same(t, "stopped", want, contents(t, b))
	run := func(src *zarr.Array, opt *Options) error {
		job, err := NewJob(ctx, src, b, opt)
		if err != nil {
			t.Fatal(err)
		}
		return job.Run(ctx)
	}
	if err := run(src, opt); err != nil {
		t.Errorf("a finished table: %v", err)
	}
	if err := run(src, &Options{Block: 20}); !errors.Is(err, ErrChanged) {
		t.Errorf("other blocks: %v", err)
	}
	if err := zarr.Write(ctx, src, []float32{7}, []int{3, 3}, []int{1, 1}); err != nil {
		t.Fatal(err)
	}
	if err := run(src, opt); !errors.Is(err, ErrChanged) {
		t.Errorf("another image: %v", err)
	}
	if err := run(src, &Options{Block: 10, Restart: true}); err != nil {
		t.Errorf("restart: %v", err)
	}
	good, _ = makeTable(t, src, opt)
	same(t, "restarted", contents(t, good), contents(t, b))
	other := zarr.Memory()
	if _, err := zarr.Create(ctx, other, "", &zarr.Spec{Type: zarr.Uint8, Shape: []int{5}, Chunk: []int{5}}); err != nil {
		t.Fatal(err)
	}
	b = other
	if err := run(src, &Options{Block: 10, Restart: true}); err == nil {
		t.Error("an array was written over by a table")
	}
}

// TestVerify tests that Verify finds a damaged block and repairs it.
func TestVerify(t *testing.T) {
	for _, compact := range []bool{false, true} {
		src, _ := imageOf(t, &zarr.Spec{Type: zarr.Uint8, Shape: []int{64, 64}, Chunk: []int{16, 16}}, 5)
		opt := &Options{Block: 16, Squares: true, Compact: compact, Compression: "none"}
		b, table := makeTable(t, src, opt)
		want := contents(t, b)
		main := table.layers[0].main
		key := main.Key([]int{1, 2})
		data, _ := b.Get(ctx, key, 0, -1, nil)
		other, _ := b.Get(ctx, main.Key([]int{2, 2}), 0, -1, nil)
		job, err := NewJob(ctx, src, b, opt)
		if err != nil {
			t.Fatal(err)
		}
		flipped := bytes.Clone(data)
		flipped[17] ^= 1
		for what, put := range map[string][]byte{"a bit": flipped, "cut": data[:100], "another block": other, "gone": nil} {
			if b.Delete(ctx, key); put != nil {
				b.Put(ctx, key, put)
			}
			found, err := table.Verify(ctx, nil, nil)
			if err != nil || len(found) != 1 || found[0].Row != 1 || found[0].Column != 2 || found[0].Key != key || found[0].Repaired {
				t.Errorf("%s: %v, %v", what, found, err)
			}
			if found, err = table.Verify(ctx, job, nil); err != nil || len(found) != 1 || !found[0].Repaired {
				t.Errorf("%s: %v, %v", what, found, err)
			}
			same(t, what, want, contents(t, b))
		}
		line := table.layers[0].top
		key = line.Key([]int{1, 0})
		b.Put(ctx, key, []byte("nothing"))
		if found, err := table.Verify(ctx, nil, nil); err != nil || len(found) != 1 || found[0].Key != key {
			t.Errorf("a line: %v, %v", found, err)
		}
		if found, err := table.Verify(ctx, job, nil); err != nil || len(found) != 1 || !found[0].Repaired {
			t.Errorf("a line: %v, %v", found, err)
		}
		same(t, "a line", want, contents(t, b))
	}
}

// TestVerifyAll tests that whichever object of a table is missing, damaged or swapped, no query returns a wrong sum, except in the one case that requires
// the image to be detected; that Verify reports the object; and that, given the image, it rewrites only that object.
func TestVerifyAll(t *testing.T) {
	ref.SkipRace(t)
	boxes := []image.Rectangle{image.Rect(0, 0, 60, 50), image.Rect(3, 5, 40, 50), image.Rect(16, 16, 17, 48), image.Rect(50, 33, 60, 47), image.Rect(20, 20, 30, 30)}
	for name, opt := range map[string]*Options{
		"plain":   {Block: 16, Squares: true},
		"raw":     {Block: 16, Compression: "none"},
		"chunks":  {Block: 16, Chunk: 4, Compression: "lz4"},
		"compact": {Block: 16, Compact: true},
	} {
		src, _ := imageOf(t, &zarr.Spec{Type: zarr.Uint8, Shape: []int{50, 60}, Chunk: []int{16, 16}}, 5)
		b, table := makeTable(t, src, opt)
		good := contents(t, b)
		sums := make([]uint64, len(boxes))
		if err := SumBoxes(ctx, table, sums, boxes); err != nil {
			t.Fatal(err)
		}
		var keys []string
		for key := range good {
			keys = append(keys, key)
		}
		slices.Sort(keys)
		for _, key := range keys {
			if key == "zarr.json" {
				continue
			}
			data := []byte(good[key])
			flipped := bytes.Clone(data)
			flipped[len(data)/3] ^= 16
			for what, put := range map[string][]byte{"gone": nil, "flipped": flipped, "cut": data[:len(data)/2], "empty": {}, "another": []byte(good[sibling(keys, key)])} {
				if bytes.Equal(put, data) {
					continue
				}
				what = name + ": " + key + " is " + what
				b.Delete(ctx, key)
				if put != nil {
					b.Put(ctx, key, put)
				}
				damaged, err := OpenTable(ctx, b, nil)
				if err != nil {
					t.Fatalf("%s: %v", what, err)
				}
				got := make([]uint64, len(boxes))
				wrong := SumBoxes(ctx, damaged, got, boxes) == nil && !slices.Equal(got, sums)
				if wrong && !strings.HasSuffix(what, "another") {
					t.Errorf("%s: sums %v, want %v", what, got, sums)
				}
				found, err := damaged.Verify(ctx, nil, nil)
				corner := strings.HasPrefix(key, "sum_local/c/3/3") // no other block continues it
				if err != nil || len(found) == 0 && !corner {
					t.Errorf("%s: nothing is found, %v", what, err)
				}
				job, err := NewJob(ctx, src, b, opt)
				if err != nil {
					t.Fatal(err)
				}
				if found, err = damaged.Verify(ctx, job, nil); err != nil || len(found) != 1 || found[0].Key != key || !found[0].Repaired {
					t.Errorf("%s: found %v, %v", what, found, err)
				}
				same(t, what, good, contents(t, b))
				if err := SumBoxes(ctx, damaged, got, boxes); err != nil || !slices.Equal(got, sums) {
					t.Errorf("%s: sums %v, want %v, of what was made anew, %v", what, got, sums, err)
				}
			}
		}
	}
}

// sibling returns another key of the same array.
func sibling(keys []string, key string) string {
	array, _, _ := strings.Cut(key, "/")
	n := slices.Index(keys, key)
	for i := range keys {
		other := keys[(n+i+1)%len(keys)]
		if strings.HasPrefix(other, array+"/c/") || strings.HasSuffix(key, "json") && strings.HasSuffix(other, "/zarr.json") {
			return other
		}
	}
	return key
}

// deadly is a bucket that kills its process before or after a write, while other writes are in progress, or after a number of deletions.
type deadly struct {
	zarr.Bucket
	at, puts      int64
	last, deleted int64
}

func (d *deadly) Delete(ctx context.Context, key string) error {
	err := d.Bucket.Delete(ctx, key)
	if atomic.AddInt64(&d.deleted, 1) == d.last {
		d.die()
	}
	return err
}

func (d *deadly) Put(ctx context.Context, key string, data []byte) error {
	n := atomic.AddInt64(&d.puts, 1)
	if n == d.at && d.at%2 == 0 {
		d.die()
	}
	err := d.Bucket.Put(ctx, key, data)
	if n == d.at {
		d.die()
	}
	return err
}

func (d *deadly) die() {
	self, _ := os.FindProcess(os.Getpid())
	self.Kill()
	select {}
}

// counted is a bucket that counts written objects and reads of chunks.
type counted struct {
	zarr.Bucket
	puts, gets atomic.Int64
}

func (c *counted) Put(ctx context.Context, key string, data []byte) error {
	c.puts.Add(1)
	return c.Bucket.Put(ctx, key, data)
}

func (c *counted) Get(ctx context.Context, key string, offset, length int64, buf []byte) ([]byte, error) {
	if !strings.HasSuffix(key, "zarr.json") {
		c.gets.Add(1)
	}
	return c.Bucket.Get(ctx, key, offset, length, buf)
}

// TestKill kills child processes that compute a table at moments spread over the work. Each must be resumable, give the same table, and cost little additional work.
func TestKill(t *testing.T) {
	opt := &Options{Block: 32, Workers: 3}
	if dir := os.Getenv("BOXSUM_STORE_CHILD"); dir != "" {
		puts, _ := strconv.Atoi(os.Getenv("BOXSUM_STORE_PUTS"))
		deletes, _ := strconv.Atoi(os.Getenv("BOXSUM_STORE_DELETES"))
		src, err := zarr.Open(ctx, filepath.Join(dir, "image.zarr"))
		if err != nil {
			t.Fatal(err)
		}
		to := &deadly{Bucket: zarr.Folder(filepath.Join(dir, "table.zarr")), at: int64(puts), last: int64(deletes)}
		opt.Restart, opt.Squares = deletes > 0, deletes > 0
		job, err := NewJob(ctx, src, to, opt)
		if err == nil {
			err = job.Run(ctx)
		}
		if err != nil {
			fmt.Println(err)
			os.Exit(3)
		}
		return
	}
	kills := 12
	if testing.Short() {
		kills = 3
	}
	if n, err := strconv.Atoi(os.Getenv("BOXSUM_STORE_KILLS")); err == nil {
		kills = n
	}
	dir := t.TempDir()
	from := &counted{Bucket: zarr.Folder(filepath.Join(dir, "image.zarr"))}
	src, err := zarr.Create(ctx, from, "", &zarr.Spec{Type: zarr.Float32, Shape: []int{512, 256}, Chunk: []int{32, 32}, Compression: "zstd"})
	if err != nil {
		t.Fatal(err)
	}
	pixels := make([]float32, 512*256)
	random := rand.New(rand.NewPCG(3, 3))
	for i := range pixels {
		pixels[i] = random.Float32()
	}
	if err := zarr.Write(ctx, src, pixels, []int{0, 0}, []int{512, 256}); err != nil {
		t.Fatal(err)
	}
	table := filepath.Join(dir, "table.zarr")
	run := func() (puts, gets int64) {
		t.Helper()
		to := &counted{Bucket: zarr.Folder(table)}
		from.gets.Store(0)
		job, err := NewJob(ctx, src, to, opt)
		if err == nil {
			err = job.Run(ctx)
		}
		if err != nil {
			t.Fatal(err)
		}
		return to.puts.Load(), from.gets.Load()
	}
	puts, gets := run()
	want := contents(t, zarr.Folder(table))
	var child time.Duration // duration of a child that is not killed
	var quarters [4]int
	var worst int64
	for killed := 0; killed < kills; {
		if err := os.RemoveAll(table); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(os.Args[0], "-test.run=^TestKill$")
		cmd.Env = append(os.Environ(), "BOXSUM_STORE_CHILD="+dir)
		share := (float64(killed) + random.Float64()) / float64(kills) // fraction of the work
		byTime := killed%4 == 1 && child > 0
		if !byTime && child > 0 { // the child kills itself, before or after it has written a number of objects
			cmd.Env = append(cmd.Env, fmt.Sprint("BOXSUM_STORE_PUTS=", 1+int(share*float64(puts))))
		}
		var out bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &out
		start := time.Now()
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if byTime {
			time.AfterFunc(time.Duration(share*float64(child)), func() { cmd.Process.Kill() })
		}
		err := cmd.Wait()
		var dead *exec.ExitError
		switch {
		case errors.As(err, &dead) && !dead.Exited():
			killed++
		case err != nil:
			t.Fatalf("%v: %s", err, out.String())
		default: // it had already finished
			same(t, "not killed", want, contents(t, zarr.Folder(table)))
			child = time.Since(start)
			continue
		}
		left := contents(t, zarr.Folder(table))
		quarters[min(4*len(left)/len(want), 3)]++
		puts2, gets2 := run()
		same(t, fmt.Sprintf("killed with %d of %d objects there", len(left), len(want)), want, contents(t, zarr.Folder(table)))
		// Written objects are kept, except metadata; of the image, only the rows of blocks in progress are read again.
		done := int64(0)
		for key := range left {
			if strings.HasPrefix(key, "sum/c/") {
				done++
			}
		}
		worst = max(worst, int64(len(left))+puts2-puts+done+gets2-gets)
		if worst > (puts+gets)/10+int64(opt.Workers) {
			t.Errorf("killed with %d objects there: %d were written and %d read then, and %d and %d in one run", len(left), puts2, gets2, puts, gets)
		}
	}
	t.Logf("at most %.1f%% more reads and writes than in one run", 100*float64(worst)/float64(puts+gets))
	t.Logf("%d kills, by quarters of the work %v", kills, quarters)
	if kills >= 12 && slices.Contains(quarters[:], 0) {
		t.Errorf("kills are not spread over the work: %v", quarters)
	}
}

// TestKilledRestart tests that a restart that is killed leaves no part of the previous table in the next one.
func TestKilledRestart(t *testing.T) {
	dir := t.TempDir()
	from, table := filepath.Join(dir, "image.zarr"), filepath.Join(dir, "table.zarr")
	src, err := zarr.Create(ctx, zarr.Folder(from), "", &zarr.Spec{Type: zarr.Uint8, Shape: []int{100, 120}, Chunk: []int{32, 32}})
	if err != nil {
		t.Fatal(err)
	}
	opt := &Options{Block: 32, Squares: true}
	draw := func(value byte) {
		if err := zarr.Write(ctx, src, bytes.Repeat([]byte{value}, 100*120), []int{0, 0}, []int{100, 120}); err != nil {
			t.Fatal(err)
		}
	}
	draw(1)
	if err := Integrate(ctx, from, table, opt); err != nil {
		t.Fatal(err)
	}
	for n, deletes := range []int{1, 2, 9, 30} {
		draw(byte(n + 2))
		cmd := exec.Command(os.Args[0], "-test.run=^TestKill$")
		cmd.Env = append(os.Environ(), "BOXSUM_STORE_CHILD="+dir, fmt.Sprint("BOXSUM_STORE_DELETES=", deletes))
		var dead *exec.ExitError
		if out, err := cmd.CombinedOutput(); !errors.As(err, &dead) || dead.Exited() {
			t.Fatalf("%d deleted, and not killed: %v: %s", deletes, err, out)
		}
		if err := Integrate(ctx, from, table, opt); err != nil {
			t.Fatal(err)
		}
		good, err := zarr.OpenBucket(ctx, "mem://"+strconv.Itoa(deletes)+".restart", true)
		if err != nil {
			t.Fatal(err)
		}
		job, err := NewJob(ctx, src, good, opt)
		if err != nil {
			t.Fatal(err)
		}
		if err := job.Run(ctx); err != nil {
			t.Fatal(err)
		}
		same(t, fmt.Sprintf("%d deleted", deletes), contents(t, good), contents(t, zarr.Folder(table)))
	}
	if err := Integrate(ctx, filepath.Join(dir, "table.zarr", "sum"), table, nil); err == nil {
		t.Error("an image in the place of its table")
	}
}

// failsAt is a bucket in which one read fails, after a given number of reads.
type failsAt struct {
	zarr.Bucket
	left atomic.Int64
}

func (f *failsAt) Get(ctx context.Context, key string, offset, length int64, buf []byte) ([]byte, error) {
	if f.left.Add(-1) == 0 {
		return nil, errFault
	}
	return f.Bucket.Get(ctx, key, offset, length, buf)
}

// TestFailedRead tests that whichever read fails, statistics return an error and no number.
func TestFailedRead(t *testing.T) {
	for base, shape := range map[float64][]int{2e5: {40, 40}, 8e4: {8, 40, 40}} {
		src, err := zarr.Create(ctx, zarr.Memory(), "", &zarr.Spec{Type: zarr.Float64, Shape: shape, Chunk: shape})
		if err != nil {
			t.Fatal(err)
		}
		pix := make([]float64, raster.Product(shape))
		for i := range pix {
			pix[i] = base + float64(i%7) // whole numbers, whose deviations are small compared with their rounding errors
		}
		if err := zarr.Write(ctx, src, pix, make([]int, len(shape)), shape); err != nil {
			t.Fatal(err)
		}
		solid := len(shape) == 3
		b, _ := makeTable(t, src, &Options{Block: 8, Squares: true, Volume: solid})
		ask := func(left int64) (float64, int64, error) {
			f := &failsAt{Bucket: b}
			table, err := OpenTable(ctx, f, &OpenOptions{Cache: 1})
			if err != nil {
				t.Fatal(err)
			}
			f.left.Store(left)
			got := make([]float64, 1)
			if solid {
				err = table.VarianceVolumeBoxes(ctx, got, []volume.Box{volume.NewBox(30, 31, 6, 33, 33, 8)})
			} else {
				err = table.VarianceBoxes(ctx, got, []image.Rectangle{image.Rect(30, 31, 33, 33)})
			}
			return got[0], left - f.left.Load(), err
		}
		want, reads, err := ask(1 << 40)
		if err != nil || want != want {
			t.Fatal(want, err)
		}
		for n := int64(1); n <= reads; n++ {
			if got, _, err := ask(n); err == nil && got != want {
				t.Errorf("%v: read %d of %d failed: %v instead of %v, and no error", shape, n, reads, got, want)
			}
		}
	}
}

// TestLevels tests that compression levels that Blosc lacks use plain zstd.
func TestLevels(t *testing.T) {
	src, _ := imageOf(t, &zarr.Spec{Type: zarr.Uint8, Shape: []int{20, 20}, Chunk: []int{20, 20}}, 1)
	for _, level := range []int{-5, 1, 9, 19, 22} {
		_, table := makeTable(t, src, &Options{Level: level})
		if found, err := table.Verify(ctx, nil, nil); err != nil || len(found) > 0 {
			t.Errorf("level %d: %v, %v", level, found, err)
		}
	}
}

// TestOtherCodec tests that a table begun with another codec is continued and repaired with that codec.
func TestOtherCodec(t *testing.T) {
	src, _ := imageOf(t, &zarr.Spec{Type: zarr.Uint8, Shape: []int{64, 64}, Chunk: []int{16, 16}}, 1)
	opt := &Options{Block: 16, Squares: true}
	run := func(b zarr.Bucket, before bool) error {
		job, err := NewJob(ctx, src, b, opt)
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range job.layers {
			if before { // without Blosc, as in earlier versions
				if l.main, err = zarr.New(b, l.main.Path(), &zarr.Spec{Type: l.kept, Shape: l.main.Shape(), Chunk: l.main.Object(), Compression: "zstd", Checksum: true, Names: []string{"y", "x"}}); err != nil {
					t.Fatal(err)
				}
			}
		}
		return job.Run(ctx)
	}
	good, b := zarr.Memory(), zarr.Memory()
	full := &fullBucket{Bucket: b}
	full.left.Store(30)
	if err := run(good, true); err != nil {
		t.Fatal(err)
	}
	if err := run(full, true); !errors.Is(err, errFault) {
		t.Fatal(err)
	}
	if err := run(b, false); err != nil {
		t.Fatal(err)
	}
	same(t, "gone on with", contents(t, good), contents(t, b))

	// The same in passes, by another process than the one that began the table.
	many := zarr.Memory()
	full = &fullBucket{Bucket: many}
	full.left.Store(30)
	if err := run(full, true); !errors.Is(err, errFault) {
		t.Fatal(err)
	}
	worker, err := NewJob(ctx, src, many, opt)
	if err != nil {
		t.Fatal(err)
	}
	if err := worker.Join(ctx); err != nil {
		t.Fatal(err)
	}
	steps(t, worker)
	same(t, "gone on with in passes", contents(t, good), contents(t, many))
	if other, err := NewJob(ctx, src, many, &Options{Block: 16}); err != nil || !errors.Is(other.Join(ctx), ErrChanged) {
		t.Errorf("other options take part: %v", err)
	}
	if none, err := NewJob(ctx, src, zarr.Memory(), opt); err != nil || none.Join(ctx) == nil {
		t.Errorf("a table that was not begun is joined: %v", err)
	}
	b.Put(ctx, "sum/c/1/1", []byte("nothing"))
	table, err := OpenTable(ctx, b, nil)
	if err != nil {
		t.Fatal(err)
	}
	job, err := NewJob(ctx, src, b, opt)
	if err != nil {
		t.Fatal(err)
	}
	if found, err := table.Verify(ctx, job, nil); err != nil || len(found) != 1 || !found[0].Repaired {
		t.Error(found, err)
	}
	same(t, "repaired", contents(t, good), contents(t, b))
}

// TestErrors tests that every invalid argument gives an error that describes it.
func TestErrors(t *testing.T) {
	src, _ := imageOf(t, &zarr.Spec{Type: zarr.Uint8, Shape: []int{64, 64}, Chunk: []int{16, 16}}, 5)
	cube, _ := imageOf(t, &zarr.Spec{Type: zarr.Uint8, Shape: []int{5, 5, 80}, Chunk: []int{5, 5, 80}}, 5)
	wide, _ := imageOf(t, &zarr.Spec{Type: zarr.Int64, Shape: []int{5, 5}, Chunk: []int{5, 5}}, 5)
	for want, f := range map[string]func() error{
		"want 0 or more":         func() error { _, err := NewJob(ctx, src, zarr.Memory(), &Options{Workers: -1}); return err },
		"want a divisor of":      func() error { _, err := NewJob(ctx, src, zarr.Memory(), &Options{Block: 32, Chunk: 5}); return err },
		"is not an image":        func() error { _, err := NewJob(ctx, cube, zarr.Memory(), nil); return err },
		"for a table of squares": func() error { _, err := NewJob(ctx, wide, zarr.Memory(), &Options{Squares: true}); return err },
		"want none, zstd":        func() error { _, err := NewJob(ctx, src, zarr.Memory(), &Options{Compression: "rar"}); return err },
		"raise the limit": func() error {
			j, err := NewJob(ctx, src, zarr.Memory(), &Options{Block: 1 << 12, Memory: 1 << 20})
			if err != nil {
				return err
			}
			return j.Run(ctx)
		},
		"no such file":       func() error { _, err := Open(ctx, filepath.Join(t.TempDir(), "no"), nil); return err },
		"not a Zarr":         func() error { _, err := Open(ctx, t.TempDir(), nil); return err },
		"boxsum/cloud opens": func() error { _, err := Open(ctx, "s3://key:secret@bucket/x?password=secret", nil); return err },
		"write / as %2F":     func() error { _, err := Open(ctx, "mem://key:secret/rest@bucket/x", nil); return err },
		"@ as %40":           func() error { _, err := Open(ctx, "MEM://key:%secret@bucket/x", nil); return err },
		"lz4 has no levels": func() error {
			_, err := NewJob(ctx, src, zarr.Memory(), &Options{Compression: "lz4", Level: 3})
			return err
		},
		"not a table":          func() error { _, err := OpenTable(ctx, src.Bucket(), nil); return err },
		"is outside the array": func() error { return zarr.Read(ctx, src, make([]uint8, 4), []int{63, 63}, []int{2, 2}) },
		"not float32":          func() error { return zarr.Read(ctx, src, make([]float32, 4), []int{0, 0}, []int{2, 2}) },
		"object key is":        func() error { return zarr.Folder(t.TempDir()).Put(ctx, "../x", nil) },
	} {
		err := f()
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", want, err)
		} else if strings.Contains(err.Error(), "secret") {
			t.Errorf("a credential: %v", err)
		}
	}
}

// TestManyBoxes queries more boxes than are answered at once, some of them empty: each must give the same result as alone.
func TestManyBoxes(t *testing.T) {
	ref.SkipRace(t)
	src, _ := imageOf(t, &zarr.Spec{Type: zarr.Uint16, Shape: []int{230, 310, 2}, Chunk: []int{64, 64, 2}}, 3)
	for _, compact := range []bool{false, true} {
		bucket, _ := makeTable(t, src, &Options{Block: 64, Squares: true, Compact: compact})
		table, err := OpenTable(ctx, bucket, &OpenOptions{Cache: 1 << 16})
		if err != nil {
			t.Fatal(err)
		}
		random := rand.New(rand.NewPCG(8, 9))
		boxes := make([]image.Rectangle, 2*table.atOnce()+100)
		for i := range boxes {
			boxes[i] = image.Rectangle{Min: image.Pt(random.IntN(400)-50, random.IntN(300)-50), Max: image.Pt(random.IntN(400)-50, random.IntN(300)-50)} // about a quarter of them contain pixels
		}
		sums, means, variances := make([]uint64, 2*len(boxes)), make([]float64, 2*len(boxes)), make([]float64, 2*len(boxes))
		if err := errors.Join(SumBoxes(ctx, table, sums, boxes), table.MeanBoxes(ctx, means, boxes), table.VarianceBoxes(ctx, variances, boxes)); err != nil {
			t.Fatal(err)
		}
		step := 7
		if testing.Short() {
			step = 100
		}
		for i := 0; i < len(boxes); i += 1 + random.IntN(step) {
			sum, mean, variance := make([]uint64, 2), make([]float64, 2), make([]float64, 2)
			one := boxes[i : i+1]
			if err := errors.Join(SumBoxes(ctx, table, sum, one), table.MeanBoxes(ctx, mean, one), table.VarianceBoxes(ctx, variance, one)); err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(sum, sums[2*i:2*i+2]) || !slices.Equal(mean, means[2*i:2*i+2]) || !slices.Equal(variance, variances[2*i:2*i+2]) {
				t.Fatalf("box %v has %v %v %v alone, and among others %v %v %v", boxes[i], sum, mean, variance, sums[2*i:2*i+2], means[2*i:2*i+2], variances[2*i:2*i+2])
			}
		}
	}
}
