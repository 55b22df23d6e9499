package sources

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/internal/ref"
	"github.com/boxsum/boxsum/zarr"
)

// makeTIFFs writes files with tifffile, and the elements of each to another file.
const makeTIFFs = `
import sys, numpy as np, tifffile
try:
    import imagecodecs
    packs = [None, "zlib", "lzw", "zstd", "packbits"]
except ImportError:
    packs = [None, "zlib"]
rng, n = np.random.default_rng(1), 0
for big in (False, True):
    for tile in (None, (32, 48)):
        for pack in packs:
            for dtype, shape, order in (("u1", (70, 101), "<"), ("u2", (70, 101, 3), ">"), ("f4", (33, 50), ">"), ("i2", (33, 50), "<"), ("u8", (20, 30), "<")):
                a = rng.integers(0, 200, shape).astype(dtype)
                for predictor in (False, True):
                    if predictor and (pack is None or dtype in ("f4", "u8")):
                        continue
                    kw = {"rowsperstrip": 16} if tile is None else {"tile": tile}
                    if len(shape) == 3:
                        kw["photometric"] = "rgb"
                    if len(shape) == 3 and big:
                        kw["planarconfig"] = "separate"
                        tifffile.imwrite(f"{sys.argv[1]}/{n}.tif", np.moveaxis(a, -1, 0), bigtiff=big, byteorder=order, compression=pack, predictor=predictor, **kw)
                        a.tofile(f"{sys.argv[1]}/{n}.bin")
                        n += 1
                        kw["planarconfig"] = "contig"
                    tifffile.imwrite(f"{sys.argv[1]}/{n}.tif", a, bigtiff=big, byteorder=order, compression=pack, predictor=predictor, **kw)
                    a.tofile(f"{sys.argv[1]}/{n}.bin")
                    n += 1
print(n)
`

func TestTIFF(t *testing.T) {
	name := ref.Python(t) // scikit-image brings tifffile
	dir := t.TempDir()
	if out, err := exec.Command(name, "-c", makeTIFFs, dir).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	files, _ := filepath.Glob(dir + "/*.tif")
	if len(files) < 20 {
		t.Fatalf("%d files", len(files))
	}
	for _, file := range files {
		want, _ := os.ReadFile(strings.TrimSuffix(file, ".tif") + ".bin")
		a, err := OpenTIFF(ctx, file)
		if err != nil {
			t.Errorf("%s: %v", file, err)
			continue
		}
		got := raster.Aligned(len(want))
		if err := a.ReadBytes(ctx, got, make([]int, len(a.Shape())), a.Shape()); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s of shape %v is read otherwise than written: %v", file, a.Shape(), err)
		}
		if height := TableHeight(t, a); height != a.Shape()[0] {
			t.Errorf("%s: a table of %d rows", file, height)
		}
		a.Close()
		data, _ := os.ReadFile(file)
		os.WriteFile(file, data[:len(data)/2], 0o666)
		if a, err := OpenTIFF(ctx, file); err == nil {
			if err := a.ReadBytes(ctx, got, make([]int, len(a.Shape())), a.Shape()); err == nil {
				t.Errorf("%s is cut off, and no error", file)
			}
			a.Close()
		}
	}
	os.WriteFile(dir+"/no.tif", []byte("this is something else"), 0o666)
	if _, err := OpenTIFF(ctx, dir+"/no.tif"); !errors.Is(err, zarr.ErrFormat) {
		t.Error(err)
	}
}

// TestTIFFEntries tests that unused entries take no memory, that duplicate entries are an error, and that a file that was truncated yields no pixels.
func TestTIFFEntries(t *testing.T) {
	order := binary.LittleEndian
	file := func(entries ...[3]uint32) []byte { // tag, count and value of bytes or a LONG
		data := order.AppendUint16([]byte("II*\x00\x08\x00\x00\x00"), uint16(len(entries)))
		for _, e := range entries {
			data = order.AppendUint16(data, uint16(e[0]))
			data = order.AppendUint16(data, map[bool]uint16{true: 4, false: 1}[e[1] == 1])
			data = order.AppendUint32(order.AppendUint32(data, e[1]), e[2])
		}
		return append(data, make([]byte, 1024)...)
	}
	image := [][3]uint32{{256, 1, 4}, {257, 1, 4}, {258, 1, 8}, {273, 1, 8}, {279, 1, 16}}
	parse := func(entries ...[3]uint32) (*tiff, error) {
		data := file(append(image[:len(image):len(image)], entries...)...)
		return parseTIFF(bytes.NewReader(data), int64(len(data)))
	}
	if _, err := parse([3]uint32{700, 1 << 24, 0}, [3]uint32{700, 1 << 24, 0}); err != nil { // their values are not even in the file
		t.Error(err)
	}
	for _, e := range [][3]uint32{{256, 1, 4}, {273, 1, 8}, {277, 1000, 0}} {
		if _, err := parse(e); !errors.Is(err, zarr.ErrFormat) {
			t.Errorf("%v: %v", e, err)
		}
	}
	for value, want := range map[uint32]byte{'7': 7, '2' | '5'<<8 | '5'<<16: 255, 'x': 0} { // a missing strip has the no-data value
		sparse := slices.Clone(image)
		sparse[4][2] = 0
		data := file(append(sparse, [3]uint32{42113, 4, value})...)
		parsed, err := parseTIFF(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := parsed.tile(0, 0, 0); (err == nil) != (value != 'x') || err == nil && got[5] != want {
			t.Errorf("no data is %x: %v, %v", value, got, err)
		}
	}
	whole, err := parse()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := whole.tile(0, 0, 0); err != nil {
		t.Error(err)
	}
	whole.file = bytes.NewReader(file(image...)[:20])
	if _, err := whole.tile(0, 0, 0); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("a file that was cut off after it was opened: %v", err)
	}
}

func FuzzTIFF(f *testing.F) {
	f.Add([]byte("II*\x00\x08\x00\x00\x00\x05\x00\x00\x01\x03\x00\x01\x00\x00\x00\x02\x00\x00\x00\x01\x01\x03\x00\x01\x00\x00\x00\x02\x00\x00\x00\x02\x01\x03\x00\x01\x00\x00\x00\x08\x00\x00\x00\x11\x01\x04\x00\x01\x00\x00\x00\x08\x00\x00\x00\x17\x01\x04\x00\x01\x00\x00\x00\x04\x00\x00\x00"))
	f.Fuzz(func(t *testing.T, data []byte) {
		file, err := parseTIFF(bytes.NewReader(data), int64(len(data)))
		if err != nil || file.chunk[0]*file.chunk[1]*file.samples > 1<<22 {
			return
		}
		file.tile(0, 0, 0)
		file.tile(file.counts[0]-1, file.counts[1]-1, 0)
	})
}
