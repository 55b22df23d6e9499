package detect

import (
	"image"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/boxsum/boxsum"
)

// TestMarks tests that marks are read at the positions and sizes for which they were left.
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
			side := least * math.Pow(1.1, float64(level)) / markPlaces // of the area of a mark
			x, y := rng.Float64()*float64(width), rng.Float64()*float64(height)
			dx, dy := rng.Float64()*4-2, rng.Float64()*4-2
			got := make([]uint8, 1+rng.IntN(100))
			m.read(got, level, x, y, dx, dy)
			for i, g := range got {
				px, py := x+float64(i)*dx, y+float64(i)*dy
				if px < 0 || py < 0 || px >= float64(width) || py >= float64(height) {
					continue
				}
				// Points are rounded: those near the edge of a mark's area may be read from the next one.
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

// TestMarksFar tests marks far from the first pixel, where fixed-point numbers do not fit 32 bits.
func TestMarksFar(t *testing.T) {
	var m marks
	m.plan(40000, 4, 3, 3) // one mark per pixel
	for _, x := range []float64{1, 2047, 2048, 13654, 39999} {
		m.set(0, x+0.5, 1.5, 4)
		got := make([]uint8, 3)
		m.read(got, 0, x-0.5, 1.5, 1, 0)
		if got[1] != 4 {
			t.Errorf("a mark at %v is read as %v", x, got)
		}
	}
}

// TestUnmarkedChunk tests that a window is not skipped because of a rejection before windows without marks.
func TestUnmarkedChunk(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 9))
	img, _ := boxsum.NewImage[uint8](2*3*chunk+20, 300, 1)
	for i := range img.Pix {
		img.Pix[i] = uint8(rng.IntN(256))
	}
	c := &Cascade{ // detects windows that are darker on the left, about half of them
		kind: Haar, size: image.Pt(20, 20), leaves: []float32{-1, 1}, nodes: []node{{left: ^0, right: ^1}}, trees: []tree{{span{0, 1}, span{0, 2}}},
		stages:   []stage{{trees: span{0, 1}, stumps: true}},
		features: []feature{{boxes: [3]box{{0, 0, 20, 20}, {0, 0, 10, 20}}, weights: [3]float32{1, -2}}},
	}
	find := func(chunks ...int) (last []candidate) {
		s := new(search)
		s.turn = turning{search: s, image: img, bounds: image.Rect(0, 0, img.Width, img.Height)}
		s.resetViews(c)
		s.turning, s.views[0].between = &s.turn, 1
		s.marks.plan(img.Width, img.Height, 3, 3) // one mark per pixel
		for _, k := range chunks {
			for y := range img.Height {
				for x := range 2 * chunk {
					s.marks.set(0, float64(2*chunk*k+x+c.size.X/2)+0.5, float64(y)+0.5, 1)
				}
			}
		}
		if err := s.prepare(&img, &Options{Max: c.size, Workers: 1}); err != nil {
			t.Fatal(err)
		}
		if err := s.run(); err != nil {
			t.Fatal(err)
		}
		for _, f := range s.candidates {
			if f.x >= 4*chunk {
				last = append(last, f)
			}
		}
		return last
	}
	want, got := find(2), find(0, 2)
	if len(want) < 100 || !slices.Equal(got, want) {
		t.Errorf("%d windows are found, and %d where others before have marks", len(want), len(got))
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
			t.Errorf("%v: marks %b, want %b", c.angles, marks, c.marks)
		}
		if _, marks := (&Options{Angles: c.angles, EachAngle: true}).sharing(); marks != 0 {
			t.Errorf("%v: marks though each is searched", c.angles)
		}
	}
}
