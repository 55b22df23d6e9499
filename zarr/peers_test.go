package zarr

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/boxsum/boxsum/internal/ref"

	"github.com/boxsum/boxsum/internal/raster"
)

// python runs the script that uses zarr-python and TensorStore.
func python(t *testing.T, what, dir string) string {
	t.Helper()
	out, err := exec.Command(ref.Stores(t), "testdata/peers.py", what, dir).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return strings.TrimSpace(string(out))
}

// TestReadsPeers tests that arrays written by zarr-python and TensorStore are read bit for bit, whole and in parts.
func TestReadsPeers(t *testing.T) {
	dir := t.TempDir()
	python(t, "write", dir)
	files, _ := filepath.Glob(filepath.Join(dir, "*.bin"))
	if len(files) < 100 {
		t.Fatalf("only %d arrays", len(files))
	}
	random := rand.New(rand.NewPCG(1, 2))
	for _, file := range files {
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		path := strings.TrimSuffix(file, ".bin")
		for _, end := range []string{".group", ".zip"} {
			if _, err := os.Stat(path + end); err == nil {
				path += end
			}
		}
		name := filepath.Base(path)
		a, err := Open(ctx, path)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		shape := a.Shape()
		got := raster.Aligned(len(want))
		if err := a.readBytes(ctx, got, make([]int, len(shape)), shape, false); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s: other elements", name)
			continue
		}
		if slices.Contains(shape, 0) {
			continue
		}
		for range 5 {
			at, box := make([]int, len(shape)), make([]int, len(shape))
			for i, n := range shape {
				at[i] = random.IntN(n)
				box[i] = 1 + random.IntN(n-at[i])
			}
			size := a.Type().Size()
			part, cut := raster.Aligned(raster.Product(box)*size), raster.Aligned(raster.Product(box)*size)
			if err := a.readBytes(ctx, part, at, box, random.IntN(2) == 0); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			copyBox(cut, box, make([]int, len(box)), want, shape, at, box, size)
			if !bytes.Equal(part, cut) {
				t.Errorf("%s: other elements in %v at %v", name, box, at)
			}
		}
		a.Close()
		if strings.HasSuffix(name, ".group") {
			g, err := OpenGroup(ctx, Folder(path), "")
			if err != nil {
				t.Fatal(err)
			}
			levels, axes, err := g.Levels()
			if err != nil || len(levels) != 2 || levels[1].Path != "1" || !slices.Equal(levels[1].Scale, []float64{3, 3}) || len(axes) != 2 || axes[1].Name != "x" {
				t.Errorf("%s: levels %v, axes %v, %v", name, levels, axes, err)
			}
			if names, err := g.Arrays(ctx); err != nil || !slices.Equal(names, []string{"0", "1"}) {
				t.Errorf("%s: arrays %v, %v", name, names, err)
			}
			if one, err := Open(ctx, filepath.Join(path, "1")); err != nil || !slices.Equal(one.Shape(), []int{25, 30}) {
				t.Errorf("%s: level 1: %v", name, err)
			}
		}
	}
}

// specs returns arrays of all kinds that can be written.
func specs() map[string]*Spec {
	all := map[string]*Spec{}
	for typ := Bool; typ <= Float64; typ++ {
		all["type-"+typ.String()] = &Spec{Type: typ, Shape: []int{37, 29}, Chunk: []int{16, 10}, Compression: "zstd"}
	}
	shape, chunk := []int{50, 60, 3}, []int{5, 10, 3}
	all["raw"] = &Spec{Type: Int32, Shape: shape, Chunk: chunk}
	all["sum"] = &Spec{Type: Float64, Shape: shape, Chunk: chunk, Checksum: true, Names: []string{"y", "x", "c"}, Attributes: map[string]any{"a": 1}}
	all["gzip"] = &Spec{Type: Uint16, Shape: shape, Chunk: chunk, Compression: "gzip", Checksum: true}
	all["blosc"] = &Spec{Type: Uint64, Shape: []int{300, 500}, Chunk: []int{300, 300}, Compression: "blosc", Checksum: true}
	all["blosc4"] = &Spec{Type: Uint32, Shape: []int{1000, 1100}, Chunk: []int{700, 1100}, Compression: "blosc"}
	all["blosc1"] = &Spec{Type: Uint8, Shape: shape, Chunk: chunk, Compression: "blosc"}
	all["bloscshort"] = &Spec{Type: Uint16, Shape: []int{1000}, Chunk: []int{33}, Compression: "blosc", Level: 9}
	for _, name := range []string{"blosc", "blosc4", "blosc1", "bloscshort"} {
		spec := *all[name]
		spec.Compression, spec.Level = "lz4", 0
		all[name+"lz4"] = &spec
	}
	all["best"] = &Spec{Type: Uint16, Shape: shape, Chunk: chunk, Compression: "zstd", Level: 12}
	all["big"] = &Spec{Type: Uint16, Shape: shape, Chunk: chunk, Compression: "zstd", BigEndian: true, Order: []int{2, 0, 1}}
	all["bigraw"] = &Spec{Type: Float32, Shape: shape, Chunk: chunk, BigEndian: true}
	all["shard"] = &Spec{Type: Uint16, Shape: shape, Chunk: chunk, Shard: []int{20, 30, 3}, Compression: "zstd", Checksum: true, Fill: 3}
	all["rawshard"] = &Spec{Type: Uint64, Shape: shape, Chunk: chunk, Shard: []int{20, 60, 3}, Order: []int{1, 2, 0}}
	all["fill"] = &Spec{Type: Float32, Shape: shape, Chunk: chunk, Fill: 2.5}
	all["scalar"] = &Spec{Type: Float32, Shape: []int{}, Chunk: []int{}}
	all["line"] = &Spec{Type: Int8, Shape: []int{1000}, Chunk: []int{64}, Shard: []int{128}, Fill: -3}
	return all
}

// noise returns bytes many of which are equal; bools are 0 and 1.
func noise(n int, t Type, seed uint64) []byte {
	random := rand.New(rand.NewPCG(seed, 5))
	b := raster.Aligned(n)
	for i := range b {
		if b[i] = byte(random.Uint32()); i > n/2 {
			b[i] &= 1
		}
		if t == Bool {
			b[i] &= 1
		}
	}
	return b
}

// TestPeersRead tests that zarr-python and TensorStore read what is written, in folders and zip files.
func TestPeersRead(t *testing.T) {
	ref.SkipRace(t)
	dir := t.TempDir()
	n := 0
	for name, spec := range specs() {
		for _, path := range []string{name, name + "z.zip"} {
			b, err := OpenBucket(ctx, filepath.Join(dir, path), true)
			if err != nil {
				t.Fatal(err)
			}
			a, err := Create(ctx, b, "", spec)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			data := noise(raster.Product(spec.Shape)*spec.Type.Size(), spec.Type, uint64(len(name)))
			if size := spec.Type.Size(); strings.HasPrefix(name, "blosc") { // like sums: noise only in the low bytes
				for i := range data {
					if i%size >= size/2 {
						data[i] = byte(i / size >> 12)
					}
					if i%size == size-1 && size > 1 {
						data[i] = 9 // the same in all elements
					}
				}
			}
			if name == "fill" || name == "shard" || name == "line" { // half of it is not written
				box := slices.Clone(spec.Shape)
				box[0] /= 2
				part := raster.Product(box) * spec.Type.Size()
				fillBytes(data[part:], a.m.fill)
				err = a.WriteBytes(ctx, data[:part], make([]int, len(box)), box)
			} else {
				err = a.WriteBytes(ctx, data, make([]int, len(spec.Shape)), spec.Shape)
			}
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if err := b.Close(); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			again, err := Open(ctx, filepath.Join(dir, path))
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			got := raster.Aligned(len(data))
			if err := again.readBytes(ctx, got, make([]int, len(spec.Shape)), spec.Shape, false); err != nil || !bytes.Equal(got, data) {
				t.Errorf("%s: read otherwise than written: %v", path, err)
			}
			again.Close()
			if err := os.WriteFile(filepath.Join(dir, strings.TrimSuffix(path, ".zip")+".bin"), data, 0o600); err != nil {
				t.Fatal(err)
			}
			n += 2
			if strings.HasSuffix(path, ".zip") {
				n-- // TensorStore does not read zip files
			}
		}
	}
	if got := python(t, "read", dir); got != fmt.Sprint(n) {
		t.Errorf("%s arrays were compared, want %d", got, n)
	}
}
