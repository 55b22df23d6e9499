package memory

import (
	"math"
	"testing"
)

func TestMake(t *testing.T) {
	if s, err := Make[uint32](1000); err != nil || len(s) != 1000 {
		t.Errorf("%d elements, %v", len(s), err)
	}
	for _, n := range []int{-1, math.MaxInt, math.MaxInt / 8, math.MaxInt / 64} {
		if _, err := Make[uint64](n); err == nil {
			t.Errorf("%d elements were to be had", n)
		}
	}
}
