package kernel

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// Every level selects what the portable loop does, and writes nothing else.
func TestSelect(t *testing.T) {
	testSelect[uint8](t)
	testSelect[uint16](t)
	testSelect[int16](t)
	testSelect[uint32](t)
	testSelect[int32](t)
	testSelect[float32](t)
	testSelect[float64](t)
}

func testSelect[P Pixel](t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	const guard = 77
	for n := range 100 {
		for _, kind := range [][2]bool{{false, false}, {true, false}, {false, true}, {true, true}} {
			s := Selection[P]{From: make([]P, n), NaN: kind[1], Fill: P(rng.IntN(100))}
			for i := range s.From {
				s.From[i] = P(rng.IntN(256))
				if nan := math.NaN(); IsFloat[P]() && rng.IntN(3) == 0 {
					s.From[i] = P([]float64{nan, -nan, math.Inf(1), math.Inf(-1)}[rng.IntN(4)])
				}
			}
			if kind[0] {
				s.Mask = make([]uint8, n)
				for i := range s.Mask {
					s.Mask[i] = uint8(rng.IntN(2) * rng.IntN(256))
				}
			}
			want := s
			want.To, want.Valid = make([]P, n), make([]uint8, n)
			portableSelect(&want)
			for _, level := range Levels() {
				to, valid := slices.Repeat([]P{guard}, n+8), slices.Repeat([]uint8{guard}, n+8)
				s.To, s.Valid = to[:n], valid[:n]
				NewSelector[P](level, kind[0], kind[1]).Select(&s)
				same := slices.EqualFunc(s.To, want.To, func(a, b P) bool { return a == b || a != a && b != b })
				if !same || !slices.Equal(s.Valid, want.Valid) {
					t.Fatalf("%T, %v of %d at %v: %v %v, want %v %v", *new(P), kind, n, level, s.To, s.Valid, want.To, want.Valid)
				}
				for i := n; i < n+8; i++ {
					if to[i] != guard || valid[i] != guard {
						t.Fatalf("%T, %v of %d at %v: element %d was written", *new(P), kind, n, level, i)
					}
				}
			}
		}
	}
}
