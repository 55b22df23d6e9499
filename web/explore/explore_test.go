package explore

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/imgio"
	"github.com/boxsum/boxsum/internal/pixels"
	"github.com/boxsum/boxsum/internal/ref"
	"github.com/boxsum/boxsum/store"
	"github.com/boxsum/boxsum/zarr"
)

// TestHistogram compares histograms and medians of boxes with their pixels, for all types.
func TestHistogram(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	const w, h = 301, 207
	bytesOf := boxsum.Image[uint8]{Pix: make([]uint8, w*h*2), Stride: w * 2, Width: w, Height: h, Channels: 2}
	words := boxsum.Image[uint16]{Pix: make([]uint16, w*h), Stride: w, Width: w, Height: h, Channels: 1}
	reals := boxsum.Image[float32]{Pix: make([]float32, w*h), Stride: w, Width: w, Height: h, Channels: 1}
	for i := range bytesOf.Pix {
		bytesOf.Pix[i] = uint8(rnd.IntN(256))
	}
	for i := range words.Pix {
		words.Pix[i], reals.Pix[i] = uint16(rnd.IntN(5000)), float32(rnd.NormFloat64())
	}
	for _, img := range []any{bytesOf, words, reals} {
		p, err := newPlane(context.Background(), pixels.Of(img))
		if err != nil {
			t.Fatal(err)
		}
		for range 50 {
			box := image.Rect(rnd.IntN(w+20)-10, rnd.IntN(h+20)-10, rnd.IntN(w+20)-10, rnd.IntN(h+20)-10)
			_, _, channels := p.size()
			for c := range channels {
				got := p.histogram(box, c)
				var values []float64
				in := box.Intersect(image.Rect(0, 0, w, h))
				for y := in.Min.Y; y < in.Max.Y; y++ {
					for x := in.Min.X; x < in.Max.X; x++ {
						switch m := img.(type) {
						case boxsum.Image[uint8]:
							values = append(values, float64(m.Pix[y*m.Stride+x*2+c]))
						case boxsum.Image[uint16]:
							values = append(values, float64(m.Pix[y*m.Stride+x]))
						case boxsum.Image[float32]:
							values = append(values, float64(m.Pix[y*m.Stride+x]))
						}
					}
				}
				slices.Sort(values)
				var want any
				if len(values) > 0 {
					want = values[(len(values)-1)/2]
				}
				if fmt.Sprint(got.Median) != fmt.Sprint(want) {
					t.Fatalf("%T: the median of %v is %v, want %v", img, box, got.Median, want)
				}
				sum := 0
				for _, n := range got.Counts {
					sum += int(n)
				}
				if sum != len(values) {
					t.Fatalf("%T: %v has %d pixels, want %d", img, box, sum, len(values))
				}
			}
		}
	}
}

// TestFarFromZero draws images whose tables have an offset: tiles show the means of their pixels, the table shows the sums
// from the corner, and the entries of a box add up to its sum.
func TestFarFromZero(t *testing.T) {
	const w, h, level = 96, 64, 2
	rnd := rand.New(rand.NewPCG(5, 6))
	for _, missing := range []bool{false, true} {
		img := boxsum.Image[float32]{Pix: make([]float32, w*h), Stride: w, Width: w, Height: h, Channels: 1}
		for i := range img.Pix {
			if img.Pix[i] = 1000 + rnd.Float32(); missing && i%7 == 3 {
				img.Pix[i] = float32(math.NaN())
			}
		}
		p, err := newPlane(context.Background(), pixels.Of(img))
		if err != nil {
			t.Fatal(err)
		}
		if p.sums.Offset == 0 || p.missing != missing {
			t.Fatalf("offset %v, missing %v", p.sums.Offset, p.missing)
		}
		sum := func(b image.Rectangle) (sum float64, n int) {
			for y := b.Min.Y; y < b.Max.Y; y++ {
				for _, v := range img.Pix[y*w+b.Min.X : y*w+b.Max.X] {
					if v == v {
						sum, n = sum+float64(v), n+1
					}
				}
			}
			return sum, n
		}
		all, _ := sum(image.Rect(0, 0, w, h))
		tiles, heat := make([]uint8, w*h>>4), make([]uint8, w*h>>4)
		low, high, _ := p.bounds()
		shown := tile{w: w >> level, h: h >> level, level: level, low: low, scale: 255 / (high - low)}
		p.tile(tiles, shown, 0)
		p.heat(heat, shown, 0)
		for y := range h >> level {
			for x := range w >> level {
				s, n := sum(image.Rect(x<<level, y<<level, (x+1)<<level, (y+1)<<level))
				if got, want := tiles[y*w>>level+x], shade(s/float64(n), shown); max(got, want)-min(got, want) > 1 {
					t.Fatalf("missing %v: tile pixel %d, %d is %d, want %d", missing, x, y, got, want)
				}
				s, _ = sum(image.Rect(0, 0, x<<level, y<<level))
				if got, want := heat[y*w>>level+x], uint8(255*s/all); max(got, want)-min(got, want) > 1 {
					t.Fatalf("missing %v: entry %d, %d is drawn as %d, want %d", missing, x, y, got, want)
				}
			}
		}
		a := p.box(image.Rect(10, 20, 70, 50), 0)
		var want, got float64
		fmt.Sscan(a.Sum, &want)
		for _, e := range a.Entries {
			var v float64
			fmt.Sscan(e.Value, &v)
			got += float64(e.Sign) * v
		}
		if math.Abs(got-want) > 1e-6*want {
			t.Errorf("missing %v: the entries give %v, want %v", missing, got, want)
		}
	}
}

// TestTiles compares tiles at every zoom with means of the pixels they show.
func TestTiles(t *testing.T) {
	img := imgio.Demo(333, 217)
	s := NewSession(nil, Usual)
	var b bytes.Buffer
	if err := imgio.Encode(&b, "png", img); err != nil {
		t.Fatal(err)
	}
	ask(t, s, map[string]any{"do": "open", "name": "a.png"}, b.Bytes())
	for level := range 9 {
		n := 1 << level
		for ty := 0; ty*64*n < img.Height; ty++ {
			for tx := 0; tx*64*n < img.Width; tx++ {
				v, pix := ask(t, s, map[string]any{"do": "tile", "kind": "plain", "doc": ownFirst, "size": 64, "level": level, "x": tx, "y": ty}, nil)
				if v["error"] != nil {
					t.Fatal(v)
				}
				w := int(v["width"].(float64))
				for i, got := range pix {
					x, y := (tx*64+i%w)*n, (ty*64+i/w)*n
					sum, count := 0, 0
					for yy := y; yy < min(y+n, img.Height); yy++ {
						for xx := x; xx < min(x+n, img.Width); xx++ {
							sum += int(img.Pix[yy*img.Stride+xx])
							count++
						}
					}
					if want := float64(sum) / float64(count); float64(got) < want-0.51 || float64(got) > want+0.51 {
						t.Fatalf("level %d, pixel %d, %d: %d, want %v", level, x, y, got, want)
					}
				}
			}
		}
	}
}

// TestSun detects the sun in the demo picture.
func TestSun(t *testing.T) {
	s := NewSession(&Library{Documents: []Document{Demo()}}, Usual)
	v, _ := ask(t, s, map[string]any{"do": "detect", "cascade": "sun", "scale": 1.1, "neighbors": 3, "least": 100}, nil)
	found, _ := v["found"].([]any)
	if len(found) == 0 {
		t.Fatal(v)
	}
	f := found[0].(map[string]any)
	x, y := f["x"].(float64)+f["width"].(float64)/2, f["y"].(float64)+f["height"].(float64)/2
	if x < 1100 || x > 1280 || y < 350 || y > 510 {
		t.Errorf("the sun is found at %v, %v: %v", x, y, found)
	}
	t.Log(found)
}

// TestStore queries a store with a table, one without, and one that was sent as files.
func TestStore(t *testing.T) {
	ref.SkipRace(t)
	ctx := t.Context()
	dir := t.TempDir()
	const w, h = 5000, 3500
	img := imgio.Demo(w, h)
	from, to := filepath.Join(dir, "image.zarr"), filepath.Join(dir, "table.zarr")
	bucket, err := zarr.OpenBucket(ctx, from, true)
	if err != nil {
		t.Fatal(err)
	}
	a, err := zarr.Create(ctx, bucket, "", &zarr.Spec{Type: zarr.Uint8, Shape: []int{h, w}, Chunk: []int{512, 512}, Compression: "zstd"})
	if err != nil {
		t.Fatal(err)
	}
	if err := zarr.Write(ctx, a, img.Pix, []int{0, 0}, []int{h, w}); err != nil {
		t.Fatal(err)
	}
	bucket.Close()
	if err := store.Integrate(ctx, from, to, &store.Options{Squares: true}); err != nil {
		t.Fatal(err)
	}
	table, err := boxsum.IntegrateSquares[uint64, uint64](img, nil)
	if err != nil {
		t.Fatal(err)
	}
	var docs []Document
	for _, name := range []string{from, to} {
		d, err := OpenFile(ctx, name)
		if err != nil {
			t.Fatal(err)
		}
		defer d.Close()
		docs = append(docs, d)
	}
	alone, err := OpenFile(ctx, from)
	if err != nil {
		t.Fatal(err)
	}
	defer alone.Close()
	paired := WithTables(ctx, docs)
	if len(paired) != 1 {
		t.Fatalf("an image and its table are %d documents", len(paired))
	}
	s := NewSession(&Library{Documents: []Document{paired[0], alone}}, Usual)
	for _, b := range [][]int{{0, 0, w, h}, {17, 19, 4100, 3300}, {100, 200, 101, 201}, {-5, -5, 10, 10}} {
		box := image.Rect(b[0], b[1], b[2], b[3]).Intersect(image.Rect(0, 0, w, h))
		for doc := range 2 {
			v, _ := ask(t, s, map[string]any{"do": "boxes", "doc": doc, "boxes": [][]int{b}}, nil)
			if v["error"] != nil {
				if doc == 1 && box.Dx()*box.Dy() > maxRegion {
					continue // without a table this is an error
				}
				t.Fatal(v)
			}
			got := v["boxes"].([]any)[0].(map[string]any)
			if got["sum"] != fmt.Sprint(table.Sum.Sum(box)) || got["mean"] != table.Mean(box, 0) || got["std"] != table.StdDev(box, 0) {
				t.Errorf("document %d, %v: %v, want %d, %v, %v", doc, b, got, table.Sum.Sum(box), table.Mean(box, 0), table.StdDev(box, 0))
			}
		}
	}
	for level := range 5 {
		v, pix := ask(t, s, map[string]any{"do": "tile", "kind": "image", "size": 256, "level": level, "x": 0, "y": 0}, nil)
		if v["error"] != nil {
			t.Fatal(v)
		}
		n := 1 << level
		for i := 0; i < len(pix); i += 997 {
			x, y := i%256*n, i/256*n
			want := table.Mean(image.Rect(x, y, x+n, y+n), 0)
			if float64(pix[i]) < want-0.51 || float64(pix[i]) > want+0.51 {
				t.Fatalf("level %d, %d, %d: %d, want %v", level, x, y, pix[i], want)
			}
		}
	}
	if v, pix := ask(t, s, map[string]any{"do": "tile", "kind": "heat", "size": 256, "level": 4, "x": 0, "y": 0}, nil); v["error"] != nil || len(pix) == 0 || pix[0] != 0 {
		t.Errorf("the heat map: %v", v)
	}
	// A small store, sent file by file.
	small := filepath.Join(dir, "small.zarr")
	bucket, _ = zarr.OpenBucket(ctx, small, true)
	a, _ = zarr.Create(ctx, bucket, "", &zarr.Spec{Type: zarr.Uint16, Shape: []int{30, 40}, Chunk: []int{16, 16}, Fill: 7})
	zarr.Write(ctx, a, []uint16{1, 2, 3, 4}, []int{0, 0}, []int{2, 2})
	bucket.Close()
	filepath.WalkDir(small, func(path string, d os.DirEntry, err error) error {
		if !d.IsDir() {
			data, _ := os.ReadFile(path)
			key, _ := filepath.Rel(small, path)
			ask(t, s, map[string]any{"do": "put", "name": "small.zarr", "key": key}, data)
		}
		return err
	})
	v, _ := ask(t, s, map[string]any{"do": "bundle", "name": "small.zarr"}, nil)
	if v["error"] != nil || v["width"] != 40.0 {
		t.Fatal(v)
	}
	v, _ = ask(t, s, map[string]any{"do": "boxes", "doc": v["id"], "boxes": [][]int{{0, 0, 40, 30}}}, nil)
	if got := v["boxes"].([]any)[0].(map[string]any)["sum"]; got != fmt.Sprint(10+7*1196) {
		t.Errorf("the sum of a store that was sent is %v", got)
	}
}
