package bench

import (
	"cmp"
	"fmt"
	"io"
	"time"
	"unsafe"

	"github.com/boxsum/boxsum"
)

// A work is one case at one size: random pixels and the tables that they go
// into, allocated once.
type work struct {
	pixels []byte
	tables []table
	run    func(*boxsum.Options) error

	// upright is the upright table of the same pixels, to compare with, or nil.
	upright *work
}

// A table is one of the tables of a work.
type table struct {
	memory []byte                                  // all of it, with the gaps between rows
	output []byte                                  // as much of it as its entries need
	verify func() error                            // compares all entries with the reference
	equal  func(r io.Reader, inclusive bool) error // compares all entries with a peer's
}

func newSums[P boxsum.Pixel, S boxsum.Sum, A accumulator](size Size, channels int) (*work, error) {
	img, err := randomImage[P, S](size, channels)
	if err != nil {
		return nil, err
	}
	sums, err := boxsum.NewTable[S](size.Width, size.Height, channels)
	if err != nil {
		return nil, err
	}
	return &work{
		pixels: bytesOf(img.Pix),
		tables: []table{newUpright[A, S](sums, img, false)},
		run:    func(opt *boxsum.Options) error { return boxsum.IntegrateInto(sums, img, opt) },
	}, nil
}

func newSquares[P boxsum.Pixel, S boxsum.Sum, Q boxsum.Square, A accumulator](size Size, channels int) (*work, error) {
	img, err := randomImage[P, S](size, channels)
	if err != nil {
		return nil, err
	}
	both, err := boxsum.NewSquaredTable[S, Q](size.Width, size.Height, channels)
	if err != nil {
		return nil, err
	}
	return &work{
		pixels: bytesOf(img.Pix),
		tables: []table{
			newUpright[A, S](both.Sum, img, false),
			newUpright[A, float64](both.Squares, img, true), // OpenCV keeps squares in float64
		},
		run: func(opt *boxsum.Options) error { return boxsum.IntegrateSquaresInto(both, img, opt) },
	}, nil
}

// newUpright wraps a table whose reference adds in A and whose peers hold D.
func newUpright[A accumulator, D, S boxsum.Sum, P boxsum.Pixel](t *boxsum.Table[S], img boxsum.Image[P], square bool) table {
	verify := func() error { return verify[A](t, img, square) }
	return newTable(t.Exclusive(), verify, func(r io.Reader, inclusive bool) error {
		if inclusive {
			return equal[D](r, t.Inclusive())
		}
		return equal[D](r, t.Exclusive())
	})
}

// newTable wraps the entries of a table.
func newTable[S boxsum.Sum](entries boxsum.View[S], verify func() error, equal func(io.Reader, bool) error) table {
	memory := bytesOf(entries.Sums)
	n := entries.Width * entries.Height * entries.Channels
	return table{memory: memory, output: memory[:n*int(unsafe.Sizeof(*new(S)))], verify: verify, equal: equal}
}

// bytesOf is the memory of a slice.
func bytesOf[T any](s []T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), len(s)*int(unsafe.Sizeof(*new(T))))
}

// prepare makes the work of a case and verifies it with each worker count. The
// tables are spoilt before each, so that what the last run left cannot pass
// for a result.
func prepare(c Case, size Size, workers []int, level boxsum.Level) (*work, error) {
	kind, err := c.kind()
	if err != nil {
		return nil, err
	}
	w, err := kind.make(size, c.Channels)
	if err != nil {
		return nil, err
	}
	for _, n := range workers {
		opt := &boxsum.Options{Workers: n, Level: level}
		if w.upright != nil {
			err = w.upright.check(opt)
		}
		if err = cmp.Or(err, w.check(opt)); err != nil {
			return nil, err
		}
	}
	return w, nil
}

// check makes the tables and verifies them.
func (w *work) check(opt *boxsum.Options) error {
	for _, t := range w.tables {
		for i := range t.memory {
			t.memory[i] = 0xa5
		}
	}
	if err := w.run(opt); err != nil {
		return err
	}
	for _, t := range w.tables {
		if err := t.verify(); err != nil {
			return fmt.Errorf("with %d workers: %w", opt.Workers, err)
		}
	}
	return nil
}

// field is who takes turns: the table, then the limits, each with every worker
// count.
func (w *work) field(c Case, size Size, workers []int, level boxsum.Level) []contestant {
	read, written := c.bytes(size)
	name := Boxsum
	if level != (boxsum.Level{}) {
		name = fmt.Sprint(Boxsum, " ", level)
	}
	var field []contestant
	for _, n := range workers {
		opt := &boxsum.Options{Workers: n, Level: level}
		field = append(field, contestant{
			Result: newResult(name, c, size, n, read+written, true),
			run:    timed(func() error { return w.run(opt) }),
		})
	}
	for _, n := range workers {
		if w.upright == nil {
			break
		}
		opt := &boxsum.Options{Workers: n, Level: level}
		field = append(field, contestant{
			Result: newResult(Upright, c, size, n, read+written, true),
			run:    timed(func() error { return w.upright.run(opt) }),
		})
	}
	for _, n := range workers {
		for _, l := range []struct {
			name  string
			bytes int64
			run   func(*work, int)
		}{
			{LimitFillRead, read + written, (*work).fillRead},
			{LimitFill, written, (*work).fill},
			{LimitCopy, read + written, (*work).copy},
		} {
			field = append(field, contestant{
				Result: newResult(l.name, c, size, n, l.bytes, false),
				run:    timed(func() error { l.run(w, n); return nil }),
			})
		}
	}
	return field
}

// timed is a contestant's turn that calls f.
func timed(f func() error) func(warm int) (time.Duration, error) {
	return func(warm int) (time.Duration, error) {
		for range warm {
			if err := f(); err != nil {
				return 0, err
			}
		}
		start := time.Now()
		err := f()
		return time.Since(start), err
	}
}
