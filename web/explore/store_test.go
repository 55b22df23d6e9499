package explore

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/boxsum/boxsum/internal/ref"
	"github.com/boxsum/boxsum/store"
	"github.com/boxsum/boxsum/zarr"
)

// A frail bucket fails to read chunks while it is broken, and counts how often it is closed.
type frail struct {
	zarr.Bucket
	broken atomic.Bool
	closed atomic.Int32
}

func (b *frail) Get(ctx context.Context, key string, offset, length int64, buf []byte) ([]byte, error) {
	if b.broken.Load() && strings.Contains(key, "c/") {
		return nil, errors.New("the disk is away")
	}
	return b.Bucket.Get(ctx, key, offset, length, buf)
}

func (b *frail) Close() error { b.closed.Add(1); return nil }

// hold registers a bucket under a name.
func hold(t *testing.T, name string) (*frail, string) {
	b := &frail{Bucket: zarr.Memory()}
	given.Store(name, b)
	t.Cleanup(func() { given.Delete(name) })
	return b, "given://" + name
}

func array(t *testing.T, b zarr.Bucket, path string, kind zarr.Type, fill float64, shape, chunk []int) *zarr.Array {
	t.Helper()
	a, err := zarr.Create(t.Context(), b, path, &zarr.Spec{Type: kind, Shape: shape, Chunk: chunk, Fill: fill})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func write[T zarr.Element](t *testing.T, a *zarr.Array, value T, at, box []int) {
	t.Helper()
	n := 1
	for _, side := range box {
		n *= side
	}
	data := make([]T, n)
	for i := range data {
		data[i] = value + T(i%7)
	}
	if err := zarr.Write(t.Context(), a, data, at, box); err != nil {
		t.Fatal(err)
	}
}

func opened(t *testing.T, location string) Document {
	t.Helper()
	d, err := OpenStore(t.Context(), "it", location)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return d
}

// patiently repeats a request until the overview is complete.
func patiently(t *testing.T, s *Session, request map[string]any) (map[string]any, []byte) {
	t.Helper()
	for range 600 {
		v, pix := ask(t, s, request, nil)
		text, _ := v["error"].(string)
		if missing, _ := v["missing"].(float64); missing == 0 && !strings.Contains(text, "not ready yet") {
			return v, pix
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Fatal("the overview is not made")
	return nil, nil
}

// TestHugeStores opens stores whose images are far larger than memory.
func TestHugeStores(t *testing.T) {
	if strconv.IntSize < 64 {
		t.Skip("needs a 64-bit platform: no smaller int holds the size of such an array")
	}
	b, at := hold(t, "beyond")
	array(t, b, "", zarr.Uint8, 0, []int{1 << 29, 1 << 29}, []int{4096, 4096})
	if _, err := OpenStore(t.Context(), "it", at); err == nil {
		t.Error("a plane of 2^58 pixels is taken")
	}
	if b.closed.Load() == 0 {
		t.Error("what was refused is not closed")
	}
	for i, shape := range [][]int{{1 << 22, 1 << 22}, {1, math.MaxInt >> 20}} {
		b, at := hold(t, []string{"square", "thin"}[i])
		array(t, b, "", zarr.Uint8, 9, shape, []int{min(shape[0], 2048), 2048})
		d := opened(t, at)
		s := NewSession(&Library{Documents: []Document{d}}, Usual)
		for level := 0; level <= 40; level += 8 {
			v, pix := ask(t, s, map[string]any{"do": "tile", "kind": "image", "size": 256, "level": level}, nil)
			if v["error"] != nil || len(pix) == 0 {
				t.Errorf("%v, level %d: %v", shape, level, v)
			}
		}
		if n := d.bytes(); n > 1<<30 {
			t.Errorf("%v: %d bytes", shape, n)
		}
		d.Close()
	}
}

// TestSlices tests slices of a store with several slices, and coarse levels with fewer.
func TestSlices(t *testing.T) {
	b, at := hold(t, "slices")
	meta := `{"zarr_format":3,"node_type":"group","attributes":{"ome":{"version":"0.5","multiscales":[{"axes":[{"name":"z","type":"space"},{"name":"y","type":"space"},{"name":"x","type":"space"}],"datasets":[`
	for _, path := range []string{"0", "1", "2"} {
		meta += `{"path":"` + path + `","coordinateTransformations":[{"type":"scale","scale":[1,1,1]}]},`
	}
	if err := b.Put(t.Context(), "zarr.json", []byte(strings.TrimSuffix(meta, ",")+`]}]}}}`)); err != nil {
		t.Fatal(err)
	}
	fine := array(t, b, "0", zarr.Uint8, 10, []int{4, 2304, 2304}, []int{1, 2304, 2304})
	write[uint8](t, fine, 100, []int{2, 0, 0}, []int{2, 2304, 2304})
	coarse := array(t, b, "1", zarr.Uint8, 10, []int{2, 1152, 1152}, []int{1, 1152, 1152})
	write[uint8](t, coarse, 100, []int{1, 0, 0}, []int{1, 1152, 1152})
	array(t, b, "2", zarr.Uint8, 200, []int{7}, []int{7})
	s := NewSession(&Library{Documents: []Document{opened(t, at)}}, Usual)
	for z, low := range []float64{10, 10, 100, 100} {
		v, _ := patiently(t, s, map[string]any{"do": "histogram", "z": z, "box": []int{0, 0, 2304, 2304}})
		if m, _ := v["median"].(float64); m < low || m > low+7 {
			t.Errorf("slice %d: a median of %v, want about %v", z, v["median"], low)
		}
		for level := range 4 {
			v, pix := ask(t, s, map[string]any{"do": "tile", "kind": "image", "size": 64, "level": level, "z": z}, nil)
			if v["error"] != nil || float64(pix[99]) < low || float64(pix[99]) > low+7 {
				t.Errorf("slice %d, level %d: %v", z, level, v)
			}
		}
	}
	// Positions are relative to the image, not to the part that was read.
	v, _ := ask(t, s, map[string]any{"do": "moments", "z": 0, "box": []int{1000, 900, 1100, 920}}, nil)
	if c, _ := v["centroid"].([]any); len(c) != 2 || math.Abs(c[0].(float64)-1049.5) > 1 || math.Abs(c[1].(float64)-909.5) > 1 {
		t.Errorf("the centroid is %v", v)
	}
	v, _ = ask(t, s, map[string]any{"do": "feature", "kind": s.hello().(map[string]any)["kinds"].([]map[string]any)[0]["name"], "box": []int{1000, 900, 1024, 924}}, nil)
	parts, _ := v["parts"].([]any)
	if len(parts) == 0 {
		t.Fatal(v)
	}
	for _, p := range parts {
		box := p.(map[string]any)["box"].([]any)
		if x, y := box[0].(float64), box[1].(float64); x < 1000 || x > 1024 || y < 900 || y > 924 {
			t.Errorf("a part of the feature lies at %v", box)
		}
	}
	for _, z := range []int{-1, 1 << 20} {
		if v, _ := ask(t, s, map[string]any{"do": "code", "what": map[string]any{"do": "blur", "box": []int{0, 0, 8, 8}, "z": z}}, nil); v["error"] == nil || !strings.Contains(fmt.Sprint(v["error"]), "slice") {
			t.Errorf("code of slice %d: %v", z, v)
		}
	}
	// Features that extend beyond the image are refused, as in memory, and so are rotated ones, whose pixels extend beyond the box.
	for _, q := range []map[string]any{{"box": []int{-3, 0, 21, 24}}, {"box": []int{1000, 900, 1024, 999999}}, {"box": []int{1000, 900, 1024, 924}, "ratio": "1/2"}} {
		q["do"], q["kind"] = "feature", s.hello().(map[string]any)["kinds"].([]map[string]any)[0]["name"]
		if v, _ := ask(t, s, q, nil); v["error"] == nil {
			t.Errorf("%v: %v", q["box"], v)
		}
	}
}

// TestBrokenStore tests that pixels that are missing while a store cannot be read are not counted as gray.
func TestBrokenStore(t *testing.T) {
	b, at := hold(t, "broken")
	write[uint8](t, array(t, b, "", zarr.Uint8, 10, []int{4200, 4200}, []int{4200, 4200}), 10, []int{0, 0}, []int{4200, 4200})
	s := NewSession(&Library{Documents: []Document{opened(t, at)}}, Usual)
	b.broken.Store(true)
	whole := map[string]any{"do": "histogram", "box": []int{0, 0, 4200, 4200}}
	if v, _ := patiently(t, s, whole); !strings.Contains(v["error"].(string), "away") {
		t.Errorf("a store that is away: %v", v)
	}
	b.broken.Store(false)
	v, _ := patiently(t, s, whole)
	if v["error"] != nil { // left from the previous attempt
		v, _ = patiently(t, s, whole)
	}
	if m, _ := v["median"].(float64); m < 10 || m > 17 {
		t.Errorf("the store is back: %v", v)
	}
	for i, n := range v["counts"].([]any) {
		if n != 0.0 && (i < 10 || i > 17) {
			t.Errorf("%v pixels are %d", n, i)
		}
	}
}

// TestTablesOfOthers tests that tables are attached to the images that they were made from.
func TestTablesOfOthers(t *testing.T) {
	ref.SkipRace(t)
	ctx, dir := t.Context(), t.TempDir()
	var locations []string
	for i, name := range []string{"a", "b"} {
		bucket, err := zarr.OpenBucket(ctx, dir+"/"+name, true)
		if err != nil {
			t.Fatal(err)
		}
		a := array(t, bucket, "", zarr.Uint16, 300, []int{2400, 2400, 3}, []int{800, 800, 3})
		write(t, a, uint16(1000*i), []int{1100, 1100, 0}, []int{200, 200, 3})
		bucket.Close()
		locations = append(locations, dir+"/"+name)
	}
	if err := store.Integrate(ctx, locations[1], dir+"/sums", nil); err != nil {
		t.Fatal(err)
	}
	alone := opened(t, dir+"/sums")
	if alone.Info().Channels != 3 {
		t.Error(alone.Info())
	}
	for _, c := range []struct {
		images []string
		left   int
	}{{locations[:1], 2}, {locations[1:], 1}, {locations, 2}, {[]string{locations[1], locations[1]}, 3}} {
		var docs []Document
		for _, at := range append(c.images[:len(c.images):len(c.images)], dir+"/sums") {
			docs = append(docs, opened(t, at))
		}
		rest := WithTables(ctx, docs)
		if len(rest) != c.left {
			t.Errorf("%v: %d documents are left, want %d", c.images, len(rest), c.left)
		}
		for i, d := range rest {
			if im := d.(*stored); len(im.levels) > 0 && im.table != nil && c.images[i] != locations[1] {
				t.Errorf("%v: number %d has the table", c.images, i)
			}
		}
	}
	shared, at := hold(t, "sums")
	if err := store.Integrate(ctx, locations[1], at, nil); err != nil {
		t.Fatal(err)
	}
	before := shared.closed.Load()
	image, table := opened(t, locations[1]), opened(t, at)
	WithTables(ctx, []Document{image, table})
	table.Close()
	if n := shared.closed.Load() - before; n != 0 {
		t.Errorf("the table was closed %d times under its image", n)
	}
	image.Close()
	if n := shared.closed.Load() - before; n != 1 {
		t.Errorf("the table was closed %d times", n)
	}
}

// TestBytes tests the memory that a session accounts for files sent to it.
func TestBytes(t *testing.T) {
	s := NewSession(nil, Limits{Bytes: 1 << 20, Body: 900 << 10, Request: 1 << 20, Documents: 10, Boxes: 10})
	if v, _ := ask(t, s, map[string]any{"do": "put", "name": "f", "key": "a"}, make([]byte, 600<<10)); v["error"] != nil || s.Bytes() != 600<<10 {
		t.Errorf("%v: %d bytes", v, s.Bytes())
	}
	if v, _ := ask(t, s, map[string]any{"do": "put", "name": "g", "key": "a"}, make([]byte, 600<<10)); v["error"] == nil {
		t.Error("two folders together are larger than a session")
	}
	ask(t, s, map[string]any{"do": "bundle", "name": "f"}, nil)
	if s.Bytes() != 0 {
		t.Errorf("%d bytes are left of a folder", s.Bytes())
	}
	long := append(pngOf(t, 8, 8), make([]byte, 700<<10)...)
	v, _ := ask(t, s, map[string]any{"do": "open", "name": "a.png"}, long)
	if v["error"] != nil || s.Bytes() < int64(len(long)) {
		t.Errorf("%v: %d bytes of %d are counted", v, s.Bytes(), len(long))
	}
	if v, _ := ask(t, s, map[string]any{"do": "open", "name": "b.png"}, long); v["error"] == nil {
		t.Error("two files together are larger than a session")
	}
	ask(t, s, map[string]any{"do": "close", "doc": v["id"]}, nil)
	if s.Bytes() != 0 {
		t.Errorf("%d bytes are left", s.Bytes())
	}
}

// TestMosaic opens many files as one image.
func TestMosaic(t *testing.T) {
	dir := t.TempDir()
	for name, pixels := range map[string]string{"t_0_0.pgm": "\x01\x02\x03\x04", "t_0_1.pgm": "\x05\x06\x07\x08"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("P5 2 2 255\n"+pixels), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	d, err := OpenFile(t.Context(), filepath.Join(dir, "t_{row}_{column}.pgm"))
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if i := d.Info(); i.Width != 4 || i.Height != 2 || i.Format != "mosaic" {
		t.Errorf("it is %+v", i)
	}
	s := NewSession(&Library{Documents: []Document{d}}, Usual)
	v, _ := ask(t, s, map[string]any{"do": "boxes", "doc": 0, "boxes": [][]int{{1, 0, 3, 2}}}, nil)
	if text := fmt.Sprint(v); !strings.Contains(text, "18") { // 2 + 4 + 5 + 7
		t.Error(text)
	}
	if _, err := OpenFile(t.Context(), filepath.Join(dir, "u_{row}_{column}.pgm")); err == nil {
		t.Error("there are no such files")
	}
}

// TestSecretsOfURLs tests that no credentials in a URL are shown.
func TestSecretsOfURLs(t *testing.T) {
	var seen string
	zarr.Register("secretive", func(_ context.Context, u *url.URL, _ bool) (zarr.Bucket, error) {
		b := zarr.Memory()
		a := array(t, b, "", zarr.Uint8, 3, []int{4, 4}, []int{4, 4})
		seen = u.RawQuery
		return b, a.Close()
	})
	d, err := OpenFile(t.Context(), "secretive://me:SECRET@host/a.zarr?sig=SECRET")
	if err != nil || d.Info().Name != "a.zarr" || d.(*picture).source != "secretive://host/a.zarr" || seen != "sig=SECRET" {
		t.Errorf("%v, %v, %q", d, err, seen)
	}
}
