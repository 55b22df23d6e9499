package windows

import (
	"bytes"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/boxsum/boxsum/internal/kernel/processor"
)

// TestContrast compares ContrastOf and the kernels with the quotient in float64 for every pair of
// bytes.
func TestContrast(t *testing.T) {
	for least := range 256 {
		for most := least; most < 256; most++ {
			want := uint8(255 * (float64(most-least) / (0.0001 + float64(most) + float64(least))))
			if got := ContrastOf(uint8(least), uint8(most)); got != want {
				t.Fatalf("the contrast of %d and %d is %d, want %d", least, most, got, want)
			}
		}
	}
	// Every pair in the kernels: 3×3 pixels for each, three columns apart.
	for least := range 256 {
		row := make([]uint8, 3*256+2)
		other := bytes.Repeat([]uint8{uint8(least)}, len(row))
		for most := range 256 {
			for i := range 3 {
				row[1+3*most+i] = uint8(max(most, least))
			}
		}
		row[0], row[len(row)-1] = uint8(least), 255
		want := make([]uint8, len(row)-2)
		Contrast(processor.Portable, want, other, row, other)
		for _, level := range processor.Levels() {
			got := make([]uint8, len(want))
			Contrast(level, got, other, row, other)
			if !bytes.Equal(got, want) {
				t.Fatalf("level %v differs for %d", level, least)
			}
		}
	}
}

// TestBlackWhite checks that operations on bytes are the same at every level, and write nothing
// else.
func TestBlackWhite(t *testing.T) {
	rng := rand.New(rand.NewPCG(18, 9))
	for i := range 300 {
		n := rng.IntN(300)
		a, b := make([]uint8, n+1), make([]uint8, n+1)
		for j := range a {
			a[j], b[j] = uint8(rng.Uint32()), uint8(rng.Uint32())
			if i%2 == 0 {
				a[j], b[j] = uint8(rng.IntN(4))+250, uint8(rng.IntN(4))+250
			}
		}
		more, flip := uint8(rng.IntN(7)), i%3 == 0
		for _, level := range processor.Levels() {
			dst := bytes.Repeat([]uint8{77}, n+1)
			AtLeast(level, dst[:n], a, b, more, flip)
			for j := range n {
				if want := (min(255, int(a[j])+int(more)) >= int(b[j])) != flip; (dst[j] == 255) != want || dst[j]%255 != 0 {
					t.Fatalf("AtLeast at level %v: %d+%d and %d give %d", level, a[j], more, b[j], dst[j])
				}
			}
			kept := bytes.Clone(a)
			KeepContrast(level, kept[:n], b, 251)
			mask, values := bytes.Clone(b), bytes.Repeat([]uint8{77}, n+1)
			Mask(level, values[:n], mask[:n], a, 251)
			packed := bytes.Repeat([]uint8{77}, n/8+2)
			PackBits(level, packed, a[:n])
			for j := range n {
				keep, one, value := a[j], uint8(0), uint8(0)
				if b[j] <= 251 {
					keep |= 1
				} else {
					one, value = 1, a[j]
				}
				if kept[j] != keep || mask[j] != one || values[j] != value {
					t.Fatalf("level %v: contrast %d of pixel %d gives %d, %d, %d", level, b[j], a[j], kept[j], mask[j], values[j])
				}
				if packed[j/8]>>(7-j%8)&1 != 1-a[j]>>7 {
					t.Fatalf("level %v: bit %d of %d", level, j, n)
				}
			}
			if dst[n] != 77 || kept[n] != a[n] || mask[n] != b[n] || values[n] != 77 || packed[(n+7)/8] != 77 {
				t.Fatalf("level %v wrote beyond %d pixels", level, n)
			}
			if n%8 > 0 && packed[n/8]<<(n%8) != 0 {
				t.Fatalf("level %v: bits after the last of %d", level, n)
			}
		}
	}
}

// TestExp2 checks that the error of the polynomial is within what the margin assumes.
func TestExp2(t *testing.T) {
	for i := range 2001 {
		x := float64(i-1000) / 2000
		p := 0.0
		for k := len(exp2) - 1; k >= 0; k-- {
			p = p*x + exp2[k]
		}
		if e := math.Abs(p/math.Exp2(x) - 1); e > 0x1p-22 {
			t.Fatalf("2^%v is off by %v", x, e)
		}
	}
}

// TestDecider compares decisions with the formula at every level, for windows of any size,
// including shifted squares and thresholds that are as close to pixels as possible.
func TestDecider(t *testing.T) {
	rng := rand.New(rand.NewPCG(18, 10))
	for i := range 400 {
		span, height, n := 1+rng.IntN(40), 1+rng.IntN(40), 1+rng.IntN(200)
		if i%4 == 0 {
			span, height = 180+rng.IntN(200), 180+rng.IntN(300)
		}
		f := Formula{Kind: FormulaKind(i % 7), Whole: true, Bytes: true, K: []float64{0.2, -0.2, 0.5, 0, 1, -1.5, 0.0005}[rng.IntN(7)], InverseR: 1.0 / 128, P: 3, NegQ: -10.0 / 255, White: 255, Most: 254, Factor: 0.85,
			Darkest: float64(rng.IntN(30)), Spread: 0.1 + 100*rng.Float64()}
		cols, squares := make([]uint32, 1+n+span+Slack), make([]uint32, 1+n+span+Slack)
		level := rng.IntN(200)
		pix := make([]uint8, n)
		for j := range pix {
			pix[j] = uint8(level + rng.IntN(3))
		}
		for j := 1; j < n+span; j++ {
			for range height {
				v := uint32(level)
				if i%3 > 0 {
					v += uint32(rng.IntN(1 + i%5*10))
				}
				cols[j] += v
				squares[j] += v * v
			}
		}
		var want []uint8
		for _, l := range processor.Levels() {
			var d Decider
			d.Aim(l, &f, span, height, height)
			d.Counts(0, nil, 0, int64(span*height), n)
			got := make([]uint8, n)
			d.Row(got, pix, cols, squares)
			if want == nil {
				want = got
				continue
			}
			if !bytes.Equal(got, want) {
				t.Fatalf("round %d, level %v, window %d×%d, %+v differs", i, l, span, height, f)
			}
		}
	}
}
