package rotated

import (
	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/engine"
)

// Fill fills the table with sums that were computed elsewhere, such as on a GPU.
// The function sums must write the sums of all channels over every box, like
// [Table.SumBoxes]. Every box begins with the first r, and either begins with the
// first c or ends with the last. Fill calls the function from several goroutines
// at once, each time with up to 256 boxes.
func (t *Table[S]) Fill(sums func(dst []S, boxes []Box)) {
	if t.Bounds().Empty() {
		return
	}
	f, n := &t.frame, t.Channels
	var set engine.Settings
	workers := set.Workers()
	fillers := make([]filler[S], workers)
	_ = set.Each(f.height+1, workers, func(worker, y int) { // nothing cancels it
		b := &fillers[worker]
		b.table, b.sums = t, sums
		if y == f.height {
			first := f.first()
			b.fill(t.rows, f.rows, func(row int) (int, int) { return first, row })
			b.fill(t.columns, f.width-first, func(i int) (int, int) { return first + i, f.rows - 1 })
			return
		}
		over := int(f.overs[y])
		b.fill(t.corners.line(y, 0), f.width, func(at int) (int, int) {
			x := f.memory(at)
			return x - over, y + int(f.downs[beside+x])
		})
		if t.empty.sums == nil || !f.steps(y) {
			return
		}
		cells := t.empty.line(over-1, 0)
		for x := 1; x < f.width; x++ {
			if down := int(f.downs[beside+x]); down != int(f.downs[beside+x-1]) {
				run := int(f.run[f.memory(x)])
				b.fill(cells[run*n:], 1, func(int) (int, int) { return x - over, y + down - 1 })
			}
		}
	})
}

// A filler requests sums in batches of boxes.
type filler[S boxsum.Sum] struct {
	table *Table[S]
	sums  func(dst []S, boxes []Box)
	boxes [256]Box
}

// fill sets count entries to the sums of all pixels up to a row of the frame and
// from a column on; at returns the column and row of entry i.
func (b *filler[S]) fill(dst []S, count int, at func(i int) (column, row int)) {
	t, bounds := b.table, b.table.Bounds()
	for i := 0; i < count; {
		boxes := b.boxes[:min(count-i, len(b.boxes))]
		for k := range boxes {
			column, row := at(i + k)
			if t.view.exchange {
				boxes[k] = Box{C0: bounds.C0, R0: bounds.R0, C1: bounds.C0 + row + 1, R1: t.frame.width - column}
			} else {
				boxes[k] = Box{C0: column, R0: bounds.R0, C1: bounds.C1, R1: row + 1}
			}
		}
		b.sums(dst[i*t.Channels:(i+len(boxes))*t.Channels], boxes)
		i += len(boxes)
	}
}
