package measure

import (
	"fmt"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/histogram"
)

// verifyHistogram compares every count with a reference that shares nothing with the
// library: the counts of a row so far, added to what the entry above holds.
func verifyHistogram(t *histogram.Table[uint32], img boxsum.Image[uint8]) error {
	n := t.Bins.N
	entry := t.Channels * n
	above, row := make([]uint32, (t.Width+1)*entry), make([]uint32, entry)
	for y := range t.Height + 1 {
		clear(row)
		for x := range t.Width + 1 {
			if x > 0 && y > 0 {
				for c, p := range img.Row(y - 1)[(x-1)*t.Channels:][:t.Channels] {
					row[c*n+int(p)*n/256]++
				}
			}
			got := t.Counts[(y*(t.Width+1)+x)*entry:][:entry]
			for i, want := range above[x*entry:][:entry] {
				want += row[i]
				if got[i] != want {
					return fmt.Errorf("count %d of entry (%d, %d) is %d, and %d in the reference", i, x, y, got[i], want)
				}
				above[x*entry+i] = want
			}
		}
	}
	return nil
}
