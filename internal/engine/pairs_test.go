package engine

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/boxsum/boxsum/internal/raster"
	_ "github.com/boxsum/boxsum/internal/ref" // five workers
)

// TestEveryPair compares the tables of every pair in the list, of every kind that
// supports it, with the definition, at every level and number of workers. Pixels
// are small integers, so that floats are exact, too.
func TestEveryPair(t *testing.T) {
	for _, kind := range []struct {
		Kind
		pairs raster.Kinds
	}{{Upright, raster.Upright}, {Tilted, raster.Tilted}, {Volume, raster.Volume}} {
		for _, p := range raster.SumPairs.For(kind.pairs) {
			t.Run(fmt.Sprintf("%d/%v", kind.Kind, p), func(t *testing.T) { testPair(t, kind.Kind, p, 0) })
			for _, square := range raster.SquarePairs.For(kind.pairs).Of(p.Pixel) {
				t.Run(fmt.Sprintf("%d/%v+%v", kind.Kind, p, square.Short()), func(t *testing.T) { testPair(t, kind.Kind, p, square) })
			}
		}
	}
}

func testPair(t *testing.T, kind Kind, p raster.Pair, square raster.Type) {
	rng := rand.New(rand.NewPCG(uint64(p.Pixel), uint64(p.Sum)))
	for _, size := range [][4]int{{1, 1, 1, 1}, {5, 4, 3, 2}, {67, 9, 2, 1}, {19, 13, 3, 3}} {
		e := raster.PlaneExtent(size[0], size[1], size[3], 0)
		if kind == Volume {
			e = raster.VolumeExtent(size[0], size[1], size[2], size[3], 0, 0)
		}
		src := raster.Array{Data: make([]byte, size[0]*size[1]*size[2]*size[3]*p.Pixel.Bytes()), Type: p.Pixel, Extent: e}
		if err := src.Pixels(src.Len()); err != nil {
			t.Fatal(err)
		}
		for i := range src.Len() {
			v := rng.Int64N(100)
			if p.Pixel.Signed() {
				v -= 50
			}
			numbers[p.Pixel].set(src.Data, i, v)
		}
		sums, squares := entries(kind, &src, 1), entries(kind, &src, 2)
		for _, level := range Levels() {
			for _, workers := range []int{1, 3} {
				job := Job{Kind: kind, Src: src, Options: Options{Level: level, Workers: workers}, Plain: true}
				job.Sums.Type, job.Squares.Type = p.Sum, square
				if err := job.Check(); err != nil {
					t.Fatal(err)
				}
				for _, dst := range []*Table{&job.Sums, &job.Squares} {
					dst.Extent = e
					if dst.Type != 0 {
						dst.Data = make([]byte, len(sums)*dst.Type.Bytes())
					}
				}
				if err := job.Run(); err != nil {
					t.Fatal(err)
				}
				what := fmt.Sprintf("%v, %s, %d workers", e, level, workers)
				if err := same(&job.Sums, sums); err != nil {
					t.Fatalf("%s: %v", what, err)
				}
				if square == 0 {
					continue
				}
				if err := same(&job.Squares, squares); err != nil {
					t.Fatalf("%s: squares: %v", what, err)
				}
			}
		}
	}
}

// same compares all entries of a table without gaps.
func same(table *Table, want []float64) error {
	for i, w := range want {
		if got := numbers[table.Type].get(table.Data, i); got != w {
			return fmt.Errorf("entry %d is %v, want %v", i, got, w)
		}
	}
	return nil
}

// entries returns the entries of the table of pixels raised to a power, in order.
func entries(kind Kind, src *raster.Array, power int) (all []float64) {
	slices := 1
	if kind == Volume {
		slices = src.Depth + 1
	}
	for z := range slices {
		for y := range src.Height + 1 {
			for x := range src.Width + 1 {
				for c := range src.Channels {
					all = append(all, entry(kind, src, x, y, z, c, power))
				}
			}
		}
	}
	return all
}

// entry returns an entry of a table by its definition.
func entry(kind Kind, src *raster.Array, x, y, z, channel, power int) (sum float64) {
	slices := 1
	if kind == Volume {
		slices = z
	}
	for pz := range slices {
		for py := range y {
			first, last := 0, x
			if kind == Tilted {
				reach := y - 1 - py
				first, last = max(0, x-1-reach), min(src.Width, x+reach)
			}
			for px := first; px < last; px++ {
				v := numbers[src.Type].get(src.Data, pz*src.SliceStride+py*src.Stride+px*src.Channels+channel)
				if power == 2 {
					v *= v
				}
				sum += v
			}
		}
	}
	return sum
}

// numbers holds, for each element type, functions that set and get an element.
var numbers = [raster.NumTypes]struct {
	set func(data []byte, i int, v int64)
	get func(data []byte, i int) float64
}{
	raster.U8:  {set[uint8], get[uint8]},
	raster.U16: {set[uint16], get[uint16]},
	raster.U32: {set[uint32], get[uint32]},
	raster.U64: {set[uint64], get[uint64]},
	raster.I16: {set[int16], get[int16]},
	raster.I32: {set[int32], get[int32]},
	raster.I64: {set[int64], get[int64]},
	raster.F32: {set[float32], get[float32]},
	raster.F64: {set[float64], get[float64]},
}

func set[T raster.Number](data []byte, i int, v int64) { raster.Elems[T](data)[i] = T(v) }
func get[T raster.Number](data []byte, i int) float64  { return float64(raster.Elems[T](data)[i]) }
