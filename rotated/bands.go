package rotated

import (
	"fmt"
	"math"

	"github.com/boxsum/boxsum"
)

// A band is some rows of a frame and, of each, the columns [lo, hi): all that
// may hold a pixel, and a few more so that every row of sums starts a cache
// line.
type band struct {
	lo, hi int
	start  int // its first sum, in elements
}

// bands cuts a frame into bands of rows. A column that has left the bands never
// comes back.
type bands struct {
	columns int // of the frame, rounded up
	list    []band
	total   int // elements
}

// columnAlign is how many columns a row of a band is a multiple of: as kernels
// want tiles that others follow, and whole lines for every type.
const columnAlign = 16

func newBands(f *frame, channels int) (bands, error) {
	b := bands{columns: roundUp(f.columns, columnAlign)}
	tooLarge := fmt.Errorf("rotated: %w: a table of %d×%d cells with %d channels is more than memory can hold",
		boxsum.ErrSize, f.columns, f.rows, channels)
	if channels > math.MaxInt/64/max(1, b.columns) {
		return b, tooLarge
	}
	for row := 0; row < f.rows; row += bandRows {
		last := min(row+bandRows, f.rows) - 1
		lo := f.leftmost(min(max(f.leftTurn(), row), last))
		hi := f.rightmost(min(max(f.rightTurn(), row), last)) + 1
		band := band{lo: lo / columnAlign * columnAlign, hi: roundUp(hi, columnAlign), start: b.total}
		size := (band.hi - band.lo) * channels
		if size > (math.MaxInt/64-b.total)/bandRows {
			return b, tooLarge
		}
		b.total += size * (last + 1 - row)
		b.list = append(b.list, band)
	}
	return b, nil
}

func roundUp(n, to int) int { return (n + to - 1) / to * to }
