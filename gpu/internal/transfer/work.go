// Package transfer moves images and volumes from the host through a device, and their tables back.
// Large ones are cut into pieces and small ones are pipelined, so that pixels are copied in while
// others are summed and the tables of others are copied out.
package transfer

import (
	"context"
	"unsafe"

	"github.com/boxsum/boxsum/gpu/internal/devmem"
	"github.com/boxsum/boxsum/gpu/internal/driver"
	"github.com/boxsum/boxsum/gpu/internal/method"
	"github.com/boxsum/boxsum/internal/stats"
)

// A Work is an image or a volume on the host, and its table on the host, which a device computes.
// It is processed in pieces of units: rows of an image, or slices of a volume.
type Work struct {
	Method method.Method
	// Prepare returns the method for a device, if it needs memory there, and a function that frees
	// that. If nil, the method is the same on all devices.
	Prepare func(*devmem.Device) (method.Method, func() error, error)

	Job    method.Job // of the whole, without locations
	Way    method.Way
	Volume bool
	Units  int     // in total
	Piece  int     // units of a piece, or 0 to choose
	Sides  [3]Side // pixels, sums and squares

	Pixels [2]stats.Pixels // recorded in the tables of sums and of squares

	Context  context.Context    // nil is never done
	Progress func(done float64) // may be nil
	stop     <-chan struct{}    // closed when the table is no longer needed; may be nil
}

// A Side is the pixels, sums or squares on the host.
type Side struct {
	At   devmem.Host
	Unit int64 // bytes from one unit to the next
}

// Rows returns a side whose units are rows.
func Rows(at devmem.Host) Side { return Side{at, at.Stride} }

// From returns the location of unit n.
func (s Side) From(n int) devmem.Host {
	return devmem.Host{At: unsafe.Add(s.At.At, int64(n)*s.Unit), Stride: s.At.Stride}
}

// unitRows returns the number of rows in a unit of a side.
func (w *Work) unitRows(side int) int {
	if !w.Volume {
		return 1
	}
	return w.Job.Height + min(side, 1)
}

// array returns the layout of a piece of a side on a device: a volume is an image with its slices
// below each other. A table includes the unit before the first one.
func (w *Work) array(side, units int) devmem.Array {
	a := w.Job.Layer(side)
	a.Height = units * w.unitRows(side)
	if w.Volume && side > 0 {
		a.Height = (units+1)*w.unitRows(side) - 1
	}
	return a
}

// has reports whether there is such a side: most work has no squares.
func (w *Work) has(side int) bool { return side < 2 || w.Job.Square != 0 }

// extent returns the extent of a side.
func (w *Work) extent(side int) devmem.Extent {
	units := w.Units + min(side, 1)
	one := w.Job.Layer(side)
	if !w.Volume {
		one.Height, units = w.Units, 1
	}
	return devmem.HostExtent(w.Sides[side].At, one.Rows(), units, w.Sides[side].Unit)
}

// Check returns an error if pixels, sums and squares share memory.
func (w *Work) Check() error {
	for i := range w.Sides {
		for j := range i {
			if w.has(i) && w.extent(i).Overlaps(w.extent(j)) {
				return devmem.ErrOverlap
			}
		}
	}
	return nil
}

// empty reports whether there are no pixels.
func (w *Work) empty() bool { return w.Job.Width == 0 || w.Job.Height == 0 || w.Units == 0 }

// clear clears the table of an image without pixels.
func (w *Work) clear() {
	for i := 1; i < 3 && w.has(i); i++ {
		r := w.extent(i).Rows
		if !w.Volume {
			r.Count = 1
		}
		for n := range w.Units + 1 {
			at := w.Sides[i].From(n)
			for y := range r.Count {
				clear(unsafe.Slice((*byte)(at.Row(y)), r.Bytes))
			}
		}
	}
}

// ended returns why the table is no longer needed, or nil.
func (w *Work) ended() error {
	select {
	case <-w.stop:
		return errStopped
	default:
	}
	if w.Context != nil && w.Context.Err() != nil {
		return w.Context.Err()
	}
	return nil
}

// rowBytes returns the size of a row of pixels, sums and squares, and its size on the device
// including the gap after it, which dominates for short rows.
func (w *Work) rowBytes() (row, laid float64) {
	for i := range w.Sides {
		if !w.has(i) {
			continue
		}
		whole := w.Job.Layer(i)
		row += float64(whole.RowBytes())
		if _, err := whole.Layout(); err == nil {
			laid += float64(whole.At.Stride)
		}
	}
	return row, laid
}

// wasteful reports whether the whole image, on the device and on the host, would consist mostly of
// gaps, and many of them.
func (w *Work) wasteful() bool {
	const much, many = 16 << 20, 8 // bytes; multiple of the pixels' size
	row, laid := w.rowBytes()
	return laid > many*row && (laid-row)*float64(w.Job.Height) > much
}

// piece returns the job for some units in the memory of a slot.
func (w *Work) piece(s *slot, units int) method.Job {
	job := w.Job
	job.Stream, job.In, job.Out, job.Squares = s.sum, s.sides[0].at, s.sides[1].at, s.sides[2].at
	if !w.Volume {
		job.Height = units
		return job
	}
	job.Count, job.Gaps = units, true
	for i, b := range []*devmem.Batch{&job.In, &job.Out, &job.Squares} {
		b.Distance = int64(w.unitRows(i)) * b.Stride
	}
	return job
}

// band returns the job for some units of a piece, starting at unit first.
func (w *Work) band(s *slot, first, units int) method.Job {
	job := w.piece(s, units)
	for i, b := range []*devmem.Batch{&job.In, &job.Out, &job.Squares} {
		b.Offset += int64(first*w.unitRows(i)) * b.Stride
	}
	return job
}

// rows returns the rows of some units of a side.
func (w *Work) rows(side, units int) driver.Rows {
	a := w.Job.Layer(side)
	return driver.Rows{Bytes: a.RowBytes(), Count: int64(units) * int64(w.unitRows(side))}
}
