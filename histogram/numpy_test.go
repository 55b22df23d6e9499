package histogram_test

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/histogram"
	"github.com/boxsum/boxsum/internal/ref"
)

// TestNumPy compares counts and edges with NumPy's, bit for bit, for values on,
// next to and beyond edges.
func TestNumPy(t *testing.T) {
	p := ref.StartPython(t, "testdata/edges.py")
	rng := rand.New(rand.NewPCG(7, 8))
	hundredths := make([]float64, 100)
	for i := range hundredths {
		hundredths[i] = float64(i) / 100
	}
	for _, bins := range []int{2, 3, 7, 10, 20, 30, 100, 256} {
		ranges := [][2]float64{{0, 1}, {0, 0.1}, {-0.3, 0.7}, {0.1, 0.9}, {0, 255}, {-1e-3, 1e6}, {1e300, 1.1e300}}
		for range 12 {
			low := math.Ldexp(rng.Float64()-0.5, rng.IntN(40)-20)
			ranges = append(ranges, [2]float64{low, low + math.Ldexp(1+rng.Float64(), rng.IntN(30)-10)})
		}
		for _, r := range ranges {
			b := histogram.Bins{N: bins, Low: r[0], High: r[1]}
			testNumPy[float64](t, p, b, append(around[float64](b, rng), hundredths...))
			if single(b) {
				testNumPy[float32](t, p, b, append(around[float32](b, rng), hundredths...))
			}
			if r[0] >= 0 && r[1] < math.MaxUint32 {
				testNumPy[uint32](t, p, b, around[uint32](b, rng))
			}
		}
	}
}

// single reports whether float32 can tell the edges apart, which NumPy requires.
func single(b histogram.Bins) bool {
	for i := range b.N {
		if float32(b.Edge(i)) >= float32(b.Edge(i+1)) {
			return false
		}
	}
	return b.High < math.MaxFloat32
}

// around returns values on every edge of bins and next to it, and random ones.
func around[P boxsum.Pixel](b histogram.Bins, rng *rand.Rand) (values []float64) {
	b, err := histogram.Over[P](b)
	if err != nil {
		panic(err)
	}
	for i := range b.N + 1 {
		edge := b.Edge(i)
		values = append(values, edge, math.Nextafter(edge, math.Inf(-1)), math.Nextafter(edge, math.Inf(1)))
		values = append(values, float64(math.Nextafter32(float32(edge), 0)), b.Low+(b.High-b.Low)*(1.5*rng.Float64()-0.25))
	}
	return values
}

func testNumPy[P boxsum.Pixel](t *testing.T, py ref.Script, b histogram.Bins, values []float64) {
	t.Helper()
	pixels := make([]P, len(values))
	for i, v := range values {
		if P(1)/2 == 0 {
			v = min(max(v, 0), math.MaxUint32)
		}
		pixels[i] = P(v)
	}
	table, err := histogram.Integrate(boxsum.Image[P]{Pix: pixels, Width: len(pixels), Height: 1}, b, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, p := range pixels[:b.N] {
		want := make([]uint32, b.N)
		if at := table.Bins.Index(float64(p)); at >= 0 {
			want[at] = 1
		}
		before, after := table.At(i, 1, 0), table.At(i+1, 1, 0)
		for k := range want {
			if after[k]-before[k] != want[k] {
				t.Fatalf("%T %v is not counted in bin %d of %+v", p, p, table.Bins.Index(float64(p)), table.Bins)
			}
		}
	}
	got := slices.Collect(func(yield func(int64) bool) {
		for _, n := range table.Histogram(nil, table.Bounds(), 0) {
			if !yield(int64(n)) {
				return
			}
		}
	})
	edges := make([]float64, b.N+1)
	for i := range edges {
		edges[i] = table.Bins.Edge(i)
	}
	fmt.Fprintln(py.In, reflect.TypeFor[P](), len(pixels), b.N, b.Low, b.High)
	if err := binary.Write(py.In, binary.NativeEndian, pixels); err != nil {
		t.Fatal(err)
	}
	counts, theirs := make([]int64, b.N), make([]float64, b.N+1)
	for _, to := range []any{counts, theirs} {
		if err := binary.Read(py.Out, binary.NativeEndian, to); err != nil {
			t.Fatal(err)
		}
	}
	if !slices.Equal(edges, theirs) {
		t.Fatalf("%T, %+v: the edges are %v, NumPy has %v", *new(P), b, edges, theirs)
	}
	if !slices.Equal(got, counts) {
		t.Fatalf("%T, %+v: the counts are %v, NumPy has %v", *new(P), b, got, counts)
	}
}
