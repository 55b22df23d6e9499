package window

import "testing"

// TestIndex compares every border with its picture, and the reduced window of an axis with
// a count.
func TestIndex(t *testing.T) {
	for b, want := range map[Border]string{ // from position -5 on
		Reflect101: "bcdcbabcdcbabcd",
		Reflect:    "ddcbaabcddcbaab",
		Replicate:  "aaaaaabcddddddd",
		Constant:   ".....abcd......",
		Wrap:       "dabcdabcdabcdab",
		Clip:       ".....abcd......",
	} {
		for k, want := range want {
			got := '.'
			if at := b.Index(k-5, 4); at != outside {
				got = rune("abcd"[at])
			}
			if got != want {
				t.Errorf("%v: place %d is %c, want %c", b, k-5, got, want)
			}
		}
	}
}

func TestAxis(t *testing.T) {
	for b := range borders {
		for n := 1; n < 6; n++ {
			for before := range 14 {
				for after := range 14 {
					a := newAxis(n, before, after, b)
					for x := range n {
						want, none := make([]int, n), 0
						for i := x - before; i <= x+after; i++ {
							if at := b.Index(i, n); at == outside {
								none++
							} else {
								want[at]++
							}
						}
						got, gotNone := make([]int, n), 0
						for i := x - a.start; i < x-a.start+a.span; i++ {
							if at := b.Index(i, n); at == outside {
								gotNone++
							} else {
								got[at]++
							}
						}
						for i := range a.periods * b.period(n) {
							if a.periods > 0 {
								got[b.Index(i, n)]++
							}
						}
						if b == Replicate {
							got[0] += a.low
							got[n-1] += a.high
						}
						if b == Constant {
							gotNone += a.low + a.high
						}
						for i := range want {
							if got[i] != want[i] {
								t.Fatalf("%v, %d places, window %d+1+%d of %d: place %d is there %d times, want %d", b, n, before, after, x, i, got[i], want[i])
							}
							if w := a.weight(x, i); w != want[i] {
								t.Fatalf("%v, %d places, window %d+1+%d of %d: weight %d of place %d, want %d", b, n, before, after, x, w, i, want[i])
							}
						}
						if b == Constant && gotNone != none || a.outsideCount(x) != none && (b == Constant || b == Clip) {
							t.Fatalf("%v, %d places, window %d+1+%d of %d: %d and %d outside, want %d", b, n, before, after, x, gotNone, a.outsideCount(x), none)
						}
					}
				}
			}
		}
	}
}
