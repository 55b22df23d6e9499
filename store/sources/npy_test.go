package sources

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/internal/ref"
	"github.com/boxsum/boxsum/zarr"
)

// TestNPY compares files with what NumPy reads.
func TestNPY(t *testing.T) {
	for _, spec := range []*zarr.Spec{
		{Type: zarr.Uint8, Shape: []int{50, 30}, Chunk: []int{16, 16}, Compression: "zstd"},
		{Type: zarr.Int16, Shape: []int{50, 30, 3}, Chunk: []int{16, 30, 2}},
		{Type: zarr.Float64, Shape: []int{7}, Chunk: []int{3}, BigEndian: true},
		{Type: zarr.Uint64, Shape: []int{}, Chunk: []int{}},
		{Type: zarr.Bool, Shape: []int{5, 0}, Chunk: []int{2, 2}},
	} {
		data := noise(raster.Product(spec.Shape)*spec.Type.Size(), 9)
		if spec.Type == zarr.Bool {
			clear(data)
		}
		src, err := zarr.Create(ctx, zarr.Memory(), "", spec)
		if err == nil {
			err = src.WriteBytes(ctx, data, make([]int, len(spec.Shape)), spec.Shape)
		}
		if err != nil {
			t.Fatal(err)
		}
		var file bytes.Buffer
		if err := WriteNPY(ctx, &file, src, nil); err != nil {
			t.Fatal(err)
		}
		got := file.Bytes()
		n := 10 + int(got[8]) + int(got[9])<<8
		if n%64 != 0 || !bytes.Equal(got[n:], data) {
			t.Errorf("%v: %d bytes after a header of %d", spec.Shape, len(got)-n, n)
		}
		t.Run(fmt.Sprintf("NumPy reads %v", spec.Shape), func(t *testing.T) {
			name := ref.Stores(t)
			path := filepath.Join(t.TempDir(), "x.npy")
			os.WriteFile(path, got, 0o666)
			out, err := exec.Command(name, "-c", "import numpy, sys; a = numpy.load(sys.argv[1]); print(a.dtype, list(a.shape), a.nbytes)", path).CombinedOutput()
			want := fmt.Sprintln(spec.Type, strings.ReplaceAll(fmt.Sprint(spec.Shape), " ", ", "), len(data))
			if err != nil || string(out) != want {
				t.Errorf("NumPy reads %s, want %s: %v", out, want, err)
			}
		})
	}
}
