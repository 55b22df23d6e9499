package detect

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestMarks checks that marks are read where and at the sizes for which they were left.
func TestMarks(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for range 50 {
		width, height := 20+rng.IntN(300), 20+rng.IntN(300)
		least := 10 + 20*rng.Float64()
		var m marks
		m.plan(width, height, least, least*(1+9*rng.Float64()))
		type mark struct {
			level int
			x, y  float64
			bits  uint8
		}
		var all []mark
		for range rng.IntN(20) {
			all = append(all, mark{rng.IntN(len(m.levels)), rng.Float64() * float64(width), rng.Float64() * float64(height), 1 << rng.IntN(8)})
			last := all[len(all)-1]
			m.set(last.level, last.x, last.y, last.bits)
		}
		for range 20 {
			level := rng.IntN(len(m.levels))
			side := least * math.Pow(1.1, float64(level)) / markPlaces // of a place
			x, y := rng.Float64()*float64(width), rng.Float64()*float64(height)
			dx, dy := rng.Float64()*4-2, rng.Float64()*4-2
			got := make([]uint8, 1+rng.IntN(100))
			m.read(got, level, x, y, dx, dy)
			for i, g := range got {
				px, py := x+float64(i)*dx, y+float64(i)*dy
				if px < 0 || py < 0 || px >= float64(width) || py >= float64(height) {
					continue
				}
				// Points are rounded: those near the edge of a place may be read beyond it.
				var surely, maybe uint8
				for _, a := range all {
					if a.level < level-markReach || a.level > level+markReach {
						continue
					}
					in := func(a, p, by float64) bool { return math.Floor(a/side) == math.Floor((p+by)/side) }
					const by = 1e-3
					if in(a.x, px, by) && in(a.x, px, -by) && in(a.y, py, by) && in(a.y, py, -by) {
						surely |= a.bits
					}
					if (in(a.x, px, by) || in(a.x, px, -by)) && (in(a.y, py, by) || in(a.y, py, -by)) {
						maybe |= a.bits
					}
				}
				if g&surely != surely || g&^maybe != 0 {
					t.Fatalf("%b at %v, %v of level %d, and %b was left, or %b", g, px, py, level, surely, maybe)
				}
			}
			bits := uint8(1 + rng.IntN(255))
			got = got[:min(64, len(got))]
			word := unmarked(got, bits)
			for i, g := range got {
				if (word>>i&1 != 0) != (g&bits == 0) {
					t.Fatalf("%x: place %d of %v, marks %b", word, i, got, bits)
				}
			}
			if word>>len(got) != 0 && len(got) < 64 {
				t.Fatalf("%x for %d places", word, len(got))
			}
		}
	}
}

func TestBetween(t *testing.T) {
	for _, c := range []struct {
		angles []float64
		marks  uint8
	}{
		{AllAngles(), 0xff}, {[]float64{0, 22.5}, 0}, {[]float64{0, 22.5, 45}, 3}, {[]float64{-45, -1, 360, 45}, 0x81}, {[]float64{0, 45, 90, 180}, 0},
		{[]float64{-180, 140, 135, 10, 0}, 0x18},
	} {
		if _, marks := (&Options{Angles: c.angles}).sharing(); marks != c.marks {
			t.Errorf("%v: marks %b and not %b", c.angles, marks, c.marks)
		}
		if _, marks := (&Options{Angles: c.angles, EachAngle: true}).sharing(); marks != 0 {
			t.Errorf("%v: marks though each is searched", c.angles)
		}
	}
}
