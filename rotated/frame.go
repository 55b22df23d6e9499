package rotated

import (
	"fmt"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/memory"
)

// A frame is how the cells of a lattice lie in memory. The pixel at (x, y) is in
// row y + down(x) and column x + right[y], both counted from 0: pixels that are
// neighbours in a line of the image stay neighbours until down changes. For the
// four kinds of rotation that means
//
//	 0 ≤ a/b ≤ 1     rows r    columns c
//	-1 ≤ a/b < 0     rows r    columns −c
//	 1 < a/b         rows c    columns r
//	     a/b < −1    rows c    columns −r
//
// less the least of each. As a ≤ b in the view, down changes by one at a time.
type frame struct {
	rows, columns int
	width, height int

	// starts holds where along x the runs of equal down begin, and the width.
	// down is the number of the run, or that of runs to come where it falls.
	starts  []int32
	falling bool
	longest int     // run, in pixels
	equal   int     // how long all runs are but the first and last, or 0
	run     []int32 // that x is in
	right   []int32
}

func newFrame(l *Lattice) (frame, error) {
	w, box := &l.view, l.bounds
	f := frame{
		rows: box.R1 - box.R0, columns: box.C1 - box.C0,
		width: w.width, height: w.height,
		falling: w.mirror != w.exchange,
	}
	if w.exchange {
		f.rows, f.columns = f.columns, f.rows
	}
	if w.width == 0 || w.height == 0 {
		return f, nil
	}
	runs := w.slope(w.width-1) + 1
	var err error
	if f.starts, err = memory.Make[int32](runs + 1); err != nil {
		return f, fmt.Errorf("rotated: %w: %w", boxsum.ErrSize, err)
	}
	if f.right, err = memory.Make[int32](w.height); err != nil {
		return f, fmt.Errorf("rotated: %w: %w", boxsum.ErrSize, err)
	}
	for k := range runs + 1 {
		if start := w.first(k, w.width); w.mirror {
			f.starts[runs-k] = int32(w.width - start)
		} else {
			f.starts[k] = int32(start)
		}
	}
	if f.run, err = memory.Make[int32](w.width); err != nil {
		return f, fmt.Errorf("rotated: %w: %w", boxsum.ErrSize, err)
	}
	for k := range runs {
		f.longest = max(f.longest, int(f.starts[k+1]-f.starts[k]))
		for x := f.starts[k]; x < f.starts[k+1]; x++ {
			f.run[x] = int32(k)
		}
	}
	if w.a == 1 {
		f.equal = w.b
	}
	most := w.slope(w.height - 1)
	for y := range f.right {
		if f.right[y] = int32(w.slope(y)); !f.falling {
			f.right[y] = int32(most) - f.right[y]
		}
	}
	return f, nil
}

// place is a box of the lattice as rows and columns in memory.
func (f *frame) place(l *Lattice, box Box) Box {
	box.C0, box.C1 = box.C0-l.bounds.C0, box.C1-l.bounds.C0
	if l.view.exchange {
		box = Box{C0: box.R0, C1: box.R1, R0: box.C0, R1: box.C1}
	}
	if l.view.mirror {
		box.C0, box.C1 = f.columns-box.C1, f.columns-box.C0
	}
	return box
}

// runs is how many runs there are.
func (f *frame) runs() int { return len(f.starts) - 1 }

// leftTurn and rightTurn are the rows where the first column of a row with a
// pixel is least and where the last is greatest. From row to row, the first
// moves left until then and right afterwards, the last the other way.
func (f *frame) leftTurn() int {
	if f.falling {
		return f.runs() - 1
	}
	return f.height - 1
}

func (f *frame) rightTurn() int {
	if f.falling {
		return f.height - 1
	}
	return f.runs() - 1
}

// leftmost is the first column of a row that holds a pixel.
func (f *frame) leftmost(row int) int {
	last := f.runs() - 1
	if f.falling {
		run := max(0, last-row)
		return int(f.starts[run] + f.right[row-last+run])
	}
	y := min(row, f.height-1)
	return int(f.starts[row-y] + f.right[y])
}

// rightmost is the last column of a row that holds a pixel.
func (f *frame) rightmost(row int) int {
	last := f.runs() - 1
	if f.falling {
		y := min(row, f.height-1)
		return int(f.starts[last-(row-y)+1] - 1 + f.right[y])
	}
	run := min(row, last)
	return int(f.starts[run+1] - 1 + f.right[row-run])
}
