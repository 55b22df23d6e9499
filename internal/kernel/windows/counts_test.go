package windows

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/boxsum/boxsum/internal/kernel/processor"
)

// TestCounts compares medians and counts of sliding windows with those of sorted pixels.
func TestCounts(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 5))
	for _, level := range processor.Levels() {
		for trial := range 40 {
			width, height, n := 1+rng.IntN(40), 1+rng.IntN(40), 1+rng.IntN(90)
			if trial == 0 {
				width, height = 257, 255
			}
			if !HasCounts(level, width, height) {
				continue
			}
			spread := 1 + rng.IntN(256) // how many values there are, some of them far away
			columns := n + width - 1
			rows := make([][]uint8, height+4)
			for y := range rows {
				rows[y] = make([]uint8, columns)
				for x := range rows[y] {
					rows[y][x] = uint8(x*trial/8 + rng.IntN(spread))
					if rng.IntN(9) == 0 {
						rows[y][x] = uint8(255 * rng.IntN(2))
					}
				}
			}
			var c Counts
			for range 2 { // with what the first time has left
				c.Aim(level, columns, height)
				zeros := make([]uint8, columns)
				for _, row := range rows[:height] {
					c.Slide(row, zeros)
				}
				for y := range 4 {
					dst := slices.Repeat([]uint8{99}, n+40)
					c.Medians(dst[:n], width)
					levels, sums := make([]uint8, n), slices.Repeat([]uint16{99}, n+40)
					for x := range levels {
						levels[x] = rows[y][x]
					}
					c.UpTo(sums[:n], levels, width)
					for x, got := range dst {
						want, upTo := uint8(99), uint16(99)
						if x < n {
							var all []uint8
							for _, row := range rows[y:][:height] {
								all = append(all, row[x:][:width]...)
							}
							slices.Sort(all)
							want = all[(len(all)-1)/2]
							for upTo = 0; int(upTo) < len(all) && all[upTo] <= levels[x]; upTo++ {
							}
						}
						if sums[x] != upTo {
							t.Fatalf("%v: %d pixels up to %d, window %d of %d, want %d", level, sums[x], levels[min(x, n-1)], x, n, upTo)
						}
						if got != want {
							t.Fatalf("%v: median %d of %d, %d×%d, row %d, is %d, want %d", level, x, n, width, height, y, got, want)
						}
						if trial == 0 && x == 3 {
							break
						}
					}
					c.Slide(rows[height+y], rows[y])
				}
			}
		}
	}
}
