package cli

import (
	"bytes"
	"context"
	"io"
	"os"
	"os/exec"
	"testing"

	"github.com/boxsum/boxsum/internal/ref"
)

// bigTIFFs has tifffile write BigTIFF files and an .npy file of the same pixels.
const bigTIFFs = `
import sys, numpy as np, tifffile
a = np.random.default_rng(1).integers(0, 65536, (700, 900)).astype("u2")
np.save(sys.argv[1] + "/a.npy", a)
tifffile.imwrite(sys.argv[1] + "/tiled.tif", a, bigtiff=True, tile=(128, 256), compression="zlib", predictor=True)
tifffile.imwrite(sys.argv[1] + "/strips.tif", a, bigtiff=True, rowsperstrip=33, byteorder=">")
`

// TestBigTIFF has BigTIFF files, tiled and in strips, become arrays and tables in stores: those of the same pixels in an .npy file.
func TestBigTIFF(t *testing.T) {
	python := ref.Python(t)
	dir := t.TempDir()
	if out, err := exec.Command(python, "-c", bigTIFFs, dir).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	ask := func(args ...string) []byte {
		t.Helper()
		var out bytes.Buffer
		if code := run(context.Background(), args, bytes.NewReader(nil), &out, os.Stderr); code != 0 {
			t.Fatalf("boxsum %v left with %d", args, code)
		}
		return out.Bytes()
	}
	boxes := []string{"--box", "0,0,900,700", "--box", "100,130,257,690", "--json"}
	want := ask(append([]string{"query", dir + "/a.npy"}, boxes...)...)
	pixels, err := os.ReadFile(dir + "/a.npy")
	if err != nil {
		t.Fatal(err)
	}
	_, pixels, _ = bytes.Cut(pixels, []byte("\n"))
	for _, name := range []string{"tiled", "strips"} {
		ask("convert", dir+"/"+name+".tif", dir+"/"+name+".zarr", "--chunk", "256")
		ask("convert", dir+"/"+name+".zarr", dir+"/"+name+".npy")
		if got, _ := os.ReadFile(dir + "/" + name + ".npy"); !bytes.HasSuffix(got, pixels) {
			t.Errorf("%s.tif has become other pixels", name)
		}
		ask("integrate", dir+"/"+name+".tif", "-o", dir+"/"+name+"-table.zarr", "--squares", "--chunk", "256")
		if got := ask(append([]string{"query", dir + "/" + name + "-table.zarr"}, boxes...)...); !bytes.Equal(got, want) {
			t.Errorf("boxes of %s.tif are %s, want %s", name, got, want)
		}
		ask("verify", dir+"/"+name+"-table.zarr", "--source", dir+"/"+name+".tif")
	}
	if code := run(context.Background(), []string{"integrate", dir + "/a.npy", dir + "/tiled.tif", "-o", dir + "/no.zarr"}, bytes.NewReader(nil), io.Discard, io.Discard); code != exitError {
		t.Errorf("files that do not say where they lie: %d", code)
	}
}
