package measure

import (
	"fmt"
	"io"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/volume"
)

// verifyVolume compares every entry with a reference that shares nothing with
// the library: a running sum along the row, added to what the plane held above,
// and that to what the entry held in the slice before.
func verifyVolume[S boxsum.Sum, P boxsum.Pixel](t *volume.Table[S], src volume.Volume[P]) error {
	c, n := t.Channels, t.Width*t.Channels
	before, plane, row := make([]S, t.Height*n), make([]S, n), make([]S, c)
	zeros := func(z, y int, entries []S) error {
		for i, got := range entries {
			if got != 0 {
				return fmt.Errorf("slice %d: %w", z, differs("the reference", i, y, c, got, S(0)))
			}
		}
		return nil
	}
	for y := range t.Height + 1 {
		if err := zeros(0, y, t.Slice(0).Row(y)); err != nil {
			return err
		}
	}
	for z := range t.Depth {
		entries, pixels := t.Slice(z+1), src.Slice(z)
		if err := zeros(z+1, 0, entries.Row(0)); err != nil {
			return err
		}
		clear(plane)
		for y := range t.Height {
			sums := entries.Row(y + 1)
			if err := zeros(z+1, y+1, sums[:c]); err != nil {
				return err
			}
			clear(row)
			for i, p := range pixels.Row(y) {
				row[i%c] += S(p)
				plane[i] += row[i%c]
				before[y*n+i] += plane[i]
				if got, want := sums[c+i], before[y*n+i]; got != want {
					return fmt.Errorf("slice %d: %w", z+1, differs("the reference", c+i, y+1, c, got, want))
				}
			}
		}
	}
	return nil
}

// equalVolume compares every entry with those that r yields slice by slice.
func equalVolume[S boxsum.Sum](r io.Reader, t *volume.Table[S], inclusive bool) error {
	view, depth := t.Slice, t.Depth+1
	if inclusive {
		view, depth = t.Inclusive, t.Depth
	}
	var first error
	for z := range depth {
		if err := equal[S](r, view(z)); err != nil && first == nil {
			first = fmt.Errorf("slice %d: %w", z, err)
		}
	}
	return first
}
