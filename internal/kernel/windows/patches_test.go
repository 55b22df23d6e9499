package windows

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/boxsum/boxsum/internal/kernel/processor"
	"github.com/boxsum/boxsum/internal/raster"
)

// TestPatches compares every level with the definitions, at all lengths, and looks for writes beyond the end.
func TestPatches(t *testing.T) {
	rng := rand.New(rand.NewPCG(41, 14))
	numbers := func(n int) []uint32 {
		all := make([]uint32, n)
		for i := range all {
			all[i] = rng.Uint32()
		}
		return all
	}
	for n := range 70 {
		var rows [4][]byte
		for i := range rows {
			rows[i] = make([]byte, n)
			for k := range rows[i] {
				rows[i][k] = uint8(rng.IntN(256))
			}
		}
		const shift = 20
		span := 1 + n%20
		columns, all, table, before := numbers(n+5), numbers(n+span-1), numbers(1000), numbers(n+5)
		slid, weights, sums, totals := slices.Clone(columns), make([]uint32, n), slices.Clone(columns), slices.Clone(before)
		for i := range n {
			enter, leave := int(rows[0][i])-int(rows[1][i]), int(rows[2][i])-int(rows[3][i])
			slid[i] += uint32(enter*enter - leave*leave)
			sum := uint32(0)
			for _, v := range all[i : i+span] {
				sum += v
			}
			weights[i] = table[min(sum>>shift, 999)]
			sums[i] += weights[i] * uint32(rows[0][i])
			totals[i] += weights[i]
		}
		for _, level := range processor.Levels() {
			var p Patches
			p.Aim(level, raster.U8, 1, false)
			got := slices.Clone(columns)
			p.Rows(rows[0], rows[1], rows[2], rows[3])
			if p.Slide(got[:n], 0, 0); !slices.Equal(got, slid) {
				t.Fatalf("level %v: columns %v, want %v", level, got, slid)
			}
			got = make([]uint32, n+5)
			if p.Weigh(got[:n], all, span, shift, table); !slices.Equal(got[:n], weights) || slices.Max(got[n:]) > 0 {
				t.Fatalf("level %v, span %d: weights %v, want %v", level, span, got, weights)
			}
			got, all := slices.Clone(columns), slices.Clone(before)
			if p.AddBytes(got[:n], all[:n], weights, rows[0]); !slices.Equal(got, sums) || !slices.Equal(all, totals) {
				t.Fatalf("level %v: sums %v, totals %v, want %v, %v", level, got, all, sums, totals)
			}
		}
	}
}
