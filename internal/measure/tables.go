package measure

import (
	"errors"
	"io"
	"unsafe"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/histogram"
	"github.com/boxsum/boxsum/rotated"
	"github.com/boxsum/boxsum/tilted"
	"github.com/boxsum/boxsum/volume"
)

// otherOptions is options as other packages than boxsum have them.
func otherOptions(o Options) tilted.Options {
	return tilted.Options{Workers: o.Workers, Level: o.Level, Context: o.Context}
}

// newWork is a work without tables: of some images, all of which but the first are for
// a device.
func newWork[P boxsum.Pixel](images ...boxsum.Image[P]) *Work {
	return &Work{Pixels: bytesOf(images[0].Pix), images: len(images)}
}

// Each of these is the work of one kind of table, and the table.

func uprightWork[S boxsum.Sum, P boxsum.Pixel](images ...boxsum.Image[P]) (*Work, *boxsum.Table[S], error) {
	w, img := newWork(images...), images[0]
	sums, err := boxsum.NewTable[S](img.Width, img.Height, img.Channels)
	if err != nil {
		return nil, nil, err
	}
	w.Tables = []Table{uprightTable[S](sums, eachOf[S](images), false)}
	w.Run = func(opt Options) error { return boxsum.IntegrateInto(sums, img, &opt) }
	return w, sums, nil
}

func squaredWork[S boxsum.Sum, Q boxsum.Square, P boxsum.Pixel](images ...boxsum.Image[P]) (*Work, *boxsum.SquaredTable[S, Q], error) {
	w, img := newWork(images...), images[0]
	both, err := boxsum.NewSquaredTable[S, Q](img.Width, img.Height, img.Channels)
	if err != nil {
		return nil, nil, err
	}
	w.Tables = []Table{
		uprightTable[S](both.Sum, eachOf[S](images), false),
		uprightTable[float64](both.Squares, eachOf[Q](images), true), // OpenCV keeps squares in float64
	}
	w.Run = func(opt Options) error { return boxsum.IntegrateSquaresInto(both, img, &opt) }
	return w, both, nil
}

// uprightTable wraps a table whose peers hold D.
func uprightTable[D, S boxsum.Sum](t *boxsum.Table[S], images []pixelRows[S], square bool) Table {
	verify := func(i int) error { return verifyImage(t.Exclusive(), images[i], square) }
	return newTable(t.Exclusive(), verify, func(r io.Reader, inclusive bool) error {
		if inclusive {
			return equal[D](r, t.Inclusive())
		}
		return equal[D](r, t.Exclusive())
	})
}

func tiltedWork[S boxsum.Sum, P boxsum.Pixel](images ...boxsum.Image[P]) (*Work, *tilted.Table[S], error) {
	w, img := newWork(images...), images[0]
	sums, err := tilted.NewTable[S](img.Width, img.Height, img.Channels)
	if err != nil {
		return nil, nil, err
	}
	w.Tables = []Table{tiltedTable(sums, eachOf[S](images))}
	w.Run = func(opt Options) error { o := otherOptions(opt); return tilted.IntegrateInto(sums, img, &o) }
	return w, sums, nil
}

func tiltedTable[S boxsum.Sum](t *tilted.Table[S], images []pixelRows[S]) Table {
	return newTable(t.View(), func(i int) error { return verifyTilted(t.View(), images[i]) },
		func(r io.Reader, _ bool) error { return equal[S](r, t.View()) })
}

func rotatedWork[S boxsum.Sum, P boxsum.Pixel](rot rotated.Rotation, images ...boxsum.Image[P]) (*Work, *rotated.Table[S], error) {
	w, img := newWork(images...), images[0]
	sums, err := rotated.NewTable[S](img.Width, img.Height, img.Channels, rot)
	if err != nil {
		return nil, nil, err
	}
	w.Tables = []Table{rotatedTable(sums, rot, Size{Width: img.Width, Height: img.Height}, img.Channels, func(i, x, y, channel int) S {
		return S(images[i].Row(y)[x*img.Channels+channel])
	})}
	w.Run = func(opt Options) error {
		o := rotated.Options(otherOptions(opt))
		return rotated.IntegrateInto(sums, img, &o)
	}
	return w, sums, nil
}

// rotatedTable wraps a rotated table. Pixel is one of image i.
func rotatedTable[S boxsum.Sum](t *rotated.Table[S], rot rotated.Rotation, size Size, channels int, pixel func(i, x, y, channel int) S) Table {
	// The limits write as many bytes; where a rotated table has them is its own.
	output := make([]byte, rotatedCells(rot, size)*int64(channels)*int64(unsafe.Sizeof(*new(S))))
	spoil := func() {
		t.Fill(func(dst []S, boxes []rotated.Box) {
			for i := range dst {
				box := boxes[i/channels]
				dst[i] = S(3*(box.C1-box.C0) + 5*box.R1 + 1)
			}
		})
	}
	spoil()
	verify := func(i int) error {
		defer spoil() // for the next time
		return verifyRotated(t, size, channels, func(x, y, channel int) S { return pixel(i, x, y, channel) })
	}
	return Table{nil, output, verify, func(io.Reader, bool) error { return errors.New("rotated tables have no peers") }}
}

func volumeWork[S boxsum.Sum, P boxsum.Pixel](src volume.Volume[P]) (*Work, *volume.Table[S], error) {
	sums, err := volume.NewTable[S](src.Width, src.Height, src.Depth, src.Channels)
	if err != nil {
		return nil, nil, err
	}
	rows := &boxsum.Image[P]{Pix: src.Pix, Stride: src.Stride, Width: src.Width, Height: src.Height * src.Depth, Channels: src.Channels}
	return &Work{
		Pixels: bytesOf(src.Pix), images: 1,
		Tables: []Table{volumeTable(sums, rowsOf[S](rows))},
		Run:    func(opt Options) error { return volume.IntegrateInto(sums, src, &opt) },
	}, sums, nil
}

func volumeTable[S boxsum.Sum](t *volume.Table[S], src pixelRows[S]) Table {
	// All slices one under another.
	entries := boxsum.View[S]{Sums: t.Sums, Stride: t.Stride, Width: t.Width + 1, Height: (t.Height + 1) * (t.Depth + 1), Channels: t.Channels}
	return newTable(entries, func(int) error { return verifyVolume(t, src) },
		func(r io.Reader, inclusive bool) error { return equalVolume(r, t, inclusive) })
}

func histogramWork(bins histogram.Bins, images ...boxsum.Image[uint8]) (*Work, *histogram.Table[uint32], error) {
	w, img := newWork(images...), images[0]
	t, err := histogram.NewTable[uint32](img.Width, img.Height, img.Channels, bins)
	if err != nil {
		return nil, nil, err
	}
	entries := countsOf(t)
	w.Tables = []Table{newTable(entries, func(i int) error { return verifyHistogram(entries, images[i]) },
		func(r io.Reader, _ bool) error { return equal[uint32](r, entries) })}
	w.Run = func(opt Options) error {
		o := histogram.Options(otherOptions(opt))
		return histogram.IntegrateInto(t, img, &o)
	}
	return w, t, nil
}

// countsOf is the counts of a histogram as a table of a channel for every bin.
func countsOf(t *histogram.Table[uint32]) boxsum.View[uint32] {
	n := t.Channels * t.Bins.N
	return boxsum.View[uint32]{Sums: t.Counts, Stride: (t.Width + 1) * n, Width: t.Width + 1, Height: t.Height + 1, Channels: n}
}
