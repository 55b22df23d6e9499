package sources

import (
	"context"
	"math/rand/v2"
	"os/exec"
	"strings"
	"testing"

	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/internal/ref"
	"github.com/boxsum/boxsum/zarr"
)

var ctx = context.Background()

// python runs the script that uses rasterio.
func python(t *testing.T, what, dir string) string {
	t.Helper()
	out, err := exec.Command(ref.Stores(t), "testdata/mosaic.py", what, dir).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return strings.TrimSpace(string(out))
}

// noise returns n random bytes.
func noise(n int, seed uint64) []byte {
	random := rand.New(rand.NewPCG(seed, 5))
	b := raster.Aligned(n)
	for i := range b {
		b[i] = byte(random.Uint32())
	}
	return b
}

// copyBox copies a box of elements of an array of this shape, one by one.
func copyBox(dst, src []byte, shape, at, box []int, size int) {
	for i := range raster.Product(box) {
		from, stride, rest := 0, 1, i
		for d := len(box) - 1; d >= 0; d-- {
			from += (at[d] + rest%box[d]) * stride
			stride *= shape[d]
			rest /= box[d]
		}
		copy(dst[i*size:(i+1)*size], src[from*size:])
	}
}

// objects lists the objects in the bucket of an array, with their sizes and versions.
func objects(t *testing.T, a *zarr.Array) string {
	t.Helper()
	var all strings.Builder
	all.Write(a.Metadata())
	if err := a.List(ctx, func(o zarr.Object) error {
		all.WriteString(o.Key + " " + o.Version + "\n")
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return all.String()
}
