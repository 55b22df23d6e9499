package kernel

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// Every level makes what portable Go makes, of any number of windows, and writes nowhere
// else than in the slack.
func TestCascade(t *testing.T) {
	rng := rand.New(rand.NewPCG(19, 5))
	const places, most = 4096, 300
	table := make([]uint32, places+256)
	for i := range table {
		table[i] = rng.Uint32() % 100000
	}
	haar, lbp := make([]HaarNode, 7), make([]LBPNode, 5)
	for k := range haar {
		n := &haar[k]
		for i := range n.Corners {
			n.Corners[i] = rng.Int32N(200)
		}
		for i := range n.Weights {
			n.Weights[i] = rng.Float32()*4 - 2
		}
		n.Threshold, n.Leaves, n.Boxes = rng.Float32()*200-100, [2]float32{rng.Float32(), -rng.Float32()}, 2+int32(k)%2
	}
	for k := range lbp {
		n := &lbp[k]
		for i := range n.Corners {
			n.Corners[i] = rng.Int32N(200)
		}
		for i := range n.Subset {
			n.Subset[i] = rng.Uint32()
		}
		n.Leaves = [2]float32{rng.Float32(), -rng.Float32()}
	}
	norm := HaarNorm{Area: 324}
	for i := range norm.Sum {
		norm.Sum[i], norm.Squares[i] = rng.Int32N(200), rng.Int32N(200)
	}
	norm.SetContrast(10)
	for range 40 {
		n := 1 + rng.IntN(most)
		norms, at := make([]float32, n, n+64), make([]int32, n, n+64)
		for i := range norms {
			norms[i], at[i] = rng.Float32()*0.01, rng.Int32N(places)
		}
		from := rng.IntN(places - most - 64)
		left, right := make([]float32, n, n+64), make([]float32, n, n+64)
		for i := range left {
			left[i], right[i] = rng.Float32(), rng.Float32()
		}
		type made struct {
			sums   []float64
			values []float32
			bits   []uint64
		}
		run := func(level Level) (m made) {
			for _, list := range [][]int32{nil, at} {
				table := table
				if list == nil {
					table = table[from:]
				}
				sums := make([]float64, n, n+64)
				HaarStumps(level, sums, haar, table, list, norms)
				LBPStumps(level, sums, lbp, table, list)
				for k := range haar[:4] {
					dst := make([]float32, n, n+64)
					l, r := left, right
					if k%2 == 0 {
						l = nil
					}
					if k/2 == 0 {
						r = nil
					}
					HaarSplit(level, dst, &haar[k+2], table, list, norms, l, r)
					AddLeaves(level, sums, dst)
					m.values = append(m.values, dst...)
				}
				bits := make([]uint64, (n+63)/64)
				Passed(level, bits, sums, 0.5)
				m.bits = append(m.bits, bits...)
				m.sums = append(m.sums, sums...)
			}
			dst := make([]float32, n, n+64)
			HaarNorms(level, dst, &norm, table[from:])
			bits := make([]uint64, (n+63)/64)
			Flat(level, bits, dst)
			m.values, m.bits = append(m.values, dst...), append(m.bits, bits...)
			return m
		}
		want := run(Portable)
		for _, level := range Levels() {
			if got := run(level); !slices.Equal(got.sums, want.sums) || !slices.Equal(got.values, want.values) || !slices.Equal(got.bits, want.bits) {
				t.Fatalf("level %v, %d windows: not what portable Go makes", level, n)
			}
		}
	}
}

// Rows of layers and tables are the same at every level.
func TestCascadeRows(t *testing.T) {
	rng := rand.New(rand.NewPCG(19, 6))
	for range 60 {
		src, n := 2+rng.IntN(200), 1+rng.IntN(150)
		a, b := make([]uint8, src), make([]uint8, src)
		for i := range a {
			a[i], b[i] = uint8(rng.Uint32()), uint8(rng.Uint32())
		}
		places, parts := make([]int32, n), make([]uint32, n)
		for i := range places {
			part := rng.Uint32N(257)
			places[i], parts[i] = rng.Int32N(int32(src)), 256-part|part<<16
		}
		part, half := rng.IntN(257), rng.IntN(2)*((n+2)/2+16)
		run := func(level Level) (all []uint32) {
			row, pix := make([]int16, src+16), make([]uint8, n+16)
			BlendRows(level, row[:src], a, b, part)
			BlendColumns(level, pix[:n], row, places, parts)
			for _, guard := range pix[n:] {
				all = append(all, uint32(guard))
			}
			size := 2*half + n + 2
			above := make([]uint32, 2*size)
			for i := range above {
				above[i] = uint32(i * 7919)
			}
			out := make([]uint32, 2*size)
			CascadeRow(level, out[:size], out[size:], above[:size], above[size:], pix[:n], half)
			for _, p := range pix[:n] {
				all = append(all, uint32(p))
			}
			return append(all, out...)
		}
		want := run(Portable)
		for _, level := range Levels() {
			if got := run(level); !slices.Equal(got, want) {
				t.Fatalf("level %v, %d pixels of %d, half %d: not what portable Go makes", level, n, src, half)
			}
		}
	}
}
