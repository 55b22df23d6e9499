package kernel_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/boxsum/boxsum/internal/kernel"
	"github.com/boxsum/boxsum/internal/raster"
)

// TestSelect compares every level with the portable loop, and checks that nothing else is written.
func TestSelect(t *testing.T) {
	testSelect[uint8](t)
	testSelect[uint16](t)
	testSelect[int16](t)
	testSelect[uint32](t)
	testSelect[int32](t)
	testSelect[float32](t)
	testSelect[float64](t)
}

func testSelect[P kernel.Pixel](t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	const guard = 77
	for n := range 100 {
		for _, kind := range [][2]bool{{false, false}, {true, false}, {false, true}, {true, true}} {
			from, fill := make([]P, n), float32(rng.IntN(100))
			s := kernel.Selection{From: raster.Bytes(from), NaN: kind[1]}
			for i := range from {
				from[i] = P(rng.IntN(256))
				if nan := math.NaN(); kernel.IsFloat[P]() && rng.IntN(3) == 0 {
					from[i] = P([]float64{nan, -nan, math.Inf(1), math.Inf(-1)}[rng.IntN(4)])
				}
			}
			if kind[0] {
				s.Mask = make([]uint8, n)
				for i := range s.Mask {
					s.Mask[i] = uint8(rng.IntN(2) * rng.IntN(256))
				}
			}
			want := s
			wantTo := make([]P, n)
			want.To, want.Valid = raster.Bytes(wantTo), make([]uint8, n)
			portable := kernel.NewSelector(raster.TypeOf[P](), kernel.Portable, kind[0], kind[1], fill)
			portable.Select(&want)
			for _, level := range kernel.Levels() {
				to, valid := slices.Repeat([]P{guard}, n+8), slices.Repeat([]uint8{guard}, n+8)
				s.To, s.Valid = raster.Bytes(to[:n]), valid[:n]
				l := kernel.NewSelector(raster.TypeOf[P](), level, kind[0], kind[1], fill)
				l.Select(&s)
				same := slices.EqualFunc(to[:n], wantTo, func(a, b P) bool { return a == b || a != a && b != b })
				if !same || !slices.Equal(s.Valid, want.Valid) {
					t.Fatalf("%T, %v of %d at %v: %v %v, want %v %v", *new(P), kind, n, level, to[:n], s.Valid, wantTo, want.Valid)
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
