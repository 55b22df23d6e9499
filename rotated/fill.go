package rotated

// Fill makes the table from sums that were made elsewhere, on a GPU for one:
// before tells the sum of a channel over all cells with c′ < c and r′ < r, for
// every corner inside the bounds and on their edges. It is called from one
// goroutine, about once or twice a cell.
func (t *Table[S]) Fill(before func(c, r, channel int) S) {
	bounds := t.Bounds()
	if bounds.Empty() {
		return
	}
	f, n := &t.frame, t.Channels
	// corner is the sum of all pixels up to a row of the frame and from a column
	// on.
	corner := func(column, row, ch int) S {
		if t.view.exchange {
			return before(bounds.C0+row+1, f.width-column, ch)
		}
		return before(bounds.C1, row+1, ch) - before(column, row+1, ch)
	}
	for y := range f.height {
		over := int(f.overs[y])
		line := t.corners.line(y, 0)
		for x := range f.width {
			down := int(f.downs[beside+x])
			at := f.memory(x)
			for ch := range n {
				line[at*n+ch] = corner(x-over, y+down, ch)
			}
			if t.empty.sums == nil || !f.steps(y) || x == 0 || down == int(f.downs[beside+x-1]) {
				continue
			}
			cells := t.empty.line(over-1, 0)[int(f.run[at])*n:]
			for ch := range n {
				cells[ch] = corner(x-over, y+down-1, ch)
			}
		}
	}
	first := f.first()
	for ch := range n {
		for row := range f.rows {
			t.rows[row*n+ch] = corner(first, row, ch)
		}
		for i := range f.width - first {
			t.columns[i*n+ch] = corner(first+i, f.rows-1, ch)
		}
	}
}
