package zarr

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/boxsum/boxsum/internal/raster"
)

// old sets the times of all files below a folder to an hour ago.
func old(t *testing.T, dir string) {
	t.Helper()
	ago := time.Now().Add(-time.Hour)
	err := filepath.Walk(dir, func(path string, _ os.FileInfo, err error) error {
		return errors.Join(err, os.Chtimes(path, ago, ago))
	})
	if err != nil {
		t.Fatal(err)
	}
}

// flatArray is the metadata of an array whose objects are files in one folder.
const flatArray = `{"zarr_format": 2, "shape": [4000, 4000], "chunks": [1, 1], "dtype": "|u1", "compressor": null, "fill_value": 7, "order": "C", "filters": null}`

// TestAbsent reads 16 million absent chunks, which takes minutes if each is looked for.
func TestAbsent(t *testing.T) {
	const side = 4000
	nested, err := New(Memory(), "", &Spec{Type: Uint8, Shape: []int{side, side}, Chunk: []int{1, 1}, Fill: 7})
	if err != nil {
		t.Fatal(err)
	}
	for name, metadata := range map[string]string{"zarr.json": string(nested.Metadata()), ".zarray": flatArray, "sub/zarr.json": string(nested.Metadata()), "zip": string(nested.Metadata())} {
		dir := t.TempDir()
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o777), os.WriteFile(path, []byte(metadata), 0o666)); err != nil {
			t.Fatal(err)
		}
		old(t, dir)
		b := Folder(dir)
		if strings.HasPrefix(name, "sub") {
			b = Sub(b, "sub")
		}
		if strings.HasPrefix(name, "zip") {
			file := filepath.Join(dir, "x.zip")
			w, err := OpenBucket(t.Context(), file, true)
			if err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(w.Put(t.Context(), "in/zarr.json", []byte(metadata)), w.Close()); err != nil {
				t.Fatal(err)
			}
			if b, err = OpenBucket(t.Context(), file+"/in", false); err != nil {
				t.Fatal(err)
			}
			defer b.Close()
		}
		a, err := OpenArray(t.Context(), b, "")
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithTimeout(t.Context(), 20*time.Second)
		got, err := ReadAll[uint8](ctx, a)
		stop()
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if i := slices.IndexFunc(got, func(v uint8) bool { return v != 7 }); i >= 0 {
			t.Errorf("%s: element %d is %d", name, i, got[i])
		}
	}
}

// zipOf returns an array in a zip file with the objects of a bucket.
func zipOf(t *testing.T, b Bucket, array string) *Array {
	t.Helper()
	file := filepath.Join(t.TempDir(), "x.zip")
	w, err := OpenBucket(t.Context(), file, true)
	if err != nil {
		t.Fatal(err)
	}
	err = b.List(t.Context(), "", func(o Object) error {
		data, err := b.Get(t.Context(), o.Key, 0, -1, nil)
		return errors.Join(err, w.Put(t.Context(), o.Key, data))
	})
	if err := errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	a, err := Open(t.Context(), file+"/"+array)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.Close() })
	return a
}

// TestSparse reads boxes of arrays in folders and zip files, of which some objects are present, and compares them
// with the same arrays in memory.
func TestSparse(t *testing.T) {
	specs := map[string]*Spec{
		"1":      {Shape: []int{1000}, Chunk: []int{3}},
		"2":      {Shape: []int{70, 90}, Chunk: []int{3, 2}},
		"narrow": {Shape: []int{300, 4}, Chunk: []int{1, 1}},
		"3":      {Shape: []int{20, 30, 3}, Chunk: []int{2, 3, 1}},
		"shards": {Shape: []int{64, 100}, Chunk: []int{2, 2}, Shard: []int{8, 10}},
	}
	for name, spec := range specs {
		for _, aged := range []bool{true, false} {
			dir := t.TempDir()
			spec.Type, spec.Fill = Uint16, 9
			stored, err := Create(t.Context(), Folder(dir), "in/array", spec)
			if err != nil {
				t.Fatal(err)
			}
			held, err := Create(t.Context(), Memory(), "", spec)
			if err != nil {
				t.Fatal(err)
			}
			n := len(spec.Shape)
			size := 1
			for _, k := range stored.Object() {
				size *= k
			}
			data := make([]uint16, size)
			i := 0
			err = each(make([]int, n), spec.Shape, stored.Object(), func(place, _, _, _ []int) error {
				i++
				if i%7 != 0 && place[0]%5 != 2 || place[0]%4 == 1 {
					return nil
				}
				for k := range data {
					data[k] = uint16(i*100 + k)
				}
				return errors.Join(stored.WriteObject(t.Context(), place, raster.Bytes(data)), held.WriteObject(t.Context(), place, raster.Bytes(data)))
			})
			if err != nil {
				t.Fatal(err)
			}
			if aged {
				old(t, dir)
			}
			zipped := zipOf(t, Folder(dir), "in/array")
			for _, cut := range []int{0, 1, 5} {
				at, box, all := make([]int, n), make([]int, n), 1
				for k, side := range spec.Shape {
					at[k] = min(cut, side-1)
					box[k] = max(1, side-at[k]-cut)
					all *= box[k]
				}
				got, fromZip, want := make([]uint16, all), make([]uint16, all), make([]uint16, all)
				if err := errors.Join(Read(t.Context(), stored, got, at, box), Read(t.Context(), zipped, fromZip, at, box), Read(t.Context(), held, want, at, box)); err != nil {
					t.Fatal(err)
				}
				if !slices.Equal(got, want) || !slices.Equal(fromZip, want) {
					t.Errorf("%s, aged %v: the box of %v at %v differs", name, aged, box, at)
				}
			}
			// An object that is written after a read is seen by the next one.
			place := make([]int, n)
			place[0] = 1
			for k := range data {
				data[k] = 5
			}
			if err := stored.WriteObject(t.Context(), place, raster.Bytes(data)); err != nil {
				t.Fatal(err)
			}
			got, err := ReadAll[uint16](t.Context(), stored)
			if err != nil {
				t.Fatal(err)
			}
			row := stored.Object()[0]
			for _, side := range spec.Shape[1:] {
				row *= side
			}
			if got[row] != 5 {
				t.Errorf("%s, aged %v: element %d is %d after it was written", name, aged, row, got[row])
			}
		}
	}
}

// TestCopySparse copies arrays of which few objects are present, and tests that the copies are equal
// and have only the objects that contain something other than the fill value.
func TestCopySparse(t *testing.T) {
	sources := map[string]*Spec{
		"1":      {Shape: []int{1000}, Chunk: []int{3}},
		"2":      {Shape: []int{64, 100}, Chunk: []int{3, 2}},
		"3":      {Shape: []int{20, 30, 3}, Chunk: []int{2, 3, 1}},
		"shards": {Shape: []int{64, 100}, Chunk: []int{2, 2}, Shard: []int{8, 10}},
		"v2":     {Shape: []int{64, 100}, Chunk: []int{4, 5}},
	}
	grids := map[int][]*Spec{
		1: {{Chunk: []int{3}}, {Chunk: []int{10}}, {Chunk: []int{7}, Shard: []int{21}}, {Chunk: []int{2000}}},
		2: {{Chunk: []int{3, 2}}, {Chunk: []int{5, 7}}, {Chunk: []int{4, 5}, Shard: []int{8, 20}}, {Chunk: []int{100, 1}}},
		3: {{Chunk: []int{2, 3, 1}}, {Chunk: []int{1, 16, 3}}, {Chunk: []int{5, 1, 3}, Shard: []int{10, 4, 3}}},
	}
	for name, spec := range sources {
		spec.Type, spec.Fill = Uint16, 9
		dir := t.TempDir()
		src, err := Create(t.Context(), Folder(dir), "in/array", spec)
		if err != nil {
			t.Fatal(err)
		}
		if name == "v2" {
			const metadata = `{"zarr_format": 2, "shape": [64, 100], "chunks": [4, 5], "dtype": "<u2", "compressor": null, "fill_value": 9, "order": "C", "filters": null}`
			b := Memory()
			if err := b.Put(t.Context(), ".zarray", []byte(metadata)); err != nil {
				t.Fatal(err)
			}
			v2, err := OpenArray(t.Context(), b, "")
			if err != nil {
				t.Fatal(err)
			}
			src = &Array{bucket: Folder(dir), path: "in/array/", m: v2.m, counts: v2.counts, unit: v2.unit, units: v2.units, codecs: v2.codecs, cache: v2.cache}
		}
		data := make([]uint16, raster.Product(src.Object()))
		i := 0
		err = each(make([]int, len(spec.Shape)), spec.Shape, src.Object(), func(place, _, _, _ []int) error {
			if i++; i%13 != 1 {
				return nil
			}
			for k := range data {
				data[k] = 9
				if k%11 == 0 {
					data[k] = uint16(i)
				}
			}
			return src.WriteObject(t.Context(), place, raster.Bytes(data))
		})
		if err != nil {
			t.Fatal(err)
		}
		old(t, dir)
		want, err := ReadAll[uint16](t.Context(), src)
		if err != nil {
			t.Fatal(err)
		}
		from := map[string]*Array{"folder": src}
		if name != "v2" {
			from["zip"] = zipOf(t, Folder(dir), "in/array")
		}
		for where, src := range from {
			for _, grid := range grids[len(spec.Shape)] {
				for _, fill := range []float64{9, 4} {
					grid.Type, grid.Shape, grid.Fill = Uint16, spec.Shape, fill
					testCopySparse(t, name+" from "+where, src, grid, want)
				}
			}
		}
	}
}

func testCopySparse(t *testing.T, name string, src *Array, grid *Spec, want []uint16) {
	t.Helper()
	for _, stale := range []bool{false, true} {
		b := Memory()
		dst, err := Create(t.Context(), b, "copy", grid)
		if err != nil {
			t.Fatal(err)
		}
		last := make([]int, len(dst.counts))
		for k, n := range dst.counts {
			last[k] = n - 1
		}
		if stale { // left by an earlier array: it has to be overwritten
			if err := dst.WriteObject(t.Context(), last, make([]byte, 2*raster.Product(dst.Object()))); err != nil {
				t.Fatal(err)
			}
		}
		calls, all := 0, 0
		if err := Copy(t.Context(), dst, src, func(d, n int) { calls, all = calls+1, n }); err != nil {
			t.Fatal(err)
		}
		got, err := ReadAll[uint16](t.Context(), dst)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%s to chunks of %v, shards of %v and fill value %v: the copy differs, %v", name, grid.Chunk, grid.Shard, grid.Fill, err)
		}
		objects, wanted := 0, 0
		err = dst.List(t.Context(), func(o Object) error {
			if !strings.HasSuffix(o.Key, "zarr.json") {
				objects++
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		err = each(make([]int, len(grid.Shape)), grid.Shape, dst.Object(), func(place, _, inBox, part []int) error {
			box := make([]uint16, raster.Product(part))
			if stale && slices.Equal(place, last) {
				wanted++
				return nil
			}
			err := Read(t.Context(), src, box, inBox, part)
			if slices.ContainsFunc(box, func(v uint16) bool { return float64(v) != grid.Fill }) {
				wanted++
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		if objects != wanted || calls != all || grid.Fill == 9 && all > 2*wanted+1 {
			t.Errorf("%s to chunks of %v, shards of %v and fill value %v: %d objects and %d calls of progress of %d, want %d objects", name, grid.Chunk, grid.Shard, grid.Fill, objects, calls, all, wanted)
		}
	}
}

// TestCopyAbsent copies an array of ten million absent chunks.
func TestCopyAbsent(t *testing.T) {
	dir := t.TempDir()
	src, err := Create(t.Context(), Folder(dir), "", &Spec{Type: Uint8, Shape: []int{40, 30, 1000020}, Chunk: []int{10, 9, 1}})
	if err != nil {
		t.Fatal(err)
	}
	old(t, dir)
	b := Memory()
	dst, err := Create(t.Context(), b, "", &Spec{Type: Uint8, Shape: src.Shape(), Chunk: []int{1, 1, 64}})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithTimeout(t.Context(), 20*time.Second)
	defer stop()
	if err := Copy(ctx, dst, src, nil); err != nil {
		t.Fatal(err)
	}
	objects := 0
	if err := b.List(t.Context(), "", func(Object) error { objects++; return nil }); err != nil || objects != 1 {
		t.Errorf("%d objects, %v, want only the metadata", objects, err)
	}
}
