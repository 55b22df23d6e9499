package cascades

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/boxsum/boxsum/internal/kernel/processor"
)

// TestCascade compares every level with portable Go, for any number of windows.
func TestCascade(t *testing.T) {
	rng := rand.New(rand.NewPCG(19, 5))
	const places, most = 4096, 300
	table := make([]uint32, places+256)
	for i := range table {
		table[i] = rng.Uint32() % 100000
	}
	haar, lbp := make([]HaarNode, 9), make([]LBPNode, 5)
	for k := range haar {
		n := &haar[k]
		for i := range n.Corners {
			n.Corners[i] = rng.Int32N(200)
		}
		for i := range n.Weights {
			n.Weights[i] = rng.Float32()*4 - 2
		}
		n.Threshold, n.Delta, n.Boxes, n.Root = rng.Float32()*200-100, rng.Int32N(1000)-500, 2+int32(k)/5, ^uint32(0)
	}
	chains := slices.Clone(haar)
	for k := range chains {
		if k > 0 && rng.IntN(2) == 0 {
			chains[k].Root = 0
		}
		if rng.IntN(2) == 0 {
			chains[k].Flip = ^uint32(0)
		}
		chains[k].Boxes = 2 + rng.Int32N(2)
	}
	for k := range lbp {
		n := &lbp[k]
		for i := range n.Corners {
			n.Corners[i] = rng.Int32N(200)
		}
		for i := range n.Subset {
			n.Subset[i] = rng.Uint32()
		}
		n.Delta = rng.Int32N(1000) - 500
	}
	norm := HaarNorm{Area: 324}
	for i := range norm.Sum {
		norm.Sum[i], norm.Squares[i] = rng.Int32N(200), rng.Int32N(200)
	}
	norm.SetContrast(10)
	sums := StageSums{Base: 100, Fail: 50, Pass: 130}
	seen := uint32(0)
	for range 60 {
		n := 1 + rng.IntN(most)
		from := rng.IntN(places - most - 64)
		groups := func(lanes int) *Groups {
			g := NewGroups(lanes, (n+lanes-1)/lanes)
			g.Resize((n + lanes - 1) / lanes)
			return &g
		}
		all := map[int]*Groups{8: groups(8), 16: groups(16)}
		for _, g := range all {
			for i := range g.Places {
				g.Places[i], g.Alive[i] = rng.Int32N(places-100), rng.Uint32()&(1<<g.Lanes-1)
			}
			for i := range g.Norms {
				g.Norms[i] = rng.Float32() * 0.01
			}
		}
		type made struct {
			results []uint32
			values  []float32
			bits    []uint64
		}
		run := func(level processor.Level, lanes int) (m made) {
			g := all[lanes]
			room := len(g.Places) + 3
			for _, stage := range []func(results []uint32){
				func(r []uint32) { HaarStumps(level, r, g, table, haar, 5, &sums) },
				func(r []uint32) { HaarStumps(level, r, g, table, haar[:3], 3, &sums) },
				func(r []uint32) { HaarStumps(level, r, g, table, haar[6:], 0, &sums) },
				func(r []uint32) { HaarChains(level, r, g, table, chains, &sums) },
				func(r []uint32) { LBPStumps(level, r, g, table, lbp, &sums) },
			} {
				results := make([]uint32, room)
				stage(results[:len(g.Places)])
				m.results = append(m.results, results[:len(g.Places)]...)
			}
			dst := make([]float32, n, n+64)
			HaarNorms(level, dst, &norm, table[from:])
			bits := make([]uint64, (n+63)/64)
			Flat(level, bits, dst)
			m.values, m.bits = append(m.values, dst...), append(m.bits, bits...)
			return m
		}
		for _, lanes := range []int{8, 16} {
			want := run(processor.Portable, lanes)
			for _, level := range processor.Levels() {
				if lanes > LanesOf(level) {
					continue
				}
				if got := run(level, lanes); !slices.Equal(got.results, want.results) || !slices.Equal(got.values, want.values) || !slices.Equal(got.bits, want.bits) {
					t.Fatalf("level %v, %d windows in groups of %d: not what portable Go makes", level, n, lanes)
				}
			}
			for _, r := range want.results {
				seen |= r | (r&^(r>>16)&1)<<30
			}
		}
	}
	if seen>>30&1 == 0 || seen&1 == 0 || seen>>16&1 == 0 {
		t.Errorf("no window passes, or none is in doubt: %#x", seen)
	}
}

// TestCascadeRows checks that rows of layers and of tables are the same at every level.
func TestCascadeRows(t *testing.T) {
	rng := rand.New(rand.NewPCG(19, 6))
	for range 300 {
		src, n := 2+rng.IntN(20<<rng.IntN(6)), 1+rng.IntN(150)
		a, b := make([]uint8, src), make([]uint8, src)
		for i := range a {
			a[i], b[i] = uint8(rng.Uint32()), uint8(rng.Uint32())
		}
		places, parts := make([]int32, n), make([]uint32, n)
		for i := range places {
			part := rng.Uint32N(257)
			places[i], parts[i] = rng.Int32N(int32(src)), 256-part|part<<16
		}
		slices.Sort(places)
		part, half := rng.IntN(257), rng.IntN(2)*((n+2)/2+16)
		run := func(level processor.Level) (all []uint32) {
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
			Row(level, out[:size], out[size:], above[:size], above[size:], pix[:n], half)
			for _, p := range pix[:n] {
				all = append(all, uint32(p))
			}
			return append(all, out...)
		}
		want := run(processor.Portable)
		for _, level := range processor.Levels() {
			if got := run(level); !slices.Equal(got, want) {
				t.Fatalf("level %v, %d pixels of %d, half %d: not what portable Go makes", level, n, src, half)
			}
		}
	}
}

// TestTiltedCascadeRow compares tilted rows of pixels and of squares with the definition, at every
// level.
func TestTiltedCascadeRow(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for _, n := range []int{1, 2, 7, 8, 9, 31, 32, 45} {
		const rows = 12
		pix := make([]uint8, n*rows)
		for i := range pix {
			pix[i] = uint8(rng.Uint32())
		}
		for _, level := range processor.Levels() {
			for _, half := range []int{0, n/2 + 9} {
				for _, square := range []bool{false, true} {
					above, down, up := make([]uint32, 2*n+40), make([]uint32, n+rows+2), make([]uint32, n+rows+2)
					for y := range rows {
						tilted := make([]uint32, 2*n+40)
						TiltedRow(level, tilted, above, down[rows-y:], up[y:], pix[y*n:][:n], half, square)
						for x := range n + 1 {
							want := uint32(0)
							for j := range y + 1 {
								for i := max(0, x-1-(y-j)); i < n && i <= x-1+y-j; i++ {
									p := uint32(pix[j*n+i])
									if square {
										p *= p
									}
									want += p
								}
							}
							at := x
							if half > 0 {
								at = x>>1 + x&1*half
							}
							if tilted[at] != want {
								t.Fatalf("%v, %d pixels, half %d, squares %v, row %d: entry %d is %d, want %d", level, n, half, square, y+1, x, tilted[at], want)
							}
						}
						above = tilted
					}
				}
			}
		}
	}
}
