package zarr

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/boxsum/boxsum/internal/raster"
)

// FuzzMetadata tests that metadata is accepted or refused without a panic, and that small arrays it describes can be read and written.
func FuzzMetadata(f *testing.F) {
	for _, spec := range specs() {
		m, err := spec.metadata()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(m.json(), []byte("chunk"))
	}
	f.Add([]byte(`{"zarr_format":2,"shape":[5,6],"chunks":[2,2],"dtype":"<f4","compressor":{"id":"blosc"},"fill_value":"NaN","order":"F","filters":null}`), []byte{2, 1, 1, 4})
	f.Add([]byte(`{"zarr_format":3,"node_type":"group","attributes":{"ome":{"multiscales":[{"datasets":[{"path":"0"}]}]}}}`), []byte{})
	f.Fuzz(func(t *testing.T, meta, chunk []byte) {
		for _, name := range []string{"zarr.json", ".zarray", ".zgroup"} {
			b := Memory()
			b.Put(ctx, name, meta)
			a, g, err := node(ctx, b, "")
			if err != nil {
				if strings.Contains(err.Error(), "runtime error") {
					t.Fatal(err)
				}
				continue
			}
			if g != nil {
				g.Levels()
				g.Arrays(ctx)
				continue
			}
			small := 1
			for _, n := range append(a.Shape(), a.Object()...) {
				if small *= max(n, 1); small > 1<<12 {
					break
				}
			}
			if small > 1<<12 {
				continue
			}
			if again, err := parseV3(a.m.json()); a.m.version == 3 && (err != nil || again.typ != a.m.typ) {
				t.Fatalf("%s is written as %s: %v", meta, a.m.json(), err)
			}
			place := make([]int, len(a.m.shape))
			b.Put(ctx, a.m.key(place), chunk)
			data := make([]byte, raster.Product(a.m.shape)*a.m.typ.Size())
			a.readBytes(ctx, data, place, a.m.shape, true)
		}
	})
}

// FuzzChunk tests that a damaged chunk gives an error or elements, without more memory than the chunk can need.
func FuzzChunk(f *testing.F) {
	for _, spec := range specs() {
		m, err := spec.metadata()
		if err != nil {
			f.Fatal(err)
		}
		data, err := m.codecs.encode(nil, noise(raster.Product(m.object)*m.typ.Size(), m.typ, 3), m.object)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	for _, name := range blosced(f) {
		data, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	packs := []pack{checksum{}, &zstdPack{}, gzipPack(6), zlibPack{}, lz4Pack{}, &bloscPack{}}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, p := range packs {
			if out, err := p.unpack(nil, data, 1<<14); err == nil && len(out) > max(1<<14, len(data)) {
				t.Fatalf("%T made %d bytes", p, len(out))
			}
		}
		unpackLZ4(make([]byte, 300), data)
		blosclz(make([]byte, 300), data)
		for _, spec := range specs() {
			m, err := spec.metadata()
			if err != nil {
				t.Fatal(err)
			}
			m.codecs.decode(raster.Aligned(raster.Product(m.object)*m.typ.Size()), data, m.object)
		}
	})
}

func blosced(t testing.TB) []string {
	names, err := filepath.Glob("testdata/blosc/*")
	if err != nil || len(names) == 0 {
		t.Fatal("no chunks of blosc")
	}
	return names
}

// TestBlosc decodes chunks that c-blosc wrote, which are stored for machines without it.
func TestBlosc(t *testing.T) {
	for _, name := range blosced(t) {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		out, err := (&bloscPack{}).unpack(nil, data, 2000)
		if err != nil || len(out) != 2000 {
			t.Errorf("%s: %d bytes, %v", name, len(out), err)
			continue
		}
		for i, b := range out {
			if want := byte(i * (i / 3) % 7); b != want {
				t.Errorf("%s: byte %d is %d, want %d", name, i, b, want)
				break
			}
		}
		for n := range data {
			if out, err := (&bloscPack{}).unpack(nil, data[:n], 2000); err == nil {
				t.Fatalf("%s cut to %d bytes gives %d", name, n, len(out))
			}
		}
	}
}

// TestFillNaN tests that a fill value of NaN has the bits that Zarr defines, and is written as NaN again.
func TestFillNaN(t *testing.T) {
	for typ, want := range map[Type]uint64{Float16: 0x7e00, Float32: 0x7fc00000, Float64: 0x7ff8 << 48} {
		fill, err := parseFill(typ, []byte(`"NaN"`))
		if err != nil {
			t.Fatal(err)
		}
		got := uint64(0)
		switch typ {
		case Float16:
			got = uint64(raster.Elems[uint16](fill)[0])
		case Float32:
			got = uint64(math.Float32bits(raster.Elems[float32](fill)[0]))
		default:
			got = math.Float64bits(raster.Elems[float64](fill)[0])
		}
		if got != want {
			t.Errorf("%v: %x, want %x", typ, got, want)
		}
		if again, err := parseFill(typ, fillJSON(typ, fill)); err != nil || !bytes.Equal(again, fill) {
			t.Errorf("%v: %x came back as %x, %v", typ, fill, again, err)
		}
	}
}
