package windows

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/boxsum/boxsum/internal/kernel/processor"
	"github.com/boxsum/boxsum/internal/raster"
)

// TestLanes compares every level with the portable loops, for windows that rows enter and leave. Levels are few or many, so that
// variances are equal or close.
func TestLanes(t *testing.T) {
	rng := rand.New(rand.NewPCG(41, 30))
	for trial := range 300 {
		span := 1 + rng.IntN(40)
		height := 1 + rng.IntN(OtsuPixels/span)
		most := []int{2, 4, 20, Ignored + 1}[trial%4]
		var want Lanes
		want.Aim(processor.Portable, span)
		first := rng.IntN(min(span, 5))
		n := want.Columns() - first - rng.IntN(5)
		rows := make([][]uint16, height+2)
		for y := range rows {
			rows[y] = make([]uint16, n)
			for i := range rows[y] {
				rows[y][i] = uint16(rng.IntN(most) * (Ignored / (most - 1)))
			}
		}
		ignored := slices.Repeat([]uint16{Ignored}, n)
		fill := func(l *Lanes) {
			for y, row := range rows {
				out := ignored
				if y >= height {
					out = rows[y-height]
				}
				l.Slide(row, out, first)
			}
		}
		fill(&want)
		numbers := want.Numbers()
		for x, got := range numbers {
			n := uint16(0)
			for _, row := range rows[2:] {
				for i, v := range row {
					if k := first + i - x; k >= 0 && k < span && v != Ignored {
						n++
					}
				}
			}
			if got != n {
				t.Fatalf("window %d has %d pixels, want %d", x, got, n)
			}
		}
		var limits, levels [LanePixels]uint16
		for x, n := range numbers {
			limits[x] = uint16(rng.IntN(max(1, int(n))))
			levels[x] = uint16(rng.IntN(Ignored))
		}
		for _, level := range processor.Levels() {
			var got Lanes
			got.Aim(level, span)
			fill(&got)
			if got.counts != want.counts {
				t.Fatalf("level %v: other counts", level)
			}
			for name, run := range map[string]func(l *Lanes, dst *[LanePixels]uint8){
				"majority":   (*Lanes).Majority,
				"otsu":       (*Lanes).Otsu,
				"percentile": func(l *Lanes, dst *[LanePixels]uint8) { l.Percentile(dst, &limits) },
			} {
				var a, b [3][LanePixels]uint8
				run(&want, &a[1])
				run(&got, &b[1])
				for x, n := range numbers {
					if n == 0 {
						b[1][x] = a[1][x]
					}
				}
				if a != b {
					t.Fatalf("level %v, trial %d: %s is %v, want %v", level, trial, name, b, a)
				}
			}
			var a, b [3][LanePixels]uint16
			want.UpTo(&a[1], &levels)
			if got.UpTo(&b[1], &levels); a != b {
				t.Fatalf("level %v: %v up to %v, want %v", level, b, levels, a)
			}
		}
	}
}

// TestExtremes compares every level with the definition, also in place, and looks for writes beyond the end.
func TestExtremes(t *testing.T) {
	rng := rand.New(rand.NewPCG(41, 31))
	for n := range 300 {
		all := make([]byte, 2*n+20)
		for i := range all {
			all[i] = uint8(rng.IntN(256))
		}
		at := 2 * rng.IntN(5)
		for _, level := range processor.Levels() {
			less, more := bytes.Clone(all), bytes.Clone(all)
			Lesser(level, raster.U8, less[:n], less[at:])
			Greater(level, raster.U8, more[:n], more[at:])
			for i, v := range all {
				if i < n && (less[i] != min(v, all[i+at]) || more[i] != max(v, all[i+at])) || i >= n && (less[i] != v || more[i] != v) {
					t.Fatalf("level %v: byte %d of %d is %d and %d", level, i, n, less[i], more[i])
				}
			}
			copy(less, all)
			copy(more, all)
			Lesser(level, raster.U16, less[:2*n], less[at:])
			Greater(level, raster.U16, more[:2*n], more[at:])
			l, m, words := raster.Elems[uint16](less), raster.Elems[uint16](more), raster.Elems[uint16](all)
			for i, v := range words {
				if i < n && (l[i] != min(v, words[i+at/2]) || m[i] != max(v, words[i+at/2])) || i >= n && (l[i] != v || m[i] != v) {
					t.Fatalf("level %v: word %d of %d is %d and %d", level, i, n, l[i], m[i])
				}
			}
		}
	}
}
